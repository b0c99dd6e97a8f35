"""The queue of jobs: which one is next, who runs it, and which were left by their process.

Everything here happens in the transaction there is, which has locked the file for writing: so
of two who claim a job at one time, one gets it.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from nfh_db import clock, jobs, processes
from nfh_db.connection import Connection
from nfh_db.job_marks import Marks
from nfh_db.jobs import MARKED, JobState

START = """
UPDATE job SET state = 'running', pid = :pid, pid_started = :pid_started, place = :place,
    heartbeat = :at, started_at = coalesce(started_at, :at), finished_at = NULL, error = NULL,
    phase = NULL, done = 0, total = NULL, attempts = attempts + 1
WHERE id = :id AND state IN ('queued', 'interrupted')"""
# kinds: a JSON array of [kind, lowest version, highest version, heavy], heavy 0 or 1.
NEXT = f"""
SELECT j.attempts, {MARKED}
FROM job AS j JOIN json_each(:kinds) AS k ON json_extract(k.value, '$[0]') = j.kind
WHERE j.state IN ('queued', 'interrupted') AND j.mark <> '' AND (:only IS NULL OR j.id = :only)
    AND j.version BETWEEN json_extract(k.value, '$[1]') AND json_extract(k.value, '$[2]')
    AND NOT EXISTS (
        SELECT 1 FROM job AS b WHERE b.id = j.after_id
        AND b.state NOT IN ('done', 'failed', 'cancelled'))
    AND (json_extract(k.value, '$[3]') = 0 OR :trainings > (
        SELECT count(*) FROM job AS r
        JOIN json_each(:kinds) AS o ON json_extract(o.value, '$[0]') = r.kind
        WHERE r.state = 'running' AND json_extract(o.value, '$[3]') = 1))
ORDER BY j.id"""  # noqa: S608 - of columns' names
RUNNING = """
SELECT id, pid, pid_started, place, heartbeat FROM job
WHERE state = 'running' AND (:only IS NULL OR id = :only)"""
INTERRUPT = """
UPDATE job SET state = 'interrupted', finished_at = :at, error = :error
WHERE id = :id AND state = 'running' AND pid IS :pid"""
# The pid stays: a process that is still at the job it was cancelled in is not to end this one.
# Its time is counted from when it is begun again: the pause before was no work.
TRY_AGAIN = """
UPDATE job SET state = 'queued', attempts = 0, error = NULL, started_at = NULL,
    finished_at = NULL
WHERE id = :id AND state IN ('interrupted', 'failed', 'cancelled')"""

GONE = "the process that ran it has ended without saying how"
TOO_OFTEN = (
    "its process has ended {attempts} times without saying how, the last time in the phase "
    "“{phase}”. Its log may say why; it can be tried again"
)

MOST_ATTEMPTS = 5
"""So often a job is begun by itself: what ends its process each time is not tried for ever."""

SILENT = timedelta(minutes=2)
"""How long a process of another place may say nothing before it counts as gone."""

Kinds = Mapping[str, tuple[int, int, bool]]
"""By a kind's name: lowest and highest version of its arguments that are known, and whether
it is one of the heavy ones, of which few may run at a time."""


def start(connection: Connection, job_id: int) -> bool:
    """Claim a job for this process; False if it waits no more."""
    return bool(connection.execute(START, jobs.me() | {"id": job_id}).rowcount)


def claim(
    connection: Connection, kinds: Kinds, trainings: int = 1, only: int | None = None
) -> int | None:
    """The number of the oldest own job that can be run now, claimed; None if there is none.

    trainings: so many heavy jobs may run at a time, whoever runs them. only: that job alone. A
    job that was begun too often is failed instead.
    """
    interrupt_lost(connection)
    while (row := waiting(connection, kinds, trainings, only)) is not None:
        job_id, attempts = row
        if attempts < MOST_ATTEMPTS:
            return job_id if start(connection, job_id) else None
        found = jobs.read(connection, job_id)
        phase = found.phase if found is not None and found.phase else "starting"
        error = TOO_OFTEN.format(attempts=attempts, phase=phase)
        jobs.end(connection, job_id, JobState.FAILED, anyone=True, error=error)
    return None


def waiting(
    connection: Connection, kinds: Kinds, trainings: int = 1, only: int | None = None
) -> tuple[int, int] | None:
    """The oldest job that can be run now, and how often it was begun; None if none can.

    Foreign jobs are passed over: this is the one place where that is done for whoever claims.
    """
    known = json.dumps([[name, *about[:2], int(about[2])] for name, about in kinds.items()])
    asked = {"kinds": known, "trainings": trainings, "only": only}
    marks = Marks.to_read(connection)
    for attempts, mark, job_id, *rest in connection.execute(NEXT, asked):
        if jobs.is_own(marks, mark, job_id, *rest):
            return job_id, attempts
    return None


def try_again(connection: Connection, job_id: int) -> bool:
    """Put an ended or interrupted job back into the queue; False if it is none of those, or
    foreign."""
    found = jobs.read(connection, job_id)
    if found is None or found.foreign:
        return False
    return bool(connection.execute(TRY_AGAIN, {"id": job_id}).rowcount)


def lost(connection: Connection, only: int | None = None) -> list[tuple[int, int | None]]:
    """Number and pid of each running job whose process is gone. only: that job alone."""
    here = processes.place()
    found = []
    for job_id, *who, heartbeat in connection.execute(RUNNING, {"only": only}).fetchall():
        if _gone(who, heartbeat, here):
            found.append((job_id, who[0]))
    return found


def _gone(who: Sequence[Any], heartbeat: str | None, here: str) -> bool:
    """Whether the process of a running job is gone. who: pid, its start, and its place."""
    pid, started, place = who
    if place not in (None, here):
        return _silent(heartbeat)
    if pid is None or not processes.alive(pid, started):
        return True
    # Numbers are used again. Where nothing tells when a process started, its silence does.
    return started is None and _silent(heartbeat)


def interrupt_lost(connection: Connection, only: int | None = None) -> None:
    """Mark the running jobs whose process is gone as interrupted. only: that job alone."""
    for job_id, pid in lost(connection, only):
        row = {"id": job_id, "pid": pid, "at": clock.now(), "error": GONE}
        connection.execute(INTERRUPT, row)


def _silent(heartbeat: str | None) -> bool:
    """Whether a process that cannot be looked up here has said nothing for long.

    A heartbeat from the future is that of a clock that was set back, and says no more; nor does
    one that is no time. Whose process is there all the same beats again, and has its job back.
    """
    if heartbeat is None:
        return True
    try:
        age = datetime.fromisoformat(clock.now()) - datetime.fromisoformat(heartbeat)
    except (ValueError, TypeError):
        return True
    return abs(age) > SILENT
