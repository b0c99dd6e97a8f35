"""SQL of the keys as an annotator means them: one's own answers, flags and work alone."""

from collections.abc import Callable, Sequence

from nfh_db.query.binding import Binder, fill
from nfh_db.query.registry import NONE, SKIPPED
from nfh_db.query.terms import Compare, Match, People
from nfh_db.records import State
from nfh_models.domain import tag_forms

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
STATES = {"assigned": "'open', 'done'", "todo": "'open'"}

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
        State.OPEN.value: f"({answered}) IS NOT TRUE",
        State.ANSWERED.value: answered,
        SKIPPED: f"({skipped} AND ({answered}) IS NOT TRUE)",
    }
    return " OR ".join(f"({meant[value]})" for value in values)


def _tagged(values: Sequence[str], binder: Binder) -> str:
    forms = [form for value in values if value != NONE for form in tag_forms(value)]
    parts = [mine(WITH_TAG.format(values=binder.all(forms)))] if forms else []
    if NONE in values:
        parts.append(f"({mine(ANY_TAG)}) IS NOT TRUE")
    return " OR ".join(parts)


def _said(term: People, binder: Binder) -> str:
    kinds = [value.what for value in term.values if value.what]
    # A name without a kind, which no text asks for, is any answer.
    if len(kinds) < len(term.values):
        return mine(AS_ANNOTATOR)
    return mine(OF_KINDS.format(values=binder.all(kinds)))


def _by(values: Sequence[str], binder: Binder) -> str:
    del values, binder
    return mine()


MATCHES: dict[str, Callable[[Sequence[str], Binder], str]] = {
    "state": _state,
    "flag": lambda values, binder: fill(FLAG, values=binder.all(values)),
    "by": _by,
    "tagged": _tagged,
}


def condition(term: Match | People | Compare, binder: Binder) -> str | None:
    """The condition of a term, its signs left to the caller; None where it is as ever."""
    if isinstance(term, Compare):
        if term.operator == "=":
            return mine(UNDER_ANY.format(values=binder.all(term.numbers)))
        value = binder.one(term.numbers[0])
        return mine(UNDER.format(operator=term.operator, value=value))
    if isinstance(term, People):
        if term.key == "said":
            return _said(term, binder)
        return fill(GIVEN, states=STATES[term.key])
    made = MATCHES.get(term.key)
    return None if made is None else made(term.values, binder)
