"""Jobs: long work, from when it is asked for until it has ended, one row each.

A row is changed by the process that runs its job, and only while it runs: so whoever sets it
to cancelled stops it, and nothing brings it back.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nfh_db import clock, processes
from nfh_db.connection import Connection
from nfh_db.values import object_of

INSERT = """
INSERT INTO job (task, arguments, created_at) VALUES (:task, :arguments, :at) RETURNING id"""
START = """
UPDATE job SET state = 'running', pid = :pid, pid_started = :pid_started, heartbeat = :at,
    started_at = :at
WHERE id = :id AND state = 'queued'"""
NOTE = """
UPDATE job SET phase = :phase, done = :done, total = :total, metrics = :metrics,
    heartbeat = :at
WHERE id = :id AND state = 'running'"""
END = """
UPDATE job SET state = :state, metrics = coalesce(:metrics, metrics), error = :error,
    model_id = :model, heartbeat = :at, finished_at = :at
WHERE id = :id AND state IN ('queued', 'running')"""
COLUMNS = """
SELECT id, task, state, arguments, pid, pid_started, heartbeat, phase, done, total, metrics,
    model_id, error, created_at, started_at, finished_at FROM job"""
READ = f"{COLUMNS} WHERE id = :id"
READ_ALL = f"{COLUMNS} ORDER BY id DESC"
RUNNING = "SELECT id, pid, pid_started FROM job WHERE state = 'running'"
INTERRUPT = """
UPDATE job SET state = 'interrupted', finished_at = :at, error = :error
WHERE id = :id AND state = 'running' AND pid IS :pid"""

GONE = "the process that ran it has ended without saying how"


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is. total: None where it is not known. metrics: figures by name."""

    phase: str
    done: int = 0
    total: int | None = None
    metrics: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its row has it. arguments: what was asked for."""

    id: int
    task: str
    state: JobState
    arguments: Mapping[str, object]
    pid: int | None
    pid_started: str | None
    heartbeat: str | None
    phase: str | None
    done: int
    total: int | None
    metrics: Mapping[str, object]
    model_id: int | None
    error: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None


def add(connection: Connection, task: str, arguments: Mapping[str, object]) -> int:
    """A new job, queued; its id."""
    row = {"task": task, "arguments": json.dumps(arguments), "at": clock.now()}
    job_id: int = connection.execute(INSERT, row).fetchone()[0]
    return job_id


def start(connection: Connection, job_id: int) -> bool:
    """Claim a queued job for this process; False if it is queued no more."""
    row = {
        "id": job_id,
        "pid": os.getpid(),
        "pid_started": processes.started(os.getpid()),
        "at": clock.now(),
    }
    return bool(connection.execute(START, row).rowcount)


def note(connection: Connection, job_id: int, progress: JobProgress) -> bool:
    """Say how far a running job is; False if it runs no more, by somebody else's doing."""
    row = {
        "id": job_id,
        "phase": progress.phase,
        "done": progress.done,
        "total": progress.total,
        "metrics": json.dumps(progress.metrics, allow_nan=False),
        "at": clock.now(),
    }
    return bool(connection.execute(NOTE, row).rowcount)


def end(
    connection: Connection,
    job_id: int,
    state: JobState,
    *,
    error: str | None = None,
    metrics: Mapping[str, object] | None = None,
    model_id: int | None = None,
) -> bool:
    """Say how a job ended; False if it had ended already. metrics: None keeps the last ones."""
    row = {
        "id": job_id,
        "state": state.value,
        "metrics": None if metrics is None else json.dumps(metrics, allow_nan=False),
        "error": error,
        "model": model_id,
        "at": clock.now(),
    }
    return bool(connection.execute(END, row).rowcount)


def interrupt_lost(connection: Connection) -> None:
    """Mark the running jobs whose process is gone as interrupted."""
    for job_id, pid, started in connection.execute(RUNNING).fetchall():
        if pid is None or not processes.alive(pid, started):
            row = {"id": job_id, "pid": pid, "at": clock.now(), "error": GONE}
            connection.execute(INTERRUPT, row)


def read(connection: Connection, job_id: int) -> Job | None:
    """A job by its id."""
    row = connection.execute(READ, {"id": job_id}).fetchone()
    return None if row is None else _job(row)


def read_all(connection: Connection) -> tuple[Job, ...]:
    """All jobs, the newest first."""
    return tuple(_job(row) for row in connection.execute(READ_ALL))


def _job(row: tuple[Any, ...]) -> Job:
    id_, task, state, arguments, pid, pid_started, heartbeat, phase, *rest = row
    done, total, metrics, model_id, error, created_at, started_at, finished_at = rest
    return Job(
        id_,
        task,
        JobState(state),
        object_of(arguments),
        pid,
        pid_started,
        heartbeat,
        phase,
        done,
        total,
        object_of(metrics),
        model_id,
        error,
        created_at,
        started_at,
        finished_at,
    )
