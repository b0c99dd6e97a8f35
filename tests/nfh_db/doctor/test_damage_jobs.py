"""Jobs and their curves: broken and found; what a killed process left is no fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.doctor import examine, repair
from nfh_db.jobs import JobState
from nfh_db.store import Store
from tests.nfh_db.doctor.test_damage_rest import Assess, damage

JOB = "INSERT INTO job (id, task, state, created_at{columns}) VALUES (70, '', {values})"


def job(state: str, columns: str = "", values: str = "") -> str:
    """A statement that makes job 70. columns, values: further ones, each after a comma."""
    return JOB.format(columns=columns, values=f"'{state}', 'x'{values}")


DAMAGES = {
    "a job that runs nowhere": damage(
        job("running"),
        words="job 70 None: it is running, and names no process",
        mended=True,
        jobs=1,
    ),
    "a job that waits for itself": damage(
        job("queued", ", after_id", ", 70"),
        words="job 70 None: it waits for job 70",
        mended=True,
        jobs=1,
    ),
    "a job that is done at no time": damage(
        job("done"), words="job 70 None: it is done, and does not say when", mended=True, jobs=1
    ),
    "a job that failed and made a model": damage(
        job("failed", ", model_id", ", 1"),
        words="job 70 None: it is failed, and names model 1",
        mended=True,
        jobs=1,
    ),
    "a job that was begun less than never": damage(
        job("queued", ", attempts", ", -1"),
        words="job 70 None: one of its numbers",
        mended=True,
        jobs=1,
    ),
    "a result that cannot be read": damage(
        job("queued", ", result", ", '[1]'"),
        words="job 70 None: its result",
        mended=True,
        jobs=1,
    ),
    "arguments that cannot be read": damage(
        job("queued", ", arguments", ", '{\"query'"),
        words="job 70 None: its arguments cannot be read",
        mended=True,
        jobs=1,
    ),
    "figures that cannot be read": damage(
        job("done", ", metrics, finished_at", ", '7', 'x'"),
        words="job 70 None: its figures cannot be read",
        mended=True,
        jobs=1,
    ),
    "a job that waits for one that is missing": damage(
        "PRAGMA foreign_keys = OFF",
        job("queued", ", after_id", ", 60"),
        words="job 70 None: after_id refers to a row of job that is missing",
        mended=True,
        references=1,
    ),
    "a point of a curve that cannot be read": damage(
        job("queued"),
        "INSERT INTO job_point VALUES (70, 0, 1, 'x')",
        words="job_point 70, 0 None: a point of a curve",
        mended=True,
        jobs=1,
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_named(assess: Assess, name: str) -> None:
    assess(DAMAGES[name])


def test_a_job_that_its_process_left_is_noted(path: Path, sql: Callable[..., None]) -> None:
    sql(job("running", ", pid, pid_started", ", 1, 'never'"))
    report = examine(path)
    assert report.broken == 0
    assert report.notes == (
        "job 70 was left by its process 1; the next runner continues it, as with `nfh-tui jobs "
        "wait 70`",
    )


def test_a_job_whose_arguments_were_lost_has_failed(
    path: Path, sql: Callable[..., None]
) -> None:
    sql(job("queued", ", arguments, kind, version", ", '[', 'predict', 2"))
    done = repair(path, examine(path), lambda: examine(path))
    assert done is not None
    assert done.report.broken == 0
    with Store.open(path) as store:
        found = store.jobs.read(70)
    assert found is not None
    assert (found.state, found.arguments) == (JobState.FAILED, {})
    assert found.error == "its arguments could not be read, and were emptied by a repair"
