"""Two recipes on the same examples: is one better, or is it luck?

The paired bootstrap draws groups of examples and looks at the same ones with both recipes
(Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation, section 3.3);
McNemar's exact test looks only at the examples on which one is right and the other wrong
(McNemar 1947, Psychometrika 12:153-157; exact as in Dietterich 1998, Neural Computation
10:1895-1923), and takes examples for independent, which those of one passage are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nfh_models.agreement.bootstrap import Floats, Resampling, divided
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.resolution.scoring.intervals import MEASURES, NOTHING, groups_of
from nfh_models.resolution.scoring.judging import Judged


@dataclass(frozen=True, slots=True)
class Paired:
    """Two recipes on the same examples, by one measure.

    measure: its name in MEASURES. first, second: the measure of each. difference: that of
    the first less that of the second, with its interval. sign_flips: the share of resamples
    in which the difference has not the sign it has over all examples; 1 where it is 0 there.
    p: how often a difference at least as large, either way, would be drawn if there were
    none. Both None where none can be drawn. both, only_first, only_second, neither: how many
    examples are right by them, of those that the measure counts. mcnemar_p: two-sided and
    exact; 1 where they differ on no example.
    """

    measure: str
    first: float | None
    second: float | None
    difference: Measure
    sign_flips: float | None
    p: float | None
    both: int
    only_first: int
    only_second: int
    neither: int
    mcnemar_p: float


def compare(
    first: Sequence[Judged],
    second: Sequence[Judged],
    resampling: Resampling | None = None,
    measure: str = "accuracy",
) -> Paired:
    """The difference of two recipes, with its interval, and tested.

    measure: of MEASURES. ValueError for another one, or if the examples are not the same.
    """
    if measure not in MEASURES:
        raise ValueError(f"{measure!r} is no measure; there are {', '.join(MEASURES)}")
    if [one.example for one in first] != [one.example for one in second]:
        raise ValueError("two recipes are compared on the same examples in the same order")
    right, among = MEASURES[measure]
    kept = [(one, other) for one, other in zip(first, second, strict=True) if among(one)]
    pairs = np.array([(right(one), right(other)) for one, other in kept], dtype=bool)
    cells = pairs.reshape(-1, 2)
    both, only_first, only_second, neither = (
        int(np.count_nonzero((cells == pattern).all(axis=1)))
        for pattern in ((True, True), (True, False), (False, True), (False, False))
    )
    drawing = resampling or Resampling()
    rows = np.concatenate([cells, np.ones((len(cells), 1))], axis=1)
    difference, flips, p = _difference(rows, [one for one, _ in kept], drawing)
    mine, theirs = cells.mean(axis=0) if len(cells) else (None, None)
    return Paired(
        measure,
        None if mine is None else float(mine),
        None if theirs is None else float(theirs),
        difference,
        flips,
        p,
        both,
        only_first,
        only_second,
        neither,
        mcnemar_exact(only_first, only_second),
    )


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """The two-sided exact p: how often chance alone parts the differing examples so."""
    from scipy.stats import binomtest

    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def _difference(
    rows: Floats, judged: Sequence[Judged], drawing: Resampling
) -> tuple[Measure, float | None, float | None]:
    if not len(rows):
        return undefined(NOTHING), None, None
    value = float(_statistic(rows.sum(axis=0)))
    groups = groups_of(judged)
    difference = drawing.measure(value, len(rows), rows, groups, _statistic)
    drawn = drawing.drawn(rows, groups, _statistic)
    if drawn is None:
        return difference, None, None
    flips = float(np.mean(drawn * np.sign(value) <= 0))
    return difference, flips, drawing.p_value(value, rows, groups, _statistic)


def _statistic(sums: Floats) -> Floats:
    return divided(sums[..., 0] - sums[..., 1], sums[..., 2])
