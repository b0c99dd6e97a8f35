"""One thing done to many items: what a preview says, what is done, what one undo takes back."""

from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db import bulk_run
from nfh_db.bulk_plan import BulkDone, BulkOperation, OperationKind
from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import AnchorItem, AnchorState, Annotator, Exposure, FlagName, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind
from tests.nfh_db.bulk.conftest import check, given, to

ALL = parse("")
AGE = BulkOperation(OperationKind.CLASS, answer=given(Kind.AGE))


def do(
    store: Store, me: Annotator, wish: BulkOperation, query: str = "", **more: object
) -> BulkDone:
    found = store.bulk.preview(parse(query), wish, me)
    return store.bulk.run(found.ids, wish, me, **more)  # type: ignore[arg-type]


def item(store: Store, anchor_id: int, me: Annotator) -> AnchorItem:
    found = store.items.read(anchor_id, me, Role.ADJUDICATOR)
    assert found is not None
    return found


def golds(store: Store, me: Annotator) -> list[str]:
    """Kind and rule of each anchor's gold, in order."""
    found = []
    for chunk in store.queue.ids(ALL, me):
        for anchor_id in chunk:
            gold = item(store, anchor_id, me).gold
            found.append(f"{gold.answer.kind} {gold.rule}" if gold else "")
    return found


def state(path: Path) -> dict[object, str]:
    from nfh_db.connection import connect
    from nfh_db.event_log import present_state

    reader = connect(path, "ro")
    found = present_state(reader)
    reader.close()
    return dict(found)


def test_a_flag_is_set_on_all_and_one_undo_clears_it(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    store.edits.set_flag(ids[2], me, FlagName.GUIDELINE, True)
    wish = BulkOperation(OperationKind.FLAG, flag=FlagName.GUIDELINE)
    found = store.bulk.preview(ALL, wish, me)
    assert list(found.ids) == [i for i in ids if i != ids[2]]
    assert dict(found.kept) == {"has your flag guideline already": 1}
    assert [one.anchor_id for one in found.sample] == list(found.ids)
    done = store.bulk.run(found.ids, wish, me)
    assert (done.changed, done.left, done.words) == (5, 0, "flag guideline set on 5 items")
    assert store.queue.count(parse("flag:guideline"), me) == 6
    check(path)
    assert store.edits.settlement_to_undo(me) == (done.act_id, done.words)
    undone = store.edits.undo(me)
    assert undone is not None
    assert (undone.anchors, undone.skipped, undone.summary) == (5, 0, done.words)
    assert store.queue.count(parse("flag:guideline"), me) == 1
    again = store.edits.redo(me)
    assert again is not None
    assert (again.anchors, store.queue.count(parse("flag:guideline"), me)) == (5, 6)
    check(path)


def test_flags_are_cleared_one_s_own_only(store: Store, me: Annotator, ids: list[int]) -> None:
    other = store.people.ensure("other")
    store.edits.set_flag(ids[0], me, FlagName.AMBIGUOUS, True)
    store.edits.set_flag(ids[1], other, FlagName.AMBIGUOUS, True)
    done = do(store, me, BulkOperation(OperationKind.UNFLAG, flag=FlagName.AMBIGUOUS))
    assert (done.changed, store.queue.count(parse("flag:ambiguous"), me)) == (1, 1)


def test_what_is_decided_is_not_skipped(store: Store, me: Annotator) -> None:
    found = store.bulk.preview(ALL, BulkOperation(OperationKind.SKIP), me)
    assert (len(found.ids), dict(found.kept)) == (5, {"decided already": 1})
    store.bulk.run(found.ids, found.wish, me)
    assert store.queue.count(parse("state:skipped"), me) == 5
    assert do(store, me, BulkOperation(OperationKind.UNSKIP)).changed == 5
    assert store.queue.count(parse("flag:skip"), me) == 0


def test_proposals_are_adopted_where_most_agree(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    wish = BulkOperation(OperationKind.PROPOSAL)
    found = store.bulk.preview(ALL, wish, me)
    assert list(found.ids) == ids[:2]
    assert dict(found.kept) == {"no majority by the rules of settle": 4}
    assert [(one.before, one.after) for one in found.sample] == [
        (None, given(Kind.AGE)),
        (None, to(1)),
    ]
    store.edits.set_flag(ids[1], me, FlagName.SKIP, True)
    before = state(path)
    done = store.bulk.run(found.ids, wish, me, seeing=lambda _: Exposure(saw_votes=True))
    assert golds(store, me)[:3] == ["AGE expert", "REFERENCE expert", ""]
    mine = [v for v in item(store, ids[1], me).votes if v.role is Role.ADJUDICATOR]
    assert [(v.annotator, v.saw_votes, v.saw_model) for v in mine] == [("edith", True, False)]
    assert item(store, ids[1], me).flags == ()
    assert item(store, ids[0], me).state is AnchorState.DECIDED
    check(path)
    assert done.changed == 2
    store.edits.undo(me)
    assert state(path) == before
    check(path)


def test_the_model_s_answers_are_adopted_where_they_fit(
    store: Store, me: Annotator, ids: list[int], predicted: None
) -> None:
    found = store.bulk.preview(ALL, BulkOperation(OperationKind.MODEL), me)
    assert list(found.ids) == ids[:2]
    assert dict(found.kept) == {
        "no model has answered": 3,
        "the answer does not fit the passage": 1,
    }
    assert [one.after for one in found.sample] == [given(Kind.AGE), to(1)]


def test_others_decisions_stay_and_one_s_own_give_way(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    other = store.people.ensure("other")
    store.edits.commit_answer(ids[0], other, Role.ADJUDICATOR, given(Kind.YEAR))
    store.edits.commit_answer(ids[1], me, Role.ADJUDICATOR, given(Kind.YEAR))
    store.edits.commit_answer(ids[2], me, Role.ADJUDICATOR, given(Kind.AGE))
    store.workspace.save_draft(ids[4], me, Role.ADJUDICATOR, "{}")
    found = store.bulk.preview(ALL, AGE, me)
    assert list(found.ids) == [ids[1], ids[3], ids[5]]
    assert dict(found.notes) == {
        "in place of your own decision": 1,
        "in place of gold from a file": 1,
    }
    assert dict(found.kept) == {
        "decided by other": 1,
        "already decided this way by you": 1,
        "you have begun an answer": 1,
    }
    store.bulk.run(found.ids, AGE, me)
    assert golds(store, me) == [
        "YEAR expert", "AGE expert", "AGE expert", "AGE expert", "", "AGE expert",
    ]  # fmt: skip
    store.edits.undo(me)
    assert golds(store, me)[1:4] == ["YEAR expert", "AGE expert", "TIME imported"]
    check(path)


def test_whoever_decides_between_preview_and_act_is_not_overruled(
    store: Store, path: Path, me: Annotator, ids: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = store.bulk.preview(ALL, AGE, me)
    other = store.people.ensure("other")
    store.edits.commit_answer(ids[0], other, Role.ADJUDICATOR, given(Kind.YEAR))
    show = bulk_run.BulkAct.show

    def late(act: bulk_run.BulkAct) -> None:
        # Planned by now, and not applied yet.
        with Store.open(path) as another:
            another.edits.commit_answer(ids[1], other, Role.ADJUDICATOR, given(Kind.YEAR))
        show(act)

    monkeypatch.setattr(bulk_run.BulkAct, "show", late)
    done = store.bulk.run(found.ids, AGE, me)
    assert (done.changed, done.left) == (4, 1)
    assert golds(store, me)[:2] == ["YEAR expert", "YEAR expert"]
    assert [v.annotator for v in item(store, ids[1], me).votes if not v.counts] == ["other"]
    check(path)


def test_undo_leaves_what_was_changed_since(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    do(store, me, AGE)
    other = store.people.ensure("other")
    store.edits.commit_answer(ids[0], other, Role.ADJUDICATOR, given(Kind.YEAR))
    undone = store.edits.undo(me)
    assert undone is not None
    assert (undone.anchors, undone.skipped) == (5, 1)
    assert golds(store, me)[0] == "YEAR expert"
    check(path)


def test_decisions_are_withdrawn_with_the_gold_they_made(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    for anchor_id in ids[:2]:
        store.edits.commit_answer(anchor_id, me, Role.ADJUDICATOR, given(Kind.YEAR))
    other = store.people.ensure("other")
    store.edits.commit_answer(ids[1], other, Role.ADJUDICATOR, given(Kind.TIME))
    found = store.bulk.preview(ALL, BulkOperation(OperationKind.WITHDRAW), me)
    assert list(found.ids) == ids[:2]
    store.bulk.run(found.ids, found.wish, me)
    assert golds(store, me)[:2] == ["", "TIME expert"]
    check(path)
    store.edits.undo(me)
    assert golds(store, me)[:2] == ["YEAR expert", "TIME expert"]


def test_an_annotator_withdraws_and_flags_but_decides_nothing(
    store: Store, ids: list[int]
) -> None:
    ann1 = store.people.ensure("ann1")
    with pytest.raises(StoreError, match="one item after the other"):
        store.bulk.preview(
            ALL,
            BulkOperation(OperationKind.CLASS, Role.ANNOTATOR, answer=given(Kind.AGE)),
            ann1,
        )
    assert do(store, ann1, BulkOperation(OperationKind.WITHDRAW, Role.ANNOTATOR)).changed == 4
    assert store.queue.count(parse("by:ann1"), ann1) == 0
    store.edits.undo(ann1)
    assert store.queue.count(parse("by:ann1"), ann1) == 4


def test_what_is_to_be_decided_blind_stays(store: Store, me: Annotator, ids: list[int]) -> None:
    from nfh_db.connection import connect

    writer = connect(store.path, "rw")
    writer.execute(
        "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, run, "
        "assigned_at) VALUES (?, ?, 'adjudicator', 'audit', 1, '', '')",
        (ids[0], me.id),
    )
    writer.close()
    found = store.bulk.preview(ALL, AGE, me)
    assert (ids[0] in found.ids, found.kept["yours to decide blind"]) == (False, 1)


def test_ids_that_are_gone_and_an_act_that_does_nothing(
    store: Store, path: Path, me: Annotator, ids: list[int]
) -> None:
    gone = store.bulk.preview([999], AGE, me)
    assert (list(gone.ids), dict(gone.kept)) == ([], {"no longer there": 1})
    assert store.bulk.run([999], AGE, me).act_id is None
    assert store.edits.undo(me) is None
    check(path)


def test_writes_are_short_and_progress_is_told(
    store: Store, path: Path, me: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stretches of the smallest size still hold items whole.
    settle = replace(bulk_run.SETTLE_SIZE, first=5, largest=5)
    monkeypatch.setattr(bulk_run, "SETTLE_SIZE", settle)
    monkeypatch.setattr(bulk_run, "BULK_SIZE", replace(bulk_run.BULK_SIZE, first=2))
    do(store, me, BulkOperation(OperationKind.SKIP))
    told: list[tuple[str, int]] = []
    found = store.bulk.preview(ALL, AGE, me)
    done = store.bulk.run(found.ids, AGE, me, progress=lambda *what: told.append(what))
    assert (done.changed, done.left) == (6, 0)
    assert told[-1] == ("done", 6)
    assert [what for what, _ in told].count("done") > 2
    check(path)
    store.edits.undo(me)
    assert store.queue.count(parse("flag:skip"), me) == 5
    check(path)


def test_votes_are_compared_with_the_gold_it_makes(store: Store, me: Annotator) -> None:
    do(store, me, BulkOperation(OperationKind.PROPOSAL))
    assert store.queue.count(parse("right:ann1"), me) == 2
    assert store.queue.count(parse("wrong:ann3"), me) == 1
    assert store.queue.count(parse("wrong:ann3/class"), me) == 1
    store.edits.undo(me)
    assert store.queue.count(parse("right:ann1"), me) == 0
    store.settlement.run(ALL, Rule.MAJORITY, me)
    assert store.queue.count(parse("right:ann1"), me) == 2
    assert store.queue.count(parse("wrong:ann3/class"), me) == 1
