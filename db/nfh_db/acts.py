"""The log: acts, which one undo takes back, and their events, which say what changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_db.connection import Connection
from nfh_db.records import HistoryLine

INSERT = """
INSERT INTO act (annotator_id, kind, summary, target, batch_id, acted_at)
VALUES (:annotator, :kind, :summary, :target, :batch, :at) RETURNING id"""
LAST_EVENT = "SELECT coalesce(max(id), 0) FROM event"
INSERT_EVENT = """
INSERT INTO event (act_id, entity, anchor_id, annotator_id, name, before, after)
VALUES (:act, :entity, :anchor, :annotator, :name, :before, :after)"""
READ_EVENTS = """
SELECT id, entity, anchor_id, annotator_id, name, before, after
FROM event WHERE act_id = :act ORDER BY id"""
NEWEST_DONE = """
SELECT id, summary FROM act
WHERE annotator_id = :me AND undone = 0 AND kind = 'do' ORDER BY id DESC LIMIT 1"""
LAST_DONE = """
SELECT id FROM act WHERE annotator_id = :me AND undone = :undone AND kind = 'do'
ORDER BY id DESC LIMIT 1"""
# What was undone before the person's last act is cut off, for good.
OLDEST_UNDONE = """
SELECT c.id, c.summary FROM act AS u JOIN act AS c ON c.id = u.target
WHERE u.annotator_id = :me AND u.undone = 0 AND u.kind = 'undo' AND u.id > :last
    AND c.undone = 1
ORDER BY c.id LIMIT 1"""
SET_UNDONE = "UPDATE act SET undone = :undone WHERE id = :id"
CHANGED_BY = """
SELECT n.name, c.acted_at FROM event AS e
JOIN act AS c ON c.id = e.act_id LEFT JOIN annotator AS n ON n.id = c.annotator_id
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id = :anchor AND e.id > :event AND e.entity = :entity AND e.name = :name
    AND e.annotator_id IS :annotator AND coalesce(b.state, '') <> 'loading'
ORDER BY e.id DESC LIMIT 1"""
DECIDED_AFTER = """
SELECT e.id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after,
    n.name, c.acted_at
FROM event AS e JOIN act AS c ON c.id = e.act_id
LEFT JOIN annotator AS n ON n.id = c.annotator_id
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id = :anchor AND e.id > :event AND e.entity IN ('answer', 'gold')
    AND e.after IS NOT NULL AND coalesce(b.state, '') <> 'loading'
ORDER BY e.id DESC"""
HISTORY = """
SELECT c.acted_at, n.name,
    CASE c.kind WHEN 'undo' THEN 'undo: ' WHEN 'redo' THEN 'redo: ' ELSE '' END || c.summary,
    e.entity,
    coalesce(CASE e.entity WHEN 'flag' THEN e.name ELSE w.name END, e.name), e.before, e.after,
    c.kind
FROM event AS e JOIN act AS c ON c.id = e.act_id
LEFT JOIN annotator AS n ON n.id = c.annotator_id
LEFT JOIN annotator AS w ON w.id = e.annotator_id
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id = :anchor AND coalesce(b.state, '') <> 'loading'
ORDER BY e.id"""


@dataclass(frozen=True, slots=True)
class Event:
    """One change: of whose what, from and to. before, after: JSON, None for absent.

    annotator_id: whose answer or flag; None for a gold or an anchor.
    name: the role of an answer, the name of a flag, else "".
    """

    id: int
    entity: str
    anchor_id: int
    annotator_id: int | None
    name: str
    before: str | None
    after: str | None


def add(
    connection: Connection,
    annotator_id: int | None,
    kind: str,
    summary: str,
    at: str,
    *,
    target: int | None = None,
    batch: int | None = None,
) -> int:
    """A new act's id. target: the act that an undo or redo is about."""
    act_id: int = connection.execute(
        INSERT,
        {
            "annotator": annotator_id,
            "kind": kind,
            "summary": summary,
            "target": target,
            "batch": batch,
            "at": at,
        },
    ).fetchone()[0]
    return act_id


def record(
    connection: Connection,
    act_id: int,
    entity: str,
    anchor_id: int,
    annotator_id: int | None,
    name: str,
    before: str | None,
    after: str | None,
) -> None:
    """Add an event to an act."""
    connection.execute(
        INSERT_EVENT, (act_id, entity, anchor_id, annotator_id, name, before, after)
    )


def record_all(
    connection: Connection, rows: Sequence[tuple[object, ...]]
) -> tuple[int, int] | None:
    """Add events, columns in the table's order; the first and the last id, None for none."""
    if not rows:
        return None
    first = connection.execute(LAST_EVENT).fetchone()[0] + 1
    connection.executemany(INSERT_EVENT, rows)
    return first, connection.execute(LAST_EVENT).fetchone()[0]


def events(connection: Connection, act_id: int) -> Sequence[Event]:
    """The events of an act, in the order in which they happened."""
    return [Event(*row) for row in connection.execute(READ_EVENTS, {"act": act_id})]


def newest_done(connection: Connection, annotator_id: int) -> tuple[int, str] | None:
    """Id and summary of the act that this person's next undo takes back."""
    row: tuple[int, str] | None = connection.execute(
        NEWEST_DONE, {"me": annotator_id}
    ).fetchone()
    return row


def oldest_undone(connection: Connection, annotator_id: int) -> tuple[int, str] | None:
    """Id and summary of the act that this person's next redo does again."""
    last = 0
    for undone in (0, 1):
        done = connection.execute(LAST_DONE, {"me": annotator_id, "undone": undone}).fetchone()
        last = max(last, done[0] if done else 0)
    row: tuple[int, str] | None = connection.execute(
        OLDEST_UNDONE, {"me": annotator_id, "last": last}
    ).fetchone()
    return row


def set_undone(connection: Connection, act_id: int, *, undone: bool) -> None:
    """Mark an act as taken back, or as done again."""
    connection.execute(SET_UNDONE, {"id": act_id, "undone": int(undone)})


def changed_by(connection: Connection, event: Event) -> tuple[str | None, str] | None:
    """Who changed the thing of an event last after it, and when; None if the log has nobody."""
    row: tuple[str | None, str] | None = connection.execute(
        CHANGED_BY,
        {
            "anchor": event.anchor_id,
            "event": event.id,
            "entity": event.entity,
            "name": event.name,
            "annotator": event.annotator_id,
        },
    ).fetchone()
    return row


def decided_after(
    connection: Connection, event: Event
) -> Sequence[tuple[Event, str | None, str]]:
    """Later answers and golds of an event's anchor, newest first, with who and when."""
    rows = connection.execute(DECIDED_AFTER, {"anchor": event.anchor_id, "event": event.id})
    return [(Event(*row[:7]), row[7], row[8]) for row in rows]


def history(connection: Connection, anchor_id: int) -> tuple[HistoryLine, ...]:
    """All changes of an anchor, oldest first."""
    return tuple(
        HistoryLine(*row) for row in connection.execute(HISTORY, {"anchor": anchor_id})
    )
