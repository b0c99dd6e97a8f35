"""Two people at a time: annotators with each other, with the expert, experts with experts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.coding import BLOCKING, EQUAL, KINDS
from nfh_models.agreement.kappa import cohen
from nfh_models.agreement.measure import Measure
from nfh_models.agreement.nouns import (
    NounAgreement,
    equal_share,
    noun_agreement,
    same_kind_share,
)
from nfh_models.agreement.pairs import Pairs
from nfh_models.domain import Blocking, Kind

MOST_PAIRS = 200
"""Pairs of people that are measured: those with most items in common. Hundreds of workers
make tens of thousands of pairs that share a few items each."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How many items the left calls one kind and the right another, or the same."""

    left: Kind
    right: Kind
    items: int


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """How two people agree on the items that both answered (`items`; n counts these).

    equal: whole answers, by noun. kappa: Cohen's, over kinds. differences: items by what
    blocks. cells: by the two kinds, most frequent first, equal kinds too.
    """

    left: str
    right: str
    items: int
    equal: Measure
    same_kind: Measure
    kappa: Measure
    nouns: NounAgreement
    differences: dict[Blocking, int]
    cells: tuple[Cell, ...]


def people_agreement(
    pairs: Pairs,
    left: Sequence[str],
    right: Sequence[str],
    resampling: Resampling,
    most: int = MOST_PAIRS,
) -> tuple[tuple[PeopleAgreement, ...], int]:
    """The agreement of each two people, by name, and how many twos were not measured.

    left, right: names by number. Of more than `most`, those who share most items.
    """
    together = Counter(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    kept = sorted(together, key=lambda two: (-together[two], two))[:most]
    measured = [
        _agreement(pairs.between(*two), left[two[0]], right[two[1]], resampling)
        for two in sorted(kept)
    ]
    return tuple(measured), len(together) - len(kept)


def _agreement(pairs: Pairs, left: str, right: str, resampling: Resampling) -> PeopleAgreement:
    named = pairs.named
    blocking = Counter(pairs.blocking[pairs.blocking != EQUAL].tolist())
    cells = Counter(zip(named.left_kind.tolist(), named.right_kind.tolist(), strict=True))
    nothing = f"Of each two answers of {left} and {right} one is NFH, which names no kind."
    return PeopleAgreement(
        left,
        right,
        len(pairs),
        equal_share(pairs, resampling, nothing),
        same_kind_share(pairs, resampling, nothing),
        cohen(pairs, resampling, nothing),
        noun_agreement(pairs, resampling),
        {BLOCKING[code]: blocking[code] for code in sorted(blocking)},
        tuple(
            Cell(KINDS[mine], KINDS[other], items)
            for (mine, other), items in sorted(cells.items(), key=lambda one: (-one[1], one[0]))
        ),
    )
