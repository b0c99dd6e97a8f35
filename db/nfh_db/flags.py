"""Flags: one person's marks on an anchor."""

from collections.abc import Sequence

from nfh_db.connection import Connection
from nfh_db.records import FlagMark, FlagName
from nfh_db.values import FlagValue, json_of

READ_OF_ANCHORS = """
SELECT f.anchor_id, f.name, n.name, f.flagged_at
FROM flag AS f JOIN annotator AS n ON n.id = f.annotator_id
WHERE f.anchor_id IN (SELECT value FROM json_each(:ids)) AND f.removed = 0
ORDER BY f.anchor_id, f.name, n.name"""
READ_ONE = """
SELECT flagged_at, batch_id FROM flag
WHERE anchor_id = :anchor AND annotator_id = :annotator AND name = :name AND removed = 0"""
UPSERT = """
INSERT INTO flag (anchor_id, annotator_id, name, batch_id, flagged_at)
VALUES (:anchor, :annotator, :name, :batch, :at)
ON CONFLICT (anchor_id, annotator_id, name) DO UPDATE SET
    batch_id = excluded.batch_id, flagged_at = excluded.flagged_at, removed = 0"""
INSERT = """
INSERT INTO flag (anchor_id, annotator_id, name, batch_id, flagged_at)
VALUES (:anchor, :annotator, :name, :batch, :at)"""
REMOVE = """
UPDATE flag SET removed = 1
WHERE anchor_id = :anchor AND annotator_id = :annotator AND name = :name"""


def read(
    connection: Connection, anchor_id: int, annotator_id: int, name: str
) -> FlagValue | None:
    """Somebody's flag, if it is set."""
    row = connection.execute(
        READ_ONE, {"anchor": anchor_id, "annotator": annotator_id, "name": name}
    ).fetchone()
    return None if row is None else FlagValue(at=row[0], batch=row[1])


def write(
    connection: Connection,
    anchor_id: int,
    annotator_id: int,
    name: str,
    value: FlagValue | None,
) -> None:
    """Set somebody's flag to `value`; None marks it removed."""
    key = {"anchor": anchor_id, "annotator": annotator_id, "name": name}
    if value is None:
        connection.execute(REMOVE, key)
    else:
        connection.execute(UPSERT, key | {"batch": value.batch, "at": value.at})


def marks(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[FlagMark]]:
    """The flags that are set, by anchor id, each list by flag and person."""
    found: dict[int, list[FlagMark]] = {}
    for anchor_id, name, annotator, at in connection.execute(
        READ_OF_ANCHORS, {"ids": json_of(list(anchor_ids))}
    ):
        found.setdefault(anchor_id, []).append(FlagMark(FlagName(name), annotator, at))
    return found
