"""The published data set in Parquet and JSON, with pyarrow as the judge."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow import parquet

from nfh_db.errors import FormatError
from nfh_db.formats.rows import LabelledRow
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind
from nfh_tui.formats.opening import opened
from nfh_tui.formats.reading import reading
from nfh_tui.formats.registry import by_name
from nfh_tui.sample import corpus_path
from nfh_tui.transfer import ImportOptions, export_file, import_file

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

Write = Callable[..., Path]


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


def test_lines_of_the_published_rendering_are_read(write: Write) -> None:
    (row,) = _rows(write(json.dumps(RESOLUTION), "validation.jsonl"))
    assert (row.kind, row.head_tokens, row.split) == (Kind.REFERENCE, (1,), "dev")
    assert row.anchor == Anchor(5, 6)
    assert [turn.speaker for turn in row.passage.turns] == ["Ann", None]
    (row,) = _rows(write(json.dumps(IDENTIFICATION), "train.jsonl"))
    assert (row.kind, row.anchor, row.split) == (Kind.NFH, Anchor(2, 3), "train")


@pytest.mark.parametrize("name", ["hf-parquet", "hf-json"])
@pytest.mark.parametrize("place", ["folder", "one.zip"])
def test_all_comes_back_through_the_side_file(
    sample: Path, tmp_path: Path, name: str, place: str
) -> None:
    out = _export(sample, name, tmp_path / place)
    found = opened(out)
    assert found.format.name == name
    with Store.open(tmp_path / "back.db", create=True) as store:
        import_file(store, found.source, found.format, ImportOptions())
    before = _export(sample, "gold", tmp_path / "before.jsonl").read_bytes()
    assert (
        _export(tmp_path / "back.db", "gold", tmp_path / "after.jsonl").read_bytes() == before
    )


def test_parquet_has_the_published_types_and_the_same_rows_as_json(
    sample: Path, tmp_path: Path
) -> None:
    columns = (
        _export(sample, "hf-parquet", tmp_path / "p") / "identification/validation.parquet"
    )
    lines = _export(sample, "hf-json", tmp_path / "j") / "identification/validation.jsonl"
    table = parquet.read_table(columns)
    assert [str(field.type) for field in table.schema] == [
        "list<element: string>",
        "int32",
        "int32",
        "int64",
    ]
    told = json.loads(table.schema.metadata[b"huggingface"])
    assert told["info"]["features"]["label"]["names"] == ["neg", "pos"]
    assert table.to_pylist() == [json.loads(line) for line in lines.read_text().splitlines()]
    assert {row["label"] for row in table.to_pylist()} == {0, 1}


def test_without_the_side_file_the_columns_are_read(sample: Path, tmp_path: Path) -> None:
    out = _export(sample, "hf-json", tmp_path / "j")
    count = sum(len(path.read_text().splitlines()) for path in out.glob("*/*.jsonl"))
    (out / "gold.jsonl").unlink()
    rows = _rows(out)
    assert len(rows) == count
    assert {row.split for row in rows} == {"dev"}


def test_a_row_the_side_file_does_not_have_is_refused(sample: Path, tmp_path: Path) -> None:
    out = _export(sample, "hf-json", tmp_path / "j")
    path = out / "resolution/validation.jsonl"
    lines = path.read_text().splitlines()
    values = json.loads(lines[2])
    values["head"] = ["AGE"] if values["head"] != ["AGE"] else ["YEAR"]
    path.write_text("\n".join([*lines[:2], json.dumps(values), *lines[3:]]))
    with pytest.raises(FormatError, match=r"resolution/validation.jsonl, line 3: head: found"):
        _rows(out)
    path.write_text("\n".join([*lines, lines[0]]))
    with pytest.raises(FormatError, match=r"is not in gold.jsonl; take gold.jsonl away"):
        _rows(out)
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(FormatError, match=r"ends before line \d+ of gold.jsonl"):
        _rows(out)
    path.unlink()
    with pytest.raises(FormatError, match="belongs to resolution/validation, which is missing"):
        _rows(out)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": 2}, 'key "label": found 2, wanted 1'),
        ({"label": True}, 'key "label": found true'),
        ({"start_index": 4}, "a token from 0 to 3"),
        ({"end_index": 2}, "a number from 3 to 4"),
        ({"more": 1}, "found the keys tokens, start_index, end_index, label, more; wanted"),
    ],
)
def test_a_row_that_does_not_hold_is_refused(
    write: Write, change: dict[str, object], says: str
) -> None:
    good, bad = json.dumps(IDENTIFICATION), json.dumps({**IDENTIFICATION, **change})
    with pytest.raises(FormatError, match=f"line 2: .*{says}"):
        _rows(write(f"{good}\n{bad}", "x.jsonl"))


def test_a_damaged_parquet_file_is_refused(write: Write) -> None:
    with pytest.raises(FormatError, match="cannot be read as Parquet"):
        _rows(write(b"PAR1\0\0 and so on", "x.parquet"))
