"""All that is told of annotators' competence, as one value."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nfh_models.agreement.competence import Against, Mark, Marks
from nfh_models.agreement.competence_known import Known, against_known, against_others
from nfh_models.agreement.competence_latent import Confusion, Latent, estimate
from nfh_models.agreement.drift import Cut, Drift, Trend, corrected, drift
from nfh_models.agreement.drift_habits import Habit, habits
from nfh_models.domain import Kind

NO_EXPERT = "No expert decided an item that they answered."
NO_CHECKS = "No check item was given to them and answered."


@dataclass(frozen=True, slots=True)
class Person:
    """One annotator.

    own: votes on items that they decided themselves, as an expert; left out of `expert`.
    expert, checks: against an expert's decisions, and against check items. others: kinds
    against the majority of the others, where no expert decided.
    """

    name: str
    answers: int
    kinds: Mapping[Kind, int]
    own: int
    expert: Known
    checks: Known
    others: Confusion | None
    drift: Drift
    habits: tuple[Habit, ...]


@dataclass(frozen=True, slots=True)
class Competence:
    """Everybody. items: of the query; decided: by an expert; unanimous: of these, how many
    have two votes and more that do not differ. tests: how many trends were tested."""

    items: int
    decided: int
    unanimous: int
    latent: Latent
    people: tuple[Person, ...]
    tests: int


def competence(
    marks: Marks, cut: Cut = "tenths", closest: Mapping[str, tuple[int, int]] | None = None
) -> Competence:
    """The whole report. closest: as `closest_nouns` gives it, where nouns were looked for."""
    people = [_person(name, marks, cut, closest or {}) for name in marks.people]
    trends = corrected([trend for person in people for trend in person.drift.trends])
    return Competence(
        marks.items,
        marks.decided,
        marks.unanimous,
        estimate(marks),
        tuple(_with_trends(people, trends)),
        len(trends),
    )


def _person(
    name: str, marks: Marks, cut: Cut, closest: Mapping[str, tuple[int, int]]
) -> Person:
    given = marks.people[name]
    return Person(
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


def _with_trends(people: list[Person], trends: list[Trend]) -> list[Person]:
    """The people with their own trends, which stand in `trends` one person after the other."""
    left = iter(trends)
    return [
        replace(
            person,
            drift=replace(person.drift, trends=tuple(next(left) for _ in person.drift.trends)),
        )
        for person in people
    ]
