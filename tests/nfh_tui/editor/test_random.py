"""Whatever keys are pressed, the editor holds something that makes sense."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.records import Role
from nfh_models.domain import Answer, Kind, Origin, Relation, Sort, class_answer
from nfh_tui.editor.commands import (
    ACTIONS,
    act,
    dump,
    first_state,
    key,
    load,
    move_to,
    prompt,
    set_comment,
    set_noun,
)
from nfh_tui.editor.state import Pending, answer
from nfh_tui.widgets.passage_render import Warmth

from .painting import lines

NAMED = ("escape", "enter", "backspace", "space", "f5", "left", "tab")
STEPS = st.one_of(
    st.tuples(st.sampled_from(sorted(ACTIONS)), st.integers(-2, 5)),
    st.tuples(st.just("key"), st.sampled_from([*NAMED, *"asdfjklghwernyaoxcm Y1?"])),
    st.tuples(st.just("move"), st.integers(-3, 60)),
    st.tuples(st.just("noun"), st.text(max_size=4)),
    st.tuples(st.just("comment"), st.text(max_size=4)),
)


def stepped(item, state, step):
    name, what = step
    if name == "key":
        outcome = key(state, item, what, what if len(what) == 1 else None)
        return state if outcome is None else outcome.state
    if name == "move":
        return move_to(state, item, what).state
    if name == "noun":
        return set_noun(state, item, what).state
    if name == "comment":
        return set_comment(state, item, what).state
    outcome = act(state, item, name, what)
    assert not outcome.refused or outcome.say
    return outcome.state


def check(item, state):
    made = answer(state, item)
    if isinstance(made, Answer):
        made.check(len(item.passage.tokens), item.anchor.start, item.anchor.end)
        assert made.relation is not Relation.UNSTATED
        assert made.kind is not Kind.NFH
    else:
        assert made.endswith((".", ")."))
    assert load(dump(state), item) == state
    assert 0 <= state.cursor < len(item.passage.tokens)
    assert (prompt(state) is not None) == (state.pending is not None or state.span is not None)
    assert bool(state.hints) == (state.pending is Pending.HINT)
    for mentions in state.heads:
        assert mentions[0].origin is Origin.MARKED
        assert len({mention.head for mention in mentions}) == len(mentions)
    begun = state.span is not None or state.pending is not None
    assert state.touched == (begun or state.content != state.began)


@settings(max_examples=250, deadline=None)
@given(st.data(), st.sampled_from(Role), st.booleans())
def test_any_keys_leave_an_answer_or_a_sentence(make, data, role, scored):
    votes = [
        make.vote("ann1", make.reference([1, 11], 5)),
        make.vote("ann2", make.reference(29, 41, relation=Relation.AND)),
        make.vote("ann3", class_answer(Kind.OTHER, Sort.MEASURE, "km/h")),
    ]
    item = make.item(votes=votes, scores={1: 0.5, 5: 0.1, 41: 0.7} if scored else None)
    state = first_state(item, "ann1", role)
    for step in data.draw(st.lists(STEPS, max_size=25)):
        state = stepped(item, state, step)
        check(item, state)
    warm = dict.fromkeys(range(len(item.passage.tokens)), Warmth(3, "+▄"))
    lines(item, state, 40, warm)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_keys_on_hostile_text(make, hostile, data):
    passage = hostile(" ")
    anchor = data.draw(st.integers(0, len(passage.tokens) - 1))
    item = make.item(passage, anchor=(anchor, anchor + 1))
    state = first_state(item, "me", Role.ADJUDICATOR)
    for step in data.draw(st.lists(STEPS, max_size=15)):
        state = stepped(item, state, step)
        check(item, state)
