"""A state as JSON and back, for the draft that survives a crash."""

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from nfh_db.records import Item
from nfh_tui.editing.adopt import fitting
from nfh_tui.editing.state import (
    DraftError,
    EditState,
    Pending,
    settled,
    without_pending,
)


def dump(state: EditState) -> str:
    """The whole state as JSON, with the cursor, a growing span and what is waited for."""
    return msgspec.json.encode(state).decode("utf-8")


def load(body: str, item: Item) -> EditState:
    """The state that `dump` wrote.

    A head inside the number is dropped: the number was widened over it since. Raises
    DraftError if the JSON is not such a state, or points outside the passage.
    """
    try:
        state = msgspec.json.decode(body.encode("utf-8", "replace"), type=EditState)
    except (msgspec.MsgspecError, ValueError) as error:
        raise DraftError(f"The draft cannot be read ({error}); start afresh.") from error
    if any(not 0 <= token < len(item.passage.tokens) for token in _tokens(state)):
        raise DraftError(
            "The draft points to words outside this passage of "
            f"{len(item.passage.tokens)} tokens; start afresh."
        )
    fitted = _fitted(state, item)
    if not _is_coherent(fitted):
        raise DraftError("The draft contradicts itself; start afresh.")
    return fitted


def _tokens(state: EditState) -> Iterator[int]:
    """Every token that the state names."""
    yield state.cursor
    for heads in (state.heads, state.aside.heads, state.began.heads):
        for mention in (m for mentions in heads for m in mentions):
            yield mention.end - 1
    yield from (token for token, _ in state.hints)
    if state.review is not None:
        yield from state.review.tokens
    if state.span is not None:
        yield from (state.span[0], state.span[1] - 1)


def _is_coherent(state: EditState) -> bool:
    if state.span is not None:
        start, end = state.span
        if start >= end or state.cursor not in {start, end - 1}:
            return False
    return _waits_for_what_it_holds(state)


def _waits_for_what_it_holds(state: EditState) -> bool:
    review = state.review
    if (review is not None) != (state.pending is Pending.REVIEW):
        return False
    if review is not None and not (review.tokens and 0 <= review.head < len(state.heads)):
        return False
    return bool(state.hints) == (state.pending is Pending.HINT)


def _fitted(state: EditState, item: Item) -> EditState:
    """The state with its heads tidy; a review or hints over changed heads are given up."""
    heads = fitting(state.heads, item)
    aside = replace(state.aside, heads=fitting(state.aside.heads, item))
    if heads == state.heads:
        return replace(state, aside=aside)
    return settled(without_pending(replace(state, heads=heads, aside=aside)))
