"""Several heads by words, for recipes that do not say how many there are."""

import pytest

from nfh_models.domain import Relation
from nfh_models.resolution.base import Choice
from nfh_models.resolution.heads import (
    COUNTED,
    EITHER,
    ONE_OR,
    coordination_of,
    decode,
    several_by_words,
)

from .handmade import choice_of, item_of, nouns, place


def flat(item) -> list[float]:
    """All words are equally good candidates."""
    return [1.0] * len(item.passage.tokens)


def said(noun: str, *turns: str):
    """The rule that holds, the nouns, the relation; None for one head."""
    item = item_of(*turns)
    found = coordination_of(item, flat(item), place(item, noun))
    rule = found and several_by_words(item, found)
    if rule is None:
        return None
    return rule.rule, [item.passage.word(token) for token in rule.members], rule.relation


@pytest.mark.parametrize("noun", ["wine", "beer"])
def test_one_of_two_joined_by_or(noun: str):
    found = said(noun, "The wine or the red beer ?", "I will have [ one ] .")
    assert found == (ONE_OR, ["wine", "beer"], Relation.OR)


@pytest.mark.parametrize("number", ["the [ two ]", "[ 2 ]", "those [ two ]"])
def test_as_many_as_there_are_counts_them_all(number: str):
    found = said("cat", "I keep a dog and a cat .", f"Do {number} get along ?")
    assert found == (COUNTED, ["dog", "cat"], Relation.AND)


def test_or_joins_what_the_two_counts_together():
    found = said("sea", "The mountains or the sea ?", "Between the [ two ] , I sleep .")
    assert found == (COUNTED, ["mountains", "sea"], Relation.AND)


def test_a_list_with_commas_is_found_from_each_of_its_nouns():
    for noun in ("fox", "goose", "cheese"):
        found = said(noun, "A fox , a goose and a soft cheese .", "All [ three ] are gone .")
        assert found == (COUNTED, ["fox", "goose", "cheese"], Relation.AND)


def test_and_may_be_one_of_them_where_the_words_say_so():
    found = said("hat", "A hat and a coat .", "I can buy just [ one ] .")
    assert found == (EITHER, ["hat", "coat"], Relation.OR)


@pytest.mark.parametrize(
    ("noun", "turns"),
    [
        ("drill", ("A ladder and a drill .", "My uncle has [ one ] .")),
        ("potatoes", ("The onions and the potatoes .", "I peeled [ two ] .")),
        ("goats", ("A dog and some goats .", "I saw [ eleven ] .")),
        ("fox", ("A fox , a goose , a hen .", "[ Three ] ran .")),
        ("boat", ("The small boat or the big [ one ] ?",)),
        ("coat", ("A coat , or what about a hat ?", "He wants [ one ] .")),
        ("dog", ("I see a dog or I see nothing .", "Only [ one ] .")),
        ("dog", ("I have a dog .", "Or a cat ?", "I have [ one ] .")),
    ],
)
def test_one_head_where_the_words_do_not_ask_for_more(noun: str, turns: tuple[str, ...]):
    assert said(noun, *turns) is None


def test_nouns_that_the_recipe_thinks_nothing_of_are_not_added():
    item = item_of("The wine or the beer ?", "I will have [ one ] .")
    low = decode(item, choice_of(item, {"wine": 0.9, "beer": 0.000001}))
    high = decode(item, choice_of(item, {"wine": 0.9, "beer": 0.001}))
    none = decode(item, choice_of(item, {"wine": 0.9}))
    assert nouns(item, low) == nouns(item, none) == [["wine"]]
    assert nouns(item, high) == [["wine"], ["beer"]]
    assert high.relation is Relation.OR


def test_one_noun_named_twice_is_one_head():
    item = item_of("A red hat or a blue hat ?", "Just [ one ] .")
    scores = (None,) * 6 + (1.0,) * len(item.passage.tokens)
    assert nouns(item, decode(item, Choice("2", None, None, scores))) == [["hat", "hat"]]


def test_a_word_that_the_parse_calls_a_verb_is_no_noun_of_a_list():
    from dataclasses import replace

    from nfh_models.parsing.base import Parsed

    item = item_of("Words or run ?", "Take [ one ] .")
    noun = place(item, "Words")
    assert coordination_of(item, flat(item), noun) is not None
    words = [item.passage.word(token) for token in range(len(item.passage.tokens))]
    tags = ["NOUN", "CCONJ", "VERB", "PUNCT", "VERB", "NUM", "PUNCT"]
    tagged = replace(item, parsed=Parsed(words, pos=tags))
    assert coordination_of(tagged, flat(item), noun) is None
