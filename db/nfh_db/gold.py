"""Gold: the answer that counts, one an anchor, with the rule by which it came to count."""

from collections.abc import Mapping, Sequence
from typing import Any

from nfh_db import doubts, heads
from nfh_db.connection import Connection
from nfh_db.records import Rule
from nfh_db.values import (
    GoldValue,
    Marks,
    decode_gold_votes,
    encode_gold_votes,
    json_of,
)

READ = """
SELECT g.anchor_id, g.kind, g.relation, g.sort, g.noun, g.comment, g.rule, n.name,
    g.decided_at, g.batch_id, g.votes
FROM gold AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id
WHERE g.anchor_id IN (SELECT value FROM json_each(:ids)) AND g.removed = 0"""
UPSERT = """
INSERT INTO gold (anchor_id, kind, relation, sort, noun, comment, rule, annotator_id,
    answer_id, batch_id, decided_at, votes)
VALUES (:anchor, :kind, :relation, :sort, :noun, :comment, :rule,
    (SELECT id FROM annotator WHERE name = :by), :answer, :batch, :at, :votes)
ON CONFLICT (anchor_id) DO UPDATE SET
    kind = excluded.kind, relation = excluded.relation, sort = excluded.sort,
    noun = excluded.noun, comment = excluded.comment, rule = excluded.rule,
    annotator_id = excluded.annotator_id, answer_id = excluded.answer_id,
    batch_id = excluded.batch_id, decided_at = excluded.decided_at, votes = excluded.votes,
    removed = 0"""
INSERT = """
INSERT INTO gold (anchor_id, kind, relation, sort, noun, comment, rule, annotator_id,
    answer_id, batch_id, decided_at, votes)
VALUES (:anchor, :kind, :relation, :sort, :noun, :comment, :rule, :annotator,
    :answer, :batch, :at, :votes)"""
REMOVE = "UPDATE gold SET removed = 1 WHERE anchor_id = :anchor"
READ_NOUNS = """
SELECT g.anchor_id, g.noun, h.position, m.token
FROM anchor AS a JOIN gold AS g ON g.anchor_id = a.id AND g.removed = 0
LEFT JOIN head AS h ON h.gold_id = g.anchor_id
LEFT JOIN mention AS m ON m.head_id = h.id AND m.origin <> 'removed'
WHERE a.passage_id = :passage AND (g.noun IS NOT NULL OR m.token IS NOT NULL)
ORDER BY g.anchor_id, h.position, m.position"""
FIND_ANSWER = """
SELECT w.id FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id
WHERE w.anchor_id = :anchor AND w.role = 'adjudicator' AND n.name = :by"""


def read_all(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, GoldValue]:
    """The gold of each of these anchors that has one."""
    rows = connection.execute(READ, {"ids": json_of(list(anchor_ids))}).fetchall()
    marks = heads.of_golds(connection, [row[0] for row in rows if row[1] == "REFERENCE"])
    return {row[0]: _value(row, marks.get(row[0], ())) for row in rows}


def read(connection: Connection, anchor_id: int) -> GoldValue | None:
    """The gold of one anchor."""
    return read_all(connection, [anchor_id]).get(anchor_id)


def nouns(connection: Connection, passage_id: int) -> dict[int, tuple[int | str, ...]]:
    """What is missing by the gold of each anchor of a passage: the token of each head's first
    mention, or the noun that was written for a class. Anchors without are left out."""
    found: dict[int, dict[int, int | str]] = {}
    for anchor_id, noun, head, token in connection.execute(READ_NOUNS, {"passage": passage_id}):
        said = found.setdefault(anchor_id, {})
        if head is not None and token is not None:
            said.setdefault(head, token)
        elif noun is not None:
            said.setdefault(-1, noun)
    return {anchor_id: tuple(said.values()) for anchor_id, said in found.items()}


def write(connection: Connection, anchor_id: int, value: GoldValue | None) -> None:
    """Make an anchor's gold be `value`; None marks it removed.

    An expert's gold points to the answer that the expert gave in the adjudicator's role. What
    a model doubted of the gold before is forgotten.
    """
    doubts.forget(connection, [anchor_id])
    if value is None:
        connection.execute(REMOVE, {"anchor": anchor_id})
        return
    connection.execute(UPSERT, _row(connection, anchor_id, value))
    heads.replace_of_gold(connection, anchor_id, value.heads)


def write_all(connection: Connection, values: Mapping[int, GoldValue | None]) -> None:
    """What `write` does, to many anchors at once."""
    doubts.forget(connection, values)
    present = {id_: value for id_, value in values.items() if value is not None}
    rows = [_row(connection, id_, value) for id_, value in present.items()]
    connection.executemany(UPSERT, rows)
    heads.replace_of_golds(connection, {id_: value.heads for id_, value in present.items()})
    gone = [{"anchor": id_} for id_, value in values.items() if value is None]
    connection.executemany(REMOVE, gone)


def _row(connection: Connection, anchor_id: int, value: GoldValue) -> dict[str, object]:
    return {
        "anchor": anchor_id,
        "kind": value.kind,
        "relation": value.relation,
        "sort": value.sort,
        "noun": value.noun,
        "comment": value.comment,
        "rule": value.rule,
        "by": value.by,
        "answer": _answer_id(connection, anchor_id, value),
        "batch": value.batch,
        "at": value.at,
        "votes": encode_gold_votes(value.votes),
    }


def _answer_id(connection: Connection, anchor_id: int, value: GoldValue) -> int | None:
    if value.rule != Rule.EXPERT or value.by is None:
        return None
    row = connection.execute(FIND_ANSWER, {"anchor": anchor_id, "by": value.by}).fetchone()
    return None if row is None else row[0]


def _value(row: tuple[Any, ...], marks: Marks) -> GoldValue:
    return GoldValue(
        kind=row[1],
        rule=row[6],
        heads=marks,
        relation=row[2],
        sort=row[3],
        noun=row[4],
        comment=row[5],
        by=row[7],
        at=row[8],
        batch=row[9],
        votes=decode_gold_votes(row[10]),
    )
