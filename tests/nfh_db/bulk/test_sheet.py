"""The ticked items of a review sheet: one act, one transaction, one undo."""

from pathlib import Path

import pytest

from nfh_db.assignment_plan import Amount, AssignmentRequest
from nfh_db.bulk_plan import SheetDone
from nfh_db.doctor import examine
from nfh_db.query import parse
from nfh_db.records import Annotator, Exposure, FlagName, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind
from tests.nfh_db.bulk.conftest import AGE, given, to


def accept(store: Store, me: Annotator, said: dict[int, Answer]) -> SheetDone:
    seen = Exposure(saw_votes=True, seconds=1.5, in_sheet=True)
    return store.bulk.accept_sheet(said, me, lambda _: seen)


def gold(store: Store, me: Annotator, anchor_id: int) -> tuple[Kind, Rule, str | None] | None:
    found = store.items.read(anchor_id, me, Role.ADJUDICATOR)
    assert found is not None
    made = found.gold
    return None if made is None else (made.answer.kind, made.rule, made.adjudicator)


def test_it_is_one_act_that_one_undo_takes_back_and_says_that_it_was_a_sheet(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    store.edits.set_flag(ids[1], me, FlagName.SKIP, True)
    store.workspace.save_draft(ids[1], me, Role.ADJUDICATOR, "{}")
    done = accept(store, me, {ids[0]: given(AGE), ids[1]: to(1)})
    assert (done.decided, done.left) == ((ids[0], ids[1]), {})
    assert gold(store, me, ids[1]) == (Kind.REFERENCE, Rule.EXPERT, "edith")
    item = store.items.read(ids[1], me, Role.ADJUDICATOR)
    assert item is not None
    assert (item.draft, item.flags) == (None, ())
    mine = next(vote for vote in item.votes if vote.role is Role.ADJUDICATOR)
    assert (mine.in_sheet, mine.saw_votes, mine.seconds) == (True, True, 1.5)
    assert store.edits.settlement_to_undo(me) == (
        done.act_id,
        "a review sheet accepted on 2 items",
    )
    assert examine(path).broken == 0
    undone = store.edits.undo(me)
    assert undone is not None
    assert (undone.anchors, undone.skipped) == (2, 0)
    assert [gold(store, me, id_) for id_ in ids[:2]] == [None, None]
    store.edits.redo(me)
    assert gold(store, me, ids[0]) == (Kind.AGE, Rule.EXPERT, "edith")
    assert examine(path).broken == 0


def test_what_was_decided_or_measured_meanwhile_is_left_and_named(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    bob = store.people.ensure("bob")
    store.edits.commit_answer(ids[0], bob, Role.ADJUDICATOR, given(Kind.TIME))
    wanted = AssignmentRequest(role=Role.ADJUDICATOR, doubles=Amount(1))
    store.assignments.assign(parse("anchor:one said:ann3/AGE"), me, ["bob", "kim"], wanted)
    done = accept(store, me, {id_: given(AGE) for id_ in (*ids[:2], ids[3], ids[4], 99)})
    assert done.decided == (ids[4],)
    assert done.left == {
        ids[0]: "decided by bob",
        ids[1]: "of an audit or a double",
        ids[3]: "decided by a rule",
        99: "no longer there",
    }
    assert gold(store, me, ids[0]) == (Kind.TIME, Rule.EXPERT, "bob")
    assert accept(store, me, {ids[0]: given(AGE)}).act_id is None


def test_undo_leaves_what_somebody_changed_since(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    accept(store, me, {ids[0]: given(AGE), ids[4]: given(AGE)})
    bob = store.people.ensure("bob")
    store.edits.commit_answer(ids[0], bob, Role.ADJUDICATOR, given(Kind.TIME))
    undone = store.edits.undo(me)
    assert undone is not None
    assert (undone.anchors, undone.skipped) == (1, 1)
    assert gold(store, me, ids[0]) == (Kind.TIME, Rule.EXPERT, "bob")


def test_a_sheet_has_what_is_answered_undecided_not_begun_and_not_measured(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    assert store.bulk.for_sheet(ids[::-1], me) == [ids[4], ids[2], ids[1], ids[0]]
    store.edits.set_flag(ids[2], me, FlagName.SKIP, True)
    store.workspace.save_draft(ids[0], me, Role.ADJUDICATOR, "{}")
    wanted = AssignmentRequest(role=Role.ADJUDICATOR, doubles=Amount(1))
    store.assignments.assign(parse("anchor:one said:ann2/AGE"), me, ["bob", "kim"], wanted)
    assert store.bulk.for_sheet(ids, me) == [ids[1], ids[4]]


@pytest.mark.parametrize("wrong", [to(99), to(5)])
def test_an_answer_that_does_not_fit_decides_nothing(
    store: Store, me: Annotator, ids: list[int], wrong: Answer
) -> None:
    done = accept(store, me, {ids[1]: wrong})
    assert (done.decided, done.left) == ((), {ids[1]: "the answer does not fit the passage"})
