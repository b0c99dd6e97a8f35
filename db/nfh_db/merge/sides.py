"""Reading one copy of a database: people, imports, passages, anchors, and the log.

The same statements serve both copies. What an unfinished import wrote is not read.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nfh_db.connection import Connection
from nfh_db.values import json_of

PEOPLE = "SELECT id, name, type, created_at FROM annotator ORDER BY id"
BATCHES = """
SELECT b.id, b.name, b.sha256, b.format, b.split, n.name, b.rows, b.report, b.created_at,
    b.finished_at
FROM batch AS b LEFT JOIN annotator AS n ON n.id = b.annotator_id
WHERE b.state <> 'loading' AND b.format <> 'merge' ORDER BY b.id"""
PASSAGES = """
SELECT p.id, lower(hex(p.digest)), p.document_id, p.batch_id
FROM passage AS p LEFT JOIN batch AS b ON b.id = p.batch_id
WHERE p.id > :after AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY p.id LIMIT :limit"""
ANCHORS = """
SELECT a.id, a.passage_id, a.start, a.stop, a.text_start, a.text_stop, a.word, a.batch_id
FROM anchor AS a LEFT JOIN batch AS b ON b.id = a.batch_id
WHERE a.passage_id IN (SELECT value FROM json_each(:ids))
    AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY a.id"""
LOG = """
SELECT e.id, e.act_id, e.entity, e.anchor_id, e.annotator_id, e.name, e.before, e.after,
    c.kind, c.annotator_id, c.acted_at, c.batch_id
FROM event AS e JOIN act AS c ON c.id = e.act_id
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids))
    AND coalesce(b.state, 'ready') <> 'loading'
ORDER BY e.anchor_id, e.id"""
ACTS = """
SELECT id, annotator_id, kind, summary, target, batch_id, acted_at
FROM act WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id"""
IMPORT_ACTS = "SELECT batch_id, id FROM act WHERE kind = 'import' AND batch_id IS NOT NULL"
DOCUMENTS = "SELECT id, name FROM document"


class Person(NamedTuple):
    """Somebody or something that answers."""

    id: int
    name: str
    type: str
    created_at: str


class Batch(NamedTuple):
    """One imported file, or one run of a rule."""

    id: int
    name: str
    sha256: str
    format: str
    split: str | None
    annotator: str | None
    rows: int
    report: str
    created_at: str
    finished_at: str | None

    @property
    def content(self) -> tuple[str, str, str | None]:
        """What makes two batches the same, in whatever copy."""
        return self.sha256, self.format, self.annotator


class PassageRow(NamedTuple):
    """A passage, without its text. digest: hex."""

    id: int
    digest: str
    document: int
    batch: int | None


class AnchorRow(NamedTuple):
    """A number. batch: None where a person made the span."""

    id: int
    passage: int
    start: int
    stop: int
    text_start: int
    text_stop: int
    word: str
    batch: int | None


class Logged(NamedTuple):
    """An event with what matters of its act. owner: whose answer or flag; by: who did it."""

    id: int
    act: int
    entity: str
    anchor: int
    owner: int | None
    name: str
    before: str | None
    after: str | None
    kind: str
    by: int | None
    at: str
    batch: int | None


class Act(NamedTuple):
    """An act of the log. by: annotator's id."""

    id: int
    by: int | None
    kind: str
    summary: str
    target: int | None
    batch: int | None
    at: str


def people(connection: Connection) -> list[Person]:
    """Everybody, by id."""
    return [Person(*row) for row in connection.execute(PEOPLE)]


def batches(connection: Connection) -> list[Batch]:
    """Every import and every run of a rule that is to be seen; merges are left out."""
    return [Batch(*row) for row in connection.execute(BATCHES)]


def passages(connection: Connection, at_once: int) -> Iterator[list[PassageRow]]:
    """All passages by id, some at once."""
    after = 0
    while rows := connection.execute(PASSAGES, {"after": after, "limit": at_once}).fetchall():
        yield [PassageRow(*row) for row in rows]
        after = rows[-1][0]


def anchors(connection: Connection, passage_ids: Sequence[int]) -> list[AnchorRow]:
    """The anchors of some passages, replaced and removed ones too."""
    rows = connection.execute(ANCHORS, {"ids": json_of(list(passage_ids))})
    return [AnchorRow(*row) for row in rows]


def log(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[Logged]]:
    """The events of some anchors, by anchor, each list oldest first."""
    found: dict[int, list[Logged]] = {}
    for row in connection.execute(LOG, {"ids": json_of(list(anchor_ids))}):
        found.setdefault(row[3], []).append(Logged(*row))
    return found


def acts(connection: Connection, ids: Sequence[int]) -> list[Act]:
    """Some acts, by id."""
    return [Act(*row) for row in connection.execute(ACTS, {"ids": json_of(list(ids))})]
