"""Confidence intervals by the percentile bootstrap over passages.

Anchors of one passage are annotated with the same text in mind, so they are not independent;
whole passages are resampled with replacement (Davison and Hinkley 1997, Bootstrap Methods and
their Application, sections 3.8 and 5.3.1). A statistic is a function of sums over passages, so
a resample needs only the number of times that each passage was drawn. Passages with equal sums
are interchangeable: the count of each *group* of them is multinomial, which gives the same
distribution with far fewer draws.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.measure import NOT_ASKED, Measure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Statistic = Callable[[Floats], Floats]
"""From sums, shape (..., features), to values, shape (...); NaN where undefined."""

Part = slice | Ints
Rows = npt.NDArray[Any] | Callable[[Part], npt.NDArray[Any]]
"""Rows of features, shape (observations, features), or what makes some of them: as numbers of
eight bytes they would take most of the memory.
"""

RESAMPLES = 1_000
ALIKE = (
    "No interval: the passages do not differ in this, so resampling gives always the same "
    "value; that does not prove that the value is exact."
)
COVERAGE = 0.95
ROWS_AT_ONCE = 4_000
"""Rows that are held as numbers of eight bytes at a time, but for one passage with more."""
CELLS_AT_ONCE = 4_000_000
"""Counts of draws held in memory at a time: 32 MB."""
UNDEFINED_AT_MOST = 0.05
"""Share of resamples in which the statistic may be undefined; above it there is no interval."""
DUST = 1e-12
"""Rounding error: a denominator or a difference of this size is taken for zero."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """The parameters of the bootstrap. The same seed gives the same intervals."""

    resamples: int = RESAMPLES
    """0 for no intervals."""
    seed: int = 0

    def measure(
        self, value: float, n: int, rows: Rows, passages: Ints, statistic: Statistic
    ) -> Measure:
        """The value with its 95 % interval.

        passages: the passage number of each row, shape (observations,). statistic: applied to
        the sum of all rows, it gives `value`. n: reported in the result.
        """
        if not self.resamples:
            return Measure(value, None, None, n, NOT_ASKED)
        groups, sizes = grouped(rows, passages)
        if sizes.sum() < 2:
            why = "No interval: resampling needs several passages, and this is all in one."
            return Measure(value, None, None, n, why)
        drawn = self.draw(groups, sizes, statistic)
        defined = drawn[~np.isnan(drawn)]
        if len(defined) < (1 - UNDEFINED_AT_MOST) * len(drawn):
            why = (
                f"No interval: in {len(drawn) - len(defined):,} of {len(drawn):,} resamples "
                "the measure is not defined."
            )
            return Measure(value, None, None, n, why)
        if np.ptp(defined) <= DUST:
            # An interval of no width would claim that nothing else can be.
            return Measure(value, None, None, n, ALIKE)
        tail = 100 * (1 - COVERAGE) / 2
        low, high = np.percentile(defined, [tail, 100 - tail])
        return Measure(value, float(low), float(high), n, None)

    def drawn(self, rows: Rows, passages: Ints, statistic: Statistic) -> Floats | None:
        """The defined values of the statistic, one for each resample.

        Arguments as in `measure`. None without resamples or with a single passage.
        """
        groups, sizes = grouped(rows, passages)
        if not self.resamples or sizes.sum() < 2:
            return None
        values = self.draw(groups, sizes, statistic)
        return values[~np.isnan(values)]

    def p_value(
        self, value: float, rows: Rows, passages: Ints, statistic: Statistic
    ) -> float | None:
        """The two-sided p-value of the hypothesis that the value is 0.

        It counts the resamples that deviate from the observed value at least as far as that
        value is from 0 (Koehn 2004; Davison and Hinkley 1997, section 4.4.1). Arguments as in
        `measure`; None as in `drawn`.
        """
        drawn = self.drawn(rows, passages, statistic)
        if drawn is None:
            return None
        # Davison and Hinkley's (1 + b) / (1 + R): never 0, since R resamples cannot show that.
        strays = np.count_nonzero(np.abs(drawn - value) >= abs(value) - DUST)
        return float((1 + strays) / (1 + len(drawn)))

    def draw(self, groups: Floats, sizes: Ints, statistic: Statistic) -> Floats:
        """The statistic in each resample, shape (resamples,). groups: distinct sums of
        passages. sizes: passages of each.
        """
        random = np.random.default_rng(self.seed)
        total = int(sizes.sum())
        share = sizes / total
        at_once = max(1, CELLS_AT_ONCE // len(groups))
        values = np.empty(self.resamples)
        for start in range(0, self.resamples, at_once):
            stop = min(start + at_once, self.resamples)
            times = random.multinomial(total, share, size=stop - start)
            values[start:stop] = statistic(times @ groups)
        return values


def numbered(names: Iterable[str]) -> Ints:
    """A number for each name, in the order of first occurrence; equal names get equal
    numbers.
    """
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def grouped(rows: Rows, passages: Ints) -> tuple[Floats, Ints]:
    """The distinct sums of the rows of a passage, and the number of passages with each."""
    found = [
        distinct(by_passage(some(rows, part), passages[part])) for part in stretches(passages)
    ]
    return distinct(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def some(rows: Rows, part: Part) -> Floats:
    """These rows."""
    found = rows(part) if callable(rows) else rows[part]
    return found.astype(np.float64, copy=False)


def stretches(passages: Ints) -> Iterator[Part]:
    """The places of whole passages, `ROWS_AT_ONCE` rows or one passage at a time."""
    order = None
    if (passages[1:] < passages[:-1]).any():
        order = np.argsort(passages, kind="stable")
        passages = passages[order]
    starts = np.flatnonzero(np.r_[True, passages[1:] != passages[:-1]])
    marks = np.arange(ROWS_AT_ONCE, len(passages), ROWS_AT_ONCE)
    first = np.unique(starts[np.searchsorted(starts, marks, side="right") - 1])
    for start, stop in pairwise([0, *first[first > 0].tolist(), len(passages)]):
        yield slice(start, stop) if order is None else order[start:stop]


def by_passage(rows: Floats, passages: Ints) -> Floats:
    """The sums of the rows of each passage, in the order of the passage numbers."""
    if not len(rows):
        return rows
    order = np.argsort(passages, kind="stable")
    ordered = passages[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    return np.add.reduceat(rows[order], starts, axis=0)


def distinct(sums: Floats, sizes: Ints | None = None) -> tuple[Floats, Ints]:
    """The distinct rows, and the number of occurrences of each.

    sizes: the occurrences that each row stands for; 1 without.
    """
    # Compared as bytes: ten times as fast as column by column. -0.0 would be another value.
    packed = np.ascontiguousarray(sums + 0.0).view(
        np.dtype((np.void, sums.itemsize * sums.shape[1]))
    )
    _, first, which = np.unique(packed.ravel(), return_index=True, return_inverse=True)
    return sums[first], np.bincount(which, sizes).astype(np.int64)


def ratio(sums: Floats) -> Floats:
    """The statistic of a share: feature 0 divided by feature 1."""
    return divided(sums[..., 0], sums[..., 1])


def divided(part: Floats, whole: Floats) -> Floats:
    """part / whole; NaN where the whole is zero."""
    fits = np.abs(whole) > DUST
    return np.where(fits, part / np.where(fits, whole, 1.0), np.nan)


def corrected(observed: Floats, expected: Floats) -> Floats:
    """Chance correction: (observed - expected) / (1 - expected); NaN where expected is 1."""
    return divided(observed - expected, 1.0 - expected)
