"""What happened to anchors: every change of an answer, a gold, a flag or an anchor.

Read from the log, oldest first. A number whose span was corrected is several anchors, one
after the other; what happened to the earlier ones is part of the history of the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfh_db import assignments, batches, passages
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
# Numbers that no file named and nobody marked: nothing but their batch says whence they are.
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
# Walking back over corrections; one that was taken back leads nowhere.
CHAIN = """
WITH RECURSIVE chain (item, id, back) AS (
    SELECT value, value, 0 FROM json_each(:ids)
    UNION
    SELECT k.item, e.id, k.back + 1 FROM chain AS k JOIN anchor AS a ON a.id = k.id
    JOIN anchor AS e ON e.id = a.replaces AND e.replaced_by = a.id
    WHERE k.back < 100
)
SELECT item, id FROM chain ORDER BY item, back"""
# The order is that of the index that makes spans unique.
OF_QUERY = """
SELECT a.id FROM anchor AS a WHERE {where} ORDER BY a.passage_id, a.start, a.stop"""
DETAILS = """
SELECT a.id, a.passage_id, a.start, a.stop, d.name, a.state, a.removed, a.replaced_by,
    (SELECT s.split FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading'
     ORDER BY s.batch_id, s.line LIMIT 1)
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
JOIN document AS d ON d.id = p.document_id LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND coalesce(b.state, '') <> 'loading'"""
IDS = """
SELECT a.id, lower(hex(p.digest)), a.start, a.stop
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
LEFT JOIN batch AS b ON b.id = a.batch_id WHERE coalesce(b.state, '') <> 'loading'"""
IS_THERE = """
SELECT 1 FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.id = :id AND coalesce(b.state, '') <> 'loading'"""

AT_ONCE = 500
SHORTEST_ID = 6
"""Hex digits by which an item may be named, as long as no other begins with them."""

ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Past:
    """An anchor, and what happened to it and to those in whose place it stands, oldest first.

    state: of the anchor now; "replaced" or "removed" for one that nobody sees any more.
    """

    anchor_id: int
    public_id: str
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    state: str
    lines: tuple[HistoryLine, ...]


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which changes are asked for. since: a time of the store. people: names; all if empty.

    Somebody's changes are those that they made, and those that others, or imports, made of
    their answers and flags.
    """

    since: str = ""
    people: frozenset[str] = frozenset()

    def has(self, line: HistoryLine) -> bool:
        """True for a line that is asked for."""
        if line.at < self.since:
            return False
        return not self.people or bool(self.people & {line.annotator, line.whose})


EVERYTHING = HistoryFilter()


def of_anchor(connection: Connection, anchor_id_: int) -> tuple[HistoryLine, ...]:
    """All changes of one anchor, and of no other, oldest first."""
    return tuple(_lines(connection, [anchor_id_]))


def with_earlier(connection: Connection, anchor_id_: int) -> tuple[HistoryLine, ...]:
    """All changes of an anchor and of those that it replaced, oldest first."""
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
) -> Iterator[Past]:
    """The past of each anchor of a query that has one, by passage and span.

    On a connection that is in a read transaction.
    """
    compiled = compile_query(query, me_id)
    cursor = connection.execute(OF_QUERY.format(where=compiled.where), compiled.parameters)
    while rows := cursor.fetchmany(AT_ONCE):
        for past in of_anchors(connection, [row[0] for row in rows], wanted):
            if past.lines:
                yield past


def of_anchors(
    connection: Connection, ids: Sequence[int], wanted: HistoryFilter = EVERYTHING
) -> Iterator[Past]:
    """The past of these anchors, in their order; also where nothing happened."""
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
        yield Past(
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
    """Lines by the anchor that they are part of the history of."""
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
    """The anchor that an id names: the id that files have, its beginning, or a number.

    Raises StoreError if it names none, or several.
    """
    wanted = text.strip().lower()
    number = wanted.isdecimal() and wanted.isascii() and len(wanted) < ID_DIGITS // 2
    if number and connection.execute(IS_THERE, {"id": int(wanted)}).fetchone():
        return int(wanted)
    if len(wanted) < SHORTEST_ID or set(wanted) - set("0123456789abcdef"):
        raise StoreError(
            f"{text!r} names no item: give an anchor's number, or the id that `gold` files "
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
    """Who changed what, and when."""

    of_anchor = reads(of_anchor)

    def visible(self, anchor_id: int, me: Annotator, role: Role) -> tuple[HistoryLine, ...]:
        """What this person may see, in this role, of what happened to an anchor.

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
    ) -> Iterator[Past]:
        """Each anchor of a query that has a past, with it, by passage and span; of one moment.

        since: a time as the store keeps them. people: only what they did, and what was done
        to their answers and flags.
        """
        wanted = HistoryFilter(since, frozenset(people))
        with self.connections.reading() as connection:
            yield from of_query(connection, query, me.id if me else 0, wanted)

    def of_item(self, item: str, *, since: str = "", people: Sequence[str] = ()) -> Past:
        """The past of one item, named by the id that files have, or by its anchor's number.

        Raises StoreError if there is none, or if several begin with what was given.
        """
        wanted = HistoryFilter(since, frozenset(people))
        with self.connections.reading() as connection:
            found = find(connection, item)
            past = next(of_anchors(connection, [found], wanted), None)
        if past is None:
            raise StoreError(f"Anchor {found} has no passage: run `nfh-tui doctor`")
        return past
