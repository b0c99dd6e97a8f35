"""Hidden checks: anchors whose gold is known, to be answered like any other."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from random import Random

from nfh_db import gold
from nfh_db.anchors import VISIBLE
from nfh_db.connection import Connection
from nfh_db.records import Annotator
from nfh_db.values import encode

# NFH is no full answer: it leaves the anchor open.
KNOWN = f"""
SELECT g.anchor_id, n.name
FROM gold AS g JOIN anchor AS a ON a.id = g.anchor_id
LEFT JOIN annotator AS n ON n.id = g.annotator_id
WHERE g.removed = 0 AND g.rule IN ('expert', 'imported') AND g.kind <> 'NFH' AND {VISIBLE}
ORDER BY g.anchor_id"""  # noqa: S608 - made of constants
ANSWERED = "SELECT anchor_id FROM answer WHERE annotator_id = :person AND removed = 0"
GIVEN = """
SELECT anchor_id, purpose, state, position FROM assignment
WHERE annotator_id = :person AND role = 'annotator' AND state <> 'returned'"""


@dataclass(frozen=True, slots=True)
class Standing:
    """What somebody has been given as an annotator. positions: of what is open."""

    work: int
    checks: int
    positions: tuple[int, ...]


def known_golds(connection: Connection) -> dict[int, str | None]:
    """The anchors whose gold can be counted on, each with the name of who decided it."""
    return dict(connection.execute(KNOWN).fetchall())


def standing(connection: Connection, person_id: int) -> Standing:
    """What somebody has, done or open."""
    rows = connection.execute(GIVEN, {"person": person_id}).fetchall()
    return Standing(
        sum(purpose == "work" for _, purpose, _, _ in rows),
        sum(purpose == "check" for _, purpose, _, _ in rows),
        tuple(position for _, _, state, position in rows if state == "open"),
    )


def draw(
    connection: Connection,
    golds: Mapping[int, str | None],
    person: Annotator,
    taken: Container[int],
    count: int,
    source: Random,
) -> list[tuple[int, str]]:
    """So many anchors, or all there are, with their gold as the log keeps it, at random.

    None that the person answered in any role, decided, has been given, or is given now
    (`taken`): nobody is checked by what they said themselves.
    """
    key = {"person": person.id}
    seen = {row[0] for row in connection.execute(ANSWERED, key)}
    seen.update(row[0] for row in connection.execute(GIVEN, key))
    could = [
        anchor
        for anchor, by in golds.items()
        if by != person.name and anchor not in seen and anchor not in taken
    ]
    drawn = source.sample(could, max(0, min(count, len(could))))
    values = gold.read_all(connection, drawn)
    return [(anchor, encode(values[anchor]) or "") for anchor in drawn]
