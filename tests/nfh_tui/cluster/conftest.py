"""A real cluster of two processes, labels of our own, and what was told on the way."""

import os
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from nfh_tui.jobs.reporting import Phase, TrainingStep
from nfh_tui.jobs.snapshot import Snapshot, SnapshotLabel, SnapshotPassage
from nfh_tui.jobs.training import TrainSpec
from tests.nfh_models.encoder.handmade import item
from tests.nfh_tui.retrain.conftest import add, base, path  # noqa: F401 - fixtures

BODIES = str(Path(__file__).with_name("bodies.py"))
"""What workers preload: as a file, since they know the package and no tests."""


class Told(list[TrainingStep]):
    """The steps of a training, in order."""

    @property
    def phases(self) -> list[str]:
        return list(dict.fromkeys(step.phase for step in self))

    def note(self, phase: str) -> None:
        """As a step that only a phase is known of."""
        self.append(Phase(phase))

    @property
    def losses(self) -> list[int]:
        """The steps that had a loss."""
        return [step.done for step in self if "loss" in step.metrics]


def slow(*words: str, start: Path | None = None) -> TrainSpec:
    """What the body in `bodies` is asked for; as fast as it can where nothing else is said."""
    folder = None if start is None else str(start)
    if not any(word.startswith("slow=") for word in words):
        words = ("slow=0", *words)
    return TrainSpec("resolution", "linear", words, base_folder=folder)


def pid_at_work(cluster: LocalCluster, told: Told) -> int:
    """The process that said last that it is at work."""
    said = [phase for phase in told.phases if phase.startswith("working on ")][-1]
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        pids: dict[str, int] = client.run(os.getpid)
    return pids[said.removeprefix("working on ")]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a worker that was killed takes long to be there again."""
    monkeypatch.setattr("nfh_tui.jobs.cluster.PATIENCE_SECONDS", 300.0)


@pytest.fixture
def told() -> Told:
    return Told()


_running: list[LocalCluster] = []


@pytest.fixture
def cluster() -> LocalCluster:
    """That of the test before, where there is one."""
    if not _running:
        _running.append(
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                preload=[BODIES],
            )
        )
    return _running[0]


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Idle workers take time of the processor from the tests of other folders."""
    if _running and (nextitem is None or nextitem.path.parent != item.path.parent):
        _running.pop().close()


@pytest.fixture
def snapshot() -> Snapshot:
    one = item("Ann: I have [ two ] dogs .")
    label = SnapshotLabel(one.anchor.start, one.anchor.end, "line 1", nfh=False)
    return Snapshot("resolution", (SnapshotPassage(one.passage, (label,), "unit"),))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "models" / "linear-1"
