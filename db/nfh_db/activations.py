"""Which model came to be the one that a task uses: when, in place of which, and why.

Every change of it is noted, whoever makes it, one row a task. Going back follows these rows:
each task has a pile of the models that it used, the one in use on top. Going back takes from
it, any other change puts a model on it. So going back twice goes back by two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from nfh_db import clock
from nfh_db.connection import Connection

BACK = "went back"
"""The reason of whoever goes back, by which the rows are told from others."""

SINGLE_TASKS = ("identification", "resolution")

# A model of one task goes before one of both, which may be active for the other task alone.
ACTIVE = """
SELECT id, name FROM model
WHERE task IN (:task, 'both') AND state = 'active' ORDER BY task = 'both', id DESC LIMIT 1"""
INSERT = """
INSERT INTO activation (task, model_id, before_id, who, reason, job_id, at)
VALUES (:task, :model, :before, :who, :reason, :job, :at)"""
READ = """
SELECT a.id, a.task, a.model_id, m.name, a.before_id, b.name, a.who, a.reason, a.job_id, a.at
FROM activation AS a JOIN model AS m ON m.id = a.model_id
LEFT JOIN model AS b ON b.id = a.before_id
ORDER BY a.id"""


@dataclass(frozen=True, slots=True)
class Because:
    """Who changed which model is used, and why. job: the training that did it by itself."""

    who: str = ""
    reason: str = ""
    job: int | None = None


@dataclass(frozen=True, slots=True)
class Activation:
    """A model that came to be the one that a task uses. before: None where there was none."""

    id: int
    task: str
    model_id: int
    model: str
    before_id: int | None
    before: str | None
    who: str
    reason: str
    job: int | None
    at: str


def active(connection: Connection, task: str) -> tuple[int, str] | None:
    """Id and name of the model that a task uses."""
    row: tuple[int, str] | None = connection.execute(ACTIVE, {"task": task}).fetchone()
    return row


@contextmanager
def noted(connection: Connection, because: Because | None = None) -> Iterator[None]:
    """Note which tasks use another model than before, in the transaction there is."""
    before = _in_use(connection)
    yield
    after = _in_use(connection)
    why, at = because or Because(), clock.now()
    rows = [
        {
            "task": task,
            "model": after[task],
            "before": before[task],
            "who": why.who,
            "reason": why.reason,
            "job": why.job,
            "at": at,
        }
        for task in SINGLE_TASKS
        if after[task] is not None and after[task] != before[task]
    ]
    connection.executemany(INSERT, rows)


def _in_use(connection: Connection) -> dict[str, int | None]:
    found = {task: active(connection, task) for task in SINGLE_TASKS}
    return {task: None if one is None else one[0] for task, one in found.items()}


def read_all(connection: Connection) -> tuple[Activation, ...]:
    """All of them, the oldest first."""
    return tuple(Activation(*row) for row in connection.execute(READ))


# --- the way back -----------------------------------------------------------------------------


def piles(told: Iterable[Activation]) -> Mapping[str, Sequence[Activation]]:
    """The changes of each task that nobody has gone back on, in order; see the module."""
    found: dict[str, list[Activation]] = {task: [] for task in SINGLE_TASKS}
    for one in told:
        pile = found[one.task]
        if one.reason != BACK:
            pile.append(one)
            continue
        while pile and pile[-1].model_id != one.model_id:
            pile.pop()
    return found


def last_changed(told: Iterable[Activation]) -> tuple[str, ...]:
    """The tasks of the last change that nobody has gone back on, and that was not the first of
    its task: both, where both changed at once."""
    tops = [pile[-1] for pile in piles(told).values() if pile]
    from_another = [one for one in tops if one.before_id is not None]
    if not from_another:
        return ()
    last = max(from_another, key=lambda one: one.id)
    # Two changes may be made within a millisecond; one change brings one model.
    same = ((one.task, (one.model_id, one.at)) for one in from_another)
    return tuple(task for task, change in same if change == (last.model_id, last.at))


def earlier(pile: Sequence[Activation]) -> Iterator[int]:
    """The models that a task used before, by number, the last one first; of one pile."""
    for one in reversed(pile):
        if one.before_id is not None:
            yield one.before_id
