"""Every format that is written, out and back: what it says it holds is the same afterwards."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name, formats
from tests.nfh_db.formats.round_trip import Trip, hostile_corpus, round_trip

LOSSY = {"nfh": "the release's own rows: heads by noun, one label a row"}
"""Formats whose rows hold less than `gold` can compare; their own tests say what."""

NAMES = [f.name for f in formats() if f.writable and f.name not in LOSSY]


def ways(name: str) -> list[str]:
    """The suffixes under which a format is written: one file, a folder, a zip."""
    format_ = by_name(name)
    one_file = format_.writer is not None or format_.chunks is not None
    files = [format_.extensions[0]] if one_file else []
    return files + (["", ".zip"] if format_.members is not None else [])


WAYS = [
    pytest.param(name, way, id=f"{name}{way or '/'}") for name in NAMES for way in ways(name)
]


FIRST = [pytest.param(name, ways(name)[0], id=name) for name in NAMES]


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Trip]:
    """The journey of the corpus through a format, made once."""

    @lru_cache
    def made(name: str, way: str) -> Trip:
        folder = tmp_path_factory.mktemp("trip")
        return round_trip(hostile_corpus(folder / "in.jsonl"), name, folder, suffix=way)

    return made


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_a_hostile_corpus_comes_back(
    trip: Callable[[str, str], Trip], name: str, way: str
) -> None:
    found = trip(name, way)
    found.check()
    assert found.recognised == name
    assert found.imported.conflicts == ()


@pytest.mark.parametrize(("name", "way"), FIRST)
def test_a_second_journey_is_the_first(
    trip: Callable[[str, str], Trip], tmp_path: Path, name: str, way: str
) -> None:
    first = trip(name, way)
    if first.lost or first.exported.left_out:
        pytest.skip("it holds not all, and so the second file may be another one")
    given = tmp_path / "in.jsonl"
    given.write_text("".join(first.after), "utf-8", newline="\n")
    second = round_trip(given, name, tmp_path / "second", suffix=way)
    for one, other in zip(_files(first.path), _files(second.path), strict=True):
        assert one.read_bytes() == other.read_bytes()


def _files(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def test_every_format_that_is_written_says_what_it_holds() -> None:
    silent = [f.name for f in formats() if f.writable and f.holds is None]
    assert silent == []
