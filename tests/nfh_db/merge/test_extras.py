"""What is no part of the log: assignments, drafts, places, saved views, guidelines."""

from contextlib import closing

import pytest

from nfh_db.connection import connect
from nfh_db.records import QueuePosition, Role
from nfh_models.domain import Anchor, Kind

ASSIGN = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, state, position, expected,
    stratum, run, assigned_at)
SELECT :anchor, id, :role, :purpose, :state, 7, :expected, NULL, 'run', :at
FROM annotator WHERE name = :name"""
ASSIGNED = """
SELECT s.anchor_id, n.name, s.role, s.purpose, s.state, s.verdict
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id ORDER BY 1, 2, 3"""
AT = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def parted(copies):
    """Two copies of a database with two numbers, which eva and bob know."""
    copies.made("home", copies.kit.one(), copies.kit.one("two or three dogs", 0, line=2))
    with copies.open("home") as store:
        store.people.ensure("eva")
        store.people.ensure("bob")
    copies.copy("home", "train")
    return copies


def assign(copies, name: str, who: str, anchor: int, **more: str) -> None:
    row = {"role": "annotator", "purpose": "work", "state": "open", "expected": None} | more
    with closing(connect(copies.path(name), "rw")) as writer:
        writer.execute(ASSIGN, row | {"anchor": anchor, "name": who, "at": AT})


def assigned(copies, name: str) -> list[tuple[object, ...]]:
    with closing(connect(copies.path(name), "ro")) as reader:
        return reader.execute(ASSIGNED).fetchall()


def test_assignments_come_along_and_are_done_where_answered(parted) -> None:
    gold = '{"kind":"AGE","rule":"imported","batch":1}'
    assign(parted, "train", "bob", 1, purpose="check", expected=gold)
    assign(parted, "train", "bob", 2)
    assign(parted, "train", "eva", 1, state="returned")
    parted.answer("home", "bob", Kind.TIME)
    report = parted.merge("home", "train")
    assert report.assignments_new == 3
    assert assigned(parted, "home") == [
        (1, "bob", "annotator", "check", "done", "wrong"),
        (1, "eva", "annotator", "work", "returned", None),
        (2, "bob", "annotator", "work", "open", None),
    ]
    assert not parted.merge("home", "train").changes


def test_an_answer_that_comes_in_finishes_what_was_given_here(parted) -> None:
    assign(parted, "home", "bob", 1)
    parted.answer("train", "bob", Kind.TIME)
    parted.merge("home", "train")
    assert assigned(parted, "home") == [(1, "bob", "annotator", "work", "done", None)]


def test_what_was_given_otherwise_is_left(parted) -> None:
    assign(parted, "home", "bob", 1)
    assign(parted, "train", "bob", 1, purpose="check")
    assign(parted, "home", "bob", 2)
    assign(parted, "train", "bob", 2, state="returned")
    report = parted.merge("home", "train")
    assert report.left == (
        "2 assignments of another purpose, or given back, in one of the two copies",
    )
    assert [row[3:5] for row in assigned(parted, "home")] == [("work", "open")] * 2


def test_an_assignment_follows_a_span_that_was_corrected_here(parted) -> None:
    assign(parted, "train", "bob", 1)
    with parted.open("home") as store:
        new = store.edits.replace_anchor(
            1,
            store.people.ensure("eva"),
            Role.ADJUDICATOR,
            Anchor(3, 6),
            store.edits.stale_labels(1, store.people.ensure("eva")),
        ).anchor_id
    parted.merge("home", "train")
    assert assigned(parted, "home") == [(new, "bob", "annotator", "work", "open", None)]
    assert not parted.merge("home", "train").changes


def test_drafts_come_along_unless_they_are_of_old(parted) -> None:
    with parted.open("train") as store:
        bob, eva = store.people.ensure("bob"), store.people.ensure("eva")
        for anchor, person in ((1, bob), (2, bob), (2, eva)):
            store.workspace.save_draft(anchor, person, Role.ANNOTATOR, "{}")
    parted.answer("home", "bob", Kind.AGE, 2)
    with parted.open("home") as store:
        store.workspace.save_draft(
            2, store.people.ensure("eva"), Role.ANNOTATOR, '{"of": "home"}'
        )
    report = parted.merge("home", "train")
    assert report.drafts_new == 1
    assert report.left == ("2 drafts of items that were answered since, or have a draft here",)
    with parted.open("home") as store:
        bob, eva = store.people.ensure("bob"), store.people.ensure("eva")
        assert store.items.read(1, bob, Role.ANNOTATOR).draft.body == "{}"
        assert store.items.read(2, bob, Role.ANNOTATOR).draft is None
        assert store.items.read(2, eva, Role.ANNOTATOR).draft.body == '{"of": "home"}'
    assert not parted.merge("home", "train").changes


def test_places_and_views_come_where_there_are_none(parted) -> None:
    for name, query in (("home", "class:AGE"), ("train", "class:TIME")):
        with parted.open(name) as store:
            eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
            store.workspace.save_view(eva, "mine", query)
            store.workspace.save_view(eva, name, query)
            store.workspace.save_position(eva, "annotate", QueuePosition(query, 1, 0))
            if name == "train":
                store.workspace.save_position(bob, "adjudicate", QueuePosition(query, 2, 1))
    report = parted.merge("home", "train")
    assert (report.places_new, report.views_new) == (1, 1)
    assert report.left == ("the saved view “mine” of eva has another query there",)
    with parted.open("home") as store:
        eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
        assert dict(store.workspace.views(eva)) == {
            "mine": "class:AGE",
            "home": "class:AGE",
            "train": "class:TIME",
        }
        assert store.workspace.position(eva, "annotate").query == "class:AGE"
        assert store.workspace.position(bob, "adjudicate") == QueuePosition("class:TIME", 2, 1)


def test_guidelines_come_by_version(parted) -> None:
    for name, rows in (("home", [(1, "a")]), ("train", [(1, "b"), (2, "c")])):
        with closing(connect(parted.path(name), "rw")) as writer:
            writer.executemany(
                "INSERT INTO guideline (version, body, created_at) VALUES (?, ?, '2026')", rows
            )
    report = parted.merge("home", "train")
    assert report.guidelines_new == 1
    otherwise, holds = report.left
    assert otherwise.startswith(
        "version 1 of the guidelines has another text there (answers given under that text: 0)"
    )
    assert "which version 2 was made: that text is merged and is in force" in holds
    with closing(connect(parted.path("home"), "ro")) as reader:
        found = reader.execute("SELECT version, body FROM guideline ORDER BY 1").fetchall()
    assert found == [(1, "a"), (2, "c")]


def test_answers_under_guidelines_that_read_otherwise_are_counted(parted) -> None:
    for name, body in (("home", "a"), ("train", "b")):
        with parted.open(name) as store:
            store.guidelines.add_first(body)
    parted.answer("train", "eva", Kind.AGE)
    report = parted.merge("home", "train")
    assert report.guidelines_new == 0
    assert len(report.left) == 1
    assert "(answers given under that text: 1)" in report.left[0]
    with parted.open("home") as store:
        assert store.guidelines.read().body == "a"
