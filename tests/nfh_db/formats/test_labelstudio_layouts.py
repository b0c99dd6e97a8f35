"""Label Studio's other layouts: dialogs in paragraphs, pages of HTML, JSON_MIN refused."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.rows import DialogBlock, Row
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_models.domain import Kind
from tests.nfh_db.formats.labelstudio_tool import (
    TEXT,
    THREE,
    Json,
    added,
    only,
    read_tasks,
    said,
)

Read = Callable[..., tuple[list[Row], list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The rows of tasks, and what is said at the end."""
    return partial(read_tasks, tmp_path)


# --- Paragraphs and HyperText ---------------------------------------------------------------

DIALOG = [
    {"author": "Ann", "text": "😀 Two tickets?", "start": 1.5, "duration": 0.25},
    {"author": "Ben", "text": ""},
    {"author": "Ben", "text": "No, 😀 three."},
]


def in_paragraph(key: str, rank: int, start: int, end: int, label: str, text: str) -> Json:
    value = {"start": str(rank), "end": str(rank), "startOffset": start, "endOffset": end}
    return {
        "id": key,
        "from_name": "l",
        "to_name": "d",
        "type": "paragraphlabels",
        "value": value | {"text": text, "paragraphlabels": [label]},
    }


PARAGRAPHS = (
    in_paragraph("a", 2, 7, 12, "REFERENCE", "three"),
    in_paragraph("b", 0, 7, 14, "HEAD", "tickets"),
)


def test_paragraphs_are_turns_and_count_in_units_within_each(read: Read) -> None:
    rows, warnings = read(
        {"data": {"talk": DIALOG}, "annotations": [added("eva", list(PARAGRAPHS))]}
    )
    row = only(rows)
    assert said(row) == (Kind.REFERENCE, [["tickets"]], None)
    assert row.passage.text == "😀 Two tickets?\n\nNo, 😀 three."
    assert [(t.number, t.speaker, t.begin, t.until) for t in row.passage.turns] == [
        (0, "Ann", 1500, 1750),
        (2, "Ben", None, None),
    ]
    assert row.tokenizer
    assert not warnings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": "9"}, "found the paragraph 9, wanted one from 0 to 2"),
        ({"start": "x"}, 'found the paragraph "x", wanted one from 0 to 2'),
        ({"endOffset": 99}, "the offset 98 is outside paragraph 2 of 12 characters"),
        ({"startOffset": 5}, "offset 5 is inside a character"),
        ({"startOffset": 8}, 'expected "three", found "hree"'),
    ],
)
def test_places_that_are_not_there_are_refused(read: Read, change: Json, message: str) -> None:
    bad = json.loads(json.dumps(PARAGRAPHS[0]))
    bad["value"] |= change
    with pytest.raises(FormatError, match=message):
        read({"data": {"talk": DIALOG}, "annotations": [added("eva", [bad])]})


def test_paragraphs_without_a_number_are_turns_of_a_scene(read: Read) -> None:
    (block,) = read({"data": {"talk": DIALOG}})[0]
    assert isinstance(block, DialogBlock)
    assert [(t.number, t.speaker, t.begin) for t in block.turns] == [
        (0, "Ann", 1500),
        (2, "Ben", None),
    ]


def page(key: str, start: int, end: int, label: str, text: str | None) -> Json:
    value: Json = {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0}
    value |= {"endOffset": 3, "globalOffsets": {"start": start, "end": end}}
    value |= {"hypertextlabels": [label]} | ({} if text is None else {"text": text})
    return {"id": key, "from_name": "l", "type": "hypertextlabels", "value": value}


HTML = "<p>Two <b>tickets</b> &amp; a map?<br>No, three.</p>"


def test_pages_are_read_by_their_rendered_text(read: Read) -> None:
    results = [page("a", 25, 30, "REFERENCE", "three"), page("b", 4, 11, "HEAD", "tickets")]
    row = only(read({"data": {"html": HTML}, "annotations": [added("eva", results)]})[0])
    assert row.passage.text == "Two tickets & a map?\nNo, three."
    assert said(row) == (Kind.REFERENCE, [["tickets"]], None)
    unchecked = [page("a", 25, 30, "AGE", None)]
    with pytest.raises(FormatError, match="lacks its text"):
        read({"data": {"html": HTML}, "annotations": [added("eva", unchecked)]})


# --- JSON_MIN -------------------------------------------------------------------------------


def short(**more: Any) -> Json:
    spans = [one["value"] for one in THREE]
    times = {"created_at": "2026-03-04T05:06:07Z", "updated_at": "2026-03-04T05:06:07Z"}
    base = {"id": 3, "annotator": 5, "annotation_id": 12, "lead_time": 2.5, **times}
    return {"text": TEXT, "label": spans, **base, **more}


FULL = {"id": 1, "data": {"text": TEXT}, "annotations": [added("eva", THREE)]}


@pytest.mark.parametrize(
    ("items", "place"),
    [
        ([short()], "item 1, id 3"),
        ([short(annotator="dan")], "item 1, id 3"),
        ([FULL, short()], "item 2, id 3"),
        ([short(id=None, annotation_id=7)], "item 1"),
    ],
)
def test_json_min_is_refused_with_what_to_export_instead(
    read: Read, items: list[Json], place: str
) -> None:
    told = f'{place}: found an item of JSON_MIN, .*export as "JSON", the full one$'
    with pytest.raises(FormatError, match=told):
        read(*items)


def test_what_is_no_task_is_none_of_json_min(read: Read) -> None:
    with pytest.raises(FormatError, match=r'item 2: key "data" is missing; wanted a task$'):
        read(FULL, {"text": TEXT})


@pytest.mark.parametrize("options", [(), ("--format", "label-studio")])
@pytest.mark.parametrize("layout", ["list", "lines"])
def test_a_file_of_json_min_is_known_and_nothing_of_it_stored(
    home: Path, call: Callable[..., Result], layout: str, options: tuple[str, ...]
) -> None:
    items = [short(), short(annotation_id=13, annotator=6)]
    path = home / "min.json"
    path.write_text(
        json.dumps(items) if layout == "list" else "\n".join(map(json.dumps, items))
    )
    result = call("import", path, "--db", "a.db", *options)
    assert result.exit_code == 1
    assert "found an item of JSON_MIN" in result.stderr
    assert 'export as "JSON", the full one' in result.stderr
    with Store.open(home / "a.db") as store:
        assert not list(store.items.ballots(Query()))
