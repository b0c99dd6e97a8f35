"""The published data set in JSON as it is found: lists, pages of the viewer, failed exports."""

import gc
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.options import Writing
from nfh_db.records import ExportRecord
from nfh_tui.formats.huggingface import HF_PARQUET
from nfh_tui.formats.opening import Opened, opened
from nfh_tui.formats.reading import reading
from tests.formats import weigh

RESOLUTION = {
    "tokens": ["Two", "tickets", "?", "No", ",", "three", "."],
    "line_indices": [0, 0, 0, 1, 1, 1, 1],
    "head": ["1"],
    "speakers": ["Ann", "Ann", "Ann", None, None, None, None],
    "anchors_indices": [5],
}
CLASS = {**RESOLUTION, "head": ["AGE"]}
IDENTIFICATION = {
    "tokens": ["No", ",", "three", "."],
    "start_index": 2,
    "end_index": 3,
    "label": 1,
}
PAIRS = [(RESOLUTION, CLASS), (CLASS, RESOLUTION), (IDENTIFICATION, IDENTIFICATION)]

Write = Callable[..., Path]


def page(rows: object, **more: object) -> dict[str, object]:
    """A page as the data set viewer gives it."""
    told = [
        {"row_idx": rank, "row": row, "truncated_cells": []}
        for rank, row in enumerate(rows if isinstance(rows, tuple) else ())
    ]
    features = [{"feature_idx": 0, "name": "tokens", "type": {"_type": "List"}}]
    return {"features": features, "rows": told, **more}


LAYOUTS: dict[str, Callable[[object], str]] = {
    "a list in a line": json.dumps,
    "a pretty list": lambda rows: json.dumps(rows, indent=2),
    "a page in a line": lambda rows: json.dumps(page(rows)),
    "a pretty page": lambda rows: json.dumps(page(rows), indent=2),
}


def _read(found: Opened) -> list[tuple[object, object, object]]:
    rows = list(found.format.read(found.source, reading()))
    return [(row.passage, row.anchor, (row.kind, row.head_tokens)) for row in rows]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("place", ["alone", "marked", "folder", "zip"])
def test_lists_and_pages_are_what_the_lines_are(
    write: Write, tmp_path: Path, layout: str, pair: tuple[object, ...], place: str
) -> None:
    lines = write("".join(json.dumps(row) + "\n" for row in pair), "lines.jsonl")
    wanted = opened(lines, "hf-json")
    raw = LAYOUTS[layout](pair).encode()
    if place == "folder":
        path = tmp_path / "data"
        (path / "resolution").mkdir(parents=True)
        (path / "resolution/train.json").write_bytes(raw)
    elif place == "zip":
        path = tmp_path / "data.zip"
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("resolution/train.json", raw)
    else:
        path = write(b"\xef\xbb\xbf" * (place == "marked") + raw, "train.json")
    found = opened(path)
    assert found.format.name == "hf-json"
    assert _read(found) == _read(wanted)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([RESOLUTION, {**RESOLUTION, "head": ["9"]}], "line 2: .*head"),
        ([RESOLUTION, 3], "wanted an object"),
        (page(()), "no row under the key"),
        (
            {"rows": [{"row": RESOLUTION, "truncated_cells": ["tokens"]}]},
            "row 1: the data set viewer cut its cells",
        ),
        ({"rows": [{"row": RESOLUTION}, {"raw": 1}]}, "row 2: wanted an object with the key"),
    ],
)
def test_what_does_not_hold_is_refused(write: Write, value: object, says: str) -> None:
    found = opened(write(json.dumps(value), "train.json"), "hf-json")
    with pytest.raises(FormatError, match=says):
        _read(found)


def test_it_is_said_that_a_page_is_not_all(write: Write) -> None:
    found = opened(write(json.dumps(page((RESOLUTION,), num_rows_total=7_000)), "a.json"))
    assert len(_read(found)) == 1
    assert found.source.warnings == ["holds 1 row of the 7,000 that the data set has"]


def test_an_export_that_fails_leaves_nothing_to_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing() -> Iterator[ExportRecord]:
        given = weigh.records()
        yield from (next(given) for _ in range(20))
        raise ExportError("the disk is full")

    unraised: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)
    assert HF_PARQUET.members is not None
    with pytest.raises(ExportError):
        list(HF_PARQUET.members(Writing()).members(failing()))
    gc.collect()
    assert unraised == []
