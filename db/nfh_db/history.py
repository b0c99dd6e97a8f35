"""The history of anchors: each change of an answer, a gold, a flag or the anchor itself.

It is read from the event log, oldest change first. A number whose span was corrected has
several anchors, each replacing another; the history of the last one includes that of the
earlier ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfh_db import assignments, batches, passages
from nfh_db.anchors import SPLIT
from nfh_db.connection import Connection, Repository, reads
from nfh_db.errors import StoreError
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Annotator, HistoryLine, Role
from nfh_db.serialization import json_of
from nfh_models.domain import Anchor, Passage, anchor_id

LINES = """
SELECT c.acted_at, n.name,
    CASE c.kind WHEN 'undo' THEN 'undo: ' WHEN 'redo' THEN 'redo: ' ELSE '' END || c.summary,
    e.entity,
    coalesce(CASE e.entity WHEN 'flag' THEN e.name ELSE w.name END, e.name), e.before, e.after,
    c.kind, w.name, CASE e.entity WHEN 'answer' THEN e.name ELSE '' END, m.summary,
    e.anchor_id
FROM event AS e JOIN act AS c ON c.id = e.act_id
LEFT JOIN annotator AS n ON n.id = c.annotator_id
LEFT JOIN annotator AS w ON w.id = e.annotator_id
LEFT JOIN act AS m ON m.id = c.merged_by
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids)) AND coalesce(b.state, '') <> 'loading'
ORDER BY e.id"""
# Anchors that an identification added have no event; only their batch tells the origin.
FOUND = """
SELECT c.acted_at, n.name, c.summary, 'anchor', '', NULL,
    json_object('passage', a.passage_id, 'start', a.start, 'stop', a.stop),
    c.kind, NULL, '', m.summary, a.id
FROM anchor AS a JOIN batch AS b ON b.id = a.batch_id
JOIN act AS c ON c.batch_id = b.id AND c.kind = 'import'
LEFT JOIN annotator AS n ON n.id = c.annotator_id
LEFT JOIN act AS m ON m.id = c.merged_by
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND b.format = :format
    AND b.state <> 'loading'
ORDER BY a.id"""
# Follows corrections backwards; a correction that was undone is not followed.
CHAIN = """
WITH RECURSIVE chain (item, id, back) AS (
    SELECT value, value, 0 FROM json_each(:ids)
    UNION
    SELECT k.item, e.id, k.back + 1 FROM chain AS k JOIN anchor AS a ON a.id = k.id
    JOIN anchor AS e ON e.id = a.replaces AND e.replaced_by = a.id
    WHERE k.back < 100
)
SELECT item, id FROM chain ORDER BY item, back"""
# The order of the unique index on spans, so that nothing has to be sorted.
OF_QUERY = """
SELECT a.id FROM anchor AS a WHERE {where} ORDER BY a.passage_id, a.start, a.stop"""
DETAILS = f"""
SELECT a.id, a.passage_id, a.start, a.stop, d.name, a.state, a.removed, a.replaced_by, {SPLIT}
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
JOIN document AS d ON d.id = p.document_id LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND coalesce(b.state, '') <> 'loading'"""  # noqa: S608 - made of constants
IDS = """
SELECT a.id, lower(hex(p.digest)), a.start, a.stop
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
LEFT JOIN batch AS b ON b.id = a.batch_id WHERE coalesce(b.state, '') <> 'loading'"""
IS_THERE = """
SELECT 1 FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.id = :id AND coalesce(b.state, '') <> 'loading'"""

AT_ONCE = 500
SHORTEST_ID = 6
"""Hex digits that name an item at least; no other id may begin with them."""

ID_DIGITS = 32
"""Hex digits of a whole id."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """An anchor with its history."""

    anchor_id: int
    public_id: str
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    state: str
    """The present state; "replaced" or "removed" for an anchor that is not visible any more."""

    lines: tuple[HistoryLine, ...]
    """Changes of the anchor and of those that it replaced, oldest first."""


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which changes to include."""

    since: str = ""
    """A time, UTC in ISO 8601 with milliseconds; earlier changes are left out."""

    people: frozenset[str] = frozenset()
    """Names: changes that these people made, or that were made to their answers and flags.

    Empty for everybody.
    """

    def has(self, line: HistoryLine) -> bool:
        if line.at < self.since:
            return False
        return not self.people or bool(self.people & {line.annotator, line.whose})


EVERYTHING = HistoryFilter()


def of_anchor(connection: Connection, anchor_id_: int) -> tuple[HistoryLine, ...]:
    """Return the changes of one anchor, without those of anchors it replaced, oldest first."""
    return tuple(_lines(connection, [anchor_id_]))


def with_earlier(connection: Connection, anchor_id_: int) -> tuple[HistoryLine, ...]:
    """Return the changes of an anchor and of those that it replaced, oldest first."""
    rows = connection.execute(CHAIN, {"ids": json_of([anchor_id_])})
    return tuple(_lines(connection, [row[1] for row in rows]))


def _lines(connection: Connection, ids: Sequence[int]) -> Iterator[HistoryLine]:
    key = {"ids": json_of(list(ids))}
    for row in connection.execute(FOUND, key | {"format": batches.FOUND}):
        yield HistoryLine(*row)
    for row in connection.execute(LINES, key):
        yield HistoryLine(*row)


def of_query(
    connection: Connection, query: Query, me_id: int, wanted: HistoryFilter = EVERYTHING
) -> Iterator[Timeline]:
    """Yield each anchor of a query that has a history, ordered by passage and span.

    The connection must be in a read transaction until the iterator is exhausted.
    """
    compiled = compile_query(query, me_id)
    cursor = connection.execute(OF_QUERY.format(where=compiled.where), compiled.parameters)
    while rows := cursor.fetchmany(AT_ONCE):
        for past in of_anchors(connection, [row[0] for row in rows], wanted):
            if past.lines:
                yield past


def of_anchors(
    connection: Connection, ids: Sequence[int], wanted: HistoryFilter = EVERYTHING
) -> Iterator[Timeline]:
    """Yield these anchors with their history, in the given order.

    An anchor without wanted changes may be left out, unless it is the only one given.
    """
    lines = _wanted_lines(connection, ids, wanted)
    found = {row[0]: row for row in connection.execute(DETAILS, {"ids": json_of(list(ids))})}
    telling = sorted({row[1] for row in found.values() if len(ids) == 1 or row[0] in lines})
    texts = passages.read(connection, telling)
    for id_ in ids:
        row = found.get(id_)
        if row is None or row[1] not in texts:
            continue
        _, passage_id, start, stop, document, state, removed, replaced_by, split = row
        anchor, passage = Anchor(start, stop), texts[passage_id]
        yield Timeline(
            id_,
            anchor_id(passage.digest, anchor),
            document,
            split,
            passage,
            anchor,
            "removed" if removed else "replaced" if replaced_by is not None else state,
            tuple(lines.get(id_, ())),
        )


def _wanted_lines(
    connection: Connection, ids: Sequence[int], wanted: HistoryFilter
) -> dict[int, list[HistoryLine]]:
    """Return the wanted changes by the anchor to whose history they belong."""
    items: dict[int, list[int]] = {}
    for item, id_ in connection.execute(CHAIN, {"ids": json_of(list(ids))}):
        items.setdefault(id_, []).append(item)
    found: dict[int, list[HistoryLine]] = {}
    for line in _lines(connection, list(items)):
        if wanted.has(line):
            for item in items[line.anchor_id]:
                found.setdefault(item, []).append(line)
    return found


def find(connection: Connection, text: str) -> int:
    """Return the anchor that a text names: a public id, the start of one, or a number.

    Public ids are those of exported files; an existing anchor's number comes first. Raises
    StoreError if the text names none, or several.
    """
    wanted = text.strip().lower()
    number = wanted.isdecimal() and wanted.isascii() and len(wanted) < ID_DIGITS // 2
    if number and connection.execute(IS_THERE, {"id": int(wanted)}).fetchone():
        return int(wanted)
    if len(wanted) < SHORTEST_ID or set(wanted) - set("0123456789abcdef"):
        raise StoreError(
            f"{text!r} names no item: give an item's number, or the id that `gold` files "
            f"have ({ID_DIGITS} hex digits, or the first {SHORTEST_ID} or more of them)"
        )
    found = [id_ for id_, public in _public_ids(connection) if public.startswith(wanted)]
    if not found:
        raise StoreError(f"No item here has the id {text!r}")
    if len(found) > 1:
        raise StoreError(
            f"{len(found)} items have an id that begins with {text!r}: give more of it"
        )
    return found[0]


def _public_ids(connection: Connection) -> Iterator[tuple[int, str]]:
    for id_, digest, start, stop in connection.execute(IDS):
        yield id_, anchor_id(digest, Anchor(start, stop))


class History(Repository):
    """The history of anchors."""

    of_anchor = reads(of_anchor)

    def visible(self, anchor_id: int, me: Annotator, role: Role) -> tuple[HistoryLine, ...]:
        """Return the history of an anchor that this person may see in this role.

        Oldest first, with the changes of the anchors that it replaced.
        """
        with self.connections.reading() as connection:
            lines = with_earlier(connection, anchor_id)
            kept_back = assignments.blind(connection, [anchor_id], me.id)
            return assignments.seen_of_history(lines, me.name, role, kept_back.get(anchor_id))

    def of_query(
        self,
        query: Query,
        me: Annotator | None = None,
        *,
        since: str = "",
        people: Sequence[str] = (),
    ) -> Iterator[Timeline]:
        """Yield each anchor of a query that has a history, ordered by passage and span.

        All is of one state: the read transaction lasts until the iterator is exhausted or
        closed. since, people: see HistoryFilter.
        """
        wanted = HistoryFilter(since, frozenset(people))
        with self.connections.reading() as connection:
            yield from of_query(connection, query, me.id if me else 0, wanted)

    def of_item(self, item: str, *, since: str = "", people: Sequence[str] = ()) -> Timeline:
        """Return one item with its history. item: see `find`; since, people: see HistoryFilter.

        Raises StoreError if the text names no item, or several.
        """
        wanted = HistoryFilter(since, frozenset(people))
        with self.connections.reading() as connection:
            found = find(connection, item)
            past = next(of_anchors(connection, [found], wanted), None)
        if past is None:
            raise StoreError(f"Item {found} has no passage: run `nfh-tui doctor`")
        return past
