"""Audits of gold that was settled by a rule: sample allocation, estimates and intervals.

The sample is stratified by rule, class and vote pattern, so that each kind of gold is examined
in proportion to its size. The result is reported as the stratified rate of errors, the exact
two-sided interval of Clopper and Pearson (Biometrika 26, 1934, pages 404-413), and the exact
one-sided upper bound. Where none of n items is wrong, that bound is 1 - (1 - confidence) ** (1
/ n): about 3 / n at 95 % confidence, the "rule of three".
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Stratum:
    """The result of an audit in one stratum."""

    size: int
    """Items in the stratum."""
    decided: int
    """Sampled items that the auditor has decided."""
    wrong: int
    """Decided items whose gold is wrong."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """The stratified estimate of the share of wrong items."""

    rate: float | None
    """None if no item was decided."""
    covered: int
    """Items in the strata that have a decided item; the rate says nothing of the others."""
    size: int
    """Items in all strata."""


def allocate(sizes: Mapping[str, int], wanted: int) -> dict[str, int]:
    """The number of items to draw from each stratum: `wanted` in all, or all there are.

    Allocation is proportional to size, by largest remainder (Hamilton's method). Then each
    non-empty stratum gets at least one item, as far as `wanted` allows, taken from the strata
    most above their quota. Ties are broken by size, then by name. Raises ValueError for a
    negative size or `wanted` below 1.
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
    """Draw items without replacement, shuffled, each with the name of its stratum.

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


def interval(wrong: int, decided: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact two-sided interval of Clopper and Pearson for the share `wrong / decided`.

    Raises ValueError if nothing was decided.
    """
    if decided < 1 or not 0 <= wrong <= decided:
        raise ValueError(f"{wrong} of {decided} is not a share")
    tail = (1 - confidence) / 2
    return _lower_end(wrong, decided, tail), 1 - _lower_end(decided - wrong, decided, tail)


def _lower_end(count: int, of: int, tail: float) -> float:
    """The share of which `count` or more of `of` are found with probability `tail`."""
    low, high = 0.0, count / of
    while count and (middle := (low + high) / 2) not in (low, high):
        if _at_least(count, of, middle) < tail:
            low = middle
        else:
            high = middle
    return low


def _at_least(count: int, of: int, share: float) -> float:
    """The probability of `count` or more, for a share below count / of: the terms decrease."""
    ways = lgamma(of + 1) - lgamma(count + 1) - lgamma(of - count + 1)
    term = exp(ways + count * log(share) + (of - count) * log1p(-share))
    total, found = 0.0, count
    while term > total * 1e-17:
        total += term
        term *= (of - found) / (found + 1) * share / (1 - share)
        found += 1
    return total


TOLERATED = 0.05
"""Share of wrong golds up to which a stratum may stay as a rule settled it."""


class Advice(StrEnum):
    """What to do with a stratum, by the interval of the share that is wrong in it."""

    BY_HAND = "decide by hand"
    """More than TOLERATED is wrong."""

    KEEP = "keep"
    """At most TOLERATED is wrong."""

    AUDIT = "audit more"
    """Too few were audited to tell."""


def advice(wrong: int, decided: int) -> Advice:
    """What to do with a stratum of which so many were audited and wrong."""
    low, high = interval(wrong, decided) if decided else (0.0, 1.0)
    if low > TOLERATED:
        return Advice.BY_HAND
    return Advice.KEEP if high <= TOLERATED else Advice.AUDIT


def upper_bound(wrong: int, decided: int) -> float:
    """The exact one-sided upper bound for the share `wrong / decided`.

    It is the upper end of the two-sided interval with confidence 1 - 2 * (1 - CONFIDENCE).
    Raises ValueError if nothing was decided.
    """
    return interval(wrong, decided, 1 - 2 * (1 - CONFIDENCE))[1]


def weighted(strata: Sequence[Stratum]) -> Weighted:
    """The stratified estimate: sum of size times share of errors, divided by the sum of sizes.

    It is unbiased for the strata with a decided item, whatever the allocation (Cochran,
    Sampling Techniques, 1977, section 5.3).
    """
    seen = [stratum for stratum in strata if stratum.decided]
    covered = sum(stratum.size for stratum in seen)
    size = sum(stratum.size for stratum in strata)
    if not covered:
        return Weighted(None, 0, size)
    errors = sum(stratum.size * stratum.wrong / stratum.decided for stratum in seen)
    return Weighted(errors / covered, covered, size)
