"""From a query to SQL over `anchor AS a`: fixed fragments, and values as parameters.

Every condition is a filter over one walk along the anchors in passage order, which the
index of UNIQUE (passage_id, start, stop) gives; a unary + keeps other indexes from being
preferred and the result from being sorted afterwards. The walk takes a few hundredths of
a second for 200,000 anchors, and the first hits come at once. Conditions on the passage
are tested once a passage, not once an anchor, however many anchors it has.
"""

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from nfh_db.anchors import VISIBLE
from nfh_db.query import blind as blindly
from nfh_db.query import identified, learning, own, predicted, tagging
from nfh_db.query.annotating import asked_by
from nfh_db.query.binding import Binder, fill
from nfh_db.query.people import MY_POSITION, PEOPLE, audit, experts, rule
from nfh_db.query.registry import ANY, NONE, SKIPPED
from nfh_db.query.terms import Compare, Match, People, Query, Sort
from nfh_db.records import Role
from nfh_models.domain import Blocking

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


def _fill(fragment: str, **parts: str) -> str:
    """A fragment made whole; those about the model name the active one."""
    return fill(fragment, active=predicted.ACTIVE, implicit=predicted.IMPLICIT, **parts)


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
            conditions.append(blindly.kept(term, condition) if blind else condition)
    if blind and blindly.order_tells(query):
        conditions.append(blindly.NOT_BLIND)
    if passage_conditions:
        conditions.append(_fill(PASSAGES, conditions=" AND ".join(passage_conditions)))
    return Compiled(" AND ".join(conditions), _order(query.sorts, binder), binder.parameters)


def compile_seen(query: Query, me_id: int) -> Compiled:
    """The SQL of a query in a count of answers or gold: all but what is to be decided blind."""
    compiled = compile(query, me_id)
    return replace(compiled, where=f"{compiled.where} AND {blindly.NOT_BLIND}")


def _compile_own(query: Query, binder: Binder) -> Compiled:
    """The SQL of a query that an annotator may ask."""
    conditions = [VISIBLE, *(_own_condition(term, binder) for term in query.terms)]
    order = _order(query.sorts, binder, ORDERS | {"assigned": own.MY_POSITION})
    return Compiled(" AND ".join(conditions), order, binder.parameters)


def _own_condition(term: Match | People | Compare, binder: Binder) -> str:
    condition = own.condition(term, binder)
    if condition is not None:
        unequal = False if isinstance(term, Compare) else term.unequal
        held = f"({condition})"
        return _fill(NOT, condition=condition) if term.negated != unequal else held
    if isinstance(term, Match) and term.key in ("split", "doc"):
        # The contrary of what is not told is not told either, so it is turned round inside.
        plain = (
            _fill(PASSAGES, conditions=_passage_condition(term, binder))
            if term.key == "doc"
            else _condition(term, binder)
        )
        return own.ungiven(plain)
    if isinstance(term, Match) and term.key == "text":
        return _fill(PASSAGES, conditions=_passage_condition(term, binder))
    return _condition(term, binder)


def _condition(term: Match | People | Compare, binder: Binder) -> str:
    if isinstance(term, Compare):
        condition = _compare(term, binder)
        return _fill(NOT, condition=condition) if term.negated else condition
    if isinstance(term, People):
        return _sign(term, PEOPLE[term.key](term.values, binder))
    if term.key == "nfh":
        condition = identified.nfh(term)
        return _fill(NOT, condition=condition) if term.negated else f"({condition})"
    if term.key == "model":
        verdict = "FALSE" if term.unequal else "TRUE"
        condition = _fill(predicted.JUDGED, model=predicted.ACTIVE, verdict=verdict)
        return _fill(NOT, condition=condition) if term.negated else f"({condition})"
    return _sign(term, MATCHES[term.key](term.values, binder))


def _sign(term: Match | People, condition: str) -> str:
    """The condition, or its contrary: `!=` and the minus sign each turn it round."""
    if term.negated != term.unequal:
        return _fill(NOT, condition=condition)
    return f"({condition})"


def _compare(term: Compare, binder: Binder) -> str:
    if term.key == "doubt":
        return learning.doubt(term, binder)
    fragment, fragment_any = COMPARES[term.key]
    if term.operator == "=":
        return _fill(fragment_any, values=binder.all(term.numbers))
    return _fill(fragment, operator=OPERATORS[term.operator], value=binder.one(term.numbers[0]))


def _state(values: tuple[str, ...], binder: Binder) -> str:
    return _with_special(values, SKIPPED, SKIPPED_BY_ME, STATE, binder)


def _kind(values: tuple[str, ...], binder: Binder) -> str:
    return _with_special(values, NONE, NO_KIND, KIND, binder)


def _with_special(
    values: tuple[str, ...], special: str, special_fragment: str, fragment: str, binder: Binder
) -> str:
    """Any of the values, one of which has a fragment of its own."""
    plain = [value for value in values if value != special]
    parts = [_fill(fragment, values=binder.all(plain))] if plain else []
    if special in values:
        parts.append(f"({_fill(special_fragment)})")
    return " OR ".join(parts)


def _id(values: tuple[str, ...], binder: Binder) -> str:
    return _fill(ID, values=binder.all(map(int, values)))


def _disagree(values: tuple[str, ...], binder: Binder) -> str:
    return " OR ".join(
        ANY_BLOCKING
        if value == ANY
        else _fill(BLOCKING_OR_NOTE, value=binder.one(f" {value} "))
        for value in values
    )


def _in(fragment: str) -> Callable[[tuple[str, ...], Binder], str]:
    return lambda values, binder: _fill(fragment, values=binder.all(values))


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
    "rule": rule,
    "experts": experts,
    "audit": audit,
    "tagged": tagging.tagged,
    "nfhrule": identified.rule,
}
COMPARES = {
    "heads": (HEADS, HEADS_ANY),
    "votes": (VOTES, VOTES_ANY),
    "guideline": (tagging.VERSION, tagging.VERSION_ANY),
    "margin": (predicted.MARGIN, predicted.MARGIN_ANY),
    "conf": (predicted.CONFIDENCE, predicted.CONFIDENCE_ANY),
    "entropy": (predicted.ENTROPY, predicted.ENTROPY_ANY),
}
OPERATORS = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}


def _passage_condition(term: Match, binder: Binder) -> str:
    """Over `passage AS x`: its text, or its document's name, holds any of the values."""
    column = "x.text" if term.key == "text" else "d.name"
    condition = " OR ".join(_contains(column, value, binder) for value in term.values)
    if term.key == "doc":
        condition = _fill(DOCUMENTS, condition=condition)
    return _sign(term, condition)


def _contains(column: str, value: str, binder: Binder) -> str:
    """Whether the column holds the value, in either case.

    SQLite's lower() folds ASCII letters only; where the value has other letters with two
    cases, a pattern of character classes finds both. Patterns end at a NUL character, so
    that a value with one is looked for without this.
    """
    cased = any(len(_cases(character)) > 1 for character in value if not character.isascii())
    if not cased or "\0" in value:
        return _fill(CONTAINS, column=column, value=binder.one(value.translate(ASCII_LOWER)))
    pattern = "".join(_class(character) for character in value)
    return _fill(CONTAINS_CASED, column=column, value=binder.one(f"*{pattern}*"))


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
    sorts: tuple[Sort, ...], binder: Binder, orders: Mapping[str, str] | None = None
) -> str:
    """The order of the list. orders: what names of orders mean, if not what ORDERS says."""
    parts: list[str] = []
    for sort in sorts:
        if sort.name == "order":
            return ", ".join([*parts, PASSAGE_ORDER_BACK if sort.reverse else PASSAGE_ORDER])
        parts.append(_sort(sort, binder, ORDERS if orders is None else orders))
    return ", ".join([*parts, PASSAGE_ORDER])


def _sort(sort: Sort, binder: Binder, orders: Mapping[str, str]) -> str:
    direction = "DESC" if sort.reverse else "ASC"
    if sort.name == "random":
        seed = binder.one(sort.seed * SEED_STEP % SEED_PRIME)
        return _fill(SHUFFLED, value=seed, direction=direction)
    if sort.name in LARGEST_FIRST:
        direction = "ASC" if sort.reverse else "DESC"
        return _fill(LARGEST_FIRST[sort.name], direction=direction)
    if sort.name == "models":
        return learning.by_models(sort, binder)
    if sort.name == "rare":
        return learning.by_rare(direction)
    if sort.name == "nfh":
        return fill(identified.BY_SCORE, active=identified.ACTIVE, direction=direction)
    return _fill(orders[sort.name], direction=direction)


ORDERS = {
    "disagree": STRENGTH,
    "anchor": BY_WORD,
    "votes": BY_VOTES,
    "uncertain": BY_MARGIN,
    "doubt": learning.BY_DOUBT,
    "assigned": MY_POSITION,
}
LARGEST_FIRST = {"conflict": predicted.BY_CONFLICT, "entropy": predicted.BY_ENTROPY}
"""The surest, or the most undecided first: not as numbers are ordered by themselves."""
