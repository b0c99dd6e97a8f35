"""The log: acts, which one undo takes back, and their events, which say what changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_db.connection import Connection
from nfh_db.values import json_of

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
READ_SOME = """
SELECT id, entity, anchor_id, annotator_id, name, before, after
FROM event WHERE act_id = :act AND id BETWEEN :first AND :last ORDER BY id LIMIT :limit"""
FORGET = "DELETE FROM event WHERE id IN (SELECT value FROM json_each(:ids))"
OVERTAKEN = """
SELECT e.id FROM event AS e
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND EXISTS
    (SELECT 1 FROM event AS n
     WHERE n.anchor_id = e.anchor_id AND n.id > e.id AND n.act_id <> e.act_id)
ORDER BY e.id"""
MOVE_TO_END = "UPDATE event SET id = (SELECT max(id) FROM event) + 1 WHERE id = :id"
# A settlement that is being written is seen by nobody, and so undone by nobody.
DONE = """
    annotator_id = :me AND undone = :undone AND (kind = 'do' OR kind = 'settle' AND NOT EXISTS
        (SELECT 1 FROM batch AS b WHERE b.id = batch_id AND b.state = 'loading'))"""
LAST_DONE = f"""
SELECT id, summary, kind FROM act WHERE {DONE}
ORDER BY id DESC LIMIT 1"""  # noqa: S608 - made of constants
# What was undone before the person's last act is cut off, for good.
OLDEST_UNDONE = """
SELECT c.id, c.summary, c.kind FROM act AS u JOIN act AS c ON c.id = u.target
WHERE u.annotator_id = :me AND u.undone = 0 AND u.kind = 'undo' AND u.id > :last
    AND c.undone = 1
ORDER BY c.id LIMIT 1"""
BEYOND_OWN = """
SELECT EXISTS (SELECT 1 FROM event WHERE act_id = :act AND NOT
    (annotator_id IS :me AND (entity = 'flag' OR entity = 'answer' AND name = :role)))"""
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


@dataclass(frozen=True, slots=True)
class Done:
    """An act that can be taken back, or done again. bulk: it is done in many writes."""

    id: int
    summary: str
    kind: str

    @property
    def bulk(self) -> bool:
        """True for a settlement."""
        return self.kind == "settle"


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


def beyond_own(connection: Connection, act_id: int, me: int, role: str) -> bool:
    """True if an act changed more than this person's flags, and answers in this role."""
    return bool(
        connection.execute(BEYOND_OWN, {"act": act_id, "me": me, "role": role}).fetchone()[0]
    )


def events(connection: Connection, act_id: int) -> Sequence[Event]:
    """The events of an act, in the order in which they happened."""
    return [Event(*row) for row in connection.execute(READ_EVENTS, {"act": act_id})]


def some_events(
    connection: Connection, act_id: int, first: int, last: int, limit: int
) -> Sequence[Event]:
    """Events of an act with ids from `first` to `last`, the first `limit` of them."""
    key = {"act": act_id, "first": first, "last": last, "limit": limit}
    return [Event(*row) for row in connection.execute(READ_SOME, key)]


def forget(connection: Connection, ids: Sequence[int]) -> None:
    """Take events out of the log that were planned and never happened."""
    connection.execute(FORGET, {"ids": json_of(list(ids))})


def move_to_end(connection: Connection, ids: Sequence[int]) -> None:
    """Put events that happened just now behind those that happened to their anchors before.

    Somebody may have changed a thing and changed it back since they were planned: the log's
    order is the order in which things happened.
    """
    found = connection.execute(OVERTAKEN, {"ids": json_of(list(ids))}).fetchall()
    for (id_,) in found:
        connection.execute(MOVE_TO_END, {"id": id_})


def newest_done(connection: Connection, annotator_id: int) -> Done | None:
    """The act that this person's next undo takes back."""
    return _last(connection, annotator_id, undone=False)


def _last(connection: Connection, annotator_id: int, *, undone: bool) -> Done | None:
    row = connection.execute(LAST_DONE, {"me": annotator_id, "undone": int(undone)}).fetchone()
    return None if row is None else Done(*row)


def oldest_undone(connection: Connection, annotator_id: int) -> Done | None:
    """The act that this person's next redo does again."""
    done = (_last(connection, annotator_id, undone=undone) for undone in (False, True))
    last = max((act.id for act in done if act is not None), default=0)
    row = connection.execute(OLDEST_UNDONE, {"me": annotator_id, "last": last}).fetchone()
    return None if row is None else Done(*row)


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
