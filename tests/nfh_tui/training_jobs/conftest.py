"""Databases with gold, and trainings of a model so small that it learns in no time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.jobs import Job, NewJob
from nfh_db.models import NewModel
from nfh_db.records import IncomingPassage
from nfh_db.store import Store
from nfh_models.model_files import digest_of
from nfh_tui.jobs import descriptions, runner
from nfh_tui.jobs.reporting import Progress
from nfh_tui.jobs.training import new_job
from tests.nfh_models.parsing.tiny_small import write_small

from .handmade import FAST, Load, passages, quiet


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path, create=True) as opened:
        yield opened


@pytest.fixture
def load(store: Store) -> Load:
    """Loads passages as one document."""

    def add(name: str, some: list[IncomingPassage] | None = None, **more: object) -> None:
        found = passages(**more) if some is None else some  # type: ignore[arg-type]
        digest = f"{name:<64}".replace(" ", "0")
        store.imports.load(IncomingFile(name, digest, "test"), found)

    return add


@pytest.fixture
def base(tmp_path: Path, store: Store) -> Path:
    """A model to start from, which is in use."""
    folder = write_small(tmp_path / "base", recipe="encoder")
    new = NewModel("base", "both", "encoder", "1", str(folder), digest_of(folder))
    store.jobs.finish_training(store.jobs.begin("both", {}), new)
    return folder


Train = Callable[..., Job]


@pytest.fixture
def training(store: Store, base: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Queues a training of `encoder`, and works the queue in this process; the job after.

    What follows a model that took over is not worked.
    """
    monkeypatch.setattr(
        runner, "claimable", lambda: {"train": descriptions.claimable()["train"]}, raising=False
    )

    def run(
        *words: str, progress: Progress = quiet, new: NewJob | None = None, **more: object
    ) -> Job:
        if new is None:
            settings = (f"base={base}", *FAST, *words)
            new = new_job("resolution", "encoder", words=settings, **more)  # type: ignore[arg-type]
        job_id = store.jobs.add(new)
        runner.work(store, progress)
        found = store.jobs.read(job_id)
        assert found is not None
        return found

    return run
