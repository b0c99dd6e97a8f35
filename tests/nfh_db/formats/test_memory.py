"""Large files of every format are written and read in memory that does not grow with them.

Each is a process of its own (`weigh.py`). NFH_TEST_MB says how large the files are that are
made; what grows with a file, names of members and ids seen, is some hundred bytes an item.
Most readers grow by 1 or 2 MB, so that files of 10 MB show who holds one as a whole.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name
from tests.conftest import LONG

MEGABYTES = int(os.environ.get("NFH_TEST_MB", "10" if LONG else "5"))

BOUND = (8 if LONG else 4) << 20
"""Bytes by which the most memory may grow beyond that of a small file: less than the file."""

FORMATS = {
    "gold": 3_050,
    "nfh": 740,
    "prodigy": 21_400,
    "doccano": 1_600,
    "label-studio": 3_800,
    "conllu": 2_350,
}
"""Formats that are read piece by piece, with the bytes that an item of the sample takes."""

SHORT = {"gold"}
"""What `make test` does: our own format."""

LARGER = {"label-studio": 3}
"""Formats whose reader holds more, some 16 MB: their file and its bound are so many times as
large."""

SLOW = {"hf-parquet": (12_000, 64), "brat": (1_500, 32), "inception-json": (700, 32)}
"""Formats of which fewer items are made: these, and the MB by which memory may grow. Parquet
holds a group of rows at a time."""


def weighed(what: str, name: str, path: Path, items: int) -> dict[str, int]:
    script = Path(__file__).with_name("weigh.py")
    done = subprocess.run(
        [sys.executable, str(script), what, name, str(path), str(items)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def _item(name: str) -> object:
    return name if name in SHORT else pytest.param(name, marks=pytest.mark.long)


def _path(name: str, folder: Path) -> Path:
    format_ = by_name(name)
    return folder / ("big" if format_.members else f"big{format_.extensions[0]}")


@pytest.mark.parametrize("name", [_item(name) for name in FORMATS])
def test_a_large_file_is_never_held_as_a_whole(name: str, tmp_path: Path) -> None:
    path = _path(name, tmp_path)
    times = LARGER.get(name, 1)
    size, bound = times * MEGABYTES * 1_000_000, times * BOUND
    items = size // FORMATS[name]
    out = weighed("write", name, path, items)
    assert out["size"] > 0.8 * size
    assert out["grown"] < bound
    back = weighed("read", name, path, 0)
    assert back["rows"] >= 0.6 * items
    assert back["grown"] < bound


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
def test_many_items_take_no_more_than_a_few(name: str, tmp_path: Path) -> None:
    path = _path(name, tmp_path)
    items, bound = SLOW[name]
    assert weighed("write", name, path, items)["grown"] < bound << 20
    back = weighed("read", name, path, 0)
    assert back["rows"] >= items
    assert back["grown"] < bound << 20


def test_what_holds_a_file_is_seen(tmp_path: Path) -> None:
    """A reader that takes the whole of it in would not pass."""
    path = tmp_path / "big.jsonl"
    size = weighed("write", "gold", path, 3_600 if LONG else 1_800)["size"]
    script = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[2]); import weigh\n"
        "before = weigh.peak(); held = pathlib.Path(sys.argv[1]).read_text()\n"
        "print(weigh.peak() - before)"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), here],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert int(done.stdout) > min(size, BOUND)
