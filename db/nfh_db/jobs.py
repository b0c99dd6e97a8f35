"""Jobs: long work, from when it is asked for until it has ended, one row each.

A row is changed by the process that runs its job, and only while it runs: so whoever sets it
to cancelled stops it, and nothing brings it back. A process that was taken for dead, and whose
job another one has, changes nothing any more. `job_queue` says which job is next.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nfh_db import clock, processes
from nfh_db.connection import Connection
from nfh_db.job_marks import Marks
from nfh_db.values import object_of

INSERT = """
INSERT INTO job (task, kind, version, arguments, asked_by, after_id, created_at)
VALUES (:task, :kind, :version, :arguments, :asked_by, :after, :at) RETURNING id"""
MARK = "UPDATE job SET mark = :mark WHERE id = :id"
# Only the process that began a job last changes it. It was taken for dead where its job is
# interrupted, and goes on if nobody else has begun.
NOTE = """
UPDATE job SET phase = :phase, done = :done, total = :total, metrics = :metrics,
    heartbeat = :at, state = 'running', error = NULL, finished_at = NULL
WHERE id = :id AND state IN ('running', 'interrupted') AND pid = :pid
    AND pid_started IS :pid_started AND place IS :place"""
BEAT = """
UPDATE job SET heartbeat = :at, state = 'running', error = NULL, finished_at = NULL
WHERE id = :id AND state IN ('running', 'interrupted') AND pid = :pid
    AND pid_started IS :pid_started AND place IS :place"""
SNAPSHOT = "UPDATE job SET snapshot = :snapshot WHERE id = :id"
LOG = "UPDATE job SET log = :log WHERE id = :id"
POINT = """
INSERT INTO job_point (job_id, number, done, metrics)
SELECT :id, coalesce(max(number) + 1, 0), :done, :metrics FROM job_point WHERE job_id = :id"""
# A training that goes on from a checkpoint makes some of its steps once more. After one step
# there may be a loss and a judgement: points of the same figures replace each other.
FORGET_POINTS = """
DELETE FROM job_point WHERE job_id = :id AND (done > :done OR (done = :done
    AND (SELECT group_concat(key) FROM json_each(job_point.metrics))
        IS (SELECT group_concat(key) FROM json_each(:metrics))))"""
READ_POINTS = "SELECT done, metrics FROM job_point WHERE job_id = :id ORDER BY number"
# What was stopped in an orderly way is no failed attempt. SQLite looks at after_id again when
# model_id is set: a job that is missing is not to keep the one that waited for it from ending.
END = """
UPDATE job SET state = :state, metrics = coalesce(:metrics, metrics),
    result = coalesce(:result, result), error = :error, model_id = :model, heartbeat = :at,
    finished_at = :at, attempts = attempts - (:state = 'interrupted'),
    after_id = (SELECT b.id FROM job AS b WHERE b.id = job.after_id)
WHERE id = :id AND state IN ('queued', 'running', 'interrupted')
    AND (:anyone OR pid IS NULL OR (state <> 'queued' AND pid = :pid
        AND pid_started IS :pid_started AND place IS :place))"""
COLUMNS = """
SELECT id, task, kind, version, state, arguments, asked_by, after_id, pid, pid_started, place,
    heartbeat, attempts, phase, done, total, metrics, log, snapshot, result, model_id, error,
    created_at, started_at, finished_at, mark FROM job"""
READ = f"{COLUMNS} WHERE id = :id"
READ_ALL = f"{COLUMNS} ORDER BY id DESC"
MARKED = "j.mark, j.id, j.created_at, j.kind, j.version, j.task, j.asked_by, j.arguments"
"""The mark of a job `j`, and what it is made of."""

READ_MARKED = f"SELECT {MARKED} FROM job AS j WHERE j.id = :id"  # noqa: S608 - of this file

TRAIN = "train"

IN_PLACE = 1
"""The version of a job that was never in the queue: no runner takes it up."""

ORDER = "job"
"""The sort of order that a job's mark is of."""

LARGEST_ID = 2**63 - 1
"""Of a row."""


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it by itself."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be queued.

    kind: of work; version: of that kind's arguments. task: of models, "" for none.
    after: a job that it waits for, however that ends.
    """

    kind: str
    version: int
    task: str
    arguments: Mapping[str, object]
    asked_by: str = ""
    after: int | None = None


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is. total: None where it is not known. metrics: figures by name."""

    phase: str
    done: int = 0
    total: int | None = None
    metrics: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobPoint:
    """A point of a job's curves: figures by name after so many steps."""

    done: int
    metrics: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its row has it. arguments: what was asked for. result: what came of it.

    attempts: how often it was begun and not stopped in an orderly way. snapshot: hash of the
    labels that it works on. place: where its pid holds. log: its log file, as a path. own:
    whether this user's installation asked for it, and for just that.
    """

    id: int
    task: str
    kind: str
    version: int
    state: JobState
    arguments: Mapping[str, object]
    asked_by: str
    after: int | None
    pid: int | None
    pid_started: str | None
    place: str | None
    heartbeat: str | None
    attempts: int
    phase: str | None
    done: int
    total: int | None
    metrics: Mapping[str, object]
    log: str | None
    snapshot: str | None
    result: Mapping[str, object]
    model_id: int | None
    error: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    own: bool = True

    @property
    def foreign(self) -> bool:
        """Whether somebody else asked for it, so that no runner of this user takes it."""
        return not self.own and self.version != IN_PLACE

    @property
    def held(self) -> bool:
        """Whether it is foreign, and would wait for a runner otherwise."""
        return self.foreign and self.state in (JobState.QUEUED, JobState.INTERRUPTED)


def add(connection: Connection, new: NewJob) -> int:
    """A new job, queued; its id. It gets a mark unless it is of those that are run in place.

    Raises StoreError where no mark can be made.
    """
    row = {
        "task": new.task,
        "kind": new.kind,
        "version": new.version,
        "arguments": json.dumps(new.arguments),
        "asked_by": new.asked_by,
        "after": new.after,
        "at": clock.now(),
    }
    job_id: int = connection.execute(INSERT, row).fetchone()[0]
    if new.version != IN_PLACE:
        _mark(connection, job_id)
    return job_id


def accept(connection: Connection, shown: Job) -> bool:
    """Make a foreign job one's own, as it was shown; False if it asks for something else now.

    Raises StoreError where no mark can be made.
    """
    found = read(connection, shown.id)
    if found is None or _order_of(found) != _order_of(shown):
        return False
    _mark(connection, shown.id)
    return True


def is_own(marks: Marks, mark: str, *asked: object) -> bool:
    """Whether a mark is this installation's; its job as MARKED reads it."""
    return marks.knows(mark, ORDER, *asked)


def _mark(connection: Connection, job_id: int) -> None:
    asked = connection.execute(READ_MARKED, {"id": job_id}).fetchone()[1:]
    mark = Marks.to_make(connection).mark(ORDER, *asked)
    connection.execute(MARK, {"id": job_id, "mark": mark})


def _order_of(job: Job) -> tuple[object, ...]:
    return job.created_at, job.kind, job.version, job.task, job.asked_by, job.arguments


def me() -> dict[str, object]:
    """What names this process in a job's row."""
    pid = os.getpid()
    return {
        "pid": pid,
        "pid_started": processes.started(pid),
        "place": processes.place(),
        "at": clock.now(),
    }


def note(connection: Connection, job_id: int, progress: JobProgress) -> bool:
    """Say how far a job of this process is; False if somebody else ended it or has it."""
    row = me() | {
        "id": job_id,
        "phase": progress.phase,
        "done": progress.done,
        "total": progress.total,
        "metrics": json.dumps(progress.metrics, allow_nan=False),
    }
    return bool(connection.execute(NOTE, row).rowcount)


def beat(connection: Connection, job_id: int) -> bool:
    """Say that this process is at a job; False if somebody else ended it or has it."""
    return bool(connection.execute(BEAT, me() | {"id": job_id}).rowcount)


def set_snapshot(connection: Connection, job_id: int, snapshot: str) -> None:
    """Note the hash of the labels that a job works on."""
    connection.execute(SNAPSHOT, {"id": job_id, "snapshot": snapshot})


def set_log(connection: Connection, job_id: int, log: str) -> None:
    """Note where a job's log is."""
    connection.execute(LOG, {"id": job_id, "log": log})


def add_point(connection: Connection, job_id: int, point: JobPoint) -> None:
    """A further point of a job's curves; those of later steps, made before, are forgotten."""
    metrics = json.dumps(point.metrics, allow_nan=False)
    row = {"id": job_id, "done": point.done, "metrics": metrics}
    connection.execute(FORGET_POINTS, row)
    connection.execute(POINT, row)


def points(connection: Connection, job_id: int) -> tuple[JobPoint, ...]:
    """A job's curves, in order."""
    rows = connection.execute(READ_POINTS, {"id": job_id})
    return tuple(JobPoint(done, object_of(metrics)) for done, metrics in rows)


def end(
    connection: Connection,
    job_id: int,
    state: JobState,
    *,
    anyone: bool = False,
    error: str | None = None,
    metrics: Mapping[str, object] | None = None,
    result: Mapping[str, object] | None = None,
    model_id: int | None = None,
) -> bool:
    """Say how a job ended; False if it had ended already. None keeps what was noted last.

    anyone: also a job that another process runs. Without it, one that is this process', or
    that nobody began.
    """
    row = me() | {
        "id": job_id,
        "anyone": anyone,
        "state": state.value,
        "metrics": None if metrics is None else json.dumps(metrics, allow_nan=False),
        "result": None if result is None else json.dumps(result, allow_nan=False),
        "error": error,
        "model": model_id,
    }
    return bool(connection.execute(END, row).rowcount)


def read(connection: Connection, job_id: int) -> Job | None:
    """A job by its id; None for one that there is not, or cannot be."""
    if not 0 < job_id <= LARGEST_ID:
        return None
    row = connection.execute(READ, {"id": job_id}).fetchone()
    return None if row is None else _job(row, Marks.to_read(connection))


def read_all(connection: Connection) -> tuple[Job, ...]:
    """All jobs, the newest first."""
    marks = Marks.to_read(connection)
    return tuple(_job(row, marks) for row in connection.execute(READ_ALL))


def _job(row: tuple[Any, ...], marks: Marks) -> Job:
    id_, task, kind, version, state, arguments, asked_by, after, pid, started, *rest = row
    place, heartbeat, attempts, phase, done, total, metrics, log, snapshot, *rest = rest
    result, model_id, error, created_at, started_at, finished_at, mark = rest
    own = is_own(marks, mark, id_, created_at, kind, version, task, asked_by, arguments)
    return Job(
        id_,
        task,
        kind,
        version,
        JobState(state),
        object_of(arguments),
        asked_by,
        after,
        pid,
        started,
        place,
        heartbeat,
        attempts,
        phase,
        done,
        total,
        object_of(metrics),
        log,
        snapshot,
        object_of(result),
        model_id,
        error,
        created_at,
        started_at,
        finished_at,
        own,
    )
