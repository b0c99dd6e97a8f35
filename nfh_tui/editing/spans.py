"""Spans of more than one word: growing them at both ends, and making them smaller."""

from dataclasses import replace

from nfh_db.records import Item
from nfh_models.domain import Mention
from nfh_tui.editing.heads import head_at, with_mention
from nfh_tui.editing.state import EditState, Outcome, quoted, refuse

ONE_WORD = "A span keeps one word; escape drops it."
NO_SPAN = "No span here to shrink: v begins one, on a marked head it takes up its span."


def grow(state: EditState) -> Outcome:
    """Begin a span at the cursor; once begun, let the other end move.

    On a head that is marked with more words than one, its span is taken up again.
    """
    if state.span is None:
        marked = _marked_here(state)
        if marked is None or marked[1].end - marked[1].start < 2:
            span = (state.cursor, state.cursor + 1)
            return Outcome(replace(state, span=span), "Move to grow it; space takes it.")
        start, end = marked[1].start, marked[1].end
        cursor = start if state.cursor == start else end - 1
        return Outcome(replace(state, span=(start, end), cursor=cursor))
    start, end = state.span
    other = end - 1 if state.cursor == start else start
    return Outcome(replace(state, cursor=other))


def shrink(state: EditState, item: Item) -> Outcome:
    """Leave out the word at the end that moves.

    Without a growing span: of the head under the cursor the word farthest from its noun.
    """
    if state.span is None:
        return _shrink_marked(state, item)
    start, end = state.span
    if end - start < 2:
        return refuse(state, ONE_WORD)
    if state.cursor == start:
        return Outcome(replace(state, span=(start + 1, end), cursor=start + 1))
    return Outcome(replace(state, span=(start, end - 1), cursor=end - 2))


def _shrink_marked(state: EditState, item: Item) -> Outcome:
    marked = _marked_here(state)
    if marked is None or marked[1].end - marked[1].start < 2:
        return refuse(state, NO_SPAN)
    number, mention = marked
    before, behind = mention.head - mention.start, mention.end - 1 - mention.head
    start, end = mention.start + (before >= behind), mention.end - (before < behind)
    smaller = replace(mention, start=start, end=end)
    words = quoted(item.passage.words(start, end))
    cursor = min(max(state.cursor, start), end - 1)
    kept = with_mention(replace(state, cursor=cursor), item, number, smaller)
    return Outcome(kept, f"Head {number + 1} is {words}.")


def _marked_here(state: EditState) -> tuple[int, Mention] | None:
    return head_at(state.heads, state.cursor)
