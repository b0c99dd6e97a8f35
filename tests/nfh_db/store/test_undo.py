"""Undo and redo: across items, people and restarts, and never over somebody's change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db import event_log
from nfh_db.connection import connect
from nfh_db.errors import ChangedSinceError
from nfh_db.records import AnchorState, Annotator, Exposure, FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

Decode = Callable[[str | None], object]

WORDS = "the dogs saw one , then more dogs and cats"
ONE = 3


@pytest.fixture
def eva(store: Store, kit) -> Annotator:
    """Somebody, in a database of three open anchors."""
    kit.load(store, *(kit.one(f"{WORDS} {i}", ONE, line=i) for i in range(3)))
    return store.people.ensure("eva")


def answer(
    store: Store, who: Annotator, anchor: int, kind: Kind, role: Role = Role.ANNOTATOR
) -> AnchorState:
    return store.edits.commit_answer(anchor, who, role, class_answer(kind)).state


def kinds(store: Store, who: Annotator, anchor: int) -> list[str]:
    """Who says what of an anchor."""
    item = store.items.read(anchor, who, Role.ANNOTATOR)
    assert item is not None
    return [f"{vote.annotator} {vote.answer.kind}" for vote in item.votes]


def test_only_undo_and_redo_read_a_state_back_from_the_log(
    store: Store, eva: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    for entity, decode in event_log.DECODERS.items():

        def noted(text: str | None, entity: str = entity, decode: Decode = decode) -> object:
            read.append(entity)
            return decode(text)

        monkeypatch.setitem(event_log.DECODERS, entity, noted)
    answer(store, eva, 1, Kind.AGE, Role.ADJUDICATOR)
    store.edits.set_flag(1, eva, FlagName.SKIP, True)
    store.edits.replace_anchor(2, eva, Role.ADJUDICATOR, Anchor(2, 4))
    assert read == []
    # What was written is what the log says, spelt alike.
    with store.connections.reading() as connection:
        assert list(event_log.mismatches(connection)) == []
    assert store.edits.undo(eva) is not None
    assert set(read) == {"anchor"}


def test_nothing_to_undo(store: Store, eva: Annotator) -> None:
    assert store.edits.undo(eva) is None
    assert store.edits.redo(eva) is None


def test_undo_and_redo_walk_over_items(store: Store, eva: Annotator) -> None:
    answer(store, eva, 1, Kind.AGE)
    answer(store, eva, 1, Kind.YEAR)
    answer(store, eva, 2, Kind.TIME)
    undone = [store.edits.undo(eva) for _ in range(4)]
    assert [step and (step.summary, step.anchor_id, step.anchors) for step in undone] == [
        ("answer TIME", 2, 1),
        ("answer YEAR, in place of an earlier one", 1, 1),
        ("answer AGE", 1, 1),
        None,
    ]
    assert (kinds(store, eva, 1), kinds(store, eva, 2)) == ([], [])
    item = store.items.read(1, eva, Role.ANNOTATOR)
    assert item is not None
    assert item.state is AnchorState.OPEN
    redone = [store.edits.redo(eva) for _ in range(4)]
    assert [step and step.anchor_id for step in redone] == [1, 1, 2, None]
    assert (kinds(store, eva, 1), kinds(store, eva, 2)) == (["eva YEAR"], ["eva TIME"])


def test_what_is_undone_comes_back_exactly(
    store: Store, eva: Annotator, clock: Callable[[str], None]
) -> None:
    answer(store, eva, 1, Kind.AGE)
    before = store.items.read(1, eva, Role.ANNOTATOR)
    clock("13:00")
    answer(store, eva, 1, Kind.YEAR)
    store.edits.undo(eva)
    assert store.items.read(1, eva, Role.ANNOTATOR) == before


def test_undo_works_after_a_restart(path: Path, store: Store, eva: Annotator) -> None:
    answer(store, eva, 1, Kind.AGE)
    answer(store, eva, 2, Kind.AGE)
    store.edits.undo(eva)
    store.close()
    with Store.open(path) as again:
        assert again.edits.redo(eva) is not None
        assert again.edits.redo(eva) is None
        again.edits.undo(eva)
        again.edits.undo(eva)
        assert again.edits.undo(eva) is None
        assert (kinds(again, eva, 1), kinds(again, eva, 2)) == ([], [])


def test_a_new_act_cuts_off_redo(store: Store, eva: Annotator) -> None:
    answer(store, eva, 1, Kind.AGE)
    answer(store, eva, 2, Kind.AGE)
    store.edits.undo(eva)
    store.edits.undo(eva)
    answer(store, eva, 3, Kind.AGE)
    assert store.edits.redo(eva) is None
    assert store.edits.undo(eva) is not None
    redone = store.edits.redo(eva)
    assert redone is not None
    assert redone.anchor_id == 3


def test_everybody_has_their_own_undo(store: Store, eva: Annotator) -> None:
    bob = store.people.ensure("bob")
    answer(store, eva, 1, Kind.AGE)
    answer(store, bob, 1, Kind.YEAR)
    assert store.edits.undo(eva) is not None
    assert kinds(store, eva, 1) == ["bob YEAR"]
    assert store.edits.undo(eva) is None
    answer(store, bob, 2, Kind.AGE)
    assert store.edits.redo(eva) is not None
    assert kinds(store, eva, 1) == ["bob YEAR", "eva AGE"]


def test_gold_changed_since_is_not_undone(
    store: Store, eva: Annotator, clock: Callable[[str], None]
) -> None:
    bob = store.people.ensure("bob")
    answer(store, eva, 1, Kind.AGE, Role.ADJUDICATOR)
    clock("12:03")
    answer(store, bob, 1, Kind.YEAR, Role.ADJUDICATOR)
    with pytest.raises(
        ChangedSinceError,
        match="“gold AGE” cannot be undone: item 1 was changed by bob at 12:03 UTC after",
    ):
        store.edits.undo(eva)
    assert kinds(store, eva, 1) == ["bob YEAR", "eva AGE"]
    store.edits.undo(bob)
    assert store.edits.undo(eva) is not None
    assert kinds(store, eva, 1) == []


def test_redo_over_a_change_is_refused(store: Store, eva: Annotator) -> None:
    bob = store.people.ensure("bob")
    answer(store, eva, 1, Kind.AGE, Role.ADJUDICATOR)
    store.edits.undo(eva)
    answer(store, bob, 1, Kind.YEAR, Role.ADJUDICATOR)
    with pytest.raises(ChangedSinceError, match="cannot be redone: item 1 was changed"):
        store.edits.redo(eva)


def test_flags_and_withdrawals_are_undone(store: Store, eva: Annotator) -> None:
    store.edits.set_flag(1, eva, FlagName.GUIDELINE, True)
    answer(store, eva, 1, Kind.AGE, Role.ADJUDICATOR)
    store.edits.withdraw(1, eva, Role.ADJUDICATOR)
    store.edits.set_flag(1, eva, FlagName.GUIDELINE, False)
    assert [store.edits.undo(eva).summary for _ in range(4)] == [
        "flag guideline cleared",
        "decision withdrawn",
        "gold AGE",
        "flag guideline set",
    ]
    for _ in range(2):
        store.edits.redo(eva)
    item = store.items.read(1, eva, Role.ADJUDICATOR)
    assert item is not None
    assert item.gold is not None
    assert (item.gold.answer.kind, item.state) == (Kind.AGE, AnchorState.DECIDED)
    assert [mark.name for mark in item.flags] == [FlagName.GUIDELINE]


def test_undoing_a_replacement_brings_the_old_anchor_back(store: Store, eva: Annotator) -> None:
    answer(store, eva, 1, Kind.AGE)
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    undone = store.edits.undo(eva)
    assert undone is not None
    assert undone.anchor_id == 1
    assert store.items.read(new, eva, Role.ANNOTATOR) is None
    item = store.items.read(1, eva, Role.ANNOTATOR)
    assert item is not None
    assert (item.state, kinds(store, eva, 1)) == (AnchorState.ANSWERED, ["eva AGE"])
    redone = store.edits.redo(eva)
    assert redone is not None
    assert redone.anchor_id == new
    replaced = store.items.read(new, eva, Role.ANNOTATOR)
    assert replaced is not None
    assert replaced.state is AnchorState.STALE
    assert store.items.read(1, eva, Role.ANNOTATOR) is None


def test_a_replacement_that_others_answered_stays(
    store: Store, eva: Annotator, clock: Callable[[str], None]
) -> None:
    bob = store.people.ensure("bob")
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    clock("12:30")
    answer(store, bob, new, Kind.AGE)
    with pytest.raises(ChangedSinceError, match="was answered by bob at 12:30 UTC"):
        store.edits.undo(eva)
    assert kinds(store, eva, new) == ["bob AGE"]
    store.edits.undo(bob)
    assert store.edits.undo(eva) is not None


def test_reviving_an_anchor_is_undone_with_its_old_answers(
    store: Store, eva: Annotator
) -> None:
    answer(store, eva, 1, Kind.AGE)
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    store.edits.replace_anchor(
        new, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 1), store.edits.stale_labels(new, eva)
    )
    assert store.edits.undo(eva) is not None
    item = store.items.read(new, eva, Role.ANNOTATOR)
    assert item is not None
    assert item.state is AnchorState.STALE
    assert [vote.annotator for vote in item.stale_votes] == ["eva"]


def test_an_answer_to_a_replaced_anchor_can_be_undone(store: Store, eva: Annotator) -> None:
    bob = store.people.ensure("bob")
    answer(store, eva, 1, Kind.AGE)
    new = store.edits.replace_anchor(
        1, bob, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, bob)
    )
    assert new.state is AnchorState.STALE
    assert store.edits.undo(eva) is not None
    item = store.items.read(new.anchor_id, eva, Role.ANNOTATOR)
    assert item is not None
    assert (item.state, item.stale_votes) == (AnchorState.OPEN, ())


@pytest.mark.parametrize("role", list(Role))
def test_nothing_comes_back_to_an_anchor_that_is_replaced(
    store: Store, eva: Annotator, role: Role
) -> None:
    bob = store.people.ensure("bob")
    answer(store, eva, 1, Kind.AGE, role)
    answer(store, eva, 1, Kind.YEAR, role)

    def replaced() -> None:
        wider = Anchor(ONE, ONE + 2)
        store.edits.replace_anchor(
            1, bob, Role.ADJUDICATOR, wider, store.edits.stale_labels(1, bob)
        )

    replaced()
    with pytest.raises(ChangedSinceError, match=r"undone: item 1, .* was replaced by bob at"):
        store.edits.undo(eva)
    store.edits.undo(bob)
    store.edits.undo(eva)
    store.edits.undo(eva)
    replaced()
    before = store.history.of_anchor(1)
    with pytest.raises(ChangedSinceError, match=r"redone: item 1, .* was replaced by bob at"):
        store.edits.redo(eva)
    assert store.history.of_anchor(1) == before
    store.edits.undo(bob)
    assert store.edits.redo(eva) is not None


def test_nothing_comes_back_to_an_anchor_that_is_gone(store: Store, eva: Annotator) -> None:
    bob = store.people.ensure("bob")
    new = store.edits.replace_anchor(
        1, bob, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, bob)
    ).anchor_id
    store.edits.set_flag(new, eva, FlagName.SKIP, True)
    answer(store, eva, new, Kind.AGE)
    store.edits.undo(eva)
    store.edits.undo(bob)
    with pytest.raises(ChangedSinceError, match=f"item {new}, .* was removed by bob at"):
        store.edits.redo(eva)


def test_history_tells_all_of_it(store: Store, eva: Annotator) -> None:
    answer(store, eva, 1, Kind.AGE)
    store.edits.undo(eva)
    store.edits.redo(eva)
    lines = store.history.of_anchor(1)
    assert [(line.act, line.annotator, line.entity, line.name) for line in lines] == [
        ("answer AGE", "eva", "answer", "eva"),
        ("undo: answer AGE", "eva", "answer", "eva"),
        ("redo: answer AGE", "eva", "answer", "eva"),
    ]
    assert lines[0].before is None
    assert lines[0].after == lines[1].before == lines[2].after
    assert lines[1].after is None


@pytest.mark.parametrize("seconds", [3, -0.0, 0, 1.5])
def test_an_answer_given_in_any_number_of_seconds_can_be_undone(
    store: Store, eva: Annotator, seconds: float
) -> None:
    store.edits.commit_answer(
        1, eva, Role.ANNOTATOR, class_answer(Kind.AGE), Exposure(seconds=seconds)
    )
    assert store.edits.undo(eva) is not None
    assert kinds(store, eva, 1) == []


def test_what_another_program_changed_is_not_undone(store: Store, eva: Annotator) -> None:
    answer(store, eva, 1, Kind.AGE)
    other = connect(store.path, "rw")
    other.execute("UPDATE answer SET kind = 'YEAR'")
    other.close()
    with pytest.raises(ChangedSinceError, match="item 1 was changed by another program"):
        store.edits.undo(eva)


def test_a_decision_withdrawn_since_does_not_come_back_with_an_undo(
    store: Store, eva: Annotator
) -> None:
    bob = store.people.ensure("bob")
    answer(store, eva, 1, Kind.AGE, Role.ADJUDICATOR)
    answer(store, bob, 1, Kind.YEAR, Role.ADJUDICATOR)
    store.edits.withdraw(1, eva, Role.ADJUDICATOR)
    with pytest.raises(ChangedSinceError, match="decision of eva, who has withdrawn it since"):
        store.edits.undo(bob)
    item = store.items.read(1, bob, Role.ADJUDICATOR)
    assert item is not None
    assert item.gold is not None
    assert (item.gold.adjudicator, item.gold.answer.kind) == ("bob", Kind.YEAR)
