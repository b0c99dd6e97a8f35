"""Spans that shrink, and mentions offered with the words before them."""

import pytest

from nfh_db.records import Role
from nfh_models.domain import Mention
from nfh_tui.editor.commands import first_state, prompt


def test_a_span_shrinks_at_the_end_that_moves(item, fresh, do):
    state = do(item, fresh, "to:9", "span.grow", "to:12").state
    assert (state.span, state.cursor) == ((9, 13), 12)
    smaller = do(item, state, "span.shrink").state
    assert (smaller.span, smaller.cursor) == ((9, 12), 11)
    other = do(item, smaller, "span.grow", "span.shrink").state
    assert (other.span, other.cursor) == ((10, 12), 10)
    taken = do(item, other, "head.toggle").state
    assert taken.heads == ((Mention(10, 12, 11),),)
    one_word = do(item, fresh, "to:9", "span.grow", "span.shrink")
    assert (one_word.refused, one_word.state.span) == (True, (9, 10))


def test_a_marked_head_shrinks_to_its_noun(item, fresh, do):
    state = do(item, fresh, "to:9", "span.grow", "to:12", "head.toggle").state
    assert state.heads == ((Mention(9, 13, 11),),)
    steps = []
    for _ in range(3):
        outcome = do(item, state, "span.shrink")
        state = outcome.state
        steps.append(state.heads[0][0])
    assert steps == [Mention(10, 13, 11), Mention(11, 13, 11), Mention(11, 12, 11)]
    assert outcome.say == "Head 1 is “tents”."
    again = do(item, state, "span.shrink")
    assert again.refused
    assert "v starts one" in (again.say or "")
    assert do(item, state, "to:30", "span.shrink").refused


@pytest.mark.parametrize(
    ("token", "said"),
    [(11, "“the good tents” t1 noun"), (29, "“A tent” t3 noun"), (1, "“My tents” t1 noun")],
)
def test_a_mention_is_offered_with_its_modifiers_and_a_guess_at_what_it_is(
    item, fresh, do, token, said
):
    first = 1 if token != 1 else 11
    state = do(item, fresh, f"to:{first}", "head.toggle", "mentions.all").state
    while state.review and state.review.tokens[0] != token:
        state = do(item, state, "key:n").state
    assert said in (prompt(state) or "")


def test_a_word_behind_to_may_be_a_verb(make, do):
    item = make.item(
        make.passage([("A", "We have a tent . They like to tent , one .")]), (10, 11)
    )
    state = do(
        item, first_state(item, "me", Role.ANNOTATOR), "to:3", "head.toggle", "mentions.all"
    )
    assert "“tent” t1 verb?" in (prompt(state.state) or "")
