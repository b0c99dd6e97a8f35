"""Whose job it is: processes that were taken for dead, clocks that were set back."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from nfh_db import system
from nfh_db.connection import connect
from nfh_db.errors import BusyError, FullError
from nfh_db.jobs import Job, JobGoneError, JobPoint, JobProgress, JobState
from nfh_db.models import NewModel
from nfh_tui.jobs.descriptions import claimable
from nfh_tui.jobs.reporting import JobReporter, Phase
from nfh_tui.jobs.runner import work

from .conftest import Queue, until

ELSEWHERE = "UPDATE job SET place = 'elsewhere'"
ANOTHER = "UPDATE job SET pid = pid + 1, pid_started = 'then'"


def claimed(queue: Queue) -> Job:
    """A job that this process runs."""
    queue.add()
    job = queue.store.jobs.claim(claimable())
    assert job is not None
    return job


def new(name: str) -> NewModel:
    """A trained model."""
    return NewModel(name, "resolution", "linear", "1", f"models/{name}", "d", {}, {}, "s")


def test_who_was_taken_for_dead_changes_nothing_once_another_has_the_job(queue: Queue) -> None:
    job = claimed(queue)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    queue.change(
        f"UPDATE job SET pid = {other.pid}, pid_started = '{system.started(other.pid)}'"
    )
    with pytest.raises(JobGoneError):
        queue.store.jobs.update(job.id, JobProgress("far"))
    assert not queue.store.jobs.write_heartbeat(job.id)
    with pytest.raises(JobGoneError):
        queue.store.jobs.finish_training(job.id, new("late"))
    for state in (JobState.DONE, JobState.FAILED, JobState.INTERRUPTED):
        assert not queue.store.jobs.end(job.id, state)
    assert queue.store.models.named("late") is None
    assert queue.job(job.id).state is JobState.RUNNING
    assert queue.store.jobs.end(job.id, JobState.CANCELLED)  # anybody may
    other.communicate(b"\n")


def test_who_was_taken_for_dead_has_its_job_back_while_nobody_else_has(queue: Queue) -> None:
    job = claimed(queue)
    for back in (
        lambda: queue.store.jobs.write_heartbeat(job.id),
        lambda: queue.store.jobs.update(job.id, JobProgress("on")),
    ):
        queue.change("UPDATE job SET state = 'interrupted', error = 'x', finished_at = 'now'")
        back()
        found = queue.job(job.id)
        assert (found.state, found.error, found.finished_at) == (JobState.RUNNING, None, None)
        assert found.attempts == 1


def test_cancelled_and_tried_again_is_nobodys_before_it_is_begun(queue: Queue) -> None:
    job = claimed(queue)
    queue.store.jobs.end(job.id, JobState.CANCELLED)
    queue.store.jobs.retry(job.id)
    assert not queue.store.jobs.write_heartbeat(job.id)
    assert not queue.store.jobs.end(job.id, JobState.DONE)
    assert queue.job(job.id).state is JobState.QUEUED


def test_a_process_that_is_gone_is_noticed_by_whoever_reads_its_job(queue: Queue) -> None:
    job = claimed(queue)
    queue.change(ANOTHER)
    found = queue.store.jobs.read(job.id)
    assert found is not None
    assert found.state is JobState.INTERRUPTED
    assert found.error == "its process ended without a message"
    assert found.finished_at is not None


def test_it_is_noticed_also_where_nothing_can_be_written(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = claimed(queue)
    queue.change(ANOTHER)

    def full() -> None:
        raise FullError("full")

    monkeypatch.setattr(queue.store.connections, "fast_write", full)
    assert queue.job(job.id).state is JobState.INTERRUPTED
    assert queue.states() == [JobState.INTERRUPTED]


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_is_set_takes_nobodys_job(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    job = claimed(queue)
    moved = datetime.now(UTC) + timedelta(hours=hours)
    monkeypatch.setattr(system, "now", lambda: moved.isoformat(timespec="milliseconds"))
    assert queue.job(job.id).state is JobState.RUNNING  # its process is there
    queue.change(ELSEWHERE)
    queue.change(f"UPDATE job SET place = '{system.place()}'")
    assert queue.store.jobs.write_heartbeat(job.id)
    queue.store.jobs.update(job.id, JobProgress("on", 1, 2), JobPoint(1, {"loss": 1.0}))
    assert queue.store.jobs.end(job.id, JobState.DONE)


def test_elsewhere_silence_counts_and_the_future_is_silence(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = claimed(queue)
    queue.change(ELSEWHERE)
    assert queue.job(job.id).state is JobState.RUNNING  # it has said something just now
    for minutes in (3, -3):
        queue.change("UPDATE job SET state = 'running'")
        moved = datetime.now(UTC) + timedelta(minutes=minutes)
        monkeypatch.setattr(system, "now", lambda at=moved: at.isoformat())
        assert queue.job(job.id).state is JobState.INTERRUPTED


def test_a_number_that_another_process_has_now_is_no_sign_of_life(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system does not say when a process started, its silence tells."""
    job = claimed(queue)
    queue.change("UPDATE job SET pid_started = NULL")
    assert queue.job(job.id).state is JobState.RUNNING
    queue.change("UPDATE job SET heartbeat = '2020-01-01T00:00:00.000+00:00'")
    assert queue.job(job.id).state is JobState.INTERRUPTED
    assert system.is_running(os.getpid(), None)


def test_steps_made_again_replace_their_points_and_a_judgement_stays(queue: Queue) -> None:
    job = claimed(queue)
    progress = JobProgress("training")
    for done, figures in (
        (1, {"loss": 3.0}),
        (2, {"loss": 2.0}),
        (2, {"loss": 2.0, "accuracy": 0.5}),
        (3, {"loss": 1.0}),
        (2, {"loss": 2.5}),
        (2, {"loss": 2.5, "accuracy": 0.6}),
    ):
        queue.store.jobs.update(job.id, progress, JobPoint(done, figures))
    points = [(point.done, point.metrics) for point in queue.store.jobs.points(job.id)]
    assert points[0] == (1, {"loss": 3.0})
    assert points[-2:] == [(2, {"loss": 2.5}), (2, {"loss": 2.5, "accuracy": 0.6})]
    assert len(points) == 3


def test_what_cannot_be_noted_now_is_noted_later(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = claimed(queue)
    report = JobReporter(queue.store, job.id, lambda *_: None)
    report.step(Phase("training", 1, 9, {"loss": 3.0}))
    for trouble in (BusyError("locked"), FullError("full")):
        with monkeypatch.context() as patch:
            patch.setattr(queue.store.jobs, "update", raises(trouble))
            report.step(Phase("training", 2, 9, {"loss": 2.0}))
            report.step(Phase("training", 3, 9, {"loss": 1.0}))
    report.step(Phase("training", 4, 9, {"loss": 0.5}))
    points = [(point.done, point.metrics) for point in queue.store.jobs.points(job.id)]
    assert points == [(n, {"loss": loss}) for n, loss in enumerate((3.0, 2.0, 1.0, 0.5), 1)]
    assert queue.job(job.id).done == 4


def test_a_job_waits_for_its_end_to_be_written(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = queue.add()
    end, tries = queue.store.jobs.end, []

    def busy(*told: object, **more: object) -> bool:
        tries.append(told)
        if len(tries) < 3:
            raise BusyError("locked")
        return end(*told, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(queue.store.jobs, "end", busy)
    assert work(queue.store, lambda *_: None) == 1
    assert queue.job(job_id).state is JobState.DONE


def raises(trouble: Exception) -> Callable[..., None]:
    def write(*_: object) -> None:
        raise trouble

    return write


def test_a_cancel_does_not_leave_half_a_module_and_the_next_has_a_new_process(
    queue: Queue,
) -> None:
    first, second = queue.add("loads"), queue.add()
    runner = queue.start()
    until(lambda: queue.traced("loading"))
    assert queue.store.jobs.end(first, JobState.CANCELLED)
    assert runner.wait(300) == 0
    assert [line[3] for line in queue.traced("loaded")] == ["2"]
    assert queue.states() == [JobState.CANCELLED, JobState.DONE]
    begun = {line[0]: line[3] for line in queue.traced("begin")}
    assert begun[str(first)] != begun[str(second)]  # when the process loaded the probe


def test_running_jobs_that_name_nobody_are_taken_up(queue: Queue) -> None:
    beats = ("2026-11-28", "no time", "9999-12-31T23:59:59.999999Z", "", "\x1b[31m")
    pids = ((1, "elsewhere"), (0, ""), (-1, ""), (2**31, ""), (2**62, ""))
    queue.add()
    for pid, place in pids:
        for heartbeat in beats:
            queue.change(
                f"UPDATE job SET state = 'running', pid = {pid}, pid_started = 'x', "
                f"place = nullif('{place}', ''), heartbeat = '{heartbeat}'"
            )
            assert queue.states() == [JobState.INTERRUPTED], (pid, heartbeat)
            assert queue.store.jobs.find_next({"probe": (2, 2, False)}) == 1


def test_a_job_that_waits_for_one_that_is_missing_can_be_run_and_cancelled(
    queue: Queue,
) -> None:
    ran, cancelled = queue.add(), queue.add()
    connection = connect(queue.store.path, "rw")
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("UPDATE job SET after_id = 77")
    connection.close()
    assert queue.store.jobs.end(cancelled, JobState.CANCELLED)
    queue.work()
    assert queue.job(ran).state is JobState.DONE
    assert queue.job(ran).after is None


def test_a_number_that_no_job_can_have_is_no_job(queue: Queue) -> None:
    assert [queue.store.jobs.read(number) for number in (0, -1, 2**63, 10**20)] == [None] * 4
