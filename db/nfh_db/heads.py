"""Heads and their mentions, of answers and of golds."""

from collections.abc import Mapping, Sequence

from nfh_db.connection import Connection
from nfh_db.values import Marks, json_of

READ_OF_ANSWERS = """
SELECT h.answer_id, h.position, m.start, m.stop, m.token, m.origin
FROM head AS h JOIN mention AS m ON m.head_id = h.id
WHERE h.answer_id IN (SELECT value FROM json_each(:ids))
ORDER BY h.answer_id, h.position, m.position"""
READ_OF_GOLDS = """
SELECT h.gold_id, h.position, m.start, m.stop, m.token, m.origin
FROM head AS h JOIN mention AS m ON m.head_id = h.id
WHERE h.gold_id IN (SELECT value FROM json_each(:ids))
ORDER BY h.gold_id, h.position, m.position"""
DELETE_OF_ANSWER = "DELETE FROM head WHERE answer_id = :id"
DELETE_OF_GOLD = "DELETE FROM head WHERE gold_id = :id"
DELETE_MENTIONS_OF_ANSWER = """
DELETE FROM mention WHERE head_id IN (SELECT id FROM head WHERE answer_id = :id)"""
DELETE_MENTIONS_OF_GOLD = """
DELETE FROM mention WHERE head_id IN (SELECT id FROM head WHERE gold_id = :id)"""
DELETE_OF_GOLDS = """
DELETE FROM head WHERE gold_id IN (SELECT value FROM json_each(:ids))"""
DELETE_MENTIONS_OF_GOLDS = """
DELETE FROM mention WHERE head_id IN
    (SELECT id FROM head WHERE gold_id IN (SELECT value FROM json_each(:ids)))"""
INSERT = """
INSERT INTO head (answer_id, gold_id, position) VALUES (:answer, :gold, :position)
RETURNING id"""
INSERT_WITH_ID = """
INSERT INTO head (id, answer_id, gold_id, position) VALUES (:id, :answer, :gold, :position)"""
INSERT_MENTION = """
INSERT INTO mention (head_id, position, start, stop, token, origin)
VALUES (:head, :position, :start, :stop, :token, :origin)"""
LAST_ID = "SELECT coalesce(max(id), 0) FROM head"


def of_answers(connection: Connection, ids: Sequence[int]) -> dict[int, Marks]:
    """The heads of answers, by answer id; those without heads are left out."""
    return _grouped(connection, READ_OF_ANSWERS, ids)


def of_golds(connection: Connection, anchor_ids: Sequence[int]) -> dict[int, Marks]:
    """The heads of golds, by anchor id; those without heads are left out."""
    return _grouped(connection, READ_OF_GOLDS, anchor_ids)


def _grouped(connection: Connection, sql: str, ids: Sequence[int]) -> dict[int, Marks]:
    found: dict[int, dict[int, list[tuple[int, int, int, str]]]] = {}
    if not ids:
        return {}
    for owner, position, *mark in connection.execute(sql, {"ids": json_of(list(ids))}):
        start, stop, token, origin = mark
        heads = found.setdefault(owner, {})
        heads.setdefault(position, []).append((start, stop, token, origin))
    return {
        owner: tuple(tuple(marks) for marks in heads.values()) for owner, heads in found.items()
    }


def replace_of_answer(connection: Connection, answer_id: int, marks: Marks) -> None:
    """Give an answer exactly these heads."""
    # Not left to the foreign key: an import's connection does not check those.
    connection.execute(DELETE_MENTIONS_OF_ANSWER, {"id": answer_id})
    connection.execute(DELETE_OF_ANSWER, {"id": answer_id})
    _insert(connection, marks, answer_id=answer_id, gold_id=None)


def replace_of_gold(connection: Connection, anchor_id: int, marks: Marks) -> None:
    """Give a gold exactly these heads."""
    connection.execute(DELETE_MENTIONS_OF_GOLD, {"id": anchor_id})
    connection.execute(DELETE_OF_GOLD, {"id": anchor_id})
    _insert(connection, marks, answer_id=None, gold_id=anchor_id)


def replace_of_golds(connection: Connection, marks: Mapping[int, Marks]) -> None:
    """Give each of these golds, by anchor id, exactly these heads; within a transaction."""
    ids = {"ids": json_of(list(marks))}
    connection.execute(DELETE_MENTIONS_OF_GOLDS, ids)
    connection.execute(DELETE_OF_GOLDS, ids)
    head_id: int = connection.execute(LAST_ID).fetchone()[0]
    heads: list[tuple[object, ...]] = []
    mentions: list[tuple[object, ...]] = []
    for anchor_id, found in marks.items():
        for position, head in enumerate(found):
            head_id += 1
            heads.append((head_id, None, anchor_id, position))
            mentions += [(head_id, place, *mark) for place, mark in enumerate(head)]
    connection.executemany(INSERT_WITH_ID, heads)
    connection.executemany(INSERT_MENTION, mentions)


def _insert(
    connection: Connection, marks: Marks, *, answer_id: int | None, gold_id: int | None
) -> None:
    for position, head in enumerate(marks):
        head_id = connection.execute(
            INSERT, {"answer": answer_id, "gold": gold_id, "position": position}
        ).fetchone()[0]
        connection.executemany(
            INSERT_MENTION,
            [(head_id, place, *mark) for place, mark in enumerate(head)],
        )
