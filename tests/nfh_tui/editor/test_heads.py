"""Marking heads by word, by span, by letter, and mention by mention."""

from dataclasses import replace

import pytest

from nfh_db.records import AnchorState, Role
from nfh_models.domain import Answer, Kind, Mention, Origin, Relation, reference_answer
from nfh_tui.editor.commands import act, first_state, key, prompt
from nfh_tui.editor.state import Pending, answer

ADDED, REMOVED = Origin.ADDED, Origin.REMOVED


def one(token, origin=Origin.MARKED):
    return Mention(token, token + 1, token, origin)


def test_space_takes_a_token_and_drops_it_again(item, fresh, do):
    taken = do(item, fresh, "to:5", "head.toggle").state
    assert (taken.kind, taken.heads) == (Kind.REFERENCE, ((one(5),),))
    assert answer(taken, item) == reference_answer([[one(5)]])
    dropped = do(item, taken, "head.toggle")
    assert (dropped.state.heads, dropped.say) == ((), "Head 1, “ropes”, is removed.")


def test_a_token_of_the_same_noun_joins_its_head(item, fresh, do):
    outcome = do(
        item, fresh, "to:1", "head.toggle", "to:5", "head.toggle", "to:29", "head.toggle"
    )
    assert outcome.state.heads == ((one(1), one(29)), (one(5),))
    assert outcome.say == "One more mention of head 1."
    dropped = do(item, outcome.state, "to:1", "head.toggle")
    assert (dropped.state.heads, dropped.say) == (
        ((one(29),), (one(5),)),
        "“tents” is removed.",
    )


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (16, "“one” is the number itself; a head is its missing noun."),
        (13, "“.” is not a word, so it cannot be a head."),
    ],
)
def test_what_cannot_be_a_head_is_refused(item, fresh, token, why):
    state = replace(fresh, cursor=token)
    outcome = act(state, item, "head.toggle")
    assert (outcome.state, outcome.say, outcome.refused) == (state, why, True)


@pytest.mark.parametrize("word", ["%", "€", "5", "[red]", "猫", "m", "🐈"])
def test_signs_and_odd_words_can_be_heads(make, word, do):
    item = make.item(make.passage([("A", f"a {word} or one")]), anchor=(3, 4))
    state = do(item, first_state(item, "me", Role.ANNOTATOR), "to:1", "head.toggle").state
    assert state.heads == ((one(1),),)


def test_advice_on_pronouns_and_other_numbers(make, do):
    item = make.item(siblings=[(26, 27, AnchorState.OPEN)])
    state = first_state(item, "me", Role.ANNOTATOR)
    pronoun = do(item, state, "to:31", "head.toggle")
    assert pronoun.say == "“them” only refers to a noun: mark that noun, if it is there."
    assert pronoun.state.heads == ((one(31),),)
    number = do(item, state, "to:26", "head.toggle")
    assert number.say == "“seven” is a number too: mark its noun."


def test_backspace_drops_the_head_marked_last(item, fresh, do):
    state = do(item, fresh, "to:1", "head.toggle", "to:5", "head.toggle", "relation.and").state
    outcome = do(item, state, "head.drop_last")
    assert (outcome.state.heads, outcome.state.relation) == (((one(1),),), None)
    assert outcome.say == "Head 2, “ropes”, is removed."
    empty = do(item, outcome.state, "head.drop_last").state
    assert do(item, empty, "head.drop_last").say == "No head is marked."


def test_a_relation_needs_two_heads_and_two_heads_need_a_relation(item, fresh, do):
    state = do(item, fresh, "to:1", "head.toggle").state
    for action, name in (("relation.and", "AND"), ("relation.or", "OR")):
        outcome = act(state, item, action)
        assert outcome.refused
        assert outcome.say == f"{name} joins two different heads: mark another one first."
    two = do(item, state, "to:5", "head.toggle").state
    assert answer(two, item) == (
        "Different heads: press & if the number counts them all, | if one or the other, "
        "J if both words mean one thing."
    )
    assert answer(act(two, item, "relation.and").state, item) == reference_answer(
        [[one(1)], [one(5)]], Relation.AND
    )
    both = act(act(two, item, "relation.and").state, item, "relation.or").state
    assert both.relation is Relation.OR


def test_an_unstated_relation_of_an_import_is_asked_for(make):
    item = make.item(votes=[make.vote("me", make.reference(1, 5))])
    state = first_state(item, "me", Role.ANNOTATOR)
    assert state.relation is Relation.UNSTATED
    assert isinstance(answer(state, item), str)
    assert isinstance(answer(act(state, item, "relation.or").state, item), Answer)


def test_two_words_for_one_thing_are_joined(item, fresh, do):
    state = do(item, fresh, "to:1", "head.toggle", "to:5", "head.toggle").state
    joined = do(item, state, "head.join").state
    assert joined.heads == ((one(1), one(5)),)
    assert isinstance(answer(joined, item), Answer)
    assert do(item, joined, "head.join").refused
    more = do(item, joined, "to:41", "head.toggle", "to:29", "head.toggle").state
    assert more.heads == ((one(1), one(5), one(41), one(29)),)


def test_a_span_grows_at_both_ends_and_is_taken(item, fresh, do):
    state = do(item, fresh, "to:10", "span.grow").state
    assert state.span == (10, 11)
    state = do(item, state, "cursor.right").state
    assert (state.span, state.cursor) == ((10, 12), 11)
    state = do(item, state, "span.grow", "cursor.left").state
    assert (state.span, state.cursor) == ((9, 12), 9)
    assert isinstance(answer(state, item), str)
    taken = do(item, state, "head.toggle").state
    assert (taken.heads, taken.span, taken.cursor) == (((Mention(9, 12, 11),),), None, 11)
    assert answer(taken, item) == reference_answer([[Mention(9, 12, 11)]])


def test_the_moving_end_of_a_span_may_pass_the_other(item, fresh, do):
    state = do(item, fresh, "to:10", "span.grow", "cursor.right", "to:7").state
    assert (state.span, state.cursor) == ((7, 11), 7)


@pytest.mark.parametrize(
    ("words", "head"),
    [
        ("the good tents of the army", 2),
        ("two hours of rest", 1),
        ("people who sing", 0),
        ("soup kitchen", 1),
        ("of the tents", 2),
        ("we all", 1),
    ],
)
def test_the_head_of_a_span(make, words, head, do):
    count = len(words.split())
    item = make.item(make.passage([("A", f"{words} or one")]), anchor=(count + 1, count + 2))
    state = first_state(item, "me", Role.ANNOTATOR)
    state = do(item, state, "to:0", "span.grow", f"to:{count - 1}", "head.toggle").state
    assert state.heads == ((Mention(0, count, head),),)


def test_a_span_holds_no_part_of_the_number(make, item, fresh, do):
    scored = make.item(scores={19: 0.5, 1: 0.4})
    around = do(scored, fresh, "to:15", "span.grow", "to:19").state
    refused = act(around, scored, "head.toggle")
    assert (refused.refused, refused.state) == (True, around)
    assert "contains the number itself" in refused.say
    only = do(item, fresh, "span.grow").state
    outcome = act(only, item, "head.toggle")
    assert (outcome.refused, outcome.state) == (True, only)
    assert outcome.say == "“one” contains the number itself; a head is its missing noun."


def test_a_span_stays_in_one_turn(item, fresh, do):
    state = do(item, fresh, "span.grow").state
    for action in ("cursor.next_turn", "to:29", "to:0"):
        outcome = do(item, state, action)
        assert (outcome.refused, outcome.state) == (True, state)


def test_ways_out_of_a_span(item, fresh, do):
    state = do(item, fresh, "span.grow").state
    assert state.touched
    for way in ("key:escape", "span.drop", "head.drop_last"):
        assert do(item, state, way).state == fresh
    assert key(fresh, item, "escape", None) is None
    assert key(state, item, "x", "x") is None


def test_growing_over_a_marked_noun_widens_its_mention(item, fresh, do):
    state = do(item, fresh, "to:11", "head.toggle", "to:10", "span.grow", "to:11").state
    wide = do(item, state, "head.toggle").state
    assert wide.heads == ((Mention(10, 12, 11),),)
    assert do(item, wide, "to:10", "head.toggle").state.heads == ()
    taken_up = do(item, wide, "to:10", "span.grow").state
    assert (taken_up.span, taken_up.cursor) == ((10, 12), 10)
    assert do(item, taken_up, "head.toggle").state.heads == ()
    assert do(item, taken_up, "to:9", "head.toggle").state.heads == ((Mention(9, 12, 11),),)


def test_mentions_are_offered_one_by_one(item, fresh, do):
    asked = do(item, fresh, "to:1", "head.toggle", "mentions.all")
    assert asked.state.pending is Pending.REVIEW
    assert asked.state.review is not None
    assert (asked.state.review.tokens, asked.state.cursor) == ((11, 29), 11)
    assert prompt(asked.state) == (
        "Same noun? “the good tents” t1 noun: y add, n leave out, a all 2, esc stop"
    )
    added = do(item, asked.state, "key:y", "key:n")
    assert added.state.heads == ((one(1), one(11, ADDED)),)
    assert (added.state.pending, added.state.cursor) == (None, 1)
    assert added.say == "Head 1 now has 2 places."
    by_space = do(item, asked.state, "key:n", "key:space").state
    assert by_space.heads == ((one(1), one(29, ADDED)),)
    all_at_once = do(item, asked.state, "key:a").state
    assert all_at_once.heads == ((one(1), one(11, ADDED), one(29, ADDED)),)
    stopped = do(item, asked.state, "key:y", "key:escape").state
    assert stopped.heads == ((one(1), one(11, ADDED)),)


def test_a_mention_on_the_list_that_is_refused_becomes_a_removed_one(item, fresh, do):
    state = do(item, fresh, "to:1", "head.toggle", "mentions.all", "key:a").state
    refused = do(item, state, "mentions.all", "key:n", "key:y").state
    assert refused.heads == ((one(1), one(29, ADDED), one(11, REMOVED)),)
    made = answer(refused, item)
    assert isinstance(made, Answer)
    assert made.head_tokens() == (1, 29)
    back = do(item, refused, "mentions.all", "key:y", "key:y").state
    assert back.heads == ((one(1), one(29, ADDED), one(11, ADDED)),)
    by_space = do(item, state, "to:11", "head.toggle").state
    assert by_space.heads == ((one(1), one(29, ADDED), one(11, REMOVED)),)
    marked = do(item, by_space, "to:11", "head.toggle").state
    assert marked.heads == ((one(1), one(11), one(29, ADDED)),)


def test_a_head_without_its_marked_mention_marks_the_nearest_added_one(item, fresh, do):
    state = do(item, fresh, "to:1", "head.toggle", "mentions.all", "key:a").state
    dropped = do(item, state, "to:1", "head.toggle").state
    assert dropped.heads == ((one(11), one(29, ADDED)),)


def test_the_review_is_of_the_head_under_the_cursor_else_the_last(item, fresh, do):
    two = do(item, fresh, "to:1", "head.toggle", "to:5", "head.toggle").state
    assert do(item, two, "to:1", "mentions.all").state.review.tokens == (11, 29)
    assert do(item, two, "cursor.anchor", "mentions.all").state.review.tokens == (41,)


def test_the_review_is_refused_where_there_is_nothing_to_offer(item, fresh, do):
    assert do(item, fresh, "mentions.all").refused
    outcome = do(item, fresh, "to:19", "head.toggle", "mentions.all")
    assert (outcome.refused, outcome.say) == (True, "No other “men” is here.")
    reviewed = do(item, fresh, "to:1", "head.toggle", "mentions.all").state
    assert do(item, reviewed, "key:q").refused
    assert key(reviewed, item, "f4", None) is None
    assert do(item, reviewed, "key:enter").state.pending is None
