"""Answers, gold and the state of an anchor."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import StoreError
from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Exposure,
    FlagName,
    QueuePosition,
    Role,
    Rule,
)
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    AnswerError,
    Blocking,
    DifferenceNote,
    Kind,
    Mention,
    Origin,
    PassageError,
    Relation,
    Sort,
    class_answer,
    reference_answer,
)

WORDS = "the dogs saw one , then more dogs and cats"
DOGS, ONE, MORE_DOGS, CATS = 1, 3, 7, 9


@pytest.fixture
def anchor(store: Store, kit) -> int:
    """An open anchor: "one"."""
    kit.load(store, kit.one(WORDS, ONE, split="dev"))
    return 1


@pytest.fixture
def see(store: Store, anchor: int) -> Callable[..., AnchorItem]:
    """The anchor as somebody sees it."""

    def look(name: str = "eva", role: Role = Role.ANNOTATOR, id_: int = anchor) -> AnchorItem:
        item = store.items.read(id_, store.people.ensure(name), role)
        assert item is not None
        return item

    return look


@pytest.fixture
def say(store: Store, anchor: int) -> Callable[..., AnchorState]:
    """Commits somebody's answer; the state afterwards."""

    def commit(
        name: str, answer, role: Role = Role.ANNOTATOR, id_: int = anchor
    ) -> AnchorState:
        given = class_answer(answer) if isinstance(answer, Kind) else answer
        return store.edits.commit_answer(id_, store.people.ensure(name), role, given).state

    return commit


def test_an_item_holds_what_came_in(kit, see) -> None:
    item = see()
    assert item.passage == kit.passage(WORDS)
    assert item.anchor == Anchor(ONE, ONE + 1)
    assert (item.split, item.state, item.votes, item.gold) == (
        "dev",
        AnchorState.OPEN,
        (),
        None,
    )
    assert [sibling.anchor_id for sibling in item.siblings] == [1]
    assert len(item.public_id) == 32


def test_an_unknown_anchor_is_none(store: Store) -> None:
    assert store.items.read(99, store.people.ensure("eva"), Role.ANNOTATOR) is None
    with pytest.raises(StoreError, match="no item 99"):
        store.edits.commit_answer(
            99, store.people.ensure("eva"), Role.ANNOTATOR, class_answer(Kind.AGE)
        )


def test_an_answer_comes_back_whole(store: Store, anchor: int, see, clock) -> None:
    heads = [
        [Mention(0, 2, DOGS), Mention(6, 8, MORE_DOGS, Origin.REMOVED)],
        [Mention(CATS, CATS + 1, CATS, Origin.ADDED)],
    ]
    answer = reference_answer(heads, Relation.OR, "either “dogs”\nor cats")
    seen = Exposure(saw_model=True, saw_votes=True, seconds=2.5, rule_tag="R3")
    eva = store.people.ensure("eva")
    saved = store.edits.commit_answer(anchor, eva, Role.ANNOTATOR, answer, seen)
    assert (saved.anchor_id, saved.state, saved.at) == (
        anchor,
        AnchorState.ANSWERED,
        "2026-05-06T12:00:00.000Z",
    )
    (vote,) = see().votes
    assert vote.answer == answer
    assert (vote.annotator, vote.role, vote.answered_at) == ("eva", Role.ANNOTATOR, saved.at)
    assert (vote.seconds, vote.saw_model, vote.saw_votes, vote.rule_tag) == (
        2.5,
        True,
        True,
        "R3",
    )


def test_a_class_with_sort_and_noun_comes_back_whole(say, see) -> None:
    answer = class_answer(Kind.OTHER, Sort.NOUN, "mile", "clear")
    say("eva", answer)
    assert see().votes[0].answer == answer
    shorter = class_answer(Kind.OTHER)
    say("eva", shorter)
    assert [vote.answer for vote in see().votes] == [shorter]


@pytest.mark.parametrize(
    "answer",
    [
        reference_answer([[Mention(20, 21, 20)]]),
        reference_answer([[Mention(ONE, ONE + 1, ONE)]]),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(store: Store, say, see, answer) -> None:
    with pytest.raises(AnswerError):
        say("eva", answer)
    assert see().votes == ()
    assert store.history.of_anchor(1) == ()


def test_three_references_to_different_nouns_disagree_by_noun(kit, say, see) -> None:
    assert say("ann1", kit.to(DOGS)) is AnchorState.ANSWERED
    assert say("ann2", kit.to(CATS)) is AnchorState.DISAGREE
    assert say("ann3", kit.to(4)) is AnchorState.DISAGREE
    item = see()
    assert (item.blocking, item.pattern, item.notes) == ((Blocking.NOUN,), "1-1-1", ())


def test_other_mentions_of_one_noun_do_not_block(kit, say, see) -> None:
    say("ann1", kit.to(DOGS))
    assert say("ann2", kit.to(MORE_DOGS)) is AnchorState.ANSWERED
    item = see()
    assert (item.blocking, item.notes, item.pattern) == ((), (DifferenceNote.MENTION,), "2-0")


def test_strongest_first(kit, say, see) -> None:
    say("ann1", kit.to(DOGS))
    say("ann2", Kind.AGE)
    say("ann3", Kind.NOT_NFH)
    assert see().blocking == (Blocking.SCOPE, Blocking.CLASS)
    assert see().pattern == "1-1-1"


def test_an_adjudicators_answer_makes_gold_and_is_no_vote(store: Store, kit, say, see) -> None:
    say("ann1", Kind.AGE)
    say("ann2", Kind.YEAR)
    assert say("lee", kit.to(DOGS, CATS), Role.ADJUDICATOR) is AnchorState.DECIDED
    item = see()
    assert item.gold is not None
    assert (item.gold.answer, item.gold.rule, item.gold.adjudicator) == (
        kit.to(DOGS, CATS),
        Rule.EXPERT,
        "lee",
    )
    assert item.pattern == "1-1"
    assert [(vote.annotator, vote.role) for vote in item.votes] == [
        ("ann1", Role.ANNOTATOR),
        ("ann2", Role.ANNOTATOR),
        ("lee", Role.ADJUDICATOR),
    ]
    (sibling,) = item.siblings
    assert (sibling.kind, sibling.state) == (Kind.REFERENCE, AnchorState.DECIDED)


def test_expert_gold_points_to_the_answer(path: Path, store: Store, say) -> None:
    from nfh_db.connection import connect

    say("lee", Kind.AGE)
    say("lee", Kind.AGE, Role.ADJUDICATOR)
    reader = connect(path, "ro")
    row = reader.execute(
        "SELECT w.role, n.name FROM gold AS g JOIN answer AS w ON w.id = g.answer_id"
        " JOIN annotator AS n ON n.id = g.annotator_id"
    ).fetchall()
    reader.close()
    assert row == [("adjudicator", "lee")]


def test_gold_that_only_says_nfh_leaves_the_anchor_open(store: Store, kit, say, see) -> None:
    kit.load(store, kit.one("I have two", 2, gold=kit.gold(Kind.NFH)))
    item = see(id_=2)
    assert (item.state, item.siblings[0].kind) == (AnchorState.OPEN, Kind.NFH)
    assert say("eva", Kind.AGE, id_=2) is AnchorState.ANSWERED


def test_committing_the_same_again_is_a_confirmation(store: Store, say, see, clock) -> None:
    say("eva", Kind.AGE)
    assert say("eva", Kind.AGE) is AnchorState.ANSWERED
    assert len(see().votes) == 1
    acts = [line.act for line in store.history.of_anchor(1)]
    assert acts == ["answer AGE", "answer AGE, in place of an earlier one"]


def test_withdrawing_takes_gold_along(store: Store, say, see) -> None:
    say("ann1", Kind.AGE)
    say("lee", Kind.YEAR, Role.ADJUDICATOR)
    lee = store.people.ensure("lee")
    assert store.edits.withdraw(1, lee, Role.ADJUDICATOR).state is AnchorState.ANSWERED
    assert see().gold is None
    with pytest.raises(StoreError, match="lee has no decision of item 1"):
        store.edits.withdraw(1, lee, Role.ADJUDICATOR)
    assert (
        store.edits.withdraw(1, store.people.ensure("ann1"), Role.ANNOTATOR).state
        is AnchorState.OPEN
    )
    assert see().votes == ()


def test_withdrawing_leaves_somebody_elses_gold(store: Store, say, see) -> None:
    say("lee", Kind.YEAR, Role.ADJUDICATOR)
    say("kim", Kind.AGE, Role.ADJUDICATOR)
    assert (
        store.edits.withdraw(1, store.people.ensure("lee"), Role.ADJUDICATOR).state
        is AnchorState.DECIDED
    )
    gold = see().gold
    assert gold is not None
    assert (gold.adjudicator, gold.answer.kind) == ("kim", Kind.AGE)


def test_flags_are_each_persons_own(store: Store, see) -> None:
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    store.edits.set_flag(1, eva, FlagName.AMBIGUOUS, True)
    store.edits.set_flag(1, bob, FlagName.AMBIGUOUS, True)
    assert store.edits.set_flag(1, bob, FlagName.AMBIGUOUS, True).act_id == 0
    store.edits.set_flag(1, eva, FlagName.AMBIGUOUS, False)
    assert [(mark.name, mark.annotator) for mark in see().flags] == [
        (FlagName.AMBIGUOUS, "bob")
    ]


def test_an_answer_clears_ones_own_skip_and_draft(store: Store, say, see) -> None:
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    for person in (eva, bob):
        store.edits.set_flag(1, person, FlagName.SKIP, True)
        store.workspace.save_draft(1, person, Role.ANNOTATOR, "{}")
    store.workspace.save_draft(1, eva, Role.ADJUDICATOR, "[]")
    say("eva", Kind.AGE)
    assert [mark.annotator for mark in see().flags] == ["bob"]
    assert see("eva").draft is None
    assert see("eva", Role.ADJUDICATOR).draft is not None
    assert see("bob").draft is not None
    store.edits.undo(eva)
    assert [mark.annotator for mark in see().flags] == ["bob", "eva"]


def test_drafts_places_and_views_survive(path: Path, store: Store, anchor: int) -> None:
    eva = store.people.ensure("eva")
    store.workspace.save_draft(anchor, eva, Role.ANNOTATOR, '{"cursor": 3}')
    store.workspace.save_position(eva, "annotate", QueuePosition("state:open", anchor, 3))
    store.workspace.save_view(eva, "mine", "by:eva")
    store.workspace.save_view(eva, "hard", "heads>1")
    store.close()
    with Store.open(path) as again:
        item = again.items.read(anchor, eva, Role.ANNOTATOR)
        assert item is not None
        assert item.draft is not None
        assert item.draft.body == '{"cursor": 3}'
        assert again.workspace.position(eva, "annotate") == QueuePosition(
            "state:open", anchor, 3
        )
        assert again.workspace.position(eva, "browse") == QueuePosition()
        assert again.workspace.views(eva) == (("hard", "heads>1"), ("mine", "by:eva"))
        again.workspace.save_draft(anchor, eva, Role.ANNOTATOR, None)
        again.workspace.save_view(eva, "mine", None)
        assert again.workspace.views(eva) == (("hard", "heads>1"),)
        item = again.items.read(anchor, eva, Role.ANNOTATOR)
        assert item is not None
        assert item.draft is None


# --- other spans ------------------------------------------------------------------------


def test_a_replacing_anchor_shows_old_votes_as_stale(store: Store, kit, say, see) -> None:
    eva = store.people.ensure("eva")
    say("eva", kit.to(DOGS))
    say("bob", kit.to(CATS))
    store.workspace.save_draft(1, eva, Role.ANNOTATOR, "{}")
    saved = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    )
    assert (saved.anchor_id, saved.state) == (2, AnchorState.STALE)
    assert store.items.read(1, eva, Role.ANNOTATOR) is None
    item = see(id_=2)
    assert item.votes == ()
    assert [vote.annotator for vote in item.stale_votes] == ["bob", "eva"]
    assert item.draft is not None
    assert [sibling.anchor_id for sibling in item.siblings] == [2]
    assert say("eva", kit.to(DOGS), id_=2) is AnchorState.ANSWERED
    assert [vote.annotator for vote in see(id_=2).stale_votes] == ["bob", "eva"]


def test_gold_does_not_carry_over(store: Store, kit, say, see) -> None:
    say("lee", kit.to(DOGS), Role.ADJUDICATOR)
    saved = store.edits.replace_anchor(
        1,
        store.people.ensure("lee"),
        Role.ADJUDICATOR,
        Anchor(ONE, ONE + 2),
        store.edits.stale_labels(1, store.people.ensure("lee")),
    )
    assert saved.state is AnchorState.STALE
    assert see(id_=saved.anchor_id).gold is None


def test_without_votes_a_replacing_anchor_is_open(store: Store, anchor: int) -> None:
    saved = store.edits.replace_anchor(
        1,
        store.people.ensure("eva"),
        Role.ADJUDICATOR,
        Anchor(ONE, ONE + 2),
        store.edits.stale_labels(1, store.people.ensure("eva")),
    )
    assert saved.state is AnchorState.OPEN


def test_stale_votes_are_kept_over_several_replacements(store: Store, say, see) -> None:
    eva = store.people.ensure("eva")
    say("eva", Kind.AGE)
    second = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    third = store.edits.replace_anchor(
        second,
        eva,
        Role.ADJUDICATOR,
        Anchor(ONE - 1, ONE + 2),
        store.edits.stale_labels(second, eva),
    )
    assert third.state is AnchorState.STALE
    assert [vote.annotator for vote in see(id_=third.anchor_id).stale_votes] == ["eva"]


def test_going_back_to_a_span_revives_its_anchor(store: Store, say, see) -> None:
    eva = store.people.ensure("eva")
    say("eva", Kind.AGE)
    second = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    ).anchor_id
    back = store.edits.replace_anchor(
        second,
        eva,
        Role.ADJUDICATOR,
        Anchor(ONE, ONE + 1),
        store.edits.stale_labels(second, eva),
    )
    assert (back.anchor_id, back.state) == (1, AnchorState.ANSWERED)
    assert [vote.annotator for vote in see().votes] == ["eva"]
    assert see().stale_votes == ()
    assert store.items.read(second, eva, Role.ANNOTATOR) is None


def test_places_follow_a_replacement(store: Store, anchor: int) -> None:
    eva = store.people.ensure("eva")
    store.workspace.save_position(eva, "annotate", QueuePosition("", 1, 2))
    store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    )
    assert store.workspace.position(eva, "annotate") == QueuePosition("", 2, 2)


def test_spans_that_cannot_be(store: Store, anchor: int, kit) -> None:
    eva = store.people.ensure("eva")
    kit.load(store, kit.one(WORDS, CATS))
    with pytest.raises(StoreError, match="“cats” is item 2 already"):
        store.edits.replace_anchor(
            1, eva, Role.ADJUDICATOR, Anchor(CATS, CATS + 1), store.edits.stale_labels(1, eva)
        )
    with pytest.raises(StoreError, match="has this span already"):
        store.edits.replace_anchor(
            1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 1), store.edits.stale_labels(1, eva)
        )
    for span in (Anchor(9, 11), Anchor(3, 3), Anchor(-1, 2)):
        with pytest.raises(PassageError, match="outside a passage of 10 tokens"):
            store.edits.replace_anchor(
                1, eva, Role.ADJUDICATOR, span, store.edits.stale_labels(1, eva)
            )
    store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(ONE, ONE + 2), store.edits.stale_labels(1, eva)
    )
    with pytest.raises(StoreError, match="has been replaced by item 3"):
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    with pytest.raises(StoreError, match="has been replaced by item 3"):
        store.edits.replace_anchor(
            1, eva, Role.ADJUDICATOR, Anchor(ONE - 1, ONE + 1), store.edits.stale_labels(1, eva)
        )


def test_what_names_nothing_here_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="a person, a model or a job that is not in"):
        store.workspace.save_position(
            store.people.ensure("eva"), "browse", QueuePosition("", 99, 0)
        )
