"""Fused heads made out of nouns: what a number counts is left out, or a noun's phrase replaced.

Varkel and Globerson (2020), "Pre-training Mention Representations in Coreference Models", learn
of repeated mentions in a like way.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from nfh_models.domain import Anchor, Mention, Passage, reference_answer
from nfh_models.encoder.lessons import Silver
from nfh_models.identification.case import Case
from nfh_models.identification.cases import cases_of
from nfh_models.identification.deciding import parsed_cases
from nfh_models.parsing.parsed import Parsed, Parser
from nfh_models.resolution.item import Item
from nfh_tui.small_material import Sentence
from nfh_tui.small_passages import cut, near, without, words_of

FARTHEST_NOUN = 3
"""Tokens from a number to the noun that it counts, at most, for the noun to be left out."""

COUNTS = ("two", "two", "three", "three", "four", "five", "six", "ten")
"""In place of a noun in the plural with what stands before it."""

TRIED = 5
"""Words that are looked at for one that is a noun."""

BEFORE_NOUN = frozenset(("DET", "NUM", "PRON"))
"""What is replaced together with a noun in the plural: "the dogs", "his dogs", "six dogs"."""


def elided(item: Item, case: Case) -> Silver | None:
    """A number without the noun that it counts, and what stands between them; None where it
    counts none that is near. case: the number in its sentence, parsed.

    Where the noun stands elsewhere in the passage, too, it is the head; else a teacher has to
    say what the head is.
    """
    parsed, last = case.parsed, case.end - 1
    if parsed is None or not parsed.heads or parsed.relations[last] != "nummod":
        return None
    noun = parsed.heads[last]
    if not last < noun <= last + FARTHEST_NOUN or parsed.pos[noun] != "NOUN":
        return None
    end = item.anchor.end
    gone = item.passage.tokens[end + noun - last - 1]
    made = without(item, end, end + noun - last)
    again = [n for n, one in enumerate(made.passage.tokens) if one.lemma == gone.lemma]
    if not again:
        return Silver(made)
    return Silver(made, reference_answer([[Mention(one, one + 1, one) for one in again]]))


def elided_sentences(sentences: Sequence[Sentence], parser: Parser) -> Iterator[Silver]:
    """The rows that are no fused heads, without the nouns that their numbers count."""
    some = [one for one in sentences if not one.example.nfh]
    cases = parsed_cases((one.example.case for one in some), parser)
    for one, case in zip(some, cases, strict=True):
        made = elided(one.item, case)
        if made is not None:
            yield made


# --- nouns that stand there twice -----------------------------------------------------------


def unnamed(
    passages: Sequence[Passage], parser: Parser, most: int, seed: int = 11
) -> Iterator[Silver]:
    """Nouns that stood in their passage before, with a number in their place: "the red car"
    becomes "the red one", "his dogs" becomes "three". A teacher has to say what the heads are.

    most: of each passage, drawn by chance.
    """
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    items = [
        Item(passage, Anchor(place, place + 1))
        for passage in passages
        for place in _again(passage, TRIED * most, rng)
    ]
    given: Counter[str] = Counter()
    cases = parsed_cases((next(cases_of(one.passage, [one.anchor])) for one in items), parser)
    for item, case in zip(items, cases, strict=True):
        if case.parsed is None or given[item.passage.digest] == most:
            continue
        made = _numbered(item, case, case.parsed, rng)
        if made is not None:
            given[item.passage.digest] += 1
            yield Silver(near(made))


def _again(passage: Passage, most: int, rng: random.Random) -> list[int]:
    """Some of the words whose lemma stood there before."""
    known: set[str] = set()
    found: list[int] = []
    for place, token in enumerate(passage.tokens):
        word = passage.word(place)
        if len(word) > 2 and word.isalpha():
            if token.lemma in known:
                found.append(place)
            known.add(token.lemma)
    rng.shuffle(found)
    return found[:most]


def _numbered(item: Item, case: Case, parsed: Parsed, rng: random.Random) -> Item | None:
    """A noun's item with a number in its place; None for what is no noun, for one that is
    part of a longer name, and for one that a number counts."""
    at = case.start
    if parsed.pos[at] != "NOUN" or parsed.relations[at] == "compound":
        return None
    first = at
    if parsed.tags[at] == "NNS":
        while first > 0 and parsed.heads[first - 1] == at and at - first < FARTHEST_NOUN:
            first -= 1
        if first < at and parsed.pos[first] not in BEFORE_NOUN:
            first = at
    elif at == 0 or parsed.pos[at - 1] not in ("DET", "ADJ") or parsed.heads[at - 1] != at:
        return None
    word = "one" if parsed.tags[at] == "NN" else rng.choice(COUNTS)
    words = list(words_of(item.passage))
    start = item.anchor.start - (at - first)
    words[start] = word
    given = Item(item.passage, Anchor(start, start + 1))
    changed = cut(given, words, 0, len(words))
    return without(changed, start + 1, item.anchor.end) if first < at else changed
