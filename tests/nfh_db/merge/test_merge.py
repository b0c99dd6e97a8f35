"""What comes in from another copy, and what is left to a person."""

from contextlib import closing
from dataclasses import replace

import pytest

from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.merge.log_diff import ConflictReason
from nfh_db.query import parse
from nfh_db.records import Exposure, FlagName, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer


@pytest.fixture
def parted(copies):
    """Two copies, "home" and "train", of a database with two numbers and an answer of eva's."""
    copies.made("home", copies.kit.one(), copies.kit.one("two or three dogs", 0, line=2))
    copies.answer("home", "eva", Kind.AGE, 2)
    copies.copy("home", "train")
    return copies


def test_what_was_done_elsewhere_comes_in(parted) -> None:
    parted.answer("home", "eva", Kind.AGE)
    parted.answer("train", "bob", Kind.TIME)
    report = parted.merge("home", "train")
    assert (report.events, report.acts, report.items) == (1, 1, 1)
    assert report.people_new == ("bob",)
    assert report.conflicts == ()
    assert parted.said("home") == {"eva": "AGE", "bob": "TIME"}


def test_each_act_keeps_its_person_words_and_time(parted) -> None:
    with parted.open("train") as store:
        bob = store.people.ensure("bob")
        seen = Exposure(saw_model=True, seconds=4.0, rule_tag="§2")
        answer = class_answer(Kind.OTHER, comment="a bid", noun="house")
        saved = store.edits.commit_answer(1, bob, Role.ANNOTATOR, answer, seen)
        (there,) = store.history.of_anchor(1)
    parted.merge("home", "train")
    with parted.open("home") as store:
        (vote,) = store.items.read(1, store.people.ensure("eva"), Role.ANNOTATOR).votes
        (here,) = store.history.of_anchor(1)
    assert here.merged == "merge of train.db"
    assert replace(here, merged=None) == there
    assert (vote.answer, vote.answered_at) == (answer, saved.at)
    assert (vote.seconds, vote.saw_model, vote.rule_tag) == (4.0, True, "§2")
    with closing(connect(parted.path("home"), "ro")) as reader:
        by, kind, who = reader.execute(
            """SELECT m.summary, m.kind, n.name FROM act AS c
            JOIN act AS m ON m.id = c.merged_by JOIN annotator AS n ON n.id = m.annotator_id
            WHERE c.summary LIKE 'answer OTHER%'"""
        ).fetchone()
    assert (by, kind, who) == ("merge of train.db", "merge", "merger")


def test_a_trial_run_writes_nothing(parted, whole) -> None:
    parted.answer("train", "bob", Kind.TIME)
    before = whole(parted.path("home"))
    report = parted.merge("home", "train", dry_run=True)
    assert (report.events, report.dry_run, report.backup) == (1, True, None)
    assert whole(parted.path("home")) == before
    assert not list(parted.folder.glob("*backup*"))
    done = parted.merge("home", "train")
    assert (done.events, done.people_new) == (report.events, report.people_new)


def test_a_second_merge_changes_nothing(parted, whole) -> None:
    parted.answer("train", "bob", Kind.TIME)
    parted.decide("train", "bob", Kind.YEAR, 2)
    assert parted.merge("home", "train").changes
    before = whole(parted.path("home"))
    again = parted.merge("home", "train")
    assert not again.changes
    assert again.backup is None
    assert whole(parted.path("home")) == before


def test_before_anything_is_written_a_copy_is_made(parted, whole) -> None:
    parted.answer("home", "eva", Kind.YEAR)
    before = whole(parted.path("home"))
    parted.answer("train", "bob", Kind.TIME)
    report = parted.merge("home", "train")
    (copy,) = parted.folder.glob("home.db.backup-merge-*")
    assert report.backup == str(copy)
    assert whole(copy) == before
    copy.replace(parted.path("home"))
    assert parted.said("home") == {"eva": "YEAR"}


def test_what_one_person_said_otherwise_in_both_is_left(parted) -> None:
    parted.answer("home", "eva", Kind.TIME, 2)
    parted.answer("train", "eva", Kind.YEAR, 2)
    report = parted.merge("home", "train")
    (conflict,) = report.conflicts
    assert (conflict.what, conflict.whose, conflict.why) == (
        "answer",
        "eva",
        ConflictReason.BOTH,
    )
    assert (conflict.here.said, conflict.there.said) == ("TIME", "YEAR")
    assert (conflict.here.by, conflict.there.by) == ("eva", "eva")
    assert conflict.here.at < conflict.there.at
    assert (conflict.anchor_id, conflict.word) == (2, "two")
    assert parted.said("home", 2) == {"eva": "TIME"}
    with parted.open("home") as store:
        eva = store.people.ensure("eva")
        (found,) = store.queue.ids(parse(conflict.query), eva)
        assert list(found) == [2]
        assert store.items.read(2, eva, Role.ANNOTATOR).public_id == conflict.public_id
    assert not report.changes
    assert not list(parted.folder.glob("*backup*"))


def test_the_same_said_in_both_is_no_conflict(parted) -> None:
    parted.answer("home", "eva", Kind.TIME, 2)
    parted.answer("train", "eva", Kind.TIME, 2)
    report = parted.merge("home", "train")
    assert (report.conflicts, report.agreed, report.changes) == ((), 1, False)


def test_two_experts_decided_otherwise(parted) -> None:
    parted.decide("home", "eva", Kind.TIME)
    parted.decide("train", "bob", Kind.YEAR)
    report = parted.merge("home", "train")
    (conflict,) = report.conflicts
    assert (conflict.what, conflict.whose) == ("gold", None)
    assert conflict.here.said == "TIME (rule expert)"
    assert (conflict.here.rule, conflict.there.rule) == ("expert", "expert")
    assert parted.said("home") == {"EVA": "TIME", "BOB": "YEAR", "gold": "TIME"}
    with parted.open("home") as store:
        (found,) = store.queue.ids(parse("experts:differ"), store.people.ensure("eva"))
    assert list(found) == [1]


def test_a_comment_of_its_own_is_something_else(parted) -> None:
    for name, words in (("home", "here"), ("train", "there")):
        with parted.open(name) as store:
            answer = class_answer(Kind.AGE, comment=words)
            store.edits.commit_answer(1, store.people.ensure("bob"), Role.ANNOTATOR, answer)
    (conflict,) = parted.merge("home", "train").conflicts
    assert conflict.here.said == "AGE comment “here”"


@pytest.mark.parametrize(("into", "other"), [("home", "train"), ("train", "home")])
def test_an_expert_decides_over_a_rule_in_whatever_copy(parted, into: str, other: str) -> None:
    for who in ("eva", "bob"):
        parted.answer("home", who, Kind.AGE)
    with parted.open("home") as store:
        store.settlement.run(parse(""), Rule.UNANIMOUS, store.people.ensure("eva"))
    parted.decide("train", "zoe", Kind.YEAR)
    parted.decide("train", "zoe", Kind.TIME)
    assert parted.merge(into, other).conflicts == ()
    assert parted.said(into)["gold"] == "TIME"
    with parted.open(into) as store:
        zoe = store.people.ensure("zoe")
        store.edits.undo(zoe)
        store.edits.undo(zoe)
    assert parted.said(into).get("gold") == ("AGE" if into == "home" else None)


def test_what_was_taken_back_here_gives_way(parted) -> None:
    parted.decide("home", "eva", Kind.TIME)
    with parted.open("home") as store:
        store.edits.undo(store.people.ensure("eva"))
    parted.decide("train", "bob", Kind.YEAR)
    report = parted.merge("home", "train")
    assert (report.conflicts, parted.said("home")["gold"]) == ((), "YEAR")


def test_what_was_taken_back_there_changes_nothing(parted) -> None:
    parted.decide("home", "eva", Kind.TIME)
    parted.decide("train", "bob", Kind.YEAR)
    with parted.open("train") as store:
        store.edits.undo(store.people.ensure("bob"))
    report = parted.merge("home", "train")
    assert (report.conflicts, report.taken_back) == ((), 1)
    assert parted.said("home") == {"EVA": "TIME", "gold": "TIME"}


def test_flags_come_along(parted) -> None:
    with parted.open("train") as store:
        bob = store.people.ensure("bob")
        store.edits.set_flag(1, bob, FlagName.GUIDELINE, True)
        store.edits.set_flag(2, bob, FlagName.SKIP, True)
        store.edits.set_flag(2, bob, FlagName.SKIP, False)
    parted.merge("home", "train")
    with parted.open("home") as store:
        marks = {
            anchor: store.items.read(anchor, store.people.ensure("eva"), Role.ANNOTATOR).flags
            for anchor in (1, 2)
        }
    assert [(mark.name, mark.annotator) for mark in marks[1]] == [(FlagName.GUIDELINE, "bob")]
    assert marks[2] == ()


def test_undo_goes_on_as_if_in_one_copy(parted) -> None:
    parted.answer("home", "eva", Kind.TIME, 1)
    with parted.open("train") as store:
        bob = store.people.ensure("bob")
        for kind in (Kind.YEAR, Kind.PEOPLE):
            store.edits.commit_answer(1, bob, Role.ANNOTATOR, class_answer(kind))
        store.edits.undo(bob)
    parted.merge("home", "train")
    assert parted.said("home") == {"eva": "TIME", "bob": "YEAR"}
    with parted.open("home") as store:
        bob, eva = store.people.ensure("bob"), store.people.ensure("eva")
        assert store.edits.redo(bob).summary == "answer PEOPLE, in place of an earlier one"
        assert store.edits.undo(bob) is not None
        assert store.edits.undo(bob) is not None
        assert store.edits.undo(bob) is None
        assert store.edits.undo(eva).summary == "answer TIME"
    assert parted.said("home") == {}


def test_an_undo_of_what_both_have_counts_here(parted) -> None:
    with parted.open("train") as store:
        store.edits.undo(store.people.ensure("eva"))
    assert parted.said("home", 2) == {"eva": "AGE"}
    assert parted.merge("home", "train").events == 1
    assert parted.said("home", 2) == {}
    with parted.open("home") as store:
        eva = store.people.ensure("eva")
        assert store.edits.undo(eva) is None
        assert store.edits.redo(eva) is not None
    assert parted.said("home", 2) == {"eva": "AGE"}


def test_a_settlement_is_one_act_here_too(parted) -> None:
    for who in ("eva", "bob"):
        parted.answer("train", who, Kind.AGE, 1)
        parted.answer("train", who, Kind.TIME, 2)
    with parted.open("train") as store:
        store.settlement.run(parse(""), Rule.UNANIMOUS, store.people.ensure("zoe"))
    parted.merge("home", "train")
    assert (parted.said("home", 1)["gold"], parted.said("home", 2)["gold"]) == ("AGE", "TIME")
    with parted.open("home") as store:
        undone = store.edits.undo(store.people.ensure("zoe"))
        assert undone.anchors == 2
    assert "gold" not in parted.said("home", 1) | parted.said("home", 2)


def test_three_copies(parted, saying) -> None:
    parted.copy("train", "ferry")
    parted.answer("home", "eva", Kind.TIME)
    parted.answer("train", "bob", Kind.YEAR)
    parted.answer("ferry", "zoe", Kind.AGE)
    parted.merge("home", "train")
    parted.merge("home", "ferry")
    parted.merge("train", "home")
    parted.answer("train", "bob", Kind.PEOPLE)
    parted.merge("ferry", "train")
    parted.merge("home", "ferry")
    assert parted.said("home") == {"eva": "TIME", "bob": "PEOPLE", "zoe": "AGE"}
    found = [saying(parted.path(name)) for name in ("home", "train", "ferry")]
    assert found[0] == found[1] == found[2]
    assert not parted.merge("home", "train").changes


def test_a_name_of_two_kinds_is_refused(parted) -> None:
    with parted.open("train") as store:
        store.people.ensure("small", "model")
    with parted.open("home") as store:
        store.people.ensure("small")
    with pytest.raises(StoreError, match="'small' is a person here and a model in the other"):
        parted.merge("home", "train")


def test_many_acts_in_many_writes(copies, monkeypatch: pytest.MonkeyPatch) -> None:
    from nfh_db.merge import source

    few = replace(source.WRITE_SIZE, first=6, largest=7)
    monkeypatch.setattr(source, "WRITE_SIZE", few)
    copies.made("home", *(copies.kit.one(f"one {n}", 0, line=n) for n in range(1, 61)))
    copies.copy("home", "train")
    with Store.open(copies.path("train")) as store:
        people = [store.people.ensure(name) for name in ("bob", "zoe")]
        for anchor in range(1, 61):
            for person in people:
                store.edits.commit_answer(
                    anchor, person, Role.ANNOTATOR, class_answer(Kind.AGE)
                )
        store.settlement.run(parse(""), Rule.UNANIMOUS, people[0])
        for _ in range(5):
            store.edits.replace_anchor(
                _ + 1,
                people[1],
                Role.ADJUDICATOR,
                Anchor(0, 2),
                store.edits.stale_labels(_ + 1, people[1]),
            )
    told: list[tuple[str, int]] = []
    with copies.open("home") as store:
        report = store.merge.run(
            copies.path("train"), "merger", progress=lambda *step: told.append(step)
        )
    assert (report.events, report.acts) == (190, 126)
    assert ("applied", 190) in told
    copies.merge("home", "train")
    with copies.open("home") as store:
        assert store.queue.count(parse("state:decided"), store.people.ensure("bob")) == 55
        assert store.queue.count(parse("state:stale"), store.people.ensure("bob")) == 5


def test_what_was_decided_with_both_in_view_counts(parted) -> None:
    """In the copy where it was decided it is not asked again; the other one takes it over."""
    parted.decide("home", "eva", Kind.TIME)
    parted.decide("train", "bob", Kind.YEAR)
    assert len(parted.merge("home", "train").conflicts) == 1
    assert len(parted.merge("home", "train").conflicts) == 1
    parted.decide("home", "eva", Kind.AGE)
    assert parted.merge("home", "train").conflicts == ()
    assert parted.merge("train", "home").conflicts == ()
    assert parted.said("train") == {"EVA": "AGE", "BOB": "YEAR", "gold": "AGE"}
    with parted.open("train") as store:
        eva = store.people.ensure("eva")
        assert store.edits.undo(eva) is not None
    assert parted.said("train")["gold"] == "TIME"


def test_a_decision_that_came_after_is_a_new_conflict(parted) -> None:
    parted.decide("home", "eva", Kind.TIME)
    parted.decide("train", "bob", Kind.YEAR)
    parted.merge("home", "train")
    parted.decide("home", "eva", Kind.AGE)
    parted.decide("train", "bob", Kind.PEOPLE)
    (conflict,) = parted.merge("home", "train").conflicts
    assert (conflict.here.said, conflict.there.said) == (
        "AGE (rule expert)",
        "PEOPLE (rule expert)",
    )
    assert len(parted.merge("train", "home").conflicts) == 1


def test_an_answer_confirmed_after_the_merge_is_not_asked_again(parted) -> None:
    parted.answer("home", "eva", Kind.TIME, 2)
    parted.answer("train", "eva", Kind.YEAR, 2)
    assert len(parted.merge("home", "train").conflicts) == 1
    parted.answer("home", "eva", Kind.TIME, 2)
    assert parted.merge("home", "train").conflicts == ()
    assert parted.merge("train", "home").conflicts == ()
    assert parted.said("train", 2) == {"eva": "TIME"}


def test_what_is_only_listed_is_remembered_and_nothing_else(parted, whole) -> None:
    parted.answer("home", "eva", Kind.TIME, 2)
    parted.answer("train", "eva", Kind.YEAR, 2)
    before = whole(parted.path("home"))
    report = parted.merge("home", "train")
    assert (report.changes, report.backup) == (False, None)
    after = whole(parted.path("home"))
    changed = {name for name, rows in after.items() if rows != before[name]}
    assert changed <= {"act", "batch", "annotator", "sqlite_stat1"}
    parted.merge("home", "train")
    assert whole(parted.path("home")) == after


def test_gold_that_comes_back_to_what_a_file_said_is_not_lost(copies) -> None:
    """Two files imported to each copy in another order, and one of them once more."""
    kit = copies.kit

    def load(name: str, kind: Kind, file: str) -> None:
        with copies.open(name) as store:
            kit.load(store, kit.one(gold=kit.gold(kind)), name=file, replace_gold=True)

    copies.made("home")
    copies.made("train")
    load("home", Kind.YEAR, "second")
    for kind, file in ((Kind.AGE, "third"), (Kind.YEAR, "second"), (Kind.AGE, "third")):
        load("train", kind, file)
    assert copies.said("train") == {"gold": "AGE"}
    assert copies.merge("home", "train").conflicts == ()
    assert copies.said("home") == {"gold": "AGE"}


def test_a_settlement_of_a_vote_that_was_given_in_both(parted) -> None:
    """It names the vote by its time there; here the same vote has another one."""
    parted.answer("home", "eva", Kind.AGE)
    for who in ("eva", "bob"):
        parted.answer("train", who, Kind.AGE)
    with parted.open("train") as store:
        store.settlement.run(parse(""), Rule.UNANIMOUS, store.people.ensure("zoe"))
    assert parted.merge("home", "train").conflicts == ()
    assert parted.said("home")["gold"] == "AGE"


def test_a_decision_withdrawn_there_while_another_agreed(parted) -> None:
    """The gold here was the withdrawn one; who said the same there stands in for it."""
    parted.decide("home", "eva", Kind.AGE)
    parted.decide("home", "bob", Kind.TIME)
    parted.copy("home", "train")
    with parted.open("home") as store:
        store.edits.undo(store.people.ensure("bob"))
    with parted.open("train") as store:
        store.edits.withdraw(1, store.people.ensure("eva"), Role.ADJUDICATOR)
    parted.decide("train", "zoe", Kind.AGE)
    assert parted.merge("home", "train").conflicts == ()
    assert parted.said("home") == {"ZOE": "AGE", "gold": "AGE"}
