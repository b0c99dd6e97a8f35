"""Queries compiled to SQL over `anchor AS a`: fixed fragments for every key and order, with
values as parameters.
"""

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.anchors import VISIBLE
from nfh_db.query import visibility
from nfh_db.query.keys import ANY, GOLD, NONE, SKIPPED
from nfh_db.query.parser import (
    ME,
    Binder,
    Compare,
    Match,
    Named,
    PeopleTerm,
    Query,
    SortTerm,
    fill,
)
from nfh_db.query.visibility import asked_by
from nfh_db.records import Role
from nfh_models.domain import IMPLICIT_KINDS, Blocking, Kind, tag_forms

ACTIVE_IDENTIFIER = """coalesce(
    (SELECT id FROM model WHERE state = 'active' AND task = 'identification'
     ORDER BY id DESC LIMIT 1),
    (SELECT id FROM model WHERE state = 'active' AND task = 'both' ORDER BY id DESC LIMIT 1))"""
"""The identification model whose decisions are shown, searched and sorted by."""

# Looked up anchor by anchor, and only of those that pass all else: most anchors have one.
IDENTIFIED_SAID = """(
    SELECT i.nfh FROM identification AS i
    WHERE i.anchor_id = a.id AND i.model_id = {active})"""
YES = IDENTIFIED_SAID + " = 1"
NO = IDENTIFIED_SAID + " = 0"
UNSAID = IDENTIFIED_SAID + " IS NULL"

# BROKEN says neither yes nor no, so that comparing gives NULL.
IN_GOLD = """CASE WHEN a.kind = 'NOT_NFH' THEN 0 WHEN a.kind <> 'BROKEN' THEN 1 END"""
IDENTIFIED_AS_GOLD = f"{IDENTIFIED_SAID} = {IN_GOLD}"
NOT_AS_GOLD = f"a.kind IS NOT NULL AND {IDENTIFIED_SAID} <> {IN_GOLD}"

IDENTIFIED_BY_RULE = """+a.id IN (
    SELECT i.anchor_id FROM identification AS i
    WHERE i.model_id = {active} AND i.nfh IN (0, 1) AND i.rule COLLATE NOCASE IN ({values}))"""

BY_SCORE = """(
    SELECT abs(i.score) FROM identification AS i
    WHERE i.anchor_id = a.id AND i.model_id = {active}) {direction} NULLS LAST"""

FRAGMENTS = {"yes": YES, "no": NO, NONE: UNSAID, GOLD: IDENTIFIED_AS_GOLD}


def nfh(term: Match) -> str:
    """What the model says, or how that compares with gold where both say something.

    `!=` turns each value round; with gold it asks for those that do differ from it.
    """
    if not term.unequal:
        return " OR ".join(_fill_identified(FRAGMENTS[value]) for value in term.values)
    return " AND ".join(
        f"({_fill_identified(NOT_AS_GOLD)})"
        if value == GOLD
        else f"({_fill_identified(FRAGMENTS[value])}) IS NOT TRUE"
        for value in term.values
    )


def identified_by_rule(values: tuple[str, ...], binder: Binder) -> str:
    """Decided by any of these rules."""
    return _fill_identified(IDENTIFIED_BY_RULE, values=binder.all(values))


def _fill_identified(fragment: str, **parts: str) -> str:
    return fill(fragment, active=ACTIVE_IDENTIFIER, **parts)


ACTIVE_RESOLVER = """coalesce(
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
CHOICE_RIGHT = """CASE
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
    WHERE m.anchor_id = a.id AND m.model_id IN ({{model}}) AND {CHOICE_RIGHT} IS {{verdict}})"""  # noqa: S608 - made of constants

# Whoever contradicts without a margin does so no more surely than by 0.
BY_CONFLICT = f"""CASE WHEN a.kind IS NOT NULL THEN (
    SELECT coalesce(m.margin, 0.0) FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {{active}} AND {CHOICE_RIGHT} IS FALSE
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
    model = fill(BY_NAME, value=binder.one(value.names[0])) if value.names else ACTIVE_RESOLVER
    if value.what == NONE:
        return fill(CHOSE_NOTHING, model=model)
    if value.what == Kind.REFERENCE:
        return fill(CHOSE_WORD, model=model)
    return fill(CHOSE_CLASS, model=model, values=binder.one(value.what))


# SQL of the orders that learn: doubted gold, models that differ, kinds with little gold.
#
# Undecided models (entropy) and contradicted gold are with the keys of predictions.

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
    WHERE n.task IN ('resolution', 'both') AND n.id IS NOT {ACTIVE_RESOLVER}
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
CHOICES_AS_GOLD = {Kind.OTHER: "'OTHER', 'UNKNOWN'"}
"""What counts as gold of a kind, where that is not the kind alone."""


def doubt(term: Compare, binder: Binder) -> str:
    """Gold that was doubted so much."""
    likely = [round(1.0 - number, PLACES) for number in term.numbers]
    if term.operator == "=":
        return fill(DOUBT_ANY, values=binder.all(likely))
    return fill(DOUBT, operator=TURNED[term.operator], value=binder.one(likely[0]))


def by_models(sort: SortTerm, binder: Binder) -> str:
    """Where the active model and another choose differently, the widest apart first."""
    other = fill(BY_NAME, value=binder.one(sort.model)) if sort.model else NEWEST_OTHER
    direction = "ASC" if sort.reverse else "DESC"
    return fill(BY_MODELS, active=ACTIVE_RESOLVER, other=other, direction=direction)


def by_rare(direction: str) -> str:
    """Undecided anchors, those first whose predicted kind has the least gold."""
    chosen = {kind: f"= '{kind.value}'" for kind in IMPLICIT_KINDS} | {Kind.REFERENCE: A_WORD}
    kinds = " ".join(
        fill(
            LINE,
            chosen=how,
            gold=CHOICES_AS_GOLD.get(kind, f"'{kind.value}'"),
            active=ACTIVE_RESOLVER,
        )
        for kind, how in chosen.items()
    )
    return fill(BY_RARE, kinds=kinds, active=ACTIVE_RESOLVER, direction=direction)


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

ANNOTATOR_SAID = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.role = 'annotator' AND v.removed = 0 AND v.kind IN ({kinds}){who}
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
SAID_BY = " AND v.annotator_id IN {who}"
SAID_BY_ANYBODY = """
        AND v.annotator_id NOT IN (SELECT n.id FROM annotator AS n WHERE n.type <> 'person')"""

GOLD_BY_RULE = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g WHERE g.rule IN ({values}) AND g.removed = 0)"""
NO_GOLD = "a.kind IS NULL"

EXPERTS = "+a.id IN (SELECT e.anchor_id FROM expert_difference AS e WHERE {which})"
EXPERTS_WHICH = {"agree": "e.blocking IS NULL", "differ": "e.blocking IS NOT NULL"}

ANNOTATOR_RIGHT = """+a.id IN (
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
            ANNOTATOR_SAID,
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
        fill(ANNOTATOR_RIGHT, who=_who(value.names[0], binder))
        if value.names
        else f"({NOBODY_RIGHT})"
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


def gold_by_rule(values: tuple[str, ...], binder: Binder) -> str:
    """Gold that came to count by any of these rules."""
    plain = [value for value in values if value != NONE]
    parts = [fill(GOLD_BY_RULE, values=binder.all(plain))] if plain else []
    return " OR ".join([*parts, NO_GOLD] if NONE in values else parts)


def experts(values: tuple[str, ...], binder: Binder) -> str:
    """Anchors that several adjudicators decided alike, or differently."""
    del binder
    return " OR ".join(fill(EXPERTS, which=EXPERTS_WHICH[value]) for value in values)


def audit(values: tuple[str, ...], binder: Binder) -> str:
    """Anchors drawn to check what a rule settled, by what came of it."""
    del binder
    return " OR ".join(fill(AUDIT, which=AUDIT_WHICH[value]) for value in values)


# The first term is the one that the partial index has.
TAGGED = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.rule_tag IS NOT NULL AND v.rule_tag IN ({values}) AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
UNTAGGED = """+a.id NOT IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.rule_tag IS NOT NULL AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""

VERSION = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g JOIN answer AS v ON v.id = g.answer_id
    WHERE g.rule = 'expert' AND g.removed = 0
        AND v.guideline_version {operator} {value})"""
VERSION_ANY = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g JOIN answer AS v ON v.id = g.answer_id
    WHERE g.rule = 'expert' AND g.removed = 0 AND v.guideline_version IN ({values}))"""


def tagged(values: tuple[str, ...], binder: Binder) -> str:
    """An answer names any of these rules, or none does any."""
    plain = [form for value in values if value != NONE for form in tag_forms(value)]
    parts = [fill(TAGGED, values=binder.all(plain))] if plain else []
    return " OR ".join([*parts, fill(UNTAGGED)] if NONE in values else parts)


# From a query to SQL over `anchor AS a`: fixed fragments, and values as parameters.
#
# Every condition is a filter over one walk along the anchors in passage order, which the
# index of UNIQUE (passage_id, start, stop) gives; a unary + keeps other indexes from being
# preferred and the result from being sorted afterwards. The walk takes a few hundredths of
# a second for 200,000 anchors, and the first hits come at once. Conditions on the passage
# are tested once a passage, not once an anchor, however many anchors it has.

ID = "a.id IN ({values})"
STATE = "a.state IN ({values})"
SKIPPED_BY_ME = """a.state <> 'decided' AND +a.id IN (
    SELECT f.anchor_id FROM flag AS f
    WHERE f.annotator_id = :q_me AND f.name = 'skip' AND f.removed = 0
        AND (f.batch_id IS NULL OR f.batch_id NOT IN ({loading})))"""

KIND = "a.kind IN ({values})"
NO_KIND = "a.kind IS NULL"

SPLIT = """+a.id IN (
    SELECT s.anchor_id FROM source_row AS s
    WHERE s.split IN ({values}) AND s.batch_id NOT IN ({loading}))"""

WORD = "+a.word COLLATE NOCASE IN ({values})"

FLAG = """+a.id IN (
    SELECT f.anchor_id FROM flag AS f
    WHERE f.name IN ({values}) AND f.removed = 0
        AND (f.batch_id IS NULL OR f.batch_id NOT IN ({loading})))"""

BLOCKING_OR_NOTE = "instr(a.blocking || a.notes, {value}) > 0"
ANY_BLOCKING = "a.strongest IS NOT NULL"

PATTERN = "a.pattern IN ({values})"

# Looked up anchor by anchor, and only of those that pass all else: most people answer most
# anchors, so that a list of theirs is long. EXISTS would be made a join, with an index built
# for it each time.
BY = """(
    SELECT 1 FROM answer AS v
    WHERE v.anchor_id = a.id AND v.annotator_id IN (
            SELECT n.id FROM annotator AS n WHERE n.name COLLATE NOCASE IN ({values}))
        AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})) LIMIT 1) = 1"""

HEADS = "a.heads {operator} {value}"
HEADS_ANY = "a.heads IN ({values})"
VOTES = "a.votes {operator} {value}"
VOTES_ANY = "a.votes IN ({values})"

PASSAGES = """+a.passage_id IN (SELECT x.id FROM passage AS x WHERE {conditions})"""
DOCUMENTS = "x.document_id IN (SELECT d.id FROM document AS d WHERE {condition})"
CONTAINS = "instr(lower({column}), {value}) > 0"

# Most texts are ASCII, as many bytes as characters, and cannot hold the value.
CONTAINS_CASED = "(octet_length({column}) > length({column}) AND {column} GLOB {value})"

NOT = "({condition}) IS NOT TRUE"
"""Holds where the condition is unknown too, as for -class:AGE without any gold."""

PASSAGE_ORDER = "a.passage_id, a.start, a.stop"
PASSAGE_ORDER_BACK = "a.passage_id DESC, a.start DESC, a.stop DESC"

STRENGTH = (
    "CASE a.strongest "
    + " ".join(f"WHEN '{kind.value}' THEN {rank}" for rank, kind in enumerate(Blocking))
    + " END {direction} NULLS LAST"
)
BY_WORD = "a.word COLLATE NOCASE {direction}"
BY_VOTES = "a.votes {direction}"
BY_MARGIN = """(
    SELECT m.margin FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {active}) {direction} NULLS LAST"""

# x squared modulo a prime, x being linear in the id: no multiplication leaves 63 bits for
# ids below 2**46, and neighbours land far apart without a fixed distance.
SHUFFLED_LINE = "((a.id * 65537 + {value}) % 2147483647)"
SHUFFLED = f"({SHUFFLED_LINE} * {SHUFFLED_LINE}) % 2147483629 {{direction}}"
SEED_STEP = 1_640_531_527
SEED_PRIME = 2_147_483_647

ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL for `SELECT … FROM anchor AS a WHERE {where} ORDER BY {order}`.

    A join of `passage AS p` changes nothing. where: VISIBLE included. parameters: their
    names all begin with q_, so that a statement may have others of its own.
    """

    where: str
    order: str
    parameters: dict[str, object]


def _fill_predicted(fragment: str, **parts: str) -> str:
    """A fragment made whole; those about the model name the active one."""
    return fill(fragment, active=ACTIVE_RESOLVER, implicit=IMPLICIT, **parts)


def compile(  # noqa: A001 - the language's own word
    query: Query, me_id: int, role: Role = Role.ADJUDICATOR, *, blind: bool = False
) -> Compiled:
    """The SQL of a query; me_id is who asks, whose skipped anchors state:skipped means.

    In the annotator's role nothing is found by what others answered, by gold or by models:
    raises QueryError for a query that asks for that. blind: what the person has still to
    decide blind is found as though nobody had decided it.
    """
    binder = Binder(me_id)
    if role is Role.ANNOTATOR:
        return _compile_own(asked_by(query, role), binder)
    conditions = [VISIBLE]
    passage_conditions = []
    for term in query.terms:
        if isinstance(term, Match) and term.key in ("text", "doc"):
            passage_conditions.append(_passage_condition(term, binder))
        else:
            condition = _condition(term, binder)
            conditions.append(visibility.kept(term, condition) if blind else condition)
    if blind and visibility.order_tells(query):
        conditions.append(visibility.NOT_BLIND)
    if passage_conditions:
        conditions.append(
            _fill_predicted(PASSAGES, conditions=" AND ".join(passage_conditions))
        )
    return Compiled(" AND ".join(conditions), _order(query.sorts, binder), binder.parameters)


def compile_seen(query: Query, me_id: int) -> Compiled:
    """The SQL of a query in a count of answers or gold: all but what is to be decided blind."""
    compiled = compile(query, me_id)
    return replace(compiled, where=f"{compiled.where} AND {visibility.NOT_BLIND}")


def _compile_own(query: Query, binder: Binder) -> Compiled:
    """The SQL of a query that an annotator may ask."""
    conditions = [VISIBLE, *(_own_condition(term, binder) for term in query.terms)]
    order = _order(query.sorts, binder, ORDERS | {"assigned": visibility.MY_POSITION})
    return Compiled(" AND ".join(conditions), order, binder.parameters)


def _own_condition(term: Match | PeopleTerm | Compare, binder: Binder) -> str:
    condition = visibility.condition(term, binder)
    if condition is not None:
        unequal = False if isinstance(term, Compare) else term.unequal
        held = f"({condition})"
        return _fill_predicted(NOT, condition=condition) if term.negated != unequal else held
    if isinstance(term, Match) and term.key in ("split", "doc"):
        # The contrary of what is not told is not told either, so it is turned round inside.
        plain = (
            _fill_predicted(PASSAGES, conditions=_passage_condition(term, binder))
            if term.key == "doc"
            else _condition(term, binder)
        )
        return visibility.ungiven(plain)
    if isinstance(term, Match) and term.key == "text":
        return _fill_predicted(PASSAGES, conditions=_passage_condition(term, binder))
    return _condition(term, binder)


def _condition(term: Match | PeopleTerm | Compare, binder: Binder) -> str:
    if isinstance(term, Compare):
        condition = _compare(term, binder)
        return _fill_predicted(NOT, condition=condition) if term.negated else condition
    if isinstance(term, PeopleTerm):
        return _sign(term, PEOPLE[term.key](term.values, binder))
    if term.key == "nfh":
        condition = nfh(term)
        return _fill_predicted(NOT, condition=condition) if term.negated else f"({condition})"
    if term.key == "model":
        verdict = "FALSE" if term.unequal else "TRUE"
        condition = _fill_predicted(JUDGED, model=ACTIVE_RESOLVER, verdict=verdict)
        return _fill_predicted(NOT, condition=condition) if term.negated else f"({condition})"
    return _sign(term, MATCHES[term.key](term.values, binder))


def _sign(term: Match | PeopleTerm, condition: str) -> str:
    """The condition, or its contrary: `!=` and the minus sign each turn it round."""
    if term.negated != term.unequal:
        return _fill_predicted(NOT, condition=condition)
    return f"({condition})"


def _compare(term: Compare, binder: Binder) -> str:
    if term.key == "doubt":
        return doubt(term, binder)
    fragment, fragment_any = COMPARES[term.key]
    if term.operator == "=":
        return _fill_predicted(fragment_any, values=binder.all(term.numbers))
    return _fill_predicted(
        fragment, operator=OPERATORS[term.operator], value=binder.one(term.numbers[0])
    )


def _state(values: tuple[str, ...], binder: Binder) -> str:
    return _with_special(values, SKIPPED, SKIPPED_BY_ME, STATE, binder)


def _kind(values: tuple[str, ...], binder: Binder) -> str:
    return _with_special(values, NONE, NO_KIND, KIND, binder)


def _with_special(
    values: tuple[str, ...], special: str, special_fragment: str, fragment: str, binder: Binder
) -> str:
    """Any of the values, one of which has a fragment of its own."""
    plain = [value for value in values if value != special]
    parts = [_fill_predicted(fragment, values=binder.all(plain))] if plain else []
    if special in values:
        parts.append(f"({_fill_predicted(special_fragment)})")
    return " OR ".join(parts)


def _id(values: tuple[str, ...], binder: Binder) -> str:
    return _fill_predicted(ID, values=binder.all(map(int, values)))


def _disagree(values: tuple[str, ...], binder: Binder) -> str:
    return " OR ".join(
        ANY_BLOCKING
        if value == ANY
        else _fill_predicted(BLOCKING_OR_NOTE, value=binder.one(f" {value} "))
        for value in values
    )


def _in(fragment: str) -> Callable[[tuple[str, ...], Binder], str]:
    return lambda values, binder: _fill_predicted(fragment, values=binder.all(values))


MATCHES: dict[str, Callable[[tuple[str, ...], Binder], str]] = {
    "id": _id,
    "state": _state,
    "class": _kind,
    "split": _in(SPLIT),
    "anchor": _in(WORD),
    "flag": _in(FLAG),
    "disagree": _disagree,
    "pattern": _in(PATTERN),
    "by": _in(BY),
    "rule": gold_by_rule,
    "experts": experts,
    "audit": audit,
    "tagged": tagged,
    "nfhrule": identified_by_rule,
}
COMPARES = {
    "heads": (HEADS, HEADS_ANY),
    "votes": (VOTES, VOTES_ANY),
    "guideline": (VERSION, VERSION_ANY),
    "margin": (MARGIN, MARGIN_ANY),
    "conf": (CONFIDENCE, CONFIDENCE_ANY),
    "entropy": (ENTROPY, ENTROPY_ANY),
}
OPERATORS = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}


def _passage_condition(term: Match, binder: Binder) -> str:
    """Over `passage AS x`: its text, or its document's name, holds any of the values."""
    column = "x.text" if term.key == "text" else "d.name"
    condition = " OR ".join(_contains(column, value, binder) for value in term.values)
    if term.key == "doc":
        condition = _fill_predicted(DOCUMENTS, condition=condition)
    return _sign(term, condition)


def _contains(column: str, value: str, binder: Binder) -> str:
    """Whether the column holds the value, in either case.

    SQLite's lower() folds ASCII letters only; where the value has other letters with two
    cases, a pattern of character classes finds both. Patterns end at a NUL character, so
    that a value with one is looked for without this.
    """
    cased = any(len(_cases(character)) > 1 for character in value if not character.isascii())
    if not cased or "\0" in value:
        return _fill_predicted(
            CONTAINS, column=column, value=binder.one(value.translate(ASCII_LOWER))
        )
    pattern = "".join(_class(character) for character in value)
    return _fill_predicted(CONTAINS_CASED, column=column, value=binder.one(f"*{pattern}*"))


def _cases(character: str) -> set[str]:
    """The character in each case, as far as that is one character."""
    upper = character.upper()
    forms = {character, character.lower(), upper, upper.lower(), character.title()}
    return {form for form in forms if len(form) == 1}


def _class(character: str) -> str:
    """A GLOB class of the character's cases; a class makes * ? and [ plain, too."""
    if character == "^":
        return character
    return f"[{''.join(sorted(_cases(character)))}]"


def _order(
    sorts: tuple[SortTerm, ...], binder: Binder, orders: Mapping[str, str] | None = None
) -> str:
    """The order of the list. orders: what names of orders mean, if not what ORDERS says."""
    parts: list[str] = []
    for sort in sorts:
        if sort.name == "order":
            return ", ".join([*parts, PASSAGE_ORDER_BACK if sort.reverse else PASSAGE_ORDER])
        parts.append(_sort(sort, binder, ORDERS if orders is None else orders))
    return ", ".join([*parts, PASSAGE_ORDER])


def _sort(sort: SortTerm, binder: Binder, orders: Mapping[str, str]) -> str:
    direction = "DESC" if sort.reverse else "ASC"
    if sort.name == "random":
        seed = binder.one(sort.seed * SEED_STEP % SEED_PRIME)
        return _fill_predicted(SHUFFLED, value=seed, direction=direction)
    if sort.name in LARGEST_FIRST:
        direction = "ASC" if sort.reverse else "DESC"
        return _fill_predicted(LARGEST_FIRST[sort.name], direction=direction)
    if sort.name == "models":
        return by_models(sort, binder)
    if sort.name == "rare":
        return by_rare(direction)
    if sort.name == "nfh":
        return fill(BY_SCORE, active=ACTIVE_IDENTIFIER, direction=direction)
    return _fill_predicted(orders[sort.name], direction=direction)


ORDERS = {
    "disagree": STRENGTH,
    "anchor": BY_WORD,
    "votes": BY_VOTES,
    "uncertain": BY_MARGIN,
    "doubt": BY_DOUBT,
    "assigned": MY_POSITION,
}
LARGEST_FIRST = {"conflict": BY_CONFLICT, "entropy": BY_ENTROPY}
"""The surest, or the most undecided first: not as numbers are ordered by themselves."""
