"""Flags: one person's marks on an anchor."""

from collections.abc import Sequence

from nfh_db.connection import Connection
from nfh_db.records import FlagMark, FlagName
from nfh_db.values import FlagValue, json_of
from nfh_models.domain import Anchor

READ_OF_ANCHORS = """
SELECT f.anchor_id, f.name, n.name, f.flagged_at, f.start, f.stop
FROM flag AS f JOIN annotator AS n ON n.id = f.annotator_id
WHERE f.anchor_id IN (SELECT value FROM json_each(:ids)) AND f.removed = 0
ORDER BY f.anchor_id, f.name, n.name"""
READ_ONE = """
SELECT flagged_at, batch_id, start, stop FROM flag
WHERE anchor_id = :anchor AND annotator_id = :annotator AND name = :name AND removed = 0"""
UPSERT = """
INSERT INTO flag (anchor_id, annotator_id, name, batch_id, flagged_at, start, stop)
VALUES (:anchor, :annotator, :name, :batch, :at, :start, :stop)
ON CONFLICT (anchor_id, annotator_id, name) DO UPDATE SET
    batch_id = excluded.batch_id, flagged_at = excluded.flagged_at,
    start = excluded.start, stop = excluded.stop, removed = 0"""
INSERT = """
INSERT INTO flag (anchor_id, annotator_id, name, batch_id, flagged_at, start, stop)
VALUES (:anchor, :annotator, :name, :batch, :at, :start, :stop)"""
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
    return None if row is None else value_of(*row)


def value_of(at: str, batch: int | None, start: int | None, stop: int | None) -> FlagValue:
    """A flag from its columns."""
    return FlagValue(at, batch, None if start is None or stop is None else (start, stop))


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
        start, stop = value.span or (None, None)
        row = {"batch": value.batch, "at": value.at, "start": start, "stop": stop}
        connection.execute(UPSERT, key | row)


def marks(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[FlagMark]]:
    """The flags that are set, by anchor id, each list by flag and person."""
    found: dict[int, list[FlagMark]] = {}
    for anchor_id, name, annotator, at, start, stop in connection.execute(
        READ_OF_ANCHORS, {"ids": json_of(list(anchor_ids))}
    ):
        span = None if start is None or stop is None else Anchor(start, stop)
        found.setdefault(anchor_id, []).append(FlagMark(FlagName(name), annotator, at, span))
    return found
