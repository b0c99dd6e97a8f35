"""Kinds, the cursor, and the acts as a whole: what they do, what they refuse and why."""

from dataclasses import replace

import pytest

from nfh_db.records import Role
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    class_answer,
)
from nfh_tui.editor.commands import (
    ACTIONS,
    act,
    candidates,
    first_state,
    key,
    move_to,
    prompt,
    set_comment,
    set_noun,
)
from nfh_tui.editor.state import EditState, Pending, answer


def one(token, origin=Origin.MARKED):
    return Mention(token, token + 1, token, origin)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("kind.year", Kind.YEAR),
        ("kind.age", Kind.AGE),
        ("kind.currency", Kind.CURRENCY),
        ("kind.people", Kind.PEOPLE),
        ("kind.time", Kind.TIME),
        ("kind.unknown", Kind.UNKNOWN),
        ("kind.not_nfh", Kind.NOT_NFH),
        ("kind.broken", Kind.BROKEN),
    ],
)
def test_a_kind_key_makes_a_whole_answer(item, fresh, action, kind, do):
    outcome = do(item, fresh, action)
    assert answer(outcome.state, item) == Answer(kind)
    assert outcome.state.touched
    assert not outcome.refused
    assert not do(item, outcome.state, "clear").state.touched


def test_reference_without_a_head_says_how_to_mark_one(item, fresh, do):
    outcome = do(item, fresh, "kind.reference")
    assert outcome.say == "Which noun? f shows letters, or move and press space."
    assert answer(outcome.state, item) == (
        "Reference needs a head: press f, or move with w b and press space."
    )
    assert answer(fresh, item) == (
        "There is no answer yet: press f and letters for a head, or a class key."
    )


@pytest.mark.parametrize(
    ("pressed", "sort", "ask"),
    [
        ("n", Sort.NUMBER, None),
        ("c", Sort.CODE, None),
        ("M", Sort.MEASURE, None),
        ("o", Sort.NOUN, "noun"),
        ("w", Sort.NOUN, "noun"),
        ("escape", None, None),
    ],
)
def test_other_waits_for_its_sort(item, fresh, pressed, sort, ask, do):
    waiting = do(item, fresh, "kind.other")
    assert waiting.state.pending is Pending.SORT
    assert prompt(waiting.state) == waiting.say
    outcome = do(item, waiting.state, f"key:{pressed}")
    assert (outcome.state.pending, outcome.state.sort, outcome.ask) == (None, sort, ask)
    assert answer(outcome.state, item) == class_answer(Kind.OTHER, sort)


def test_other_keys_while_the_sort_is_waited_for(item, fresh, do):
    waiting = do(item, fresh, "kind.other").state
    refused = key(waiting, item, "j", "j")
    assert refused is not None
    assert refused.refused
    assert refused.state == waiting
    assert key(waiting, item, "f2", None) is None
    # The key that accepts goes to the workbench, which saves OTHER without a sort.
    assert key(waiting, item, "enter", "\r") is None
    assert answer(waiting, item) == class_answer(Kind.OTHER)
    assert key(waiting, item, "ctrl+p", "\x10") is None


def test_escape_brings_back_a_sort_that_was_stated_and_other_is_without_one(item, fresh, do):
    stated = do(item, fresh, "kind.other", "key:c").state
    again = do(item, stated, "kind.other").state
    assert again.sort is None
    assert do(item, again, "key:escape").state.sort is Sort.CODE


def test_another_kind_puts_heads_sort_and_noun_aside_and_brings_them_back(item, fresh, do):
    marked = do(item, fresh, "to:1", "head.toggle", "to:5", "head.toggle", "relation.or").state
    away = do(item, marked, "kind.time").state
    assert (away.kind, away.heads, away.relation) == (Kind.TIME, (), None)
    back = do(item, away, "kind.reference").state
    assert (back.heads, back.relation) == (marked.heads, Relation.OR)
    measured = do(item, back, "kind.other", "key:m").state
    measured = set_noun(measured, item, "mark").state
    year = do(item, measured, "kind.year").state
    assert (year.sort, year.noun) == (None, None)
    again = do(item, year, "kind.other", "key:escape").state
    assert (again.sort, again.noun) == (Sort.MEASURE, "mark")


def test_marking_a_head_goes_back_to_reference_with_those_set_aside(item, fresh, do):
    state = do(item, fresh, "to:1", "head.toggle", "kind.age", "to:5", "head.toggle").state
    assert (state.kind, state.heads) == (Kind.REFERENCE, ((one(1),), (one(5),)))
    same = do(item, fresh, "to:1", "head.toggle", "kind.age", "to:1", "head.toggle").state
    assert same.heads == ((one(1),),)


@pytest.mark.parametrize("kind", IMPLICIT_KINDS)
def test_a_noun_goes_with_any_class(item, fresh, kind):
    state = replace(fresh, kind=kind)
    noun = set_noun(state, item, "  joke ").state
    assert noun.noun == "joke"
    made = answer(noun, item)
    assert made == class_answer(kind, Sort.NOUN if kind is Kind.OTHER else None, "joke")
    assert set_noun(noun, item, " ").state.noun is None


def test_a_noun_makes_an_other_of_nothing_and_leaves_a_stated_sort(item, fresh, do):
    made = answer(set_noun(fresh, item, "joke").state, item)
    assert made == class_answer(Kind.OTHER, Sort.NOUN, "joke")
    measured = do(item, fresh, "kind.other", "key:m").state
    assert set_noun(measured, item, "km/h").state.sort is Sort.MEASURE
    assert set_noun(fresh, item, "").state == fresh


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("kind.reference", "A Reference has its noun in the passage: mark it there."),
        ("kind.broken", "Only a class can have a written noun: press y a c p t or o first."),
    ],
)
def test_a_noun_is_refused_where_it_has_no_place(item, fresh, action, why, do):
    state = do(item, fresh, action).state
    outcome = set_noun(state, item, "joke")
    assert (outcome.refused, outcome.say, outcome.state) == (True, why, state)


def test_a_comment_goes_with_everything(item, fresh, do):
    state = set_comment(do(item, fresh, "kind.broken").state, item, "[red] no words").state
    assert answer(state, item) == class_answer(Kind.BROKEN, comment="[red] no words")


@pytest.mark.parametrize(
    ("start", "action", "count", "end"),
    [
        (16, "cursor.left", 1, 15),
        (16, "cursor.right", 3, 19),
        (0, "cursor.left", 1, 0),
        (42, "cursor.right", 9, 42),
        (16, "cursor.next_noun", 1, 19),
        (16, "cursor.next_noun", 2, 22),
        (16, "cursor.next_noun", 99, 41),
        (16, "cursor.previous_noun", 2, 11),
        (1, "cursor.next_noun", 1, 2),
        (16, "cursor.next_turn", 1, 28),
        (0, "cursor.next_turn", 1, 14),
        (16, "cursor.previous_turn", 1, 14),
        (14, "cursor.previous_turn", 1, 0),
        (0, "cursor.previous_turn", 1, 0),
        (40, "cursor.previous_turn", 2, 14),
        (40, "cursor.anchor", 1, 16),
    ],
)
def test_movements(item, fresh, start, action, count, end):
    outcome = act(replace(fresh, cursor=start), item, action, count)
    assert outcome.state == replace(fresh, cursor=end)
    assert not outcome.state.touched


@pytest.mark.parametrize(
    ("start", "action", "why"),
    [
        (41, "cursor.next_noun", "No noun after this word."),
        (42, "cursor.next_noun", "No noun after this word."),
        (0, "cursor.previous_noun", "No noun before this word."),
        (1, "cursor.previous_noun", "No noun before this word."),
        (40, "cursor.next_turn", "This is the last turn."),
        (1, "cursor.next_head", "No head is marked yet: press f, or move and press space."),
    ],
)
def test_movements_that_lead_nowhere_say_so(item, fresh, start, action, why):
    state = replace(fresh, cursor=start)
    outcome = act(state, item, action)
    assert (outcome.state, outcome.say, outcome.refused) == (state, why, True)


def test_movements_without_any_noun(make):
    item = make.item(make.passage([(None, "he is one")]), anchor=(2, 3))
    state = first_state(item, "me", Role.ANNOTATOR)
    assert candidates(item) == ()
    for action in ("cursor.next_noun", "cursor.previous_noun"):
        assert act(state, item, action).refused
    letters = act(state, item, "hint.start").state
    assert (letters.all_words, [token for token, _ in letters.hints]) == (True, [0, 1])
    alone = make.item(make.passage([(None, "one .")]), anchor=(0, 1))
    assert act(first_state(alone, "me", Role.ANNOTATOR), alone, "hint.start").refused


def test_from_head_to_head_and_round(item, fresh, do):
    state = do(
        item, fresh, "to:1", "head.toggle", "to:5", "head.toggle", "to:29", "head.toggle"
    )
    places = []
    state = state.state
    for _ in range(4):
        state = act(state, item, "cursor.next_head").state
        places.append(state.cursor)
    assert places == [1, 5, 29, 1]


def test_a_place_outside_the_passage_is_brought_inside(item, fresh):
    assert move_to(fresh, item, 99).state.cursor == 42
    assert move_to(fresh, item, -5).state.cursor == 0


def test_an_act_gives_up_what_was_waited_for(item, fresh, do):
    for first in ("kind.other", "hint.start"):
        state = do(item, fresh, first, "cursor.left").state
        assert (state.pending, state.hints, state.typed) == (None, (), "")


def test_an_unknown_act_is_an_error_of_the_program(item, fresh):
    with pytest.raises(KeyError):
        act(fresh, item, "kind.coffee")


def test_the_acts_have_the_ids_agreed_on():
    kinds = "reference year age currency people time other unknown not_nfh broken"
    moves = "left right next_noun previous_noun next_turn previous_turn anchor next_head"
    wanted = {f"kind.{name}" for name in kinds.split()}
    wanted |= {f"cursor.{name}" for name in moves.split()}
    wanted |= {
        f"adopt.{name}" for name in (*"123456789", "model", "union", "intersection", "nobody")
    }
    wanted |= {"head.toggle", "head.drop_last", "head.join", "span.grow", "span.drop"}
    wanted |= {"span.shrink"}
    wanted |= {"hint.start", "mentions.all", "relation.and", "relation.or", "clear"}
    assert wanted == ACTIONS


def test_prompts_are_only_there_while_keys_belong_to_the_editor(item, fresh, do):
    assert prompt(fresh) is None
    assert "Span: move" in (prompt(do(item, fresh, "span.grow").state) or "")
    assert "letters" in (prompt(do(item, fresh, "hint.start").state) or "")


def test_an_answer_that_contradicts_itself_is_a_sentence(item):
    odd = EditState(kind=Kind.AGE, heads=((one(1),),))
    assert str(answer(odd, item)).startswith("This answer cannot be saved: ")
    inside = EditState(kind=Kind.REFERENCE, heads=((one(16),),))
    assert str(answer(inside, item)).startswith("This answer cannot be saved: ")
    assert isinstance(answer(EditState(kind=Kind.NFH), item), str)
