"""How far people are with what they were given, and what they seem to have abandoned."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nfh_db import clock
from nfh_db.connection import Connection
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Role

PEOPLE = """
SELECT n.name, s.role, s.annotator_id,
    sum(s.state <> 'returned'), sum(s.state = 'done'), sum(s.state = 'open'),
    sum(s.state = 'returned'),
    sum(s.purpose = 'check' AND s.state <> 'returned'),
    sum(s.purpose = 'check' AND s.state = 'done'),
    sum(s.purpose = 'check' AND s.state = 'done' AND s.verdict = 'right'),
    sum(s.state = 'open' AND s.purpose <> 'audit' AND s.assigned_at <= :before)
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
WHERE s.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where})
GROUP BY s.annotator_id, s.role ORDER BY n.name, s.role"""
LAST_DONE = """
SELECT annotator_id, role, max(finished_at) FROM assignment
WHERE state = 'done' GROUP BY annotator_id, role"""
# An audit is a sample: it is drawn anew, not given to somebody else.
OPEN = """
SELECT s.id, n.name, s.annotator_id, s.role
FROM assignment AS s JOIN annotator AS n ON n.id = s.annotator_id
WHERE s.state = 'open' AND s.purpose <> 'audit' AND s.assigned_at <= :before
    AND s.anchor_id IN (SELECT a.id FROM anchor AS a WHERE {where})
ORDER BY n.name, s.id"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one person is in one role.

    assigned: given and not returned, so done or open. checks: hidden ones among these;
    checks_done of them are answered, and checks_right so that nothing blocks. last: when
    something given was finished last. abandoned: open for too long.
    """

    name: str
    role: Role
    assigned: int
    done: int
    open: int
    returned: int
    checks: int
    checks_done: int
    checks_right: int
    last: str | None
    abandoned: int


def days_ago(days: float) -> str:
    """The time so many days before now, as the store writes it."""
    past = datetime.fromisoformat(clock.now()) - timedelta(days=days)
    return past.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def everybody(
    connection: Connection, query: Query, me_id: int, before: str
) -> tuple[Progress, ...]:
    """Everybody who was given any of the anchors of a query, by name and role."""
    last = _last_done(connection)
    compiled = compile_query(query, me_id)
    statement = PEOPLE.format(where=compiled.where)
    rows = connection.execute(statement, compiled.parameters | {"before": before})
    found = []
    for name, role, person, *counts, waiting in rows:
        at = last.get((person, role))
        gone = waiting if (at or "") <= before else 0
        found.append(Progress(*(name, Role(role), *counts, at, gone)))
    return tuple(found)


def _last_done(connection: Connection) -> dict[tuple[int, str], str]:
    return {(person, role): at for person, role, at in connection.execute(LAST_DONE)}


def abandoned(
    connection: Connection, query: Query, me_id: int, before: str, name: str | None = None
) -> dict[str, list[int]]:
    """Assignments given before a time to people who finished nothing since, by name.

    name: of this person only.
    """
    last = _last_done(connection)
    compiled = compile_query(query, me_id)
    statement = OPEN.format(where=compiled.where)
    found: dict[str, list[int]] = {}
    for id_, who, person, role in connection.execute(
        statement, compiled.parameters | {"before": before}
    ):
        if name in (None, who) and last.get((person, role), "") <= before:
            found.setdefault(who, []).append(id_)
    return found
