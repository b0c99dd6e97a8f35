"""Gwet's AC1: a diagnostic beside alpha, for when one answer is far more frequent.

Written here since no kept library that runs beside numpy 2 has it.
"""

import numpy as np

from nfh_models.agreement.alpha import ONE_KIND
from nfh_models.agreement.bootstrap import Floats, Ints, Resampling, corrected, divided
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.agreement.tables import NO_OVERLAP


def gwet_ac1(
    counts: Ints,
    passages: Ints,
    resampling: Resampling,
    names: tuple[str, ...],
    nothing: str = NO_OVERLAP,
) -> Measure:
    """AC1 over the categories of `counts`, shape (items, categories); n counts items.

    Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48, for many
    raters, and Gwet 2014, Handbook of Inter-Rater Reliability, for missing answers:

        agreement  pa = mean over items with two or more answers of
                        sum over q of r_iq (r_iq - 1) / (r_i (r_i - 1))
        chance     pe = sum over q of pi_q (1 - pi_q) / (Q - 1)
                 pi_q = mean over items with any answer of r_iq / r_i
        AC1 = (pa - pe) / (1 - pe)

    r_iq: answers q to item i; r_i: its answers; Q: categories that anybody used. n counts
    the items with two or more answers.
    """
    answered = counts.sum(axis=1)
    used = answered >= 1
    pairable = int((answered >= 2).sum())
    if not pairable:
        return undefined(nothing)
    table = counts[used]
    said = table.sum(axis=0) > 0
    if said.sum() == 1:
        return undefined(ONE_KIND.format(names[int(np.argmax(said))]), pairable)
    rows = ac1_rows(table[:, said])
    value = float(ac1_of(rows.sum(axis=0)))
    return resampling.measure(value, pairable, rows, passages[used], ac1_of)


def ac1_rows(table: Ints) -> Floats:
    """Per item: shares of its answers by category, agreement of its pairs, has it pairs."""
    answers = table.sum(axis=1, keepdims=True)
    paired = answers >= 2
    pairs = np.where(paired, answers * (answers - 1), 1)
    equal = np.where(paired, (table * (table - 1)).sum(axis=1, keepdims=True) / pairs, 0.0)
    return np.hstack((table / answers, equal, paired))


def ac1_of(sums: Floats) -> Floats:
    """AC1 from the sums of `ac1_rows`."""
    by_category, equal, paired = sums[..., :-2], sums[..., -2], sums[..., -1]
    shares = divided(by_category, by_category.sum(axis=-1, keepdims=True))
    chance = (shares * (1 - shares)).sum(axis=-1) / (by_category.shape[-1] - 1)
    return corrected(divided(equal, paired), chance)
