"""SQL of the keys about identification: what the active model says of a missing noun."""

from nfh_db.query.binding import Binder, fill
from nfh_db.query.registry import GOLD, NONE
from nfh_db.query.terms import Match

ACTIVE = """coalesce(
    (SELECT id FROM model WHERE state = 'active' AND task = 'identification'
     ORDER BY id DESC LIMIT 1),
    (SELECT id FROM model WHERE state = 'active' AND task = 'both' ORDER BY id DESC LIMIT 1))"""
"""The identification model whose decisions are shown, searched and sorted by."""

# Looked up anchor by anchor, and only of those that pass all else: most anchors have one.
SAID = """(
    SELECT i.nfh FROM identification AS i
    WHERE i.anchor_id = a.id AND i.model_id = {active})"""
YES = SAID + " = 1"
NO = SAID + " = 0"
UNSAID = SAID + " IS NULL"

# BROKEN says neither yes nor no, so that comparing gives NULL.
IN_GOLD = """CASE WHEN a.kind = 'NOT_NFH' THEN 0 WHEN a.kind <> 'BROKEN' THEN 1 END"""
AS_GOLD = f"{SAID} = {IN_GOLD}"
NOT_AS_GOLD = f"a.kind IS NOT NULL AND {SAID} <> {IN_GOLD}"

RULE = """+a.id IN (
    SELECT i.anchor_id FROM identification AS i
    WHERE i.model_id = {active} AND i.nfh IN (0, 1) AND i.rule COLLATE NOCASE IN ({values}))"""

BY_SCORE = """(
    SELECT abs(i.score) FROM identification AS i
    WHERE i.anchor_id = a.id AND i.model_id = {active}) {direction} NULLS LAST"""

FRAGMENTS = {"yes": YES, "no": NO, NONE: UNSAID, GOLD: AS_GOLD}


def nfh(term: Match) -> str:
    """What the model says, or how that compares with gold where both say something.

    `!=` turns each value round; with gold it asks for those that do differ from it.
    """
    if not term.unequal:
        return " OR ".join(_fill(FRAGMENTS[value]) for value in term.values)
    return " AND ".join(
        f"({_fill(NOT_AS_GOLD)})"
        if value == GOLD
        else f"({_fill(FRAGMENTS[value])}) IS NOT TRUE"
        for value in term.values
    )


def rule(values: tuple[str, ...], binder: Binder) -> str:
    """Decided by any of these rules."""
    return _fill(RULE, values=binder.all(values))


def _fill(fragment: str, **parts: str) -> str:
    return fill(fragment, active=ACTIVE, **parts)
