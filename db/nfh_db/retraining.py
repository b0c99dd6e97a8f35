"""Trainings that come round: one after every so many decisions, for each task that wants it.

A decision is an anchor that got gold by a person or by a settlement, and still has that act in
force; what files brought is not counted. Counted is from the place in the log where the last
training of the task began, whoever asked for that one and whenever the number was set; where
none has begun yet, from when it was set.
"""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nfh_db import acts, jobs, settings
from nfh_db.connection import Connection
from nfh_db.job_marks import Marks
from nfh_db.jobs import IN_PLACE, MARKED, TRAIN, NewJob

SETTING = "retrain every"

ORDER = "every"
"""The sort of order that a mark is of."""

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
NOT_ENDED = f"""
SELECT j.state = 'running' OR j.version = {IN_PLACE}, {MARKED} FROM job AS j
WHERE j.kind = :kind AND j.task = :task AND j.state IN ('queued', 'running', 'interrupted')
ORDER BY j.id"""  # noqa: S608 - of columns' names


@dataclass(frozen=True, slots=True)
class Every:
    """A training that comes round.

    number: of decisions from one to the next. version, arguments: of the job. since: the last
    event of the log that is not counted. job: the last training that was seen to begin.
    count: decisions since, at most `number` of them; not stored. held_by: the job, a training
    of this task, that has to end before another is queued; 0 for none; not stored. mark: of
    the installation that set it. own: whether that is this user's; not stored.
    """

    task: str
    number: int
    version: int
    arguments: Mapping[str, object]
    since: int = 0
    job: int = 0
    count: int = field(default=0, compare=False)
    held_by: int = field(default=0, compare=False)
    mark: str = ""
    own: bool = field(default=True, compare=False)

    @property
    def new(self) -> NewJob:
        """The job that is queued each time."""
        return NewJob(
            TRAIN, self.version, self.task, self.arguments,
            ASKED_BY.format(number=self.number),
        )  # fmt: skip

    @property
    def due(self) -> bool:
        """Whether there are decisions enough, for a training that this user's installation set.

        What somebody else set, as in a database that was sent, queues nothing here.
        """
        return self.own and self.count >= self.number


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
    """Set what comes round for a task; None: nothing does.

    Counted is from the last training of the task, as before where something was set. Raises
    StoreError where no mark can be made.
    """
    found = read(connection)
    kept = [one for one in found if one.task != task]
    if new is not None:
        before = next((one for one in found if one.task == task), None)
        since, job = _from_the_last(connection, task, before)
        set_now = Every(task, number, new.version, new.arguments, since, job)
        mark = Marks.to_make(connection).mark(ORDER, *_order_of(set_now))
        kept.append(replace(set_now, mark=mark))
    _store(connection, kept)


def queue_due(connection: Connection, held: Container[str] = ()) -> tuple[int, ...]:
    """Queue what is due, in the transaction there is; the numbers of the new jobs.

    A task of which a training waits or runs gets no second one. What has come round is counted
    from now on. held: tasks of which nothing is queued, since there is nothing to learn yet.
    """
    found = read(connection)
    queued, kept = [], []
    for one in found:
        if one.due and not one.held_by and one.task not in held:
            queued.append(jobs.add(connection, one.new))
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
    blocked = any(one.held_by for one in due)
    free = any(not one.held_by for one in due)
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
    count = connection.execute(DECISIONS, asked).fetchone()[0]
    return replace(one, count=count, held_by=_under_way(connection, one.task))


def _from_the_last(connection: Connection, task: str, before: Every | None) -> tuple[int, int]:
    """The event up to which nothing is counted, and the training that began there.

    before: what is set now. It was noted while the clock could be trusted.
    """
    if before is not None:
        return before.since, before.job
    begun = _last_begun(connection, task, 0)
    if begun is None:
        return connection.execute(acts.LAST_EVENT).fetchone()[0], 0
    job, at = begun
    row = connection.execute(EVENTS_BEFORE, {"at": at}).fetchone()
    return (0 if row is None else row[0]), job


def _last_begun(connection: Connection, task: str, after: int) -> tuple[int, str] | None:
    asked = {"kind": TRAIN, "task": task, "after": after}
    row: tuple[int, str] | None = connection.execute(LAST_BEGUN, asked).fetchone()
    return row


def _under_way(connection: Connection, task: str) -> int:
    """The oldest training of a task that has not ended; 0 for none.

    A foreign one that waits is none: nobody knows when it will end.
    """
    asked = {"kind": TRAIN, "task": task}
    marks = Marks.to_read(connection)
    for goes_on, mark, job_id, *rest in connection.execute(NOT_ENDED, asked):
        if goes_on or jobs.is_own(marks, mark, job_id, *rest):
            return int(job_id)
    return 0


def _stored(connection: Connection) -> tuple[Every, ...]:
    """What is set; nothing where that cannot be read, e.g. since a newer program wrote it."""
    text = settings.read(connection, SETTING)
    try:
        rows = json.loads(text) if text else []
    except json.JSONDecodeError:
        return ()
    found = (_every(row) for row in rows) if isinstance(rows, list) else ()
    marks = Marks.to_read(connection)
    return tuple(
        replace(one, own=marks.knows(one.mark, ORDER, *_order_of(one)))
        for one in found
        if one is not None
    )


def _order_of(one: Every) -> tuple[object, ...]:
    """What its mark is made of: all that was asked for."""
    return one.task, one.number, one.version, json.dumps(one.arguments, sort_keys=True)


def _every(row: object) -> Every | None:
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
            return Every(
                task, number, version, arguments, since, job,
                mark=mark if isinstance(mark, str) else "",
            )  # fmt: skip
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
            "mark": one.mark,
        }
        for one in found
    ]
    settings.write(connection, SETTING, json.dumps(rows))
