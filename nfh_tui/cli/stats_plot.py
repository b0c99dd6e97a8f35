"""Bars in plain characters, for charts in the terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from nfh_tui.rows import EIGHTHS, bar

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
    label = min(LABEL, max(cell_len(one.label) for one in bars))
    said = max(cell_len(one.said) for one in bars)
    room = max(1, width - label - said - 2)
    most = max(one.value for one in bars)
    return [
        f"{set_cell_size(one.label, label)} "
        f"{_bar(one.value / most if most else 0.0, room, blocks=blocks)} "
        f"{one.said:>{said}}"
        for one in bars
    ]


def _bar(share: float, room: int, *, blocks: bool) -> str:
    """A share of the room, padded to all of it."""
    if blocks:
        return bar(share, room).ljust(room)
    signs = max(1, round(share * room)) if share > 0 else 0
    return (ASCII_BAR * signs).ljust(room)


def can_show_blocks(encoding: str | None) -> bool:
    """Whether an encoding has the characters that bars are drawn with."""
    try:
        EIGHTHS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def indented(lines: Iterable[str], columns: int) -> str:
    """The lines as one paragraph."""
    return "".join(f"{' ' * columns}{line.rstrip()}\n" for line in lines)
