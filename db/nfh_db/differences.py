"""How the answers to an anchor differ, pair by pair, kept beside the anchor's summary.

Annotators' pairs that differ in anything have a row each in `difference`. Adjudicators'
answers are compared apart from them: an anchor that two or more decided has one row in
`expert_difference`. An anchor that gold decides has a row in `gold_difference` for each
annotator who answered it. All follow the answers, and the gold, that are there now.
"""

from collections.abc import Sequence

from nfh_db.anchors import Summary, spaced
from nfh_db.connection import Connection
from nfh_models.domain import Blocking, ItemDisagreement

READ = """
SELECT anchor_id, left_id, right_id, blocking, notes FROM difference
WHERE anchor_id = :anchor ORDER BY left_id, right_id"""
DELETE = "DELETE FROM difference WHERE anchor_id = :anchor"
INSERT = """
INSERT INTO difference (anchor_id, left_id, right_id, blocking, notes)
VALUES (:anchor, :left, :right, :blocking, :notes)"""
READ_EXPERTS = "SELECT anchor_id, blocking FROM expert_difference WHERE anchor_id = :anchor"
DELETE_EXPERTS = "DELETE FROM expert_difference WHERE anchor_id = :anchor"
INSERT_EXPERTS = """
INSERT INTO expert_difference (anchor_id, blocking) VALUES (:anchor, :blocking)"""
READ_GOLD = """
SELECT anchor_id, annotator_id, blocking FROM gold_difference
WHERE anchor_id = :anchor ORDER BY annotator_id"""
DELETE_GOLD = "DELETE FROM gold_difference WHERE anchor_id = :anchor"
INSERT_GOLD = """
INSERT INTO gold_difference (anchor_id, annotator_id, blocking)
VALUES (:anchor, :annotator, :blocking)"""
ANNOTATORS = """
SELECT w.annotator_id FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id = :anchor AND w.role = 'annotator' AND n.type = 'person' AND w.removed = 0
ORDER BY n.name"""

Pair = tuple[int, int, int, str | None, str]
"""A row: anchor, the two annotators by ascending id, what blocks, and notes."""

Decided = tuple[int, str | None]
"""A row: anchor, and the strongest kind in which its adjudicators differ."""

Judged = tuple[int, int, str | None]
"""A row: anchor, annotator, and what blocks between that answer and gold."""


def pairs(anchor_id: int, people: Sequence[int], found: ItemDisagreement) -> list[Pair]:
    """The rows of one anchor, in the order of the key.

    people: annotators' ids, in the order in which their answers were compared.
    """
    rows = []
    for one in found.differences:
        left, right = sorted((people[one.left], people[one.right]))
        blocking = one.blocking.value if one.blocking else None
        rows.append((anchor_id, left, right, blocking, spaced(one.notes)))
    return sorted(rows, key=lambda row: row[:3])


def decided(anchor_id: int, found: ItemDisagreement | None) -> list[Decided]:
    """The row of an anchor that several adjudicators decided; none for another."""
    if found is None:
        return []
    return [(anchor_id, found.strongest.value if found.strongest else None)]


def judged(
    anchor_id: int, people: Sequence[int], by_gold: Sequence[Blocking | None] | None
) -> list[Judged]:
    """The rows of an anchor that gold decides, in the order of the key.

    people: annotators' ids, in the order in which their answers were compared.
    """
    if by_gold is None:
        return []
    found = zip(people, by_gold, strict=True)
    rows = [(anchor_id, who, kind.value if kind else None) for who, kind in found]
    return sorted(rows, key=lambda row: row[:2])


def write(connection: Connection, anchor_id: int, summary: Summary) -> None:
    """Make the rows of an anchor be those of a summary that was computed just now."""
    key = {"anchor": anchor_id}
    found = summary.disagreement
    people = (
        [row[0] for row in connection.execute(ANNOTATORS, key)]
        if found.differences or summary.by_gold is not None
        else []
    )
    wanted = pairs(anchor_id, people, found)
    if connection.execute(READ, key).fetchall() != wanted:
        connection.execute(DELETE, key)
        connection.executemany(INSERT, wanted)
    experts = decided(anchor_id, summary.experts)
    if connection.execute(READ_EXPERTS, key).fetchall() != experts:
        connection.execute(DELETE_EXPERTS, key)
        connection.executemany(INSERT_EXPERTS, experts)
    by_gold = judged(anchor_id, people, summary.by_gold)
    if connection.execute(READ_GOLD, key).fetchall() != by_gold:
        connection.execute(DELETE_GOLD, key)
        connection.executemany(INSERT_GOLD, by_gold)
