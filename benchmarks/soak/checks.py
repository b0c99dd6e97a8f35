"""Whether a database holds what it promises, looked at from outside the store."""

from collections.abc import Iterator
from pathlib import Path

from nfh_db.answers import recompute
from nfh_db.connection import Connection, connect
from nfh_db.doctor import examine
from nfh_db.event_log import present_state, replay

SUMMARIES = """
SELECT id, state, kind, heads, votes, strongest, blocking, notes, pattern
FROM anchor WHERE removed = 0 AND replaced_by IS NULL ORDER BY id"""
DIFFERENCES = "SELECT * FROM difference ORDER BY anchor_id, left_id, right_id"
UNFINISHED = "SELECT name, state FROM batch WHERE state <> 'ready'"
HEADLESS = """
SELECT 'answer', w.id FROM answer AS w WHERE w.kind = 'REFERENCE' AND NOT EXISTS
    (SELECT 1 FROM head AS h JOIN mention AS m ON m.head_id = h.id WHERE h.answer_id = w.id)
UNION ALL
SELECT 'gold', g.anchor_id FROM gold AS g WHERE g.kind = 'REFERENCE' AND NOT EXISTS
    (SELECT 1 FROM head AS h JOIN mention AS m ON m.head_id = h.id
     WHERE h.gold_id = g.anchor_id)"""
EMPTY_HEADS = """
SELECT id FROM head AS h WHERE NOT EXISTS (SELECT 1 FROM mention WHERE head_id = h.id)"""
# Of bulk acts nothing may be left: each change whose item somebody changed since is skipped.
EMPTY_ACTS = """
SELECT id, kind, summary FROM act AS c
WHERE batch_id IS NULL AND kind NOT IN ('import', 'merge')
    AND NOT EXISTS (SELECT 1 FROM event WHERE act_id = c.id)"""


def faults(path: Path, *, summaries: bool = True) -> list[str]:
    """Every broken promise of a database that nobody has open, in a sentence each.

    summaries: whether each is computed anew and the doctor asked, which takes longest.
    """
    reader = connect(path, "ro")
    try:
        found = list(_read_faults(reader))
    finally:
        reader.close()
    if not found and summaries:
        found = [*_summary_faults(path), *doctor_says(path)]
    return found


def doctor_says(path: Path) -> list[str]:
    """What `nfh-tui doctor` finds."""
    return [str(finding) for finding in examine(path).findings]


def _read_faults(reader: Connection) -> Iterator[str]:
    yield from _table_faults(reader)
    replayed, there = replay(reader), present_state(reader)
    if replayed.broken:
        yield f"events {replayed.broken[:9]} do not begin where the log was"
    for key in sorted(replayed.state.keys() | there.keys(), key=str):
        if replayed.state.get(key) != there.get(key):
            yield f"{key}: the log says {replayed.state.get(key)}, the table {there.get(key)}"


def _table_faults(reader: Connection) -> Iterator[str]:
    for (what,) in reader.execute("PRAGMA integrity_check"):
        if what != "ok":
            yield f"SQLite: {what}"
    for row in reader.execute("PRAGMA foreign_key_check"):
        yield f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is not there"
    for name, state in reader.execute(UNFINISHED):
        yield f"the import of {name} is still {state}"
    for table, id_ in reader.execute(HEADLESS):
        yield f"{table} {id_} is a REFERENCE without a mention"
    for (id_,) in reader.execute(EMPTY_HEADS):
        yield f"head {id_} has no mention"
    for id_, kind, summary in reader.execute(EMPTY_ACTS):
        yield f"act {id_} ({kind}, {summary}) has no event"


def _summary_faults(path: Path) -> Iterator[str]:
    writer = connect(path, "rw")
    try:
        writer.execute("BEGIN IMMEDIATE")
        before = [writer.execute(sql).fetchall() for sql in (SUMMARIES, DIFFERENCES)]
        for row in before[0]:
            recompute(writer, row[0])
        after = [writer.execute(sql).fetchall() for sql in (SUMMARIES, DIFFERENCES)]
        writer.execute("ROLLBACK")
    finally:
        writer.close()
    for what, old, new in zip(("summary", "differences"), before, after, strict=True):
        for row in sorted(set(old) ^ set(new))[:5]:
            where = "stored" if row in old else "computed anew"
            yield f"the {what} of an anchor is not what its answers make of it: {where} {row}"
