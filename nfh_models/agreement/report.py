"""All measures of agreement on some items, as one value."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nfh_models.agreement.ac1 import gwet_ac1
from nfh_models.agreement.alpha import krippendorff_alpha
from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.coding import BLOCKING, KINDS, NFH
from nfh_models.agreement.kappa import Fleiss, fleiss
from nfh_models.agreement.matrix import Matrix, majority_matrix
from nfh_models.agreement.measure import LeftOut, Measure, left_out
from nfh_models.agreement.nouns import (
    NounAgreement,
    equal_share,
    noun_agreement,
    same_kind_share,
)
from nfh_models.agreement.patterns import Patterns, class_patterns, noun_patterns
from nfh_models.agreement.people import MOST_PAIRS, PeopleAgreement, people_agreement
from nfh_models.agreement.positive import (
    KindAgreement,
    ScopeAgreement,
    kind_agreement,
    scope_agreement,
)
from nfh_models.agreement.skill import Skill
from nfh_models.agreement.tables import Tables
from nfh_models.domain import Blocking

THE_EXPERT = "expert"
"""Stands for whoever decided, where annotators are set against experts."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What there is to measure on.

    votes: items by number of annotators who answered: "0", "1", "2", "3+". annotators,
    experts: answers of each, by name. decided: items that an expert decided.
    """

    items: int
    passages: int
    votes: Mapping[str, int]
    annotators: Mapping[str, int]
    experts: Mapping[str, int]
    decided: int


@dataclass(frozen=True, slots=True)
class Pooled:
    """Agreement of all pairs of annotators, each pair of answers once.

    equal, same_kind, nouns: as in PeopleAgreement. differences: pairs and items by what
    blocks. pairs: of answers; left_out: those of them that name no kind.
    """

    pairs: int
    equal: Measure
    same_kind: Measure
    nouns: NounAgreement
    differences: Mapping[Blocking, tuple[int, int]]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients over all annotators at once. left_out: of alpha and AC1."""

    alpha: Measure
    fleiss: Fleiss
    ac1: Measure
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class People:
    """Two people at a time; not_measured: twos that share fewer items than the others."""

    twos: tuple[PeopleAgreement, ...]
    not_measured: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Everything `nfh-tui agreement` says.

    experts: each annotator against what experts decided; own: items of each annotator that
    are not in it, since they decided them themselves. doubles: experts with each other.
    """

    coverage: Coverage
    class_patterns: Patterns
    noun_patterns: Patterns
    coefficients: Coefficients
    pooled: Pooled
    kinds: tuple[KindAgreement, ...]
    scope: ScopeAgreement
    skill: Skill
    people: People
    experts: People
    own: Mapping[str, int]
    doubles: People
    matrix: Matrix


def measure_agreement(
    tables: Tables, skill: Skill, resampling: Resampling, most: int = MOST_PAIRS
) -> Agreement:
    """All measures. most: twos of people that are measured, in each of the three tables."""
    votes, lack = tables.votes, tables.lack
    names, expert = tables.people, (THE_EXPERT,)
    return Agreement(
        _coverage(tables),
        class_patterns(tables, resampling),
        noun_patterns(tables, resampling),
        _coefficients(tables, resampling),
        _pooled(tables, resampling),
        kind_agreement(votes, resampling, lack),
        scope_agreement(votes, resampling, lack),
        skill,
        People(*people_agreement(votes, names, names, resampling, most)),
        People(*people_agreement(tables.against, names, expert, resampling, most)),
        tables.own,
        People(
            *people_agreement(tables.doubles, tables.experts, tables.experts, resampling, most)
        ),
        majority_matrix(tables),
    )


def _coverage(tables: Tables) -> Coverage:
    votes = tables.counts.sum(axis=1)
    by_votes = {str(number): int((votes == number).sum()) for number in range(3)}
    by_votes["3+"] = int((votes >= 3).sum())
    return Coverage(
        tables.items,
        tables.passages,
        by_votes,
        tables.answers,
        tables.decisions,
        tables.expert_items,
    )


def _coefficients(tables: Tables, resampling: Resampling) -> Coefficients:
    names = tuple(kind.value for kind in KINDS)
    kinds, passage, lack = tables.kinds, tables.passage, tables.lack
    too_few = int((kinds.sum(axis=1) < 2).sum())
    return Coefficients(
        krippendorff_alpha(kinds, passage, resampling, names, lack),
        fleiss(tables, resampling),
        gwet_ac1(kinds, passage, resampling, names, lack),
        left_out(
            {
                "items with fewer than two answers that name a kind": too_few,
                "answers NFH, which could become any kind": tables.counts[:, NFH].sum(),
            }
        ),
    )


def _pooled(tables: Tables, resampling: Resampling) -> Pooled:
    votes, lack = tables.votes, tables.lack
    pairs = Counter(votes.blocking.tolist())
    differences = {
        kind: (pairs[code], len(np.unique(votes.item[votes.blocking == code])))
        for code, kind in enumerate(BLOCKING)
    }
    named = len(votes.named)
    return Pooled(
        named,
        equal_share(votes, resampling, lack),
        same_kind_share(votes, resampling, lack),
        noun_agreement(votes, resampling),
        differences,
        left_out({"pairs with an NFH, which could become any kind": len(votes) - named}),
    )
