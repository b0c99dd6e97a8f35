"""SQL of the keys about people: who said what, who differs from whom, who was given what."""

from collections.abc import Callable, Sequence

from nfh_db.query.binding import Binder, fill
from nfh_db.query.predicted import judged, predicted
from nfh_db.query.registry import NONE
from nfh_db.query.terms import ME, Named
from nfh_models.domain import Blocking

WHO = "(SELECT n.id FROM annotator AS n WHERE n.name COLLATE NOCASE = {value})"
WHO_ASKS = "(:q_me)"

BLOCKS = "d.blocking IS NOT NULL"
IN_KIND = "d.blocking = {value}"
IN_NOTE = "instr(d.notes, {value}) > 0"
DIFFERS_FROM_ANYBODY = """+a.id IN (
    SELECT d.anchor_id FROM difference AS d WHERE d.left_id IN {left} AND {what}
    UNION ALL
    SELECT d.anchor_id FROM difference AS d WHERE d.right_id IN {left} AND {what})"""
DIFFER = """+a.id IN (
    SELECT d.anchor_id FROM difference AS d
    WHERE d.left_id IN {left} AND d.right_id IN {right} AND {what}
    UNION ALL
    SELECT d.anchor_id FROM difference AS d
    WHERE d.left_id IN {right} AND d.right_id IN {left} AND {what})"""

SAID = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.role = 'annotator' AND v.removed = 0 AND v.kind IN ({kinds}){who}
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
SAID_BY = " AND v.annotator_id IN {who}"
SAID_BY_ANYBODY = """
        AND v.annotator_id NOT IN (SELECT n.id FROM annotator AS n WHERE n.type <> 'person')"""

RULE = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g WHERE g.rule IN ({values}) AND g.removed = 0)"""
NO_GOLD = "a.kind IS NULL"

EXPERTS = "+a.id IN (SELECT e.anchor_id FROM expert_difference AS e WHERE {which})"
EXPERTS_WHICH = {"agree": "e.blocking IS NULL", "differ": "e.blocking IS NOT NULL"}

RIGHT = """+a.id IN (
    SELECT d.anchor_id FROM gold_difference AS d
    WHERE d.annotator_id IN {who} AND d.blocking IS NULL)"""
NOBODY_RIGHT = """a.state = 'decided' AND (
    SELECT count(*) > 0 AND count(*) = count(d.blocking) FROM gold_difference AS d
    WHERE d.anchor_id = a.id)"""
WRONG = """+a.id IN (
    SELECT d.anchor_id FROM gold_difference AS d WHERE d.annotator_id IN {who} AND {what})"""

GIVEN = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.annotator_id IN {who} AND s.state IN ({states}){role})"""
GIVEN_IN_ROLE = " AND s.role = {value}"
GIVEN_TO_NOBODY = """NOT EXISTS (
    SELECT 1 FROM assignment AS s WHERE s.anchor_id = a.id AND s.state <> 'returned')"""
STATES = {"assigned": "'open', 'done'", "todo": "'open'"}

# The first term is the one that the partial index has.
AUDIT = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.purpose <> 'work' AND s.purpose = 'audit' AND {which})"""
AUDIT_WHICH = {
    "open": "s.state = 'open'",
    "right": "s.state = 'done' AND s.verdict = 'right'",
    "wrong": "s.state = 'done' AND s.verdict = 'wrong'",
}

MY_POSITION = """(
    SELECT min(s.position) FROM assignment AS s
    WHERE s.anchor_id = a.id AND s.annotator_id = :q_me AND s.state <> 'returned'
    ) {direction} NULLS LAST"""

Values = Sequence[Named]


def _who(name: str, binder: Binder) -> str:
    """The ids of everybody of a name, in whichever case it is written."""
    return WHO_ASKS if name == ME else fill(WHO, value=binder.one(name))


def _differs(values: Values, binder: Binder) -> str:
    return " OR ".join(_differ(value, binder) for value in values)


def _differ(value: Named, binder: Binder) -> str:
    left, *others = (_who(name, binder) for name in value.names)
    what = _what_differs(value.what, binder)
    if not others:
        return fill(DIFFERS_FROM_ANYBODY, left=left, what=what)
    return fill(DIFFER, left=left, right=others[0], what=what)


def _what_differs(what: str, binder: Binder) -> str:
    if not what:
        return BLOCKS
    if what in list(Blocking):
        return fill(IN_KIND, value=binder.one(what))
    return fill(IN_NOTE, value=binder.one(f" {what} "))


def _said(values: Values, binder: Binder) -> str:
    # Each condition reads all answers once: one for each person, not for each kind.
    kinds: dict[tuple[str, ...], list[str]] = {}
    for value in values:
        kinds.setdefault(value.names, []).append(value.what)
    return " OR ".join(
        fill(
            SAID,
            kinds=binder.all(some),
            who="".join(fill(SAID_BY, who=_who(name, binder)) for name in names)
            or SAID_BY_ANYBODY,
        )
        for names, some in kinds.items()
    )


def _given(key: str) -> Callable[[Values, Binder], str]:
    def conditions(values: Values, binder: Binder) -> str:
        return " OR ".join(_given_to(value, STATES[key], binder) for value in values)

    return conditions


def _given_to(value: Named, states: str, binder: Binder) -> str:
    if not value.names:
        return GIVEN_TO_NOBODY
    role = fill(GIVEN_IN_ROLE, value=binder.one(value.what)) if value.what else ""
    return fill(GIVEN, who=_who(value.names[0], binder), states=states, role=role)


def _right(values: Values, binder: Binder) -> str:
    return " OR ".join(
        fill(RIGHT, who=_who(value.names[0], binder)) if value.names else f"({NOBODY_RIGHT})"
        for value in values
    )


def _wrong(values: Values, binder: Binder) -> str:
    return " OR ".join(
        fill(
            WRONG,
            who=_who(value.names[0], binder),
            what=_what_differs(value.what, binder),
        )
        for value in values
    )


PEOPLE: dict[str, Callable[[Values, Binder], str]] = {
    "differs": _differs,
    "said": _said,
    "right": _right,
    "wrong": _wrong,
    "predicted": predicted,
    "hit": judged("TRUE"),
    "miss": judged("FALSE"),
    "assigned": _given("assigned"),
    "todo": _given("todo"),
}
"""The condition of each key about people."""


def rule(values: tuple[str, ...], binder: Binder) -> str:
    """Gold that came to count by any of these rules."""
    plain = [value for value in values if value != NONE]
    parts = [fill(RULE, values=binder.all(plain))] if plain else []
    return " OR ".join([*parts, NO_GOLD] if NONE in values else parts)


def experts(values: tuple[str, ...], binder: Binder) -> str:
    """Anchors that several adjudicators decided alike, or differently."""
    del binder
    return " OR ".join(fill(EXPERTS, which=EXPERTS_WHICH[value]) for value in values)


def audit(values: tuple[str, ...], binder: Binder) -> str:
    """Anchors drawn to check what a rule settled, by what came of it."""
    del binder
    return " OR ".join(fill(AUDIT, which=AUDIT_WHICH[value]) for value in values)
