"""Taking over an answer: an annotator's, the model's, what several have in common."""

from dataclasses import replace

import pytest

from nfh_db.records import Role
from nfh_models.domain import Answer, Kind, Mention, Origin, Relation, Sort, class_answer
from nfh_tui.editor.commands import act, first_state


def one(token, origin=Origin.MARKED):
    return Mention(token, token + 1, token, origin)


@pytest.fixture
def voted(make):
    votes = make.three(
        make.reference([1, 11], 5, relation=Relation.OR),
        make.reference([29, 1]),
        replace(class_answer(Kind.OTHER, Sort.NOUN, "shelter"), comment="mine"),
    )
    return make.item(
        votes=[*votes, make.vote("ann4", Answer(Kind.NFH))], scores={1: 0.9, 5: 0.1}
    )


@pytest.fixture
def judging(voted):
    return replace(first_state(voted, "me", Role.ADJUDICATOR), comment="ours")


@pytest.mark.parametrize(
    ("action", "heads", "kind", "reason"),
    [
        ("adopt.1", ((one(1), one(11)), (one(5),)), Kind.REFERENCE, "answer 1"),
        ("adopt.2", ((one(29), one(1)),), Kind.REFERENCE, "answer 2"),
        ("adopt.3", (), Kind.OTHER, "answer 3"),
        ("adopt.model", ((one(1),),), Kind.REFERENCE, "the model"),
        ("adopt.union", ((one(5),), (one(1), one(11), one(29))), Kind.REFERENCE, "union"),
        ("adopt.intersection", ((one(1),),), Kind.REFERENCE, "intersection"),
        ("adopt.nobody", (), None, "cleared"),
    ],
)
def test_adopting(voted, judging, action, heads, kind, reason):
    state = act(judging, voted, action).state
    assert (state.heads, state.kind, state.reason) == (heads, kind, reason)
    assert state.comment == "ours"
    assert state.relation is (Relation.OR if len(heads) > 1 else None)
    if action == "adopt.3":
        assert (state.sort, state.noun) == (Sort.NOUN, "shelter")


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("adopt.4", "Answer 4 says a noun is missing, not which one: choose one."),
        ("adopt.5", "There is no answer 5: 4 annotators have answered."),
    ],
)
def test_answers_that_cannot_be_adopted(voted, judging, action, why):
    outcome = act(judging, voted, action)
    assert (outcome.refused, outcome.say, outcome.state.content) == (True, why, judging.content)


def test_adopting_where_there_is_nothing(make):
    item = make.item()
    state = first_state(item, "me", Role.ADJUDICATOR)
    said = {name: act(state, item, f"adopt.{name}").say for name in ("1", "model", "union")}
    assert said == {
        "1": "There is no answer 1: nobody has answered yet.",
        "model": "No model has answered this item yet.",
        "union": "No annotator marked a head.",
    }
    apart = make.item(
        votes=[make.vote("a", make.reference(1)), make.vote("b", make.reference(5))]
    )
    outcome = act(state, apart, "adopt.intersection")
    assert outcome.say == "The annotators have no head in common."


def test_the_intersection_keeps_the_noun_where_no_mention_is_shared(make):
    item = make.item(
        votes=[make.vote("a", make.reference([1, 11])), make.vote("b", make.reference(29))]
    )
    state = act(first_state(item, "me", Role.ADJUDICATOR), item, "adopt.intersection").state
    assert state.heads == ((one(1), one(11)),)


@pytest.mark.parametrize("action", ["adopt.1", "adopt.union", "adopt.intersection"])
def test_an_annotator_cannot_adopt_others_answers(voted, action):
    state = first_state(voted, "me", Role.ANNOTATOR)
    outcome = act(state, voted, action)
    assert (outcome.refused, outcome.state) == (True, state)
    assert outcome.say == "Only adjudicators see others' answers; you are annotating."
    assert act(state, voted, "adopt.model").state.heads == ((one(1),),)


@pytest.mark.parametrize(
    ("choice", "kind"),
    [("AGE", Kind.AGE), ("5", Kind.REFERENCE), ("16", None), ("99", None), ("REFERENCE", None),
     ("-1", None), ("²", None), ("", None), ("9" * 12, None)],
)  # fmt: skip
def test_the_models_choice_is_a_class_or_a_token(make, choice, kind):
    item = make.item(choice=choice)
    outcome = act(first_state(item, "me", Role.ANNOTATOR), item, "adopt.model")
    assert outcome.state.kind is kind
    assert outcome.refused == (kind is None)


def test_one_reference_alone_is_no_intersection(make):
    votes = [make.vote("a", make.reference(1)), make.vote("b", Answer(Kind.YEAR))]
    item = make.item(votes=votes)
    outcome = act(first_state(item, "me", Role.ADJUDICATOR), item, "adopt.intersection")
    assert (outcome.refused, outcome.say) == (True, "The annotators have no head in common.")
