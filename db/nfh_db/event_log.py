"""The event log: writing and reading acts and their events, replaying them against the tables,
undo and redo.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nfh_db import anchors, answers, passages, serialization, system
from nfh_db.connection import Connection, pages
from nfh_db.errors import ChangedSinceError, NotAllowedError
from nfh_db.records import Annotator, Role, Rule, Undone

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
# A settlement that is being written is invisible, and so cannot be undone.
DONE = """
    annotator_id = :me AND undone = :undone AND (kind = 'do' OR kind = 'settle' AND NOT EXISTS
        (SELECT 1 FROM batch AS b WHERE b.id = batch_id AND b.state = 'loading'))"""
LAST_DONE = f"""
SELECT id, summary, kind FROM act WHERE {DONE}
ORDER BY id DESC LIMIT 1"""  # noqa: S608 - made of constants
# Acts undone before the person's last act cannot be redone any more.
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


Key = tuple[str, int, int | None, str]
"""Entity, anchor, annotator (of an answer or a flag), and role or flag's name."""


@dataclass(frozen=True, slots=True)
class Event:
    """One change of one value. before, after: JSON, None for absent.

    annotator_id: of an answer or a flag; None for a gold or an anchor. name: the role of an
    answer, the name of a flag, else "".
    """

    id: int
    entity: str
    anchor_id: int
    annotator_id: int | None
    name: str
    before: str | None
    after: str | None

    @property
    def key(self) -> Key:
        """What was changed."""
        return self.entity, self.anchor_id, self.annotator_id, self.name


@dataclass(frozen=True, slots=True)
class ReversibleAct:
    """An act that can be undone or redone. bulk: in many transactions."""

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
    """Insert an act; its id. target: the act that is undone or redone."""
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
    connection: Connection, act_id: int, key: Key, before: str | None, after: str | None
) -> None:
    """Add an event to an act."""
    connection.execute(INSERT_EVENT, (act_id, *key, before, after))


def record_all(
    connection: Connection, rows: Sequence[tuple[object, ...]]
) -> tuple[int, int] | None:
    """Add events, given as rows of INSERT_EVENT; the first and last id, None for no rows."""
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


def delete_planned(connection: Connection, ids: Sequence[int]) -> None:
    """Delete planned events that were not applied."""
    connection.execute(FORGET, {"ids": serialization.json_of(list(ids))})


def move_to_end(connection: Connection, ids: Sequence[int]) -> None:
    """Move events that were just applied after later-numbered events of their anchors.

    The order of the log is the order of the changes: a value may have been changed, and changed
    back, between planning and applying.
    """
    found = connection.execute(OVERTAKEN, {"ids": serialization.json_of(list(ids))}).fetchall()
    for (id_,) in found:
        connection.execute(MOVE_TO_END, {"id": id_})


def newest_done(connection: Connection, annotator_id: int) -> ReversibleAct | None:
    """The act that this person's next undo reverts."""
    return _last(connection, annotator_id, undone=False)


def _last(connection: Connection, annotator_id: int, *, undone: bool) -> ReversibleAct | None:
    row = connection.execute(LAST_DONE, {"me": annotator_id, "undone": int(undone)}).fetchone()
    return None if row is None else ReversibleAct(*row)


def oldest_undone(connection: Connection, annotator_id: int) -> ReversibleAct | None:
    """The act that this person's next redo repeats."""
    done = (_last(connection, annotator_id, undone=undone) for undone in (False, True))
    last = max((act.id for act in done if act is not None), default=0)
    row = connection.execute(OLDEST_UNDONE, {"me": annotator_id, "last": last}).fetchone()
    return None if row is None else ReversibleAct(*row)


def set_undone(connection: Connection, act_id: int, *, undone: bool) -> None:
    connection.execute(SET_UNDONE, {"id": act_id, "undone": int(undone)})


def changed_by(connection: Connection, event: Event) -> tuple[str | None, str] | None:
    """Who last changed the subject of an event after it, and when; None if nobody did."""
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


def present_value(connection: Connection, key: Key) -> str | None:
    """The present value of a subject, encoded as in the log."""
    entity, anchor_id, annotator_id, name = key
    found: serialization.Value | None
    if entity == "answer":
        found = answers.read(connection, anchor_id, annotator_id or 0, name)
    elif entity == "gold":
        found = answers.read_gold(connection, anchor_id)
    elif entity == "flag":
        found = answers.read_flag(connection, anchor_id, annotator_id or 0, name)
    else:
        found = anchors.read(connection, anchor_id)
    return serialization.encode(found)


DECODERS: Mapping[str, Callable[[str | None], serialization.Value | None]] = {
    "answer": serialization.decode_answer,
    "gold": serialization.decode_gold,
    "flag": serialization.decode_flag,
    "anchor": serialization.decode_anchor,
}


def write_state(connection: Connection, key: Key, state: str | None) -> None:
    """Write a value, encoded as in the log, to the table of its entity."""
    _write(connection, key, DECODERS[key[0]](state))


def _write(connection: Connection, key: Key, value: serialization.Value | None) -> None:
    """Write a value to the table of its entity; None removes it."""
    entity, anchor_id, annotator_id, name = key
    match entity, value:
        case "answer", serialization.AnswerValue() | None:
            answers.write(connection, anchor_id, annotator_id or 0, name, value)
        case "gold", serialization.GoldValue() | None:
            answers.write_gold(connection, anchor_id, value)
        case "flag", serialization.FlagValue() | None:
            answers.write_flag(connection, anchor_id, annotator_id or 0, name, value)
        case "anchor", serialization.AnchorValue() | None:
            anchors.write(connection, anchor_id, value)
        case _:
            raise TypeError(f"{value!r} is not a state of the entity {entity!r}")


def change(
    connection: Connection,
    act_id: int,
    key: Key,
    value: serialization.Value | None,
    *,
    confirm: bool = False,
) -> bool:
    """Write a value and log it within an act; False, and no event, if it is unchanged.

    confirm: log an unchanged value, too.
    """
    before = present_value(connection, key)
    after = serialization.encode(value)
    if before == after and not confirm:
        return False
    _write(connection, key, value)
    record(connection, act_id, key, before, after)
    return True


# The replay: all events from the beginning must give the values in the tables.
#
# Each event belongs to one anchor. So AT_ONCE anchors are replayed at a time, which bounds the
# memory.

# The deferred events of an import are in the tables only when the import is ready.
EVENTS = """
SELECT e.id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after,
    coalesce(b.state, 'ready')
FROM event AS e JOIN act AS c ON c.id = e.act_id LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids))
    AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY e.anchor_id, e.id"""
ANCHORS = """
SELECT a.id, a.passage_id, a.start, a.stop, a.replaces, a.replaced_by, a.removed, a.batch_id
FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.id > :after AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY a.id LIMIT :limit"""
FLAGS = """
SELECT f.anchor_id, f.annotator_id, f.name, f.flagged_at, f.batch_id, f.start, f.stop
FROM flag AS f LEFT JOIN batch AS b ON b.id = f.batch_id
WHERE f.anchor_id IN (SELECT value FROM json_each(:ids))
    AND f.removed = 0 AND coalesce(b.state, 'ready') <> 'loading'"""
PEOPLE = "SELECT name, id FROM annotator"

AT_ONCE = 1_000


@dataclass(slots=True)
class Replayed:
    """The result of a replay.

    broken: events whose `before` was not the value then. unsettled: anchors with deferred
    events of an import or a settlement.
    """

    state: dict[Key, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)
    unsettled: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference between the log and a table, or within the log.

    event: None if `logged` is the value after the whole log and `present` that of the table;
    else the event whose `before` is `present`, while the events before it give `logged`. Both
    are JSON as in the log, None for absent.
    """

    key: Key
    logged: str | None
    present: str | None
    event: int | None = None


def mismatches(
    connection: Connection, tell: Callable[[int], None] | None = None
) -> Iterator[Mismatch]:
    """The differences between the replayed log and the tables, by anchor.

    Needs a connection in a read transaction. tell: called with the number of anchors done.
    Anchors with deferred events are left out.
    """
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    done = 0
    for rows in pages(connection, ANCHORS, AT_ONCE):
        ids = [row[0] for row in rows]
        found = Replayed()
        broken = list(_replay(connection, rows, found))
        there = _present_states(connection, rows, people)
        yield from (one for one in broken if one.key[1] not in found.unsettled)
        for key in sorted(found.state.keys() | there.keys(), key=_order):
            logged, present_ = found.state.get(key), there.get(key)
            if logged != present_ and key[1] not in found.unsettled:
                yield Mismatch(key, logged, present_)
        done += len(ids)
        if tell is not None:
            tell(done)


def replay(connection: Connection) -> Replayed:
    """The values after all events, all of them in memory.

    Imported anchors have no event of their own: the replay starts with their imported value.
    """
    found = Replayed()
    for rows in pages(connection, ANCHORS, AT_ONCE):
        found.broken += [one.event for one in _replay(connection, rows, found) if one.event]
    return found


def present_state(connection: Connection) -> dict[Key, str]:
    """The values in the tables, all of them in memory."""
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    state: dict[Key, str] = {}
    for rows in pages(connection, ANCHORS, AT_ONCE):
        state |= _present_states(connection, rows, people)
    return state


_Rows = Sequence[tuple[int, ...]]


def _order(key: Key) -> tuple[int, str, int, str]:
    return key[1], key[0], key[2] or 0, key[3]


def _replay(connection: Connection, rows: _Rows, found: Replayed) -> Iterator[Mismatch]:
    """Replay the events of some anchors into `found`; yield the events that do not fit."""
    state = found.state
    for id_, passage, start, stop, *_, batch in rows:
        if batch is not None:
            value = serialization.encode(serialization.AnchorValue(passage, start, stop))
            state["anchor", id_, None, ""] = value or ""
    ids = {"ids": serialization.json_of([row[0] for row in rows])}
    for id_, entity, anchor, annotator, name, before, after, batch_state in connection.execute(
        EVENTS, ids
    ):
        if batch_state != "ready":
            found.unsettled.add(anchor)
            continue
        key = (entity, anchor, annotator, name)
        was = state.get(key)
        if was != before:
            yield Mismatch(key, was, before, id_)
        if after is None:
            state.pop(key, None)
        else:
            state[key] = after


def _present_states(
    connection: Connection, rows: _Rows, people: dict[str, int]
) -> dict[Key, str]:
    state: dict[Key, str | None] = {}
    ids = [row[0] for row in rows]
    for id_, passage, start, stop, replaces, replaced_by, removed, _ in rows:
        if not removed:
            value = serialization.AnchorValue(passage, start, stop, replaces, replaced_by)
            state["anchor", id_, None, ""] = serialization.encode(value)
    for id_, (name, role), answer in answers.read_all(connection, ids):
        state["answer", id_, people[name], role] = serialization.encode(answer)
    for id_, decided in answers.read_all_gold(connection, ids).items():
        state["gold", id_, None, ""] = serialization.encode(decided)
    for id_, annotator, name, *columns in connection.execute(
        FLAGS, {"ids": serialization.json_of(ids)}
    ):
        state["flag", id_, annotator, name] = serialization.encode(answers.value_of(*columns))
    return {key: text for key, text in state.items() if text is not None}


_Step = tuple[Event, str | None, str | None]


def turn(
    connection: Connection, me: Annotator, kind: str, role: Role | None = None
) -> Undone | ReversibleAct | None:
    """Undo this person's newest act, or redo the one that they undid last.

    kind: "undo" or "redo". Returns None if there is no such act, or, for a redo, a newer act.
    role: of a person who may change only their own flags, and answers in this role. A bulk act
    is returned and not turned: that takes many transactions. Raises ChangedSinceError if a
    value of the act was changed since, NotAllowedError for an act beyond `role`.
    """
    target = (newest_done if kind == "undo" else oldest_undone)(connection, me.id)
    if target is None:
        return None
    words = target.summary
    if role is not None and beyond_own(connection, target.id, me.id, role.value):
        raise NotAllowedError(
            f"“{words}” cannot be undone here: it changed more than your own answers"
        )
    if target.bulk:
        return target
    made = events(connection, target.id)
    steps: list[_Step] = [(event, event.before, event.after) for event in made]
    if kind == "undo":
        steps = [(event, after, before) for event, before, after in reversed(steps)]
    for event, wanted, _ in steps:
        _check_unchanged(connection, kind, words, event, wanted)
    own = {event.anchor_id for event in made if event.entity == "anchor"}
    for event, _, after in steps:
        if after is not None and event.anchor_id not in own:
            _check_there(connection, kind, words, event)
    at = system.now()
    act_id = add(connection, me.id, kind, words, at, target=target.id)
    for event, before, after in steps:
        _check_loses_nothing(connection, kind, words, event, after)
        write_state(connection, event.key, after)
        record(connection, act_id, event.key, before, after)
    for event, _, after in steps:
        _check_still_decided(connection, kind, words, event, after)
    set_undone(connection, target.id, undone=kind == "undo")
    touched = sorted({event.anchor_id for event, _, _ in steps})
    answers.recompute_with_successors(connection, _with_linked(touched, steps))
    return Undone(words, _where_to_go(connection, touched), len(touched), at)


def _check_unchanged(
    connection: Connection, kind: str, words: str, event: Event, wanted: str | None
) -> None:
    if present_value(connection, event.key) == wanted:
        return
    found = changed_by(connection, event)
    # Only changes that another program made directly in the file are not in the log.
    who = "another program" if found is None else _who(*found)
    raise ChangedSinceError(
        f"“{words}” cannot be {'undone' if kind == 'undo' else 'redone'}: item "
        f"{event.anchor_id} was changed by {who} after this"
    )


def _check_there(connection: Connection, kind: str, words: str, event: Event) -> None:
    """Raise if the anchor was replaced or removed since: nobody would see what comes back."""
    if anchors.live(connection, event.anchor_id) is not None:
        return
    found = changed_by(connection, replace(event, entity="anchor", annotator_id=None, name=""))
    value = anchors.read(connection, event.anchor_id)
    what = "removed" if value is None or value.replaced_by is None else "replaced"
    raise ChangedSinceError(
        f"“{words}” cannot be {'undone' if kind == 'undo' else 'redone'}: item "
        f"{event.anchor_id}, to which it belongs, was {what} by "
        f"{'another program' if found is None else _who(*found)} after this"
    )


def _check_loses_nothing(
    connection: Connection, kind: str, words: str, event: Event, after: str | None
) -> None:
    """Raise if the anchor would be removed and somebody has answered it since."""
    if event.entity != "anchor" or _live(after):
        return
    for later, name, at in decided_after(connection, event):
        if present_value(connection, later.key) is not None:
            raise ChangedSinceError(
                f"“{words}” cannot be {'undone' if kind == 'undo' else 'redone'}: item "
                f"{event.anchor_id} was answered by {_who(name, at)} after this"
            )


def _check_still_decided(
    connection: Connection, kind: str, words: str, event: Event, after: str | None
) -> None:
    """Raise if the gold of an expert would return without the answer that it points to."""
    value = serialization.decode_gold(after) if event.entity == "gold" else None
    if value is None or value.rule != Rule.EXPERT or value.batch is not None:
        return
    by = passages.find(connection, value.by or "")
    role = Role.ADJUDICATOR.value
    if by is None or answers.read(connection, event.anchor_id, by.id, role) is None:
        how = "undone" if kind == "undo" else "redone"
        raise ChangedSinceError(
            f"“{words}” cannot be {how}: it would bring back the decision of {value.by}, "
            "who has withdrawn it since"
        )


def _who(name: str | None, at: str) -> str:
    return f"{name or 'an import'} at {at[11:16]} UTC"


def _live(state: str | None) -> bool:
    value = serialization.decode_anchor(state)
    return value is not None and value.replaced_by is None


def _with_linked(touched: Iterable[int], steps: Sequence[_Step]) -> list[int]:
    """The touched anchors and those that replaced them, before or now."""
    found = set(touched)
    for event, *states in steps:
        if event.entity == "anchor":
            values = [
                value for value in map(serialization.decode_anchor, states) if value is not None
            ]
            found |= {value.replaced_by for value in values if value.replaced_by is not None}
    return sorted(found)


def _where_to_go(connection: Connection, touched: Sequence[int]) -> int | None:
    """The first touched anchor that is visible, else the first."""
    visible = (anchor_id for anchor_id in touched if anchors.live(connection, anchor_id))
    return next(visible, touched[0] if touched else None)
