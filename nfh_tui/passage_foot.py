"""The line under a passage that is longer than its pane: where one is, which heads are away."""

from nfh_models.domain import Passage
from nfh_tui.editing import EditState
from nfh_tui.passage_layout import Layout
from nfh_tui.passage_marks import head_list
from nfh_tui.visible import clip, visible, width_of

MOST_WORD = 18
"""Most cells for the words of a head."""


def away(
    layout: Layout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> tuple[str, ...]:
    """Picked heads that stand above line `top` or from line `bottom` on, in words."""
    told = []
    for number, mention in head_list(state):
        line = layout.spots[mention.head].line
        if top <= line < bottom:
            continue
        words = " ".join(passage.words(mention.start, mention.end).split())
        arrow = "↑" if line < top else "↓"
        turn = passage.turn_of(mention.head) + 1
        told.append(f"{number} {clip(words, MOST_WORD)} (turn {turn}) {arrow}")
    return tuple(told)


def foot(
    layout: Layout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> str:
    """The line, exactly as wide as the layout: heads out of view, then the turns in view."""
    bottom = min(bottom, len(layout.lines))
    first, last = layout.lines[top].turn + 1, layout.lines[max(top, bottom - 1)].turn + 1
    turns = f"turn {first}" if first == last else f"turns {first}–{last}"
    place = f" {turns} of {len(passage.turns)} "
    heads = away(layout, passage, state, top, bottom)
    said = " heads: " + " · ".join(heads) if heads else ""
    room = layout.width - width_of(place)
    if room < 1:
        return visible(clip(said or place, layout.width)).ljust(layout.width)
    said = clip(said, room)
    return said + " " * (room - width_of(said)) + place
