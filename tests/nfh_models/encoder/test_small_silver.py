"""Anchors that nobody labelled, and how they are made out of those that somebody did."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from nfh_models.domain import Kind
from nfh_models.encoder.training import key_of_item
from nfh_models.identification.base import SentenceNumber, cases_of, numbers_of
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan
from nfh_models.resolution.base import Item
from nfh_models.resolution.baselines import Pattern
from tests.nfh_models.encoder.handmade import LESSONS, item, pieces
from tests.nfh_models.encoder.test_backbone import made
from tools.small_model import data
from tools.small_model.data import (
    COUNTS,
    copies,
    cut,
    elided,
    gold_of,
    near_item,
    neighbours,
    neighbours_of,
    replaced,
    unnamed,
    without,
    words_of,
)

# --- silver ---------------------------------------------------------------------------------


def test_numbers_of_a_passage() -> None:
    one = item("Ann: I have two dogs .", "Ben: Three , [ six ] .").passage
    found = numbers_of(one, spaced_out=False)
    assert [one.word(anchor.start) for anchor in found] == ["two", "Three", "six"]


def test_what_patterns_say() -> None:
    assert gold_of(None, 3) is None
    assert gold_of(Pattern("num-of", None, pronoun=2), 3) is None
    people = gold_of(Pattern("no-one", Kind.PEOPLE), 3)
    assert people is not None
    assert people.kind is Kind.PEOPLE
    heads = gold_of(Pattern("num-of", Kind.REFERENCE, (2, 5)), 3)
    assert heads is not None
    assert [head.mentions[0].head for head in heads.heads] == [5, 8]


def test_a_copy_has_fewer_turns_and_another_number() -> None:
    one = item("Ann: I have dogs .", "Ben: How many ?", "Ann: I want [ two ] .", "Ben: OK .")
    words = [*words_of(one.passage)]
    words[one.anchor.start], words[5] = "seven", "children"
    turns = one.passage.turns
    found = cut(one, words, turns[1].start, turns[2].end)
    assert found.passage.text == "How children ? I want seven ."
    assert [token.lemma for token in found.passage.tokens][:2] == ["how", "child"]
    assert found.passage.word(found.anchor.start) == "seven"
    assert [turn.speaker for turn in found.passage.turns] == ["Ben", "Ann"]
    assert [turn.number for turn in found.passage.turns] == [1, 2]
    assert found.passage.tokens[found.anchor.start].lemma == "seven"


def test_copies_are_the_same_again_and_never_the_original() -> None:
    items = [example.item for example in LESSONS]
    near = {"cats": ["dogs", "owls"], "want": ["need"]}
    first, again = list(copies(items, 5, near)), list(copies(items, 5, near))
    assert [key_of_item(one.item) for one in first] == [key_of_item(x.item) for x in again]
    own = {key_of_item(one) for one in items}
    for one in first:
        one.item.anchor.check(one.item.passage)
        if len(one.item.passage.turns) > 1:
            assert key_of_item(one.item) not in own
        words = words_of(one.item.passage)
        assert not {"cats", "dogs"} <= set(words), "all mentions of a word are replaced"
    assert len({key_of_item(one.item) for one in first}) > len(LESSONS)
    assert any(one.item.passage.word(one.item.anchor.start) != "six" for one in first)


def test_neighbours_are_words_of_one_piece() -> None:
    own = pieces()
    table = np.zeros((own.size, 2), np.float32)
    for word, vector in (("dog", (1, 0)), ("cat", (0.9, 0.1)), ("year", (0, 1))):
        table[own.cut([word])[0][0]] = vector
    found = neighbours(["cat", "dog", "xylophone", "year"], own, table)
    assert list(found) == ["cat", "dog", "year"]
    assert found["dog"] == ["cat", "year"]
    assert neighbours(["dog"], own, table) == {}


def test_neighbours_in_an_encoder(tmp_path: Path) -> None:
    """Common words, short ones and those that are no words have none."""
    common = [f"{a}{b}q" for a in "abcdefghijklmnop" for b in "abcdefghijk"][:150] * 2
    found = neighbours_of(str(made(tmp_path / "base")), [*common, "dog", "year", "is", "3rd"])
    assert found == {"dog": ["year"], "year": ["dog"]}


def test_a_word_is_replaced_everywhere_with_its_capitals() -> None:
    rng = random.Random(1)
    words = "Dogs , DOGS and dogs have I".split()
    near_ = {"dogs": ["cats"], "i": ["we"]}
    assert replaced(words, 1.0, near_, rng) == "Cats , CATS and cats have We".split()
    assert replaced(words, 0.0, near_, rng) == words


# --- nouns left out -------------------------------------------------------------------------


def told(one: Item, noun: str | None, relation: str = "nummod") -> SentenceNumber:
    """Its case as a parser leaves it: the number hangs on a noun, all else on itself."""
    case = next(cases_of(one.passage, [one.anchor]))
    words = case.word_span.words
    heads = list(range(len(words)))
    pos = ["X"] * len(words)
    if noun is not None:
        at = list(words).index(noun, case.end)
        heads[case.end - 1], pos[at] = at, "NOUN"
    relations = [relation if n == case.end - 1 else "dep" for n in range(len(words))]
    return replace(case, parsed=Parsed(words, pos, (), (), heads, relations))


def shown(one: Item | None) -> Sequence[str]:
    return [] if one is None else words_of(one.passage)


def test_a_noun_is_left_out() -> None:
    """What stands between goes with it; the other turns stay as they are."""
    one = item("Ann: how long ?", "Ben: [ three ] long years , or so", "Ann: OK then")
    made_ = elided(one, told(one, "years"))
    assert made_ is not None
    assert made_.gold is None, "nobody says what its head is"
    assert " ".join(shown(made_.item)) == "how long ? three , or so OK then"
    spans = [(turn.start, turn.end) for turn in made_.item.passage.turns]
    assert spans == [(0, 3), (3, 7), (7, 9)]
    made_.item.anchor.check(made_.item.passage)


def test_a_noun_that_stands_elsewhere_is_the_head() -> None:
    one = item("Ann: you have dogs ?", "Ben: [ two ] dogs , big dogs")
    made_ = elided(one, told(one, "dogs"))
    assert made_ is not None
    assert made_.gold is not None
    words = shown(made_.item)
    places = [mention.head for mention in made_.gold.heads[0].mentions]
    assert [words[place] for place in places] == ["dogs", "dogs"]
    assert len(made_.gold.heads) == 1


def test_numbers_that_count_nothing_near() -> None:
    far = item("Ann: [ two ] a b c dogs")
    assert elided(far, told(far, "dogs")) is None
    one = item("Ann: [ two ] dogs")
    assert elided(one, told(one, "dogs", "pobj")) is None
    assert elided(one, told(one, None)) is None
    assert elided(one, next(cases_of(one.passage, [one.anchor]))) is None


def test_words_behind_the_number_go() -> None:
    one = item("Ann: a b", "Ben: c [ two ] d e f", "Ann: g")
    found = without(one, 4, 6)
    assert shown(found) == ["a", "b", "c", "two", "f", "g"]
    assert found.passage.words(found.anchor.start, found.anchor.end) == "two"


def test_what_stands_around_a_number() -> None:
    long = "x " * 100
    one = item(f"Ann: {long}", "Ben: I have [ two ] .", f"Ann: {long}")
    found = near_item(one)
    assert len(found.passage.tokens) == 40 + 1 + 20
    assert found.passage.word(found.anchor.start) == "two"
    assert [turn.speaker for turn in found.passage.turns] == ["Ann", "Ben", "Ann"]
    short = item("Ann: I have [ two ] .")
    assert near_item(short) == short


# --- nouns replaced -------------------------------------------------------------------------


class Tagger:
    """A parser of a few words: adjectives and determiners hang on the noun after them."""

    name = "tagger"
    layers = frozenset(ParseLayer)
    tags: ClassVar = {"dogs": "NNS", "dog": "NN", "red": "JJ", "big": "JJ", "the": "DT"}
    pos: ClassVar = {"NNS": "NOUN", "NN": "NOUN", "JJ": "ADJ", "DT": "DET"}

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        for word_span in word_spans:
            words = list(word_span.words)
            tags = [self.tags.get(word, "XX") for word in words]
            heads = list(range(len(words)))
            for place in reversed(range(len(words) - 1)):
                if tags[place] in ("JJ", "DT"):
                    heads[place] = heads[place + 1]
            pos = [self.pos.get(tag, "X") for tag in tags]
            yield Parsed(words, pos, tags, (), heads, ["dep"] * len(words))


def numbered(*turns: str) -> list[str]:
    """The texts in which a number has a noun's place."""
    passage = item(*turns, "Zed: [ nine ]").passage
    made_ = list(unnamed([passage], Tagger(), 3))
    for one in made_:
        assert one.gold is None
        one.item.anchor.check(one.item.passage)
        assert one.item.passage.word(one.item.anchor.start) in ("one", *COUNTS)
    return [one.item.passage.text for one in made_]


def test_a_noun_that_stood_before_becomes_a_number() -> None:
    [text] = numbered("Ann: a dog", "Ben: take the red dog now")
    assert text == "a dog take the red one now nine"
    [text] = numbered("Ann: many dogs here", "Ben: take the big dogs now")
    before, _, after = text.partition(" take ")
    assert (before, after.split()[1:]) == ("many dogs here", ["now", "nine"])


def test_what_becomes_no_number() -> None:
    assert numbered("Ann: a dog", "Ben: take the red cat") == [], "it stood nowhere before"
    assert numbered("Ann: take it", "Ben: take it now") == [], "no noun"
    assert numbered("Ann: a dog", "Ben: dog food") == [], "nothing stands before it"


def test_no_more_is_worked_out_than_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    true = data._numbered

    def counting(one: Item, *more: Any) -> Item | None:
        asked.append(one)
        return true(one, *more)

    monkeypatch.setattr(data, "_numbered", counting)
    turns = [f"Ann: {word} dogs" for word in "see hear feed wash call tame".split()]
    few = numbered(*turns)
    assert (len(few), len(asked)) == (3, 3)
    assert numbered(*turns) == few, "the same draw, the same numbers"
