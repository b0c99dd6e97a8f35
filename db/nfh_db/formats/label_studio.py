"""Format `label-studio`: the JSON of Label Studio, its full export, and tasks to import.

Layout and mapping: docs/formats-projects.md. Source:
https://labelstud.io/guide/task_format.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from nfh_db.formats.base import First, Format, How, each, holds
from nfh_db.formats.files import Source
from nfh_db.formats.json_stream import (
    carried_in,
    check_keys,
    decode_parts,
    first_keys,
    json_items,
)
from nfh_db.formats.label_studio_reader import (
    ANCHOR_ONLY,
    NAME,
    OWN_KEYS,
    AnnotationOwner,
    LabelStudioCounts,
    LabelStudioTask,
    TaskLayout,
    layout_of,
    results_of,
    rows_of,
    slots_of,
)
from nfh_db.formats.rows import ReadOptions, Row, Writing
from nfh_db.formats.spans import MarkError, record_graph, refusing_strays
from nfh_db.formats.stored_annotation import stored
from nfh_db.messages import visible
from nfh_db.records import PERSON, ExportRecord, FlagName
from nfh_models.domain import Answer

# The writer: a JSON list with one task for each number, each on its line.
#
# An annotator's answer is an annotation, a model's is a prediction, the gold is an annotation
# with `ground_truth`. A task's first prediction marks the number without an answer, so that
# annotators start from it. What the tool cannot express is under `data.nfh`, which it
# preserves.

PIECE = 1 << 18
"""Bytes that are written at once."""
TIMES = ("created_at", "updated_at")

_encoder = msgspec.json.Encoder()


class TaskWriter:
    """Makes one file of tasks. left_out: stays empty."""

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
        """The task of a record. number: its id."""
        carried = carried_in(record.carried, NAME)
        layout = layout_of(record.passage.text, carried, self.how.labels)
        first = self._next
        annotations = self._annotations(record, layout)
        shown: list[tuple[str, Answer | None]] = [(ANCHOR_ONLY, None)]
        shown += [(v.annotator, v.answer) for v in record.votes if v.type != PERSON]
        task = {
            "id": number,
            "data": {**layout.data, OWN_KEYS[0]: stored(record), OWN_KEYS[1]: first},
            "annotations": annotations,
            "predictions": [
                {"model_version": name, "result": self._results(answer, record, layout)}
                for name, answer in shown
            ],
        }
        if "meta" in carried:
            task["meta"] = carried["meta"]
        return task

    def _annotations(self, record: ExportRecord, layout: TaskLayout) -> list[dict[str, Any]]:
        made = []
        for slot in slots_of(record.votes, record.flags, gold=record.gold is not None):
            answer, at, seconds = _answer_of(record, slot)
            made.append(
                {
                    "id": self._next,
                    "completed_by": None if slot.who is None else {"email": slot.who},
                    "was_cancelled": slot.vote is None and slot.who is not None,
                    "ground_truth": slot.who is None,
                    "created_at": at,
                    "updated_at": at,
                    "lead_time": seconds,
                    "result": self._results(answer, record, layout),
                }
            )
            self._next += 1
        if any(one["created_at"] is None for one in made):
            # The tool's converter sorts a task's annotations by time: all have one, or none.
            made = [{k: v for k, v in one.items() if k not in TIMES} for one in made]
        return made

    def _results(
        self, answer: Answer | None, record: ExportRecord, layout: TaskLayout
    ) -> list[dict[str, Any]]:
        return results_of(answer, record_graph(record, answer), layout, self.how.labels)


def _answer_of(
    record: ExportRecord, slot: AnnotationOwner
) -> tuple[Answer | None, str | None, float | None]:
    """The answer that an annotation shows, when it was given, and the seconds that it took."""
    if slot.vote is not None:
        vote = record.votes[slot.vote]
        return vote.answer, vote.answered_at if vote.timed else None, vote.seconds
    if slot.who is None and record.gold is not None:
        return record.gold.answer, record.gold.decided_at, None
    skips = (f for f in record.flags if (f.name, f.annotator) == (FlagName.SKIP, slot.who))
    return None, next((flag.flagged_at for flag in skips), None), None


# --- the reader and the declaration ----------------------------------------------------------

MARKED = frozenset({"annotations", "completions", "predictions", "total_annotations", "drafts"})
BARE = frozenset({"id", "data", "meta"})
DATA = re.compile(r'"data"\s*:\s*\{')
SHORT = frozenset({"annotation_id", "annotator", "lead_time"})
"""Keys of all items of the short export, JSON_MIN, which few other files have."""

REGION = re.compile(r'\{[^{}]*"(?:labels|paragraphlabels|hypertextlabels)"\s*:\s*\[')

_tasks = msgspec.json.Decoder(LabelStudioTask)


def read(source: Source, how: ReadOptions) -> Iterator[Row]:
    """The rows of a file of tasks, one for each number of a task.

    Raises FormatError at the first invalid task.
    """
    tally = LabelStudioCounts()
    seen: dict[int | str, int] = {}
    for rank, line, (task, text) in json_items(
        source, lambda text: (_tasks.decode(text), text)
    ):
        try:
            parts = decode_parts(text)
            check_keys(text, parts)
            if task.data is None:
                raise _no_data(parts)
            if _is_repeated(task, text, seen):
                tally.counts["again"] += 1
                continue
            yield from rows_of(task, rank, how, tally)
        except MarkError as error:
            id_ = "" if task.id is None else f", id {visible(str(task.id))}"
            raise source.error(line, f"item {rank}{id_}: {error}") from error
    source.warnings.extend(tally.sentences())


def _no_data(keys: Iterable[str]) -> MarkError:
    if SHORT.isdisjoint(keys):
        return MarkError('key "data" is missing; wanted a task')
    return MarkError(
        "found an item of JSON_MIN, which leaves out relations, ground truths, skipped "
        'tasks and predictions; in Label Studio export as "JSON", the full one'
    )


def _is_repeated(task: LabelStudioTask, text: str, seen: dict[int | str, int]) -> bool:
    """True if the file had the task before. Raises MarkError if the id was another task's."""
    if task.id is None or task.id not in seen:
        if task.id is not None:
            seen[task.id] = hash(text)
        return False
    if seen[task.id] != hash(text):
        raise MarkError("this id occurred before with other content; wanted each id once")
    return True


def _sniff(first: First) -> str | None:
    keys = set(first_keys(first.start))
    if keys:
        if "data" in keys and (keys & MARKED or (keys <= BARE and DATA.search(first.start))):
            return "its first object is a task of Label Studio"
        if keys >= {"annotations"} and '"result"' in first.start:
            return "its first object has annotations of Label Studio"
        if len(keys & SHORT) > 1 or (keys & SHORT and REGION.search(first.start)):
            return "its first object is an item of Label Studio's JSON_MIN"
    return None


LABEL_STUDIO = Format(
    name=NAME,
    extensions=(".json",),
    description="Label Studio's JSON, the full export: tasks with annotations and predictions",
    example=(
        '[{"data": {"text": "No, three."}, "annotations": [{"completed_by": {"email": "eva"}, '
        '"result": [{"id": "s0", "from_name": "label", "to_name": "text", "type": "labels", '
        '"value": {"start": 4, "end": 9, "text": "three", "labels": ["AGE"]}}]}]}]'
    ),
    read=refusing_strays(read),
    sniff=_sniff,
    chunks=TaskWriter,
    carries_split=True,
    holds=holds(
        How.OWN, **each(How.BESIDE, "TIME SEEN FLAGS RULE SPLIT SPEAKERS SAID_AT TOKENS")
    ),
    settings=frozenset({"count-rejected", "map", "offsets", "window"}),
)
