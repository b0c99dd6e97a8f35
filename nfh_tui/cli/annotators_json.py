"""What is told of annotators as one JSON object: every figure, and a sentence for each gap."""

from collections.abc import Collection
from dataclasses import asdict

from nfh_models.agreement.competence_report import Person
from nfh_models.agreement.drift import Drift
from nfh_tui.cli.agreement_json import CAVEAT
from nfh_tui.people import Told

Json = dict[str, object]


def as_object(told: Told, only: Collection[str] = ()) -> Json:
    """The whole report; of the people in `only`, where it names any.

    A measure is {value, low, high, n, why}; value null has its why. remembered is null
    where nothing was asked to be.
    """
    found = told.competence
    latent = asdict(found.latent)
    people = latent.pop("people")
    return {
        "caveat": CAVEAT if told.sample_corpus else None,
        "items": found.items,
        "decided_by_experts": found.decided,
        "decided_unanimous": found.unanimous,
        "trends_tested": found.tests,
        "closest_nouns_by": told.tagger,
        "models": latent,
        "people": [
            {**_person(person), "models": people.get(person.name)}
            for person in found.people
            if not only or person.name in only
        ],
        "remembered": told.remembered and asdict(told.remembered),
    }


def _person(person: Person) -> Json:
    written = asdict(person)
    written["drift"] = _drift(person.drift)
    written["against_expert"] = written.pop("expert")
    written["check_items"] = written.pop("checks")
    written["against_majority_of_others"] = written.pop("others")
    return written


def _drift(drift: Drift) -> Json:
    return {
        "why": drift.why,
        "seconds": drift.seconds and asdict(drift.seconds),
        "blocks": [asdict(block) for block in drift.blocks],
        "trends": [{**asdict(trend), "holds": trend.holds} for trend in drift.trends],
    }
