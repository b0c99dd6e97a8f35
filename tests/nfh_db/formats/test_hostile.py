"""Whatever text there is, what is written is read back: `nfh`, `gold` and `dialog`."""

import json
import tempfile
import unicodedata
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.formats import dialog, gold, nfh
from nfh_db.formats.files import Source
from nfh_db.formats.gold import GoldWriter
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import RELEASE_KEYS, RawPassage, ReleaseWriter, joined, per_token, runs
from nfh_db.query import parse
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    anchor_id,
)
from nfh_tui.services.imports import ImportOptions, export_file, import_file, passage_of

NASTY = [
    "\x00", "\x1b[2J", "\t", "\n", "\r\n", "\u2028", "\x85", "[red]", "[/]", "[/b", '"', "\\",
    "\\u0000", "e\u0301", "👩\u200d🔬", "小明", "שלום", "\u202e", "\ufeff", "_SEP_", "NaN",
    "one", " ",
]  # fmt: skip
characters = st.characters(exclude_categories=["Cs"])
pieces = st.one_of(st.text(characters, max_size=3), st.sampled_from(NASTY))
texts = st.lists(pieces, max_size=6).map("".join)
tokens = st.one_of(st.sampled_from(NASTY), texts.filter(bool))
speakers = st.one_of(st.none(), texts)
names = st.from_regex(r"[a-zé小][a-z 小]{0,8}[a-z]", fullmatch=True)
TIME = "2025-01-31T12:00:00.000Z"


@st.composite
def raw_passages(draw: st.DrawFn) -> RawPassage:
    words = draw(st.lists(tokens, min_size=1, max_size=9))
    numbers = sorted(
        draw(st.lists(st.integers(-9, 2**53), min_size=len(words), max_size=len(words)))
    )
    who = draw(st.lists(speakers, min_size=len(words), max_size=len(words)))
    return joined(words, runs(numbers, who))


@st.composite
def spans(draw: st.DrawFn, count: int) -> Anchor:
    start = draw(st.integers(0, count - 1))
    return Anchor(start, draw(st.integers(start + 1, count)))


@st.composite
def mentions(draw: st.DrawFn, count: int, anchor: Anchor, *, first: bool) -> Mention:
    free = [token for token in range(count) if not anchor.start <= token < anchor.end]
    token = draw(st.sampled_from(free))
    origins = [o for o in Origin if not (first and o is Origin.REMOVED)]
    return Mention(
        draw(st.integers(0, token)),
        draw(st.integers(token + 1, count)),
        token,
        draw(st.sampled_from(origins)),
    )


@st.composite
def answers(draw: st.DrawFn, count: int, anchor: Anchor) -> Answer:
    may_refer = anchor.end - anchor.start < count
    kind = draw(st.sampled_from([k for k in Kind if may_refer or k is not Kind.REFERENCE]))
    comment = draw(texts)
    if kind is not Kind.REFERENCE:
        sort = draw(st.sampled_from([None, *Sort])) if kind is Kind.OTHER else None
        return Answer(kind, sort=sort, noun=draw(st.one_of(st.none(), texts)), comment=comment)
    heads = draw(
        st.lists(
            st.tuples(
                mentions(count, anchor, first=True),
                st.lists(mentions(count, anchor, first=False), max_size=3),
            ).map(lambda parts: Head((parts[0], *parts[1]))),
            min_size=1,
            max_size=3,
        )
    )
    relation = draw(st.sampled_from(list(Relation))) if len(heads) > 1 else None
    return Answer(kind, tuple(heads), relation, comment=comment)


@st.composite
def records(draw: st.DrawFn) -> ExportRecord:
    raw = draw(raw_passages())
    passage = passage_of(raw)
    count = len(raw.words)
    anchor = draw(spans(count))
    rule = draw(st.sampled_from(list(Rule)))
    gold_ = draw(
        st.one_of(st.none(), answers(count, anchor).map(lambda a: Gold(a, rule, "eva", TIME)))
    )
    voters = draw(
        st.lists(st.tuples(names, st.sampled_from(list(Role))), unique=True, max_size=3)
    )
    votes = tuple(
        Vote(
            name,
            role,
            draw(answers(count, anchor)),
            TIME,
            draw(st.one_of(st.none(), st.floats(0, 1e6))),
            draw(st.booleans()),
            draw(st.booleans()),
            draw(st.one_of(st.none(), st.integers(1, 99))),
            draw(st.one_of(st.none(), texts)),
        )
        for name, role in voters
    )
    marked = draw(
        st.lists(st.tuples(st.sampled_from(list(FlagName)), names), unique=True, max_size=3)
    )
    flags = tuple(FlagMark(name, who, TIME) for name, who in marked)
    split = draw(st.one_of(st.none(), texts))
    public_id = anchor_id(passage.digest, anchor)
    return ExportRecord(public_id, passage, anchor, split, gold_, votes, flags)


def source(content: str) -> Source:
    with tempfile.NamedTemporaryFile("wb", suffix=".jsonl", delete=False) as file:
        file.write(content.encode("utf-8"))
    return Source(Path(file.name))


@settings(max_examples=150, deadline=None)
@given(record=records())
def test_gold_written_is_gold_read_and_written_again(record: ExportRecord) -> None:
    line = GoldWriter().line(record)
    assert line.count("\n") == 1
    opened = source(line)
    (row,) = gold.read(opened)
    opened.path.unlink()
    assert (row.gold, row.split, row.anchor) == (record.gold, record.split, record.anchor)
    assert set(row.votes) == set(record.votes)
    assert set(row.flags) == set(record.flags)
    assert (row.passage.text, row.passage.turns) == (record.passage.text, record.passage.turns)
    again = ExportRecord(
        record.public_id, record.passage, row.anchor, row.split, row.gold, row.votes, row.flags
    )
    assert GoldWriter().line(again) == line


@st.composite
def nfh_rows(draw: st.DrawFn) -> dict[str, object]:
    raw = draw(raw_passages())
    count = len(raw.words)
    anchor = draw(spans(count))
    free = [token for token in range(count) if not anchor.start <= token < anchor.end]
    heads = st.sampled_from([["AGE"], ["OTHER"]])
    if free:
        heads |= st.lists(st.sampled_from(free), min_size=1, unique=True).map(sorted)
    numbers, who = per_token(raw.turns)
    return {
        "tokens": list(raw.words),
        "line_indices": numbers,
        "head": draw(heads),
        "speakers": who,
        "anchors_indices": list(range(anchor.start, anchor.end)),
    }


@settings(max_examples=150, deadline=None)
@given(values=nfh_rows(), ascii_only=st.booleans())
def test_an_nfh_row_leaves_as_it_came(values: dict[str, object], ascii_only: bool) -> None:
    opened = source(json.dumps(values, ensure_ascii=ascii_only))
    (row,) = nfh.read(opened)
    opened.path.unlink()
    passage = passage_of(row.passage)
    record = ExportRecord("", passage, row.anchor, None, None, (), (), row.labels)
    line = ReleaseWriter().line(record)
    assert line is not None
    assert json.loads(line) == values
    assert tuple(json.loads(line)) == RELEASE_KEYS


line_texts = (
    st.lists(st.one_of(pieces, st.sampled_from(["Ann: ", ":"])), max_size=9)
    .map(lambda parts: "".join(parts).replace("\n", "").replace("\x00", "").rstrip("\r"))
    .filter(lambda text: text.strip() != "")
)


SPACES = "\t" + "".join(c for c in map(chr, range(0x10000)) if unicodedata.category(c) == "Zs")


@settings(max_examples=150, deadline=None)
@given(blocks=st.lists(st.lists(line_texts, min_size=1), min_size=1))
def test_dialog_text_is_kept_as_it_came(blocks: list[list[str]]) -> None:
    texts_ = ["\n".join(block) for block in blocks]
    content = "\n\n".join(texts_)
    if content.startswith("\ufeff"):
        content = "\ufeff" + content
    # Without a line feed, carriage returns would be taken for the line ends of old Macs.
    opened = source(content + "\n")
    read = list(dialog.read(opened))
    opened.path.unlink()
    assert [block.text for block in read] == texts_
    for block, lines_ in zip(read, blocks, strict=True):
        assert len(block.turns) == len(lines_)
        for turn, line in zip(block.turns, lines_, strict=True):
            words = block.text[turn.start : turn.end]
            assert line.endswith(words)
            if turn.speaker is None:
                assert words == line
            else:
                assert line.lstrip(SPACES).startswith(turn.speaker)


# --- through the store --------------------------------------------------------------------


def through_the_store(content: str, name: str) -> str:
    """What a database exports that was made of a file, in the same format."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        file.write_bytes(content.encode("utf-8"))
        with Store.open(Path(folder) / "x.db", create=True) as store:
            import_file(store, Source(file), by_name(name), ImportOptions())
            export_file(store, parse(""), by_name(name), out)
        return out.read_bytes().decode("utf-8")


@settings(max_examples=40, deadline=None)
@given(kept=st.lists(records(), min_size=1, max_size=6, unique_by=lambda one: one.public_id))
def test_gold_comes_out_of_the_store_as_it_went_in(kept: list[ExportRecord]) -> None:
    writer = GoldWriter()
    content = "".join(writer.line(one) for one in kept)
    left = through_the_store(content, "gold")
    assert sorted(left.split("\n")) == sorted(content.split("\n"))
    assert through_the_store(left, "gold") == left


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_nfh_comes_out_of_the_store_as_it_went_in(data: st.DataObject) -> None:
    rows = data.draw(st.lists(nfh_rows(), min_size=1, max_size=6))
    content = "".join(json.dumps(row) + "\n" for row in rows)
    left = through_the_store(content + content.partition("\n")[0], "nfh")
    assert [json.loads(line) for line in left.splitlines()] == [*rows, rows[0]]
