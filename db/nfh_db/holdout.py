"""The held-out split: which passages are for training, and which for evaluation (dev).

A passage is assigned to a side once and stays there, so that no model is evaluated on passages
that it, or the model that it is compared with, was trained on. The passages of one unit, e.g. a
document, are on the same side.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nfh_db import items, passages, system
from nfh_db.batches import OUT
from nfh_db.connection import Connection, Repository, WriteSize, reads, streams, write_in_steps
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import Ballot
from nfh_db.serialization import json_of
from nfh_models.domain import Kind, Passage

LABELLED = """
SELECT a.id FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
WHERE {where} ORDER BY a.passage_id, a.start, a.stop"""
KINDS = """
SELECT g.kind, count(*) FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
WHERE {where} GROUP BY g.kind"""
DEALT = "SELECT passage_id, side = 'dev', unit FROM side"
HOW_MANY = "SELECT count(*) FROM side"
DEAL = """
INSERT INTO side (passage_id, side, unit, dealt_at) VALUES (:passage, :side, :unit, :at)"""
LABELS = """
SELECT s.side = 'dev', g.kind, count(*)
FROM side AS s JOIN anchor AS a ON a.passage_id = s.passage_id
JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
WHERE a.removed = 0 AND a.replaced_by IS NULL
GROUP BY 1, 2"""
# If rows put a passage in several splits, the split of the first row counts.
OF_SPLITS = f"""
SELECT a.passage_id, s.split
FROM source_row AS s JOIN anchor AS a ON a.id = s.anchor_id
JOIN batch AS c ON c.id = s.batch_id AND c.state <> 'loading'
WHERE s.split IN (SELECT value FROM json_each(:splits)) AND c.id NOT IN ({OUT})
ORDER BY s.batch_id DESC, s.line DESC"""  # noqa: S608 - made of constants
DOCUMENTS = """
SELECT id, document_id FROM passage WHERE id IN (SELECT value FROM json_each(:ids))"""

AT_ONCE = 200
"""Passages read at a time."""


@dataclass(frozen=True, slots=True)
class SplitSide:
    """The side of a passage. dev: held out for evaluation; else for training."""

    passage_id: int
    dev: bool
    unit: str


def labelled(connection: Connection, query: Query) -> Iterator[Ballot]:
    """The ballots of the anchors of a query that have gold, by passage and span.

    Needs a connection in a read transaction.
    """
    compiled = compile_query(query, 0)
    cursor = connection.execute(LABELLED.format(where=compiled.where), compiled.parameters)
    while rows := cursor.fetchmany(AT_ONCE):
        yield from items.of_anchors(connection, [row[0] for row in rows])


def gold_kinds(connection: Connection, query: Query) -> Counter[Kind]:
    """The number of anchors of a query by the kind of their gold."""
    compiled = compile_query(query, 0)
    rows = connection.execute(KINDS.format(where=compiled.where), compiled.parameters)
    return Counter({Kind(kind): number for kind, number in rows})


def read_sides(connection: Connection) -> tuple[SplitSide, ...]:
    """All passages with a side."""
    rows = connection.execute(DEALT)
    return tuple(SplitSide(passage_id, bool(dev), unit) for passage_id, dev, unit in rows)


def write_sides(connection: Connection, sides: Sequence[SplitSide], known: int) -> bool:
    """Store the sides of passages; False, and nothing is stored, unless `known` have one now.

    So a plan that overlooks sides that another process stored in the meantime is refused.
    """
    if connection.execute(HOW_MANY).fetchone()[0] != known:
        return False
    at = system.now()
    connection.executemany(
        DEAL,
        [(one.passage_id, "dev" if one.dev else "train", one.unit, at) for one in sides],
    )
    return True


def labels(connection: Connection) -> dict[bool, Counter[str]]:
    """The number of golds by kind now, on the dev side (True) and on the training side."""
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for dev, kind, count in connection.execute(LABELS):
        found[bool(dev)][kind] = count
    return found


def of_splits(connection: Connection, splits: Sequence[str]) -> dict[int, str]:
    """The passages with an imported row of one of these splits, with the split."""
    return dict(connection.execute(OF_SPLITS, {"splits": json_of(list(splits))}))


def documents(connection: Connection, passage_ids: Sequence[int]) -> Mapping[int, int]:
    return dict(connection.execute(DOCUMENTS, {"ids": json_of(list(passage_ids))}))


def texts(connection: Connection, passage_ids: Sequence[int]) -> Iterator[tuple[int, Passage]]:
    """Id and passage of each of these, read AT_ONCE at a time."""
    for start in range(0, len(passage_ids), AT_ONCE):
        yield from passages.read(connection, passage_ids[start : start + AT_ONCE]).items()


WRITE_SIZE = WriteSize(first=50, smallest=5, largest=500, seconds=0.012, pause=0.003)
"""Passages."""


class Holdout(Repository):
    """Labels to learn from, and the held-out split."""

    labelled = streams(labelled)
    gold_kinds = reads(gold_kinds)
    sides = reads(read_sides)
    labels = reads(labels)
    passages_of_splits = reads(of_splits)
    documents_of = reads(documents)
    passages = streams(texts)

    def write_sides(self, new: Sequence[SplitSide], known: int) -> bool:
        """Store the sides of new passages, in steps; False if another process stored some.

        known: how many passages had a side when this was planned. After False, or a crash, a
        part of the sides may be stored: plan again.
        """
        done = 0

        def write(connection: Connection, some: Sequence[SplitSide]) -> bool:
            nonlocal done
            done += len(some)
            return write_sides(connection, some, known + done - len(some))

        return write_in_steps(self.connections.fast_write, new, write, WRITE_SIZE)
