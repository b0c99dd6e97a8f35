"""What models say of anchors."""

from collections.abc import Sequence

from nfh_db import clock
from nfh_db.connection import Connection
from nfh_db.records import Prediction
from nfh_db.values import encode_scores, json_of, prediction_of

READ = """
SELECT m.name, p.choice, p.second, p.margin, p.scores
FROM prediction AS p JOIN model AS m ON m.id = p.model_id
WHERE p.anchor_id = :anchor AND p.model_id = :model"""
UPSERT = """
INSERT INTO prediction (anchor_id, model_id, choice, second, margin, scores, predicted_at)
VALUES (:anchor, :model, :choice, :second, :margin, :scores, :at)
ON CONFLICT (anchor_id, model_id) DO UPDATE SET
    choice = excluded.choice, second = excluded.second, margin = excluded.margin,
    scores = excluded.scores, predicted_at = excluded.predicted_at"""
KNOWN = """
SELECT anchor_id FROM prediction
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
DELETE_SOME = """
DELETE FROM prediction WHERE model_id = :model AND anchor_id IN
    (SELECT anchor_id FROM prediction WHERE model_id = :model LIMIT :limit)"""


def read(connection: Connection, anchor_id: int, model_id: int) -> Prediction | None:
    """What a model says of an anchor."""
    row = connection.execute(READ, {"anchor": anchor_id, "model": model_id}).fetchone()
    return None if row is None else prediction_of(*row)


def save(
    connection: Connection, model_id: int, predictions: Sequence[tuple[int, Prediction]]
) -> None:
    """Keep predictions by anchor id, in place of this model's earlier ones."""
    at = clock.now()
    connection.executemany(
        UPSERT,
        [
            (
                anchor_id,
                model_id,
                found.choice,
                found.second,
                found.margin,
                encode_scores(found.scores),
                at,
            )
            for anchor_id, found in predictions
        ],
    )


def known(connection: Connection, model_id: int, anchor_ids: Sequence[int]) -> frozenset[int]:
    """Of these anchors the ones of which a model has said something."""
    key = {"model": model_id, "ids": json_of(list(anchor_ids))}
    return frozenset(id_ for (id_,) in connection.execute(KNOWN, key))


def delete_some(connection: Connection, model_id: int, limit: int) -> int:
    """Forget up to `limit` predictions of a model; how many were forgotten."""
    return connection.execute(DELETE_SOME, {"model": model_id, "limit": limit}).rowcount
