"""Runners outlive whoever started them, and come back when they were killed."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_tui.jobs.runner import HERE, OFF, VARIABLE, ensure_runner, start_runner

from .conftest import Queue, until

STARTS = """
import sys, time
from pathlib import Path
from nfh_tui.jobs import runner
runner.MODULE = sys.argv[2]
runner.start_runner(Path(sys.argv[1]))
print("started", flush=True)
time.sleep(600)
"""


def starter(queue: Queue) -> list[str]:
    """A command that starts a runner and stays."""
    from .probe import MODULE

    return [sys.executable, "-c", STARTS, str(queue.store.path), MODULE]


def test_its_parent_is_killed_with_all_its_group(queue: Queue) -> None:
    job_id = queue.add(steps=30, each=0.02)
    parent = subprocess.Popen(starter(queue), start_new_session=True)
    until(lambda: queue.traced("step"))
    os.killpg(parent.pid, signal.SIGKILL)
    parent.wait()
    until(lambda: queue.job(job_id).state.ended)
    assert queue.job(job_id).state is JobState.DONE
    assert queue.job(job_id).attempts == 1


def test_the_terminal_is_closed_that_it_was_started_in(queue: Queue) -> None:
    job_id = queue.add(steps=30, each=0.02)
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, starter(queue))
    until(lambda: queue.traced("step"))
    os.close(terminal)
    os.waitpid(child, 0)  # it does not survive this
    until(lambda: queue.job(job_id).state.ended)
    assert queue.job(job_id).state is JobState.DONE
    assert queue.job(job_id).attempts == 1


AUTOGROUP = Path("/proc/self/autogroup")


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="the scheduler knows no groups of sessions")
@pytest.mark.parametrize(("leads", "niceness"), [(True, "10"), (False, "0")])
def test_it_lowers_the_priority_of_its_own_session_alone(
    queue: Queue, leads: bool, niceness: str
) -> None:
    """A shell's session, where other programs run, keeps its own."""
    runs = [sys.executable, "-m", "nfh_tui.jobs.runner", "--db", str(queue.store.path)]
    if leads:
        script = "import sys; from nfh_tui.jobs.runner import main; main(sys.argv[1:]); "
        script += f"print(open('{AUTOGROUP}').read())"
        runs = [sys.executable, "-c", script, *runs[3:]]
    else:
        runs = ["sh", "-c", f'"$@"; cat {AUTOGROUP}', "sh", *runs]
    said = subprocess.run(
        runs, capture_output=True, text=True, start_new_session=True, check=True
    )
    assert said.stdout.split()[-2:] == ["nice", niceness]


def test_one_that_was_killed_comes_back_by_the_way(queue: Queue) -> None:
    assert not ensure_runner(queue.store)
    job_id = queue.add(steps=40, each=0.02)
    runner = queue.start()
    until(lambda: queue.traced("step"))
    assert not ensure_runner(queue.store)  # it is at work
    runner.kill()
    runner.wait()
    assert ensure_runner(queue.store)
    assert not ensure_runner(queue.store)  # not a second one while that begins
    until(lambda: queue.job(job_id).state.ended)
    assert (queue.job(job_id).state, queue.job(job_id).attempts) == (JobState.DONE, 2)


def test_a_runner_is_started_only_where_it_is_wanted(
    queue: Queue, monkeypatch: "object"
) -> None:
    queue.add()
    for way in (OFF, HERE):
        os.environ[VARIABLE] = way
        try:
            assert not start_runner(queue.store.path)
            assert not ensure_runner(queue.store)
        finally:
            del os.environ[VARIABLE]


def test_it_finds_the_database_from_any_folder(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(Path("q.db")) as store:
        job_id = queue.add()
        assert ensure_runner(store)
    until(lambda: queue.job(job_id).state is JobState.DONE)
