"""Databases with gold, and a model so small that it learns in no time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.jobs import Job
from nfh_db.store import Store
from nfh_tui.jobs import doubts, runner
from tests.nfh_models.parsing.tiny_small import write_small
from tests.nfh_tui.training_jobs.handmade import FAST, passages, quiet

GOLD = 40
"""Anchors of the database, every second one an age, the others dogs."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path, create=True) as opened:
        opened.imports.load(IncomingFile("a", "a" * 64, "test"), passages(GOLD))
        yield opened


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """Settings of a training that takes no time."""
    return (*FAST, f"base={write_small(tmp_path / 'base', recipe='encoder')}")


@pytest.fixture
def checked(store: Store, words: tuple[str, ...]) -> Callable[..., Job]:
    """Runs a check to its end; its job."""

    def run(**more: object) -> Job:
        new = doubts.new_doubts_job(recipe="encoder", words=words, folds=3, **more)  # type: ignore[arg-type]
        number = store.jobs.add(new)
        runner.work(store, quiet)
        job = store.jobs.read(number)
        assert job is not None
        return job

    return run
