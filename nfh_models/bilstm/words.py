"""The words that have a vector, and how a token finds its own."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

DIGIT = re.compile(r"[0-9]")

Floats = NDArray[np.float32]


def forms(word: str) -> tuple[str, ...]:
    """The forms under which a word is looked up, in this order.

    As it stands, in lower case, and with # for each digit: the vectors of Google News, which
    the paper uses, have "##" for all numbers of two digits.
    """
    lower = word.lower()
    found = (word, lower, DIGIT.sub("#", lower))
    return tuple(dict.fromkeys(found))


def wanted_forms(words: Iterable[str]) -> set[str]:
    """All forms of some words."""
    return {form for word in set(words) for form in forms(word)}


@dataclass(frozen=True)
class Vectors:
    """Words with a vector each. table: (words, width), numbers of 16 bits held in 32, so that
    a model read from its folder, where they have 16, says what it said when it was made.
    source: where they came from, as in the settings, with a name that a person knows.
    """

    words: tuple[str, ...]
    table: Floats
    source: str
    places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or len(self.table) != len(self.words):
            raise ValueError(f"{len(self.words)} words, a table of {self.table.shape}")
        places = {word: place for place, word in enumerate(self.words)}
        object.__setattr__(self, "places", places)

    @property
    def width(self) -> int:
        """Of a vector."""
        return int(self.table.shape[1])

    def place(self, word: str) -> int | None:
        """The row of a word's vector; None of a word that has none in any form."""
        for form in forms(word):
            found = self.places.get(form)
            if found is not None:
                return found
        return None


def gathered(found: Iterator[tuple[str, Floats]], source: str) -> Vectors:
    """Vectors out of words with their numbers; the first of a word counts."""
    rows: dict[str, Floats] = {}
    for word, numbers in found:
        rows.setdefault(word, numbers)
    words = tuple(sorted(rows))
    width = len(rows[words[0]]) if words else 1
    table = np.zeros((len(words), width), np.float32)
    for place, word in enumerate(words):
        table[place] = rows[word]
    return Vectors(words, halved(table), source)


def halved(table: Floats) -> Floats:
    """The numbers nearest to those of a table that 16 bits can hold."""
    largest = float(np.finfo(np.float16).max)
    return np.clip(table, -largest, largest).astype(np.float16).astype(np.float32)
