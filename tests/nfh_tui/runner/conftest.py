"""A database with a queue, and runners as processes of their own."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.jobs import Job, JobState, NewJob
from nfh_db.store import Store
from nfh_tui.jobs import descriptions, runner
from nfh_tui.jobs.descriptions import job_folder

from . import probe

PATIENCE = 300.0
"""Seconds after which something does not happen any more."""

Process = subprocess.Popen[bytes]


def until(happened: Callable[[], object]) -> None:
    """Wait until something has happened."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < limit, "it does not happen"
        time.sleep(0.01)


@dataclass
class Queue:
    """A queue of probes. trace: what the runners' processes write. runners: those begun."""

    store: Store
    trace: Path
    runners: list[Process]

    def add(
        self, do: str = "count", *, kind: str = "probe", version: int = 2, **more: object
    ) -> int:
        """A job more; its number."""
        after = more.pop("after", None)
        told = {"do": do, "trace": str(self.trace)} | more
        assert after is None or isinstance(after, int)
        return self.store.jobs.add(NewJob(kind, version, "", told, after=after))

    def start(self, *arguments: str) -> Process:
        """Begin a runner."""
        command = [sys.executable, "-P", "-m", probe.MODULE, "--db", str(self.store.path)]
        self.runners.append(subprocess.Popen([*command, *arguments]))
        return self.runners[-1]

    def change(self, statement: str) -> None:
        """What another process does to the database."""
        connection = connect(self.store.path, "rw")
        connection.execute(statement)
        connection.close()

    def work(self) -> None:
        """Begin a runner, and wait for its end."""
        assert self.start().wait(PATIENCE) == 0

    def job(self, job_id: int) -> Job:
        """A job as its row has it."""
        found = self.store.jobs.read(job_id)
        assert found is not None
        return found

    def folder(self, job_id: int) -> Path:
        """Where a job keeps its files."""
        return job_folder(self.store.path, self.job(job_id))

    def states(self) -> list[JobState]:
        """Of all jobs, in the order in which they were asked for."""
        return [job.state for job in reversed(self.store.jobs.all())]

    def traced(self, *words: str) -> list[list[str]]:
        """The lines of the trace, those about one of these where some are given."""
        if not self.trace.exists():
            return []
        lines = [line.split() for line in self.trace.read_text().splitlines()]
        return [line for line in lines if not words or line[2] in words]


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    modules = tmp_path / "modules"
    modules.mkdir()
    shutil.copy(probe.__file__, modules / f"{probe.MODULE}.py")
    search = os.pathsep.join([str(modules), *filter(None, sys.path)])
    monkeypatch.setenv("PYTHONPATH", search)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(runner.VARIABLE, raising=False)
    monkeypatch.setattr(runner, "MODULE", runner.MODULE)
    monkeypatch.setattr(runner, "_started", [])
    monkeypatch.setattr(descriptions, "KINDS", descriptions.KINDS)
    known = dict(descriptions.KINDS)
    probe.learn()
    with Store.open(tmp_path / "q.db", create=True) as store:
        queue = Queue(store, tmp_path / "trace.txt", [])
        yield queue
        for one in (*queue.runners, *(begun for begun, _ in runner._started)):
            one.kill()
            one.wait()
    descriptions.KINDS.clear()
    descriptions.KINDS.update(known)
    sys.modules.pop("nfh_tui.jobs.probe", None)
