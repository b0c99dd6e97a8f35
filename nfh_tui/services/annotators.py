"""Competence of annotators, computed from the answers in the store."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nfh_db.query import Query
from nfh_db.records import Annotator, CompetenceWeight
from nfh_models.agreement.competence import PersonVotes, collect
from nfh_models.agreement.drift import LEAST, Cut, closest_nouns
from nfh_models.agreement.measure import AnsweredAnchor
from nfh_models.agreement.report import ChosenFigures, CompetenceReport, chosen, competence
from nfh_models.domain import Kind
from nfh_tui.services.agreement import SampleCorpus, split_votes, with_nearest

if TYPE_CHECKING:
    from nfh_db.store import Store

SAMPLED_ITEMS = 1_000
"""Items that are tagged to find closest nouns: enough for a habit, in seconds."""

SEED = 0

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class CompetenceResult:
    """The report, and what it was measured on."""

    competence: CompetenceReport
    sample_corpus: bool
    """Whether any item belongs to the bundled sample corpus."""

    tagger: str | None
    """The tagger that found closest nouns; None where none was used."""

    remembered: ChosenFigures | None = None
    """The figures stored for proposals; None where that was not requested."""


def measure_competence(
    store: "Store",
    query: Query,
    me: Annotator | None,
    cut: Cut,
    progress: Progress,
    *,
    with_nouns: bool = True,
) -> CompetenceResult:
    """The competence of everybody who answered an item that a query finds."""
    corpus = SampleCorpus()

    def answered() -> Iterator[AnsweredAnchor]:
        for number, ballot in enumerate(store.items.ballots(query, me), 1):
            corpus.look(ballot)
            progress(number)
            yield split_votes(ballot)

    checks = store.items.check_answers()
    marks = collect(answered(), checks)
    closest, tagger = _closest(store, marks) if with_nouns else ({}, None)
    return CompetenceResult(competence(marks, cut, closest), corpus.found, tagger)


def store_competence(store: "Store", result: CompetenceResult) -> CompetenceResult:
    """Store one figure for each person; without any figure, the stored ones are kept."""
    kept = chosen(result.competence)
    if kept.people:
        store.competences.remember(
            kept.source,
            [
                CompetenceWeight(name, one.accuracy, one.answers)
                for name, one in kept.people.items()
            ],
        )
    return replace(result, remembered=kept)


def _closest(
    store: "Store", marks: PersonVotes
) -> tuple[dict[str, tuple[int, int]], str | None]:
    """By person, how often they name the closest noun, on a sample of items; the tagger."""
    from nfh_models.parsing.spacy_parser import NoPipelineError, load_tagger

    with_noun = {
        mark.item
        for given in marks.people.values()
        for mark in given
        if mark.kind is Kind.REFERENCE
    }
    if len(with_noun) < LEAST:
        return {}, None
    source = random.Random(SEED)  # noqa: S311 - a sample, no secret
    sample = source.sample(sorted(with_noun), min(SAMPLED_ITEMS, len(with_noun)))
    try:
        tagger = load_tagger()
    except NoPipelineError:
        return {}, None
    items = [(split_votes(ballot), ballot.passage) for ballot in store.items.ballots_of(sample)]
    return closest_nouns(with_nearest(items, tagger)), tagger.name
