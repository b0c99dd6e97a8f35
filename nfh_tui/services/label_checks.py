"""Runs the label checks over a database."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, islice, pairwise
from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.formats.base import How, What
from nfh_db.formats.registry import GOLD, formats
from nfh_db.query import Query
from nfh_db.records import Ballot
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Passage,
    anchor_id,
    class_answer,
)
from nfh_models.label_checks.base import (
    CheckContext,
    CheckedNumber,
    ImportedRow,
    LabelCheck,
    LabelFinding,
    StatedAnswer,
)
from nfh_models.label_checks.checks import CHECKS, NOT_TAKEN, OverTime, Repeats, find_all
from nfh_models.parsing.base import WordSpan
from nfh_models.parsing.spacy_parser import NoPipelineError, Tagger, load_tagger
from nfh_tui.services.imports import grouped_by_lemma

if TYPE_CHECKING:
    from array import array

    from nfh_db.items import SourceRow
    from nfh_db.store import Store

PASSAGES_AT_ONCE = 256
ANCHORS_AT_ONCE = 1_000
PIECE = 500
"""Tokens that are tagged as one text; a longer passage is cut between turns."""

MOST_FOUND = 100
"""Most anchors in the query of a finding: the length of queries is limited."""
SHOWN_BEFORE, SHOWN_AFTER = 60, 40
"""Code points around an anchor that a report shows."""

Progress = Callable[[int, int], None]
"""Called with the passages done and the total."""


@dataclass(frozen=True, slots=True)
class AnchorLocation:
    """An anchor with its place.

    before, word, after: the passage's text around it. rows: of the files it came from.
    """

    anchor_id: int
    public_id: str
    before: str
    word: str
    after: str
    rows: tuple[ImportedRow, ...]

    @property
    def query(self) -> str:
        """Finds it, and nothing else."""
        return f"id:{self.anchor_id}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding. who: the annotator of the answer; None for gold, or for no answer.

    places: the anchors concerned, the most important first.
    """

    note: str
    who: str | None
    places: tuple[AnchorLocation, ...]

    @property
    def query(self) -> str:
        """Finds its anchors, the first `MOST_FOUND` of them; "" where it has none."""
        numbers = [str(place.anchor_id) for place in self.places[:MOST_FOUND]]
        return f"id:{','.join(numbers)}" if numbers else ""


@dataclass(frozen=True, slots=True)
class LabelCheckResult:
    """A check with its findings. skipped: it was not run, since there is no parser."""

    check: LabelCheck
    hits: tuple[Hit, ...]
    skipped: bool

    @property
    def anchors(self) -> int:
        """How many different anchors it found."""
        return len({place.anchor_id for hit in self.hits for place in hit.places})


@dataclass(frozen=True, slots=True)
class LabelProblems:
    """All findings. tagger: the part-of-speech tagger; None without one, and `why` is the
    reason."""

    passages: int
    anchors: int
    tagger: str | None
    why: str | None
    results: tuple[LabelCheckResult, ...]


def find_trouble(
    store: "Store", query: Query, progress: Progress | None = None
) -> LabelProblems:
    """Run every check on the items that a query finds."""
    tagger, why = _tagger()
    tell = progress or (lambda _, __: None)
    by_passage = store.items.by_passage(query)
    repeats, over_time = Repeats(), OverTime()
    found: list[LabelFinding] = []
    done = 0
    for scenes in _scenes(store, by_passage, tagger):
        for scene, ballots in scenes:
            found += find_all(scene)
            repeats.add(scene)
            _add_votes(over_time, ballots)
            done += 1
        tell(done, len(by_passage))
    found += [*repeats.findings(), *over_time.findings()]
    found += _not_taken(store, {key for some in by_passage for key in some})
    places = _places(store, {key for finding in found for key in finding.keys})
    anchors = sum(map(len, by_passage))
    hits: dict[str, list[Hit]] = {}
    for finding in found:
        there = tuple(places[key] for key in finding.keys if key in places)
        hits.setdefault(finding.check, []).append(Hit(finding.note, finding.who, there))
    results = tuple(
        LabelCheckResult(
            check, tuple(hits.get(check.name, ())), tagger is None and check.tagged
        )
        for check in CHECKS
    )
    return LabelProblems(
        len(by_passage), anchors, tagger.name if tagger else None, why, results
    )


def _tagger() -> tuple[Tagger | None, str | None]:
    try:
        return load_tagger(), None
    except NoPipelineError as error:
        return None, str(error)


_Scenes = Iterator[tuple[CheckContext, list[Ballot]]]


def _scenes(
    store: "Store", by_passage: "Sequence[array[int]]", tagger: Tagger | None
) -> Iterator[_Scenes]:
    """Yield the passages, some at a time; the next ones are tagged meanwhile."""
    with ThreadPoolExecutor(1, "tagging") as thread:

        def begin(first: int) -> tuple[Sequence[int], list[list[Ballot]], Future[Tags]]:
            stretch = by_passage[first : first + PASSAGES_AT_ONCE]
            ids = [key for some in stretch for key in some]
            ballots = [
                list(some)
                for _, some in groupby(
                    store.items.ballots_of(ids), key=lambda ballot: ballot.passage_id
                )
            ]
            passages = [some[0].passage for some in ballots]
            return ids, ballots, thread.submit(_tags, passages, tagger)

        begun = map(begin, range(0, len(by_passage), PASSAGES_AT_ONCE))
        # A pair is there when its second stretch, or the end, is.
        for now, _ in pairwise(chain(begun, [None])):
            if now is not None:
                ids, ballots, tags = now
                yield _tagged(ballots, store.items.source_rows(ids), tags.result())


def _tagged(
    ballots: list[list[Ballot]], rows: "Mapping[int, Sequence[SourceRow]]", tags: "Tags"
) -> _Scenes:
    for some, tagged in zip(ballots, tags, strict=True):
        cases = tuple(_case(ballot, rows.get(ballot.anchor_id, ())) for ballot in some)
        yield CheckContext(some[0].passage_id, some[0].passage, cases, tagged), some


Tags = Sequence[Sequence[str] | None]
"""The parts of speech of passages; None without a tagger."""


def _tags(passages: Sequence[Passage], tagger: Tagger | None) -> Tags:
    if tagger is None:
        return [None] * len(passages)
    pieces = [list(_pieces(passage)) for passage in passages]
    tagged = iter(tagger.tag(piece for some in pieces for piece in some))
    return [[tag for tags in islice(tagged, len(some)) for tag in tags] for some in pieces]


def _pieces(passage: Passage) -> Iterator[WordSpan]:
    """A passage as spans of whole turns, of at most `PIECE` tokens where turns allow."""
    start = end = 0
    for turn in passage.turns:
        if end > start and turn.end - start > PIECE:
            yield WordSpan.of(passage, start, end)
            start = end
        end = turn.end
    if end > start:
        yield WordSpan.of(passage, start, end)


# --- cases -------------------------------------------------------------------------------


def _case(ballot: Ballot, rows: "Sequence[SourceRow]") -> CheckedNumber:
    return CheckedNumber(
        ballot.anchor_id,
        ballot.anchor,
        _said(ballot),
        tuple(_row(row, ballot.passage) for row in rows),
    )


def _row(row: "SourceRow", passage: Passage) -> ImportedRow:
    said = _label(row, passage)
    return ImportedRow(
        row.file, row.line, row.split, said, _one_of_several(row.format), row.annotator
    )


@lru_cache(maxsize=64)
def _one_of_several(name: str) -> bool:
    """True for a format with a row for each annotator: several rows of one anchor are no
    repeats."""
    format_ = next((one for one in formats() if one.name == name), None)
    if format_ is None or format_ is GOLD:
        return False
    held = (format_.holds or {}).get(What.VOTES, How.NO)
    return format_.names_people or held in (How.OWN, How.BESIDE)


def _said(ballot: Ballot) -> tuple[StatedAnswer, ...]:
    """The gold of an item; the annotators' votes where it has none."""
    if ballot.gold is not None:
        return (StatedAnswer(None, ballot.gold.answer),)
    return tuple(
        StatedAnswer(vote.annotator, vote.answer) for vote in ballot.votes if vote.counts
    )


def _label(row: "SourceRow", passage: Passage) -> Answer | None:
    """The label of a gold row: a list of heads, a class, or 0 or 1."""
    if row.labels is None or row.annotator is not None:
        return None
    try:
        return _answer(row.labels, passage)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise StoreError(
            f"Line {row.line} of {row.file} cannot be read: {type(error).__name__}: {error}. "
            "`nfh-tui doctor` shows what else is broken"
        ) from error


def _answer(labels: str, passage: Passage) -> Answer | None:
    said = json.loads(labels)
    if isinstance(said, list) and said and isinstance(said[0], int):
        return grouped_by_lemma(said, passage)
    return _class(json.dumps(said))


@lru_cache(maxsize=64)
def _class(labels: str) -> Answer | None:
    said = json.loads(labels)
    if said in (0, 1):
        return class_answer(Kind.NFH if said else Kind.NOT_NFH)
    if isinstance(said, list) and len(said) == 1 and said[0] in list(Kind):
        return class_answer(Kind(said[0]))
    return None


def _add_votes(over_time: OverTime, ballots: Iterable[Ballot]) -> None:
    for ballot in ballots:
        for vote in ballot.votes:
            if vote.counts:
                over_time.add(
                    vote.annotator, ballot.anchor_id, vote.answer.kind, vote.answered_at
                )


def _not_taken(store: "Store", wanted: set[int]) -> Iterator[LabelFinding]:
    """Rows that imports did not take; labelled rows are compared by other checks."""
    for row in store.items.rows_not_taken():
        if row.anchor_id in wanted and not row.labelled:
            note = f"{row.file} line {row.line}: {row.what}"
            yield LabelFinding(NOT_TAKEN.name, (row.anchor_id,), note)


# --- results -----------------------------------------------------------------------------


def _places(store: "Store", keys: Iterable[int]) -> dict[int, AnchorLocation]:
    """The places of these anchors; those removed meanwhile are left out."""
    wanted = sorted(keys)
    found = {}
    for first in range(0, len(wanted), ANCHORS_AT_ONCE):
        some = wanted[first : first + ANCHORS_AT_ONCE]
        rows = store.items.source_rows(some)
        for key, (passage, anchor) in store.items.passages(some).items():
            found[key] = _place(key, passage, anchor, rows.get(key, ()))
    return found


def _place(
    key: int, passage: Passage, anchor: Anchor, rows: "Sequence[SourceRow]"
) -> AnchorLocation:
    start, end = passage.code_points(anchor)
    return AnchorLocation(
        key,
        anchor_id(passage.digest, anchor),
        passage.text[max(0, start - SHOWN_BEFORE) : start],
        passage.text[start:end],
        passage.text[end : end + SHOWN_AFTER],
        tuple(ImportedRow(row.file, row.line, row.split) for row in rows),
    )
