"""Votes weighed by competence where that is known, and counted where it is not."""

from dataclasses import replace

import pytest

from nfh_db.records import MODEL, CompetenceWeight, Role
from nfh_models.domain import Kind, class_answer, weight
from nfh_tui.editor.commands import first_state
from nfh_tui.editor.state import blinded, without_names
from nfh_tui.editor.votes import after_deciding, proposal
from nfh_tui.widgets.evidence_rows import answer_words

from .evidence import shown


def known(item, **accuracies):
    made = (CompetenceWeight(name, accuracy, 40) for name, accuracy in accuracies.items())
    return replace(item, competences=tuple(made))


@pytest.fixture
def split(make):
    """Two say AGE, one marks a noun."""
    return make.item(votes=make.three(make.age(), make.age(), make.reference(1)))


def test_a_weight_is_the_logarithm_of_the_odds_and_none_for_chance():
    assert weight(0.5) == pytest.approx(2.1972, abs=1e-4)
    assert weight(0.9) == pytest.approx(4.3944, abs=1e-4)
    assert weight(0.1) == pytest.approx(0.0)
    assert weight(0.02) == weight(0.0) == 0.0
    assert weight(1.0) == weight(0.999)


def test_where_nobody_is_known_the_larger_number_is_proposed(split):
    found = proposal(split)
    assert (found.answer.kind, found.reason, found.weight) == (Kind.AGE, "2 of 3", None)


def test_where_one_is_not_known_votes_are_counted(split):
    found = proposal(known(split, ann1=0.2, ann3=0.97))
    assert (found.answer.kind, found.reason) == (Kind.AGE, "2 of 3")


def test_where_all_are_known_the_heavier_group_is_proposed(split):
    found = proposal(known(split, ann1=0.3, ann2=0.3, ann3=0.95))
    assert (found.answer.kind, found.reason) == (Kind.REFERENCE, "1 of 3, weight 0.66")
    agreed = proposal(known(split, ann1=0.8, ann2=0.8, ann3=0.8))
    assert (agreed.answer.kind, agreed.reason) == (Kind.AGE, "2 of 3, weight 0.67")


def test_a_lead_that_is_no_more_than_the_figures_bear_is_a_tie(split):
    assert proposal(known(split, ann1=0.6, ann2=0.6, ann3=0.97)) is None


def test_a_tie_in_number_is_settled_by_a_clear_weight_only(make):
    tie = make.item(votes=[make.vote("ann1", make.age()), make.vote("ann2", make.reference(1))])
    assert proposal(tie) is None
    assert proposal(known(tie, ann1=0.8, ann2=0.78)) is None
    found = proposal(known(tie, ann1=0.9, ann2=0.4))
    assert (found.answer.kind, found.votes) == (Kind.AGE, "1 of 2")


def test_people_who_are_right_by_chance_are_counted(split):
    found = proposal(known(split, ann1=0.05, ann2=0.05, ann3=0.05))
    assert found.reason == "2 of 3"


def test_a_model_and_one_who_only_says_nfh_have_no_part_in_it(make):
    votes = [
        make.vote("ann1", make.age()),
        make.vote("ann2", make.reference(1)),
        make.vote("nfh", class_answer(Kind.NFH)),
        make.vote("stub", make.reference(1), type=MODEL),
    ]
    found = proposal(known(make.item(votes=votes), ann1=0.9, ann2=0.4))
    assert found.reason == "1 of 2, weight 0.71"


def test_the_reason_tells_the_weight_but_not_where_names_are_hidden(split):
    item = known(split, ann1=0.3, ann2=0.3, ann3=0.95)
    state = first_state(item, "nobody7", Role.ADJUDICATOR)
    assert state.reason == "1 of 3, weight 0.66"
    assert "1 of 3, weight 0.66" in shown(item, state, 60)[0]
    assert " right in 1: 30 % · 2: 30 % · 3: 95 %" in shown(item, state, 60)
    assert answer_words(item, state, reading=False)[1] == "proposal · 1 of 3, weight 0.66"
    hidden = blinded(item)
    assert hidden.competences == ()
    text = "\n".join(shown(hidden, state, 60, blind=True))
    assert "1 of 3" in text
    assert "weight" not in text
    assert "right in" not in text
    assert answer_words(hidden, state, reading=False)[1] == "proposal · 1 of 3"


def test_what_is_said_after_deciding_tells_no_weight(split, monkeypatch):
    monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", lambda item, me: True)
    item = known(split, ann1=0.3, ann2=0.3, ann3=0.95)
    said = after_deciding(item, "me", split.votes[2].answer)
    assert "(1 of 3)" in said
    assert "weight" not in said


@pytest.mark.parametrize(
    ("comment", "hidden"),
    [
        ("ann1 says so", "A says so"),
        ("ANN1's rule; ann10 not", "A's rule; ann10 not"),
        ("by a.b (c)", "by B"),
        ("", ""),
    ],
)
def test_names_in_comments_are_letters(comment, hidden):
    assert without_names(comment, {"ann1": "A", "a.b (c)": "B"}) == hidden
