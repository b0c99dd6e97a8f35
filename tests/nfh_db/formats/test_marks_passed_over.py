"""What is marked in a task that was refused or cancelled is counted: the flag is kept."""

import json
from collections.abc import Callable
from pathlib import Path

from nfh_db.formats.registry import opened, reading

PRODIGY = {
    "text": "No, three.",
    "spans": [{"start": 4, "end": 9, "label": "AGE"}],
    "answer": "reject",
    "_annotator_id": "eva",
}
LABEL_STUDIO = {
    "id": 1,
    "data": {"text": "No, three."},
    "annotations": [
        {
            "id": 1,
            "completed_by": {"email": "eva"},
            "was_cancelled": True,
            "result": [
                {
                    "id": "s0",
                    "from_name": "label",
                    "to_name": "text",
                    "type": "labels",
                    "value": {"start": 4, "end": 9, "text": "three", "labels": ["AGE"]},
                }
            ],
        }
    ],
}


def _warnings(path: Path) -> list[str]:
    found = opened(path)
    (row,) = found.format.read(found.source, reading())
    assert [flag.annotator for flag in row.flags] == ["eva"]
    assert not row.votes
    return found.source.warnings


def test_prodigy(write: Callable[..., Path]) -> None:
    (said,) = _warnings(write(json.dumps(PRODIGY), "p.jsonl"))
    assert said.startswith("1 number marked in a task that was skipped or refused")


def test_label_studio(write: Callable[..., Path]) -> None:
    (said,) = _warnings(write(json.dumps([LABEL_STUDIO]), "l.json"))
    assert said.startswith("1 number marked in a cancelled annotation")
