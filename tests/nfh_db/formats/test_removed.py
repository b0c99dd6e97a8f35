"""Files of formats that earlier versions read: each is refused with what to use instead."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.files import Folder
from nfh_db.formats.registry import by_name, formats, opened, reading
from nfh_db.formats.unsupported import REMOVED

Call = Callable[..., Result]
Write = Callable[..., Path]

NFH = {
    "tokens": ["Two", "tickets", "?", "No", ",", "three", "."],
    "line_indices": [0, 0, 0, 1, 1, 1, 1],
    "head": [1],
    "speakers": ["Ann"] * 3 + ["Ben"] * 4,
    "anchors_indices": [5],
}
RESOLUTION = {**NFH, "head": ["1"]}
CLASS = {**NFH, "head": ["AGE"]}
IDENTIFICATION = {"tokens": NFH["tokens"], "start_index": 5, "end_index": 6, "label": 1}

FIELDS = " +++$+++ u0 +++$+++ m0 +++$+++ ANN +++$+++ "
LINES = f"L1{FIELDS}Two?\nL2{FIELDS}Caf\xe9s.\n"
TALKS = "u0 +++$+++ u2 +++$+++ m0 +++$+++ ['L1', 'L2']\n"

PARQUET, CONVOKIT = (
    "Parquet files, which are read and written as hf-parquet",
    "read as convokit",
)


def page(*rows: object) -> dict[str, object]:
    """A page as the data set viewer gives it."""
    told = [{"row_idx": at, "row": row, "truncated_cells": []} for at, row in enumerate(rows)]
    features = [{"feature_idx": 0, "name": "tokens", "type": {"_type": "List"}}]
    return {"features": features, "rows": told, "num_rows_total": 7_000}


LAYOUTS: dict[str, Callable[[object], str]] = {
    "a list in a line": lambda row: json.dumps([row, row]),
    "a pretty list": lambda row: json.dumps([row, row], indent=2),
    "a page in a line": lambda row: json.dumps(page(row)),
    "a pretty page": lambda row: json.dumps(page(row), indent=2),
    "a pretty object": lambda row: json.dumps(row, indent=2),
}


@pytest.mark.parametrize("name", REMOVED)
@pytest.mark.parametrize(
    "command", [("import", "a.txt"), ("predict", "--file", "a.txt"), ("export",)]
)
def test_the_name_of_a_removed_format_is_a_wrong_call(
    write: Write, home: Path, call: Call, command: tuple[str, ...], name: str
) -> None:
    (home / "a.txt").write_text("Ann: two\n")
    result = call(*command, "--format", name)
    assert result.exit_code == 2
    assert f"'{name}' was removed: {REMOVED[name]}" in " ".join(result.stderr.split())
    assert not list(home.glob("*.db"))
    told = call("formats", name)
    assert told.exit_code == 2
    assert REMOVED[name] in told.stderr


def test_no_format_has_a_removed_name() -> None:
    assert REMOVED.keys().isdisjoint(one.name for one in formats())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", [RESOLUTION, CLASS, IDENTIFICATION])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_data_set_in_json_is_refused(
    write: Write, layout: str, row: dict[str, object], mark: bytes
) -> None:
    path = write(mark + LAYOUTS[layout](row).encode(), "train.json")
    with pytest.raises(FormatError, match=PARQUET):
        opened(path)


@pytest.mark.parametrize("row", [RESOLUTION, IDENTIFICATION])
@pytest.mark.parametrize("spaced", [True, False])
def test_the_data_set_in_lines_is_refused(
    write: Write, row: dict[str, object], *, spaced: bool
) -> None:
    text = json.dumps(row, separators=None if spaced else (",", ":"))
    with pytest.raises(FormatError, match=PARQUET):
        opened(write(f"{text}\n" * 2, "train.jsonl"))


@pytest.mark.parametrize("row", [NFH, CLASS])
def test_lines_of_the_release_are_none(write: Write, row: dict[str, object]) -> None:
    assert opened(write(json.dumps(row), "train.jsonl")).format.name == "nfh"


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("name", ["movie_lines.txt", "lines", "x.jsonl"])
@pytest.mark.parametrize("text", [LINES, "\n" + LINES, TALKS])
def test_the_corpus_of_films_is_refused(
    write: Write, text: str, name: str, encoding: str
) -> None:
    with pytest.raises(FormatError, match=CONVOKIT):
        opened(write(text.encode(encoding), name))


ROW = json.dumps(RESOLUTION)
FOLDERS: list[tuple[dict[str, str], str]] = [
    ({"movie_lines.txt": LINES, "README.txt": "x"}, CONVOKIT),
    ({"corpus/movie_conversations.txt": TALKS}, CONVOKIT),
    ({"resolution/train.jsonl": ROW}, PARQUET),
    ({"a/identification/train/0.json": f"[{ROW}]", "README.md": "x"}, PARQUET),
    (
        {"a/resolution/train.jsonl": ROW, "a/gold.jsonl": "{}"},
        "its a/gold.jsonl holds all of an export: import that file",
    ),
]


@pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize(("members", "says"), FOLDERS)
def test_folders_and_zips_are_refused(
    tmp_path: Path, members: dict[str, str], says: str, *, zipped: bool
) -> None:
    path = tmp_path / "data"
    if zipped:
        with zipfile.ZipFile(path, "w") as packed:
            for name, text in members.items():
                packed.writestr(name, text)
    else:
        for name, text in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=says):
        opened(path)


def test_a_folder_of_json_is_refused_under_the_name_of_parquet(tmp_path: Path) -> None:
    (tmp_path / "resolution").mkdir()
    (tmp_path / "resolution/train.jsonl").write_text(ROW)
    rows = by_name("hf-parquet").read(Folder(tmp_path), reading())
    with pytest.raises(FormatError, match=PARQUET):
        list(rows)


@pytest.mark.parametrize(("text", "says"), [(ROW, PARQUET), (LINES, CONVOKIT)])
def test_other_commands_say_the_same(
    home: Path, call: Call, data_dir: Path, text: str, says: str
) -> None:
    (home / "x.jsonl").write_text(text)
    for command in (
        ("import", "x.jsonl", "--db", "a.db"),
        ("predict", "--file", "x.jsonl"),
        ("evaluate", "resolution", "--file", "x.jsonl"),
        ("identify", "--file", "x.jsonl"),
        ("diff", "x.jsonl", "x.jsonl"),
    ):
        result = call(*command)
        assert result.exit_code == 1, command
        assert says in result.stderr, command
