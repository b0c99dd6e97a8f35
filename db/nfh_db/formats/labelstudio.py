"""`label-studio`: the JSON of Label Studio, its full export, and tasks to import.

Layout and mapping: docs/formats-label-studio.md.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.format import First, Format, How, holds
from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_items import first_keys, json_items
from nfh_db.formats.json_parts import check_keys, decode_parts
from nfh_db.formats.labelstudio_json import NAME, Task
from nfh_db.formats.labelstudio_rows import rows_of
from nfh_db.formats.labelstudio_tally import Tally
from nfh_db.formats.labelstudio_write import TaskWriter
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import Row
from nfh_db.formats.wording import visible

MARKED = frozenset({"annotations", "completions", "predictions", "total_annotations", "drafts"})
BARE = frozenset({"id", "data", "meta"})
DATA = re.compile(r'"data"\s*:\s*\{')
SHORT = frozenset({"annotation_id", "annotator", "lead_time"})
"""Keys that all items of JSON_MIN have, and few other files."""

REGION = re.compile(r'\{[^{}]*"(?:labels|paragraphlabels|hypertextlabels)"\s*:\s*\[')

_tasks = msgspec.json.Decoder(Task)


def read(source: Source, how: Reading) -> Iterator[Row]:
    """The rows of a file of tasks, one for each number in one.

    Raises FormatError at the first task that does not hold.
    """
    tally = Tally()
    seen: dict[int | str, int] = {}
    for rank, line, (task, text) in json_items(source, _decoded):
        try:
            parts = decode_parts(text)
            check_keys(text, parts)
            if task.data is None:
                raise _without_data(parts)
            if _stood_before(task, text, seen):
                tally.counts["again"] += 1
                continue
            yield from rows_of(task, rank, how, tally)
        except MarkError as error:
            raise _refused(source, rank, line, task, error) from error
    source.warnings.extend(tally.sentences())


def _decoded(text: str) -> tuple[Task, str]:
    return _tasks.decode(text), text


def _without_data(keys: Iterable[str]) -> MarkError:
    if SHORT.isdisjoint(keys):
        return MarkError('key "data" is missing; wanted a task')
    return MarkError(
        "found an item of JSON_MIN, which leaves out relations, ground truths, what was passed "
        'over and what models said; in Label Studio export as "JSON", the full one'
    )


def _stood_before(task: Task, text: str, seen: dict[int | str, int]) -> bool:
    """True of a task that stood in the file before. Raises MarkError if it was another one."""
    if task.id is None or task.id not in seen:
        if task.id is not None:
            seen[task.id] = hash(text)
        return False
    if seen[task.id] != hash(text):
        raise MarkError("this id stood before with other content; wanted each id once")
    return True


def _refused(source: Source, rank: int, line: int, task: Task, error: MarkError) -> FormatError:
    where = f"item {rank}" if task.id is None else f"item {rank}, id {visible(str(task.id))}"
    return source.error(line, f"{where}: {error}")


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
    read=read,
    sniff=_sniff,
    chunks=TaskWriter,
    carries_split=True,
    holds=holds(
        How.OWN,
        TIME=How.BESIDE,
        SEEN=How.BESIDE,
        FLAGS=How.BESIDE,
        RULE=How.BESIDE,
        SPLIT=How.BESIDE,
        SPEAKERS=How.BESIDE,
        SAID_AT=How.BESIDE,
        TOKENS=How.BESIDE,
    ),
    settings=frozenset({"map", "offsets", "window"}),
)
