"""What somebody has still to decide blind, in queries: found as though nobody had decided it.

An adjudicator to whom an anchor was given as a double or for an audit is shown nobody's
decision of it. So a key that tells of answers or of gold finds it only where it would find an
anchor that nobody has decided: `state:open`, `class:none`, `rule:none`, `-class:AGE`.
"""

from nfh_db.query.registry import NONE
from nfh_db.query.terms import ME, Compare, Match, People, Query
from nfh_db.records import State

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

OWN = frozenset({"assigned", "todo", "said"})
"""Keys that tell nothing of others where they are about whoever asks."""

OPEN = "open"
"""Of the key `audit`: drawn, and not looked at yet."""

SORTS_TELL_NOTHING = frozenset(
    {"order", "anchor", "random", "assigned", "uncertain", "nfh", "entropy", "models"}
)

UNDECIDED = {"state": State.OPEN.value, "class": NONE, "rule": NONE}
"""The value that each of these keys has of an anchor that nobody has decided."""


def kept(term: Match | People | Compare, condition: str) -> str:
    """A term's condition, signs included, so that it tells nothing of what is decided blind."""
    if term.key in TELL_NOTHING or _is_own(term):
        return condition
    return f"({condition} OR {BLIND})" if _finds_undecided(term) else _without(condition)


def _without(condition: str) -> str:
    return f"({condition} AND {NOT_BLIND})"


def _is_own(term: Match | People | Compare) -> bool:
    if isinstance(term, Match) and term.key == "audit":
        # That they were given it to check is what the auditor is told.
        return set(term.values) == {OPEN}
    if not isinstance(term, People) or term.key not in OWN:
        return False
    return all(value.names and set(value.names) == {ME} for value in term.values)


def _finds_undecided(term: Match | People | Compare) -> bool:
    """Whether a term holds for an anchor of which nobody has said anything."""
    if isinstance(term, Compare):
        return term.negated
    plain = isinstance(term, Match) and UNDECIDED.get(term.key) in term.values
    return plain != (term.negated != term.unequal)


def order_tells(query: Query) -> bool:
    """Whether the order of what a query finds tells of answers or of gold."""
    return any(sort.name not in SORTS_TELL_NOTHING for sort in query.sorts)
