"""The lines under a passage that is longer than its pane: where one is, and every picked head.

Pure: no screen. How many lines there are depends on the answer and the width alone, so that
scrolling never moves anything.
"""

from collections.abc import Sequence

from nfh_models.domain import Mention, Passage, Relation
from nfh_tui.editing import EditState
from nfh_tui.editing.state import live
from nfh_tui.passage_layout import Layout
from nfh_tui.passage_marks import DIGITS
from nfh_tui.visible import clip, width_of

MOST_WORD = 18
"""Most cells for the words of a head."""

MOST_LINES = 3
"""Most lines for the heads; how many are left out then is said."""

UP, DOWN = "↑", "↓"


def foot(
    layout: Layout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> tuple[str, ...]:
    """The lines, exactly as wide as the layout.

    Every head of the answer with its turn, an arrow where it stands above line `top` or from
    line `bottom` on; at the right of the first line the turns in view.
    """
    place = _place(layout, passage, top, bottom)
    rooms = [max(0, layout.width - width_of(place))] + [layout.width] * (MOST_LINES - 1)
    lines = _broken(_entries(layout, passage, state, top, bottom), rooms)
    # As if every head had an arrow: as many lines wherever one has scrolled to.
    most = len(_broken(_entries(layout, passage, state, len(layout.lines), 0), rooms))
    lines += [""] * (most - len(lines))
    return tuple(
        _filled(clip(line, room), room) + ("" if at else clip(place, layout.width))
        for at, (line, room) in enumerate(zip(lines, rooms, strict=False))
    )


def _filled(said: str, room: int) -> str:
    return said + " " * (room - width_of(said))


def _broken(entries: Sequence[str], rooms: Sequence[int]) -> list[str]:
    """Entries in lines; of more than there is room for it is said how many are left out."""
    lines = [""]
    for number, entry in enumerate(entries):
        room = rooms[len(lines) - 1]
        first_is_narrow = len(lines) == 1 and room < width_of(entry)
        if width_of(lines[-1]) + width_of(entry) > room and (lines[-1] or first_is_narrow):
            if len(lines) == len(rooms):
                rest = f" … {len(entries) - number} more"
                lines[-1] = clip(lines[-1], max(0, room - len(rest))) + rest
                break
            lines.append("")
        lines[-1] += entry
    return lines


def _place(layout: Layout, passage: Passage, top: int, bottom: int) -> str:
    """The turns in view, as wide as that may become: what stands beside it keeps its place."""
    bottom = min(bottom, len(layout.lines))
    first, last = layout.lines[top].turn + 1, layout.lines[max(top, bottom - 1)].turn + 1
    turns = f"turn {first}" if first == last else f"turns {first}–{last}"
    said = f" {turns} of {len(passage.turns)} "
    last_turn = len(passage.turns)
    return said.rjust(len(f" turns {last_turn}–{last_turn} of {last_turn} "))


def _entries(
    layout: Layout, passage: Passage, state: EditState | None, top: int, bottom: int
) -> list[str]:
    """Each head: what joins it to the one before, its sign, words, mentions, turn and arrow."""
    if state is None:
        return []
    stated = state.relation in {Relation.AND, Relation.OR}
    joint = f" {state.relation}" if stated else " ·"
    made = []
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        sign = DIGITS[number] if number < len(DIGITS) else "₊"
        parts = [
            f"{joint if number > 1 else ''} {sign}{_words(passage, first)}",
            f"+{len(more)}" if more else "",
            f"t{passage.turn_of(first.head) + 1}",
            _arrow(layout, first, top, bottom),
        ]
        made.append(" ".join(filter(None, parts)))
    return made


def _words(passage: Passage, mention: Mention) -> str:
    return clip(" ".join(passage.words(mention.start, mention.end).split()), MOST_WORD)


def _arrow(layout: Layout, mention: Mention, top: int, bottom: int) -> str:
    line = layout.spots[mention.head].line
    return UP if line < top else DOWN if line >= bottom else ""
