"""A choice becomes an answer: heads, mentions, relation."""

import random

import pytest

from nfh_models.domain import IMPLICIT_KINDS, Kind, Origin, Relation
from nfh_models.resolution.base import Choice, Several
from nfh_models.resolution.heads import decode

from .handmade import choice_of, item_of, nouns, place

ONE = Several(0.9, 0.05, 0.05)
BOTH = Several(0.1, 0.8, 0.1)
EITHER = Several(0.1, 0.2, 0.7)


@pytest.mark.parametrize("kind", IMPLICIT_KINDS)
def test_a_class_is_an_answer_without_heads(kind: Kind):
    item = item_of("The cat is [ nine ] .")
    answer = decode(item, Choice(kind.value, "1", None, ()))
    assert answer.kind is kind
    assert answer.heads == ()


def test_all_mentions_of_the_noun_are_one_head_and_the_chosen_one_is_marked():
    item = item_of("A tent ! My Tents leak .", "Buy a tent , borrow [ one ] .")
    answer = decode(item, choice_of(item, {"Tents": 1.0}))
    assert nouns(item, answer) == [["Tents", "tent", "tent"]]
    origins = [mention.origin for mention in answer.heads[0].mentions]
    assert origins == [Origin.MARKED, Origin.ADDED, Origin.ADDED]
    assert answer.relation is None


def test_verb_forms_are_no_mentions_unless_one_was_chosen():
    item = item_of("She kissed me . A kiss ! Kisses , kissing .", "I want [ one ] .")
    assert nouns(item, decode(item, choice_of(item, {"kiss": 1.0}))) == [["kiss", "Kisses"]]
    assert nouns(item, decode(item, choice_of(item, {"kissed": 1.0})))[0][0] == "kissed"


def test_the_anchor_is_no_mention_of_its_own_word():
    item = item_of("The four of hearts , the four of clubs .", "I have [ four ] .")
    answer = decode(item, choice_of(item, {"four": 1.0}))
    assert item.anchor.start not in answer.head_tokens()
    assert len(answer.head_tokens()) == 2


def test_one_head_where_the_recipe_says_one_whatever_the_words_say():
    item = item_of("The wine or the beer ?", "I will have [ one ] .")
    answer = decode(item, choice_of(item, {"wine": 0.5, "beer": 0.5}, ONE))
    assert nouns(item, answer) == [["wine"]]


@pytest.mark.parametrize(("several", "relation"), [(BOTH, "AND"), (EITHER, "OR")])
def test_the_next_best_noun_is_added_where_the_recipe_says_several(several, relation):
    item = item_of("A dog , a cat on the mat .", "I like the [ two ] .")
    scores = {"dog": 0.5, "cat": 0.3, "mat": 0.01}
    answer = decode(item, choice_of(item, scores, several))
    assert nouns(item, answer) == [["dog"], ["cat"]]
    assert answer.relation is Relation(relation)


def test_nouns_side_by_side_come_before_one_with_a_higher_score():
    item = item_of("A dog or a cat sat on the mat .", "I like [ one ] .")
    scores = {"dog": 0.6, "mat": 0.2, "cat": 0.1}
    assert nouns(item, decode(item, choice_of(item, scores, EITHER))) == [["dog"], ["cat"]]
    scores["cat"] = 0.000001
    assert nouns(item, decode(item, choice_of(item, scores, EITHER))) == [["dog"], ["mat"]]


def test_mentions_of_one_noun_count_together_in_the_choice_of_the_second():
    item = item_of("A mat . A dog , a cat . No cats !", "I like the [ two ] .")
    scores = {"dog": 0.5, "mat": 0.2, "cat": 0.15, "cats": 0.15}
    assert nouns(item, decode(item, choice_of(item, scores, BOTH)))[1] == ["cat", "cats"]


def test_two_counts_two_and_more_may_be_of_as_many_kinds():
    scores = {"dog": 0.4, "cat": 0.3, "hen": 0.2}
    for number, heads in (("two", 2), ("three", 3), ("90", 3)):
        item = item_of("A dog , a cat , a hen .", f"I see [ {number} ] .")
        assert len(decode(item, choice_of(item, scores, BOTH)).heads) == heads


def test_several_with_no_second_candidate_is_one_head():
    item = item_of("A dog .", "The [ two ] .")
    answer = decode(item, choice_of(item, {"dog": 1.0}, BOTH))
    assert nouns(item, answer) == [["dog"]]
    assert answer.relation is None


@pytest.mark.parametrize("wrong", ["5", "99", "-1"])
def test_a_token_that_cannot_be_a_head_is_refused(wrong: str):
    item = item_of("A dog .", "The [ two ] .")
    assert item.anchor.start == 4
    wrong = "4" if wrong == "5" else wrong
    with pytest.raises(ValueError, match="not a token that can be a head, outside the anchor"):
        decode(item, Choice(wrong, None, None, ()))


def test_a_score_that_is_missing_or_short_does_no_harm():
    item = item_of("A dog , a cat .", "The [ two ] .")
    for scores in ((), (None,) * 6, (None,) * 7, (0.1,) * 90):
        answer = decode(item, Choice("1", None, None, scores, BOTH))
        assert answer.heads[0].mentions[0].head == 1


def test_any_choice_at_any_place_gives_an_answer_that_holds():
    words = "the dog or a cat , and one dog ; hens and the hen barked . ' ? - 3".split()
    chance = random.Random(5)
    for size in (*range(2, 30), 1_300):
        said = [chance.choice(words) for _ in range(size)]
        start = chance.randrange(size)
        end = min(size, start + chance.choice((1, 1, 3)))
        if end - start == size:
            continue
        said.insert(end, "]")
        said.insert(start, "[")
        item = item_of(" ".join(said))
        scores = tuple(chance.choice((None, 0.0, chance.random())) for _ in range(size + 6))
        free = [token for token in range(size) if not start <= token < end]
        for token in (free[0], free[-1], chance.choice(free)):
            for several in (None, ONE, BOTH, EITHER):
                answer = decode(item, Choice(str(token), None, None, scores, several))
                assert answer.heads[0].mentions[0].head == token
                answer.check(size, start, end)
                assert len({m.head for m in answer.mentions()}) == len(answer.head_tokens())


def test_a_choice_at_either_end_of_the_passage():
    item = item_of("Dogs ! I have [ two ] . Dogs")
    last = len(item.passage.tokens) - 1
    for token in (0, last):
        answer = decode(item, Choice(str(token), None, None, ()))
        assert answer.head_tokens() == (0, last)
        assert answer.heads[0].mentions[0].head == token
    assert place(item, "Dogs") == 0
