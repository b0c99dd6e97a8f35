"""Anchors for the small model that nobody labelled by hand.

Other numbers of the training passages that the rules take for fused heads; the fused heads of
the identification file, whose heads the paper's deterministic patterns say where they can;
numbers of dialogs that nobody has looked at; and copies of the training examples, cut to fewer
turns, with other numbers and other words.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nfh_db.formats.registry import DIALOG
from nfh_models.domain import (
    Answer,
    Kind,
    Mention,
    Passage,
    class_answer,
    reference_answer,
)
from nfh_models.encoder.lessons import Silver
from nfh_models.identification.cases import cases_of
from nfh_models.identification.deciding import decide, parsed_cases
from nfh_models.identification.numbers import numbers_of
from nfh_models.identification.rules import Rules
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution import deterministic
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_tui.predicting_passages import passages as passages_of
from nfh_tui.predicting_source import opened
from nfh_tui.small_material import Sentence
from nfh_tui.small_nouns import elided, unnamed
from nfh_tui.small_passages import cut, near, words_of
from nfh_tui.small_words import Neighbours, replaced

SWAPPED = 0.5
"""The share of copies whose number is another."""

ONE_SWAPPED = 0.4
"""Of those with "one" the share in which it is."""

AFTER_ONE = ("two", "three", "four", "one", "five")
CUT = 0.6
"""The share of copies that are cut at the beginning, and at the end."""

REWORDED = 0.75
"""The share of copies with other words."""

WORDS = 0.3
"""The share of different words that are replaced in them."""


def other_numbers(examples: Sequence[ResolutionExample], parser: Parser) -> Iterator[Silver]:
    """The numbers of the passages that are no example's anchor, as fused heads; each passage
    once."""
    taken: dict[str, set[int]] = {}
    passages: dict[str, Passage] = {}
    for example in examples:
        passages.setdefault(example.group, example.item.passage)
        anchor = example.item.anchor
        taken.setdefault(example.group, set()).update(range(anchor.start, anchor.end))
    items = [
        Item(passage, anchor)
        for group, passage in passages.items()
        for anchor in numbers_of(passage, spaced_out=False)
        if taken[group].isdisjoint(range(anchor.start, anchor.end))
    ]
    yield from as_fused(items, parser)


def as_fused(items: Sequence[Item], parser: Parser) -> Iterator[Silver]:
    """Numbers that the rules take for fused heads; and of the others those that count a noun,
    without it, which makes them fused heads."""
    cases = (next(cases_of(item.passage, [item.anchor])) for item in items)
    for item, (case, decision) in zip(items, decide(cases, Rules(), parser), strict=True):
        made = Silver(item) if decision.nfh else elided(item, case)
        if made is not None:
            yield made


def dialogs_of(path: Path, parser: Parser, nouns: int) -> Iterator[Silver]:
    """Anchors of a file of dialogs (`Name: text` lines, an empty line between dialogs): its
    numbers as fused heads, and of each dialog with numbers some nouns replaced by a number.

    Raises FormatError for a file that is no text.
    """
    with opened(str(path)) as stream:
        dialogs = list(passages_of(stream, DIALOG.name, "found"))
    items = [near(Item(one.passage, anchor)) for one in dialogs for anchor in one.anchors]
    yield from as_fused(items, parser)
    yield from unnamed([one.passage for one in dialogs], parser, nouns)


# --- patterns -------------------------------------------------------------------------------


def fused_heads(sentences: Sequence[Sentence], parser: Parser) -> Iterator[Silver]:
    """The fused heads among the rows, with what the patterns say of their heads."""
    positive = [one for one in sentences if one.example.nfh]
    cases = parsed_cases((one.example.case for one in positive), parser)
    for one, case in zip(positive, cases, strict=True):
        found = None
        if case.parsed is not None:
            found = deterministic.find(case.parsed, case.start, case.end)
        offset = one.item.anchor.start - case.start
        yield Silver(one.item, gold_of(found, offset), nfh=True)


def gold_of(pattern: deterministic.Pattern | None, offset: int) -> Answer | None:
    """What a pattern says; None where it only says that there is a noun elsewhere. offset: of
    the sentence in its passage."""
    if pattern is None or pattern.kind is None:
        return None
    if pattern.kind is not Kind.REFERENCE:
        return class_answer(pattern.kind)
    tokens = [token + offset for token in pattern.heads]
    return reference_answer([Mention(one, one + 1, one)] for one in tokens)


# --- copies ---------------------------------------------------------------------------------


def copies(
    items: Iterable[Item], times: int, neighbours: Neighbours, seed: int = 7
) -> Iterator[Silver]:
    """Copies cut to fewer turns around the anchor, with another number or with other words;
    none that is its original. A teacher has to say what their heads are."""
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    each = list(items)
    digits, letters = _numbers(each)
    for _ in range(times):
        for item in each:
            start, end = _span(item, rng)
            own = words_of(item.passage)
            words = list(own)
            if rng.random() < REWORDED:
                words = _reworded(item, words, neighbours, rng)
            other = _other(item, digits, letters, rng)
            if other is not None:
                words[item.anchor.start] = other
            if words != own or end - start < len(own):
                yield Silver(cut(item, words, start, end))


def _reworded(
    item: Item, words: list[str], neighbours: Neighbours, rng: random.Random
) -> list[str]:
    """The words with some replaced; the anchor's stay."""
    made = replaced(words, WORDS, neighbours, rng)
    start, end = item.anchor.start, item.anchor.end
    made[start:end] = words[start:end]
    return made


def _numbers(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """The anchors of one token, as often as they stand there: those with digits, others."""
    words = Counter(
        item.passage.word(item.anchor.start)
        for item in items
        if item.anchor.end - item.anchor.start == 1
    )
    each = list(words.elements())
    return [w for w in each if w[0].isdigit()], [w for w in each if not w[0].isdigit()]


def _span(item: Item, rng: random.Random) -> tuple[int, int]:
    """The tokens of whole turns around the anchor."""
    turns = item.passage.turns
    own, last = item.passage.turn_of(item.anchor.start), len(turns) - 1
    end = item.passage.turn_of(item.anchor.end - 1)
    low = rng.randint(0, own) if rng.random() < CUT else 0
    high = rng.randint(end, last) if rng.random() < CUT else last
    return turns[low].start, turns[high].end


def _other(
    item: Item, digits: Sequence[str], letters: Sequence[str], rng: random.Random
) -> str | None:
    """Another number in place of an anchor of one token; None to keep it."""
    anchor = item.anchor
    if anchor.end - anchor.start > 1 or rng.random() >= SWAPPED:
        return None
    word = item.passage.word(anchor.start)
    if word.lower() == "one":
        drawn = rng.choice(AFTER_ONE) if rng.random() < ONE_SWAPPED else word
    else:
        pool = digits if word[0].isdigit() else letters
        drawn = rng.choice(pool) if pool else word
    return None if drawn == word else drawn
