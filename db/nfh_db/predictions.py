"""What models say of anchors."""

import math
from collections.abc import Sequence

from nfh_db import clock
from nfh_db.connection import Connection
from nfh_db.records import Prediction
from nfh_db.values import decode_scores, encode_scores, json_of, prediction_of
from nfh_models.domain import IMPLICIT_KINDS

CLASSES = tuple(kind.value for kind in IMPLICIT_KINDS)
SCORE_BYTES = 4

READ = """
SELECT m.name, p.choice, p.second, p.margin, p.scores
FROM prediction AS p JOIN model AS m ON m.id = p.model_id
WHERE p.anchor_id = :anchor AND p.model_id = :model"""
READ_OTHERS = """
SELECT m.name, p.choice, p.second, p.margin, p.scores
FROM prediction AS p JOIN model AS m ON m.id = p.model_id
WHERE p.anchor_id = :anchor AND p.model_id <> :model ORDER BY p.model_id DESC LIMIT :most"""
UPSERT = """
INSERT INTO prediction (anchor_id, model_id, choice, second, margin, scores, predicted_at,
    confidence, entropy)
VALUES (:anchor, :model, :choice, :second, :margin, :scores, :at, :confidence, :entropy)
ON CONFLICT (anchor_id, model_id) DO UPDATE SET
    choice = excluded.choice, second = excluded.second, margin = excluded.margin,
    scores = excluded.scores, predicted_at = excluded.predicted_at,
    confidence = excluded.confidence, entropy = excluded.entropy"""
WITHOUT_CONFIDENCE = """
SELECT anchor_id, model_id, choice, scores FROM prediction WHERE confidence IS NULL"""
SET_CONFIDENCE = """
UPDATE prediction SET confidence = :confidence
WHERE anchor_id = :anchor AND model_id = :model"""
# In the order of the key, from behind the last one that was read.
WITH_SCORES = """
SELECT anchor_id, model_id, scores FROM prediction
WHERE (anchor_id, model_id) > (:anchor, :model) AND entropy IS NULL
ORDER BY anchor_id, model_id LIMIT :limit"""
SET_ENTROPY = """
UPDATE prediction SET entropy = :entropy WHERE anchor_id = :anchor AND model_id = :model"""
KNOWN = """
SELECT anchor_id FROM prediction
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
DELETE_SOME = """
DELETE FROM prediction WHERE model_id = :model AND anchor_id IN
    (SELECT anchor_id FROM prediction WHERE model_id = :model LIMIT :limit)"""


SUM_OFF = 0.01
"""How far from 1 scores may sum up that count as probabilities: they are kept in 32 bits."""

FILLED_AT_ONCE = 5_000
"""Rows of an older database that memory holds while they are filled."""

MOST_OTHERS = 6
"""So many further models' predictions come with an item, those of the newest models."""


def read(connection: Connection, anchor_id: int, model_id: int) -> Prediction | None:
    """What a model says of an anchor."""
    row = connection.execute(READ, {"anchor": anchor_id, "model": model_id}).fetchone()
    return None if row is None else prediction_of(*row)


def read_others(
    connection: Connection, anchor_id: int, model_id: int
) -> tuple[Prediction, ...]:
    """What the other models say of an anchor, the newest model first, MOST_OTHERS at most."""
    key = {"anchor": anchor_id, "model": model_id, "most": MOST_OTHERS}
    return tuple(prediction_of(*row) for row in connection.execute(READ_OTHERS, key))


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
                confidence(found.choice, found.scores),
                entropy(found.scores),
            )
            for anchor_id, found in predictions
        ],
    )


def confidence(choice: str, scores: Sequence[float | None]) -> float | None:
    """The score of what a model chose; None where it gave none."""
    if choice in CLASSES:
        place = CLASSES.index(choice)
    elif choice.isascii() and choice.isdigit():
        place = len(CLASSES) + int(choice)
    else:
        return None
    return scores[place] if place < len(scores) else None


def entropy(scores: Sequence[float | None]) -> float | None:
    """How undecided a model is between its candidates: 0 for certain, 1 for all alike.

    The entropy of the probabilities (Shannon 1948), as a share of what as many candidates can
    have at most, so that long passages compare with short ones. None where the scores are no
    probabilities, and where there is nothing to choose between.
    """
    given = [score for score in scores if score is not None]
    if len(given) < 2 or not all(0.0 <= score <= 1.0 + SUM_OFF for score in given):
        return None
    if abs(math.fsum(given) - 1.0) > SUM_OFF:
        return None
    found = -math.fsum(score * math.log(score) for score in given if score > 0.0)
    return min(1.0, max(0.0, found / math.log(len(given))))


def fill_confidence(connection: Connection) -> None:
    """Note it of all predictions that an older program made, in the transaction there is."""
    rows = connection.execute(WITHOUT_CONFIDENCE).fetchall()
    connection.executemany(
        SET_CONFIDENCE,
        [
            {"anchor": anchor, "model": model, "confidence": found}
            for anchor, model, choice, scores in rows
            if len(scores) % SCORE_BYTES == 0
            and (found := confidence(choice, decode_scores(scores))) is not None
        ],
    )


def fill_entropy(connection: Connection) -> None:
    """Note it of all predictions that an older program made, in the transaction there is."""
    last = {"anchor": -1, "model": -1}
    while True:
        asked = {**last, "limit": FILLED_AT_ONCE}
        rows = connection.execute(WITH_SCORES, asked).fetchall()
        if not rows:
            return
        last = {"anchor": rows[-1][0], "model": rows[-1][1]}
        connection.executemany(
            SET_ENTROPY,
            [
                {"anchor": anchor, "model": model, "entropy": found}
                for anchor, model, scores in rows
                if len(scores) % SCORE_BYTES == 0
                and (found := entropy(decode_scores(scores))) is not None
            ],
        )


def known(connection: Connection, model_id: int, anchor_ids: Sequence[int]) -> frozenset[int]:
    """Of these anchors the ones of which a model has said something."""
    key = {"model": model_id, "ids": json_of(list(anchor_ids))}
    return frozenset(id_ for (id_,) in connection.execute(KNOWN, key))


def delete_some(connection: Connection, model_id: int, limit: int) -> int:
    """Forget up to `limit` predictions of a model; how many were forgotten."""
    return connection.execute(DELETE_SOME, {"model": model_id, "limit": limit}).rowcount
