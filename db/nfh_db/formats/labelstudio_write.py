"""Tasks of Label Studio, one for each number, one on each line of a JSON list.

An annotator's answer is an annotation, a model's a prediction; a gold is an annotation that is
`ground_truth`. A task's first prediction marks the number and says nothing of it: annotators
start from there. What the tool has no terms for is under `data.nfh`, which it hands on.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from nfh_db.formats.json_parts import carried_in
from nfh_db.formats.labelstudio_drawn import drawn
from nfh_db.formats.labelstudio_json import ANCHOR_ONLY, NAME
from nfh_db.formats.labelstudio_layout import Layout, layout_of
from nfh_db.formats.labelstudio_people import Slot, slots_of
from nfh_db.formats.labelstudio_text import OURS
from nfh_db.formats.options import Writing
from nfh_db.formats.stored import stored
from nfh_db.records import PERSON, ExportRecord, FlagName
from nfh_models.domain import Answer

PIECE = 1 << 18
TIMES = ("created_at", "updated_at")

_encoder = msgspec.json.Encoder()


class TaskWriter:
    """Makes one file of tasks. left_out: stays empty, since each record has a form."""

    def __init__(self, how: Writing) -> None:
        self.how = how
        self.left_out: Counter[str] = Counter()
        self._next = 1

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """The file, piece by piece."""
        piece = bytearray(b"[")
        for rank, record in enumerate(records):
            piece += b",\n" if rank else b"\n"
            piece += _encoder.encode(self.task(rank + 1, record))
            if len(piece) > PIECE:
                yield bytes(piece)
                piece.clear()
        piece += b"\n]\n"
        yield bytes(piece)

    def task(self, number: int, record: ExportRecord) -> dict[str, Any]:
        """A record as a task with that id."""
        carried = carried_in(record.carried, NAME)
        layout = layout_of(record.passage.text, carried, self.how.labels)
        first = self._next
        annotations = self._annotations(record, layout)
        predictions = [
            {
                "model_version": vote.annotator,
                "result": self._drawn(vote.answer, record, layout),
            }
            for vote in record.votes
            if vote.type != PERSON
        ]
        only = {"model_version": ANCHOR_ONLY, "result": self._drawn(None, record, layout)}
        kept = {OURS[0]: stored(record), OURS[1]: first}
        data = {**layout.data, **kept}
        task = {
            "id": number,
            "data": data,
            "annotations": annotations,
            "predictions": [only, *predictions],
        }
        if "meta" in carried:
            task["meta"] = carried["meta"]
        return task

    def _annotations(self, record: ExportRecord, layout: Layout) -> list[dict[str, Any]]:
        made = []
        for slot in slots_of(record.votes, record.flags, gold=record.gold is not None):
            answer, at, seconds = _given(record, slot)
            made.append(
                {
                    "id": self._next,
                    "completed_by": None if slot.who is None else {"email": slot.who},
                    "was_cancelled": slot.vote is None and slot.who is not None,
                    "ground_truth": slot.who is None,
                    "created_at": at,
                    "updated_at": at,
                    "lead_time": seconds,
                    "result": self._drawn(answer, record, layout),
                }
            )
            self._next += 1
        if any(one["created_at"] is None for one in made):
            # The tool's converter sorts a task's annotations by time: all have one, or none.
            made = [{k: v for k, v in one.items() if k not in TIMES} for one in made]
        return made

    def _drawn(
        self, answer: Answer | None, record: ExportRecord, layout: Layout
    ) -> list[dict[str, Any]]:
        tokens = record.passage.tokens
        starts, ends = [one.start for one in tokens], [one.end for one in tokens]
        return drawn(answer, record.anchor, starts, ends, layout, self.how.labels)


def _given(record: ExportRecord, slot: Slot) -> tuple[Answer | None, str | None, float | None]:
    """The answer that an annotation shows, when it was given, and the seconds it took."""
    if slot.vote is not None:
        vote = record.votes[slot.vote]
        return vote.answer, vote.answered_at, vote.seconds
    if slot.who is None and record.gold is not None:
        return record.gold.answer, record.gold.decided_at, None
    skips = (flag for flag in record.flags if flag.name is FlagName.SKIP)
    return (
        None,
        next((one.flagged_at for one in skips if one.annotator == slot.who), None),
        None,
    )
