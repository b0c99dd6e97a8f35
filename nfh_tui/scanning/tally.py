"""What is counted in a text, block by block; figures of blocks add up."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

ANCHORS_KEPT = 20_000
"""Distinct numbers that are counted apart. Texts without end hold numbers without end: of
those met when so many are known, only the sum is kept. What is common is met early."""

LONGEST_ANCHOR = 60
"""Characters of a number that is counted apart; a longer one is cut."""

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


@dataclass(slots=True)
class Count:
    """Numbers, and how many of them are fused heads."""

    numbers: int = 0
    nfh: int = 0

    def add(self, other: "Count") -> None:
        """Count these, too."""
        self.numbers += other.numbers
        self.nfh += other.nfh


@dataclass(slots=True)
class Tally:
    """The figures of a text. bytes: unpacked. words: what stands between white space.

    undecodable: places that are no UTF-8. anchors: by the number's words in small letters.
    rest: numbers that are not counted apart, see `ANCHORS_KEPT`. rules: by what decided.
    """

    bytes: int = 0
    words: int = 0
    sentences: int = 0
    sentences_with_number: int = 0
    undecodable: int = 0
    nul: int = 0
    total: Count = field(default_factory=Count)
    anchors: dict[str, Count] = field(default_factory=dict)
    rest: Count = field(default_factory=Count)
    rules: dict[str, Count] = field(default_factory=dict)

    def count(self, words: str, rule: str, *, nfh: bool) -> None:
        """Count one number."""
        one = Count(1, int(nfh))
        self.total.add(one)
        self._anchor(_shortened(words.lower())).add(one)
        self.rules.setdefault(rule, Count()).add(one)

    def add(self, other: "Tally") -> None:
        """Count what stands behind this text, too. The order matters, see `ANCHORS_KEPT`."""
        self.bytes += other.bytes
        self.words += other.words
        self.sentences += other.sentences
        self.sentences_with_number += other.sentences_with_number
        self.undecodable += other.undecodable
        self.nul += other.nul
        self.total.add(other.total)
        self.rest.add(other.rest)
        for words, count in other.anchors.items():
            self._anchor(words).add(count)
        for rule, count in other.rules.items():
            self.rules.setdefault(rule, Count()).add(count)

    def common(self, most: int) -> Iterator[tuple[str, Count]]:
        """The anchors with the most fused heads, most first."""
        found = [item for item in self.anchors.items() if item[1].nfh]
        found.sort(key=lambda item: (-item[1].nfh, -item[1].numbers, item[0]))
        yield from found[:most]

    def _anchor(self, words: str) -> Count:
        known = self.anchors.get(words)
        if known is None:
            if len(self.anchors) >= ANCHORS_KEPT:
                return self.rest
            known = self.anchors[words] = Count()
        return known


def wilson(count: Count) -> tuple[float, float] | None:
    """The 95 % score interval of the share of fused heads; None where there is no number.

    Wilson 1927, Journal of the American Statistical Association 22, 209-212. It takes
    numbers for independent draws; those of one text are not quite.
    """
    n = count.numbers
    if not n:
        return None
    share, square = count.nfh / n, Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST_ANCHOR else f"{words[: LONGEST_ANCHOR - 1]}…"
