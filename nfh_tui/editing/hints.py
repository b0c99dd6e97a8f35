"""Candidates for a head, and the letters by which they are picked."""

from collections.abc import Collection, Iterator, Sequence
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
from nfh_tui.editing.words import is_noun_like, is_word

MORE = "f"
"""The key that goes from nouns to all words and back: no hint has this letter."""

LETTERS = "jdkslahgeiruowtyvmcnpqxbz"
"""Letters of hints, by ease: the home row from its strongest fingers, then the row over it.

Where there are more words than letters, the last ones begin the pairs.
"""

AHEAD_COUNTS = 3
"""A word behind the number counts as this many times as far: heads mostly stand before."""

MOST = 150
"""Nouns that get letters: more would give all of them two, and cover the text."""

MOST_WORDS = len(LETTERS) ** 2
"""Words that get letters: as many as two letters tell apart, those around the cursor."""

NONE_IN_VIEW = "No word in view can be marked: scroll, and the letters follow."

LIKELY = 0.01
"""From this score on a model's candidate gets letters though it looks like no noun."""


def token_scores(item: Item) -> tuple[float | None, ...]:
    """The model's score of each token of the passage; empty if it has none of them."""
    if item.prediction is None:
        return ()
    scores = item.prediction.scores[len(IMPLICIT_KINDS) :]
    return scores if len(scores) == len(item.passage.tokens) else ()


def candidates(item: Item, role: Role = Role.ANNOTATOR) -> tuple[int, ...]:
    """Tokens that may be the head, ascending, the number's own left out.

    The nouns: those that a model with a tagger scored, else a guess by the words alone. For an
    adjudicator also what the model thinks likely, and what somebody marked, whatever it is.
    """
    scores = token_scores(item)
    found = {token for token, score in enumerate(scores) if score is not None}
    words = range(len(item.passage.tokens))
    if _scored_all(item, found):
        found = {token for token in words if is_noun_like(item.passage.word(token))}
        if role is Role.ADJUDICATOR:
            found.update(
                token for token, score in enumerate(scores) if (score or 0.0) >= LIKELY
            )
    if role is Role.ADJUDICATOR:
        found.update(marked(item))
    return tuple(sorted(token for token in found if not in_anchor(item, token)))


def _scored_all(item: Item, scored: Collection[int]) -> bool:
    """True if the model scored words of every kind, or none: it does not tell nouns then."""
    others = sum(1 for token in scored if not is_noun_like(item.passage.word(token)))
    return others * 3 >= len(scored)


def marked(item: Item) -> Iterator[int]:
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


def start(state: EditState, item: Item, view: range | None = None) -> Outcome:
    """Put letters on the nouns and wait for them; on all words where there is no noun.

    view: the tokens in view. Where not all can have letters, those have them, and what
    somebody marked; all words where no noun is in view.
    """
    tokens = _in_view_first(ranked(item, state.role), state, item, view)[:MOST]
    seen = [token for token in tokens if view is None or token in view]
    return _lettered(state, tokens) if seen else _start_words(state, item, view)


def _in_view_first(
    tokens: Sequence[int], state: EditState, item: Item, view: range | None
) -> list[int]:
    """The tokens in view before the others, and of these those that somebody marked."""
    if view is None:
        return list(tokens)
    known = set(marked(item)) if state.role is Role.ADJUDICATOR else set()
    return sorted(tokens, key=lambda token: (token not in view, token not in known))


def _start_words(state: EditState, item: Item, view: range | None) -> Outcome:
    """Put letters on all words that may be a head: the nouns first, then those nearby."""
    nouns = ranked(item, state.role)
    known = set(nouns)
    others = [
        token
        for token in range(len(item.passage.tokens))
        if token not in known
        and not in_anchor(item, token)
        and is_word(item.passage.word(token))
    ]
    others.sort(key=lambda token: (abs(token - state.cursor), token))
    # Where there are too many, those around the cursor have them, nouns or not.
    tokens = _in_view_first([*nouns, *others], state, item, view)
    if view is not None:
        tokens = tokens[:MOST_WORDS]
    if len(tokens) > MOST_WORDS:
        near = set(sorted(tokens, key=lambda t: (abs(t - state.cursor), t))[:MOST_WORDS])
        tokens = [token for token in tokens if token in near]
    if not tokens:
        return refuse(state, "There is no word here to put a letter on.")
    made = _lettered(state, tokens, all_words=True)
    if view is not None and not any(token in view for token in tokens):
        return replace(made, say=NONE_IN_VIEW)
    return made


def _lettered(state: EditState, tokens: Sequence[int], *, all_words: bool = False) -> Outcome:
    hints = tuple(sorted(zip(tokens, labels(len(tokens)), strict=True)))
    return Outcome(
        replace(
            state, pending=Pending.HINT, hints=hints, typed="", span=None, all_words=all_words
        )
    )


def more(state: EditState, item: Item, view: range | None = None) -> Outcome:
    """From nouns to all words, and back."""
    return start(state, item, view) if state.all_words else _start_words(state, item, view)


def follow(state: EditState, item: Item, view: range) -> Outcome:
    """The letters anew for what is in view now; as they are once one of them is typed."""
    if state.pending is not Pending.HINT or state.typed:
        return Outcome(state)
    return _start_words(state, item, view) if state.all_words else start(state, item, view)


def open_hints(state: EditState) -> tuple[tuple[int, str], ...]:
    """The hints that the letters typed so far still allow: token and what is left to type."""
    return tuple(
        (token, label[len(state.typed) :])
        for token, label in state.hints
        if label.startswith(state.typed)
    )


def narrowed(
    state: EditState, item: Item, key: str, character: str | None, view: range | None = None
) -> Outcome | int | None:
    """A key while letters are waited for: the token picked, a new state, or None."""
    if character is not None and character.casefold() == MORE:
        return more(state, item, view)
    if key == "escape":
        return Outcome(without_pending(state))
    if key == "backspace":
        if not state.typed:
            return Outcome(without_pending(state))
        return Outcome(replace(state, typed=state.typed[:-1]))
    if key == "enter":
        return refuse(state, "Type the letters at a word; escape hides them.")
    if not character or not character.isprintable():
        return None
    typed = state.typed + character.casefold()
    left = [(token, label) for token, label in state.hints if label.startswith(typed)]
    if not left:
        return refuse(
            state,
            f"No word has the letters “{typed}”; f: other words, escape hides them.",
        )
    for token, label in left:
        if label == typed:
            return token
    return Outcome(replace(state, typed=typed))
