"""What somebody may ask in a role: an annotator sees one's own work only, and what is still
to be decided blind is found as though nobody had decided it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nfh_db.errors import QueryError
from nfh_db.query.keys import BY_NAME, KEYS, NONE, SKIPPED, SORTS, WHO_ASKS, Key
from nfh_db.query.keys import OF_MODELS as SORTS_OF_MODELS
from nfh_db.query.parser import (
    ME,
    Binder,
    Compare,
    Match,
    Named,
    PeopleTerm,
    Query,
    fill,
    one_of,
)
from nfh_db.records import AnchorState, Role
from nfh_models.domain import tag_forms

# What an annotator may ask: nothing that tells what others answered or a model says.
#
# Whoever gives answers of their own asks in that role. Keys and orders that depend on others'
# answers, on gold or on models are refused; the others mean one's own state, answers and
# flags.

STATES_SEEN = (AnchorState.OPEN.value, AnchorState.ANSWERED.value, SKIPPED)
"""Where an anchor stands for an annotator who knows of no other's answer."""

OWN_PREFIX = f"{WHO_ASKS}/"

CHANGED: dict[str, Key] = {
    "state": replace(
        BY_NAME["state"],
        summary="where the anchor stands for you: open, answered by you, or put off by you",
        values=STATES_SEEN,
    ),
    "flag": replace(BY_NAME["flag"], summary="a flag that you set"),
    "by": replace(
        BY_NAME["by"],
        summary="answered by you",
        values=(WHO_ASKS,),
        open_values=False,
    ),
    "said": replace(
        BY_NAME["said"],
        summary="the kind that you answered",
        values=(OWN_PREFIX,),
        open_values=False,
    ),
    "tagged": replace(
        BY_NAME["tagged"], summary="the rule of the guidelines on which your answer turned"
    ),
    "guideline": replace(
        BY_NAME["guideline"], summary="the version of the guidelines under which you answered"
    ),
    "assigned": replace(
        BY_NAME["assigned"],
        summary="given to you to annotate, answered or not",
        values=(WHO_ASKS,),
        open_values=False,
        after=(Role.ANNOTATOR.value,),
    ),
    "todo": replace(
        BY_NAME["todo"],
        summary="given to you to annotate, and not answered yet",
        values=(WHO_ASKS,),
        open_values=False,
        after=(Role.ANNOTATOR.value,),
    ),
    "sort": replace(BY_NAME["sort"], values=("order", "anchor", "random", "assigned")),
}
"""The keys that say something else in the annotator's role."""

AS_EVER = ("text", "anchor", "split", "doc", "id")
"""The keys that say the same, split and doc of what was not given to this person."""

ALLOWED: tuple[Key, ...] = tuple(
    CHANGED.get(key.name, key) for key in KEYS if key.name in (*CHANGED, *AS_EVER)
)

OF_MODELS = (
    *("model", "predicted", "hit", "miss", "margin", "conf", "entropy", "doubt"),
    *("nfh", "nfhrule"),
)

ONLY_ME = ("by", "said", "assigned", "todo")
INSTEAD = (
    "While annotating ask for "
    + ", ".join(key.name for key in ALLOWED if key.name not in ONLY_ME)
    + f", or {', '.join(f'{key}:{WHO_ASKS}' for key in ONLY_ME)}"
)


def keys_for(role: Role) -> tuple[Key, ...]:
    """The keys that may be asked in a role, as they are meant there."""
    return ALLOWED if role is Role.ANNOTATOR else KEYS


def sorts_for(role: Role) -> dict[str, str]:
    """The orders that may be asked for in a role, with what each means."""
    allowed = CHANGED["sort"].values if role is Role.ANNOTATOR else tuple(SORTS)
    return {name: meaning for name, meaning in SORTS.items() if name in allowed}


def asked_by(query: Query, role: Role, name: str = "") -> Query:
    """The query as it may be asked in a role, by the person of that name.

    An annotator's own name becomes ME. Raises QueryError where it asks in the annotator's
    role for what tells of others' answers, gold or models.
    """
    if role is not Role.ANNOTATOR:
        return query
    for sort in query.sorts:
        if sort.name not in CHANGED["sort"].values:
            raise QueryError(_refused(f"sort:{sort.name}", sort.name in SORTS_OF_MODELS))
    return replace(query, terms=tuple(_term(term, name) for term in query.terms))


def _term(term: Match | PeopleTerm | Compare, name: str) -> Match | PeopleTerm | Compare:
    if term.key not in CHANGED and term.key not in AS_EVER:
        raise QueryError(_refused(f"{term.key}:", term.key in OF_MODELS))
    if isinstance(term, PeopleTerm):
        return replace(term, values=tuple(_own(term.key, value, name) for value in term.values))
    if isinstance(term, Compare):
        return term
    if term.key == "by":
        return _by_oneself(term, name)
    wrong = [value for value in term.values if term.key == "state" and value not in STATES_SEEN]
    if wrong:
        raise QueryError(
            f"state:{wrong[0]} tells what others did; while annotating state is one of "
            f"{one_of(STATES_SEEN)}: your own"
        )
    return term


def _by_oneself(term: Match, name: str) -> Match:
    """The term with `me` for the one who asks; nobody else may be named."""
    for value in term.values:
        if value and not _is_me(value, name) and value.casefold() != WHO_ASKS:
            raise QueryError(_of_others("by", value))
    return replace(term, values=(WHO_ASKS,))


def _own(key: str, value: Named, name: str) -> Named:
    """A value about whoever asks, as an annotator; about anybody else it is refused."""
    if len(value.names) != 1 or not _is_me(value.names[0], name):
        raise QueryError(_of_others(key, value.names[0] if value.names else ""))
    if key in ("assigned", "todo"):
        if value.what == Role.ADJUDICATOR:
            raise QueryError(
                f"{key}:{WHO_ASKS}/{value.what}: while annotating {key} is of what you were "
                f"given to annotate: {key}:{WHO_ASKS}"
            )
        return Named((ME,), Role.ANNOTATOR.value)
    return Named((ME,), value.what)


def _is_me(value: str, name: str) -> bool:
    return value == ME or (bool(name) and value.casefold() == name.casefold())


def _of_others(key: str, value: str) -> str:
    about = f"{key}:{value}" if value else f"{key}: without a name"
    own = f"{key}:{WHO_ASKS}/AGE" if key == "said" else f"{key}:{WHO_ASKS}"
    return f"{about} tells about others; while annotating only {own} may be asked"


def _refused(asked: str, of_models: bool) -> str:
    what = "what a model says" if of_models else "what others answered or decided"
    return f"{asked} tells {what}. {INSTEAD}"


# What somebody has still to decide blind, in queries: found as though nobody had decided it.
#
# An adjudicator to whom an anchor was given as a double or for an audit is shown nobody's
# decision of it. So a key that tells of answers or of gold finds it only where it would find
# an anchor that nobody has decided: `state:open`, `class:none`, `rule:none`, `-class:AGE`.

# The first term is the one that the partial index has.
BLIND = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.purpose <> 'work' AND s.purpose IN ('double', 'audit')
        AND s.annotator_id = :q_me AND s.role = 'adjudicator' AND s.state = 'open')"""
NOT_BLIND = BLIND.replace("+a.id IN", "+a.id NOT IN", 1)

TELL_NOTHING = frozenset(
    {"text", "doc", "anchor", "split", "id", "nfh", "nfhrule"}
    | {"predicted", "margin", "conf", "entropy"}
)
"""Keys about the text, or about what models say of it. What is not here tells of people."""

OWN_KEYS = frozenset({"assigned", "todo", "said"})
"""Keys that tell nothing of others where they are about whoever asks."""

OPEN = "open"
"""Of the key `audit`: drawn, and not looked at yet."""

SORTS_TELL_NOTHING = frozenset(
    {"order", "anchor", "random", "assigned", "uncertain", "nfh", "entropy", "models"}
)

UNDECIDED = {"state": AnchorState.OPEN.value, "class": NONE, "rule": NONE}
"""The value that each of these keys has of an anchor that nobody has decided."""


def kept(term: Match | PeopleTerm | Compare, condition: str) -> str:
    """A term's condition, signs included, so that it tells nothing of what is decided blind."""
    if term.key in TELL_NOTHING or _is_own(term):
        return condition
    return f"({condition} OR {BLIND})" if _finds_undecided(term) else _without(condition)


def _without(condition: str) -> str:
    return f"({condition} AND {NOT_BLIND})"


def _is_own(term: Match | PeopleTerm | Compare) -> bool:
    if isinstance(term, Match) and term.key == "audit":
        # That they were given it to check is what the auditor is told.
        return set(term.values) == {OPEN}
    if not isinstance(term, PeopleTerm) or term.key not in OWN_KEYS:
        return False
    return all(value.names and set(value.names) == {ME} for value in term.values)


def _finds_undecided(term: Match | PeopleTerm | Compare) -> bool:
    """Whether a term holds for an anchor of which nobody has said anything."""
    if isinstance(term, Compare):
        return term.negated
    plain = isinstance(term, Match) and UNDECIDED.get(term.key) in term.values
    return plain != (term.negated != term.unequal)


def order_tells(query: Query) -> bool:
    """Whether the order of what a query finds tells of answers or of gold."""
    return any(sort.name not in SORTS_TELL_NOTHING for sort in query.sorts)


MINE = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.annotator_id = :q_me AND v.removed = 0{more}
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
AS_ANNOTATOR = " AND v.role = 'annotator'"
OF_KINDS = f"{AS_ANNOTATOR} AND v.kind IN ({{values}})"
WITH_TAG = f"{AS_ANNOTATOR} AND v.rule_tag IN ({{values}})"
ANY_TAG = f"{AS_ANNOTATOR} AND v.rule_tag IS NOT NULL"
UNDER = f"{AS_ANNOTATOR} AND v.guideline_version {{operator}} {{value}}"
UNDER_ANY = f"{AS_ANNOTATOR} AND v.guideline_version IN ({{values}})"

FLAG = """+a.id IN (
    SELECT f.anchor_id FROM flag AS f
    WHERE f.annotator_id = :q_me AND f.name IN ({values}) AND f.removed = 0
        AND (f.batch_id IS NULL OR f.batch_id NOT IN ({loading})))"""

GIVEN = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.annotator_id = :q_me AND s.role = 'annotator' AND s.state IN ({states}))"""
ASSIGNMENT_STATES = {"assigned": "'open', 'done'", "todo": "'open'"}

# What was given to somebody does not say which file it is from, nor does its passage by
# another of its numbers: a hidden check is often from another file.
UNGIVEN = """(+a.passage_id NOT IN (
    SELECT o.passage_id FROM assignment AS s JOIN anchor AS o ON o.id = s.anchor_id
    WHERE s.annotator_id = :q_me AND s.role = 'annotator') AND {condition})"""

MY_POSITION = """(
    SELECT min(s.position) FROM assignment AS s
    WHERE s.anchor_id = a.id AND s.annotator_id = :q_me AND s.role = 'annotator'
        AND s.state <> 'returned'
    ) {direction} NULLS LAST"""


def ungiven(condition: str) -> str:
    """A condition that holds only of passages of which this person was given nothing."""
    return UNGIVEN.format(condition=condition)


def mine(more: str = "") -> str:
    """Answered by whoever asks. more: what else holds of the answer."""
    return fill(MINE, more=more)


def _state(values: Sequence[str], binder: Binder) -> str:
    answered = mine(AS_ANNOTATOR)
    skipped = fill(FLAG, values=binder.one("skip"))
    meant = {
        AnchorState.OPEN.value: f"({answered}) IS NOT TRUE",
        AnchorState.ANSWERED.value: answered,
        SKIPPED: f"({skipped} AND ({answered}) IS NOT TRUE)",
    }
    return " OR ".join(f"({meant[value]})" for value in values)


def _tagged(values: Sequence[str], binder: Binder) -> str:
    forms = [form for value in values if value != NONE for form in tag_forms(value)]
    parts = [mine(WITH_TAG.format(values=binder.all(forms)))] if forms else []
    if NONE in values:
        parts.append(f"({mine(ANY_TAG)}) IS NOT TRUE")
    return " OR ".join(parts)


def _said(term: PeopleTerm, binder: Binder) -> str:
    kinds = [value.what for value in term.values if value.what]
    # A name without a kind, which no text asks for, is any answer.
    if len(kinds) < len(term.values):
        return mine(AS_ANNOTATOR)
    return mine(OF_KINDS.format(values=binder.all(kinds)))


def _by_me(values: Sequence[str], binder: Binder) -> str:
    del values, binder
    return mine()


MATCHES: dict[str, Callable[[Sequence[str], Binder], str]] = {
    "state": _state,
    "flag": lambda values, binder: fill(FLAG, values=binder.all(values)),
    "by": _by_me,
    "tagged": _tagged,
}


def condition(term: Match | PeopleTerm | Compare, binder: Binder) -> str | None:
    """The condition of a term, its signs left to the caller; None where it is as ever."""
    if isinstance(term, Compare):
        if term.operator == "=":
            return mine(UNDER_ANY.format(values=binder.all(term.numbers)))
        value = binder.one(term.numbers[0])
        return mine(UNDER.format(operator=term.operator, value=value))
    if isinstance(term, PeopleTerm):
        if term.key == "said":
            return _said(term, binder)
        return fill(GIVEN, states=ASSIGNMENT_STATES[term.key])
    made = MATCHES.get(term.key)
    return None if made is None else made(term.values, binder)
