"""What stands in the editor when an item is opened, and the draft that brings it back."""

import json
from dataclasses import replace

import pytest

from nfh_db.records import Gold, Role, Rule
from nfh_models.domain import (
    Answer,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    class_answer,
    reference_answer,
)
from nfh_tui.editor.commands import act, dump, first_state, key, load, set_comment
from nfh_tui.editor.state import AnswerSource, DraftError, EditState, Pending, answer, blinded
from nfh_tui.editor.votes import after_deciding, is_withheld, proposal

ADJUDICATOR, ANNOTATOR = Role.ADJUDICATOR, Role.ANNOTATOR
NOBODY = "somebody"


@pytest.fixture(autouse=True)
def _nothing_withheld(make):
    assert not is_withheld(make.item(), NOBODY)


def test_an_open_item_begins_empty_at_its_number(make):
    for role in Role:
        state = first_state(make.item(), NOBODY, role)
        assert (state.kind, state.heads, state.cursor) == (None, (), 16)
        assert (state.source, state.touched, state.role) == (AnswerSource.EMPTY, False, role)


def test_my_answer_comes_back_in_the_role_in_which_i_gave_it(make):
    mine = replace(make.reference([1, 11], 5, relation=Relation.AND), comment="both")
    item = make.item(votes=[make.vote("me", mine), make.vote("me", make.age(), ADJUDICATOR)])
    state = first_state(item, "me", ANNOTATOR)
    assert (state.source, state.comment, state.relation) == ("mine", "both", Relation.AND)
    assert answer(state, item) == mine
    assert first_state(item, "me", ADJUDICATOR).kind is Kind.AGE


def test_an_annotator_is_given_nothing_of_others(make):
    item = make.item(
        votes=make.three(make.age(), make.age(), make.age()),
        gold=Gold(make.age(), Rule.EXPERT, "anna"),
        scores={1: 0.9},
    )
    assert first_state(item, "me", ANNOTATOR) == EditState(cursor=16, role=ANNOTATOR)


def test_an_adjudicator_is_given_gold_before_the_proposal(make):
    votes = make.three(make.age(), make.age(), make.age())
    gold = Gold(class_answer(Kind.TIME, comment="clock"), Rule.MAJORITY)
    state = first_state(make.item(votes=votes, gold=gold), NOBODY, ADJUDICATOR)
    assert (state.kind, state.source, state.reason) == (Kind.TIME, "gold", "rule majority")
    assert state.comment == "clock"


@pytest.mark.parametrize(
    ("kinds", "chosen", "reason"),
    [
        (("AGE", "AGE", "TIME"), Kind.AGE, "2 of 3"),
        (("TIME", "AGE", "AGE"), Kind.AGE, "2 of 3"),
        (("AGE", "AGE", "AGE"), Kind.AGE, "3 of 3"),
        (("AGE", "TIME", "YEAR"), None, ""),
        (("AGE", "TIME"), None, ""),
        (("AGE",), Kind.AGE, "1 of 1"),
        (("NFH", "AGE"), Kind.AGE, "1 of 1"),
        (("NFH",), None, ""),
        (("AGE", "AGE", "TIME", "TIME"), None, ""),
    ],
)
def test_the_largest_group_of_equal_votes_is_proposed_and_a_tie_is_not(
    make, kinds, chosen, reason
):
    votes = [make.vote(f"ann{n}", class_answer(Kind(kind))) for n, kind in enumerate(kinds)]
    item = make.item(votes=votes)
    state = first_state(item, NOBODY, ADJUDICATOR)
    assert (state.kind, state.reason) == (chosen, reason)
    assert state.source == ("proposal" if chosen else "empty")
    assert not state.touched
    assert (proposal(item) is None) == (chosen is None)


def test_the_proposal_is_the_most_repeated_answer_that_states_its_relation(make):
    stated = make.reference(1, 5, relation=Relation.OR)
    unstated = make.reference(1, 5)
    found = proposal(make.item(votes=make.three(unstated, unstated, stated)))
    assert found is not None
    assert (found.answer, found.reason) == (stated, "3 of 3")


def test_a_vote_of_an_adjudicator_does_not_count_for_the_proposal(make):
    votes = [make.vote("ann1", make.age()), make.vote("anna", make.reference(1), ADJUDICATOR)]
    assert first_state(make.item(votes=votes), NOBODY, ADJUDICATOR).kind is Kind.AGE


def test_gold_and_votes_that_only_say_nfh_preselect_nothing(make):
    nfh = Answer(Kind.NFH)
    item = make.item(votes=[make.vote("me", nfh)], gold=Gold(nfh, Rule.IMPORTED))
    for role in Role:
        assert first_state(item, "me", role).source is AnswerSource.EMPTY


def test_one_item_in_eight_preselects_nothing_and_is_compared_afterwards(make):
    votes = make.three(make.age(), make.age(), make.reference(1))
    items = [make.item(votes=votes, public_id=f"{n:032x}") for n in range(800)]
    kept_back = [item for item in items if is_withheld(item, "me")]
    assert 60 < len(kept_back) < 140
    state = first_state(kept_back[0], "me", ADJUDICATOR)
    assert (state.kind, state.source) == (None, AnswerSource.EMPTY)
    assert "on purpose, 1 in 8" in state.reason
    same = after_deciding(kept_back[0], "me", make.age())
    other = after_deciding(kept_back[0], "me", make.reference(1))
    assert same is not None
    assert same == "Your answer equals the hidden proposal (2 of 3)."
    assert other is not None
    assert "The hidden proposal is Age (2 of 3); yours differs: which class." in other
    usual = next(item for item in items if not is_withheld(item, "me"))
    assert after_deciding(usual, "me", make.age()) is None
    tie = make.item(votes=votes[1:], public_id=kept_back[0].public_id)
    assert after_deciding(tie, "me", make.age()) is None


def test_an_answer_to_the_old_span_waits_to_be_confirmed(make):
    mine = make.reference([1, 16], 17)
    item = make.item(anchor=(16, 18), stale=[make.vote("me", mine)])
    state = first_state(item, "me", ANNOTATOR)
    assert (state.source, state.reason) == (AnswerSource.MINE, "for the old span")
    assert state.heads == ((Mention(1, 2, 1),),)
    assert answer(state, item) == make.reference(1)
    assert first_state(item, "you", ANNOTATOR).source is AnswerSource.EMPTY


def test_a_draft_comes_before_everything_and_is_not_touched_yet(make):
    item = make.item(votes=[make.vote("me", make.age())])
    state = act(first_state(item, "me", ANNOTATOR), item, "kind.year").state
    state = act(state, item, "cursor.next_turn").state
    assert state.touched
    again = first_state(
        replace(item, draft=make.item(draft=dump(state)).draft), "me", ANNOTATOR
    )
    assert (again.kind, again.cursor, again.source) == (Kind.YEAR, 28, AnswerSource.DRAFT)
    assert again.reason == "from saved"
    assert not again.touched
    assert act(again, item, "kind.age").state.touched


def test_a_draft_keeps_an_unfinished_span_hints_and_review(make):
    item = make.item(scores={1: 0.5, 5: 0.2})
    state = first_state(item, "me", ANNOTATOR)
    span = act(act(state, item, "cursor.next_turn").state, item, "span.grow").state
    span = act(span, item, "cursor.right").state
    hints = act(state, item, "hint.start").state
    picked = key(hints, item, "j", "j")
    assert picked is not None
    review = act(picked.state, item, "mentions.all").state
    sort = act(state, item, "kind.other").state
    for begun in (span, hints, review, sort):
        again = first_state(
            make.item(draft=dump(begun), scores={1: 0.5, 5: 0.2}), "me", ANNOTATOR
        )
        assert (again.span, again.pending, again.hints) == (
            begun.span,
            begun.pending,
            begun.hints,
        )
        assert again.touched
        assert load(dump(begun), item) == begun


@pytest.mark.parametrize(
    "change",
    [
        {"cursor": 43},
        {"cursor": -1},
        {"span": [3, 99]},
        {"span": [-2, 4]},
        {"span": [4, 4]},
        {"span": [4, 8]},
        {"span": [1]},
        {"heads": [[{"start": 42, "end": 44, "head": 42}]]},
        {"heads": [[{"start": 5, "end": 4, "head": 5}]]},
        {"heads": [[{"start": 5, "end": 6, "head": 5, "origin": "lost"}]]},
        {"aside": {"heads": [[{"start": 50, "end": 51, "head": 50}]]}},
        {"began": {"heads": [[{"start": 50, "end": 51, "head": 50}]]}},
        {"hints": [[60, "a"]], "pending": "hint"},
        {"pending": "hint"},
        {"pending": "review"},
        {"pending": "review", "review": {"head": 0, "tokens": []}},
        {"pending": "review", "review": {"head": 3, "tokens": [1]}},
        {"review": {"head": 0, "tokens": [1]}},
        {"pending": "coffee"},
        {"kind": "reference"},
        {"comment": None},
        {"cursor": "16"},
    ],
)
def test_a_draft_that_does_not_fit_is_refused_with_a_sentence_and_passed_over(make, change):
    item = make.item(votes=[make.vote("me", make.age())])
    body = json.dumps(json.loads(dump(first_state(item, "me", ANNOTATOR))) | change)
    with pytest.raises(DraftError, match=r"start again\.$"):
        load(body, item)
    state = first_state(replace(item, draft=make.item(draft=body).draft), "me", ANNOTATOR)
    assert (state.kind, state.source) == (Kind.AGE, AnswerSource.MINE)
    assert state.reason.startswith("saved; The draft ")


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "\ud800", '{"cursor": 1e400}', "\x00"])
def test_a_draft_that_is_no_draft_is_refused(make, body):
    with pytest.raises(DraftError):
        load(body, make.item())


def test_a_draft_whose_head_the_number_has_swallowed_loses_that_head(make):
    before = make.item()
    state = first_state(before, "me", ANNOTATOR)
    for token in (17, 1):
        state = act(replace(state, cursor=token), before, "head.toggle").state
    state = act(replace(state, comment="x"), before, "hint.start").state
    after = load(dump(state), make.item(anchor=(16, 18)))
    assert after.heads == ((Mention(1, 2, 1),),)
    assert (after.pending, after.comment, after.touched) == (None, "x", True)


def test_heads_of_a_draft_are_put_in_order(make):
    item = make.item()
    odd = EditState(
        kind=Kind.REFERENCE,
        heads=((Mention(1, 2, 1, Origin.REMOVED), Mention(11, 12, 11, Origin.ADDED)),),
        cursor=16,
    )
    assert load(dump(odd), item).heads == (
        (Mention(11, 12, 11), Mention(1, 2, 1, Origin.REMOVED)),
    )


def test_blinded_items_hide_names_and_mix_the_order_the_same_way_each_time(make):
    votes = make.three(make.age(), make.reference(1), class_answer(Kind.OTHER, Sort.CODE))
    orders = set()
    for n in range(30):
        item = make.item(
            votes=[*votes, make.vote("anna", make.age(), ADJUDICATOR)],
            stale=votes,
            gold=Gold(make.age(), Rule.EXPERT, "anna"),
            public_id=f"{n:032x}",
        )
        hidden = blinded(item)
        assert hidden == blinded(item)
        assert [vote.annotator for vote in hidden.votes[:3]] == ["A", "B", "C"]
        assert {vote.annotator for vote in hidden.stale_votes} == {"A", "B", "C"}
        assert hidden.gold is not None
        assert hidden.gold.adjudicator is None
        kinds = [vote.answer.kind for vote in hidden.votes[:3]]
        assert set(kinds) == {Kind.AGE, Kind.REFERENCE, Kind.OTHER}
        orders.add(tuple(kinds))
    assert len(orders) > 3


def test_a_comment_alone_makes_a_draft(make):
    item = make.item()
    state = set_comment(first_state(item, "me", ANNOTATOR), item, "  why? \ud800 ").state
    assert (state.comment, state.touched) == ("why? ?", True)
    assert load(dump(state), item) == state
    assert not set_comment(state, item, " ").state.touched


def test_sources_and_pendings_are_their_own_names():
    assert [source == source.value for source in AnswerSource] == [True] * 6
    assert Pending.HINT == "hint"


def test_an_adopted_reference_of_several_mentions_keeps_their_origins(make):
    given = reference_answer(
        [
            [
                Mention(1, 2, 1),
                Mention(11, 12, 11, Origin.ADDED),
                Mention(29, 30, 29, Origin.REMOVED),
            ]
        ]
    )
    item = make.item(votes=[make.vote("me", given)])
    assert answer(first_state(item, "me", ANNOTATOR), item) == given
