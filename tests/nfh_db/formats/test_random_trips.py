"""What is drawn by chance comes back from every format; and the judge of it can say no."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name, formats
from tests.nfh_db.formats.random_records import random_records
from tests.nfh_db.formats.round_trip import hostile_corpus, round_trip

LOSSY = ("nfh",)
NAMES = [f.name for f in formats() if f.writable and f.name not in LOSSY]

ITEMS = 15
"""Of each format; it is more and other seeds when the formats are worked on."""


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_by_chance_comes_back(name: str, tmp_path: Path) -> None:
    seed = sum(map(ord, name))
    corpus = hostile_corpus(tmp_path / "in.jsonl", random_records(seed, ITEMS))
    trip = round_trip(corpus, name, tmp_path)
    trip.check()
    assert trip.recognised == name
    assert trip.imported.conflicts == ()


@pytest.mark.parametrize(
    "name", [n for n in NAMES if by_name(n).members is None and n != "gold"]
)
def test_the_file_alone_brings_it_back(name: str, tmp_path: Path) -> None:
    """It is not the first store that is read once more."""
    corpus = hostile_corpus(tmp_path / "in.jsonl", random_records(11, 3))
    empty = round_trip(corpus, name, tmp_path / "one", edit=_first_half)
    assert len(empty.after) < len(empty.before)
    with pytest.raises(AssertionError):
        empty.check()


def _first_half(path: Path) -> None:
    """Leave the first item alone: of a file with one a line, or of an array of them."""
    raw = path.read_bytes()
    if raw.lstrip().startswith(b"["):
        path.write_text(json.dumps(json.loads(raw)[:1]), "utf-8")
    elif raw.startswith(b"{"):
        path.write_bytes(raw.partition(b"\n")[0] + b"\n")
    else:
        pytest.skip("no file with an item a line")


def _edited(change: Callable[[dict[str, object]], None]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        items = json.loads(path.read_bytes())
        for item in items:
            change(item)
        path.write_text(json.dumps(items), "utf-8")

    return edit


def _no_votes(item: dict[str, object]) -> None:
    item["annotations"] = []


@pytest.mark.skipif("label-studio" not in NAMES, reason="needs a format that has annotations")
def test_the_judge_sees_what_was_taken_away(tmp_path: Path) -> None:
    corpus = hostile_corpus(tmp_path / "in.jsonl", random_records(12, 9))
    trip = round_trip(corpus, "label-studio", tmp_path, edit=_edited(_no_votes))
    assert len(trip.after) == len(trip.before)
    with pytest.raises(AssertionError):
        trip.check()
