"""The published data set in Parquet, with pyarrow as the judge."""

import gc
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.huggingface import HF_PARQUET
from nfh_db.formats.registry import by_name, opened, reading
from nfh_db.formats.rows import LabelledRow, Writing
from nfh_db.records import ExportRecord
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import ImportOptions, export_file, import_file
from tests.nfh_db.formats import weigh

RESOLUTION = {
    "tokens": ["Two", "tickets", "?", "No", ",", "three", "."],
    "line_indices": [0, 0, 0, 1, 1, 1, 1],
    "head": ["1"],
    "speakers": ["Ann", "Ann", "Ann", None, None, None, None],
    "anchors_indices": [5],
}
IDENTIFICATION = {
    "tokens": ["No", ",", "three", "."],
    "start_index": 2,
    "end_index": 3,
    "label": 1,
}

SIDE = "gold.jsonl"


def _put(path: Path, *rows: dict[str, object]) -> Path:
    """A Parquet file of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


def _rows(path: Path) -> list[LabelledRow]:
    found = opened(path)
    return list(found.format.read(found.source, reading()))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of the sample corpus, some of it in splits."""
    path = tmp_path_factory.mktemp("hub") / "sample.db"
    with Store.open(path, create=True) as store:
        found = opened(corpus_path())
        import_file(store, found.source, found.format, ImportOptions(split="dev"))
    return path


def _export(database: Path, name: str, out: Path) -> Path:
    from nfh_db.query import parse

    with Store.open(database) as store:
        export_file(store, parse(""), by_name(name), out)
    return out


def test_files_of_the_published_rendering_are_read(tmp_path: Path) -> None:
    (row,) = _rows(_put(tmp_path / "validation.parquet", RESOLUTION))
    assert (row.kind, row.head_tokens, row.split) == (Kind.REFERENCE, (1,), "dev")
    assert row.anchor == Anchor(5, 6)
    assert [turn.speaker for turn in row.passage.turns] == ["Ann", None]
    (row,) = _rows(_put(tmp_path / "train.parquet", IDENTIFICATION))
    assert (row.kind, row.anchor, row.split) == (Kind.NFH, Anchor(2, 3), "train")


@pytest.mark.parametrize("place", ["folder", "one.zip"])
def test_all_comes_back_through_the_side_file(sample: Path, tmp_path: Path, place: str) -> None:
    out = _export(sample, "hf-parquet", tmp_path / place)
    found = opened(out)
    assert found.format is HF_PARQUET
    with Store.open(tmp_path / "back.db", create=True) as store:
        import_file(store, found.source, found.format, ImportOptions())
    before = _export(sample, "gold", tmp_path / "before.jsonl").read_bytes()
    assert (
        _export(tmp_path / "back.db", "gold", tmp_path / "after.jsonl").read_bytes() == before
    )


def test_the_files_have_the_published_types(sample: Path, tmp_path: Path) -> None:
    out = _export(sample, "hf-parquet", tmp_path / "p")
    table = parquet.read_table(out / "identification/validation.parquet")
    assert [str(field.type) for field in table.schema] == [
        "list<element: string>",
        "int32",
        "int32",
        "int64",
    ]
    told = json.loads(table.schema.metadata[b"huggingface"])
    assert told["info"]["features"]["label"]["names"] == ["neg", "pos"]
    assert {row["label"] for row in table.to_pylist()} == {0, 1}
    heads = parquet.read_table(out / "resolution/validation.parquet")["head"].to_pylist()
    assert any(head[0].isdigit() for head in heads)
    assert any(head == ["AGE"] for head in heads)


def test_without_the_side_file_the_columns_are_read(sample: Path, tmp_path: Path) -> None:
    out = _export(sample, "hf-parquet", tmp_path / "p")
    count = sum(parquet.read_metadata(path).num_rows for path in out.glob("*/*.parquet"))
    (out / SIDE).unlink()
    rows = _rows(out)
    assert len(rows) == count
    assert {row.split for row in rows} == {"dev"}


def test_a_row_the_side_file_does_not_have_is_refused(sample: Path, tmp_path: Path) -> None:
    out = _export(sample, "hf-parquet", tmp_path / "p")
    path = out / "resolution/validation.parquet"
    rows = parquet.read_table(path).to_pylist()
    head = ["YEAR" if rows[2]["head"] == ["AGE"] else "AGE"]
    _put(path, *rows[:2], {**rows[2], "head": head}, *rows[3:])
    with pytest.raises(
        FormatError, match=r"resolution/validation.parquet, line 3: head: found"
    ):
        _rows(out)
    _put(path, *rows, rows[0])
    with pytest.raises(FormatError, match=r"is not in gold.jsonl; remove gold.jsonl"):
        _rows(out)
    _put(path, *rows[:-1])
    with pytest.raises(FormatError, match=r"ends before line \d+ of gold.jsonl"):
        _rows(out)
    path.unlink()
    with pytest.raises(FormatError, match="belongs to resolution/validation, which is missing"):
        _rows(out)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": 2}, 'key "label": found 2, wanted 1'),
        ({"start_index": 4}, "a token from 0 to 3"),
        ({"end_index": 2}, "a number from 3 to 4"),
    ],
)
def test_a_row_that_does_not_hold_is_refused(
    tmp_path: Path, change: dict[str, object], says: str
) -> None:
    path = _put(tmp_path / "x.parquet", IDENTIFICATION, {**IDENTIFICATION, **change})
    with pytest.raises(FormatError, match=f"line 2: .*{says}"):
        _rows(path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**IDENTIFICATION, "label": True}, 'key "label": found true'),
        (
            {**IDENTIFICATION, "more": 1},
            "found the keys tokens, start_index, end_index, label, more; wanted",
        ),
    ],
)
def test_other_columns_are_refused(tmp_path: Path, row: dict[str, object], says: str) -> None:
    with pytest.raises(FormatError, match=f"line 1: .*{says}"):
        _rows(_put(tmp_path / "x.parquet", row))


def test_a_damaged_parquet_file_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(FormatError, match="cannot be read as Parquet"):
        _rows(write(b"PAR1\0\0 and so on", "x.parquet"))


def test_rows_of_json_beside_the_files_are_counted(tmp_path: Path) -> None:
    _put(tmp_path / "hub/resolution/train.parquet", RESOLUTION)
    (tmp_path / "hub/resolution/test.jsonl").write_text(json.dumps(RESOLUTION))
    (tmp_path / "hub/dataset_infos.json").write_text("{}")
    found = opened(tmp_path / "hub")
    assert found.format is HF_PARQUET
    assert len(list(found.format.read(found.source, reading()))) == 1
    assert found.source.warnings == [
        "1 file of JSON left out: only Parquet is read; the first is resolution/test.jsonl"
    ]


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
