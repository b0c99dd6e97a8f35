"""What goes on beside the people: jobs that wait or run, and models that came into use.

Read every second by each screen that is open, so it is little.
"""

from dataclasses import dataclass

from nfh_db.activations import Activation
from nfh_db.connection import Connection
from nfh_db.jobs import JobState

CHANGES = """
SELECT a.id, a.task, a.model_id, m.name, a.before_id, b.name, a.who, a.reason, a.job_id, a.at
FROM activation AS a JOIN model AS m ON m.id = a.model_id
LEFT JOIN model AS b ON b.id = a.before_id
WHERE a.id > :after ORDER BY a.id"""
LAST = "SELECT coalesce(max(id), 0) FROM activation"
JOBS = """
SELECT id, kind, task, state, coalesce(json_extract(arguments, '$.recipe'), ''),
    coalesce(phase, ''), done, coalesce(total, 0)
FROM job WHERE state IN ('queued', 'running', 'interrupted') ORDER BY id"""
ACTIVE = """
SELECT id FROM model WHERE task IN ('resolution', 'both') AND state = 'active'
ORDER BY task = 'both', id DESC LIMIT 1"""
SAID = """
SELECT (SELECT count(*) FROM prediction),
    (SELECT total(margin) FROM prediction WHERE model_id = :model),
    (SELECT count(*) FROM identification), count(*), coalesce(max(job_id), 0) FROM doubt"""


@dataclass(frozen=True, slots=True)
class JobNow:
    """A job as it is now. recipe: of a training, else ""; total: 0 where it is not known."""

    id: int
    kind: str
    task: str
    state: JobState
    recipe: str = ""
    phase: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Pulse:
    """jobs: that wait or run, the oldest first. changes: of which model is used, those asked
    for. last: the number of the last change.
    """

    jobs: tuple[JobNow, ...] = ()
    changes: tuple[Activation, ...] = ()
    last: int = 0


def read(connection: Connection, after: int) -> Pulse:
    """What goes on, with the changes of models after the one of a number."""
    jobs = tuple(_job(*row) for row in connection.execute(JOBS))
    rows = connection.execute(CHANGES, {"after": after}).fetchall()
    last = connection.execute(LAST).fetchone()[0]
    return Pulse(jobs, tuple(Activation(*row) for row in rows), last)


def orders_version(connection: Connection) -> tuple[float, ...]:
    """Numbers that change whenever an order that models make may have.

    The active model of resolution, how much models have said, and which doubts there are.
    """
    row = connection.execute(ACTIVE).fetchone()
    model = 0 if row is None else row[0]
    found: tuple[float, ...] = connection.execute(SAID, {"model": model}).fetchone()
    return (model, *found)


def _job(
    id_: int,
    kind: str,
    task: str,
    state: str,
    recipe: object,
    phase: str,
    done: int,
    total: int,
) -> JobNow:
    named = recipe if isinstance(recipe, str) else ""
    return JobNow(id_, kind, task, JobState(state), named, phase, done, total)
