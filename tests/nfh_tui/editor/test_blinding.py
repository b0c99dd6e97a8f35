"""What is withheld until one has answered."""

from dataclasses import replace

from nfh_db.records import Role
from nfh_models.domain import Kind, class_answer
from nfh_tui.actions import Mode
from nfh_tui.workbench.state import BlindingPolicy

AGE = class_answer(Kind.AGE)


def test_an_annotator_sees_the_model_once_they_have_answered(make):
    policy = BlindingPolicy("edith", Mode.ANNOTATE)
    said = make.item(scores={1: 0.5})
    hidden = policy.visible(said)
    assert policy.hides_model(said) and policy.can_hide_model(None)
    assert hidden == replace(said, prediction=None, model_hidden=True)
    assert policy.hides_model(replace(said, votes=(make.vote("otto", AGE),)))
    judged = make.vote("edith", AGE, Role.ADJUDICATOR)
    assert policy.hides_model(replace(said, votes=(judged,)))
    answered = replace(said, votes=(make.vote("edith", AGE),))
    assert policy.visible(answered) is answered
    assert replace(policy, model_shown=True).visible(said) is said


def test_who_adjudicates_sees_it_but_of_what_is_decided_blind(make):
    policy = BlindingPolicy("edith", Mode.ADJUDICATE)
    said = make.item(scores={1: 0.5})
    assert policy.visible(said) is said and not policy.can_hide_model(said)
    blind = replace(said, withheld=True)
    assert policy.visible(blind).model_hidden and policy.can_hide_model(blind)
    assert replace(policy, model_shown=True).visible(blind) is blind


def test_names_are_hidden_in_any_mode(make):
    said = make.item(votes=[make.vote("otto", AGE)])
    for mode in Mode:
        seen = BlindingPolicy("edith", mode, names_hidden=True).visible(said)
        assert [vote.annotator for vote in seen.votes] != ["otto"]
