"""Trainings that come round: one after every so many decisions, for each task that wants it.

A decision is an anchor that got gold by a person or by a settlement, and still has that act in
force; what files brought is not counted. Counted is from the place in the log where the last
training of the task began, whoever asked for that one.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from nfh_db import acts, jobs, settings
from nfh_db.connection import Connection
from nfh_db.jobs import TRAIN, NewJob

SETTING = "retrain every"

ASKED_BY = "every {number} decisions"

# LIMIT: nobody needs to know how many there are beyond what makes a training due.
DECISIONS = """
SELECT count(*) FROM (
    SELECT DISTINCT e.anchor_id FROM event AS e JOIN act AS c ON c.id = e.act_id
    LEFT JOIN batch AS b ON b.id = c.batch_id
    WHERE e.id > :since AND e.entity = 'gold' AND e.after IS NOT NULL
        AND c.kind IN ('do', 'settle') AND c.undone = 0 AND coalesce(b.state, '') <> 'loading'
    LIMIT :most)"""
LAST_BEGUN = """
SELECT id, started_at FROM job
WHERE kind = :kind AND task = :task AND id > :after AND started_at IS NOT NULL
ORDER BY id DESC LIMIT 1"""
EVENTS_BEFORE = """
SELECT e.id FROM event AS e JOIN act AS c ON c.id = e.act_id
WHERE c.acted_at <= :at ORDER BY e.id DESC LIMIT 1"""
NOT_ENDED = """
SELECT 1 FROM job
WHERE kind = :kind AND task = :task AND state IN ('queued', 'running', 'interrupted') LIMIT 1"""


@dataclass(frozen=True, slots=True)
class Every:
    """A training that comes round.

    number: of decisions from one to the next. version, arguments: of the job. since: the last
    event of the log that is not counted. job: the last training that was seen to begin.
    count: decisions since, at most `number` of them; not stored.
    """

    task: str
    number: int
    version: int
    arguments: Mapping[str, object]
    since: int = 0
    job: int = 0
    count: int = field(default=0, compare=False)

    @property
    def due(self) -> bool:
        """Whether there are decisions enough."""
        return self.count >= self.number


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to do about trainings that come round.

    to_do: `queue_due` would write something: a training is due, or one has begun by itself,
    and what is counted from is to be noted while the clock by which that is found can be
    trusted. blocked: one is due that waits for another training of its task to end.
    """

    to_do: bool = False
    blocked: bool = False


def read(connection: Connection) -> tuple[Every, ...]:
    """All that is set, with how far each has come; on one moment of the database."""
    return tuple(_counted(connection, one) for one in _stored(connection))


def put(connection: Connection, task: str, number: int, new: NewJob | None) -> None:
    """Set what comes round for a task, counted from now; None: nothing does."""
    others = [one for one in _stored(connection) if one.task != task]
    if new is not None:
        since = connection.execute(acts.LAST_EVENT).fetchone()[0]
        begun = _last_begun(connection, task, 0)
        job = 0 if begun is None else begun[0]
        others.append(Every(task, number, new.version, new.arguments, since, job))
    _store(connection, others)


def queue_due(connection: Connection) -> tuple[int, ...]:
    """Queue what is due, in the transaction there is; the numbers of the new jobs.

    A task of which a training waits or runs gets no second one. What has come round is counted
    from now on.
    """
    found = read(connection)
    queued, kept = [], []
    for one in found:
        if one.due and not _under_way(connection, one.task):
            asked_by = ASKED_BY.format(number=one.number)
            new = NewJob(TRAIN, one.version, one.task, one.arguments, asked_by)
            queued.append(jobs.add(connection, new))
            last = connection.execute(acts.LAST_EVENT).fetchone()[0]
            one = replace(one, since=last)  # noqa: PLW2901 - what is kept of it
        kept.append(one)
    if tuple(kept) != _stored(connection):
        _store(connection, kept)
    return tuple(queued)


def look(connection: Connection) -> Look:
    """What is to be done now, without doing it."""
    found = read(connection)
    due = [one for one in found if one.due]
    blocked = any(_under_way(connection, one.task) for one in due)
    free = any(not _under_way(connection, one.task) for one in due)
    return Look(free or found != _stored(connection), blocked)


# --- helpers ----------------------------------------------------------------------------------


def _counted(connection: Connection, one: Every) -> Every:
    """With the decisions made since the last training of its task began."""
    begun = _last_begun(connection, one.task, one.job)
    if begun is not None:
        job, at = begun
        row = connection.execute(EVENTS_BEFORE, {"at": at}).fetchone()
        # Never back: a clock that was set back must not have decisions counted twice.
        one = replace(one, job=job, since=max(one.since, 0 if row is None else row[0]))
    asked = {"since": one.since, "most": one.number}
    return replace(one, count=connection.execute(DECISIONS, asked).fetchone()[0])


def _last_begun(connection: Connection, task: str, after: int) -> tuple[int, str] | None:
    asked = {"kind": TRAIN, "task": task, "after": after}
    row: tuple[int, str] | None = connection.execute(LAST_BEGUN, asked).fetchone()
    return row


def _under_way(connection: Connection, task: str) -> bool:
    asked = {"kind": TRAIN, "task": task}
    return connection.execute(NOT_ENDED, asked).fetchone() is not None


def _stored(connection: Connection) -> tuple[Every, ...]:
    """What is set; nothing where that cannot be read, e.g. since a newer program wrote it."""
    text = settings.read(connection, SETTING)
    try:
        rows = json.loads(text) if text else []
    except json.JSONDecodeError:
        return ()
    found = (_every(row) for row in rows) if isinstance(rows, list) else ()
    return tuple(one for one in found if one is not None)


def _every(row: object) -> Every | None:
    match row:
        case {
            "task": str(task),
            "every": int(number),
            "version": int(version),
            "arguments": dict(arguments),
            "since": int(since),
            "job": int(job),
        } if number > 0:
            return Every(task, number, version, arguments, since, job)
    return None


def _store(connection: Connection, found: Iterable[Every]) -> None:
    rows = [
        {
            "task": one.task,
            "every": one.number,
            "version": one.version,
            "arguments": dict(one.arguments),
            "since": one.since,
            "job": one.job,
        }
        for one in found
    ]
    settings.write(connection, SETTING, json.dumps(rows))
