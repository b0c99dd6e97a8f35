"""Agreement on one kind at a time: of the times it was said, how often the other said it too.

Specific ("positive") agreement: 2a / (2a + b + c), where a counts pairs in which both say
it, and b and c those in which only one does. Spitzer and Fleiss 1974, British Journal of
Psychiatry 125:341-347; pooled over pairs of annotators as in Fleiss 1981, Statistical
Methods for Rates and Proportions (2nd edition), chapter 13. It knows no chance correction:
with many people it is the probability that, one of them having said it, another does.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import Ints, Resampling, ratio
from nfh_models.agreement.coding import BROKEN, KINDS, NOT_NFH
from nfh_models.agreement.measure import LeftOut, Measure, left_out, undefined
from nfh_models.agreement.pairs import Pairs
from nfh_models.agreement.tables import NO_OVERLAP
from nfh_models.domain import Kind


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """Agreement on one kind. both, one: pairs in which both or only one of two say it.

    agreement: its n counts the pairs in which anybody says it.
    """

    kind: Kind
    both: int
    one: int
    agreement: Measure


@dataclass(frozen=True, slots=True)
class ScopeAgreement:
    """Agreement on what is no NFH (positive) and on what is one (negative), by pairs."""

    positive: Measure
    negative: Measure
    both: int
    one: int
    neither: int
    left_out: tuple[LeftOut, ...]


def kind_agreement(
    pairs: Pairs, resampling: Resampling, nothing: str = NO_OVERLAP
) -> tuple[KindAgreement, ...]:
    """Positive agreement on each kind, in their order. Pairs with an NFH are left out."""
    pairs = pairs.named
    found = []
    for code, kind in enumerate(KINDS):
        left, right = pairs.left_kind == code, pairs.right_kind == code
        absent = f"Nobody says {kind} where another answers, too." if len(pairs) else nothing
        agreement = _specific(left, right, pairs.passage, resampling, absent)
        both, one = int((left & right).sum()), int((left ^ right).sum())
        found.append(KindAgreement(kind, both, one, agreement))
    return tuple(found)


def scope_agreement(
    pairs: Pairs, resampling: Resampling, nothing: str = NO_OVERLAP
) -> ScopeAgreement:
    """Agreement on NOT_NFH. Everything else but BROKEN, which says neither, is an NFH."""
    sound = (pairs.left_kind != BROKEN) & (pairs.right_kind != BROKEN)
    used = pairs.where(sound)
    left, right = used.left_kind == NOT_NFH, used.right_kind == NOT_NFH
    if len(pairs) and not len(used):
        nothing = "Wherever two annotators answered, one says BROKEN."
    absent = "Nobody says NOT_NFH where another answers, too." if len(used) else nothing
    always = "Of each pair one says NOT_NFH or both do." if len(used) else nothing
    return ScopeAgreement(
        _specific(left, right, used.passage, resampling, absent),
        _specific(~left, ~right, used.passage, resampling, always),
        int((left & right).sum()),
        int((left ^ right).sum()),
        int((~left & ~right).sum()),
        left_out({"pairs in which one says BROKEN": len(pairs) - len(used)}),
    )


def _specific(
    left: npt.NDArray[np.bool_],
    right: npt.NDArray[np.bool_],
    passages: Ints,
    resampling: Resampling,
    absent: str,
) -> Measure:
    any_says = left | right
    if not any_says.any():
        return undefined(absent)
    both = 2.0 * (left & right)[any_says]
    said = left[any_says].astype(np.float64) + right[any_says]
    rows = np.column_stack((both, said))
    value = float(both.sum() / said.sum())
    return resampling.measure(value, len(rows), rows, passages[any_says], ratio)
