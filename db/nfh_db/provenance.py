"""Where anchors came from: the rows of files, and what imports did not take over."""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.values import answer_of, decode_gold, json_of
from nfh_models.domain import Answer

# An anchor that replaces another came from that one's rows, with their labels of old.
ROWS = """
WITH RECURSIVE origin (id, row_of) AS (
    SELECT value, value FROM json_each(:ids)
    UNION
    SELECT a.replaces, o.row_of FROM origin AS o JOIN anchor AS a ON a.id = o.id
    WHERE a.replaces IS NOT NULL
)
SELECT o.row_of, c.name, s.line, s.split, s.labels, n.name, c.format, o.id <> o.row_of
FROM origin AS o
JOIN source_row AS s ON s.anchor_id = o.id
JOIN batch AS c ON c.id = s.batch_id
LEFT JOIN annotator AS n ON n.id = c.annotator_id
WHERE c.state <> 'loading'
ORDER BY o.row_of, s.batch_id, s.line"""
# The walk is that of the index that makes spans unique, which is in passage order.
BY_PASSAGE = """
SELECT a.passage_id, a.id FROM anchor AS a WHERE {where}
ORDER BY a.passage_id, a.start, a.stop"""
REPORTS = """
SELECT c.id, c.name, c.report FROM batch AS c
WHERE c.state = 'ready' AND CASE WHEN json_valid(c.report)
    THEN json_type(c.report) <> 'object'
        OR coalesce(json_array_length(c.report, '$.conflicts'), 0) > 0
    ELSE 1 END ORDER BY c.id"""
ROW_OF_LINE = """
SELECT s.anchor_id, s.labels FROM source_row AS s
WHERE s.batch_id = :batch AND s.line = :line ORDER BY s.anchor_id"""
# What was known when the item was drawn: gold may have changed since.
CHECK_ANSWERS = """
SELECT w.anchor_id, n.name, w.expected
FROM assignment AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.purpose = 'check' AND w.role = 'annotator' AND w.state = 'done'
    AND w.expected IS NOT NULL"""

_LINE = re.compile(r"line (\d{1,18}): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of an imported file that an anchor came from. line counts from 1.

    labels: JSON of what the row said, where its format keeps that; None too where the
    anchor replaces the one that the row named. annotator: whose answers the file held;
    None where they were gold, or each row's its own. format: of the file, by its name.
    """

    file: str
    line: int
    split: str | None
    labels: str | None
    annotator: str | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A row that an import did not take over. what: the import's own words for why."""

    file: str
    line: int
    what: str
    anchor_id: int
    labelled: bool


class _Report(msgspec.Struct):
    conflicts: list[str] = []


_reports = msgspec.json.Decoder(_Report)


def rows(
    connection: Connection, anchor_ids: Sequence[int]
) -> Mapping[int, tuple[SourceRow, ...]]:
    """The rows that these anchors came from, by anchor, in the order of the imports."""
    found: dict[int, list[SourceRow]] = {}
    for id_, file, line, split, labels, annotator, format_, moved in connection.execute(
        ROWS, {"ids": json_of(list(anchor_ids))}
    ):
        kept = None if moved else _said(labels)
        row = SourceRow(file, line, split, kept, annotator, format_)
        found.setdefault(id_, []).append(row)
    return {id_: tuple(some) for id_, some in found.items()}


def by_passage(connection: Connection, query: Query, me_id: int) -> Iterator["array[int]"]:
    """The anchors that a query finds, those of one passage together, by span."""
    compiled = compile_query(query, me_id)
    some, passage_of_some = array("q"), None
    for passage, id_ in connection.execute(
        BY_PASSAGE.format(where=compiled.where), compiled.parameters
    ):
        if some and passage != passage_of_some:
            yield some
            some = array("q")
        some.append(id_)
        passage_of_some = passage
    if some:
        yield some


def not_taken(connection: Connection) -> Iterator[NotTaken]:
    """The rows that imports reported as not taken over, as far as they list them.

    Raises StoreError for a report that no import would have made.
    """
    for batch, file, report in connection.execute(REPORTS).fetchall():
        for conflict in _conflicts(batch, file, report):
            told = _LINE.fullmatch(conflict)
            if told is None:
                continue
            line = int(told[1])
            for anchor, labels in connection.execute(
                ROW_OF_LINE, {"batch": batch, "line": line}
            ):
                yield NotTaken(file, line, told[2], anchor, _said(labels) is not None)


def _conflicts(batch: int, file: str, report: str) -> Sequence[str]:
    try:
        return _reports.decode(report).conflicts
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise StoreError(
            f"What the import {batch} of {file} reported cannot be read: {error}. "
            "`nfh-tui doctor` tells what else is broken"
        ) from error


def _said(labels: str | None) -> str | None:
    """The label of a row; None where it only carries along, as an object, what another tool's
    file holds besides.
    """
    return None if labels is None or labels.startswith("{") else labels


def check_answers(connection: Connection) -> dict[tuple[int, str], Answer]:
    """What was known of each check item that is answered, by anchor and annotator's name."""
    found = {}
    for anchor, name, expected in connection.execute(CHECK_ANSWERS):
        gold = decode_gold(expected)
        if gold is not None:
            found[anchor, name] = answer_of(gold)
    return found
