"""A curve as lines of cells: dots of braille characters, with figures on both axes.

Each character holds two dots side by side and four above each other, so that a curve of
fifty cells by five has a hundred by twenty places.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from nfh_tui.sheets.line import Cell, Line, Stop, left, right, row
from nfh_tui.visible import width_of

Points = Sequence[tuple[float, float]]
"""Steps and figures, in the order of the steps."""

HEIGHT = 5
"""Rows of a curve, without its heading and its axis."""

LABEL = 7
"""Cells of the figures at the left."""

ACROSS, DOWN = 2, 4
"""Dots of a character."""

BLANK_DOTS = 0x2800
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bits of a braille character, by column and row."""

MARK = "•"
APART = 4
"""Dots between points from which on each has a mark of its own."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over the steps of a job.

    name: what it is called. points: finite ones only. whole: the step at which the axis
    ends; 0 for that of the last point. percent: figures are fractions, shown in percent.
    lower: the less, the better.
    """

    name: str
    points: Points
    whole: float = 0
    percent: bool = False
    lower: bool = False


def curve_of(
    name: str, points: Points, *, whole: float = 0, percent: bool = False, lower: bool = False
) -> Curve:
    """A curve of those points that can be drawn."""
    kept = tuple((x, y) for x, y in points if isfinite(x) and isfinite(y))
    return Curve(name, kept, whole, percent, lower)


def curve_lines(curve: Curve, key: str, width: int, height: int = HEIGHT) -> list[Line]:
    """Heading with the last figure and the best, the curve, its axis. key: of its stop."""
    if not curve.points:
        return []
    room = max(8, width - LABEL - 3)
    values = [y for _, y in curve.points]
    low, high = min(values), max(values)
    first, last = _span(curve)
    lines = [_heading(curve, key, width)]
    for rank, cells in enumerate(_drawn(curve, room, height)):
        shown = {0: high, height - 1: low}.get(rank)
        if high == low and rank != height // 2:
            shown = None
        elif high == low:
            shown = high
        scale = "" if shown is None else said(shown, percent=curve.percent)
        lines.append(
            (Cell(f"{right(scale, LABEL)} ", ("faint",)), Cell("│", ("faint",)), Cell(cells))
        )
    lines.append((Cell(f"{'':{LABEL}} └{'─' * room}", ("faint",)),))
    start, end = f"{first:,.0f}", f"{last:,.0f} steps"
    lines.append((Cell(f"{'':{LABEL + 2}}{start}{right(end, room - len(start))}", ("faint",)),))
    return lines


def said(value: float, *, percent: bool = False) -> str:
    """A figure as it stands beside an axis: three digits that tell, or one behind the point."""
    if percent:
        return f"{100 * value:.1f}"
    size = abs(value)
    if size and (size < 0.001 or size >= 100_000):
        return f"{value:.0e}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.{1 if size >= 10 else 2}f}"


def _heading(curve: Curve, key: str, width: int) -> Line:
    x, now = curve.points[-1]
    pick = min if curve.lower else max
    best_x, best = pick(curve.points, key=lambda point: point[1])
    sign = " %" if curve.percent else ""
    last = said(now, percent=curve.percent) + sign
    top = said(best, percent=curve.percent) + sign
    word = "lowest" if curve.lower else "best"
    note = f"{curve.name}: {last} after {x:,.0f} steps; {word} {top} after {best_x:,.0f}"
    words = f"now {last}, {word} {top}"
    room = max(4, width - len(words) - 4)
    return row(
        Stop(key, None, note),
        Cell(f" {left(curve.name, min(room, max(12, width_of(curve.name))))}", ("bold",)),
        Cell(f" {words}"),
    )


def _span(curve: Curve) -> tuple[float, float]:
    """The steps at both ends of the axis."""
    first = min(0.0, curve.points[0][0])
    last = max(curve.whole, curve.points[-1][0])
    return first, last if last > first else first + 1


def _drawn(curve: Curve, width: int, height: int) -> Iterator[str]:
    """The rows of the curve, from the top."""
    places = _places(curve, width * ACROSS, height * DOWN)
    bits = [[0] * width for _ in range(height)]
    for x, y in _joined(places):
        bits[y // DOWN][x // ACROSS] |= DOTS[x % ACROSS][y % DOWN]
    rows = [[chr(BLANK_DOTS + one) if one else " " for one in line] for line in bits]
    if _apart(places):
        for x, y in places:
            rows[y // DOWN][x // ACROSS] = MARK
    for line in rows:
        yield "".join(line)


def _apart(places: Sequence[tuple[int, int]]) -> bool:
    """Whether all points can be told from each other."""
    return all(to_x - x >= APART for (x, _), (to_x, _) in pairwise(places))


def _places(curve: Curve, across: int, down: int) -> list[tuple[int, int]]:
    """Where each point lies among the dots, from the upper left."""
    first, last = _span(curve)
    values = [y for _, y in curve.points]
    low, high = min(values), max(values)
    rise = high - low
    found = []
    for x, y in curve.points:
        share = (x - first) / (last - first)
        height = (y - low) / rise if rise else 0.5
        found.append(
            (
                max(0, min(across - 1, round(share * (across - 1)))),
                max(0, min(down - 1, round((1 - height) * (down - 1)))),
            )
        )
    return found


def _joined(places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The dots of the points and of the lines between them."""
    yield from places[:1]
    for (x, y), (to_x, to_y) in pairwise(places):
        steps = max(abs(to_x - x), abs(to_y - y), 1)
        for n in range(1, steps + 1):
            yield x + round((to_x - x) * n / steps), y + round((to_y - y) * n / steps)
