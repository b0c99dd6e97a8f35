"""All agreement measures, and all figures about the competence of annotators, each as one
value.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.coefficients import (
    MOST_PAIRS,
    Fleiss,
    KindAgreement,
    MajorityMatrix,
    PeopleAgreement,
    ScopeAgreement,
    Skill,
    fleiss,
    gwet_ac1,
    kind_agreement,
    krippendorff_alpha,
    majority_matrix,
    people_agreement,
    scope_agreement,
)
from nfh_models.agreement.competence import (
    KindConfusion,
    KnownAnswerScore,
    Latent,
    PersonVotes,
    against_known,
    against_others,
    estimate,
)
from nfh_models.agreement.drift import Cut, Drift, Suspicion, Trend, corrected, drift, habits
from nfh_models.agreement.measure import BLOCKING, KINDS, NFH, LeftOut, Measure, left_out
from nfh_models.agreement.pairs import (
    NounAgreement,
    Patterns,
    Tables,
    blocking_counts,
    class_patterns,
    equal_share,
    noun_agreement,
    noun_patterns,
    same_kind_share,
)
from nfh_models.domain import Blocking, Kind

NO_EXPERT = "No adjudicator decided an item that they answered."
NO_CHECKS = "They have answered no check item."


@dataclass(frozen=True, slots=True)
class AnnotatorCompetence:
    """The figures of one annotator."""

    name: str
    answers: int
    kinds: Mapping[Kind, int]
    own: int
    """Votes on items that they decided themselves as adjudicator; not in `expert`."""
    expert: KnownAnswerScore
    """Against the adjudicators' decisions."""
    checks: KnownAnswerScore
    """Against check items with a known answer."""
    others: KindConfusion | None
    """Kinds against the majority of the others, where no adjudicator decided."""
    drift: Drift
    habits: tuple[Suspicion, ...]


@dataclass(frozen=True, slots=True)
class CompetenceReport:
    """The figures of all annotators."""

    items: int
    """Items that the query finds."""
    decided: int
    """Of these, items that an adjudicator decided."""
    unanimous: int
    """Of the decided ones, items with two or more votes that do not differ."""
    latent: Latent
    people: tuple[AnnotatorCompetence, ...]
    tests: int
    """The number of trends that were tested."""


def competence(
    votes: PersonVotes,
    cut: Cut = "tenths",
    closest: Mapping[str, tuple[int, int]] | None = None,
) -> CompetenceReport:
    """The whole report. closest: from `closest_nouns`, where nouns were determined."""
    people = [_person(name, votes, cut, closest or {}) for name in votes.people]
    trends = corrected([trend for person in people for trend in person.drift.trends])
    return CompetenceReport(
        votes.items,
        votes.decided,
        votes.unanimous,
        estimate(votes),
        tuple(_with_trends(people, trends)),
        len(trends),
    )


def _person(
    name: str, votes: PersonVotes, cut: Cut, closest: Mapping[str, tuple[int, int]]
) -> AnnotatorCompetence:
    given = votes.people[name]
    return AnnotatorCompetence(
        name,
        len(given),
        dict(Counter(mark.kind for mark in given)),
        votes.own.get(name, 0),
        against_known(given, lambda vote: vote.expert, NO_EXPERT),
        against_known(given, lambda vote: vote.check, NO_CHECKS),
        against_others(given),
        drift(given, cut),
        habits(name, given, votes.together, closest.get(name, (0, 0))),
    )


def _with_trends(
    people: list[AnnotatorCompetence], trends: list[Trend]
) -> list[AnnotatorCompetence]:
    """The people with their corrected trends; `trends` holds them one person after the
    other.
    """
    left = iter(trends)
    return [
        replace(
            person,
            drift=replace(person.drift, trends=tuple(next(left) for _ in person.drift.trends)),
        )
        for person in people
    ]


LEAST = 10
"""Answers that a figure must rest on; our own bound."""

CHECKS = "hidden check items"
EXPERT = "what adjudicators decided"
DAWID_SKENE = "Dawid and Skene's model, over kinds"


@dataclass(frozen=True, slots=True)
class Figure:
    """The probability that a person is right, 0 to 1, and the number of answers it rests on."""

    accuracy: float
    answers: int


@dataclass(frozen=True, slots=True)
class ChosenFigures:
    """One figure for each person, all from one source: figures of different sources do not
    compare.
    """

    source: str
    """In words; "" where nobody has a figure."""
    people: Mapping[str, Figure]
    """By name."""


def chosen(found: CompetenceReport) -> ChosenFigures:
    """The figures of the source that covers most people; of equals the one listed first.

    Check items come first, since they are a sample of ordinary items. The adjudicators'
    decisions come before Dawid and Skene's model, which ignores heads and believes the
    majority.
    """
    known = {person.name for person in found.people}
    latent = found.latent.people.items()
    sources = (
        ChosenFigures(CHECKS, _figures({p.name: p.checks.equal for p in found.people})),
        ChosenFigures(EXPERT, _figures({p.name: p.expert.equal for p in found.people})),
        ChosenFigures(
            DAWID_SKENE, _figures({name: p.accuracy for name, p in latent if name in known})
        ),
    )
    best = max(sources, key=lambda one: len(one.people))
    return best if best.people else ChosenFigures("", {})


def _figures(measures: Mapping[str, Measure]) -> dict[str, Figure]:
    # Laplace's rule of succession: nobody is sure to be right after a few answers.
    return {
        name: Figure((measure.value * measure.n + 1) / (measure.n + 2), measure.n)
        for name, measure in measures.items()
        if measure.value is not None and measure.n >= LEAST
    }


THE_EXPERT = "expert"
"""The name of the adjudicators where annotators are compared with them."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The data that agreement is measured on."""

    items: int
    passages: int
    votes: Mapping[str, int]
    """Items by number of votes: "0", "1", "2", "3+"."""
    annotators: Mapping[str, int]
    experts: Mapping[str, int]
    """`annotators` and `experts`: answers by name."""
    decided: int
    """Items that an adjudicator decided."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """Agreement over all pairs of annotators, each pair of answers counted once."""

    pairs: int
    """Pairs of answers."""
    equal: Measure
    same_kind: Measure
    nouns: NounAgreement
    """`equal`, `same_kind` and `nouns` are as in PeopleAgreement."""
    differences: Mapping[Blocking, tuple[int, int]]
    """Pairs and items by blocking difference."""
    left_out: tuple[LeftOut, ...]
    """Pairs with an answer that names no kind."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients over all annotators at once."""

    alpha: Measure
    fleiss: Fleiss
    ac1: Measure
    left_out: tuple[LeftOut, ...]
    """Of alpha and AC1."""


@dataclass(frozen=True, slots=True)
class AnnotatorPairs:
    """Agreement of two people at a time."""

    twos: tuple[PeopleAgreement, ...]
    not_measured: int
    """Pairs that share fewer items than those measured."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The content of `nfh-tui agreement`."""

    coverage: Coverage
    class_patterns: Patterns
    noun_patterns: Patterns
    coefficients: Coefficients
    pooled: Pooled
    kinds: tuple[KindAgreement, ...]
    scope: ScopeAgreement
    skill: Skill
    people: AnnotatorPairs
    experts: AnnotatorPairs
    """Each annotator against the adjudicators."""
    own: Mapping[str, int]
    """Items of each annotator that are not in `experts`, since they decided them themselves."""
    doubles: AnnotatorPairs
    """Adjudicators among each other."""
    matrix: MajorityMatrix


def measure_agreement(
    tables: Tables, skill: Skill, resampling: Resampling, most: int = MOST_PAIRS
) -> Agreement:
    """All measures. most: the largest number of pairs of people measured in each of the three
    tables.
    """
    votes, lack = tables.votes, tables.problem
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
        AnnotatorPairs(*people_agreement(votes, names, names, resampling, most)),
        AnnotatorPairs(*people_agreement(tables.against, names, expert, resampling, most)),
        tables.own,
        AnnotatorPairs(
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
    kinds, passage, lack = tables.kinds, tables.passage, tables.problem
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
    votes, lack = tables.votes, tables.problem
    pairs = blocking_counts(votes)
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
