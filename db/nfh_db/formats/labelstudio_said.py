"""What one annotation or prediction of a task says: its marks, and whose they are.

An annotation that came with a file of ours and was not touched since says what was kept along,
so that its marks need not be read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from nfh_db.formats.claims import Claim
from nfh_db.formats.graph_parts import check_kinds
from nfh_db.formats.grid import MarkError
from nfh_db.formats.labelstudio_drawn import drawn
from nfh_db.formats.labelstudio_json import (
    ANCHOR_ONLY,
    Annotation,
    Prediction,
    Result,
    Task,
)
from nfh_db.formats.labelstudio_layout import DIALOGS, OURS, Layout
from nfh_db.formats.labelstudio_marks import REGIONS, Sheet, sheet_of
from nfh_db.formats.labelstudio_people import (
    Slot,
    model_name,
    name_of,
    seconds_of,
    slot_of,
    slots_of,
    time_of,
    utc,
)
from nfh_db.formats.labelstudio_tally import Tally
from nfh_db.formats.labelstudio_text import Canvas
from nfh_db.formats.marked import Marked, numbers
from nfh_db.formats.options import LabelMap, Reading
from nfh_db.formats.stored import Restored
from nfh_db.records import MODEL, PERSON, Role
from nfh_models.domain import Answer

NO_NAMES = LabelMap()

_results = msgspec.json.Decoder(list[Result])
_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Said:
    """Marks, and what claims are made of them, without the words that were typed."""

    sheet: Sheet
    marked: Sequence[Marked]
    claims: Sequence[Claim]

    @property
    def bare(self) -> bool:
        """Somebody submitted it without a number marked."""
        return not self.marked and any(one.type == PERSON for one in self.claims)


@dataclass(frozen=True, slots=True)
class AsKept:
    """It says what was kept along. vote: its place among all votes; None of the gold."""

    vote: int | None


@dataclass
class Speakers:
    """Those who say something of one task. kept: what the task carries of ours.

    first: number of its first annotation as it was exported.
    region: the first one that was read.
    """

    task: Task
    canvas: Canvas
    how: Reading
    tally: Tally
    kept: Restored | None
    first: int | None
    region: Result | None = None
    _known: dict[Answer | None, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = self.kept
        self.slots: Sequence[Slot] = (
            slots_of(kept.votes, kept.flags, gold=kept.gold is not None) if kept else ()
        )

    @property
    def annotations(self) -> Sequence[Annotation]:
        """By whatever name the export has them."""
        return self.task.annotations or self.task.completions or ()

    def skips(self) -> Iterator[tuple[str | None, str | None]]:
        """Who passed the task over, and when. Raises MarkError."""
        for one in self.annotations:
            if one.was_cancelled:
                slot = slot_of(one, self.first, self.slots)
                yield slot.who if slot else name_of(one.completed_by), time_of(one)

    def said(self) -> Iterator[Said | AsKept]:
        """What each annotation says, and each prediction. One that was cancelled claims
        nothing, but what it marks are numbers that were passed over.

        Raises MarkError.
        """
        for one in self.annotations:
            if not one.was_cancelled:
                slot = slot_of(one, self.first, self.slots)
                yield self._as_kept(one, slot) or self._read(one, _claims(one, slot))
            elif self.kept is None:
                try:
                    given_up = self._read(one, ())
                    self.tally.counts["passed"] += sum(
                        bool(number.kind or number.mentions) for number in given_up.marked
                    )
                    yield given_up
                except MarkError:  # Given up halfway, it need not hold.
                    self.tally.counts["unfit skips"] += 1
        for prediction in self.task.predictions or ():
            if isinstance(prediction, Prediction):
                yield from self._predicted(prediction)
            else:
                self.tally.counts["predictions by number"] += 1

    def _as_kept(self, one: Annotation, slot: Slot | None) -> AsKept | None:
        """What an annotation is that nobody touched since it was exported, if it is one."""
        if self.kept is None or slot is None or one.ground_truth is not (slot.who is None):
            return None
        kept = self.kept.gold if slot.vote is None else self.kept.votes[slot.vote]
        if kept is None or not self._shows(one.result, kept.answer):
            return None
        return AsKept(slot.vote)

    def _predicted(self, one: Prediction) -> Iterator[Said | AsKept]:
        kept = self.kept
        if kept is not None:
            if one.model_version == ANCHOR_ONLY and self._shows(one.result, None):
                return
            for place, vote in enumerate(kept.votes):
                if vote.annotator == one.model_version and vote.type != PERSON:
                    if self._shows(one.result, vote.answer):
                        yield AsKept(place)
                        return
                    break
        name, at = model_name(one.model_version), utc(one.created_at)
        yield self._read(one, (Claim(name, at=at, type=MODEL, noun="", comment=""),))

    def _shows(self, result: msgspec.Raw, answer: Answer | None) -> bool:
        """True if results are those that this program writes of an answer, however spelled."""
        kept = self.kept
        if kept is None or self.how.labels != NO_NAMES:
            return False
        known = self._known.get(answer)
        if known is None:
            passage = kept.passage
            paragraphs = self.canvas if self.canvas.paragraphs else None
            tags = DIALOGS if paragraphs else OURS
            layout = Layout(self.canvas.text, {}, paragraphs, tags)
            shown = drawn(answer, kept.anchor, passage.starts, passage.ends, layout, NO_NAMES)
            known = _encoder.encode(shown)
            self._known[answer] = known
        return known == bytes(result) or _results.decode(known) == _decoded(result)

    def _read(self, one: Annotation | Prediction, claims: Sequence[Claim]) -> Said:
        results = _decoded(one.result)
        if self.region is None:
            self.region = next((one for one in results if one.type in REGIONS), None)
        sheet = sheet_of(results, self.canvas, self.how.labels, self.tally.left)
        check_kinds(sheet.graph)
        return Said(sheet, numbers(sheet.graph), claims)


def _decoded(result: msgspec.Raw) -> list[Result]:
    try:
        return _results.decode(result)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkError(f'key "result": {error}') from error


def _claims(one: Annotation, slot: Slot | None) -> Sequence[Claim]:
    """What an annotation is: a vote, the gold, or both where it is a ground truth."""
    at, seconds = time_of(one), seconds_of(one)
    who = slot.who if slot else name_of(one.completed_by)
    gold = Claim(None, gold=True, at=at, noun="", comment="")
    if who is None:
        return (gold,)
    role = slot.role if slot else Role.ANNOTATOR
    vote = Claim(who, at=at, seconds=seconds, role=role, noun="", comment="")
    return (vote, gold) if one.ground_truth else (vote,)
