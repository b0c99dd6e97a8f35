"""Lines of the formats to change, files to read, and a reader that reads all of one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.formats.reading import Source
from nfh_db.formats.registry import BY_NAME
from nfh_db.formats.rows import Row

NFH_VALUES = {
    "tokens": ["Two", "tickets", "?", "No", ",", "three", "."],
    "line_indices": [0, 0, 0, 4, 4, 4, 4],
    "head": [1],
    "speakers": ["Ann", "Ann", "Ann", None, None, None, None],
    "anchors_indices": [5],
}


@pytest.fixture
def nfh_values() -> dict[str, object]:
    """The five keys of a good `nfh` line, free to be changed."""
    values: dict[str, object] = json.loads(json.dumps(NFH_VALUES))
    return values


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Makes a file of text (as UTF-8) or bytes."""

    def make(content: str | bytes, name: str = "file.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return make


@pytest.fixture
def rows(write: Callable[..., Path]) -> Callable[..., list[Row]]:
    """Reads all rows that a format finds in some content."""

    def read(format_name: str, content: str | bytes) -> list[Row]:
        return list(BY_NAME[format_name].read(Source(write(content))))

    return read
