"""Lines of cells: what a sheet of figures is made of.

Text in cells is drawn text: what came from a file has been through `visible`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from nfh_tui.visible import clip, visible, width_of

NOTHING_TO_OPEN = "Nothing stands behind this figure."


@dataclass(frozen=True, slots=True)
class Stop:
    """What the cursor can stand on.

    name: tells it from other stops, also when the sheet is made anew. find: the query of its
    items, None for none. exact: the query finds these items and no others. note: what is
    said of it while one stands on it. total: how many items are meant where the query may find
    fewer, else 0. act: what enter does in place of opening items, a word
    that the screen knows; "" to open.
    """

    name: str
    find: str | None = None
    note: str = ""
    exact: bool = True
    act: str = ""
    total: int = 0


class Cell(NamedTuple):
    """A piece of a line. The first column of a stop is blank: the cursor's sign stands there.

    roles: looks, each laid on those before it: "head", "bold", "faint", "good", "bad",
    "heat-0" to "heat-9".
    """

    text: str
    roles: tuple[str, ...] = ()
    stop: Stop | None = None


Line = tuple[Cell, ...]

BLANK: Line = ()


def heading(words: str, faint: str = "") -> Line:
    """The first line of a section."""
    title = Cell(visible(words), ("head",))
    return (title, Cell(f"  {visible(faint)}", ("faint",))) if faint else (title,)


def sentence(words: str, width: int, role: str = "faint") -> list[Line]:
    """A sentence of several lines, indented by one."""
    shown = wrap(visible(words), max(20, width - 2), break_on_hyphens=False) or [""]
    return [(Cell(f" {line}", (role,)),) for line in shown]


def row(stop: Stop | None, *cells: Cell) -> Line:
    """A line of which the whole is one stop: it lies in the first of its cells."""
    first, *rest = cells
    return (Cell(first.text, first.roles, stop), *rest)


def left(text: str, width: int) -> str:
    """Drawn text of exactly so many cells, blanks behind it."""
    shown = clip(visible(text), width)
    return shown + " " * max(0, width - width_of(shown))


def right(text: str, width: int) -> str:
    """Drawn text of exactly so many cells, blanks before it."""
    shown = clip(visible(text), width)
    return " " * max(0, width - width_of(shown)) + shown


def percent(value: float | None, places: int = 1) -> str:
    """A fraction as a percentage, without the sign; – where there is none."""
    return "–" if value is None else f"{100 * value:.{places}f}"


def share(part: int, whole: int) -> float | None:
    """A fraction; None of nothing."""
    return part / whole if whole else None


def items(count: int) -> str:
    """A number of items, in words."""
    return f"{count:,} item" + ("" if count == 1 else "s")


def stops(lines: Sequence[Line]) -> Iterable[tuple[int, int, Stop]]:
    """Line, cell and stop of everything one can stand on, in order."""
    for y, line in enumerate(lines):
        for x, cell in enumerate(line):
            if cell.stop is not None:
                yield y, x, cell.stop
