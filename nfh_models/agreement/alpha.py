"""Krippendorff's alpha, nominal, over kinds; answers may be missing."""

import numpy as np

from nfh_models.agreement.bootstrap import Floats, Ints, Resampling, corrected, divided
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.agreement.tables import NO_OVERLAP

ONE_KIND = (
    "Only {} was said, by everybody: where no other answer occurs, nothing tells agreement "
    "from having no choice."
)


def krippendorff_alpha(
    counts: Ints,
    passages: Ints,
    resampling: Resampling,
    names: tuple[str, ...],
    nothing: str = NO_OVERLAP,
) -> Measure:
    """Alpha over the categories of `counts`, shape (items, categories); n counts items.

    Krippendorff 2019, Content Analysis (4th edition), chapter 12, by the package
    `krippendorff`; items with fewer than two answers have no pair and do not count.
    names: of the categories. nothing: the sentence for no pair at all.
    """
    used = counts.sum(axis=1) >= 2
    table, where = counts[used], passages[used]
    if not len(table):
        return undefined(nothing)
    said = table.sum(axis=0) > 0
    if said.sum() == 1:
        return undefined(ONE_KIND.format(names[int(np.argmax(said))]), len(table))
    table = table[:, said]
    value = _by_library(table)
    return resampling.measure(value, len(table), alpha_rows(table), where, alpha_of)


def _by_library(table: Ints) -> float:
    import krippendorff

    # The library's products are of the type of the counts: 32 bits halve its memory.
    return float(
        krippendorff.alpha(value_counts=table.astype(np.int32), level_of_measurement="nominal")
    )


def alpha_rows(table: Ints) -> Floats:
    """Per item: answers by category, and its diagonal of the coincidence matrix, summed."""
    voters = table.sum(axis=1, keepdims=True)
    equal = (table * (table - 1)).sum(axis=1, keepdims=True) / (voters - 1)
    return np.hstack((table, equal))


def alpha_of(sums: Floats) -> Floats:
    """Alpha from the sums of `alpha_rows`: 1 - observed / expected disagreement."""
    by_category, equal = sums[..., :-1], sums[..., -1]
    total = by_category.sum(axis=-1)
    observed = divided(equal, total)
    expected = divided((by_category * (by_category - 1)).sum(axis=-1), total * (total - 1))
    return corrected(observed, expected)
