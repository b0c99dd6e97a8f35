"""SQL of the keys about what resolution models chose, and how surely."""

from collections.abc import Callable, Sequence

from nfh_db.query.binding import Binder, fill
from nfh_db.query.registry import NONE
from nfh_db.query.terms import Named
from nfh_models.domain import IMPLICIT_KINDS, Kind

ACTIVE = """coalesce(
    (SELECT id FROM model WHERE state = 'active' AND task = 'resolution'
     ORDER BY id DESC LIMIT 1),
    (SELECT id FROM model WHERE state = 'active' AND task = 'both' ORDER BY id DESC LIMIT 1))"""
"""The resolution model whose predictions are shown and sorted by."""

BY_NAME = """(
    SELECT n.id FROM model AS n
    WHERE n.name COLLATE NOCASE = {value} AND n.task IN ('resolution', 'both'))"""

CHOSE_CLASS = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id IN ({model}) AND m.choice IN ({values}))"""
# A token is written in digits, which stand together in the index, before all letters.
CHOSE_WORD = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id IN ({model}) AND m.choice >= '0' AND m.choice < ':')"""
CHOSE_NOTHING = """+a.id NOT IN (
    SELECT m.anchor_id FROM prediction AS m WHERE m.model_id IN ({model}))"""

MARGIN = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.margin {operator} {value})"""
MARGIN_ANY = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.margin IN ({values}))"""
CONFIDENCE = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.confidence {operator} {value})"""
CONFIDENCE_ANY = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.confidence IN ({values}))"""

ENTROPY = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.entropy {operator} {value})"""
ENTROPY_ANY = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.entropy IN ({values}))"""
BY_ENTROPY = """(
    SELECT m.entropy FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {active}) {direction} NULLS LAST"""

IMPLICIT = ", ".join(f"'{kind.value}'" for kind in IMPLICIT_KINDS)

# Of golds: the class (UNKNOWN is OTHER), or any live mention. NULL, so neither right nor
# wrong, where gold is NOT_NFH, BROKEN or NFH.
RIGHT = """CASE
            WHEN a.kind IN ({implicit}) THEN m.choice = a.kind
            WHEN a.kind = 'UNKNOWN' THEN m.choice = 'OTHER'
            WHEN a.kind = 'REFERENCE' THEN m.choice IN (
                SELECT CAST(t.token AS TEXT) FROM head AS h
                JOIN mention AS t ON t.head_id = h.id
                WHERE h.gold_id = a.id AND t.origin <> 'removed')
        END"""

# Right as the accuracy counts.
JUDGED = f"""a.kind IS NOT NULL AND EXISTS (
    SELECT 1 FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id IN ({{model}}) AND {RIGHT} IS {{verdict}})"""  # noqa: S608 - made of constants

# Whoever contradicts without a margin does so no more surely than by 0.
BY_CONFLICT = f"""CASE WHEN a.kind IS NOT NULL THEN (
    SELECT coalesce(m.margin, 0.0) FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {{active}} AND {RIGHT} IS FALSE
    ) END {{direction}} NULLS LAST"""  # noqa: S608 - made of constants


def predicted(values: Sequence[Named], binder: Binder) -> str:
    """A model chose any of these, or has said nothing."""
    return " OR ".join(_chose(value, binder) for value in values)


def judged(verdict: str) -> Callable[[Sequence[Named], Binder], str]:
    """What makes the condition that a model of any of some names is right, or wrong.

    verdict: TRUE or FALSE.
    """

    def conditions(values: Sequence[Named], binder: Binder) -> str:
        names = [fill(BY_NAME, value=binder.one(value.names[0])) for value in values]
        return " OR ".join(
            f"({fill(JUDGED, model=model, implicit=IMPLICIT, verdict=verdict)})"
            for model in names
        )

    return conditions


def _chose(value: Named, binder: Binder) -> str:
    model = fill(BY_NAME, value=binder.one(value.names[0])) if value.names else ACTIVE
    if value.what == NONE:
        return fill(CHOSE_NOTHING, model=model)
    if value.what == Kind.REFERENCE:
        return fill(CHOSE_WORD, model=model)
    return fill(CHOSE_CLASS, model=model, values=binder.one(value.what))
