"""Bars in plain characters, for charts in the terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

BLOCKS = " ▏▎▍▌▋▊▉█"
"""A column of the terminal filled from the left by nothing to eight eighths."""

ASCII_BAR = "#"
LABEL = 20
"""Columns that a label may take."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart. said: what stands behind the bar, as "464  46.4 %"."""

    label: str
    value: float
    said: str


def chart(bars: Sequence[Bar], width: int, *, blocks: bool) -> list[str]:
    """The lines of a chart at most `width` columns wide, its longest bar as long as there is
    room.

    A value above 0 is never shown as nothing. blocks: draw with eighths of a column; else
    with "#", for terminals that know no more.
    """
    if not bars:
        return []
    label = min(LABEL, max(cell_len(bar.label) for bar in bars))
    said = max(cell_len(bar.said) for bar in bars)
    room = max(1, width - label - said - 2)
    most = max(bar.value for bar in bars)
    return [
        f"{set_cell_size(bar.label, label)} "
        f"{_bar(bar.value / most if most else 0.0, room, blocks=blocks)} "
        f"{bar.said:>{said}}"
        for bar in bars
    ]


def _bar(share: float, room: int, *, blocks: bool) -> str:
    """A share of the room, padded to all of it."""
    steps = len(BLOCKS) - 1 if blocks else 1
    filled = round(share * room * steps)
    if share > 0:
        filled = max(1, filled)
    full, rest = divmod(filled, steps)
    drawn = (BLOCKS[-1] if blocks else ASCII_BAR) * full + (BLOCKS[rest] if rest else "")
    return drawn.ljust(room)


def can_show_blocks(encoding: str | None) -> bool:
    """Whether an encoding has the characters that bars are drawn with."""
    try:
        BLOCKS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def without_unknown(text: str, encoding: str | None) -> str:
    """The text with backslash escapes for what an encoding does not have."""
    try:
        return text.encode(encoding or "ascii", "backslashreplace").decode(encoding or "ascii")
    except LookupError:
        return text.encode("ascii", "backslashreplace").decode("ascii")


def indented(lines: Iterable[str], columns: int = 2) -> str:
    """The lines as one paragraph."""
    return "".join(f"{' ' * columns}{line.rstrip()}\n" for line in lines)
