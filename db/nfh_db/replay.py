"""The log against the tables: replayed from its beginning, it must give what is there."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nfh_db import answers, gold
from nfh_db.connection import Connection
from nfh_db.values import AnchorValue, FlagValue, encode

EVENTS = """
SELECT e.id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after
FROM event AS e JOIN act AS c ON c.id = e.act_id LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE coalesce(b.state, 'ready') = 'ready'
ORDER BY e.id"""
ANCHORS = """
SELECT a.id, a.passage_id, a.start, a.stop, a.replaces, a.replaced_by, a.removed, a.batch_id
FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.id > :after AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY a.id LIMIT :limit"""
FLAGS = """
SELECT f.anchor_id, f.annotator_id, f.name, f.flagged_at, f.batch_id
FROM flag AS f LEFT JOIN batch AS b ON b.id = f.batch_id
WHERE f.removed = 0 AND coalesce(b.state, 'ready') <> 'loading'"""
PEOPLE = "SELECT name, id FROM annotator"

AT_ONCE = 1_000

Key = tuple[str, int, int | None, str]
"""Entity, anchor, annotator (of an answer or a flag), and role or flag's name."""


@dataclass(slots=True)
class Replayed:
    """What the log makes of it. broken: events whose `before` was not the state then."""

    state: dict[Key, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)


def replay(connection: Connection) -> Replayed:
    """The state that the events make, one after the other.

    Anchors that an import brought have no event of their own: they begin as it gave them.
    """
    found = Replayed()
    for id_, passage, start, stop, *_, batch in _anchors(connection):
        if batch is not None:
            value = encode(AnchorValue(passage, start, stop))
            found.state["anchor", id_, None, ""] = value or ""
    for id_, entity, anchor_id, annotator_id, name, before, after in connection.execute(EVENTS):
        key = (entity, anchor_id, annotator_id, name)
        if found.state.get(key) != before:
            found.broken.append(id_)
        if after is None:
            found.state.pop(key, None)
        else:
            found.state[key] = after
    return found


def present(connection: Connection) -> dict[Key, str]:
    """The state that the tables hold."""
    people: dict[str, int] = dict(connection.execute(PEOPLE))
    state: dict[Key, str | None] = {}
    ids: list[int] = []
    for id_, passage, start, stop, replaces, replaced_by, removed, _ in _anchors(connection):
        ids.append(id_)
        if not removed:
            value = AnchorValue(passage, start, stop, replaces, replaced_by)
            state["anchor", id_, None, ""] = encode(value)
    for first in range(0, len(ids), AT_ONCE):
        some = ids[first : first + AT_ONCE]
        for id_, (name, role), answer in answers.read_all(connection, some):
            state["answer", id_, people[name], role] = encode(answer)
        for id_, decided in gold.read_all(connection, some).items():
            state["gold", id_, None, ""] = encode(decided)
    for id_, annotator_id, name, at, batch in connection.execute(FLAGS):
        state["flag", id_, annotator_id, name] = encode(FlagValue(at, batch))
    return {key: text for key, text in state.items() if text is not None}


def _anchors(connection: Connection) -> Iterator[tuple[int, ...]]:
    after = 0
    while rows := connection.execute(ANCHORS, {"after": after, "limit": AT_ONCE}).fetchall():
        yield from rows
        after = rows[-1][0]
