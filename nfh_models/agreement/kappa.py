"""Fleiss' kappa over the paper's classes, and Cohen's kappa of two people over kinds."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from nfh_models.agreement.alpha import ONE_KIND
from nfh_models.agreement.bootstrap import Floats, Ints, Resampling, corrected, divided
from nfh_models.agreement.coding import CLASSES, KINDS
from nfh_models.agreement.measure import LeftOut, Measure, left_out, undefined
from nfh_models.agreement.pairs import Pairs
from nfh_models.agreement.patterns import OUTSIDE, TOO_FEW
from nfh_models.agreement.tables import NO_OVERLAP, Tables

NONE_INSIDE = "Each item with two answers has one that is in none of the seven classes."


@dataclass(frozen=True, slots=True)
class Fleiss:
    """Fleiss' kappa. voters: how many answers each item has that was used; 0 for none."""

    kappa: Measure
    voters: int
    left_out: tuple[LeftOut, ...]


def fleiss(tables: Tables, resampling: Resampling) -> Fleiss:
    """Fleiss' kappa over the seven classes, where the same number of people answered.

    Fleiss 1971 defines it for one number of raters an item. Of the items all of whose votes
    are in the seven classes, those with the most frequent number of voters are used (of
    two equally frequent ones the larger); alpha, beside it, uses all.
    """
    enough = tables.counts.sum(axis=1) >= 2
    inside = enough & (tables.outside == 0)
    classes = tables.classes
    voters = classes.sum(axis=1)
    frequent = Counter(voters[inside].tolist())
    chosen = max(frequent, key=lambda number: (frequent[number], number), default=0)
    used = inside & (voters == chosen)
    omitted = {
        TOO_FEW: int((~enough).sum()),
        OUTSIDE: int((enough & ~inside).sum()),
        f"items with another number of answers than {chosen}": int((inside & ~used).sum()),
    }
    names = tuple(kind.value for kind in CLASSES)
    nothing = NONE_INSIDE if enough.any() else tables.lack
    kappa = fleiss_kappa(classes[used], tables.passage[used], resampling, names, nothing)
    return Fleiss(kappa, chosen, left_out(omitted))


def fleiss_kappa(
    counts: Ints,
    passages: Ints,
    resampling: Resampling,
    names: tuple[str, ...],
    nothing: str = NO_OVERLAP,
) -> Measure:
    """Fleiss' kappa of `counts`, shape (items, categories), by statsmodels; n counts items.

    Fleiss 1971, Psychological Bulletin 76:378-382. Raises ValueError unless each item has
    the same number of votes, two or more.
    """
    if not len(counts):
        return undefined(nothing)
    voters = set(counts.sum(axis=1).tolist())
    if len(voters) > 1 or min(voters) < 2:
        raise ValueError(f"Fleiss' kappa needs one number of votes, two or more: {voters}")
    said = counts.sum(axis=0) > 0
    if said.sum() == 1:
        return undefined(ONE_KIND.format(names[int(np.argmax(said))]), len(counts))
    from statsmodels.stats.inter_rater import fleiss_kappa as by_library

    table = counts[:, said]
    value = float(by_library(table, method="fleiss"))
    return resampling.measure(value, len(table), fleiss_rows(table), passages, fleiss_of)


def fleiss_rows(table: Ints) -> Floats:
    """Per item: votes by category, and the share of its pairs of votes that are equal."""
    voters = table.sum(axis=1, keepdims=True)
    equal = (table * (table - 1)).sum(axis=1, keepdims=True) / (voters * (voters - 1))
    return np.hstack((table, equal, np.ones((len(table), 1))))


def fleiss_of(sums: Floats) -> Floats:
    """Fleiss' kappa from the sums of `fleiss_rows`."""
    by_category, equal, items = sums[..., :-2], sums[..., -2], sums[..., -1]
    shares = divided(by_category, by_category.sum(axis=-1, keepdims=True))
    return corrected(divided(equal, items), (shares**2).sum(axis=-1))


def cohen(pairs: Pairs, resampling: Resampling, nothing: str = NO_OVERLAP) -> Measure:
    """Cohen's kappa over kinds of the left against the right, by scikit-learn; n counts pairs.

    Cohen 1960, Educational and Psychological Measurement 20:37-46. Pairs with an NFH, which
    could be any kind, are left out.
    """
    pairs = pairs.named
    if not len(pairs):
        return undefined(nothing)
    left, right = pairs.left_kind, pairs.right_kind
    if (left == left[0]).all() and (right == left[0]).all():
        return undefined(ONE_KIND.format(KINDS[int(left[0])]), len(pairs))
    from sklearn.metrics import cohen_kappa_score

    value = float(cohen_kappa_score(left, right))
    return resampling.measure(value, len(pairs), cohen_rows(pairs), pairs.passage, cohen_of)


def cohen_rows(pairs: Pairs) -> Floats:
    """Per pair: the left's kind and the right's as rows of the unit matrix, and equality."""
    unit = np.eye(len(KINDS))
    equal = (pairs.left_kind == pairs.right_kind)[:, np.newaxis]
    return np.hstack((unit[pairs.left_kind], unit[pairs.right_kind], equal))


def cohen_of(sums: Floats) -> Floats:
    """Cohen's kappa from the sums of `cohen_rows`."""
    left, right = sums[..., : len(KINDS)], sums[..., len(KINDS) : 2 * len(KINDS)]
    pairs = left.sum(axis=-1)
    observed = divided(sums[..., -1], pairs)
    return corrected(observed, divided((left * right).sum(axis=-1), pairs**2))
