"""A settlement taken back and made again: one act, that leaves what somebody changed since."""

from collections.abc import Callable

import pytest

from nfh_db.errors import ChangedSinceError, StoreError
from nfh_db.query import parse
from nfh_db.records import AnchorState, Annotator, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

WORDS = "the dogs saw one , then more dogs and cats"
ONE = 3
COUNT = 4


@pytest.fixture
def me(store: Store, kit) -> Annotator:
    """Who settles, in a database of four anchors on which two people agree."""
    votes = [kit.vote(name, Kind.AGE) for name in ("ann1", "ann2")]
    kit.load(store, *(kit.one(f"{WORDS} {i}", ONE, line=i, votes=votes) for i in range(COUNT)))
    return store.people.ensure("settler")


@pytest.fixture
def golds(store: Store, me: Annotator) -> Callable[[], list[str | None]]:
    """Rule and kind of each anchor's gold, None where there is none."""

    def read() -> list[str | None]:
        found = []
        for anchor in range(1, COUNT + 1):
            item = store.items.read(anchor, me, Role.ADJUDICATOR)
            gold = None if item is None else item.gold
            found.append(gold and f"{gold.rule} {gold.answer.kind}")
        return found

    return read


def settle(store: Store, me: Annotator, rule: Rule = Rule.UNANIMOUS) -> int:
    return store.settlement.run(parse(""), rule, me).new


def decide(store: Store, name: str, anchor: int, kind: Kind = Kind.YEAR) -> None:
    store.edits.commit_answer(
        anchor, store.people.ensure(name), Role.ADJUDICATOR, class_answer(kind)
    )


def answer(store: Store, who: Annotator, anchor: int, kind: Kind) -> None:
    store.edits.commit_answer(anchor, who, Role.ANNOTATOR, class_answer(kind))


def counts(done) -> tuple[int, int]:
    """How many anchors an undo or redo touched, and how many it skipped."""
    return done.anchors, done.skipped


SETTLED = ["unanimous AGE"] * COUNT


def test_there_and_back_again(store, me, golds):
    assert settle(store, me) == COUNT
    for _ in range(2):
        undone = store.edits.undo(me)
        assert (undone.summary, undone.anchor_id) == ("settlement by rule unanimous", 1)
        assert (counts(undone), golds()) == ((COUNT, 0), [None] * COUNT)
        assert store.items.read(1, me, Role.ADJUDICATOR).state is AnchorState.ANSWERED
        assert store.edits.undo(me) is None
        redone = store.edits.redo(me)
        assert (counts(redone), golds()) == ((COUNT, 0), SETTLED)
        assert store.edits.redo(me) is None
    acts = [line.act for line in store.history.of_anchor(2) if line.entity == "gold"]
    assert acts == [
        "settlement by rule unanimous",
        *[f"{way}: settlement by rule unanimous" for way in ("undo", "redo") * 2],
    ]


def test_it_comes_back_after_a_restart(path, store, me, golds):
    settle(store, me)
    store.close()
    with Store.open(path) as again:
        assert counts(again.edits.undo(me)) == (COUNT, 0)
    with Store.open(path) as again:
        assert counts(again.edits.redo(me)) == (COUNT, 0)


def test_what_somebody_decided_since_is_skipped(store, me, golds):
    settle(store, me)
    decide(store, "eva", 2)
    decide(store, "eva", 3)
    undone = store.edits.undo(me)
    assert (counts(undone), undone.anchor_id) == ((2, 2), 1)
    assert golds() == [None, "expert YEAR", "expert YEAR", None]
    # Made again it skips them still, and those that nobody decided are there again.
    assert counts(store.edits.redo(me)) == (2, 2)
    assert golds() == ["unanimous AGE", "expert YEAR", "expert YEAR", "unanimous AGE"]


def test_all_of_it_may_have_been_changed_since(store, me, golds):
    answer(store, me, 1, Kind.AGE)
    settle(store, me)
    for anchor in range(1, COUNT + 1):
        decide(store, "eva", anchor)
    undone = store.edits.undo(me)
    assert (counts(undone), undone.anchor_id) == ((0, COUNT), None)
    # It does not stand in the way of what was done before it.
    assert store.edits.undo(me).summary == "answer AGE"


def test_an_experts_decision_that_is_undone_leaves_what_there_was(store, me, golds):
    settle(store, me)
    decide(store, "eva", 2)
    assert counts(store.edits.undo(me)) == (COUNT - 1, 1)
    store.edits.undo(store.people.ensure("eva"))
    assert golds() == [None, "unanimous AGE", None, None]
    # The one that the undo left is as the redo would make it: nothing to do, nobody's change.
    assert counts(store.edits.redo(me)) == (COUNT - 1, 0)
    assert golds() == SETTLED


def test_later_acts_come_first(store, me, golds):
    settle(store, me)
    decide(store, "settler", 1)
    assert store.edits.undo(me).summary == "gold YEAR"
    assert counts(store.edits.undo(me)) == (COUNT, 0)
    assert store.edits.redo(me).summary == "settlement by rule unanimous"
    assert store.edits.redo(me).summary == "gold YEAR"
    assert golds()[0] == "expert YEAR"


def test_a_settlement_cuts_off_redo(store, me):
    answer(store, me, 1, Kind.AGE)
    store.edits.undo(me)
    settle(store, me)
    assert store.edits.redo(me) is None
    store.edits.undo(me)
    assert store.edits.redo(me).summary == "settlement by rule unanimous"


def test_others_have_their_own(store, me, golds):
    settle(store, me)
    assert store.edits.undo(store.people.ensure("eva")) is None
    assert golds() == SETTLED


def test_two_settlements_are_two_acts(store, me, golds):
    settle(store, me)
    answer(store, store.people.ensure("ann1"), 1, Kind.YEAR)
    answer(store, store.people.ensure("ann3"), 1, Kind.YEAR)
    report = store.settlement.run(parse(""), Rule.MAJORITY, me)
    assert (report.replaced, report.same) == (1, COUNT - 1)
    assert golds()[0] == "majority YEAR"
    assert counts(store.edits.undo(me)) == (1, 0)
    assert golds() == SETTLED
    assert counts(store.edits.undo(me)) == (COUNT, 0)
    assert [counts(store.edits.redo(me)) for _ in range(2)] == [(COUNT, 0), (1, 0)]
    assert golds() == ["majority YEAR", *SETTLED[1:]]


def test_made_again_it_is_as_it_was_before_the_undo(store, me, golds):
    settle(store, me)
    store.edits.undo(me)
    answer(store, store.people.ensure("ann1"), 4, Kind.YEAR)
    assert counts(store.edits.redo(me)) == (COUNT, 0)
    assert golds() == SETTLED
    # As after any settlement: votes that changed since are found by the next one.
    assert store.settlement.run(parse(""), Rule.UNANIMOUS, me).taken_back == 1


def test_a_number_that_got_another_span_is_taken_back_behind_it(store, me):
    settle(store, me)
    new = store.edits.replace_anchor(
        1,
        store.people.ensure("eva"),
        Role.ADJUDICATOR,
        Anchor(ONE, ONE + 2),
        store.edits.stale_labels(1, store.people.ensure("eva")),
    ).anchor_id
    assert counts(store.edits.undo(me)) == (COUNT, 0)
    assert store.items.read(new, me, Role.ADJUDICATOR).state is AnchorState.STALE
    # Nothing comes back to a number that is not there: it is skipped, and counted.
    assert counts(store.edits.redo(me)) == (COUNT - 1, 1)
    store.edits.undo(store.people.ensure("eva"))
    assert store.items.read(1, me, Role.ADJUDICATOR).state is AnchorState.ANSWERED
    assert counts(store.edits.undo(me)) == (COUNT - 1, 0)


def test_a_replacing_number_is_stale_again_once_its_gold_is_gone(store, me):
    new = store.edits.replace_anchor(
        1,
        store.people.ensure("eva"),
        Role.ADJUDICATOR,
        Anchor(ONE, ONE + 2),
        store.edits.stale_labels(1, store.people.ensure("eva")),
    ).anchor_id
    answer(store, store.people.ensure("ann1"), new, Kind.AGE)
    assert store.settlement.run(parse(""), Rule.UNANIMOUS, me, least=1).new == COUNT
    store.edits.withdraw(new, store.people.ensure("ann1"), Role.ANNOTATOR)
    assert store.items.read(new, me, Role.ADJUDICATOR).state is AnchorState.DECIDED
    assert counts(store.edits.undo(me)) == (COUNT, 0)
    assert store.items.read(new, me, Role.ADJUDICATOR).state is AnchorState.STALE


def test_while_it_is_taken_back_nothing_else_is_settled(path, store, me, monkeypatch, kit):
    settle(store, me)
    from nfh_db import bulk_run

    show = bulk_run.BulkAct.show

    def later(self, *arguments, **named):
        with Store.open(path) as other:
            taken = "A settlement is being undone by settler"
            with pytest.raises(StoreError, match=f"{taken} .* then settle"):
                settle(other, me)
            with pytest.raises(StoreError, match=f"{taken} .* then undo"):
                other.edits.undo(me)
            with pytest.raises(StoreError, match=f"{taken} .* then import"):
                kit.load(other, kit.one("one", 0))
            # Somebody decides between the reading and the writing.
            decide(other, "eva", 3)
        return show(self, *arguments, **named)

    monkeypatch.setattr(bulk_run.BulkAct, "show", later)
    assert counts(store.edits.undo(me)) == (COUNT - 1, 1)
    monkeypatch.undo()
    assert counts(store.edits.redo(me)) == (COUNT - 1, 1)


def test_somebody_faster_in_another_window(path, store, me, monkeypatch):
    settle(store, me)
    from nfh_db import bulk_run

    turn = bulk_run.turn

    def later(*arguments):
        monkeypatch.undo()
        answer(store, me, 1, Kind.YEAR)
        return turn(*arguments)

    monkeypatch.setattr(bulk_run, "turn", later)
    with pytest.raises(ChangedSinceError, match="in another window: try again"):
        store.edits.undo(me)
    assert store.edits.undo(me).summary.startswith("answer YEAR")
    assert counts(store.edits.undo(me)) == (COUNT, 0)
