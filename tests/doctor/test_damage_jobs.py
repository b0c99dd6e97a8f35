"""Jobs and their curves: broken and found; what a killed process left is no fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.doctor import examine
from tests.doctor.test_damage_rest import Assess, damage

JOB = "INSERT INTO job (id, task, state, created_at{columns}) VALUES (70, '', {values})"


def job(state: str, columns: str = "", values: str = "") -> str:
    """A statement that makes job 70. columns, values: further ones, each behind a comma."""
    return JOB.format(columns=columns, values=f"'{state}', 'x'{values}")


DAMAGES = {
    "a job that runs nowhere": damage(
        job("running"), words="job 70 None: it is running, and names no process", jobs=1
    ),
    "a job that waits for itself": damage(
        job("queued", ", after_id", ", 70"), words="job 70 None: it waits for job 70", jobs=1
    ),
    "a job that is done at no time": damage(
        job("done"), words="job 70 None: it is done, and does not say when", jobs=1
    ),
    "a job that failed and made a model": damage(
        job("failed", ", model_id", ", 1"),
        words="job 70 None: it is failed, and names model 1",
        jobs=1,
    ),
    "a job that was begun less than never": damage(
        job("queued", ", attempts", ", -1"), words="job 70 None: one of its numbers", jobs=1
    ),
    "a result that cannot be read": damage(
        job("queued", ", result", ", '[1]'"), words="job 70 None: what came of it", jobs=1
    ),
    "a point of a curve that cannot be read": damage(
        job("queued"),
        "INSERT INTO job_point VALUES (70, 0, 1, 'x')",
        words="job_point 70, 0 None: a point of a curve",
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
        "job 70 was left by its process 1; the next runner goes on with it, as by "
        "`nfh-tui jobs wait 70`",
    )
