"""Acts by their ids, and the keys that belong to the editor while it waits for one."""

from collections.abc import Callable
from dataclasses import replace

from nfh_db.records import Item
from nfh_models.domain import Kind, Relation
from nfh_tui.editing import adopt, cursor, heads, hints, kinds, mentions, spans
from nfh_tui.editing.state import (
    EditState,
    Outcome,
    Pending,
    settled,
    without_pending,
)

Act = Callable[[EditState, Item, int], Outcome]


def _kind(kind: Kind) -> Act:
    return lambda state, _item, _count: kinds.choose(state, kind)


def _adopt(number: int) -> Act:
    return lambda state, item, _count: adopt.annotator(state, item, number)


_ACTS: dict[str, Act] = {
    "kind.reference": _kind(Kind.REFERENCE),
    "kind.year": _kind(Kind.YEAR),
    "kind.age": _kind(Kind.AGE),
    "kind.currency": _kind(Kind.CURRENCY),
    "kind.people": _kind(Kind.PEOPLE),
    "kind.time": _kind(Kind.TIME),
    "kind.other": _kind(Kind.OTHER),
    "kind.unknown": _kind(Kind.UNKNOWN),
    "kind.not_nfh": _kind(Kind.NOT_NFH),
    "kind.broken": _kind(Kind.BROKEN),
    "cursor.left": lambda state, item, count: cursor.sideways(state, item, -count),
    "cursor.right": cursor.sideways,
    "cursor.next_noun": cursor.noun,
    "cursor.previous_noun": lambda state, item, count: cursor.noun(state, item, -count),
    "cursor.next_turn": cursor.turn,
    "cursor.previous_turn": lambda state, item, count: cursor.turn(state, item, -count),
    "cursor.anchor": lambda state, item, _count: cursor.anchor(state, item),
    "cursor.next_head": cursor.next_head,
    "head.toggle": lambda state, item, _count: heads.toggle(state, item),
    "head.drop_last": lambda state, item, _count: heads.drop_last(state, item),
    "head.join": lambda state, item, _count: heads.join(state, item),
    "span.grow": lambda state, _item, _count: spans.grow(state),
    "span.shrink": lambda state, item, _count: spans.shrink(state, item),
    "span.drop": lambda state, _item, _count: Outcome(replace(state, span=None)),
    "hint.start": lambda state, item, _count: hints.start(state, item),
    "mentions.all": lambda state, item, _count: mentions.start(state, item),
    "relation.and": lambda state, _item, _count: heads.relate(state, Relation.AND),
    "relation.or": lambda state, _item, _count: heads.relate(state, Relation.OR),
    "adopt.model": lambda state, item, _count: adopt.model(state, item),
    "adopt.union": lambda state, item, _count: adopt.union(state, item),
    "adopt.intersection": lambda state, item, _count: adopt.intersection(state, item),
    "adopt.nobody": lambda state, _item, _count: adopt.nobody(state),
    "clear": lambda state, _item, _count: adopt.nobody(state),
    **{f"adopt.{number}": _adopt(number) for number in range(1, 10)},
}

ACTIONS: frozenset[str] = frozenset(_ACTS)
"""The ids that `act` understands."""

MOVES: frozenset[str] = frozenset(a for a in _ACTS if a.startswith("cursor."))
"""Those of them that change no answer, so that reading allows them."""


def act(
    state: EditState, item: Item, action: str, count: int = 1, view: range | None = None
) -> Outcome:
    """Do one act. `count` repeats movements; what was waited for is given up first.

    view: the tokens in view, None for all. Raises KeyError for an id that is not in ACTIONS.
    """
    if action == "hint.start":
        return _settle(hints.start(without_pending(state), item, view))
    outcome = _ACTS[action](without_pending(state), item, max(1, count))
    return _settle(outcome)


def key(
    state: EditState, item: Item, key: str, character: str | None, view: range | None = None
) -> Outcome | None:
    """A key while the editor waits for one; None if it is not the editor's.

    With nothing waited for, only escape is taken, and only to drop a growing span.
    """
    outcome = _pending_key(state, item, key, character, view)
    return None if outcome is None else _settle(outcome)


def _pending_key(
    state: EditState, item: Item, key: str, character: str | None, view: range | None
) -> Outcome | None:
    if state.pending is Pending.SORT:
        return kinds.sort_key(state, key, character)
    if state.pending is Pending.REVIEW:
        return mentions.review_key(state, item, key, character)
    if state.pending is Pending.HINT:
        found = hints.narrowed(state, item, key, character, view)
        if isinstance(found, int):
            return heads.toggle_token(without_pending(state), item, found)
        return found
    if state.span is not None and key == "escape":
        return Outcome(replace(state, span=None))
    return None


def _settle(outcome: Outcome) -> Outcome:
    return replace(outcome, state=settled(outcome.state))


def prompt(state: EditState) -> str | None:
    """Which keys the editor waits for, as a sentence; None when it waits for none."""
    if state.pending is Pending.SORT:
        return kinds.SORT_PROMPT
    if state.pending is Pending.REVIEW:
        return mentions.prompt(state.review) if state.review else mentions.PROMPT
    if state.pending is Pending.HINT:
        if state.all_words:
            return "Type a word's letters; f: nouns only; esc hides them"
        return "Type a noun's letters; f: all words; esc hides them"
    if state.span is not None:
        return "Span: move to grow, V shrinks, v other end, space takes it, escape drops it."
    return None
