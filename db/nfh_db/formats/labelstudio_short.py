"""JSON_MIN, Label Studio's short export: a task's data with what one annotation says.

Regions are lists under the name of their control tag, what was typed or chosen is text. It has
no relations and no ids, so which head is of which number is known of an only number alone.
Source: https://labelstud.io/guide/export, "JSON_MIN".
"""

from collections import Counter

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_parts import Parts
from nfh_db.formats.labelstudio_json import Annotation, Result, Short, Task, User, Value
from nfh_db.formats.labelstudio_marks import COMMENT, NOUN, REGIONS, Sheet
from nfh_db.formats.labelstudio_text import OURS
from nfh_db.formats.marked import ANSWERS, HEAD, Graph, graph_of
from nfh_db.formats.options import LabelMap
from nfh_db.formats.stored import Restored
from nfh_models.domain import Answer

KEYS = ("id", "annotation_id", "annotator", "created_at", "updated_at", "lead_time")
SURE = frozenset({"annotation_id", "annotator", "lead_time"})
"""Keys that all its items have, and few other files."""

NOBODY = "None"
"""What the tool's converter writes of an annotation that names nobody."""

_parts = msgspec.json.Decoder(Parts)
_short = msgspec.json.Decoder(Short)


def task_of(text: str, labels: LabelMap) -> Task:
    """An item as a task with one annotation. Raises MarkError."""
    try:
        return _task_of(text, labels)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MarkError(str(error)) from error


def _task_of(text: str, labels: LabelMap) -> Task:
    parts = _parts.decode(text)
    short = _short.decode(text)
    if not SURE & parts.keys():
        raise MarkError('key "data" is missing; wanted a task, or an item of JSON_MIN')
    results: list[Result] = []
    data: Parts = {}
    for key, raw in parts.items():
        if key in KEYS:
            continue
        found = None if key in OURS or key == "text" else _results(key, raw, labels)
        if found is None:
            data[key] = raw
        else:
            results += found
    by = None if short.annotator == NOBODY else short.annotator
    annotation = Annotation(
        result=msgspec.Raw(msgspec.json.encode(results)),
        id=short.annotation_id,
        completed_by=User(email=by) if isinstance(by, str) else by,
        created_at=short.created_at,
        updated_at=short.updated_at,
        lead_time=short.lead_time,
    )
    return Task(data=data, id=short.annotation_id, annotations=[annotation])


def _results(key: str, raw: msgspec.Raw, labels: LabelMap) -> list[Result] | None:
    """What stands under a key, if it is regions, words or a class; None of data."""
    value = msgspec.json.decode(raw)
    words = [value] if isinstance(value, str) else value
    if labels.layer.get(key, key) in (NOUN, COMMENT) and _texts(words):
        return [Result("textarea", from_name=key, value=Value(text=words))]
    if _texts(words) and all(labels.labels.get(one, one) in ANSWERS for one in words):
        return [Result("choices", from_name=key, value=Value(choices=words))]
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(one, dict) and one.keys() & REGIONS for one in value):
        return None
    try:
        regions = msgspec.json.decode(raw, type=list[Value])
    except msgspec.ValidationError as error:
        raise MarkError(f'key "{key}": {error}') from error
    return [
        Result("labels", id=f"{key}-{rank}", from_name=key, value=region)
        for rank, region in enumerate(regions)
    ]


def _texts(words: object) -> bool:
    return bool(words) and isinstance(words, list) and all(isinstance(w, str) for w in words)


def without_heads(sheet: Sheet) -> tuple[Sheet, int]:
    """Marks without the heads that could be of several numbers, and how many those are."""
    graph = sheet.graph
    several = sum(spot.label in ANSWERS for spot in graph.spots) > 1
    heads = [i for i, spot in enumerate(graph.spots) if spot.label == HEAD]
    if not several or not heads:
        return sheet, 0
    kept = [i for i in range(len(graph.spots)) if i not in set(heads)]
    rank = {place: here for here, place in enumerate(kept)}
    said = {
        (place if place is None else rank[place], what): words
        for (place, what), words in sheet.said.items()
        if place is None or place in rank
    }
    return Sheet(Graph(tuple(graph.spots[i] for i in kept)), said), len(heads)


def shows(sheet: Sheet, answer: Answer, kept: Restored) -> bool:
    """True if marks are those of an answer, as far as marks without relations tell."""
    passage = kept.passage
    graph = graph_of(answer, kept.anchor, passage.starts, passage.ends)
    place = next((i for i, one in enumerate(sheet.graph.spots) if one.label in ANSWERS), None)
    return (
        place is not None
        and Counter(sheet.graph.spots) == Counter(graph.spots)
        and sheet.words(place, NOUN) == (answer.noun or "")
        and sheet.words(place, COMMENT) == answer.comment
    )
