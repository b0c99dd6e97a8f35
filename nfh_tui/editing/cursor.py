"""Moving the token cursor; while a span grows, its end moves along."""

from bisect import bisect_left, bisect_right
from dataclasses import replace

from nfh_db.records import Item, Role
from nfh_tui.editing.hints import candidates, marked
from nfh_tui.editing.state import (
    EditState,
    Outcome,
    in_anchor,
    live,
    refuse,
    settled,
    without_pending,
)


def go(state: EditState, item: Item, token: int) -> Outcome:
    """Put the cursor on a token (clipped to the passage); a growing span follows it."""
    last = len(item.passage.tokens) - 1
    token = max(0, min(token, last))
    if state.span is None:
        return Outcome(replace(state, cursor=token))
    fixed = fixed_end(state)
    if item.passage.turn_of(token) != item.passage.turn_of(fixed):
        return refuse(state, "A span stays in one turn: space takes it, escape drops it.")
    span = (min(fixed, token), max(fixed, token) + 1)
    return Outcome(replace(state, cursor=token, span=span))


def fixed_end(state: EditState) -> int:
    """The token of the growing span that stays where it is."""
    if state.span is None:
        return state.cursor
    start, end = state.span
    return end - 1 if state.cursor == start else start


def move_to(state: EditState, item: Item, token: int) -> Outcome:
    """Put the cursor on a token: for lines up and down, and for clicks."""
    outcome = go(without_pending(state), item, token)
    return replace(outcome, state=settled(outcome.state))


def sideways(state: EditState, item: Item, steps: int) -> Outcome:
    """Move by tokens, to the right or (negative) to the left."""
    return go(state, item, state.cursor + steps)


def noun(state: EditState, item: Item, steps: int) -> Outcome:
    """Move from noun to noun, forwards or (negative) backwards."""
    places = candidates(item, state.role)
    if steps > 0:
        ahead = places[bisect_right(places, state.cursor) :]
    else:
        ahead = places[: bisect_left(places, state.cursor)][::-1]
    if not ahead:
        return refuse(state, f"No noun {'after' if steps > 0 else 'before'} this word.")
    return go(state, item, ahead[min(abs(steps), len(ahead)) - 1])


def turn(state: EditState, item: Item, steps: int) -> Outcome:
    """Move to the start of a turn ahead, or back to the start of this one, then of others."""
    turns = item.passage.turns
    rank = item.passage.turn_of(state.cursor)
    if steps < 0 and state.cursor > turns[rank].start:
        steps += 1
    target = max(0, min(rank + steps, len(turns) - 1))
    if steps > 0 and target == rank:
        return refuse(state, "This is the last turn.")
    return go(state, item, turns[target].start)


def anchor(state: EditState, item: Item) -> Outcome:
    """Move back to the number."""
    return go(state, item, item.anchor.start)


def next_head(state: EditState, item: Item, steps: int) -> Outcome:
    """Move from one marked mention to the next, round and round.

    Where none is marked, to what others and the gold marked, for who may see that.
    """
    places = sorted({m.head for mentions in state.heads for m in live(mentions)})
    if not places and state.role is Role.ADJUDICATOR:
        places = sorted({t for t in marked(item) if not in_anchor(item, t)})
    if not places:
        return refuse(state, "No head is marked yet: press f, or move and press space.")
    place = bisect_right(places, state.cursor) + steps - 1
    return go(state, item, places[place % len(places)])
