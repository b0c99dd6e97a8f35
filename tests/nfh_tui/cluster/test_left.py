"""Whoever asked for a training leaves it, or its machines leave: nothing is left at work, and
nothing runs twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import LocalCluster

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_tui.jobs import cluster as machines
from nfh_tui.jobs import cluster_work, training
from nfh_tui.jobs.cluster_work import train_model_at
from nfh_tui.jobs.reporting import TrainingStep
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.scanning.worker import WorkerPoolError
from tests.nfh_tui.retrain.handmade import Add

from .conftest import BODIES, Told, slow

ASKING = """
import sys
from pathlib import Path
from nfh_tui.jobs.cluster_work import train_model_at
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.jobs.training import TrainSpec
address, work, trace = sys.argv[1:]
spec = TrainSpec("resolution", "linear", ("slow=1", f"trace={trace}"))
labels = Snapshot("resolution", ())
train_model_at(address, labels, spec, Path(work), Path("none"), lambda _: None)
"""


def until(found: Callable[[], bool], seconds: float = 300.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_after_a_kill_nothing_is_trained_twice_at_a_time(
    cluster: LocalCluster, snapshot: Snapshot, work: Path, out: Path, told: Told, tmp_path: Path
) -> None:
    """The process of a job is killed; the next one takes it up."""
    trace = tmp_path / "trace"
    address = cluster.scheduler_address
    asking = subprocess.Popen([sys.executable, "-c", ASKING, address, work, trace])
    try:
        until(lambda: trace.exists() and trace.read_text() == "begin\n")
    finally:
        asking.kill()
        asking.wait()
    asked = slow(f"trace={trace}")
    made = train_model_at(address, snapshot, asked, work, out, told.append)
    assert made.metrics["start"] == 0
    assert trace.read_text().split() == ["begin", "end", "begin", "end"]
    assert any("has ended an earlier try" in phase for phase in told.phases)


def test_a_training_that_is_cancelled_here_stops_there(
    cluster: LocalCluster, snapshot: Snapshot, work: Path, out: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"

    def stop(step: TrainingStep) -> None:
        if step.metrics:
            raise KeyboardInterrupt

    asked = slow("slow=0.2", f"trace={trace}")
    with pytest.raises(KeyboardInterrupt):
        train_model_at(cluster.scheduler_address, snapshot, asked, work, out, stop)
    until(lambda: trace.read_text().split() == ["begin", "end"])
    assert not out.parent.exists()


@pytest.mark.long
def test_a_runner_that_is_killed_and_a_job_that_is_cancelled(
    cluster: LocalCluster, path: Path, add: Add, tmp_path: Path
) -> None:
    """With real runners: the second one takes the job up once the first one's work stopped."""
    trace = tmp_path / "trace"
    add(40)
    words = ("slow=0.5", f"trace={trace}")
    asked = training.new_job(
        "resolution", "linear", words=words, scheduler=cluster.scheduler_address
    )

    def begun(times: int) -> bool:
        return trace.exists() and trace.read_text().count("begin") == times

    with Store.open(path) as store:
        number = store.jobs.add(asked)
        with runner(path) as first:
            until(lambda: begun(1))
            first.kill()
            first.wait()
        (job,) = store.jobs.all()
        assert job.state is JobState.INTERRUPTED
        with runner(path) as second:
            until(lambda: begun(2))
            assert trace.read_text().split() == ["begin", "end", "begin"]
            store.jobs.end(number, JobState.CANCELLED, "not wanted")
            assert second.wait(300) == 0
        until(lambda: trace.read_text().split() == ["begin", "end", "begin", "end"])
        (job,) = store.jobs.all()
        assert (job.state, job.attempts) == (JobState.CANCELLED, 2)


@contextmanager
def runner(path: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """A process that works the queue."""
    command = [sys.executable, "-m", "nfh_tui.jobs.runner", "--db", str(path)]
    begun = subprocess.Popen(command)
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


# --- machines that leave --------------------------------------------------------------------


@pytest.fixture
def processes(tmp_path: Path) -> "Iterator[tuple[str, list[subprocess.Popen[bytes]]]]":
    """A scheduler and a worker as processes of their own; the address."""
    file = tmp_path / "scheduler.json"
    told = ["--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    kinds = (
        ["dask_scheduler", *told, "--no-dashboard", "--port", "0", "--host", "127.0.0.1"],
        [
            "dask_worker",
            *(*told, "--no-dashboard", "--no-nanny", "--nthreads", "1"),
            *("--preload", BODIES, "--local-directory", str(tmp_path)),
        ],
    )
    begun = []
    try:
        for module, *words in kinds:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
            begun.append(subprocess.Popen(command, **quiet))  # type: ignore[call-overload]
        until(file.exists)
        import json

        yield json.loads(file.read_text())["address"], begun
    finally:
        for process in begun:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("which", "said"), [(0, "the scheduler tcp.* has ended"), (1, "has no workers; start some")]
)
@pytest.mark.long
def test_machines_that_go_and_do_not_come_back(
    processes: "tuple[str, list[subprocess.Popen[bytes]]]",
    which: int,
    said: str,
    snapshot: Snapshot,
    work: Path,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, begun = processes
    monkeypatch.setattr(machines, "SCHEDULER_SECONDS", 0.2)

    monkeypatch.setattr(cluster_work, "LEAST_SECONDS", 0.1)
    at_home = work / "last.safetensors"

    def kill(step: TrainingStep) -> None:
        if at_home.exists():
            monkeypatch.setattr(machines, "PATIENCE_SECONDS", 0.3)
            os.kill(begun[which].pid, signal.SIGKILL)

    with pytest.raises(WorkerPoolError, match=said):
        train_model_at(address, snapshot, slow("slow=0.1"), work, out, kill)
    assert at_home.exists()  # for whoever tries again
    assert not out.parent.exists()
