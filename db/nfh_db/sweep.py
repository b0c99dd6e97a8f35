"""Sweeping an import away that failed or was killed: its rows were seen by nobody."""

import time
from collections.abc import Sequence

from nfh_db.batches import Work
from nfh_db.connection import Connection, transaction
from nfh_db.values import json_of

OWN_ANCHORS = "SELECT id FROM anchor WHERE batch_id = :batch LIMIT :limit"
OWN_PASSAGES = "SELECT id FROM passage WHERE batch_id = :batch LIMIT :limit"
OWN_EVENTS = "SELECT id FROM event WHERE act_id = :act LIMIT :limit"
OWN_SOURCES = "SELECT id FROM source_row WHERE batch_id = :batch LIMIT :limit"

OF_ANCHORS = (
    """DELETE FROM mention WHERE head_id IN
        (SELECT h.id FROM head AS h JOIN answer AS w ON w.id = h.answer_id
         WHERE w.anchor_id IN (SELECT value FROM json_each(:ids)))""",
    """DELETE FROM mention WHERE head_id IN
        (SELECT h.id FROM head AS h
         WHERE h.gold_id IN (SELECT value FROM json_each(:ids)))""",
    """DELETE FROM head WHERE answer_id IN
        (SELECT w.id FROM answer AS w
         WHERE w.anchor_id IN (SELECT value FROM json_each(:ids)))""",
    "DELETE FROM head WHERE gold_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM gold WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM answer WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM flag WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM difference WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM expert_difference WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM gold_difference WHERE anchor_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM anchor WHERE id IN (SELECT value FROM json_each(:ids))",
)
OF_PASSAGES = (
    "DELETE FROM passage_token WHERE passage_id IN (SELECT value FROM json_each(:ids))",
    "DELETE FROM passage WHERE id IN (SELECT value FROM json_each(:ids))",
)
OF_EVENTS = ("DELETE FROM event WHERE id IN (SELECT value FROM json_each(:ids))",)
OF_SOURCES = ("DELETE FROM source_row WHERE id IN (SELECT value FROM json_each(:ids))",)

DOCUMENT = "DELETE FROM document WHERE batch_id = :batch"
ACT = "DELETE FROM act WHERE batch_id = :batch"
BATCH = "DELETE FROM batch WHERE id = :batch"
ANNOTATORS = """
DELETE FROM annotator WHERE id IN (SELECT value FROM json_each(:ids))
    AND NOT EXISTS (SELECT 1 FROM answer WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM act WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM flag WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM gold WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM draft WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM place WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM saved_view WHERE annotator_id = annotator.id)
    AND NOT EXISTS (SELECT 1 FROM assignment WHERE annotator_id = annotator.id)"""

AT_ONCE = 200
PAUSE_SECONDS = 0.001


def run(connection: Connection, batch_id: int, work: Work) -> None:
    """Delete all rows of a batch, then the batch, in short writes.

    The connection must not check foreign keys: nothing can refer to rows that nobody saw,
    and looking for each would read the whole table of anchors each time.
    """
    key = {"batch": batch_id, "act": work.act}
    for find, statements in (
        (OWN_SOURCES, OF_SOURCES),
        (OWN_EVENTS, OF_EVENTS),
        (OWN_ANCHORS, OF_ANCHORS),
        (OWN_PASSAGES, OF_PASSAGES),
    ):
        while _delete_some(connection, find, key, statements):
            time.sleep(PAUSE_SECONDS)
    with transaction(connection):
        for statement in (DOCUMENT, ACT, BATCH):
            connection.execute(statement, {"batch": batch_id})
        connection.execute(ANNOTATORS, {"ids": json_of(work.annotators)})


def _delete_some(
    connection: Connection, find: str, key: dict[str, int], statements: Sequence[str]
) -> bool:
    with transaction(connection):
        found = connection.execute(find, key | {"limit": AT_ONCE}).fetchall()
        ids = {"ids": json_of([row[0] for row in found])}
        if found:
            for statement in statements:
                connection.execute(statement, ids)
    return bool(found)
