"""Items parsed: each passage once, in order, in batches."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nfh_models.domain import Anchor
from nfh_models.parsing.base import ParseLayer, ParserError
from nfh_models.resolution.base import (
    BATCH,
    REACH,
    Item,
    batches,
    parse_items,
    parsing_items,
    resolve_items,
)
from nfh_models.resolution.baselines import NearestResolver

from .handmade import WordParser, item_of

POS = frozenset({ParseLayer.POS})
CUPS = item_of("two cups and [ one ]", parsed=False)
KEYS = item_of("keys and [ one ]", parsed=False)


def test_items_of_one_passage_share_a_parse() -> None:
    parser = WordParser()
    again = item_of("two cups and [ one ]", parsed=False)  # equal, not the same object
    other = Item(CUPS.passage, Anchor(0, 1))
    made = parse_items([CUPS, KEYS, again, other], POS, parser)
    assert parser.asked == [["two", "cups", "and", "one"], ["keys", "and", "one"]]
    assert made[0].parsed is made[2].parsed is made[3].parsed
    assert [one.anchor for one in made] == [
        CUPS.anchor,
        KEYS.anchor,
        again.anchor,
        Anchor(0, 1),
    ]
    assert [one.parsed_from for one in made] == [0, 0, 0, 0]


def test_a_parse_that_is_there_is_kept() -> None:
    parser = WordParser()
    ready = item_of("cups/NOUN [ one/NUM ]")
    assert parse_items([ready], POS, parser) == [ready]
    assert parse_items([CUPS], frozenset(), None) == [CUPS]
    assert parser.asked == []


def test_of_a_long_passage_only_what_is_in_reach() -> None:
    words = " ".join(f"w{number}" for number in range(5 * REACH))
    long = item_of(f"[ one ] {words}", parsed=False)
    size = len(long.passage.tokens)
    far, near = replace(long, anchor=Anchor(size - 1, size)), replace(long, anchor=Anchor(5, 7))
    parser = WordParser()
    made = parse_items([far, long, near], POS, parser)
    assert sorted(map(len, parser.asked)) == [REACH + 1, REACH + 7]
    assert [one.parsed_from for one in made] == [size - 1 - REACH, 0, 0]
    assert made[1].parsed is made[2].parsed
    for one in made:
        assert one.parsed is not None
        words_there = [
            one.passage.word(one.parsed_from + at) for at in range(len(one.parsed.words))
        ]
        assert words_there == list(one.parsed.words)


def test_capitals_are_parsed_as_small_letters_and_stay_in_the_words() -> None:
    parser = WordParser()
    [made] = parse_items([item_of("TWO CUPS [ ONE ]", parsed=False)], POS, parser)
    assert parser.asked == [["two", "cups", "one"]]
    assert made.parsed is not None
    assert list(made.parsed.words) == ["TWO", "CUPS", "ONE"]


def test_batches_end_with_a_passage_where_they_can() -> None:
    row = [CUPS] * (BATCH - 1) + [KEYS] * 3 + [CUPS]
    assert [len(batch) for batch in batches(row)] == [BATCH + 2, 1]
    largest = 4 * BATCH
    assert [len(batch) for batch in batches([CUPS] * (largest + 5))] == [largest, 5]
    assert list(batches([])) == []


def test_they_come_as_they_are_asked_for() -> None:
    taken = 0

    def stream() -> Iterator[Item]:
        nonlocal taken
        for number in range(3 * BATCH):
            taken += 1
            yield item_of(f"cup{number} [ one ]", parsed=False)

    made = parsing_items(stream(), POS, WordParser())
    next(made)
    assert taken <= BATCH + 1
    assert len(list(made)) == 3 * BATCH - 1


def test_resolved_parses_and_answers_in_order() -> None:
    said = list(resolve_items([CUPS, KEYS], NearestResolver(), WordParser()))
    assert [choice.choice for _, choice in said if choice is not None] == ["1", "0"]
    assert all(item.parsed is not None for item, _ in said)


def test_a_parser_that_is_missing_or_gives_too_little() -> None:
    with pytest.raises(ParserError, match="needs part of speech, but has no parser"):
        parse_items([CUPS], POS, None)
    with pytest.raises(ParserError, match=r"words 1\.0 gives no lemma"):
        parse_items([CUPS], POS | {ParseLayer.LEMMA}, WordParser())
