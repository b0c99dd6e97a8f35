"""The split that a file's name says is that of foreign marked rows, and of no row of ours."""

import json
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name, opened
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, export_file, import_file

TEXT = "No, three."
FOREIGN = {
    "prodigy": {"text": TEXT, "spans": [{"start": 4, "end": 9, "label": "ANCHOR"}]},
    "doccano": {"text": TEXT, "label": [[4, 9, "ANCHOR"]]},
    "label-studio": {
        "id": 1,
        "data": {"text": TEXT},
        "annotations": [
            {
                "completed_by": 1,
                "result": [
                    {
                        "id": "a",
                        "from_name": "label",
                        "to_name": "text",
                        "type": "labels",
                        "value": {"start": 4, "end": 9, "text": "three", "labels": ["ANCHOR"]},
                    }
                ],
            }
        ],
    },
}


def splits(path: Path, name: str, db: Path) -> set[str | None]:
    with Store.open(db, create=True) as store:
        found = opened(path, name)
        import_file(store, found.source, found.format, ImportOptions())
        return {record.split for record in store.items.records(Query(), None, "gold")}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize(("stem", "split"), [("nfh_dev", "dev"), ("nfh", None)])
def test_of_foreign_rows(name: str, stem: str, split: str | None, tmp_path: Path) -> None:
    written = json.dumps(FOREIGN[name])
    path = tmp_path / f"{stem}.{name}.jsonl"
    path.write_text(f"[{written}]" if name == "label-studio" else f"{written}\n", "utf-8")
    assert splits(path, name, tmp_path / "a.db") == {split}


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("prodigy", ".jsonl"),
        ("doccano", ".jsonl"),
        ("label-studio", ".json"),
        ("inception-json", ".zip"),
    ],
)
def test_what_was_exported_without_one_stays_without(
    name: str, suffix: str, tmp_path: Path
) -> None:
    raw = tmp_path / "a.txt"
    raw.write_text(f"{TEXT}\n", "utf-8")
    out = tmp_path / f"nfh_dev{suffix}"
    with Store.open(tmp_path / "a.db", create=True) as store:
        found = opened(raw)
        import_file(store, found.source, found.format, ImportOptions())
        export_file(store, Query(), by_name(name), out)
    assert splits(out, name, tmp_path / "b.db") == {None}
