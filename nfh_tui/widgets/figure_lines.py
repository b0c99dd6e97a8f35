"""Figures as lines of cells: curves, matrices, and the lines that a sheet of figures is made
of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, sqrt
from textwrap import wrap
from typing import NamedTuple

from nfh_tui.display_text import clip, visible, width_of
from nfh_tui.widgets.passage_render import STEPS

# Lines of cells: what a sheet of figures is made of.
#
# Text in cells is drawn text: what came from a file has been through `visible`.

NOTHING_TO_OPEN = "Nothing stands behind this figure."


@dataclass(frozen=True, slots=True)
class Target:
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


class FigureCell(NamedTuple):
    """A piece of a line. The first column of a stop is blank: the cursor's sign stands there.

    roles: looks, each laid on those before it: "head", "bold", "faint", "good", "bad",
    "heat-0" to "heat-9".
    """

    text: str
    roles: tuple[str, ...] = ()
    stop: Target | None = None


Line = tuple[FigureCell, ...]

BLANK: Line = ()


def heading(words: str, faint: str = "") -> Line:
    """The first line of a section."""
    title = FigureCell(visible(words), ("head",))
    return (title, FigureCell(f"  {visible(faint)}", ("faint",))) if faint else (title,)


def sentence(words: str, width: int, role: str = "faint") -> list[Line]:
    """A sentence of several lines, indented by one."""
    shown = wrap(visible(words), max(20, width - 2), break_on_hyphens=False) or [""]
    return [(FigureCell(f" {line}", (role,)),) for line in shown]


def row(stop: Target | None, *cells: FigureCell) -> Line:
    """A line of which the whole is one stop: it lies in the first of its cells."""
    first, *rest = cells
    return (FigureCell(first.text, first.roles, stop), *rest)


def left(text: str, width: int) -> str:
    """Drawn text of exactly so many cells, blanks behind it."""
    shown = clip(visible(text), width)
    return shown + " " * max(0, width - width_of(shown))


def right(text: str, width: int) -> str:
    """Drawn text of exactly so many cells, blanks before it."""
    shown = clip(visible(text), width)
    return " " * max(0, width - width_of(shown)) + shown


def items(count: int) -> str:
    """A number of items, in words."""
    return f"{count:,} item" + ("" if count == 1 else "s")


def stops(lines: Sequence[Line]) -> Iterable[tuple[int, int, Target]]:
    """Line, cell and stop of everything one can stand on, in order."""
    for y, line in enumerate(lines):
        for x, cell in enumerate(line):
            if cell.stop is not None:
                yield y, x, cell.stop


# A curve as lines of cells: dots of braille characters, with figures on both axes.
#
# Each character holds two dots side by side and four above each other, so that a curve of
# fifty cells by five has a hundred by twenty places.

Points = Sequence[tuple[float, float]]
"""Steps and figures, in the order of the steps."""

HEIGHT = 5
"""Rows of a curve, without its heading and its axis."""

CURVE_LABEL = 7
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
    room = max(8, width - CURVE_LABEL - 3)
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
            (
                FigureCell(f"{right(scale, CURVE_LABEL)} ", ("faint",)),
                FigureCell("│", ("faint",)),
                FigureCell(cells),
            )
        )
    lines.append((FigureCell(f"{'':{CURVE_LABEL}} └{'─' * room}", ("faint",)),))
    start, end = f"{first:,.0f}", f"{last:,.0f} steps"
    lines.append(
        (
            FigureCell(
                f"{'':{CURVE_LABEL + 2}}{start}{right(end, room - len(start))}", ("faint",)
            ),
        )
    )
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
        Target(key, None, note),
        FigureCell(f" {left(curve.name, min(room, max(12, width_of(curve.name))))}", ("bold",)),
        FigureCell(f" {words}"),
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


MATRIX_LABEL = 6
"""Cells of a row's label."""

WIDEST, NARROWEST = 8, 5
"""Cells of a column, the blank before its number among them."""

SHORT = {
    "REFERENCE": "Ref",
    "YEAR": "Year",
    "AGE": "Age",
    "CURRENCY": "Curr",
    "PEOPLE": "Peop",
    "TIME": "Time",
    "OTHER": "Oth",
    "UNKNOWN": "Unk",
    "NOT_NFH": "not",
    "BROKEN": "dam",
    "NFH": "NFH",
    "REF-WRONG": "R≠",
}
"""Labels in at most four cells; the whole word is said of the cell one stands on."""

Find = Callable[[str, str], tuple[str | None, bool]]
"""From row and column to the query of the cell, and whether it finds no other items."""


@dataclass(frozen=True, slots=True)
class FigureMatrix:
    """Counts by row and column.

    rows, columns: labels in order. counts: by (row, column); what is missing is 0.
    down, across: whose labels the rows and the columns are. same: pairs of labels that agree.
    """

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Mapping[tuple[str, str], int]

    @property
    def total(self) -> int:
        """All counts together."""
        return sum(self.counts.values())

    def of_row(self, label: str) -> int:
        """What stands in a row."""
        return sum(self.counts.get((label, column), 0) for column in self.columns)

    def of_column(self, label: str) -> int:
        """What stands in a column."""
        return sum(self.counts.get((row, label), 0) for row in self.rows)


def matrix_of(
    down: str,
    across: str,
    counts: Mapping[tuple[str, str], int],
    order: Sequence[str],
    *,
    always: Sequence[str] = (),
) -> FigureMatrix:
    """A matrix of those labels that occur, on either side, in the order given.

    always: labels that have a row and a column even where nothing is counted.
    """
    seen = {label for (row, column), n in counts.items() if n for label in (row, column)}
    kept = {label for label in order if label in seen or label in always}
    columns_only = {"REF-WRONG"} - {row for row, _ in counts}
    rows = tuple(label for label in order if label in kept and label not in columns_only)
    return FigureMatrix(down, across, rows, tuple(x for x in order if x in kept), counts)


def matrix_lines(
    matrix: FigureMatrix, width: int, find: Find, *, sums: bool = True
) -> list[Line]:
    """The matrix with its labels; each cell that counts something is a stop.

    width: cells there are; columns become narrower for it, never less than their labels.
    sums: whether rows and columns have theirs.
    """
    columns = max(1, len(matrix.columns) + sums)
    each = max(NARROWEST, min(WIDEST, (width - MATRIX_LABEL - 1) // columns))
    head = [FigureCell(left("", MATRIX_LABEL + 1))]
    head += [FigureCell(right(short(label), each), ("bold",)) for label in matrix.columns]
    if sums:
        head.append(FigureCell(right("all", each), ("faint",)))
    lines: list[Line] = [tuple(head)]
    for label in matrix.rows:
        total = matrix.of_row(label)
        cells = [FigureCell(f" {left(short(label), MATRIX_LABEL)}", ("bold",))]
        for column in matrix.columns:
            n = matrix.counts.get((label, column), 0)
            shown = right(fitting(n, each - 1) if n else "·", each)
            if not n:
                cells.append(FigureCell(shown, ("faint",)))
                continue
            query, exact = find(label, column)
            said = f"{matrix.down}: {label}, {matrix.across}: {column}: {items(n)}"
            stop = Target(f"cell {label} {column}", query, said, exact, total=0 if exact else n)
            same = ("bold",) if label == column else ()
            cells.append(FigureCell(shown, (f"heat-{step(n, total)}", *same), stop))
        if sums:
            cells.append(_sum(total, each))
        lines.append(tuple(cells))
    return [*lines, _last(matrix, each)] if sums else lines


def _last(matrix: FigureMatrix, each: int) -> Line:
    """The sums of the columns."""
    of_columns = (_sum(matrix.of_column(column), each) for column in matrix.columns)
    label = FigureCell(f" {left('all', MATRIX_LABEL)}", ("faint",))
    return (label, *of_columns, _sum(matrix.total, each))


def _sum(n: int, each: int) -> FigureCell:
    return FigureCell(right(fitting(n, each - 1), each), ("faint",))


def step(count: int, whole: int) -> int:
    """The shade of a count: 0 for none, the highest for all of its row.

    By the square root of the share, so that rare confusions are told apart.
    """
    if count <= 0 or whole <= 0:
        return 0
    return max(1, min(STEPS - 1, round(sqrt(count / whole) * (STEPS - 1))))


def fitting(count: int, width: int) -> str:
    """A count in at most `width` cells, in thousands or millions where it is too long."""
    plain = f"{count:,}"
    if len(plain) <= width:
        return plain
    if len(str(count)) <= width:
        return str(count)
    for size, sign in ((1_000, "k"), (1_000_000, "M")):
        if len(f"{count // size}{sign}") <= width:
            return f"{count // size}{sign}"
    return "…"


def short(label: str) -> str:
    """A label in at most four cells."""
    return SHORT.get(label, label[: NARROWEST - 1])
