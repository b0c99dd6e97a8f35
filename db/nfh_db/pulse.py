"""What goes on beside the people: jobs that wait or run, and models that came into use.

Read every second by each screen that is open, so it is little.
"""

from dataclasses import dataclass

from nfh_db.activations import Activation
from nfh_db.connection import Connection
from nfh_db.job_marks import Marks
from nfh_db.jobs import IN_PLACE, MARKED, JobState, is_own

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
    """jobs: that wait or run, the oldest first; no foreign ones that wait. changes: of which
    model is used, those asked for. last: the number of the last change.
    """

    jobs: tuple[JobNow, ...] = ()
    changes: tuple[Activation, ...] = ()
    last: int = 0


def read(connection: Connection, after: int) -> Pulse:
    """What goes on, with the changes of models after the one of a number."""
    marks = Marks.to_read(connection)
    told = (_job(marks, *row) for row in connection.execute(JOBS))
    jobs = tuple(job for job in told if job is not None)
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
    marks: Marks,
    mark: str,
    id_: int,
    created_at: str,
    kind: str,
    version: int,
    task: str,
    asked_by: str,
    arguments: str,
    state: str,
    recipe: object,
    phase: str,
    done: int,
    total: int,
) -> JobNow | None:
    """A job as it is now; None for a foreign one that no runner of this user will take."""
    asked = (id_, created_at, kind, version, task, asked_by, arguments)
    own = version == IN_PLACE or is_own(marks, mark, *asked)
    if not own and state != JobState.RUNNING:
        return None
    named = recipe if isinstance(recipe, str) else ""
    return JobNow(id_, kind, task, JobState(state), named, phase, done, total)
