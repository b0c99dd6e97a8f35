"""Letters on candidates: which words have them, in which order, and what they pick."""

from dataclasses import replace

import pytest

from nfh_db.records import Role
from nfh_models.domain import Kind, Mention, Relation
from nfh_tui.editor.commands import (
    LETTERS,
    MORE,
    MOST_WORDS,
    act,
    candidates,
    dump,
    first_state,
    key,
    labels,
    load,
    open_hints,
    prompt,
)
from nfh_tui.editor.state import AnswerSource, Pending
from nfh_tui.widgets.evidence_rows import answer_words


def one(token):
    return Mention(token, token + 1, token)


def test_letters_start_with_the_nearest_noun_before(item, fresh, do):
    waiting = do(item, fresh, "hint.start").state
    assert waiting.pending is Pending.HINT
    assert dict(waiting.hints) == {
        15: "j", 11: "d", 19: "k", 5: "s", 2: "l", 1: "a", 22: "h", 29: "g", 38: "e", 41: "i",
    }  # fmt: skip
    picked = do(item, waiting, "key:d").state
    assert (picked.pending, picked.hints) == (None, ())
    assert (picked.kind, picked.heads, picked.cursor) == (Kind.REFERENCE, ((one(11),),), 11)
    again = do(item, picked, "hint.start", "key:s").state
    assert again.heads == ((one(11),), (one(5),))
    assert do(item, again, "hint.start", "key:s").state.heads == ((one(11),),)


def test_an_adjudicators_letters_follow_the_model_and_an_annotators_do_not(make):
    item = make.item(scores={1: 0.2, 11: 0.1, 29: 0.7, 16: 0.9})
    assert candidates(item) == candidates(item, Role.ADJUDICATOR) == (1, 11, 29)
    wise = act(first_state(item, "me", Role.ADJUDICATOR), item, "hint.start").state
    blind = act(first_state(item, "me", Role.ANNOTATOR), item, "hint.start").state
    assert dict(wise.hints) == {29: "j", 1: "d", 11: "k"}
    assert dict(blind.hints) == {11: "j", 1: "d", 29: "k"}


@pytest.mark.parametrize("count", [0, 1, 25, 26, 60, 300, 625, 900])
def test_labels_are_all_different_and_none_begins_another(count):
    made = labels(count)
    assert len(made) == min(count, MOST_WORDS)
    assert len(set(made)) == len(made)
    assert not any(one != two and two.startswith(one) for one in made for two in made)
    assert set("".join(made)) <= set(LETTERS)
    assert list(map(len, made)) == sorted(map(len, made))


def test_two_letters_narrow_and_backspace_widens(make, do):
    words = " ".join(f"noun{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60))
    item = make.item(make.passage([("A", f"{words} one")]), anchor=(60, 61))
    waiting = do(item, first_state(item, "me", Role.ANNOTATOR), "hint.start").state
    token, label = next(hint for hint in waiting.hints if len(hint[1]) == 2)
    half = do(item, waiting, f"key:{label[0].upper()}").state
    assert half.typed == label[0]
    assert (token, label[1]) in open_hints(half)
    assert len(open_hints(half)) < 30
    assert do(item, half, "key:backspace").state == waiting
    assert do(item, half, f"key:{label[1]}").state.heads == ((one(token),),)


def test_in_a_long_passage_only_the_best_candidates_get_letters(make, do):
    words = "tents " * 400 + "one"
    item = make.item(make.passage([("A", words)]), anchor=(400, 401))
    waiting = do(item, first_state(item, "me", Role.ANNOTATOR), "hint.start").state
    assert [token for token, _ in waiting.hints] == list(range(250, 400))
    assert sum(len(label) == 1 for _, label in waiting.hints) == 19


def test_a_second_f_goes_to_all_words_and_a_third_back(item, fresh, do):
    nouns = do(item, fresh, "hint.start").state
    every = do(item, nouns, "key:f").state
    assert MORE == "f"
    assert MORE not in "".join(label for _, label in every.hints)
    assert (nouns.all_words, every.all_words) == (False, True)
    given = dict(every.hints)
    assert {token: given[token] for token, _ in nouns.hints} == dict(nouns.hints)
    words = {item.passage.word(token) for token in given}
    assert {"My", "gone", "have", "seven", "them"} <= words
    assert not words & {",", ".", "?", "one"}
    assert prompt(every) != prompt(nouns)
    assert do(item, every, "key:f").state == nouns
    picked = do(item, every, *(f"key:{letter}" for letter in given[31])).state
    assert picked.heads == ((one(31),),)
    assert load(dump(every), item).hints == every.hints


def test_in_a_long_passage_the_words_around_the_cursor_have_letters(make, do):
    item = make.item(make.passage([("A", "of tent " * 650 + "one")]), anchor=(1300, 1301))
    state = do(
        item, first_state(item, "me", Role.ANNOTATOR), "to:200", "hint.start", "key:f"
    ).state
    tokens = [token for token, _ in state.hints]
    assert (len(tokens), min(tokens), max(tokens)) == (MOST_WORDS, 0, MOST_WORDS - 1)
    far = do(
        item, first_state(item, "me", Role.ANNOTATOR), "to:700", "hint.start", "key:f"
    ).state
    assert {token for token, _ in far.hints} == set(range(388, 1013))


def test_a_model_that_scores_every_word_does_not_make_every_word_a_noun(make):
    scores = {token: 0.0 for token in range(43) if token != 16} | {3: 0.5, 5: 0.3, 14: 0.05}
    item = make.item(scores=scores, votes=[make.vote("ann1", make.reference(34))])
    nouns = (1, 2, 5, 11, 15, 19, 22, 29, 38, 41)
    assert candidates(item) == nouns
    assert candidates(item, Role.ADJUDICATOR) == tuple(sorted({*nouns, 3, 34}))
    letters = dict(
        act(first_state(item, "me", Role.ADJUDICATOR), item, "hint.start").state.hints
    )
    assert (letters[3], letters[5], 14 in letters) == ("j", "d", False)


@pytest.mark.parametrize(
    ("words", "nouns"),
    [
        ("We started with a flock of geese , and the fox left us", "flock geese fox"),
        ("You guys hardly see Anna and her little brothers", "guys Anna brothers"),
        ("He looks like the older men , who looked careful", "men"),
        ("The meeting is long , but stop meeting people", "meeting people"),
        ("It would cost a fortune to carry , could n't manage", "fortune"),
    ],
)
def test_without_a_tagger_verbs_and_adjectives_seldom_have_letters(make, words, nouns):
    lemmas = {"started": "start", "geese": "goose", "left": "leave", "guys": "guy"}
    lemmas |= {"looks": "look", "looked": "look", "meeting": "meet", "older": "old"}
    passage = make.passage([("A", f"{words} one")])
    tokens = tuple(
        replace(token, lemma=lemmas.get(passage.word(place), token.lemma))
        for place, token in enumerate(passage.tokens)
    )
    last = len(tokens) - 1
    item = make.item(replace(passage, tokens=tokens), anchor=(last, last + 1))
    assert [passage.word(token) for token in candidates(item)] == nouns.split()


def test_sixty_nouns_have_letters_the_nearest_single_ones(make, do):
    words = " ".join(f"noun{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60))
    item = make.item(make.passage([("A", f"{words} one")]), anchor=(60, 61))
    hints = dict(do(item, first_state(item, "me", Role.ANNOTATOR), "hint.start").state.hints)
    singles = sorted((token for token, label in hints.items() if len(label) == 1), reverse=True)
    assert singles == [*range(59, 59 - len(singles), -1)]
    assert "".join(hints[token] for token in singles[:8]) == "jdkslahg"
    assert len(hints) == 60


def test_keys_that_are_no_letters_of_a_hint(item, fresh, do):
    waiting = do(item, fresh, "hint.start").state
    unknown = do(item, waiting, "key:z")
    assert (unknown.refused, unknown.state) == (True, waiting)
    assert do(item, waiting, "key:enter").refused
    assert do(item, waiting, "key:escape").state == fresh
    assert do(item, waiting, "key:backspace").state == fresh
    assert key(waiting, item, "f3", None) is None
    assert do(item, waiting, "cursor.left").state.pending is None


# --- the first mark on a proposal -------------------------------------------------------------


@pytest.fixture
def offered(make):
    """An item whose proposal is "tents", with the editor's first state."""
    item = make.item(votes=make.three(*[make.reference(1)] * 3))
    state = first_state(item, "me", Role.ADJUDICATOR)
    assert (state.source, state.content.heads[0][0].head) == (AnswerSource.PROPOSAL, 1)
    return item, state


def lettered(item, state, token):
    """The outcome of `f` and the letters at a token."""
    outcome = act(state, item, "hint.start")
    for letter in dict(outcome.state.hints)[token]:
        outcome = key(outcome.state, item, letter, letter)
    return outcome


def heads_of(state):
    return [[mention.head for mention in head] for head in state.heads]


def test_the_first_mark_replaces_what_is_proposed_and_the_next_is_added(offered):
    item, state = offered
    first = lettered(item, state, 5)
    assert heads_of(first.state) == [[5]]
    assert first.say == "“ropes” replaces the proposal; f again adds a head."
    second = lettered(item, first.state, 19)
    assert heads_of(second.state) == [[5], [19]]
    assert second.say.startswith("2 heads: ")
    assert answer_words(item, second.state, False)[0].startswith("2 heads · ")
    # A head that you marked loses its mark.
    assert heads_of(lettered(item, second.state, 19).state) == [[5]]


def test_the_proposed_noun_is_kept_and_the_next_is_added(offered):
    item, state = offered
    kept = lettered(item, state, 1)
    assert heads_of(kept.state) == [[1]]
    assert kept.say == "“tents” is kept; f again adds a head."
    assert heads_of(lettered(item, kept.state, 5).state) == [[1], [5]]


def test_another_mention_of_the_proposed_noun_joins_it(offered):
    item, state = offered
    assert heads_of(lettered(item, state, 11).state) == [[1, 11]]


def test_space_adds_to_what_is_proposed(offered, do):
    item, state = offered
    assert heads_of(do(item, state, "to:5", "head.toggle").state) == [[1], [5]]
    assert heads_of(do(item, state, "to:1", "head.toggle").state) == []


def test_one_of_two_proposed_heads_is_kept_alone(make):
    item = make.item(votes=make.three(*[make.reference(1, 5, relation=Relation.OR)] * 3))
    state = first_state(item, "me", Role.ADJUDICATOR)
    kept = lettered(item, state, 5).state
    assert (heads_of(kept), kept.relation) == ([[5]], None)


def test_what_one_adopted_or_saved_is_added_to(make, do):
    votes = make.three(*[make.reference(1)] * 3)
    item = make.item(votes=votes)
    state = do(item, first_state(item, "me", Role.ADJUDICATOR), "adopt.1").state
    assert heads_of(lettered(item, state, 5).state) == [[1], [5]]
    mine = make.item(votes=[make.vote("me", make.reference(1))])
    state = first_state(mine, "me", Role.ANNOTATOR)
    assert heads_of(lettered(mine, state, 5).state) == [[1], [5]]
