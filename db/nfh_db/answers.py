"""Answers of annotators and adjudicators; one a person, anchor and role."""

from collections.abc import Iterator, Sequence
from typing import Any

from nfh_db import assignments, heads
from nfh_db.connection import Connection
from nfh_db.records import Role, Vote
from nfh_db.values import AnswerValue, Marks, json_of, vote_of

COLUMNS = """
    w.id, w.anchor_id, w.annotator_id, n.name, w.role, w.kind, w.relation, w.sort, w.noun,
    w.comment, w.seconds, w.saw_model, w.saw_votes, w.guideline_version, w.rule_tag,
    w.batch_id, w.answered_at, n.type
FROM answer AS w JOIN annotator AS n ON n.id = w.annotator_id"""
READ_OF_ANCHORS = f"""
SELECT {COLUMNS}
WHERE w.anchor_id IN (SELECT value FROM json_each(:ids)) AND w.removed = 0
ORDER BY w.anchor_id, n.name, w.role"""  # noqa: S608 - made of constants
READ_ONE = f"""
SELECT {COLUMNS}
WHERE w.anchor_id = :anchor AND w.annotator_id = :annotator AND w.role = :role
    AND w.removed = 0"""
FIND_ID = """
SELECT id FROM answer
WHERE anchor_id = :anchor AND annotator_id = :annotator AND role = :role"""
UPSERT = """
INSERT INTO answer (anchor_id, annotator_id, role, kind, relation, sort, noun, comment,
    seconds, saw_model, saw_votes, guideline_version, rule_tag, batch_id, answered_at)
VALUES (:anchor, :annotator, :role, :kind, :relation, :sort, :noun, :comment,
    :seconds, :saw_model, :saw_votes, :guideline, :rule_tag, :batch, :at)
ON CONFLICT (anchor_id, annotator_id, role) DO UPDATE SET
    kind = excluded.kind, relation = excluded.relation, sort = excluded.sort,
    noun = excluded.noun, comment = excluded.comment, seconds = excluded.seconds,
    saw_model = excluded.saw_model, saw_votes = excluded.saw_votes,
    guideline_version = excluded.guideline_version, rule_tag = excluded.rule_tag,
    batch_id = excluded.batch_id, answered_at = excluded.answered_at, removed = 0
RETURNING id"""
INSERT_WITH_ID = """
INSERT INTO answer (id, anchor_id, annotator_id, role, kind, relation, sort, noun, comment,
    seconds, saw_model, saw_votes, guideline_version, rule_tag, batch_id, answered_at)
VALUES (:id, :anchor, :annotator, :role, :kind, :relation, :sort, :noun, :comment,
    :seconds, :saw_model, :saw_votes, :guideline, :rule_tag, :batch, :at)"""
REMOVE = """
UPDATE answer SET removed = 1
WHERE anchor_id = :anchor AND annotator_id = :annotator AND role = :role"""
LAST_ID = "SELECT coalesce(max(id), 0) FROM answer"


def read(
    connection: Connection, anchor_id: int, annotator_id: int, role: str
) -> AnswerValue | None:
    """What somebody's answer is now; None if there is none or it was removed."""
    row = connection.execute(
        READ_ONE, {"anchor": anchor_id, "annotator": annotator_id, "role": role}
    ).fetchone()
    if row is None:
        return None
    return _value(row, heads.of_answers(connection, [row[0]]).get(row[0], ()))


def write(
    connection: Connection,
    anchor_id: int,
    annotator_id: int,
    role: str,
    value: AnswerValue | None,
) -> None:
    """Make somebody's answer be `value`; None marks it removed.

    What that person was given of this anchor is done, or open again, by it.
    """
    key = {"anchor": anchor_id, "annotator": annotator_id, "role": role}
    assignments.keep_in_step(connection, anchor_id, annotator_id, role, value)
    if value is None:
        connection.execute(REMOVE, key)
        return
    answer_id = connection.execute(
        UPSERT,
        key
        | {
            "kind": value.kind,
            "relation": value.relation,
            "sort": value.sort,
            "noun": value.noun,
            "comment": value.comment,
            "seconds": value.seconds,
            "saw_model": value.saw_model,
            "saw_votes": value.saw_votes,
            "guideline": value.guideline,
            "rule_tag": value.rule_tag,
            "batch": value.batch,
            "at": value.at,
        },
    ).fetchone()[0]
    heads.replace_of_answer(connection, answer_id, value.heads)


def find_id(connection: Connection, anchor_id: int, annotator_id: int, role: str) -> int | None:
    """The row of somebody's answer, removed or not."""
    row = connection.execute(
        FIND_ID, {"anchor": anchor_id, "annotator": annotator_id, "role": role}
    ).fetchone()
    return None if row is None else row[0]


def read_all(
    connection: Connection, anchor_ids: Sequence[int]
) -> Iterator[tuple[int, tuple[str, str], AnswerValue]]:
    """Anchor id, annotator's name and role, and answer; by anchor, name and role."""
    for row, value in _rows(connection, anchor_ids):
        yield row[1], (row[3], row[4]), value


def votes(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, list[Vote]]:
    """The answers that are not removed, by anchor id, each list by name and role."""
    found: dict[int, list[Vote]] = {}
    for row, value in _rows(connection, anchor_ids):
        vote = vote_of(value, row[3], Role(row[4]), row[17])
        found.setdefault(row[1], []).append(vote)
    return found


def _rows(
    connection: Connection, anchor_ids: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], AnswerValue]]:
    rows = connection.execute(READ_OF_ANCHORS, {"ids": json_of(list(anchor_ids))}).fetchall()
    marks = heads.of_answers(connection, [row[0] for row in rows if row[5] == "REFERENCE"])
    for row in rows:
        yield row, _value(row, marks.get(row[0], ()))


def _value(row: tuple[Any, ...], marks: Marks) -> AnswerValue:
    return AnswerValue(
        kind=row[5],
        at=row[16],
        heads=marks,
        relation=row[6],
        sort=row[7],
        noun=row[8],
        comment=row[9],
        seconds=row[10],
        saw_model=bool(row[11]),
        saw_votes=bool(row[12]),
        guideline=row[13],
        rule_tag=row[14],
        batch=row[15],
    )
