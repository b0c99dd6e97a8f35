"""Auditing gold that rules settled: how many to look at, which, and what they show.

A sample is drawn by strata (rule, class, pattern of votes), so that each kind of gold is
looked at in proportion. What it shows is told three ways: the rate of the whole, each
stratum weighted by its size; the exact interval of Clopper and Pearson (Biometrika 26, 1934,
pages 404-413) for the share found wrong; and the exact one-sided bound, below which the rate
lies with the confidence asked for. Where none of n is wrong, that bound is
1 - (1 - confidence) ** (1 / n), since a share p of errors leaves n drawn items without one
with the probability (1 - p) ** n: 1.98 % for 150 items and 95 % ("rule of three": about
3 / n; Hanley and Lippman-Hand, JAMA 249, 1983, pages 1743-1745).
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DEFAULT_SIZE = 150
"""Items of an audit: if none is wrong, at most 2 % of all are, with 95 % confidence."""

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Stratum:
    """What an audit found in one stratum.

    size: items that it was drawn from. decided: of those drawn, how many were looked at.
    wrong: how many of these are.
    """

    size: int
    decided: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Weighted:
    """The share of wrong items in all strata, each weighted by its size.

    covered: items in the strata of which any was looked at; the rest says nothing. rate is
    None if that is none.
    """

    rate: float | None
    covered: int
    size: int


def allocate(sizes: Mapping[str, int], wanted: int) -> dict[str, int]:
    """How many items to draw from each stratum, `wanted` in all (or all there are).

    In proportion to the sizes, by largest remainder (Hamilton's method); then at least one
    of each stratum that is not empty, taken from those that have most above their share,
    as far as `wanted` goes. Equal cases are decided by size, then by name. Raises
    ValueError for a negative size or fewer than one item.
    """
    if wanted < 1 or any(size < 0 for size in sizes.values()):
        raise ValueError("an audit needs at least one item, and sizes that are not negative")
    total = sum(sizes.values())
    if wanted >= total:
        return dict(sizes)
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    quota = {name: wanted * sizes[name] / total for name in names}
    given = {name: wanted * sizes[name] // total for name in names}
    by_remainder = sorted(
        names, key=lambda name: (given[name] - quota[name], names.index(name))
    )
    for name in by_remainder[: wanted - sum(given.values())]:
        given[name] += 1
    for name in names:
        if sizes[name] and not given[name]:
            richest = max(
                given, key=lambda other: (given[other] > 1, given[other] - quota[other])
            )
            if given[richest] > 1:
                given[richest] -= 1
                given[name] = 1
    return {name: given[name] for name in sizes}


def draw(strata: Mapping[str, Sequence[int]], wanted: int, seed: int) -> list[tuple[int, str]]:
    """Items with their strata, drawn without putting back and shuffled.

    The same strata (items in the same order) and seed give the same sample.
    """
    source = random.Random(seed)  # noqa: S311 - chance that can be repeated, no secret
    sizes = {name: len(strata[name]) for name in sorted(strata)}
    counts = allocate(sizes, wanted)
    drawn = [
        (item, name) for name in sizes for item in source.sample(strata[name], counts[name])
    ]
    source.shuffle(drawn)
    return drawn


def size_for(rate: float, confidence: float = CONFIDENCE) -> int:
    """How many items, none of them wrong, bound the share of wrong ones by `rate`.

    The smallest n with 1 - (1 - confidence) ** (1 / n) <= rate. Raises ValueError unless
    both lie between 0 and 1.
    """
    if not (0 < rate < 1 and 0 < confidence < 1):
        raise ValueError("rate and confidence must lie between 0 and 1")
    size = math.ceil(math.log(1 - confidence) / math.log1p(-rate))
    # The logarithms may be off in the last digit.
    return size if 1 - (1 - confidence) ** (1 / size) <= rate else size + 1


def interval(wrong: int, decided: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact two-sided interval of Clopper and Pearson for a share.

    Raises ValueError if nothing was decided.
    """
    if decided < 1 or not 0 <= wrong <= decided:
        raise ValueError(f"{wrong} of {decided} is no share")
    from scipy.stats import binomtest

    found = binomtest(wrong, decided).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)


def upper_bound(wrong: int, decided: int, confidence: float = CONFIDENCE) -> float:
    """The exact one-sided bound: above it the share lies with 1 - confidence at most.

    It is the upper end of the two-sided interval that leaves as much on either side.
    Raises ValueError if nothing was decided.
    """
    return interval(wrong, decided, 1 - 2 * (1 - confidence))[1]


def weighted(strata: Sequence[Stratum]) -> Weighted:
    """The stratified estimate: the sum of size times share found wrong, over the sizes.

    Unbiased for the strata that were looked at, whatever the allocation (Cochran, Sampling
    Techniques, 1977, section 5.3).
    """
    seen = [stratum for stratum in strata if stratum.decided]
    covered = sum(stratum.size for stratum in seen)
    size = sum(stratum.size for stratum in strata)
    if not covered:
        return Weighted(None, 0, size)
    errors = sum(stratum.size * stratum.wrong / stratum.decided for stratum in seen)
    return Weighted(errors / covered, covered, size)
