"""Jobs: the queue, progress and results, the background state for the screens, scheduled
retraining, and the marks that authenticate a user's own jobs.

Only the process that runs a job updates its row, and only while the job runs. So a job that is
set to cancelled stays cancelled, and a process that was taken for dead, and whose job another
process has claimed, changes nothing.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from nfh_db import event_log, models, passages, system
from nfh_db.connection import Connection, Repository, reads, writes_durably, writes_fast
from nfh_db.errors import BusyError, FullError, StoreError
from nfh_db.models import Activation, Model, NewModel
from nfh_db.serialization import object_of

# --- authentication of jobs -------------------------------------------------------------------
#
# A database may come from somebody else, with queued jobs that read and write files. So a job
# is a user's own only if its row has a valid mark: an HMAC-SHA256 of the database's id, the
# row's id and all arguments, with a secret in the user's data folder. The path is not part of
# it: a file that is moved or restored keeps its jobs. A job with changed arguments, or in
# another database, is foreign.

DATABASE_ID = "database id"
"""The setting with the database's id, 32 hexadecimal digits."""

ID_BYTES = 16
KEY_NAME = "jobs.key"
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Marks:
    """Makes and verifies the marks of one database."""

    key: bytes | None
    """The secret; None if it, or the id of the database, is missing."""

    database: str

    @classmethod
    def to_read(cls, connection: Connection) -> Self:
        """For verification. Without a secret no mark is valid."""
        database = passages.read_setting(connection, DATABASE_ID) or ""
        return cls(_key() if database else None, database)

    @classmethod
    def to_make(cls, connection: Connection) -> Self:
        """For making marks, within a transaction. Creates a missing id or secret.

        Raises StoreError if the secret can be neither read nor created.
        """
        database = passages.read_setting(connection, DATABASE_ID) or ""
        if not database:
            database = os.urandom(ID_BYTES).hex()
            passages.write_setting(connection, DATABASE_ID, database)
        return cls(_key_made(), database)

    def mark(self, what: str, *asked: object) -> str:
        """The mark of a request; "" without a secret. what: its type. asked: its content."""
        if self.key is None:
            return ""
        message = json.dumps([what, self.database, *asked])
        return hmac.new(self.key, message.encode("ascii"), hashlib.sha256).hexdigest()

    def knows(self, mark: str, what: str, *asked: object) -> bool:
        """Whether this installation made a mark for exactly this request."""
        own = self.mark(what, *asked)
        return bool(own) and hmac.compare_digest(own.encode(), mark.encode("utf-8", "replace"))


def _key() -> bytes | None:
    try:
        key = (system.data_folder() / KEY_NAME).read_bytes()
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def _key_made() -> bytes:
    try:
        path = system.data_folder() / KEY_NAME
        if not path.exists():
            _make(path)
        key = path.read_bytes()
    except OSError as error:
        where = f" {error.filename}:" if error.filename else ""
        raise StoreError(
            f"No job can be queued:{where} {error.strerror}. A secret of 32 bytes, which "
            "marks your jobs as yours, is kept in your data folder. Make that folder "
            "writable, or set XDG_DATA_HOME to one that is"
        ) from error
    if len(key) != KEY_BYTES:
        raise StoreError(
            f"No job can be queued: {path}, which marks your jobs as yours, holds {len(key)} "
            f"bytes, wanted {KEY_BYTES}. Delete it to get a new one; jobs that wait are "
            "foreign from then on"
        )
    return key


def _make(path: Path) -> None:
    """Create the secret, readable by this user only. Of two concurrent calls one wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    passing = path.with_name(f".{KEY_NAME}-{os.urandom(8).hex()}")
    descriptor = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(passing, path)
        except FileExistsError:
            return
        except OSError:
            os.replace(passing, path)  # noqa: PTH105 - a file system without links
    finally:
        passing.unlink(missing_ok=True)


# --- jobs -------------------------------------------------------------------------------------

INSERT = """
INSERT INTO job (task, kind, version, arguments, asked_by, after_id, created_at)
VALUES (:task, :kind, :version, :arguments, :asked_by, :after, :at) RETURNING id"""
MARK = "UPDATE job SET mark = :mark WHERE id = :id"
# Only the process that started a job last updates it. If its job is marked as interrupted, it
# was taken for dead, and continues unless another process has started the job.
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
# A training that resumes from a checkpoint repeats some steps. One step may have several
# points, of a loss and of an evaluation: only points with the same keys replace each other.
FORGET_POINTS = """
DELETE FROM job_point WHERE job_id = :id AND (done > :done OR (done = :done
    AND (SELECT group_concat(key) FROM json_each(job_point.metrics))
        IS (SELECT group_concat(key) FROM json_each(:metrics))))"""
READ_POINTS = "SELECT done, metrics FROM job_point WHERE job_id = :id ORDER BY number"
# An orderly stop does not count as an attempt. after_id is rewritten since SQLite checks it
# when model_id is set: a missing job must not keep the job that waited for it from ending.
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
"""Columns of a job `j`: its mark, and what the mark is made of."""

READ_MARKED = f"SELECT {MARKED} FROM job AS j WHERE j.id = :id"  # noqa: S608 - of this file

TRAIN = "train"

IN_PLACE = 1
"""The version of a job that runs in the process that adds it: no runner claims it."""

ORDER = "job"
"""The type of request that the mark of a job is for."""

LARGEST_ID = 2**63 - 1
"""The largest row id of SQLite."""


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def ended(self) -> bool:
        """Whether no runner will continue it."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be queued."""

    kind: str
    version: int
    """Of the arguments of this kind."""

    task: str
    """Of models; "" for none."""

    arguments: Mapping[str, object]
    asked_by: str = ""
    after: int | None = None
    """The job that it waits for, whatever state that ends in."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a job, in the units of its phase. metrics: figures by name."""

    phase: str
    done: int = 0
    total: int | None = None
    """None if it is unknown."""

    metrics: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobPoint:
    """A point of a job's curves. done: steps. metrics: figures by name."""

    done: int
    metrics: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as stored in its row."""

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
    """The scope of `pid`, see `system.place`."""

    heartbeat: str | None
    attempts: int
    """Starts that no orderly stop followed."""

    phase: str | None
    done: int
    total: int | None
    metrics: Mapping[str, object]
    log: str | None
    """Path of its log file."""

    snapshot: str | None
    """Hash of the labels that it works on."""

    result: Mapping[str, object]
    model_id: int | None
    error: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    own: bool = True
    """Whether its mark is valid: this user's installation queued it, with these arguments."""

    @property
    def foreign(self) -> bool:
        """Whether somebody else queued it, so that no runner of this user claims it."""
        return not self.own and self.version != IN_PLACE

    @property
    def held(self) -> bool:
        """Whether it waits for a runner and gets none, since it is foreign."""
        return self.foreign and self.state in (JobState.QUEUED, JobState.INTERRUPTED)


JOB_COLUMNS = tuple(one.name for one in fields(Job))[:-1]
"""The fields of a job in the order of COLUMNS, before the mark."""
MARKED_COLUMNS = ("id", "created_at", "kind", "version", "task", "asked_by", "arguments")
"""Those that the mark is made of."""


def add(connection: Connection, new: NewJob) -> int:
    """Queue a job, marked unless its version is IN_PLACE; its id.

    Raises StoreError if no mark can be made.
    """
    row = {
        "task": new.task,
        "kind": new.kind,
        "version": new.version,
        "arguments": json.dumps(new.arguments),
        "asked_by": new.asked_by,
        "after": new.after,
        "at": system.now(),
    }
    job_id: int = connection.execute(INSERT, row).fetchone()[0]
    if new.version != IN_PLACE:
        _mark(connection, job_id)
    return job_id


def accept(connection: Connection, shown: Job) -> bool:
    """Mark a foreign job as this user's own; False if it differs from the one shown by now.

    Raises StoreError if no mark can be made.
    """
    found = read(connection, shown.id)
    if found is None or _order_of(found) != _order_of(shown):
        return False
    _mark(connection, shown.id)
    return True


def is_own(marks: Marks, mark: str, *asked: object) -> bool:
    """Whether this installation made a mark. asked: the rest of the columns of MARKED."""
    return marks.knows(mark, ORDER, *asked)


def _mark(connection: Connection, job_id: int) -> None:
    asked = connection.execute(READ_MARKED, {"id": job_id}).fetchone()[1:]
    mark = Marks.to_make(connection).mark(ORDER, *asked)
    connection.execute(MARK, {"id": job_id, "mark": mark})


def _order_of(job: Job) -> tuple[object, ...]:
    return job.created_at, job.kind, job.version, job.task, job.asked_by, job.arguments


def own_process() -> dict[str, object]:
    """The columns that identify this process in a job's row, and the time."""
    pid = os.getpid()
    return {
        "pid": pid,
        "pid_started": system.started(pid),
        "place": system.place(),
        "at": system.now(),
    }


def update(connection: Connection, job_id: int, progress: JobProgress) -> bool:
    """Store the progress of this process' job; False if it was ended or claimed elsewhere."""
    row = own_process() | {
        "id": job_id,
        "phase": progress.phase,
        "done": progress.done,
        "total": progress.total,
        "metrics": json.dumps(progress.metrics, allow_nan=False),
    }
    return bool(connection.execute(NOTE, row).rowcount)


def write_heartbeat(connection: Connection, job_id: int) -> bool:
    """Store a heartbeat of this process' job; False if it was ended or claimed elsewhere."""
    return bool(connection.execute(BEAT, own_process() | {"id": job_id}).rowcount)


def set_snapshot(connection: Connection, job_id: int, snapshot: str) -> None:
    connection.execute(SNAPSHOT, {"id": job_id, "snapshot": snapshot})


def set_log(connection: Connection, job_id: int, log: str) -> None:
    connection.execute(LOG, {"id": job_id, "log": log})


def add_point(connection: Connection, job_id: int, point: JobPoint) -> None:
    """Add a point to a job's curves, and delete those of later steps from before a resume."""
    metrics = json.dumps(point.metrics, allow_nan=False)
    row = {"id": job_id, "done": point.done, "metrics": metrics}
    connection.execute(FORGET_POINTS, row)
    connection.execute(POINT, row)


def points(connection: Connection, job_id: int) -> tuple[JobPoint, ...]:
    """The points of a job's curves, in the order in which they were added."""
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
    """Store how a job ended; False if it had ended already. None keeps the stored value.

    anyone: also end a job that another process runs; else only one of this process, or one
    that was never started.
    """
    row = own_process() | {
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
    """A job by its id; None for an unknown or impossible id."""
    if not 0 < job_id <= LARGEST_ID:
        return None
    row = connection.execute(READ, {"id": job_id}).fetchone()
    return None if row is None else _job(row, Marks.to_read(connection))


def read_all(connection: Connection) -> tuple[Job, ...]:
    """All jobs, the newest first."""
    marks = Marks.to_read(connection)
    return tuple(_job(row, marks) for row in connection.execute(READ_ALL))


def _job(row: tuple[Any, ...], marks: Marks) -> Job:
    *columns, mark = row
    told = dict(zip(JOB_COLUMNS, columns, strict=True))
    own = is_own(marks, mark, *(told[name] for name in MARKED_COLUMNS))
    objects = {name: object_of(told[name]) for name in ("arguments", "metrics", "result")}
    return Job(**told | objects | {"state": JobState(told["state"]), "own": own})


# --- the queue --------------------------------------------------------------------------------
#
# These functions run within a write transaction, which locks the file: of two processes that
# claim a job at the same time, one gets it.

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
# The pid stays, so that a process that still runs the cancelled job cannot end the new run.
# started_at is reset: the pause does not count as working time.
TRY_AGAIN = """
UPDATE job SET state = 'queued', attempts = 0, error = NULL, started_at = NULL,
    finished_at = NULL
WHERE id = :id AND state IN ('interrupted', 'failed', 'cancelled')"""

GONE = "its process ended without a message"
TOO_OFTEN = (
    "its process ended {attempts} times without a message, the last time in the phase "
    "“{phase}”. Its log may say why; you can retry it"
)

MOST_ATTEMPTS = 5
"""Starts without an orderly stop after which a job fails: it may crash its process."""

SILENT = timedelta(minutes=2)
"""How old the heartbeat of a process in another PID scope may be before it counts as dead."""

Kinds = Mapping[str, tuple[int, int, bool]]
"""By kind: the lowest and highest supported version of its arguments, and whether it is heavy.
The number of heavy jobs that run at a time is limited."""


def start(connection: Connection, job_id: int) -> bool:
    """Claim a job for this process; False if it no longer waits."""
    return bool(connection.execute(START, own_process() | {"id": job_id}).rowcount)


def claim(
    connection: Connection, kinds: Kinds, trainings: int = 1, only: int | None = None
) -> int | None:
    """Claim the oldest own job that can run now; its id, None if there is none.

    trainings: how many heavy jobs may run at a time in all processes. only: consider just this
    job. A job with MOST_ATTEMPTS attempts is set to failed instead.
    """
    interrupt_lost(connection)
    while (row := find_next(connection, kinds, trainings, only)) is not None:
        job_id, attempts = row
        if attempts < MOST_ATTEMPTS:
            return job_id if start(connection, job_id) else None
        found = read(connection, job_id)
        phase = found.phase if found is not None and found.phase else "starting"
        error = TOO_OFTEN.format(attempts=attempts, phase=phase)
        end(connection, job_id, JobState.FAILED, anyone=True, error=error)
    return None


def find_next(
    connection: Connection, kinds: Kinds, trainings: int = 1, only: int | None = None
) -> tuple[int, int] | None:
    """Id and attempts of the oldest own job that can run now; None if there is none."""
    known = json.dumps([[name, *about[:2], int(about[2])] for name, about in kinds.items()])
    asked = {"kinds": known, "trainings": trainings, "only": only}
    marks = Marks.to_read(connection)
    for attempts, mark, job_id, *rest in connection.execute(NEXT, asked):
        # The only place that keeps foreign jobs from being claimed.
        if is_own(marks, mark, job_id, *rest):
            return job_id, attempts
    return None


def try_again(connection: Connection, job_id: int) -> bool:
    """Queue an ended or interrupted job again; False if it is done, active or foreign."""
    found = read(connection, job_id)
    if found is None or found.foreign:
        return False
    return bool(connection.execute(TRY_AGAIN, {"id": job_id}).rowcount)


def find_dead(connection: Connection, only: int | None = None) -> list[tuple[int, int | None]]:
    """Id and pid of each running job whose process is dead. only: check just this job."""
    here = system.place()
    found = []
    for job_id, *who, heartbeat in connection.execute(RUNNING, {"only": only}).fetchall():
        if _gone(who, heartbeat, here):
            found.append((job_id, who[0]))
    return found


def _gone(who: Sequence[Any], heartbeat: str | None, here: str) -> bool:
    """Whether the process of a running job is dead. who: pid, start time and PID scope."""
    pid, started, place = who
    if place not in (None, here):
        return _silent(heartbeat)
    if pid is None or not system.is_running(pid, started):
        return True
    # Process ids are reused. Without a start time the heartbeat decides.
    return started is None and _silent(heartbeat)


def interrupt_lost(connection: Connection, only: int | None = None) -> None:
    """Mark running jobs whose process is dead as interrupted. only: check just this job."""
    for job_id, pid in find_dead(connection, only):
        row = {"id": job_id, "pid": pid, "at": system.now(), "error": GONE}
        connection.execute(INTERRUPT, row)


def _silent(heartbeat: str | None) -> bool:
    """Whether a heartbeat is missing, invalid or older than SILENT.

    So is one from the future: the clock was set back. A process that is alive all the same
    gets its job back with its next heartbeat.
    """
    if heartbeat is None:
        return True
    try:
        age = datetime.fromisoformat(system.now()) - datetime.fromisoformat(heartbeat)
    except (ValueError, TypeError):
        return True
    return abs(age) > SILENT


# --- background state -------------------------------------------------------------------------
#
# Read every second by each open screen, so the queries are small.

CHANGES = """
SELECT a.id, a.task, a.model_id, m.name, a.before_id, b.name, a.who, a.reason, a.job_id, a.at
FROM activation AS a JOIN model AS m ON m.id = a.model_id
LEFT JOIN model AS b ON b.id = a.before_id
WHERE a.id > :after ORDER BY a.id"""
LAST = "SELECT coalesce(max(id), 0) FROM activation"
JOBS = f"""
SELECT {MARKED}, j.state,
    CASE WHEN json_valid(j.arguments) THEN json_extract(j.arguments, '$.recipe') END,
    coalesce(j.phase, ''), j.done, coalesce(j.total, 0)
FROM job AS j WHERE j.state IN ('queued', 'running', 'interrupted')
ORDER BY j.id"""  # noqa: S608 - of columns' names
ACTIVE = """
SELECT id FROM model WHERE task IN ('resolution', 'both') AND state = 'active'
ORDER BY task = 'both', id DESC LIMIT 1"""
SAID = """
SELECT (SELECT count(*) FROM prediction),
    (SELECT total(margin) FROM prediction WHERE model_id = :model),
    (SELECT count(*) FROM identification), count(*), coalesce(max(job_id), 0) FROM doubt"""


@dataclass(frozen=True, slots=True)
class JobNow:
    """The current state of a job. recipe: of a training, else "". total: 0 if unknown."""

    id: int
    kind: str
    task: str
    state: JobState
    recipe: str = ""
    phase: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class BackgroundState:
    """Jobs and model activations, for the screens."""

    jobs: tuple[JobNow, ...] = ()
    """Waiting and running jobs, oldest first, without foreign ones that wait."""

    changes: tuple[Activation, ...] = ()
    last: int = 0
    """The id of the last activation there is."""


def read_pulse(connection: Connection, after: int) -> BackgroundState:
    """The background state. after: the id of the last activation that is already known."""
    marks = Marks.to_read(connection)
    told = (_background_job(marks, *row) for row in connection.execute(JOBS))
    jobs = tuple(job for job in told if job is not None)
    rows = connection.execute(CHANGES, {"after": after}).fetchall()
    last = connection.execute(LAST).fetchone()[0]
    return BackgroundState(jobs, tuple(Activation(*row) for row in rows), last)


def orders_version(connection: Connection) -> tuple[float, ...]:
    """Numbers that change whenever a queue order that depends on models may have changed.

    The active resolution model, the counts of predictions and identifications, and the doubts.
    """
    row = connection.execute(ACTIVE).fetchone()
    model = 0 if row is None else row[0]
    found: tuple[float, ...] = connection.execute(SAID, {"model": model}).fetchone()
    return (model, *found)


def _background_job(marks: Marks, mark: str, *columns: Any) -> JobNow | None:  # noqa: ANN401
    """The state of a job; None for a foreign job that waits."""
    *asked, state, recipe, phase, done, total = columns
    id_, _, kind, version, task, *_ = asked
    own = version == IN_PLACE or is_own(marks, mark, *asked)
    if not own and state != JobState.RUNNING:
        return None
    named = recipe if isinstance(recipe, str) else ""
    return JobNow(id_, kind, task, JobState(state), named, phase, done, total)


# --- scheduled retraining ---------------------------------------------------------------------
#
# A training of a task is queued after every n decisions. A decision is an anchor whose gold a
# person or a settlement wrote, in an act that was not undone; imported gold does not count.
# Counting starts at the event at which the last training of the task began, whoever queued it;
# before the first one, at the event at which the schedule was set.

SETTING = "retrain every"

RETRAINING_ORDER = "every"
"""The type of request that the mark of a schedule is for."""

ASKED_BY = "every {number} decisions"

# LIMIT: the number beyond what makes a training due is not needed.
DECISIONS = """
SELECT count(*) FROM (
    SELECT DISTINCT e.anchor_id FROM event AS e JOIN act AS c ON c.id = e.act_id
    LEFT JOIN batch AS b ON b.id = c.batch_id
    WHERE e.id > :since AND e.entity = 'gold' AND e.after IS NOT NULL
        AND c.kind IN ('do', 'settle') AND c.undone = 0 AND coalesce(b.state, '') <> 'loading'
    LIMIT :most)"""
LAST_BEGUN = """
SELECT j.id, coalesce((
    SELECT e.id FROM event AS e JOIN act AS c ON c.id = e.act_id
    WHERE c.acted_at <= j.started_at ORDER BY e.id DESC LIMIT 1), 0)
FROM job AS j
WHERE j.kind = :kind AND j.task = :task AND j.id > :after AND j.started_at IS NOT NULL
ORDER BY j.id DESC LIMIT 1"""
NOT_ENDED = f"""
SELECT j.state = 'running' OR j.version = {IN_PLACE}, {MARKED} FROM job AS j
WHERE j.kind = :kind AND j.task = :task AND j.state IN ('queued', 'running', 'interrupted')
ORDER BY j.id"""  # noqa: S608 - of columns' names


@dataclass(frozen=True, slots=True)
class Schedule:
    """The retraining schedule of a task. `count`, `held_by` and `own` are not stored."""

    task: str
    number: int
    """Decisions between two trainings."""

    version: int
    arguments: Mapping[str, object]
    since: int = 0
    """The id of the last event that is not counted."""

    job: int = 0
    """The id of the last training that was seen to begin."""

    count: int = field(default=0, compare=False)
    """Decisions since then, at most `number`."""

    held_by: int = field(default=0, compare=False)
    """The training of this task that must end before another is queued; 0 for none."""

    mark: str = ""
    own: bool = field(default=True, compare=False)
    """Whether its mark is valid: this user's installation set it."""

    @property
    def new(self) -> NewJob:
        """The job that is queued each time."""
        return NewJob(
            TRAIN, self.version, self.task, self.arguments,
            ASKED_BY.format(number=self.number),
        )  # fmt: skip

    @property
    def due(self) -> bool:
        """Whether a training is to be queued; never for a schedule that somebody else set."""
        return self.own and self.count >= self.number


@dataclass(frozen=True, slots=True)
class DueTrainings:
    """The state of scheduled retraining."""

    to_do: bool = False
    """Whether `queue_due` would write: a training is due, or one has begun, and the event from
    which decisions are counted is to be stored while the clock can be trusted."""

    blocked: bool = False
    """Whether a due training waits for another one of its task to end."""


def read_retraining(connection: Connection) -> tuple[Schedule, ...]:
    """All schedules with their counts. Needs a connection in a transaction."""
    return tuple(_counted(connection, one) for one in _stored(connection))


def set_schedule(connection: Connection, task: str, number: int, new: NewJob | None) -> None:
    """Set the schedule of a task; None removes it.

    A schedule that existed keeps its count. Raises StoreError if no mark can be made.
    """
    found = read_retraining(connection)
    kept = [one for one in found if one.task != task]
    if new is not None:
        before = next((one for one in found if one.task == task), None)
        since, job = _count_start(connection, task, before)
        set_now = Schedule(task, number, new.version, new.arguments, since, job)
        mark = Marks.to_make(connection).mark(RETRAINING_ORDER, *_retraining_order(set_now))
        kept.append(replace(set_now, mark=mark))
    _store(connection, kept)


def queue_due(connection: Connection, held: Container[str] = ()) -> tuple[int, ...]:
    """Queue the due trainings, within a transaction; the ids of the new jobs.

    A task with a waiting or running training gets no second one. The count of a queued task
    restarts. held: tasks that are skipped, since there is nothing to learn yet.
    """
    found = read_retraining(connection)
    queued, kept = [], []
    for one in found:
        if one.due and not one.held_by and one.task not in held:
            queued.append(add(connection, one.new))
            last = connection.execute(event_log.LAST_EVENT).fetchone()[0]
            one = replace(one, since=last)  # noqa: PLW2901 - what is kept of it
        kept.append(one)
    if tuple(kept) != _stored(connection):
        _store(connection, kept)
    return tuple(queued)


def find_due(connection: Connection) -> DueTrainings:
    """What `queue_due` would do, without writing."""
    found = read_retraining(connection)
    due = [one for one in found if one.due]
    blocked = any(one.held_by for one in due)
    free = any(not one.held_by for one in due)
    return DueTrainings(free or found != _stored(connection), blocked)


def _counted(connection: Connection, one: Schedule) -> Schedule:
    """The schedule with its count and the training that holds it up."""
    begun = _last_begun(connection, one.task, one.job)
    if begun is not None:
        job, event = begun
        # Never backwards: decisions must not count twice after the clock was set back.
        one = replace(one, job=job, since=max(one.since, event))
    asked = {"since": one.since, "most": one.number}
    count = connection.execute(DECISIONS, asked).fetchone()[0]
    return replace(one, count=count, held_by=_under_way(connection, one.task))


def _count_start(connection: Connection, task: str, before: Schedule | None) -> tuple[int, int]:
    """The last event that does not count, and the training that began there.

    before: the present schedule. Its values were stored while the clock could be trusted.
    """
    if before is not None:
        return before.since, before.job
    begun = _last_begun(connection, task, 0)
    if begun is None:
        return connection.execute(event_log.LAST_EVENT).fetchone()[0], 0
    job, event = begun
    return event, job


def _last_begun(connection: Connection, task: str, after: int) -> tuple[int, int] | None:
    """The last training that began after a job, and the last event before it."""
    asked = {"kind": TRAIN, "task": task, "after": after}
    row: tuple[int, int] | None = connection.execute(LAST_BEGUN, asked).fetchone()
    return row


def _under_way(connection: Connection, task: str) -> int:
    """The oldest training of a task that has not ended; 0 for none.

    A foreign job that waits does not count: it may never run.
    """
    asked = {"kind": TRAIN, "task": task}
    marks = Marks.to_read(connection)
    for goes_on, mark, job_id, *rest in connection.execute(NOT_ENDED, asked):
        if goes_on or is_own(marks, mark, job_id, *rest):
            return int(job_id)
    return 0


def _stored(connection: Connection) -> tuple[Schedule, ...]:
    """The stored schedules; none if they cannot be read, e.g. from a newer program."""
    text = passages.read_setting(connection, SETTING)
    try:
        rows = json.loads(text) if text else []
    except json.JSONDecodeError:
        return ()
    found = (_every(row) for row in rows) if isinstance(rows, list) else ()
    marks = Marks.to_read(connection)
    return tuple(
        replace(one, own=marks.knows(one.mark, RETRAINING_ORDER, *_retraining_order(one)))
        for one in found
        if one is not None
    )


def _retraining_order(one: Schedule) -> tuple[object, ...]:
    """The content that the mark of a schedule is made of."""
    return one.task, one.number, one.version, json.dumps(one.arguments, sort_keys=True)


def _every(row: object) -> Schedule | None:
    match row:
        case {
            "task": str(task),
            "every": int(number),
            "version": int(version),
            "arguments": dict(arguments),
            "since": int(since),
            "job": int(job),
            **more,
        } if number > 0:
            mark = more.get("mark")
            return Schedule(
                task, number, version, arguments, since, job,
                mark=mark if isinstance(mark, str) else "",
            )  # fmt: skip
    return None


def _store(connection: Connection, found: Iterable[Schedule]) -> None:
    rows = [
        {
            "task": one.task,
            "every": one.number,
            "version": one.version,
            "arguments": dict(one.arguments),
            "since": one.since,
            "job": one.job,
            "mark": one.mark,
        }
        for one in found
    ]
    passages.write_setting(connection, SETTING, json.dumps(rows))


CANCELLED = "the job was cancelled"


class JobGoneError(StoreError):
    """A running job was ended by somebody else."""


class Jobs(Repository):
    """Jobs and their queue."""

    add = writes_durably(add)
    accept = writes_durably(accept)
    retry = writes_durably(try_again)
    write_heartbeat = writes_fast(write_heartbeat)
    set_snapshot = writes_fast(set_snapshot)
    set_log = writes_fast(set_log)
    points = reads(points)
    orders_version = reads(orders_version)

    def read(self, job_id: int) -> Job | None:
        """A job by its id, marked as interrupted if its process is dead."""
        with self.connections.reading() as connection:
            found = read(connection, job_id)
            if found is None or not find_dead(connection, job_id):
                return found
        try:
            with self.connections.fast_write() as connection:
                interrupt_lost(connection, job_id)
                return read(connection, job_id)
        except (FullError, BusyError):
            return _interrupted(found)

    def all(self) -> tuple[Job, ...]:
        """All jobs, newest first; those of dead processes are marked as interrupted."""
        with self.connections.reading() as connection:
            found = read_all(connection)
            gone = {job_id for job_id, _ in find_dead(connection)}
        if not gone:
            return found
        try:
            with self.connections.fast_write() as connection:
                interrupt_lost(connection)
                return read_all(connection)
        except (FullError, BusyError):
            return tuple(_interrupted(job) if job.id in gone else job for job in found)

    def claim(self, kinds: Kinds, trainings: int = 1, only: int | None = None) -> Job | None:
        """Claim the oldest own job that can run now; None if there is none.

        kinds: those that this program knows. trainings: how many heavy jobs may run at a time.
        only: consider just this job.
        """
        with self.connections.fast_write() as connection:
            job_id = claim(connection, kinds, trainings, only)
            return None if job_id is None else read(connection, job_id)

    def find_next(self, kinds: Kinds, trainings: int = 1) -> int | None:
        """The id of the job that `claim` would claim; None if there is none."""
        with self.connections.reading() as connection:
            gone = find_dead(connection)
        if gone:
            with suppress(FullError, BusyError), self.connections.fast_write() as connection:
                interrupt_lost(connection)
        with self.connections.reading() as connection:
            found = find_next(connection, kinds, trainings)
            return None if found is None else found[0]

    def begin(self, task: str, arguments: Mapping[str, object], kind: str = TRAIN) -> int:
        """Add and start a job of this process; its id. Marks the jobs of dead processes."""
        with self.connections.fast_write() as connection:
            interrupt_lost(connection)
            job_id = add(connection, NewJob(kind, IN_PLACE, task, arguments))
            start(connection, job_id)
        return job_id

    def update(self, job_id: int, progress: JobProgress, point: JobPoint | None = None) -> None:
        """Store progress and a point of the curves. JobGoneError if the job was ended."""
        with self.connections.fast_write() as connection:
            if not update(connection, job_id, progress):
                raise JobGoneError(CANCELLED)
            if point is not None:
                add_point(connection, job_id, point)

    def end(
        self,
        job_id: int,
        state: JobState,
        error: str | None = None,
        result: Mapping[str, object] | None = None,
    ) -> bool:
        """Store how a job without a model ended; False if it had ended before.

        Any process may cancel a job; every other state is for the process that runs it.
        """
        anyone = state is JobState.CANCELLED
        with self.connections.durable_write() as connection:
            return end(connection, job_id, state, anyone=anyone, error=error, result=result)

    def finish_training(
        self,
        job_id: int,
        new: NewModel,
        result: Mapping[str, object] | None = None,
        *,
        verdict: Mapping[str, object] | None = None,
        promote: bool = False,
        then: NewJob | None = None,
    ) -> Model:
        """Register a job's model, activate it if due, and end the job, in one transaction.

        verdict: of `nfh_tui.jobs.promotion`, as JSON; without one the model becomes active if
        its task has no other, else a candidate. promote: whether a better model replaces the
        active one. then: a job to queue if the model becomes active. Raises JobGoneError if
        the job was ended, StoreError if the name is taken.
        """
        with self.connections.durable_write() as connection:
            judged = models.valid_verdict(connection, verdict, promote=promote)
            model_id = models.register_trained(connection, new, judged, job_id)
            folder = Path(os.path.realpath(self.connections.path)).parent / new.path
            models.note_place(connection, str(folder.parent))
            if result is not None:
                result = {**result, "verdict": judged or None}
            if then is not None and models.in_use(connection, model_id):
                add(connection, then)
            if not end(
                connection,
                job_id,
                JobState.DONE,
                metrics=new.metrics,
                result=result,
                model_id=model_id,
            ):
                raise JobGoneError(CANCELLED)
            found = models.read(connection, model_id)
        if found is None:
            raise StoreError(f"the model {new.name} no longer exists")
        return found

    def background_state(self, after: int) -> BackgroundState:
        """The background state. after: the id of the last activation that is already known.

        A job whose process is dead is reported as interrupted, but not marked in the database.
        """
        with self.connections.reading() as connection:
            found = read_pulse(connection, after)
            if all(job.state is not JobState.RUNNING for job in found.jobs):
                return found
            gone = {job_id for job_id, _ in find_dead(connection)}
        jobs = (
            replace(job, state=JobState.INTERRUPTED) if job.id in gone else job
            for job in found.jobs
        )
        return replace(found, jobs=tuple(jobs))


def _interrupted(job: Job) -> Job:
    """The job as `interrupt_lost` would leave it, if the database cannot be written."""
    return replace(job, state=JobState.INTERRUPTED, error=GONE)


class Retraining(Repository):
    """Scheduled retraining."""

    all = reads(read_retraining)
    set_schedule = writes_durably(set_schedule)
    schedule = reads(find_due)
    queue_due = writes_durably(queue_due)
