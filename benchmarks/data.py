"""Made-up text for the benchmarks: seeded, varied, of the length the releases have."""

import random
from collections.abc import Iterator

SYLLABLES = (
    "ba be bi bo bu da de di do du fa fe fi fo ga ge go ha he hi ho ja jo ka ke ki ko la le li "
    "lo lu ma me mi mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to "
    "tu va ve vi vo wa we wi wo ya yo za ze zi zo"
).split()
COMMON = (
    "the a and to of in that it is was you he she they we I not but for on with at have had do "
    "did so if then there here all what who when my your his her our their this"
).split()
NUMBERS = (
    "one two three four five six seven eight nine ten twenty fifty hundred 12 40 1985 3.5"
).split()
VOCABULARY = 30_000
"""Distinct content words, about what the identification release has."""


def vocabulary(seed: int = 1) -> list[str]:
    """`VOCABULARY` pronounceable words; the first are drawn most often by `sentences`."""
    source = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(source.choices(SYLLABLES, k=source.randint(2, 4)))] = None
    return list(words)


def sentences(count: int, seed: int = 1) -> Iterator[list[str]]:
    """`count` sentences of 6 to 24 words, each with exactly one number word, not the last.

    Content words follow a Zipf-like draw; one sentence in 500 says "months left" before
    its number, so that a search for a rare phrase has something to find.
    """
    source = random.Random(seed)
    words = vocabulary(seed)
    for index in range(count):
        length = source.randint(6, 24)
        sentence = [
            source.choice(COMMON)
            if source.random() < 0.45
            else words[int(VOCABULARY ** source.random()) - 1]
            for _ in range(length - 1)
        ]
        place = source.randrange(1, length - 1)
        sentence.insert(place, source.choice(NUMBERS))
        if index % 500 == 250:
            sentence[place:place] = ["months", "left", ","]
        sentence.append(".")
        yield sentence


def number_at(sentence: list[str]) -> int:
    """Where the number of one of `sentences` stands."""
    return next(i for i, word in enumerate(sentence) if word in NUMBERS)
