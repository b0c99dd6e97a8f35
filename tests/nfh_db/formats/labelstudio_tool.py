"""What Label Studio makes of a file: its import and export, by its serializers' source.

On import (tasks/serializers.py) an annotation gets a new id, keeps its old one as `import_id`,
and loses its times; who completed it becomes a member of the organisation. On export
(data_export/serializers.py) all of the model's fields are written, those of the task around.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nfh_db.formats.files import Source
from nfh_db.formats.label_studio import LABEL_STUDIO
from nfh_db.formats.registry import reading
from nfh_db.formats.rows import GoldRow, Row

Json = dict[str, Any]

NOW = "2026-03-04T05:06:07.890123Z"
MEMBERS = 1000
FIRST = 5000


def through_the_tool(path: Path, edit: Callable[[list[Json]], None] | None = None) -> None:
    """A file imported into a project and exported again; `edit` is what people did there."""
    tasks = [_task(number, task) for number, task in enumerate(json.loads(path.read_bytes()))]
    if edit is not None:
        edit(tasks)
    path.write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf-8")


def _task(number: int, task: Json) -> Json:
    annotations = [
        _annotation(FIRST + 100 * number + rank, one)
        for rank, one in enumerate(task["annotations"])
    ]
    predictions = [
        {
            "id": 9 * number + rank,
            "model_version": one["model_version"],
            "created_ago": "2 minutes",
            "result": one["result"],
            "score": None,
            "cluster": None,
            "task": 70 + number,
            "created_at": NOW,
        }
        for rank, one in enumerate(task["predictions"])
    ]
    return {
        "id": 70 + number,
        "annotations": annotations,
        "file_upload": "0a1b2c3d-there.json",
        "drafts": [],
        "predictions": predictions,
        "data": task["data"],
        "meta": task.get("meta", {}),
        "created_at": NOW,
        "updated_at": NOW,
        "inner_id": number + 1,
        "total_annotations": sum(not one["was_cancelled"] for one in annotations),
        "cancelled_annotations": sum(one["was_cancelled"] for one in annotations),
        "total_predictions": len(predictions),
        "project": 3,
        "updated_by": 1,
    }


def _annotation(number: int, one: Json) -> Json:
    return {
        "id": number,
        "completed_by": _member(one["completed_by"]),
        "result": one["result"],
        "was_cancelled": one["was_cancelled"],
        "ground_truth": one["ground_truth"],
        "created_at": NOW,
        "updated_at": NOW,
        "lead_time": one.get("lead_time"),
        "prediction": {},
        "result_count": len(one["result"]),
        "unique_id": f"00000000-0000-0000-0000-{number:012}",
        "import_id": one["id"],
        "last_action": None,
        "task": 70,
        "project": 3,
        "updated_by": 1,
        "parent_prediction": None,
        "parent_annotation": None,
    }


def _member(user: Json | None) -> Json:
    """The member of that email; who imports, where nobody is named."""
    email = "who-imports@example.org" if user is None else user["email"]
    number = MEMBERS + sum(map(ord, email))
    return {"id": number, "email": email, "first_name": "", "last_name": ""}


def added(who: str, results: list[Json], **more: Any) -> Json:
    """An annotation that somebody made in the tool."""
    made = {
        "id": 1,
        "completed_by": {"email": who},
        "was_cancelled": False,
        "ground_truth": False,
        "result": results,
    }
    return _annotation(9999, made) | {"import_id": None} | more


def region(
    key: str, start: int, end: int, label: str, text: str | None = None, **more: Any
) -> Json:
    """A region as the editor writes it."""
    value: Json = {"start": start, "end": end, "labels": [label]}
    if text is not None:
        value["text"] = text
    return {
        "id": key,
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "origin": "manual",
        "value": value | more,
    }


def relation(one: str, two: str, *labels: str, direction: str = "right") -> Json:
    """A relation as the editor writes it."""
    return {
        "from_id": one,
        "to_id": two,
        "type": "relation",
        "direction": direction,
        "labels": list(labels),
    }


# --- tasks as a project of its own has them ------------------------------------------------

TEXT = "Ann: Two tickets and a map?\nBen: No, three."
ASTRAL = "Ann: 😀 Two tickets?\nBen: No, three."


def place(word: str, text: str = TEXT) -> tuple[int, int]:
    start = text.index(word)
    return start, start + len(word)


def mark(key: str, word: str, label: str, text: str = TEXT, **more: Any) -> Json:
    return region(key, *place(word, text), label, word, **more)


def task(*annotations: Json, text: str = TEXT, **more: Any) -> Json:
    return {"id": 3, "data": {"text": text}, "annotations": list(annotations), **more}


THREE = (
    mark("a", "three", "REFERENCE"),
    mark("b", "tickets", "HEAD"),
    mark("c", "map", "HEAD"),
)
BOTH = (
    *THREE,
    relation("a", "b", "HEAD"),
    relation("a", "c", "HEAD"),
    relation("b", "c", "OR"),
)


def only(rows: list[Row]) -> GoldRow:
    (row,) = rows
    assert isinstance(row, GoldRow)
    return row


def said(row: GoldRow) -> tuple[Any, ...]:
    (vote,) = row.votes
    words = row.passage.words
    heads = [[words[m.head] for m in head.mentions] for head in vote.answer.heads]
    return vote.answer.kind, heads, vote.answer.relation


def read_tasks(folder: Path, *tasks: Json, **how: Any) -> tuple[list[Row], list[str]]:
    """The rows of tasks, and what is said at the end."""
    path = folder / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    source = Source(path)
    return list(LABEL_STUDIO.read(source, reading(**how))), source.warnings
