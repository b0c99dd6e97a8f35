"""What a model said of many anchors at once, without its scores."""

from collections.abc import Sequence

from nfh_db.connection import Connection
from nfh_db.values import json_of

CHOICES = """
SELECT anchor_id, choice FROM prediction
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
DECISIONS = """
SELECT anchor_id, nfh FROM identification
WHERE model_id = :model AND anchor_id IN (SELECT value FROM json_each(:ids))"""
# The first term of the purpose is the one that the partial index has.
BLIND = """
SELECT anchor_id FROM assignment
WHERE purpose <> 'work' AND purpose IN ('double', 'audit') AND annotator_id = :me
    AND role = 'adjudicator' AND state = 'open'"""


def to_decide_blind(connection: Connection, me_id: int) -> frozenset[int]:
    """The anchors that somebody has still to decide without seeing anybody's decision."""
    return frozenset(row[0] for row in connection.execute(BLIND, {"me": me_id}))


def choices(connection: Connection, model_id: int, anchor_ids: Sequence[int]) -> dict[int, str]:
    """Which noun is missing, by anchor: a token in digits, or a class."""
    return dict(connection.execute(CHOICES, _asked(model_id, anchor_ids)))


def decisions(
    connection: Connection, model_id: int, anchor_ids: Sequence[int]
) -> dict[int, bool]:
    """Whether a noun is missing, by anchor."""
    rows = connection.execute(DECISIONS, _asked(model_id, anchor_ids))
    return {anchor_id: bool(nfh) for anchor_id, nfh in rows}


def _asked(model_id: int, anchor_ids: Sequence[int]) -> dict[str, object]:
    return {"model": model_id, "ids": json_of(list(anchor_ids))}
