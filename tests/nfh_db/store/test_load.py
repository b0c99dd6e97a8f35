"""Imports: what comes in, what is kept, and that a failed one leaves nothing."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db import import_run
from nfh_db.connection import connect
from nfh_db.errors import FormatError, StoreError
from nfh_db.event_log import present_state, replay
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import AnchorState, FlagName, IncomingAnchor, IncomingPassage, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Blocking, Kind, Mention, class_answer, reference_answer


def rows_of_all_tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything in the file."""
    reader = connect(path, "ro")
    tables = [
        name
        for (name,) in reader.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
    ]
    found = {name: reader.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables}
    reader.close()
    return found


def items(store: Store, name: str = "eva"):
    """All visible anchors, in the order of their passages."""
    eva = store.people.ensure(name)
    ids = [id_ for chunk in store.queue.ids(parse(""), eva) for id_ in chunk]
    return [store.items.read(id_, eva, Role.ANNOTATOR) for id_ in ids]


def test_everything_a_file_says_comes_in(path: Path, store: Store, kit) -> None:
    answer = reference_answer([[Mention(0, 2, 1)], [Mention(5, 6, 5)]], comment="hm")
    report = kit.load(
        store,
        kit.one(
            "the dogs saw one and cats",
            3,
            gold=kit.gold(answer, Rule.EXPERT, "lee"),
            votes=[
                kit.vote("ann2", Kind.AGE),
                kit.vote("ann1", kit.to(1)),
                kit.vote("lee", answer, Role.ADJUDICATOR),
            ],
            flags=[kit.flag(FlagName.AMBIGUOUS, "ann1"), kit.flag(FlagName.GUIDELINE, "sue")],
            split="dev",
        ),
        name="lee.jsonl",
    )
    assert replace(report, name="", warnings=()) == replace(
        report,
        name="",
        rows=1,
        passages_new=1,
        passages_known=0,
        anchors_new=1,
        anchors_known=0,
        gold_new=1,
        gold_same=0,
        gold_replaced=0,
        votes_new=3,
        votes_replaced=0,
        flags_new=2,
        conflicts=(),
        warnings=(),
        already=False,
        dry_run=False,
    )
    (item,) = items(store)
    assert item.document == "lee.jsonl"
    assert item.gold == kit.gold(answer, Rule.EXPERT, "lee")
    assert [(vote.annotator, vote.answer) for vote in item.votes] == [
        ("ann1", kit.to(1)),
        ("ann2", class_answer(Kind.AGE)),
        ("lee", answer),
    ]
    assert (item.state, item.blocking, item.pattern) == (
        AnchorState.DECIDED,
        (Blocking.CLASS,),
        "1-1",
    )
    assert [(mark.name, mark.annotator) for mark in item.flags] == [
        (FlagName.AMBIGUOUS, "ann1"),
        (FlagName.GUIDELINE, "sue"),
    ]
    tables = rows_of_all_tables(path)
    adjudicated = [row[0] for row in tables["answer"] if row[3] == "adjudicator"]
    assert [row[8] for row in tables["gold"]] == adjudicated
    assert len(tables["event"]) == 6
    assert [row[2] for row in tables["act"]] == ["import"]


def test_summaries_agree_with_those_of_people(store: Store, kit) -> None:
    votes = {"ann1": kit.to(1), "ann2": kit.to(5), "ann3": kit.to(2)}
    kit.load(
        store,
        kit.one("the dogs saw one and cats", 3, votes=[kit.vote(*v) for v in votes.items()]),
        kit.one("the dogs saw one and cats !", 3),
    )
    for name, answer in votes.items():
        store.edits.commit_answer(2, store.people.ensure(name), Role.ANNOTATOR, answer)
    first, second = items(store)
    for item in (first, second):
        assert (item.state, item.blocking, item.notes, item.pattern) == (
            AnchorState.DISAGREE,
            (Blocking.NOUN,),
            (),
            "1-1-1",
        )


def test_the_same_content_again_changes_nothing(path: Path, store: Store, kit) -> None:
    rows = [kit.one("I have one", 2, gold=kit.gold(Kind.AGE))]
    store.imports.load(kit.file("a", "content"), rows)
    before = rows_of_all_tables(path)
    report = store.imports.load(kit.file("b", "content"), rows, replace_gold=True)
    assert (report.already, report.rows, report.anchors_new) == (True, 1, 0)
    assert rows_of_all_tables(path) == before
    as_answers = IncomingFile("a", "content", "gold", None, "eva")
    assert not store.imports.load(as_answers, rows).already
    assert store.imports.load(as_answers, rows).already


def test_repeated_rows_and_shared_passages_are_one(store: Store, kit) -> None:
    first = kit.one("I have one or two", 2, gold=kit.gold(Kind.AGE), line=1, split="dev")
    again = kit.one("I have one or two", 2, gold=kit.gold(Kind.AGE), line=2, split="dev")
    other = kit.one("I have one or two", 4, gold=kit.gold(Kind.AGE), line=3, split="test")
    report = kit.load(store, first, again, other)
    assert (report.rows, report.passages_new, report.passages_known) == (3, 1, 2)
    assert (report.anchors_new, report.anchors_known) == (2, 1)
    assert (report.gold_new, report.gold_same, report.conflicts) == (2, 1, ())
    report = kit.load(store, first, other)
    assert (report.passages_new, report.anchors_new, report.gold_same) == (0, 0, 2)
    one, two = items(store)
    assert [sibling.anchor_id for sibling in one.siblings] == [1, 2]
    assert (one.split, two.split) == ("dev", "test")


def test_gold_is_kept_unless_told_otherwise(store: Store, kit) -> None:
    kit.load(store, kit.one("I have one", 2, gold=kit.gold(Kind.AGE)))
    other = kit.one("I have one", 2, gold=kit.gold(Kind.YEAR), line=7)
    report = kit.load(store, other)
    assert report.conflicts == ("line 7: gold AGE was kept; the file says YEAR",)
    assert items(store)[0].gold.answer.kind is Kind.AGE
    report = kit.load(store, other, replace_gold=True)
    assert (report.gold_replaced, report.conflicts) == (1, ())
    assert items(store)[0].gold.answer.kind is Kind.YEAR
    assert [line.entity for line in store.history.of_anchor(1)] == ["gold", "gold"]


def test_an_experts_gold_is_never_replaced(store: Store, kit) -> None:
    kit.load(store, kit.one("I have one", 2))
    lee = store.people.ensure("lee")
    store.edits.commit_answer(1, lee, Role.ADJUDICATOR, class_answer(Kind.AGE))
    other = kit.one("I have one", 2, gold=kit.gold(kit.to(0)))
    report = kit.load(store, other, replace_gold=True)
    assert report.conflicts == (
        "line 1: an adjudicator's gold AGE was kept; the file says REFERENCE to token 0",
    )
    assert items(store)[0].gold.adjudicator == "lee"
    report = kit.load(store, kit.one("I have one", 2, gold=kit.gold(Kind.AGE)))
    assert (report.gold_same, report.conflicts) == (1, ())


def test_a_row_that_contradicts_an_earlier_one_of_its_file_gives_way(store: Store, kit) -> None:
    report = kit.load(
        store,
        kit.one("I have one", 2, gold=kit.gold(Kind.AGE), line=1),
        kit.one("I have one", 2, gold=kit.gold(Kind.YEAR), line=2),
        replace_gold=True,
    )
    assert (report.gold_new, report.gold_replaced) == (1, 0)
    assert report.conflicts == ("line 2: gold AGE was kept; the file says YEAR",)


def test_many_conflicts_are_counted_and_some_are_listed(store: Store, kit) -> None:
    kit.load(store, kit.one("I have one", 2, gold=kit.gold(Kind.AGE)))
    rows = (kit.one("I have one", 2, gold=kit.gold(Kind.YEAR), line=i) for i in range(120))
    report = store.imports.load(kit.file(), rows)
    assert len(report.conflicts) == import_run.LISTED_CONFLICTS + 1
    assert report.conflicts[-1] == "and 70 more: 120 rows in all were left out"


def test_answers_of_people_are_kept(store: Store, kit) -> None:
    kit.load(store, kit.one("I have one", 2))
    store.edits.commit_answer(
        1, store.people.ensure("eva"), Role.ANNOTATOR, class_answer(Kind.AGE)
    )
    report = kit.load(
        store,
        kit.one(
            "I have one",
            2,
            votes=[kit.vote("eva", Kind.YEAR), kit.vote("bob", Kind.YEAR)],
            flags=[kit.flag(FlagName.AMBIGUOUS, "bob")],
        ),
    )
    assert (report.votes_new, report.flags_new) == (1, 1)
    assert report.conflicts == (
        "line 1: eva answered AGE already, which was kept; the file says YEAR",
    )
    (item,) = items(store)
    assert [(v.annotator, v.answer.kind) for v in item.votes] == [
        ("bob", Kind.YEAR),
        ("eva", Kind.AGE),
    ]
    assert (item.state, item.pattern) == (AnchorState.DISAGREE, "1-1")
    assert [mark.annotator for mark in item.flags] == ["bob"]


def test_a_span_that_a_person_corrected_stays_corrected(store: Store, kit) -> None:
    kit.load(store, kit.one("I have twenty one", 2))
    eva = store.people.ensure("eva")
    store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(2, 4), store.edits.stale_labels(1, eva)
    )
    report = kit.load(store, kit.one("I have twenty one", 2, gold=kit.gold(Kind.AGE), line=4))
    assert report.gold_new == 0
    assert report.conflicts == (
        "line 4: a person gave this number another span, which was kept",
    )
    assert [item.anchor for item in items(store)] == [Anchor(2, 4)]


def test_an_anchor_that_a_person_made_is_known(store: Store, kit) -> None:
    kit.load(store, kit.one("I have twenty one", 2))
    store.edits.replace_anchor(
        1,
        store.people.ensure("eva"),
        Role.ADJUDICATOR,
        Anchor(2, 4),
        store.edits.stale_labels(1, store.people.ensure("eva")),
    )
    report = kit.load(store, kit.one("I have twenty one", 2, stop=4, gold=kit.gold(Kind.AGE)))
    assert (report.anchors_known, report.gold_new) == (1, 1)
    assert items(store)[0].state is AnchorState.DECIDED


@pytest.mark.parametrize("problem", ["anchor", "mention", "name", "reader"])
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_file_that_fails_leaves_nothing(
    path: Path, store: Store, kit, problem: str, dry_run: bool
) -> None:
    kit.load(store, kit.one("known one", 1, gold=kit.gold(Kind.AGE)))
    before = rows_of_all_tables(path)

    def rows() -> Iterator[IncomingPassage]:
        for number in range(300):
            yield kit.one(
                f"I have one {number}",
                2,
                gold=kit.gold(kit.to(0)),
                votes=[kit.vote("new", kit.to(1))],
                flags=[kit.flag(FlagName.SKIP, "newer")],
                line=number,
            )
        yield kit.one("known one", 1, votes=[kit.vote("new", Kind.AGE)], line=300)
        if problem == "anchor":
            yield kit.one("I have one", 2, stop=9, line=301)
        elif problem == "mention":
            yield kit.one("I have one", 2, gold=kit.gold(kit.to(9)), line=301)
        elif problem == "name":
            yield kit.one("I have one", 2, votes=[kit.vote("x\x1b", Kind.AGE)], line=301)
        else:
            raise FormatError("some.jsonl", 301, "not JSON")

    expected: type[Exception] = StoreError if problem == "name" else FormatError
    with pytest.raises(expected, match="cannot be" if problem == "name" else "line 301: "):
        store.imports.load(kit.file("some.jsonl"), rows(), dry_run=dry_run)
    assert rows_of_all_tables(path) == before


def test_a_dry_run_reports_what_the_import_does(path: Path, store: Store, kit) -> None:
    kit.load(store, kit.one("known one", 1, gold=kit.gold(Kind.AGE)))
    before = rows_of_all_tables(path)
    rows = [
        kit.one("known one", 1, gold=kit.gold(Kind.YEAR), votes=[kit.vote("new", Kind.AGE)]),
        kit.one(
            "a new one",
            2,
            gold=kit.gold(Kind.AGE),
            flags=[kit.flag(FlagName.SKIP, "x")],
            line=2,
        ),
        kit.one(
            "a new one", 2, gold=kit.gold(Kind.TIME), votes=[kit.vote("x", Kind.AGE)], line=3
        ),
    ]
    source = IncomingFile("f", "1", "gold", warnings=lambda: ["a bare NaN"])
    for replace_gold in (True, False):
        dry = store.imports.load(source, rows, dry_run=True, replace_gold=replace_gold)
        assert rows_of_all_tables(path) == before
    wet = store.imports.load(source, rows)
    assert dry == replace(wet, dry_run=True, number=0)
    assert wet.warnings == ("a bare NaN",)


def test_progress_tells_the_rows_done(store: Store, kit) -> None:
    told: list[int] = []
    rows = [kit.one(f"I have one {number}", 2) for number in range(250)]
    store.imports.load(kit.file(), rows, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 250


def test_a_passage_may_hold_many_anchors(store: Store, kit) -> None:
    passage = kit.passage("one two three")
    anchors = tuple(IncomingAnchor(i, Anchor(i, i + 1)) for i in range(3))
    report = kit.load(store, IncomingPassage(passage, "test 1", anchors))
    assert (report.passages_new, report.anchors_new) == (1, 3)
    assert len(items(store)[1].siblings) == 3


def test_no_foreign_key_is_broken(path: Path, store: Store, kit) -> None:
    rows = [
        kit.one(
            f"I have one {number % 40}",
            2,
            gold=kit.gold(kit.to([0, 1]), Rule.EXPERT, "lee") if number % 3 else None,
            votes=[kit.vote(f"ann{number % 7}", kit.to(0))],
            flags=[kit.flag(FlagName.ANCHOR, f"f{number % 5}")],
            line=number,
        )
        for number in range(400)
    ]
    store.imports.load(kit.file(), rows)
    reader = connect(path, "ro")
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
    assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    reader.close()


def test_replaced_gold_leaves_no_mention_behind(path: Path, store: Store, kit) -> None:
    kit.load(store, kit.one("a dog and one", 3, gold=kit.gold(kit.to([0, 1], 2))))
    kit.load(store, kit.one("a dog and one", 3, gold=kit.gold(kit.to(1))), replace_gold=True)
    tables = rows_of_all_tables(path)
    assert (len(tables["head"]), len(tables["mention"])) == (1, 1)


def test_the_index_has_the_texts_of_imports_and_no_others(
    path: Path, store: Store, kit
) -> None:
    kit.load(store, kit.one("the two months left", 1))
    with pytest.raises(FormatError):
        kit.load(store, kit.one("another two", 1), kit.one("x", 7))
    with pytest.raises(ZeroDivisionError):
        store.imports.load(kit.file(), passages_that_end_in_an_error(kit))
    kit.load(store, kit.one("three at the most", 0))
    reader = connect(path, "ro")
    texts = reader.execute("SELECT id FROM passage_text_docsize").fetchall()
    assert texts == reader.execute("SELECT id FROM passage").fetchall()
    assert len(texts) == 2
    reader.close()


def passages_that_end_in_an_error(kit) -> Iterator[IncomingPassage]:
    for number in range(import_run.WRITE_SIZE.first + 1):
        yield kit.one(f"number {number}", 1)
    raise ZeroDivisionError


@pytest.mark.parametrize("at_once", [1, 100])
def test_rows_of_one_number_that_stand_far_apart_go_on_from_each_other(
    path: Path, store: Store, kit, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    lee = store.people.ensure("lee")
    kit.load(store, kit.one("known one", 1, gold=kit.gold(Kind.AGE)))
    out = kit.load(store, kit.one("retired one", 1, votes=[kit.vote("eva", Kind.AGE)]))
    store.imports.retire([out.number], lee)
    size = replace(import_run.WRITE_SIZE, first=at_once, smallest=at_once, largest=at_once)
    monkeypatch.setattr(import_run, "WRITE_SIZE", size)
    year, time = kit.gold(Kind.YEAR), kit.gold(Kind.TIME, Rule.EXPERT, "lee")
    skip, bob = kit.flag(FlagName.SKIP, "bob"), kit.vote("bob", kit.to(0))
    rows = [
        kit.one("retired one", 1, line=1),
        kit.one("known one", 1, votes=[bob], flags=[skip], line=2),
        kit.one("known one", 1, gold=year, votes=[kit.vote("bob", Kind.AGE)], line=3),
        kit.one("retired one", 1, votes=[bob, kit.vote("eva", Kind.AGE)], line=4),
        kit.one("known one", 1, gold=time, votes=[bob], flags=[skip], line=5),
        kit.one("retired one", 1, gold=year, flags=[skip], line=6),
    ]
    report = store.imports.load(kit.file(), rows, replace_gold=True)
    assert report.conflicts == (
        "line 3: bob answered REFERENCE to token 0 already, which was kept; the file says AGE",
        "line 5: gold YEAR was kept; the file says TIME",
    )
    assert (report.anchors_new, report.anchors_back, report.votes_new) == (0, 1, 2)
    assert (report.gold_new, report.gold_replaced, report.flags_new) == (1, 1, 2)
    assert [(item.gold.answer.kind, len(item.votes)) for item in items(store)] == [
        (Kind.YEAR, 1),
        (Kind.YEAR, 2),
    ]
    reader = connect(path, "ro")
    found = replay(reader)
    assert (found.broken, found.state) == ([], present_state(reader))
    reader.close()


@pytest.mark.long
def test_an_import_keeps_nothing_of_the_numbers_behind_it(
    store: Store, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    age = [kit.vote("a", Kind.AGE)]
    kit.load(store, *(kit.one(f"I have one {at}", 2, votes=age) for at in range(900)))
    size = replace(import_run.WRITE_SIZE, first=50, smallest=50, largest=50)
    monkeypatch.setattr(import_run, "WRITE_SIZE", size)
    held: list[int] = []

    def answered() -> Iterator[IncomingPassage]:
        for at in range(900):
            if at in (300, 850):
                held.append(tracemalloc.get_traced_memory()[0])
            votes = [kit.vote("a", Kind.YEAR), kit.vote("b", Kind.AGE)]
            yield kit.one(f"I have one {at}", 2, votes=votes, line=at)

    tracemalloc.start()
    try:
        report = store.imports.load(kit.file(), answered())
    finally:
        tracemalloc.stop()
    assert (report.votes_new, len(report.conflicts)) == (900, import_run.LISTED_CONFLICTS + 1)
    # A number that is kept takes some 500 bytes and more; caches may grow by a little.
    assert held[1] - held[0] < 550 * 200, "bytes of 550 numbers"
