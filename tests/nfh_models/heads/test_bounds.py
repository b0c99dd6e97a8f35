"""Phrases of heads from dependencies or constituents."""

from dataclasses import replace

import pytest

from nfh_models.parsing.base import Parsed, ParseLayer, Parser, Tree, WordSpan, load_parser
from nfh_models.resolution.base import Choice, Item
from nfh_models.resolution.heads import decode, phrase_of

from .handmade import item_of, place


@pytest.fixture(scope="module")
def parser() -> Parser:
    """The installed pipeline."""
    return load_parser(wanted=frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY}))


def parsed(item: Item, parser: Parser, start: int = 0) -> Item:
    """The item with the parse of its tokens from `start` on."""
    [found] = parser.parse([WordSpan.of(item.passage, start)])
    return replace(item, parsed=found, parsed_from=start)


def phrase(item: Item, noun: str) -> str:
    """The words of the phrase of a noun."""
    return item.passage.words(*phrase_of(item, place(item, noun)))


def hung(item: Item, hangs: str) -> Item:
    """The item with dependencies: "word:governor:relation", a token's number where not 0."""
    size = len(item.passage.tokens)
    words = [item.passage.word(token) for token in range(size)]
    heads, relations = list(range(size)), ["root"] * size
    for hang in hangs.split():
        word, governor, relation = hang.split("/")
        heads[place(item, word)] = place(item, governor)
        relations[place(item, word)] = relation
    return replace(item, parsed=Parsed(words, heads=heads, relations=relations))


HOUSE = (
    "the/house/det big/house/amod house/sold/dobj with/house/prep roof/with/pobj a/roof/det "
)
LOVE = "that/love/dobj I/love/nsubj love/house/relcl and/house/cc barn/house/conj my/barn/poss"


def test_what_hangs_on_a_noun_belongs_to_it_but_no_clause_and_no_second_noun():
    item = item_of("sold the big house with a roof that I love and my barn", "[ One ] .")
    item = hung(item, HOUSE + LOVE)
    assert phrase(item, "house") == "the big house with a roof"
    assert phrase(item, "roof") == "a roof"
    assert phrase(item, "barn") == "my barn"


def test_a_predicate_is_its_noun_phrase_alone():
    item = item_of("that is the good wine in town !", "Just [ one ] .")
    hangs = "that/wine/nsubj is/wine/cop the/wine/det good/wine/amod in/town/case "
    item = hung(item, hangs + "town/wine/nmod !/wine/punct")
    assert phrase(item, "wine") == "the good wine in town"
    assert phrase(item, "town") == "town"


def test_a_phrase_ends_before_the_anchor_and_at_the_end_of_its_turn():
    item = item_of("I had two", "old hours , [ two ] long hours", "of rest")
    item = hung(item, "two/hours/nummod old/hours/amod of/hours/prep rest/of/pobj")
    assert phrase(item, "hours") == "old hours"
    last = item.anchor.end + 1
    heads = list(range(len(item.passage.tokens)))
    heads[item.anchor.start] = heads[last - 1] = heads[last + 1] = last
    assert item.parsed is not None
    relations = ["amod"] * (last + 1) + ["prep"] * (len(heads) - last - 1)
    item = replace(item, parsed=replace(item.parsed, heads=heads, relations=relations))
    assert phrase_of(item, last) == (item.anchor.end, last + 1)


def test_mentions_of_an_answer_have_the_bounds_of_their_phrases(parser: Parser):
    item = item_of("He bought the red car .", "I wanted a car .", "Buy [ one ] .")
    answer = decode(parsed(item, parser), Choice("4", None, None, ()))
    found = [item.passage.words(m.start, m.end) for m in answer.heads[0].mentions]
    assert found == ["the red car", "a car"]


def test_what_the_parse_does_not_hold_is_the_token_alone(parser: Parser):
    item = item_of("He bought the red car .", "Buy [ one ] .")
    car = place(item, "car")
    assert phrase_of(item, car) == (car, car + 1)
    later = parsed(item, parser, 6)
    assert phrase_of(later, car) == (car, car + 1)
    assert phrase_of(parsed(item, parser, 1), car) == (2, 5)


WORDS = "I sold the big house in town that he built , the red one".split()


def leaf(tag: str, at: int) -> Tree:
    """A tag over one token."""
    return Tree(tag, at, at + 1)


NOUNS = Tree("NP", 2, 5, (leaf("DT", 2), leaf("JJ", 3), leaf("NN", 4)))
PLACE = Tree("PP", 5, 7, (leaf("IN", 5), Tree("NP", 6, 7, (leaf("NN", 6),))))
CLAUSE = Tree(
    "SBAR", 7, 10, (leaf("WDT", 7), Tree("S", 8, 10, (leaf("PRP", 8), leaf("VBD", 9))))
)
OUTER = Tree("NP", 2, 10, (Tree("NP", 2, 7, (NOUNS, PLACE)), CLAUSE))
SENTENCE = Tree("S", 0, 10, (Tree("NP", 0, 1, (leaf("PRP", 0),)),
                             Tree("VP", 1, 10, (leaf("VBD", 1), OUTER))))  # fmt: skip


def of_trees(item: Item, *trees: Tree) -> Item:
    """The item with constituents."""
    words = [item.passage.word(token) for token in range(len(item.passage.tokens))]
    return replace(item, parsed=Parsed(words, trees=trees))


def test_constituents_give_the_largest_phrase_of_the_noun_without_its_clause():
    item = of_trees(item_of(" ".join(WORDS[:10]), "Buy [ one ] ."), SENTENCE)
    assert phrase(item, "house") == "the big house in town"
    assert phrase(item, "town") == "town"
    assert phrase(item, "Buy") == "Buy"


def test_a_coordination_is_no_phrase_of_either_of_its_nouns():
    one = Tree("NP", 0, 2, (leaf("DT", 0), leaf("NN", 1)))
    other = Tree("NP", 3, 5, (leaf("DT", 3), leaf("NN", 4)))
    both = Tree("NP", 0, 5, (one, leaf("CC", 2), other))
    item = of_trees(item_of("the wine or the beer", "[ One ] ."), both)
    assert phrase(item, "wine") == "the wine"
    assert phrase(item, "beer") == "the beer"


def test_a_parse_that_hangs_in_a_circle_ends():
    item = item_of("big dogs bark", "[ Two ] .")
    words = ["big", "dogs", "bark", "Two", "."]
    circle = Parsed(words, heads=[1, 0, 1, 4, 3], relations=["amod", "amod", "dep", "x", "y"])
    assert phrase(replace(item, parsed=circle), "dogs") == "big dogs"
