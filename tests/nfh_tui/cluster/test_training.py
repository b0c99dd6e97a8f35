"""A training on a cluster: the model comes home, whoever dies on the way."""

import os
import signal
from pathlib import Path

import pytest
from distributed import LocalCluster

from nfh_models.model_files import digest_of
from nfh_tui.jobs import cluster_work
from nfh_tui.jobs.cluster_work import WorkerFaultError, train_model_at
from nfh_tui.jobs.reporting import TrainingStep
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.scanning.worker import WorkerPoolError

from .bodies import STEPS
from .conftest import Told, pid_at_work, slow


def test_a_model_comes_home_with_its_curve(
    cluster: LocalCluster, snapshot: Snapshot, work: Path, out: Path, told: Told
) -> None:
    made = train_model_at(cluster.scheduler_address, snapshot, slow(), work, out, told.append)
    assert made.digest == digest_of(out)
    assert (made.metrics["start"], made.metrics["sheets"]) == (0, 1)
    assert made.metrics["pid"] != os.getpid()
    assert made.notes == ("a note",)
    assert told.losses[0] == 0
    assert told.losses == sorted(told.losses)
    assert (out / "card.md").read_text() == "# card\n"
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_what_it_starts_from_and_its_checkpoints_go_along(
    cluster: LocalCluster, snapshot: Snapshot, work: Path, out: Path, told: Told, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "config.json").write_text("what it starts from")
    (work / "last.safetensors").write_text("30")
    asked = slow(start=base)
    made = train_model_at(cluster.scheduler_address, snapshot, asked, work, out, told.append)
    assert made.metrics["base"] == "what it starts from"
    assert made.metrics["start"] == told.losses[0] == 30


@pytest.mark.long
def test_a_worker_killed_midway_is_followed_by_another_from_the_last_checkpoint(
    cluster: LocalCluster,
    snapshot: Snapshot,
    work: Path,
    out: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_work, "LEAST_SECONDS", 0.1)
    monkeypatch.setattr(cluster_work, "SHARE", 1.0)
    killed: list[int] = []

    def kill_once(step: TrainingStep) -> None:
        told.append(step)
        at_home = work / "last.safetensors"
        if not killed and at_home.exists() and int(at_home.read_text()) > 5:
            killed.append(pid_at_work(cluster, told))
            os.kill(killed[0], signal.SIGKILL)

    address = cluster.scheduler_address
    made = train_model_at(address, snapshot, slow("slow=0.05"), work, out, kill_once)
    assert made.metrics["pid"] not in killed
    assert 5 < made.metrics["start"] < STEPS  # type: ignore[operator]
    assert made.digest == digest_of(out)
    assert len([phase for phase in told.phases if phase.startswith("working on")]) == 2
    assert any(phase.endswith("continuing from its last checkpoint") for phase in told.phases)


@pytest.mark.long
def test_what_kills_each_worker_is_given_up(
    cluster: LocalCluster,
    snapshot: Snapshot,
    work: Path,
    out: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nfh_tui.jobs.cluster_work.TRIES", 2)
    asked = slow("kill=1")
    with pytest.raises(WorkerPoolError, match="was started several times on workers of tcp"):
        train_model_at(cluster.scheduler_address, snapshot, asked, work, out, told.append)
    assert not out.exists()
    assert any(phase.endswith("; starting again") for phase in told.phases)


@pytest.mark.parametrize(
    ("word", "error", "said"),
    [
        ("fail=too few examples", WorkerPoolError, "a worker of tcp.*: too few examples"),
        ("fault=nobody knew", WorkerFaultError, "a worker of tcp.*LookupError: nobody knew"),
        (
            "lie=1",
            WorkerPoolError,
            "is invalid: its hash is .* instead of 000000000000.*Nothing was",
        ),
    ],
)
def test_what_goes_wrong_there_is_said_here(
    cluster: LocalCluster,
    snapshot: Snapshot,
    work: Path,
    out: Path,
    told: Told,
    word: str,
    error: type[Exception],
    said: str,
) -> None:
    with pytest.raises(error, match=said) as raised:
        train_model_at(cluster.scheduler_address, snapshot, slow(word), work, out, told.append)
    assert not out.parent.exists() or not list(out.parent.iterdir())
    if error is WorkerFaultError:
        assert "Traceback" in raised.value.__notes__[0]
