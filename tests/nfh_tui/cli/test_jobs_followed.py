"""Jobs that run in a process of their own: queued by one command, followed by another."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.jobs import Job, JobState
from nfh_db.store import Store

Call = Callable[..., Result]
Process = subprocess.Popen[str]

PATIENCE = 600.0
"""Seconds; runners step back after whatever else the machine does."""

TRAIN = ("retrain", "identification", "--set", "features=anchor,window")


@pytest.fixture
def path(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A database with some gold; its runners are killed in the end."""
    monkeypatch.delenv("NFH_TUI_RUNNER")
    lines = ["text\tind_s\tind_e\ty"]
    for number in range(400):
        word = "of" if number % 2 else "cups"
        lines.append(f"Take_SEP_two_SEP_{word}_SEP_w{number}\t1\t2\t{number % 2}")
    (home / "dev.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert call("import", "dev.tsv", "--db", "w.db").exit_code == 0
    yield home / "w.db"
    for job in jobs(home / "w.db"):
        if job.pid is not None and at_work(job):
            os.kill(job.pid, signal.SIGKILL)


def jobs(path: Path) -> list[Job]:
    with Store.open(path) as store:
        return list(store.jobs.all())


def at_work(job: Job) -> bool:
    """Whether the process that ran a job last is there (and no zombie of this one)."""
    if job.pid is None or job.pid == os.getpid():
        return False
    try:
        return Path(f"/proc/{job.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(happened: Callable[[], object]) -> None:
    """Wait until something has happened."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < limit, "it does not happen"
        time.sleep(0.2)  # each look opens the database


def begin(*arguments: object) -> Process:
    """The program as a process of its own."""
    command = [sys.executable, "-P", "-m", "nfh_tui", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.long
def test_it_is_queued_and_done_without_anybody_waiting(call: Call, path: Path) -> None:
    told = call(*TRAIN, "--db", path)
    assert told.stdout == f"job 1 is queued; nfh-tui jobs wait 1 --db {path} follows it\n"
    assert told.stderr == ""
    until(lambda: jobs(path)[0].state is JobState.DONE)
    with Store.open(path) as store:
        assert store.models.named("svm-1") is not None


def test_who_stops_following_leaves_the_job_at_work(call: Call, path: Path) -> None:
    following = begin(*TRAIN, "--wait", "--db", path)
    until(lambda: [job for job in jobs(path) if job.state is JobState.RUNNING])
    following.send_signal(signal.SIGINT)
    out, told = following.communicate(timeout=PATIENCE)
    assert following.returncode == 1
    assert out == ""
    assert told == (
        f"nfh-tui: stopped following; job 1 continues.\nnfh-tui jobs wait 1 --db {path} "
        f"follows it,\nnfh-tui jobs cancel 1 --db {path} ends it.\n"
    )
    assert jobs(path)[0].state in (JobState.RUNNING, JobState.DONE)
    assert at_work(jobs(path)[0]) or jobs(path)[0].state is JobState.DONE
    assert call("jobs", "cancel", "1", "--db", path).exit_code == 0


@pytest.mark.long
def test_what_was_killed_is_taken_up_by_whoever_waits(call: Call, path: Path) -> None:
    assert call(*TRAIN, "--db", path).exit_code == 0
    until(lambda: jobs(path)[0].phase)
    (job,) = jobs(path)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    until(lambda: not at_work(job))
    assert "interrupted" in call("jobs", "--db", path).stdout
    told = call("jobs", "wait", "1", "--db", path)
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("svm-1: learnt from ")
    (job,) = jobs(path)
    assert (job.state, job.attempts) == (JobState.DONE, 2)


def test_where_no_runner_is_wanted_the_job_waits(
    call: Call, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NFH_TUI_RUNNER", "off")
    told = call(*TRAIN, "--json", "--db", path)
    assert told.stdout.startswith('{"id": 1, "kind": "train", "task": "identification"')
    assert "no runner is started (NFH_TUI_RUNNER=off); nfh-tui jobs run" in told.stderr
    assert jobs(path)[0].state is JobState.QUEUED
