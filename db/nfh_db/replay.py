"""The log against the tables: replayed from its beginning, it must give what is there.

Everything that the log is about belongs to one anchor, so that it is replayed a thousand
anchors at a time, in as much memory as those need.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nfh_db import answers, flags, gold
from nfh_db.connection import Connection
from nfh_db.values import AnchorValue, encode, json_of

# What an import defers is seen in the tables only once that import is ready.
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

Key = tuple[str, int, int | None, str]
"""Entity, anchor, annotator (of an answer or a flag), and role or flag's name."""


@dataclass(slots=True)
class Replayed:
    """What the log makes of it. broken: events whose `before` was not the state then.

    unsettled: anchors about which an import, or a settlement, is just changing something.
    """

    state: dict[Key, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)
    unsettled: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A thing of which the log and the table say different things.

    event: the event before which the log had left the thing as `logged`, while the event
    says `present`; None where `logged` is what the whole log makes of it and `present` what
    the table holds. Both are JSON as the log keeps it, None for nothing.
    """

    key: Key
    logged: str | None
    present: str | None
    event: int | None = None


def mismatches(
    connection: Connection, tell: Callable[[int], None] | None = None
) -> Iterator[Mismatch]:
    """Where replaying the log does not give the tables, by anchor.

    On a connection that is in a read transaction. tell: called with the anchors done. An
    anchor that is just being changed in the background is left out.
    """
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    done = 0
    for rows in _anchors(connection):
        ids = [row[0] for row in rows]
        found = Replayed()
        broken = list(_replay(connection, rows, found))
        there = _present(connection, rows, people)
        yield from (one for one in broken if one.key[1] not in found.unsettled)
        for key in sorted(found.state.keys() | there.keys(), key=_order):
            logged, present_ = found.state.get(key), there.get(key)
            if logged != present_ and key[1] not in found.unsettled:
                yield Mismatch(key, logged, present_)
        done += len(ids)
        if tell is not None:
            tell(done)


def replay(connection: Connection) -> Replayed:
    """The state that all events make, one after the other; all of it in memory.

    Anchors that an import brought have no event of their own: they begin as it gave them.
    """
    found = Replayed()
    for rows in _anchors(connection):
        found.broken += [one.event for one in _replay(connection, rows, found) if one.event]
    return found


def present(connection: Connection) -> dict[Key, str]:
    """The state that the tables hold; all of it in memory."""
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    state: dict[Key, str] = {}
    for rows in _anchors(connection):
        state |= _present(connection, rows, people)
    return state


_Rows = Sequence[tuple[int, ...]]


def _anchors(connection: Connection) -> Iterator[_Rows]:
    after = 0
    while rows := connection.execute(ANCHORS, {"after": after, "limit": AT_ONCE}).fetchall():
        yield rows
        after = rows[-1][0]


def _order(key: Key) -> tuple[int, str, int, str]:
    return key[1], key[0], key[2] or 0, key[3]


def _replay(connection: Connection, rows: _Rows, found: Replayed) -> Iterator[Mismatch]:
    """Add what the log makes of some anchors to `found`, and give what does not fit."""
    state = found.state
    for id_, passage, start, stop, *_, batch in rows:
        if batch is not None:
            value = encode(AnchorValue(passage, start, stop))
            state["anchor", id_, None, ""] = value or ""
    ids = {"ids": json_of([row[0] for row in rows])}
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


def _present(connection: Connection, rows: _Rows, people: dict[str, int]) -> dict[Key, str]:
    state: dict[Key, str | None] = {}
    ids = [row[0] for row in rows]
    for id_, passage, start, stop, replaces, replaced_by, removed, _ in rows:
        if not removed:
            value = AnchorValue(passage, start, stop, replaces, replaced_by)
            state["anchor", id_, None, ""] = encode(value)
    for id_, (name, role), answer in answers.read_all(connection, ids):
        state["answer", id_, people[name], role] = encode(answer)
    for id_, decided in gold.read_all(connection, ids).items():
        state["gold", id_, None, ""] = encode(decided)
    for id_, annotator, name, *columns in connection.execute(FLAGS, {"ids": json_of(ids)}):
        state["flag", id_, annotator, name] = encode(flags.value_of(*columns))
    return {key: text for key, text in state.items() if text is not None}
