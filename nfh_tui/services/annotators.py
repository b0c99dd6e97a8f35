"""Competence of annotators, computed from the store's ballots."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nfh_db.query import Query
from nfh_db.records import Annotator, Ballot, CompetenceWeight
from nfh_models.agreement.competence import PersonVotes, collect
from nfh_models.agreement.drift import LEAST, Cut, closest_nouns
from nfh_models.agreement.measure import AnsweredAnchor
from nfh_models.agreement.report import ChosenFigures, CompetenceReport, chosen, competence
from nfh_models.domain import Kind
from nfh_tui.services.agreement import SampleCorpus, judged, with_nearest

if TYPE_CHECKING:
    from nfh_db.store import Store

SAMPLED_PEOPLE = 1_000
"""Items whose closest nouns are looked for: enough to see a habit, and tagged in seconds."""

SEED = 0

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class CompetenceResult:
    """The report, and on what it was measured. sample_corpus: true if any item is of the
    corpus that is written for showing. tagger: that found closest nouns; None if none did.
    remembered: the figures kept for proposals; None where that was not asked for."""

    competence: CompetenceReport
    sample_corpus: bool
    tagger: str | None
    remembered: ChosenFigures | None = None


def look_at_people(
    store: "Store",
    query: Query,
    me: Annotator | None,
    cut: Cut,
    progress: Progress,
    *,
    with_nouns: bool = True,
) -> CompetenceResult:
    """What is told of those who answered what a query finds, as it is at one moment."""
    corpus = SampleCorpus()
    checks = store.items.check_answers()
    marks = collect(_passing_people(store.items.ballots(query, me), corpus, progress), checks)
    closest, tagger = _closest(store, marks) if with_nouns else ({}, None)
    return CompetenceResult(competence(marks, cut, closest), corpus.found, tagger)


def remember_people(store: "Store", told: CompetenceResult) -> CompetenceResult:
    """Keep one figure a person in the database; where nobody has one, what is there stays."""
    kept = chosen(told.competence)
    if kept.people:
        store.competences.remember(
            kept.source,
            [
                CompetenceWeight(name, one.accuracy, one.answers)
                for name, one in kept.people.items()
            ],
        )
    return replace(told, remembered=kept)


def _passing_people(
    ballots: Iterable[Ballot], corpus: SampleCorpus, progress: Progress
) -> Iterator[AnsweredAnchor]:
    for number, ballot in enumerate(ballots, 1):
        corpus.look(ballot)
        progress(number)
        yield judged(ballot)


def _closest(
    store: "Store", marks: PersonVotes
) -> tuple[dict[str, tuple[int, int]], str | None]:
    """How often each person names the closest noun, on a sample of items."""
    from nfh_models.parsing.spacy_parser import NoPipelineError, load_tagger

    said = {
        mark.item
        for given in marks.people.values()
        for mark in given
        if mark.kind is Kind.REFERENCE
    }
    if len(said) < LEAST:
        return {}, None
    source = random.Random(SEED)  # noqa: S311 - a sample, no secret
    some = source.sample(sorted(said), min(SAMPLED_PEOPLE, len(said)))
    try:
        tagger = load_tagger()
    except NoPipelineError:
        return {}, None
    items = [(judged(ballot), ballot.passage) for ballot in store.items.ballots_of(some)]
    return closest_nouns(with_nearest(items, tagger)), tagger.name
