"""Candidates for a head, and the letters by which they are picked."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from nfh_db.records import Item, Role
from nfh_models.domain import IMPLICIT_KINDS
from nfh_tui.editing.state import (
    EditState,
    Outcome,
    Pending,
    in_anchor,
    refuse,
    without_pending,
)
from nfh_tui.editing.words import is_noun_like

LETTERS = "asdfjklghweruioqtypzxcvbnm"
"""Letters of hints, those under the resting fingers first."""

AHEAD_COUNTS = 3
"""A word behind the number counts as this many times as far: heads mostly stand before."""


MOST = 150
"""Candidates that get letters: more would give all of them two, and cover the text."""


def token_scores(item: Item) -> tuple[float | None, ...]:
    """The model's score of each token of the passage; empty if it has none of them."""
    if item.prediction is None:
        return ()
    scores = item.prediction.scores[len(IMPLICIT_KINDS) :]
    return scores if len(scores) == len(item.passage.tokens) else ()


def candidates(item: Item, role: Role = Role.ANNOTATOR) -> tuple[int, ...]:
    """Tokens that may be the head, ascending, the number's own left out.

    Those that the model scored, else a guess by the words alone; for an adjudicator also
    those that somebody marked, whatever a tagger takes them for.
    """
    found = {token for token, score in enumerate(token_scores(item)) if score is not None}
    if not found:
        words = range(len(item.passage.tokens))
        found = {token for token in words if is_noun_like(item.passage.word(token))}
    if role is Role.ADJUDICATOR:
        found.update(_marked(item))
    return tuple(sorted(token for token in found if not in_anchor(item, token)))


def _marked(item: Item) -> Iterator[int]:
    """Head tokens of all answers and of the gold."""
    for vote in (*item.votes, *item.stale_votes):
        yield from vote.answer.head_tokens()
    if item.gold is not None:
        yield from item.gold.answer.head_tokens()


def _distance(item: Item, token: int) -> int:
    if token < item.anchor.start:
        return item.anchor.start - token
    return (token - item.anchor.end + 1) * AHEAD_COUNTS


def ranked(item: Item, role: Role) -> tuple[int, ...]:
    """Candidates by how near their letters should be.

    By the model's score, then by distance; for an annotator by distance alone, so that the
    letters do not tell what the model says.
    """
    scores = token_scores(item)
    found = candidates(item, role)
    if role is Role.ANNOTATOR or not scores:
        return tuple(sorted(found, key=lambda t: (_distance(item, t), t)))
    return tuple(sorted(found, key=lambda t: (-(scores[t] or 0.0), _distance(item, t), t)))


def labels(count: int) -> tuple[str, ...]:
    """At most `count` labels, none the beginning of another, the shortest first."""
    size = len(LETTERS)
    if count <= size:
        return tuple(LETTERS[:count])
    singles = size - 1
    while singles and singles + (size - singles) * size < count:
        singles -= 1
    pairs = (first + second for first, second in product(LETTERS[singles:], LETTERS))
    return tuple(LETTERS[:singles]) + tuple(islice(pairs, count - singles))


def start(state: EditState, item: Item) -> Outcome:
    """Put letters on the candidates and wait for them."""
    tokens = ranked(item, state.role)[:MOST]
    if not tokens:
        return refuse(state, "No noun to put a letter on: move with h l and press space.")
    given = labels(len(tokens))
    hints = tuple(sorted(zip(tokens, given, strict=True)))
    return Outcome(replace(state, pending=Pending.HINT, hints=hints, typed="", span=None))


def open_hints(state: EditState) -> tuple[tuple[int, str], ...]:
    """The hints that the letters typed so far still allow: token and what is left to type."""
    return tuple(
        (token, label[len(state.typed) :])
        for token, label in state.hints
        if label.startswith(state.typed)
    )


def narrowed(state: EditState, key: str, character: str | None) -> Outcome | int | None:
    """A key while letters are waited for: the token picked, a new state, or None."""
    if key == "escape":
        return Outcome(without_pending(state))
    if key == "backspace":
        if not state.typed:
            return Outcome(without_pending(state))
        return Outcome(replace(state, typed=state.typed[:-1]))
    if key == "enter":
        return refuse(state, "Type the letters at a noun; escape hides them.")
    if not character or not character.isprintable():
        return None
    typed = state.typed + character.casefold()
    left = [(token, label) for token, label in state.hints if label.startswith(typed)]
    if not left:
        return refuse(state, f"No noun has the letters “{typed}”; escape hides them.")
    for token, label in left:
        if label == typed:
            return token
    return Outcome(replace(state, typed=typed))
