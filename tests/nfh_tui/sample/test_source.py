"""The source of the corpus is read strictly: each refusal names the file and the line."""

from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.records import FlagName, Rule
from nfh_models.domain import Kind, Origin, Relation
from tools.sample_corpus import corpus_records

GOOD = """\
# A comment.

=== tents
Ada: Whose {t:tents} are wet, and whose {b:boots}?
Ben: [One] of mine is. The tent by the tree.
--- turn-before
gold open
ann1,ann2 t 5s 8s
ann3 t<1 9s !ambiguous "or the boots"
"""


def build(folder: Path, text: str) -> list:
    (folder / "some.txt").write_text(text, encoding="utf-8")
    return list(corpus_records(folder))


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_reads(tmp_path: Path) -> None:
    """Text without its marks, tokens without speakers, answers with the mentions added."""
    [(source, record)] = build(tmp_path, GOOD)
    passage = record.passage
    assert passage.text.startswith("Ada: Whose tents are wet")
    assert [turn.speaker for turn in passage.turns] == ["Ada", "Ben"]
    assert passage.word(0) == "Whose"
    assert passage.words(record.anchor.start, record.anchor.end) == "One"
    assert source.phenomenon == "turn-before"
    [head] = record.votes[0].answer.heads
    assert [(passage.word(m.head), m.origin) for m in head.mentions] == [
        ("tents", Origin.MARKED),
        ("tent", Origin.ADDED),
    ]
    wide = record.votes[2].answer.heads[0].mentions[0]
    assert passage.words(wide.start, wide.end) == "Whose tents"
    assert record.votes[2].answer.comment == "or the boots"
    assert [(flag.name, flag.annotator) for flag in record.flags] == [
        (FlagName.AMBIGUOUS, "ann3")
    ]


def test_editor_decides(tmp_path: Path) -> None:
    """An answer as gold is the editor's: rule, relation and comment come with it."""
    text = changed("gold open", 'gold t | b 21s r12 "either"')
    [(_, record)] = build(tmp_path, text)
    assert record.gold.rule is Rule.EXPERT
    assert record.gold.answer.relation is Relation.OR
    assert record.gold.answer.comment == "either"
    assert record.votes[-1].rule_tag == "12"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("=== tents\n", "", 3, "wanted"),
        ("{t:tents}", "{t:tent}s", 3, "does not start and end where tokens do"),
        ("{t:tents}", "{t:tents are}", 3, "must be one token"),
        ("{b:boots}", "{t:boots}", 4, "second time"),
        ("{b:boots}", "{boots}", 4, "marks nothing"),
        ("Ada: ", "ada and I: ", 4, "Speaker: words"),
        ("[One]", "[n:One]", 6, 'no anchor "turn-before"'),
        ("--- turn-before", "--- turn-around", 6, "no phenomenon"),
        ("--- turn-before", "--- turn-before cut short", 6, "phenomenon"),
        ("gold open", "gold t", 7, "seconds"),
        ("gold open", "gold x 5s", 7, 'no noun is labelled "x"'),
        ("gold open", "gold CURRENCY 5s", 7, "REFERENCE"),
        ("gold open", "gold t & t 5s", 7, "one noun in two heads"),
        ("gold open", "gold t & b | t 5s", 7, "mixes"),
        ("gold open\n", "", 6, "wanted a gold line"),
        ("ann1,ann2 t 5s 8s", "ann1,ann2 t 5s", 8, "2 times"),
        ("ann1,ann2 t 5s 8s", "ann1,ann3 t 5s 8s", 9, "second time"),
        ("ann1,ann2 t 5s 8s", "ann1 t 5s", 6, "wanted a gold line"),
        ("ann1,ann2 t 5s 8s", "ann1,ann2 t<9 5s 8s", 8, "mention"),
        ("ann1,ann2 t 5s 8s", "ann1,ann2 OTHER/song 5s 8s", 8, "no kind of answer"),
        ("ann1,ann2 t 5s 8s", "ann1,ann2 AGES 5s 8s", 8, "no kind of answer"),
        ("ann1,ann2 t 5s 8s", "ann1,ann2 t 5s 8s !skip", 8, "one person's"),
        ("!ambiguous", "!odd", 9, "odd"),
        ("ann3 t<1", "ann3 t<one", 9, "neither"),
    ],
)
def test_refuses(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    """What is wrong in the source is refused where it stands."""
    with pytest.raises(FormatError) as refused:
        build(tmp_path, changed(old, new))
    assert f"some.txt, line {line}:" in str(refused.value)
    assert says in str(refused.value)


@pytest.mark.parametrize("rule", ["unanimous", "majority"])
def test_gold_by_rule_needs_its_votes(tmp_path: Path, rule: str) -> None:
    """No gold by a rule that the votes do not meet."""
    text = changed("gold open", f"gold {rule}").replace(
        "ann1,ann2 t 5s 8s", "ann1 b 5s\nann2 UNKNOWN 8s"
    )
    with pytest.raises(FormatError, match=f"no gold by the rule {rule}"):
        build(tmp_path, text)


def test_majority_does_not_settle_a_noun(tmp_path: Path) -> None:
    """Two against one is no gold by majority while the third names another noun."""
    text = changed("gold open", "gold majority").replace("ann3 t<1", "ann3 b")
    with pytest.raises(FormatError, match="no gold by the rule majority"):
        build(tmp_path, text)


def test_majority_settles_a_class(tmp_path: Path) -> None:
    """Two against one is gold by majority where the third says a class."""
    text = changed("gold open", "gold majority").replace("ann3 t<1", "ann3 OTHER")
    [(_, record)] = build(tmp_path, text)
    assert record.gold.answer.kind is Kind.REFERENCE
    assert record.gold.rule is Rule.MAJORITY


def test_refuses_a_dialog_that_stands_twice(tmp_path: Path) -> None:
    """The same text under another name is refused."""
    twice = GOOD + GOOD.replace("=== tents", "=== more")
    with pytest.raises(FormatError, match="is the same dialog as tents"):
        build(tmp_path, twice)
