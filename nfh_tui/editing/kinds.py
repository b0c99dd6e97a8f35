"""Choosing the kind, the sort of an OTHER, its noun, and the comment."""

from dataclasses import replace

from nfh_db.records import Item
from nfh_models.domain import IMPLICIT_KINDS, Kind, Sort
from nfh_tui.editing.state import (
    Aside,
    EditState,
    Outcome,
    Pending,
    refuse,
    settled,
    without_pending,
)

SORT_KEYS = {
    "n": Sort.NUMBER,
    "c": Sort.CODE,
    "m": Sort.MEASURE,
    "o": Sort.NOUN,
    "w": Sort.NOUN,
}
"""The key after `o` for each sort."""

SORT_PROMPT = "Which other? n number, c code, m measure, o noun; enter leaves it unstated."


def with_kind(state: EditState, kind: Kind) -> EditState:
    """The state with another kind: what belonged to the old one is put aside.

    Heads come back with REFERENCE, the sort with OTHER, a noun with its own class.
    """
    if kind is state.kind:
        return state
    aside = _stashed(state)
    reference = kind is Kind.REFERENCE
    return replace(
        state,
        kind=kind,
        heads=aside.heads if reference else (),
        relation=aside.relation if reference else None,
        sort=aside.sort if kind is Kind.OTHER else None,
        noun=None if reference else dict(aside.nouns).get(kind),
        span=None,
        aside=aside,
    )


def _stashed(state: EditState) -> Aside:
    aside = state.aside
    if state.kind is None:
        return aside
    if state.kind is Kind.REFERENCE:
        return replace(aside, heads=state.heads, relation=state.relation)
    nouns = {kind: noun for kind, noun in aside.nouns if kind is not state.kind}
    if state.noun:
        nouns[state.kind] = state.noun
    sort = state.sort if state.kind is Kind.OTHER else aside.sort
    return replace(aside, sort=sort, nouns=tuple(nouns.items()))


def choose(state: EditState, kind: Kind) -> Outcome:
    """A kind key: OTHER waits for its sort, REFERENCE without a head says how to mark one."""
    chosen = with_kind(state, kind)
    if kind is Kind.OTHER:
        return Outcome(replace(chosen, pending=Pending.SORT), SORT_PROMPT)
    if kind is Kind.REFERENCE and not chosen.heads:
        return Outcome(chosen, "Which noun? f shows letters, or move and press space.")
    return Outcome(chosen)


def sort_key(state: EditState, key: str, character: str | None) -> Outcome | None:
    """A key while the sort is waited for."""
    if key == "escape":
        return Outcome(without_pending(state))
    if key == "enter":
        return Outcome(replace(without_pending(state), sort=None))
    sort = SORT_KEYS.get((character or "").casefold())
    if sort is not None:
        ask = "noun" if sort is Sort.NOUN else None
        return Outcome(replace(without_pending(state), sort=sort), ask=ask)
    if character and character.isprintable():
        return refuse(state, SORT_PROMPT)
    return None


def set_noun(state: EditState, _item: Item, text: str) -> Outcome:
    """Write the noun that a class stands for; an empty text takes it away.

    Without a kind it makes an OTHER, as with OTHER of no sort the sort becomes NOUN.
    """
    noun = _clean(text) or None
    closed = without_pending(state)
    if closed.kind is None:
        if noun is None:
            return Outcome(settled(closed))
        closed = with_kind(closed, Kind.OTHER)
    if closed.kind not in IMPLICIT_KINDS:
        return refuse(state, _why_no_noun(closed.kind))
    sort = closed.sort
    if closed.kind is Kind.OTHER and noun is not None and sort is None:
        sort = Sort.NOUN
    return Outcome(settled(replace(closed, noun=noun, sort=sort)))


def _why_no_noun(kind: Kind | None) -> str:
    if kind is Kind.REFERENCE:
        return "A Reference has its noun in the passage: mark it there."
    return "A noun can be written for a class only: y a c p t or o first."


def set_comment(state: EditState, _item: Item, text: str) -> Outcome:
    """Write the comment; an empty text takes it away."""
    return Outcome(settled(replace(state, comment=_clean(text))))


def _clean(text: str) -> str:
    """Typed text without the outer space, and without code units that no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()
