"""Letters for what is in view, words that others marked, and answers to the old span."""

from dataclasses import replace

import pytest

from nfh_db.records import Role, Vote
from nfh_models.domain import Kind, Mention, class_answer, reference_answer
from nfh_tui.editor.commands import MOST_NOUNS, act, follow, key, next_head
from nfh_tui.editor.state import EditState, blinded
from nfh_tui.editor.votes import adoptable, annotators_votes, shown_reason

AT = "2025-03-04T05:06:07.000Z"


def vote(name, answer):
    return Vote(name, Role.ANNOTATOR, answer, AT)


def marking(token):
    return reference_answer([[Mention(token, token + 1, token)]])


@pytest.fixture
def far(make):
    """A long passage with the number at its end; somebody marked a word at its start."""
    item = make.item(
        make.passage([("A", " ".join(["tents", "and"] * 600)), ("B", "take two now")]),
        anchor=(1201, 1202),
    )
    return replace(item, votes=(vote("ann1", marking(2)),), stale_votes=(), gold=None)


@pytest.fixture
def judging():
    return EditState(cursor=1201, role=Role.ADJUDICATOR)


def test_words_in_view_have_letters_first_and_marked_ones_too(far, judging):
    view = range(400, 440)
    made = act(judging, far, "hint.start", view=view).state
    lettered = dict(made.hints)
    assert len(lettered) == MOST_NOUNS
    assert all(token in lettered for token in range(400, 440, 2))
    assert 2 in lettered
    singles = {token for token, letters in made.hints if len(letters) == 1}
    assert singles <= set(range(400, 440, 2))
    assert len(singles) > 15
    assert 400 not in dict(act(judging, far, "hint.start").state.hints)


def test_all_words_begin_with_those_in_view(far, judging):
    view = range(40)
    nouns = act(judging, far, "hint.start", view=view).state
    words = key(nouns, far, "f", "f", view).state
    assert words.all_words
    assert all(token in dict(words.hints) for token in view)


def test_letters_follow_the_view_until_one_is_typed(far, judging):
    made = act(judging, far, "hint.start", view=range(400, 440)).state
    moved = follow(made, far, range(800, 840)).state
    assert all(token in dict(moved.hints) for token in range(800, 840, 2))
    typed = replace(made, typed="b")
    assert follow(typed, far, range(800, 840)).state == typed
    assert follow(judging, far, range(800, 840)).state == judging


def test_letters_stay_while_all_words_in_view_have_one(make):
    item = make.item()
    state = EditState(cursor=16, role=Role.ADJUDICATOR)
    made = act(state, item, "hint.start", view=range(14)).state
    assert act(state, item, "hint.start", view=range(28, 43)).state.hints != made.hints
    assert follow(made, item, range(28, 43)).state == made
    words = key(made, item, "f", "f", range(14)).state
    assert follow(words, item, range(28, 43)).state == words


def test_it_is_said_when_no_word_in_view_can_have_letters(far, judging):
    outcome = act(judging, far, "hint.start", view=range(1201, 1202))
    assert "No word in view" in outcome.say
    assert outcome.state.hints


def test_an_annotators_letters_do_not_tell_what_others_marked(far, judging):
    me = replace(judging, role=Role.ANNOTATOR)
    alone = replace(far, votes=())
    view = range(400, 440)
    seen = act(me, far, "hint.start", view=view).state.hints
    assert seen == act(me, alone, "hint.start", view=view).state.hints


def test_the_next_marked_word_is_a_voters_where_none_is_ones_own(far, judging):
    assert next_head(judging, far, 1).state.cursor == 2
    assert next_head(replace(judging, role=Role.ANNOTATOR), far, 1).refused
    own = act(replace(judging, cursor=4), far, "head.toggle").state
    assert next_head(replace(own, cursor=9), far, 1).state.cursor == 4


# --- answers to the old span ----------------------------------------------------------------


def test_an_answer_to_the_old_span_is_adopted_by_its_digit(far, judging):
    old = replace(far, votes=(), stale_votes=far.votes)
    outcome = act(judging, old, "adopt.1")
    assert not outcome.refused
    assert outcome.state.heads == ((Mention(2, 3, 2),),)
    assert outcome.state.reason == "answer 1 to the old span"
    both = replace(old, votes=(vote("ann2", class_answer(Kind.TIME)),))
    assert act(judging, both, "adopt.1").state.kind is Kind.TIME
    assert act(judging, both, "adopt.2").state.reason == "answer 2 to the old span"
    assert act(judging, old, "adopt.2").refused


# --- blind ----------------------------------------------------------------------------------


def test_an_answer_adopted_blind_keeps_its_giver_when_names_come_back(far, judging):
    kinds = (Kind.TIME, Kind.AGE, Kind.YEAR, Kind.PEOPLE)
    votes = tuple(vote(f"ann{n}", class_answer(kind)) for n, kind in enumerate(kinds, 1))
    items = [
        replace(far, public_id=letter * 32, votes=votes, stale_votes=()) for letter in "abc"
    ]
    moved = 0
    for item in items:
        unseen = blinded(item)
        for number in range(1, 5):
            made = act(judging, unseen, f"adopt.{number}").state
            assert shown_reason(made.reason, unseen, made.adopted) == f"answer {number}"
            shown = shown_reason(made.reason, item, made.adopted)
            there = annotators_votes(item)[int(shown.removeprefix("answer ")) - 1]
            assert there.answer.kind is made.kind
            moved += shown != f"answer {number}"
            back = act(judging, item, f"adopt.{number}").state
            hidden = shown_reason(back.reason, unseen, back.adopted)
            place = int(hidden.removeprefix("answer ")) - 1
            assert adoptable(unseen)[place].answer.kind is back.kind
    assert moved
