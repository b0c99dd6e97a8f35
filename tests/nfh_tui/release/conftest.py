"""Databases to release, and releases of them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Annotator
from nfh_db.store import Store
from nfh_tui.sample import corpus_path
from nfh_tui.services.models import set_up
from tests.nfh_db.formats.round_trip import hostile_corpus, imported

Line = dict[str, Any]


@pytest.fixture(autouse=True)
def at_home(home: Path) -> None:
    """Every test works in its own folder."""


@pytest.fixture
def sample(home: Path, built: Callable[..., Path]) -> Path:
    """A database of the sample corpus: 124 of 174 numbers are decided."""
    return built(make_sample, home / "sample.db")


@pytest.fixture
def hostile(home: Path, built: Callable[..., Path]) -> Path:
    """A database of all that formats stumble over."""
    return built(make_hostile, home / "odd.db")


def make_sample(path: Path) -> None:
    """Import the sample corpus."""
    with Store.open(path, create=True) as store:
        set_up(store)
        imported(store, corpus_path())


def make_hostile(path: Path) -> None:
    """Import what formats stumble over."""
    with Store.open(path, create=True) as store:
        set_up(store)
        imported(store, hostile_corpus(path.with_name("hostile.jsonl")), "gold")


@pytest.fixture
def frozen(home: Path, call: Callable[..., Result]) -> Callable[..., Path]:
    """Releases a database into a folder of this name; the folder."""

    def run(name: str, db: Path, *more: object) -> Path:
        result = call("release", home / name, *more, "--db", db)
        assert result.exit_code == 0, result.output
        return home / name

    return run


@pytest.fixture
def compared(call: Callable[..., Result]) -> Callable[..., Line]:
    """What `diff --json` says of two sides."""

    def run(left: Path, right: Path) -> Line:
        result = call("diff", left, right, "--json")
        assert result.exit_code == 0, result.output
        found: Line = json.loads(result.stdout)
        return found

    return run


def gold_lines(folder: Path) -> list[Line]:
    """The lines of all `gold` files of a release."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.gold.jsonl"))
        for line in path.read_text("utf-8").split("\n")[:-1]
    ]


def ids(store: Store, query: str, me: Annotator) -> Sequence[int]:
    """The anchors of a query."""
    return [one for chunk in store.queue.ids(parse(query), me) for one in chunk]
