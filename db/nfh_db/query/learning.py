"""SQL of the orders that learn: doubted gold, models that differ, kinds with little gold.

Undecided models (entropy) and contradicted gold are in `predicted`.
"""

from nfh_db.query.binding import Binder, fill
from nfh_db.query.predicted import ACTIVE, BY_NAME
from nfh_db.query.terms import Compare, Sort
from nfh_models.domain import IMPLICIT_KINDS, Kind

DOUBT = """+a.id IN (
    SELECT d.anchor_id FROM doubt AS d WHERE d.likely {operator} {value})"""
DOUBT_ANY = """+a.id IN (
    SELECT d.anchor_id FROM doubt AS d WHERE d.likely IN ({values}))"""
BY_DOUBT = """(
    SELECT d.likely FROM doubt AS d WHERE d.anchor_id = a.id) {direction} NULLS LAST"""

TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Doubt is what likelihood lacks of 1: more of one is less of the other."""

PLACES = 9
"""Digits that a number of a query may have behind the point: 1 less 0.9 is 0.1 then."""

NEWEST_OTHER = f"""(
    SELECT n.id FROM model AS n
    WHERE n.task IN ('resolution', 'both') AND n.id IS NOT {ACTIVE}
        AND EXISTS (SELECT 1 FROM prediction AS x WHERE x.model_id = n.id)
    ORDER BY n.id DESC LIMIT 1)"""  # noqa: S608 - made of constants

# The less sure of the two says how much they differ. Two words of the passage may be one noun,
# so that they come after whatever differs in more.
BY_MODELS = """(
    SELECT min(coalesce(m.margin, 0.0), coalesce(o.margin, 0.0))
        + NOT (m.choice < ':' AND o.choice < ':')
    FROM prediction AS m
    JOIN prediction AS o ON o.anchor_id = m.anchor_id AND o.model_id IN {other}
    WHERE m.anchor_id = a.id AND m.model_id = {active} AND o.choice <> m.choice
    ) {direction} NULLS LAST"""

# Of each kind: as much gold as there is, and behind that the anchors predicted so, spread
# evenly over their number. So the list goes on, wherever one is in it, with what has least by
# then.
BY_RARE = """CASE WHEN a.state <> 'decided' THEN (
    SELECT CASE {kinds} END FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {active}
    ) END {direction} NULLS LAST"""
LINE = """WHEN m.choice {chosen} THEN
        (SELECT count(*) FROM gold AS g WHERE g.kind IN ({gold}) AND g.removed = 0)
        + (SELECT count(*) FROM prediction AS x WHERE x.model_id = {active}
            AND x.choice {chosen}) * ((a.id * 2654435769 % 4294967296) / 4294967296.0)"""
# A token is written in digits, which stand together in the index, before all letters.
A_WORD = "< ':'"
AS_GOLD = {Kind.OTHER: "'OTHER', 'UNKNOWN'"}
"""What counts as gold of a kind, where that is not the kind alone."""


def doubt(term: Compare, binder: Binder) -> str:
    """Gold that was doubted so much."""
    likely = [round(1.0 - number, PLACES) for number in term.numbers]
    if term.operator == "=":
        return fill(DOUBT_ANY, values=binder.all(likely))
    return fill(DOUBT, operator=TURNED[term.operator], value=binder.one(likely[0]))


def by_models(sort: Sort, binder: Binder) -> str:
    """Where the active model and another choose differently, the widest apart first."""
    other = fill(BY_NAME, value=binder.one(sort.model)) if sort.model else NEWEST_OTHER
    direction = "ASC" if sort.reverse else "DESC"
    return fill(BY_MODELS, active=ACTIVE, other=other, direction=direction)


def by_rare(direction: str) -> str:
    """Undecided anchors, those first whose predicted kind has the least gold."""
    chosen = {kind: f"= '{kind.value}'" for kind in IMPLICIT_KINDS} | {Kind.REFERENCE: A_WORD}
    kinds = " ".join(
        fill(LINE, chosen=how, gold=AS_GOLD.get(kind, f"'{kind.value}'"), active=ACTIVE)
        for kind, how in chosen.items()
    )
    return fill(BY_RARE, kinds=kinds, active=ACTIVE, direction=direction)
