"""In and out again: `nfh` and `gold` of hostile text that people worked on, byte for byte."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.errors import FormatError, StoreError
from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.query import parse
from nfh_db.records import Ballot, Exposure, FlagName, Role, Rule
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
    class_answer,
)
from nfh_tui.services.imports import ImportOptions, export_file, import_file

NASTY = [
    "\x00", "\x1b[2J", "\t", "\n", "\r", "\r\n", "\u2028", "\x85", "\x0b", "\x1c", "[red]",
    "[/]", '"', "\\", "\\u0000", "e\u0301", "\u0301", "👩\u200d🔬", "𝟛", "小明", "שלום",
    "\u202e", "\ufeff", "\u200b", "\u00ad", "\ud7ff", "\uffff", "\U0010ffff", "_SEP_", "NaN",
    "null", " ", "one", "two", "x" * 5_000,
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.lists(st.sampled_from(NASTY[:-1]), max_size=4).map("".join),
)
words = texts.filter(bool)
names = st.sampled_from(["ann", "ben c", "zoë", "小明", "o'neill"])
roles = st.sampled_from(list(Role))


@st.composite
def rows(draw: st.DrawFn) -> dict[str, object]:
    """A line of the release's resolution format."""
    tokens = draw(st.lists(words, min_size=2, max_size=8))
    count = len(tokens)
    start = draw(st.integers(0, count - 1))
    stop = draw(st.integers(start + 1, count))
    free = [token for token in range(count) if not start <= token < stop]
    heads: st.SearchStrategy[list[object]] = st.sampled_from([["AGE"], ["OTHER"], ["YEAR"]])
    if free:
        heads |= st.lists(st.sampled_from(free), min_size=1, unique=True).map(sorted)
    return {
        "tokens": tokens,
        "line_indices": sorted(
            draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
        ),
        "head": draw(heads),
        "speakers": draw(st.lists(st.none() | texts, min_size=count, max_size=count)),
        "anchors_indices": list(range(start, stop)),
    }


@st.composite
def answers(draw: st.DrawFn, count: int, anchor: Anchor) -> Answer:
    """An answer that fits: several heads, mentions of every origin, any comment."""
    free = [token for token in range(count) if not anchor.start <= token < anchor.end]
    kind = draw(st.sampled_from([k for k in Kind if free or k is not Kind.REFERENCE]))
    if kind is not Kind.REFERENCE:
        sort = draw(st.sampled_from([None, *Sort])) if kind is Kind.OTHER else None
        return Answer(kind, sort=sort, noun=draw(st.none() | texts), comment=draw(texts))
    heads = []
    for _ in range(draw(st.integers(1, 3))):
        tokens = draw(st.lists(st.sampled_from(free), min_size=1, max_size=3))
        origins = [Origin.MARKED, *draw(st.lists(st.sampled_from(list(Origin)), max_size=2))]
        mentions = [
            Mention(
                draw(st.integers(0, token)), draw(st.integers(token + 1, count)), token, origin
            )
            for token, origin in zip(tokens, origins, strict=False)
        ]
        heads.append(Head(tuple(mentions)))
    relation = draw(st.sampled_from(list(Relation))) if len(heads) > 1 else None
    return Answer(kind, tuple(heads), relation, comment=draw(texts))


def work_on(store: Store, data: st.DataObject) -> None:
    """A few people answer, decide, flag, correct spans, withdraw and undo; a rule settles."""
    me = store.people.ensure("ann")
    ids = [anchor for chunk in store.queue.ids(parse(""), me) for anchor in chunk]
    for _ in range(data.draw(st.integers(0, 8))):
        person = store.people.ensure(data.draw(names))
        anchor_id = data.draw(st.sampled_from(ids))
        item = store.items.read(anchor_id, person, Role.ANNOTATOR)
        if item is None:
            continue
        count = len(item.passage.tokens)
        what = data.draw(st.sampled_from(["answer", "answer", "agree", "flag", "span", "undo"]))
        try:
            if what == "answer":
                answer = data.draw(answers(count, item.anchor))
                seen = Exposure(data.draw(st.booleans()), data.draw(st.booleans()), 1.5, "r[1]")
                store.edits.commit_answer(anchor_id, person, data.draw(roles), answer, seen)
            elif what == "agree":
                for name in ("ann", "ben c"):
                    voter = store.people.ensure(name)
                    store.edits.commit_answer(
                        anchor_id, voter, Role.ANNOTATOR, class_answer(Kind.AGE)
                    )
            elif what == "flag":
                store.edits.set_flag(
                    anchor_id, person, data.draw(st.sampled_from(list(FlagName))), True
                )
            elif what == "span" and item.anchor.end < count:
                span = Anchor(item.anchor.start, item.anchor.end + 1)
                ids.append(
                    store.edits.replace_anchor(
                        anchor_id,
                        person,
                        Role.ADJUDICATOR,
                        span,
                        store.edits.stale_labels(anchor_id, person),
                    ).anchor_id
                )
            else:
                store.edits.undo(person)
        except StoreError:
            pass
    rule = data.draw(st.sampled_from([None, Rule.UNANIMOUS, Rule.MAJORITY]))
    if rule is not None:
        store.settlement.run(parse(""), rule, me)


@contextmanager
def database() -> Iterator[tuple[Store, Path]]:
    """An empty database, and a folder for files."""
    with (
        tempfile.TemporaryDirectory() as name,
        Store.open(Path(name) / "nfh.db", create=True) as store,
    ):
        yield store, Path(name)


def bring(store: Store, folder: Path, content: str, layout: str) -> None:
    """Import text as a file of a format."""
    file = folder / f"in-{abs(hash(content))}"
    file.write_bytes(content.encode("utf-8"))
    import_file(store, Source(file), by_name(layout), ImportOptions())


def take(store: Store, folder: Path, layout: str) -> str:
    """Export everything."""
    export_file(store, parse(""), by_name(layout), folder / "out")
    return (folder / "out").read_bytes().decode("utf-8")


def said(store: Store) -> list[tuple[object, ...]]:
    """All that a database says, ids and files aside."""

    def plain(ballot: Ballot) -> tuple[object, ...]:
        gold = ballot.gold
        return (
            ballot.passage.text,
            ballot.passage.turns,
            ballot.passage.offsets,
            ballot.anchor,
            replace(gold, votes=tuple(sorted(gold.votes))) if gold else None,
            sorted(ballot.votes, key=lambda vote: (vote.annotator, vote.role)),
            sorted(ballot.flags, key=lambda mark: (mark.annotator, mark.name)),
            ballot.split,
        )

    return sorted(map(plain, store.items.ballots(parse(""))), key=repr)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_people_worked_on_comes_back_as_gold(data: st.DataObject) -> None:
    lines = data.draw(st.lists(rows(), min_size=1, max_size=4))
    with database() as (store, folder):
        bring(store, folder, "".join(json.dumps(line) + "\n" for line in lines), "nfh")
        work_on(store, data)
        first, before = take(store, folder, "gold"), said(store)
    with database() as (store, folder):
        bring(store, folder, first, "gold")
        assert said(store) == before
        assert sorted(take(store, folder, "gold").split("\n")) == sorted(first.split("\n"))
        bring(store, folder, first, "gold")
        assert said(store) == before


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_release_rows_come_back_line_for_line(data: st.DataObject) -> None:
    lines = data.draw(st.lists(rows(), min_size=1, max_size=5))
    lines += data.draw(st.lists(st.sampled_from(lines), max_size=2))
    ascii_only = data.draw(st.booleans())
    content = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in lines)
    with database() as (store, folder):
        bring(store, folder, content, "nfh")
        # What people say as annotators, and their flags, changes no row of the release.
        me = store.people.ensure("ann")
        for anchor in next(store.queue.ids(parse(""), me)):
            store.edits.commit_answer(anchor, me, Role.ANNOTATOR, class_answer(Kind.BROKEN))
        left = take(store, folder, "nfh")
    assert [json.loads(line) for line in left.split("\n") if line] == lines
    with database() as (store, folder):
        bring(store, folder, left, "nfh")
        assert take(store, folder, "nfh") == left


# --- sizes ----------------------------------------------------------------------------------


def long_rows() -> dict[str, Sequence[dict[str, object]]]:
    """Rows at the edges of what a file may hold."""
    turns = 10_000
    many = {
        "tokens": ["one", "𝟛"] * turns,
        "line_indices": [number for number in range(turns) for _ in range(2)],
        "head": [3],
        "speakers": [f"S{number % 7}" for number in range(turns) for _ in range(2)],
        "anchors_indices": [2 * turns - 2],
    }
    long_token = {
        "tokens": ["e\u0301" * 350_000, "one", "\u0000"],
        "line_indices": [0, 0, 1],
        "head": [0],
        "speakers": ["x" * 100_000, None, ""],
        "anchors_indices": [1],
    }
    many_tokens = {
        "tokens": ["one"] + ["小明" * 5] * 30_000,
        "line_indices": [0] * 30_001,
        "head": ["AGE"],
        "speakers": [None] * 30_001,
        "anchors_indices": [0],
    }
    return {"turns": [many], "token": [long_token], "tokens": [many_tokens]}


@pytest.mark.parametrize("size", ["turns", "token", "tokens"])
def test_very_long_rows_come_back(size: str) -> None:
    lines = long_rows()[size]
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in lines)
    # A line of a megabyte; that of the turns is shorter, and long in another way.
    assert len(content.encode()) > (200_000 if size == "turns" else 1_000_000)
    with database() as (store, folder):
        bring(store, folder, content, "nfh")
        left, gold = take(store, folder, "nfh"), take(store, folder, "gold")
        assert [json.loads(line) for line in left.split("\n") if line] == lines
        before = said(store)
    with database() as (store, folder):
        bring(store, folder, gold, "gold")
        assert take(store, folder, "gold") == gold
        assert said(store) == before


def test_ten_thousand_lines_of_dialog_with_silent_turns_come_back() -> None:
    content = "".join(
        "Ben:\n" if number % 3 == 0 else f"Ann: hm{' one' * (number % 1_000 == 1)}\u2028\n"
        for number in range(10_000)
    )
    with database() as (store, folder):
        bring(store, folder, content, "dialog")
        before, gold = said(store), take(store, folder, "gold")
        assert (len(before), before[0][0]) == (7, content.rstrip("\n"))
    with database() as (store, folder):
        bring(store, folder, gold, "gold")
        assert take(store, folder, "gold") == gold
        assert said(store) == before


# --- halves of characters -------------------------------------------------------------------

HALF = "\ud83d"


def with_half(layout: str, place: str) -> bytes:
    """Two lines; the second holds half a surrogate pair somewhere."""
    good = by_name(layout).example
    if layout == "nfh":
        row = json.loads(good)
        row[place][0] = HALF
        return f"{good}\n{json.dumps(row)}\n".encode()
    if layout == "gold":
        from nfh_db.formats.gold import compact_json

        row = json.loads(good)
        if isinstance(row[place], list):
            row[place][0] = HALF
        else:
            row[place] = HALF
        return f"{good}\n".encode() + compact_json(row).encode("utf-8", "surrogatepass") + b"\n"
    head = b"text\tind_s\tind_e\ty\n" if layout == "nfh-ident" else b"Ann: one\n"
    return head + good.encode() + HALF.encode("utf-8", "surrogatepass") + b"\n"


@pytest.mark.parametrize(
    ("layout", "place"),
    [
        ("nfh", "tokens"),
        ("nfh", "speakers"),
        ("gold", "tokens"),
        ("gold", "speakers"),
        ("gold", "text"),
        ("gold", "comment"),
        ("gold", "noun"),
        ("gold", "split"),
        ("gold", "adjudicator"),
        ("nfh-ident", ""),
        ("dialog", ""),
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_half_a_character_is_refused_with_file_and_line(
    layout: str, place: str, escaped: bool
) -> None:
    raw = with_half(layout, place)
    if escaped and place:
        raw = raw.replace(HALF.encode("utf-8", "surrogatepass"), b"\\ud83d")
    with database() as (store, folder):
        file = folder / "half.txt"
        file.write_bytes(raw)
        with pytest.raises(FormatError, match=r"half\.txt, line 2: ") as refused:
            import_file(store, Source(file), by_name(layout), ImportOptions())
        assert str(refused.value).isprintable()
        assert said(store) == []
        assert store.people.all() == ()
