"""Clearing a merge away that was not shown, in short writes: its rows were seen by nobody."""

from nfh_db import sweep
from nfh_db.batches import Work
from nfh_db.connection import Connection
from nfh_db.merge.notes import Note
from nfh_db.merge.writing import Writes
from nfh_db.values import json_of

STAND_INS = "SELECT id FROM act WHERE batch_id = :batch AND kind = 'merge' AND id <> :own"
EVENTS = """
SELECT id FROM event WHERE act_id IN (SELECT value FROM json_each(:acts)) LIMIT :limit"""
DELETE_EVENTS = "DELETE FROM event WHERE id IN (SELECT value FROM json_each(:ids))"
DELETE_ACTS = "DELETE FROM act WHERE id IN (SELECT value FROM json_each(:ids))"
IMPORT_ACT = "SELECT id FROM act WHERE batch_id = :batch AND kind = 'import'"
# Somebody may have made an anchor of the very span meanwhile, or a file's row names it.
DELETE_MADE = """
DELETE FROM anchor WHERE id IN (SELECT value FROM json_each(:ids)) AND removed = 1
    AND NOT EXISTS (SELECT 1 FROM event WHERE anchor_id = anchor.id)
    AND NOT EXISTS (SELECT 1 FROM source_row WHERE anchor_id = anchor.id)"""

AT_ONCE = 200


def sweep_all(connection: Connection, batch_id: int, note: Note) -> None:
    """Delete all that a merge wrote, and before it the imports that came with it."""
    for batch in note.imports:
        row = connection.execute(IMPORT_ACT, {"batch": batch}).fetchone()
        sweep.run(connection, batch, Work(act=row[0] if row else 0))
    writes = Writes(connection)
    key = {"batch": batch_id, "own": note.act}
    stand_ins = [row[0] for row in connection.execute(STAND_INS, key)]
    for first in range(0, len(stand_ins), AT_ONCE):
        some = stand_ins[first : first + AT_ONCE]
        while _delete_events(writes, connection, some):
            pass
        with writes.one():
            connection.execute(DELETE_ACTS, {"ids": json_of(some)})
    with writes.one():
        forget_unmade(connection, note)
    sweep.run(connection, batch_id, Work(act=note.act, annotators=note.annotators))


def forget_unmade(connection: Connection, note: Note) -> None:
    """Delete the rows of spans that people made there and whose making did not come in."""
    connection.execute(DELETE_MADE, {"ids": json_of(note.made)})


def _delete_events(writes: Writes, connection: Connection, act_ids: list[int]) -> bool:
    with writes.one():
        key = {"acts": json_of(act_ids), "limit": AT_ONCE}
        ids = [row[0] for row in connection.execute(EVENTS, key)]
        if ids:
            connection.execute(DELETE_EVENTS, {"ids": json_of(ids)})
    return bool(ids)
