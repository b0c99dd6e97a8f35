"""Documents in which something was broken at random: refused with a sentence, or read whole."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import Writing
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions
from tests.nfh_db.formats.hostile import hostile_records
from tests.nfh_db.formats.round_trip import imported

VALUES: tuple[Any, ...] = (
    *(None, 0, -1, 3, 2**70, 1.5, True),
    *("", "x", "AGE", "HEAD", "OR"),
    *([], [1], [[1]], {}, {"a": 1}),
)
STEPS = 40


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to everything in a JSON value, but for the value itself."""
    if path:
        yield path
    keys = value if isinstance(value, dict) else range(len(value) if type(value) is list else 0)
    for key in keys:
        yield from places(value[key], (*path, key))


def break_something(value: Any, random: Random) -> None:
    """Put another value somewhere, or take something out."""
    *path, last = random.choice(list(places(value)))
    for step in path:
        value = value[step]
    if random.random() < 0.2:
        value.pop(last)
    else:
        value[last] = random.choice(VALUES)


def break_what_goes_along(document: Any, random: Random) -> None:
    """The same inside our own JSON, where there is any."""
    numbers = [one for one in document["%FEATURE_STRUCTURES"] if "nfh" in one]
    if numbers:
        number = random.choice(numbers)
        kept = json.loads(number["nfh"])
        break_something(kept, random)
        number["nfh"] = json.dumps(kept)


@pytest.fixture(scope="module")
def documents() -> list[bytes]:
    writer = by_name("inception-json").members
    assert writer is not None
    return [content for _, content in writer(Writing()).members(hostile_records())]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("store") / "a.db"
    with Store.open(path, create=True) as opened:
        yield opened


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))]
)
def test_nothing_worse_than_a_refusal(
    documents: list[bytes], store: Store, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    path = tmp_path / "doc.json"
    refused = 0
    for step in range(STEPS):
        document = json.loads(random.choice(documents))
        (break_what_goes_along if step % 3 == 0 else break_something)(document, random)
        path.write_text(json.dumps(document), "utf-8")
        try:
            imported(store, path, "inception-json", ImportOptions(dry_run=True))
        except FormatError as error:
            refused += 1
            assert "doc.json: " in str(error)
    assert 0 < refused < STEPS
