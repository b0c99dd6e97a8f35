"""Anchors for the small model that nobody labelled by hand.

Other numbers of the training passages that the rules take for fused heads; the fused heads of
the identification file, whose heads the paper's deterministic patterns say where they can;
and copies of the training examples, cut to fewer turns and with other numbers.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.encoder.lessons import Silver
from nfh_models.identification.cases import cases_of
from nfh_models.identification.deciding import decide, parse_cases
from nfh_models.identification.rules import Rules
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution import deterministic
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_models.text.lemmas import lemmas
from nfh_models.text.numbers import find_numbers
from nfh_tui.small_material import Sentence

COPIES = 2
SWAPPED = 0.5
"""The share of copies whose number is another."""

ONE_SWAPPED = 0.4
"""Of those with "one" the share in which it is."""

AFTER_ONE = ("two", "three", "four", "one", "five")
CUT = 0.6
"""The share of copies that are cut at the beginning, and at the end."""


def other_numbers(examples: Sequence[ResolutionExample], parser: Parser) -> Iterator[Silver]:
    """The numbers of the passages that are no example's anchor and that are fused heads by
    the rules; each passage once."""
    taken: dict[str, set[int]] = {}
    passages: dict[str, Passage] = {}
    for example in examples:
        passages.setdefault(example.group, example.item.passage)
        anchor = example.item.anchor
        taken.setdefault(example.group, set()).update(range(anchor.start, anchor.end))
    items = [
        Item(passage, anchor)
        for group, passage in passages.items()
        for anchor in numbers_of(passage)
        if taken[group].isdisjoint(range(anchor.start, anchor.end))
    ]
    cases = (next(cases_of(item.passage, [item.anchor])) for item in items)
    for item, (_, decision) in zip(items, decide(cases, Rules(), parser), strict=True):
        if decision.nfh:
            yield Silver(item)


def numbers_of(passage: Passage) -> Iterator[Anchor]:
    """The numbers of a passage, turn by turn."""
    for turn in passage.turns:
        tokens = passage.tokens[turn.start : turn.end]
        words = [passage.text[token.start : token.end] for token in tokens]
        glued = [False, *(one.end == two.start for one, two in pairwise(tokens))]
        for start, end in find_numbers(words, glued):
            yield Anchor(turn.start + start, turn.start + end)


# --- patterns -------------------------------------------------------------------------------


def fused_heads(sentences: Sequence[Sentence], parser: Parser) -> Iterator[Silver]:
    """The fused heads among the rows, with what the patterns say of their heads."""
    positive = [one for one in sentences if one.example.nfh]
    for start in range(0, len(positive), 512):
        some = positive[start : start + 512]
        cases = parse_cases([one.example.case for one in some], parser)
        for one, case in zip(some, cases, strict=True):
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
    examples: Sequence[ResolutionExample], times: int = COPIES, seed: int = 7
) -> Iterator[Silver]:
    """Copies cut to fewer turns around the anchor, some with another number in it; none that
    is its original. A teacher has to say what their heads are."""
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    digits, letters = _numbers(examples)
    for _ in range(times):
        for example in examples:
            item = example.item
            first, last = _turns(item, rng)
            word = _other(item, digits, letters, rng)
            if word is not None or (first, last) != (0, len(item.passage.turns) - 1):
                yield Silver(cut(item, first, last, word))


def _numbers(examples: Sequence[ResolutionExample]) -> tuple[list[str], list[str]]:
    """The anchors of one token, as often as they stand there: those with digits, others."""
    words = Counter(
        one.item.passage.word(one.item.anchor.start)
        for one in examples
        if one.item.anchor.end - one.item.anchor.start == 1
    )
    each = list(words.elements())
    return [w for w in each if w[0].isdigit()], [w for w in each if not w[0].isdigit()]


def _turns(item: Item, rng: random.Random) -> tuple[int, int]:
    own, last = item.passage.turn_of(item.anchor.start), len(item.passage.turns) - 1
    end = item.passage.turn_of(item.anchor.end - 1)
    low = rng.randint(0, own) if rng.random() < CUT else 0
    high = rng.randint(end, last) if rng.random() < CUT else last
    return low, high


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


def cut(item: Item, first: int, last: int, word: str | None = None) -> Item:
    """An anchor in turns [first, last] of its passage alone. word: in place of the anchor,
    which then is one token. Tokens are parted by one space."""
    passage = item.passage
    kept = passage.turns[first : last + 1]
    start, end = kept[0].start, kept[-1].end
    words = [passage.word(place) for place in range(start, end)]
    known = [passage.tokens[place].lemma for place in range(start, end)]
    at = item.anchor.start - start
    if word is not None:
        words[at], known[at] = word, lemmas([word])[0]
    tokens: list[Token] = []
    place = 0
    for one, lemma in zip(words, known, strict=True):
        tokens.append(Token(place, place + len(one), lemma))
        place += len(one) + 1
    turns = tuple(
        Turn(turn.number, turn.speaker, turn.start - start, turn.end - start) for turn in kept
    )
    made = Passage(" ".join(words), tuple(tokens), turns)
    return Item(made, Anchor(at, item.anchor.end - start))
