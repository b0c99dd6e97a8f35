"""All measures of agreement, and all that is told of annotators' competence, each as one
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
    Against,
    KindConfusion,
    KnownAnswerScore,
    Latent,
    Mark,
    PersonVotes,
    against_known,
    against_others,
    estimate,
)
from nfh_models.agreement.drift import Cut, Drift, Habit, Trend, corrected, drift, habits
from nfh_models.agreement.measure import BLOCKING, KINDS, NFH, LeftOut, Measure, left_out
from nfh_models.agreement.pairs import (
    NounAgreement,
    Patterns,
    Tables,
    class_patterns,
    equal_share,
    noun_agreement,
    noun_patterns,
    same_kind_share,
)
from nfh_models.domain import Blocking, Kind

NO_EXPERT = "No expert decided an item that they answered."
NO_CHECKS = "No check item was given to them and answered."


@dataclass(frozen=True, slots=True)
class AnnotatorCompetence:
    """One annotator.

    own: votes on items that they decided themselves, as an expert; left out of `expert`.
    expert, checks: against an expert's decisions, and against check items. others: kinds
    against the majority of the others, where no expert decided.
    """

    name: str
    answers: int
    kinds: Mapping[Kind, int]
    own: int
    expert: KnownAnswerScore
    checks: KnownAnswerScore
    others: KindConfusion | None
    drift: Drift
    habits: tuple[Habit, ...]


@dataclass(frozen=True, slots=True)
class CompetenceReport:
    """Everybody. items: of the query; decided: by an expert; unanimous: of these, how many
    have two votes and more that do not differ. tests: how many trends were tested."""

    items: int
    decided: int
    unanimous: int
    latent: Latent
    people: tuple[AnnotatorCompetence, ...]
    tests: int


def competence(
    marks: PersonVotes,
    cut: Cut = "tenths",
    closest: Mapping[str, tuple[int, int]] | None = None,
) -> CompetenceReport:
    """The whole report. closest: as `closest_nouns` gives it, where nouns were looked for."""
    people = [_person(name, marks, cut, closest or {}) for name in marks.people]
    trends = corrected([trend for person in people for trend in person.drift.trends])
    return CompetenceReport(
        marks.items,
        marks.decided,
        marks.unanimous,
        estimate(marks),
        tuple(_with_trends(people, trends)),
        len(trends),
    )


def _person(
    name: str, marks: PersonVotes, cut: Cut, closest: Mapping[str, tuple[int, int]]
) -> AnnotatorCompetence:
    given = marks.people[name]
    return AnnotatorCompetence(
        name,
        len(given),
        dict(Counter(mark.kind for mark in given)),
        marks.own.get(name, 0),
        against_known(given, _expert, NO_EXPERT),
        against_known(given, _check, NO_CHECKS),
        against_others(given),
        drift(given, cut),
        habits(name, given, marks.together, closest.get(name, (0, 0))),
    )


def _expert(mark: Mark) -> Against | None:
    return mark.expert


def _check(mark: Mark) -> Against | None:
    return mark.check


def _with_trends(
    people: list[AnnotatorCompetence], trends: list[Trend]
) -> list[AnnotatorCompetence]:
    """The people with their own trends, which stand in `trends` one person after the other."""
    left = iter(trends)
    return [
        replace(
            person,
            drift=replace(person.drift, trends=tuple(next(left) for _ in person.drift.trends)),
        )
        for person in people
    ]


LEAST = 10
"""Answers that a figure must rest on; the bound is ours."""

CHECKS = "hidden check items"
EXPERT = "what experts decided"
DAWID_SKENE = "Dawid and Skene's model, over kinds"


@dataclass(frozen=True, slots=True)
class Figure:
    """How probably somebody is right, 0 to 1, by so many answers."""

    accuracy: float
    answers: int


@dataclass(frozen=True, slots=True)
class ChosenFigures:
    """The figures, all by one source, since figures by different ones do not compare.

    source: in words, "" where nobody has a figure. people: by name.
    """

    source: str
    people: Mapping[str, Figure]


def chosen(found: CompetenceReport) -> ChosenFigures:
    """The source that gives most people a figure; of those equal the one listed first.

    Check items come first: they are a sample of ordinary items. What experts decided comes
    before Dawid and Skene's model, which leaves heads out and believes what most say.
    """
    sources = (
        ChosenFigures(CHECKS, _figures({p.name: p.checks.equal for p in found.people})),
        ChosenFigures(EXPERT, _figures({p.name: p.expert.equal for p in found.people})),
        ChosenFigures(DAWID_SKENE, _figures(_modelled(found))),
    )
    best = max(sources, key=lambda one: len(one.people))
    return best if best.people else ChosenFigures("", {})


def _modelled(found: CompetenceReport) -> dict[str, Measure]:
    people: dict[str, AnnotatorCompetence] = {person.name: person for person in found.people}
    return {
        name: model.accuracy for name, model in found.latent.people.items() if name in people
    }


def _figures(measures: Mapping[str, Measure]) -> dict[str, Figure]:
    return {
        name: Figure(_smoothed(measure.value, measure.n), measure.n)
        for name, measure in measures.items()
        if measure.value is not None and measure.n >= LEAST
    }


def _smoothed(share: float, n: int) -> float:
    """The share as Laplace's rule of succession has it: nobody is sure after a few answers."""
    return (share * n + 1) / (n + 2)


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
class AnnotatorPairs:
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
    people: AnnotatorPairs
    experts: AnnotatorPairs
    own: Mapping[str, int]
    doubles: AnnotatorPairs
    matrix: MajorityMatrix


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
