"""Limits of queries: annotators may ask about their own work only, and what a person must
still decide blind counts as undecided.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nfh_db.errors import QueryError
from nfh_db.query.keys import (
    ANNOTATOR_CHANGES,
    ANNOTATOR_KEYS,
    ANNOTATOR_STATES,
    ME_WORD,
    MODEL_SORTS,
    NONE,
    SKIPPED,
    UNCHANGED_KEYS,
)
from nfh_db.query.parser import (
    ME,
    Binder,
    Compare,
    Match,
    PeopleTerm,
    PeopleValue,
    Query,
    Term,
    fill,
    one_of,
)
from nfh_db.records import AnchorState, Role, normal_name
from nfh_models.domain import tag_forms

MODEL_KEYS = (
    *("model", "predicted", "hit", "miss", "margin", "conf", "entropy", "doubt"),
    *("nfh", "nfhrule"),
)

OWN_NAME_KEYS = ("by", "said", "assigned", "todo")
ALLOWED_HINT = (
    "While annotating ask for "
    + ", ".join(key.name for key in ANNOTATOR_KEYS if key.name not in OWN_NAME_KEYS)
    + f", or {', '.join(f'{key}:{ME_WORD}' for key in OWN_NAME_KEYS)}"
)


def asked_by(query: Query, role: Role, name: str = "") -> Query:
    """The query of a person in a role, with an annotator's own name replaced by ME.

    Raises QueryError in the annotator's role for keys and orders that reveal others' answers,
    gold or models.
    """
    if role is not Role.ANNOTATOR:
        return query
    for sort in query.sorts:
        if sort.name not in ANNOTATOR_CHANGES["sort"].values:
            raise QueryError(_refused(f"sort:{sort.name}", sort.name in MODEL_SORTS))
    return query.with_each(lambda term: _term(term, name))


def _term(term: Term, name: str) -> Term:
    if term.key not in ANNOTATOR_CHANGES and term.key not in UNCHANGED_KEYS:
        raise QueryError(_refused(f"{term.key}:", term.key in MODEL_KEYS))
    if isinstance(term, PeopleTerm):
        return replace(
            term, values=tuple(_own_value(term.key, value, name) for value in term.values)
        )
    if isinstance(term, Compare):
        return term
    if term.key == "by":
        return _by_me_only(term, name)
    wrong = [
        value for value in term.values if term.key == "state" and value not in ANNOTATOR_STATES
    ]
    if wrong:
        raise QueryError(
            f"state:{wrong[0]} shows what others did; while annotating, state is one of "
            f"{one_of(ANNOTATOR_STATES)}: your own"
        )
    return term


def _by_me_only(term: Match, name: str) -> Match:
    """The term with `me` for the person's name. Raises QueryError for another name."""
    for value in term.values:
        if value and not _is_me(value, name) and value.casefold() != ME_WORD:
            raise QueryError(_about_others("by", value))
    return replace(term, values=(ME_WORD,))


def _own_value(key: str, value: PeopleValue, name: str) -> PeopleValue:
    """A value about the person as annotator. Raises QueryError for another name."""
    if len(value.names) != 1 or not _is_me(value.names[0], name):
        raise QueryError(_about_others(key, value.names[0] if value.names else ""))
    if key in ("assigned", "todo"):
        if value.what == Role.ADJUDICATOR:
            raise QueryError(
                f"{key}:{ME_WORD}/{value.what}: while annotating {key} is about what was "
                f"assigned to you to annotate: {key}:{ME_WORD}"
            )
        return PeopleValue((ME,), Role.ANNOTATOR.value)
    return PeopleValue((ME,), value.what)


def _is_me(value: str, name: str) -> bool:
    same = normal_name(value).casefold() == normal_name(name).casefold()
    return value == ME or (bool(name) and same)


def _about_others(key: str, value: str) -> str:
    about = f"{key}:{value}" if value else f"{key}: without a name"
    own = f"{key}:{ME_WORD}/AGE" if key == "said" else f"{key}:{ME_WORD}"
    return f"{about} is about others; while annotating you can ask only for {own}"


def _refused(asked: str, of_models: bool) -> str:
    what = "what a model says" if of_models else "what others answered or decided"
    return f"{asked} shows {what}. {ALLOWED_HINT}"


# An adjudicator sees no decision of an anchor that is assigned to them as a double or for an
# audit. A key that depends on answers or gold finds it only if it would find an undecided
# anchor: `state:open`, `class:none`, `rule:none`, `-class:AGE`.

# The first term is the one that the partial index has.
BLIND = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.purpose <> 'work' AND s.purpose IN ('double', 'audit')
        AND s.annotator_id = :q_me AND s.role = 'adjudicator' AND s.state = 'open')"""
NOT_BLIND = BLIND.replace("+a.id IN", "+a.id NOT IN", 1)

NEUTRAL_KEYS = frozenset(
    {"text", "doc", "anchor", "split", "id", "nfh", "nfhrule"}
    | {"predicted", "margin", "conf", "entropy"}
)
"""Keys about the text or predictions. All others depend on people's work."""

OWN_KEYS = frozenset({"assigned", "todo", "said"})
"""Keys that reveal nothing of others if they are about the person."""

AUDIT_OPEN = "open"
"""Value of the key `audit` for anchors that are drawn and not checked."""

NEUTRAL_SORTS = frozenset(
    {"order", "anchor", "random", "assigned", "uncertain", "nfh", "entropy", "models"}
)

UNDECIDED = {"state": AnchorState.OPEN.value, "class": NONE, "rule": NONE}
"""Values of keys for an undecided anchor."""


def hide_blind(term: Term, condition: str) -> str:
    """A signed condition changed so that it reveals nothing about blind anchors."""
    if term.key in NEUTRAL_KEYS or _is_own(term):
        return condition
    return f"({condition} OR {BLIND})" if _finds_undecided(term) else _without(condition)


def _without(condition: str) -> str:
    return f"({condition} AND {NOT_BLIND})"


def _is_own(term: Term) -> bool:
    if isinstance(term, Match) and term.key == "audit":
        # An auditor knows of the assignment.
        return set(term.values) == {AUDIT_OPEN}
    if not isinstance(term, PeopleTerm) or term.key not in OWN_KEYS:
        return False
    return all(value.names and set(value.names) == {ME} for value in term.values)


def _finds_undecided(term: Term) -> bool:
    """Whether a term holds for an anchor without answers and gold."""
    if isinstance(term, Compare):
        return term.negated
    plain = isinstance(term, Match) and UNDECIDED.get(term.key) in term.values
    return plain != (term.negated != term.unequal)


def order_reveals(query: Query) -> bool:
    """Whether the order of the result depends on answers or gold."""
    return any(sort.name not in NEUTRAL_SORTS for sort in query.sorts)


ANSWERED_BY_ME = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.annotator_id = :q_me AND v.removed = 0{more}
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
AS_ANNOTATOR = " AND v.role = 'annotator'"
OF_KINDS = f"{AS_ANNOTATOR} AND v.kind IN ({{values}})"
WITH_TAG = f"{AS_ANNOTATOR} AND v.rule_tag IN ({{values}})"
ANY_TAG = f"{AS_ANNOTATOR} AND v.rule_tag IS NOT NULL"
UNDER = f"{AS_ANNOTATOR} AND v.guideline_version {{compared}}"

FLAG = """+a.id IN (
    SELECT f.anchor_id FROM flag AS f
    WHERE f.annotator_id = :q_me AND f.name IN ({values}) AND f.removed = 0
        AND (f.batch_id IS NULL OR f.batch_id NOT IN ({loading})))"""

ASSIGNED_TO_ME = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.annotator_id = :q_me AND s.role = 'annotator' AND s.state IN ({states}))"""
ASSIGNMENT_STATES = {"assigned": "'open', 'done'", "todo": "'open'"}

# An assigned anchor must not reveal its file, nor must another anchor of its passage: a hidden
# check item is often from another file.
NOT_ASSIGNED = """(+a.passage_id NOT IN (
    SELECT o.passage_id FROM assignment AS s JOIN anchor AS o ON o.id = s.anchor_id
    WHERE s.annotator_id = :q_me AND s.role = 'annotator') AND {condition})"""

MY_POSITION = """(
    SELECT min(s.position) FROM assignment AS s
    WHERE s.anchor_id = a.id AND s.annotator_id = :q_me AND s.role = 'annotator'
        AND s.state <> 'returned'
    ) {direction} NULLS LAST"""


def not_assigned(condition: str) -> str:
    """Limit a condition to passages without anchors assigned to the person."""
    return NOT_ASSIGNED.format(condition=condition)


def answered_by_me(more: str = "") -> str:
    """Answered by the person. more: further conditions on the answer."""
    return fill(ANSWERED_BY_ME, more=more)


def _state(values: Sequence[str], binder: Binder) -> str:
    answered = answered_by_me(AS_ANNOTATOR)
    skipped = fill(FLAG, values=binder.one("skip"))
    suggestion = {
        AnchorState.OPEN.value: f"({answered}) IS NOT TRUE",
        AnchorState.ANSWERED.value: answered,
        SKIPPED: f"({skipped} AND ({answered}) IS NOT TRUE)",
    }
    return " OR ".join(f"({suggestion[value]})" for value in values)


def _tagged(values: Sequence[str], binder: Binder) -> str:
    forms = [form for value in values if value != NONE for form in tag_forms(value)]
    parts = [answered_by_me(WITH_TAG.format(values=binder.all(forms)))] if forms else []
    if NONE in values:
        parts.append(f"({answered_by_me(ANY_TAG)}) IS NOT TRUE")
    return " OR ".join(parts)


def _said(term: PeopleTerm, binder: Binder) -> str:
    kinds = [value.what for value in term.values if value.what]
    # A name without a kind means any answer; no text parses to that.
    if len(kinds) < len(term.values):
        return answered_by_me(AS_ANNOTATOR)
    return answered_by_me(OF_KINDS.format(values=binder.all(kinds)))


MATCHES: dict[str, Callable[[Sequence[str], Binder], str]] = {
    "state": _state,
    "flag": lambda values, binder: fill(FLAG, values=binder.all(values)),
    "by": lambda _values, _binder: answered_by_me(),
    "tagged": _tagged,
}


def condition(term: Term, binder: Binder) -> str | None:
    """The condition of a term without signs; None if it is that of other roles."""
    if isinstance(term, Compare):
        if term.key != "guideline":
            return None
        compared = binder.compared(term.operator, term.numbers)
        return answered_by_me(UNDER.format(compared=compared))
    if isinstance(term, PeopleTerm):
        if term.key == "said":
            return _said(term, binder)
        return fill(ASSIGNED_TO_ME, states=ASSIGNMENT_STATES[term.key])
    made = MATCHES.get(term.key)
    return None if made is None else made(term.values, binder)
