"""Reading what an export writes: streamed, of one moment, each table once a thousand rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nfh_db import answers, flags, gold, passages
from nfh_db.anchors import VISIBLE
from nfh_db.connection import Connection
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import ExportRecord, Rule
from nfh_db.values import GoldValue, gold_of, json_of
from nfh_models.domain import Anchor, anchor_id

# Every anchor of a query once. The order is that of the index that makes spans unique.
ANCHORS = """
SELECT a.id, NULL, NULL, NULL, 0
FROM anchor AS a WHERE {where}
ORDER BY a.passage_id, a.start, a.stop"""

# Rows of files in the release's form whose labels are gold: those that came in as somebody's
# answers would repeat every anchor once for each annotator.
FROM_RELEASE = "c.format = 'nfh' AND c.annotator_id IS NULL AND c.state <> 'loading'"

# A row whose anchor was replaced leaves with the one that stands in its place now.
SUCCESSORS = """RECURSIVE chain (origin, id) AS (
    SELECT id, replaced_by FROM anchor WHERE replaced_by IS NOT NULL
    UNION
    SELECT c.origin, n.replaced_by FROM chain AS c JOIN anchor AS n ON n.id = c.id
    WHERE n.replaced_by IS NOT NULL
), successor (origin, id) AS (
    SELECT c.origin, c.id FROM chain AS c JOIN anchor AS n ON n.id = c.id
    WHERE n.replaced_by IS NULL
)"""
SOURCE_ROWS = f"""
WITH {SUCCESSORS}
SELECT a.id, s.split, s.labels, s.batch_id, a.id <> s.anchor_id
FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
LEFT JOIN successor AS x ON x.origin = s.anchor_id
JOIN anchor AS a ON a.id = coalesce(x.id, s.anchor_id)
WHERE {FROM_RELEASE} AND {{where}}
ORDER BY s.batch_id, s.line"""  # noqa: S608 - made of constants
OTHER_ANCHORS = f"""
WITH {SUCCESSORS}
SELECT a.id, NULL, NULL, NULL, 0
FROM anchor AS a
WHERE {{where}} AND a.id NOT IN (
    SELECT coalesce(x.id, s.anchor_id)
    FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
    LEFT JOIN successor AS x ON x.origin = s.anchor_id
    WHERE {FROM_RELEASE})
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants
STALE_GOLD = f"""
WITH {SUCCESSORS}
SELECT count(DISTINCT a.id)
FROM gold AS g JOIN successor AS x ON x.origin = g.anchor_id JOIN anchor AS a ON a.id = x.id
WHERE g.removed = 0 AND {VISIBLE}
    AND NOT EXISTS (SELECT 1 FROM gold AS n WHERE n.anchor_id = a.id AND n.removed = 0)"""  # noqa: S608 - made of constants
DETAILS = """
SELECT a.id, a.passage_id, a.start, a.stop,
    (SELECT s.split FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading'
     ORDER BY s.batch_id, s.line LIMIT 1),
    (SELECT s.labels FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading' AND s.labels LIKE '{%'
     ORDER BY s.batch_id, s.line LIMIT 1)
FROM anchor AS a WHERE a.id IN (SELECT value FROM json_each(:ids))"""

AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class _Row:
    """An anchor to leave, and the imported row that it leaves as, if it does."""

    anchor_id: int
    split: str | None
    labels: str | None
    batch: int | None
    moved: bool


def records(
    connection: Connection, query: Query, me_id: int, layout: Literal["nfh", "gold"]
) -> Iterator[ExportRecord]:
    """What leaves of a query, on a connection that is in a read transaction.

    gold: each anchor once, by passage and span. nfh: each row of the imports of that
    format whose labels are gold, in order and repeats included, then the other anchors. A
    row has its labels while the gold still is as imported: its own, or that of an earlier
    row which won over it; else it leaves with the present gold.
    """
    statements = (ANCHORS,) if layout == "gold" else (SOURCE_ROWS, OTHER_ANCHORS)
    compiled = compile_query(query, me_id)
    for statement in statements:
        cursor = connection.execute(statement.format(where=compiled.where), compiled.parameters)
        while rows := cursor.fetchmany(AT_ONCE):
            yield from _records(connection, [_Row(*row) for row in rows])


def count_stale_gold(connection: Connection) -> int:
    """How many anchors have no gold, and stand in place of one that had it when replaced.

    What was decided there counts for nothing until the new span is decided, too.
    """
    found: int = connection.execute(STALE_GOLD).fetchone()[0]
    return found


def _records(connection: Connection, rows: Sequence[_Row]) -> Iterator[ExportRecord]:
    ids = sorted({row.anchor_id for row in rows})
    found = {
        id_: (passage, Anchor(start, stop), split, carried)
        for id_, passage, start, stop, split, carried in connection.execute(
            DETAILS, {"ids": json_of(ids)}
        )
    }
    texts = passages.read(connection, sorted({passage for passage, *_ in found.values()}))
    golds = gold.read_all(connection, ids)
    votes = answers.votes(connection, ids)
    marks = flags.marks(connection, ids)
    for row in rows:
        passage_id, anchor, split, carried = found[row.anchor_id]
        passage = texts[passage_id]
        decided = golds.get(row.anchor_id)
        yield ExportRecord(
            public_id=anchor_id(passage.digest, anchor),
            passage=passage,
            anchor=anchor,
            split=split if row.batch is None else row.split,
            gold=gold_of(decided) if decided else None,
            votes=tuple(votes.get(row.anchor_id, ())),
            flags=tuple(marks.get(row.anchor_id, ())),
            labels=row.labels if _as_it_came(row, decided) else None,
            carried=carried,
        )


def _as_it_came(row: _Row, decided: GoldValue | None) -> bool:
    """True if nobody, no rule and no later file has decided the row's anchor otherwise."""
    if row.batch is None or row.moved or decided is None or decided.batch is None:
        return False
    return decided.rule == Rule.IMPORTED and decided.batch <= row.batch
