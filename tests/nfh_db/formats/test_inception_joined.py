"""Two nouns of one lemma stay two when something else of the number is changed."""

from pathlib import Path

from nfh_db.formats.registry import by_name, opened
from nfh_db.formats.rows import ReadOptions, Writing
from nfh_db.records import ExportRecord, Gold, Rule
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Passage,
    Relation,
    Token,
    Turn,
    anchor_id,
)

TEXT = "A red car and a blue car. Take one."
WORDS = ["A", "red", "car", "and", "a", "blue", "car", ".", "Take", "one", "."]


def _record() -> ExportRecord:
    tokens, place = [], 0
    for word in WORDS:
        place = TEXT.index(word, place)
        tokens.append(Token(place, place + len(word), word.lower()))
        place += len(word)
    passage = Passage(TEXT, tuple(tokens), (Turn(0, None, 0, len(tokens)),))
    heads = (Head((Mention(2, 3, 2),)), Head((Mention(6, 7, 6),)))
    gold = Gold(Answer(Kind.REFERENCE, heads, Relation.OR), Rule.IMPORTED)
    anchor = Anchor(9, 10)
    return ExportRecord(anchor_id(passage.digest, anchor), passage, anchor, None, gold, (), ())


def test_a_comment_that_is_added_joins_no_heads(tmp_path: Path) -> None:
    make = by_name("inception-json").members
    assert make is not None
    for name, content in make(Writing()).members([_record()]):
        assert isinstance(content, bytes)
        if "CURATION" in name:
            kind = b'"kind": "REFERENCE"'
            assert kind in content
            content = content.replace(kind, b'"comment": "hm", ' + kind)
        path = tmp_path / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    found = opened(tmp_path / "out")
    how = ReadOptions(tokenizer=lambda: "none")
    golds = [row.gold for row in found.format.read(found.source, how) if row.gold]
    (answer,) = [gold.answer for gold in golds]
    assert answer.comment == "hm"
    assert [[m.head for m in head.mentions] for head in answer.heads] == [[2], [6]]
    assert answer.relation is Relation.OR
