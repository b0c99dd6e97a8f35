"""What leaves: each anchor once, or each imported row as it came."""

from pathlib import Path

import pytest

from nfh_db import items
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import FlagName, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, anchor_id, class_answer

AGE, YEAR, TIME = '["AGE"]', '["YEAR"]', '["TIME"]'


def load_nfh(store: Store, name: str, *rows, **options: bool) -> None:
    """Import rows as a file in the release's form."""
    store.imports.load(IncomingFile(name, f"sha {name}", "nfh"), rows, **options)


def leaving(store: Store, layout: str, query: str = "") -> list[tuple[object, ...]]:
    """Text, span, split, labels and kind of gold of each record."""
    return [
        (
            record.passage.text,
            (record.anchor.start, record.anchor.end),
            record.split,
            record.labels,
            record.gold.answer.kind.value if record.gold else None,
        )
        for record in store.items.records(parse(query), None, layout)
    ]


@pytest.fixture
def two_files(store: Store, kit) -> None:
    """Two files with a repeated row, a passage in both, and one label that lost."""
    gold = kit.gold
    load_nfh(
        store,
        "dev",
        kit.one("b one two", 1, line=1, labels=AGE, gold=gold(Kind.AGE), split="dev"),
        kit.one("a one two", 1, line=2, labels=YEAR, gold=gold(Kind.YEAR), split="dev"),
        kit.one("b one two", 1, line=3, labels=AGE, gold=gold(Kind.AGE), split="dev"),
    )
    load_nfh(
        store,
        "test",
        kit.one("a one two", 2, line=1, labels=TIME, gold=gold(Kind.TIME), split="test"),
        kit.one("a one two", 1, line=2, labels=AGE, gold=gold(Kind.AGE), split="test"),
    )
    kit.load(store, kit.one("c one", 1), kit.one("b one two", 2, gold=gold(Kind.OTHER)))


@pytest.mark.usefixtures("two_files")
def test_each_anchor_once_by_passage_and_span(store: Store) -> None:
    assert leaving(store, "gold") == [
        ("b one two", (1, 2), "dev", None, "AGE"),
        ("b one two", (2, 3), None, None, "OTHER"),
        ("a one two", (1, 2), "dev", None, "YEAR"),
        ("a one two", (2, 3), "test", None, "TIME"),
        ("c one", (1, 2), None, None, None),
    ]


@pytest.mark.usefixtures("two_files")
def test_imported_rows_leave_as_they_came(store: Store) -> None:
    assert leaving(store, "nfh") == [
        ("b one two", (1, 2), "dev", AGE, "AGE"),
        ("a one two", (1, 2), "dev", YEAR, "YEAR"),
        ("b one two", (1, 2), "dev", AGE, "AGE"),
        ("a one two", (2, 3), "test", TIME, "TIME"),
        ("a one two", (1, 2), "test", AGE, "YEAR"),
        ("b one two", (2, 3), None, None, "OTHER"),
        ("c one", (1, 2), None, None, None),
    ]


@pytest.mark.usefixtures("two_files")
def test_a_query_narrows_both(store: Store) -> None:
    assert [row[:2] for row in leaving(store, "nfh", "split:test")] == [
        ("a one two", (1, 2)),
        ("a one two", (2, 3)),
        ("a one two", (1, 2)),
    ]
    assert [row[:2] for row in leaving(store, "gold", "state:open")] == [("c one", (1, 2))]


@pytest.mark.usefixtures("two_files")
def test_a_decided_row_leaves_with_the_decision(store: Store, kit) -> None:
    lee = store.people.ensure("lee")
    store.edits.commit_answer(1, lee, Role.ADJUDICATOR, class_answer(Kind.TIME))
    assert [row[3:] for row in leaving(store, "nfh")][:3] == [
        (None, "TIME"),
        (YEAR, "YEAR"),
        (None, "TIME"),
    ]
    store.edits.undo(lee)
    assert [row[3:] for row in leaving(store, "nfh")][:3] == [
        (AGE, "AGE"),
        (YEAR, "YEAR"),
        (AGE, "AGE"),
    ]
    kit.load(store, kit.one("b one two", 1, gold=kit.gold(Kind.PEOPLE)), replace_gold=True)
    assert leaving(store, "nfh")[0][3:] == (None, "PEOPLE")


@pytest.mark.usefixtures("two_files")
def test_a_corrected_span_leaves_in_its_row(store: Store) -> None:
    eva = store.people.ensure("eva")
    second = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(0, 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    third = store.edits.replace_anchor(
        second, eva, Role.ADJUDICATOR, Anchor(0, 3), store.edits.stale_labels(second, eva)
    ).anchor_id
    store.edits.commit_answer(third, eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
    rows = leaving(store, "nfh")
    assert rows[0] == rows[2] == ("b one two", (0, 3), "dev", None, "TIME")
    assert len(rows) == 7
    assert [row[1] for row in leaving(store, "gold") if row[0] == "b one two"] == [
        (0, 3),
        (2, 3),
    ]


def test_labels_that_were_answers_leave_with_the_gold(store: Store, kit) -> None:
    load_nfh(store, "dev", kit.one("a one", 1, labels=AGE, votes=[kit.vote("eva", Kind.AGE)]))
    assert leaving(store, "nfh") == [("a one", (1, 2), None, None, None)]
    kit.load(store, kit.one("a one", 1, gold=kit.gold(Kind.YEAR)))
    assert leaving(store, "nfh") == [("a one", (1, 2), None, None, "YEAR")]


def test_a_record_is_whole(store: Store, kit) -> None:
    kit.load(
        store,
        kit.one(
            "the dogs saw one",
            3,
            split="dev",
            gold=kit.gold(kit.to(1), Rule.EXPERT, "lee"),
            votes=[kit.vote("b", Kind.AGE), kit.vote("a", kit.to(1))],
            flags=[kit.flag(FlagName.SKIP, "b"), kit.flag(FlagName.ANCHOR, "b")],
        ),
    )
    (record,) = store.items.records(parse(""), store.people.ensure("eva"), "gold")
    assert record.public_id == anchor_id(kit.passage("the dogs saw one").digest, Anchor(3, 4))
    assert record.gold == kit.gold(kit.to(1), Rule.EXPERT, "lee")
    assert record.votes == (kit.vote("a", kit.to(1)), kit.vote("b", Kind.AGE))
    assert [mark.name for mark in record.flags] == [FlagName.ANCHOR, FlagName.SKIP]


def test_what_leaves_is_of_one_moment(
    store: Store, path: Path, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "AT_ONCE", 2)
    kit.load(store, *(kit.one(f"one {number}", 0, line=number) for number in range(9)))
    records = store.items.records(parse(""), None, "gold")
    first = next(records)
    with Store.open(path) as other:
        eva = other.people.ensure("eva")
        for id_ in range(1, 10):
            other.edits.commit_answer(id_, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
    rest = list(records)
    assert [record.gold for record in (first, *rest)] == [None] * 9
    assert len({record.public_id for record in (first, *rest)}) == 9
    assert all(record.gold for record in store.items.records(parse(""), None, "gold"))


def test_an_export_broken_off_gives_its_connection_back(store: Store, kit) -> None:
    kit.load(store, kit.one("one", 0), kit.one("one two", 0))
    records = store.items.records(parse(""), None, "gold")
    next(records)
    records.close()
    kit.load(store, kit.one("one two three", 0))
    assert len(leaving(store, "gold")) == 3


def test_rows_that_came_in_as_answers_are_no_rows_of_their_own(store: Store, kit) -> None:
    """The same file for gold and for two annotators: each row leaves once, not three times."""
    kinds = (Kind.AGE, Kind.YEAR)
    for person in ("ann1", None, "ann2"):
        rows = [
            kit.one(
                f"{kind} one",
                1,
                line=line,
                labels=f'["{kind}"]',
                gold=None if person else kit.gold(kind),
                votes=[kit.vote(person, kind)] if person else [],
            )
            for line, kind in enumerate(kinds, 1)
        ]
        store.imports.load(IncomingFile("rows", "sha rows", "nfh", None, person), rows)
    assert [labels for *_, labels, _ in leaving(store, "nfh")] == [AGE, YEAR]


def test_anchors_that_came_in_as_answers_leave_once_decided(store: Store, kit) -> None:
    row = kit.one("a one", 1, labels=AGE, votes=[kit.vote("ann1", Kind.AGE)])
    for person in ("ann1", "ann2"):
        store.imports.load(IncomingFile("rows", "sha rows", "nfh", None, person), [row])
    eva = store.people.ensure("eva")
    store.edits.commit_answer(1, eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
    assert leaving(store, "nfh") == [("a one", (1, 2), None, None, "TIME")]
