"""One figure a person out of all that is told of competence: what votes are weighed by."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfh_models.agreement.competence_report import Competence, Person
from nfh_models.agreement.measure import Measure

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
class Chosen:
    """The figures, all by one source, since figures by different ones do not compare.

    source: in words, "" where nobody has a figure. people: by name.
    """

    source: str
    people: Mapping[str, Figure]


def chosen(found: Competence) -> Chosen:
    """The source that gives most people a figure; of those equal the one listed first.

    Check items come first: they are a sample of ordinary items. What experts decided comes
    before Dawid and Skene's model, which leaves heads out and believes what most say.
    """
    sources = (
        Chosen(CHECKS, _figures({p.name: p.checks.equal for p in found.people})),
        Chosen(EXPERT, _figures({p.name: p.expert.equal for p in found.people})),
        Chosen(DAWID_SKENE, _figures(_modelled(found))),
    )
    best = max(sources, key=lambda one: len(one.people))
    return best if best.people else Chosen("", {})


def _modelled(found: Competence) -> dict[str, Measure]:
    people: dict[str, Person] = {person.name: person for person in found.people}
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
