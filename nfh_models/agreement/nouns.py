"""Agreement on heads, where both say REFERENCE: by noun, and by mention."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import Resampling, ratio
from nfh_models.agreement.coding import EQUAL
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.agreement.pairs import Pairs

NO_REFERENCES = "There is no pair of answers that both say REFERENCE."


@dataclass(frozen=True, slots=True)
class NounAgreement:
    """How two answers that both say REFERENCE agree.

    exact: the same nouns in the same relation (nothing blocks); n counts pairs. f1: over
    heads; n counts heads. mention, extent: of the pairs that agree exactly, how many mark
    other mentions of a noun, or the same mention with another span.
    """

    exact: Measure
    f1: Measure
    mention: Measure
    extent: Measure


def noun_agreement(pairs: Pairs, resampling: Resampling) -> NounAgreement:
    """Agreement by noun of the pairs in which both say REFERENCE."""
    both = pairs.references
    exact = both.where(both.blocking == EQUAL)
    none = "There is no pair of answers that name the same nouns."
    return NounAgreement(
        share(both, both.blocking == EQUAL, resampling, NO_REFERENCES),
        head_f1(both, resampling),
        share(exact, exact.mention == 1, resampling, none),
        share(exact, exact.extent == 1, resampling, none),
    )


def head_f1(pairs: Pairs, resampling: Resampling) -> Measure:
    """Heads that the other one names too, as a share of all heads of both; n counts heads.

    The F1 of either against the other (Hripcsak and Rothschild 2005, JAMIA 12:296-298: for
    two people it is positive agreement), pooled over pairs: a head counts as found if the
    other answer has one that is the same, by `same_head`.
    """
    both = pairs.references
    if not len(both):
        return undefined(NO_REFERENCES)
    rows = np.column_stack((both.matched, both.heads)).astype(np.float64)
    value = float(both.matched.sum() / both.heads.sum())
    return resampling.measure(value, int(both.heads.sum()), rows, both.passage, ratio)


def share(
    pairs: Pairs,
    true: npt.NDArray[np.bool_],
    resampling: Resampling,
    why: str,
) -> Measure:
    """Of these pairs, the share for which something is true; n counts pairs."""
    if not len(pairs):
        return undefined(why)
    rows = np.column_stack((true, np.ones(len(pairs)))).astype(np.float64)
    return resampling.measure(float(true.mean()), len(pairs), rows, pairs.passage, ratio)


def equal_share(pairs: Pairs, resampling: Resampling, nothing: str) -> Measure:
    """Of the pairs that name a kind, the share in which nothing blocks; n counts pairs."""
    named = pairs.named
    return share(named, named.blocking == EQUAL, resampling, nothing)


def same_kind_share(pairs: Pairs, resampling: Resampling, nothing: str) -> Measure:
    """Of the pairs that name a kind, the share with the same one; n counts pairs."""
    named = pairs.named
    return share(named, named.left_kind == named.right_kind, resampling, nothing)
