"""Figures as lines of cells: text, curves and matrices."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, sqrt
from textwrap import wrap
from typing import NamedTuple

from nfh_db.messages import counted
from nfh_tui.display_text import clip, visible, width_of
from nfh_tui.editor.votes import SHORT_KINDS
from nfh_tui.widgets.passage_render import STEPS

# Text in cells is drawn as it is: text from a file must have been passed through `visible`.

NOTHING_TO_OPEN = "This figure has no items."


@dataclass(frozen=True, slots=True)
class Target:
    """A cell that the cursor can be on."""

    name: str
    """Identifies it, also after the figures are made again."""

    find: str | None = None
    """The query of its items; None for none."""

    note: str = ""
    """Shown while the cursor is on it."""

    exact: bool = True
    """The query finds these items and no others."""

    act: str = ""
    """The screen's action for enter; "" opens the items."""

    total: int = 0
    """Number of items where the query may find fewer, else 0."""


class FigureCell(NamedTuple):
    """A part of a line. The first column of a target is blank, for the cursor's sign.

    roles: styles, combined in order: "head", "bold", "faint", "good", "bad", "heat-0" to
    "heat-9".
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
    """A sentence in lines, indented by one cell."""
    shown = wrap(visible(words), max(20, width - 2), break_on_hyphens=False) or [""]
    return [(FigureCell(f" {line}", (role,)),) for line in shown]


def row(stop: Target | None, *cells: FigureCell) -> Line:
    """A line that is one target, which is in its first cell."""
    first, *rest = cells
    return (FigureCell(first.text, first.roles, stop), *rest)


def figure_row(
    stop: Target | None, label: str, *figures: str, roles: tuple[str, ...] = ("bold",)
) -> Line:
    """A line with a label and figures, padded to their columns; the label is the target."""
    return (FigureCell(f" {label}", roles, stop), *map(FigureCell, figures))


def titles_row(label: int, each: int, *titles: str) -> Line:
    """The titles above rows of figures. label, each: widths of the columns."""
    return (FigureCell(f" {'':{label}}{''.join(right(t, each) for t in titles)}", ("faint",)),)


def left(text: str, width: int) -> str:
    """Text clipped or padded to a width, left-aligned."""
    shown = clip(visible(text), width)
    return shown + " " * max(0, width - width_of(shown))


def right(text: str, width: int) -> str:
    """Text clipped or padded to a width, right-aligned."""
    shown = clip(visible(text), width)
    return " " * max(0, width - width_of(shown)) + shown


def items(count: int) -> str:
    return counted(count, "item")


def stops(lines: Sequence[Line]) -> Iterable[tuple[int, int, Target]]:
    """Line, cell and target of all targets, in order."""
    for y, line in enumerate(lines):
        for x, cell in enumerate(line):
            if cell.stop is not None:
                yield y, x, cell.stop


# Curves of braille characters, each with 2 × 4 dots, with figures on both axes. A curve of
# 50 × 5 cells has 100 × 20 dots.

Points = Sequence[tuple[float, float]]
"""(step, figure), in the order of the steps."""

HEIGHT = 5
"""Rows of a curve, without heading and axis."""

CURVE_LABEL = 7
"""Cells of the figures at the left."""

ACROSS, DOWN = 2, 4
"""Dots of a character, horizontally and vertically."""

BLANK_DOTS = 0x2800
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bits of a braille character, by column and row."""

MARK = "•"
APART = 4
"""Least horizontal distance of points, in dots, with a mark for each."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over the steps of a job."""

    name: str
    points: Points
    """Finite ones only."""

    whole: float = 0
    """The step at which the axis ends; 0 for the last point's."""

    percent: bool = False
    """Figures are fractions, shown in percent."""

    lower: bool = False
    """Lower figures are better."""


def curve_of(
    name: str, points: Points, *, whole: float = 0, percent: bool = False, lower: bool = False
) -> Curve:
    """A curve of the finite points."""
    kept = tuple((x, y) for x, y in points if isfinite(x) and isfinite(y))
    return Curve(name, kept, whole, percent, lower)


def curve_lines(curve: Curve, key: str, width: int, height: int = HEIGHT) -> list[Line]:
    """Heading with the last and the best figure, curve, and axis. key: name of its target."""
    if not curve.points:
        return []
    room = max(8, width - CURVE_LABEL - 3)
    values = [y for _, y in curve.points]
    low, high = min(values), max(values)
    first, last = _span(curve)
    lines = [_heading(curve, key, width)]
    for rank, cells in enumerate(_drawn(curve, room, height)):
        figures = {height // 2: high} if high == low else {0: high, height - 1: low}
        shown = figures.get(rank)
        scale = "" if shown is None else axis_label(shown, percent=curve.percent)
        lines.append(axis_row(scale, cells))
    lines.append((FigureCell(f"{'':{CURVE_LABEL}} └{'─' * room}", ("faint",)),))
    start, end = f"{first:,.0f}", f"{last:,.0f} steps"
    steps = f"{'':{CURVE_LABEL + 2}}{start}{right(end, room - len(start))}"
    return [*lines, (FigureCell(steps, ("faint",)),)]


def axis_row(scale: str, drawn: str) -> Line:
    """A row of a curve or chart after its axis. scale: the figure at the axis, "" for none."""
    label = FigureCell(f"{right(scale, CURVE_LABEL)} ", ("faint",))
    return (label, FigureCell("│", ("faint",)), FigureCell(drawn))


def axis_label(value: float, *, percent: bool = False) -> str:
    """A figure for an axis: three significant digits, or in percent with one decimal."""
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
    last = axis_label(now, percent=curve.percent) + sign
    top = axis_label(best, percent=curve.percent) + sign
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
    """The first and the last step of the axis."""
    first = min(0.0, curve.points[0][0])
    last = max(curve.whole, curve.points[-1][0])
    return first, last if last > first else first + 1


def _drawn(curve: Curve, width: int, height: int) -> Iterator[str]:
    """The rows of the curve from top to bottom."""
    places = _places(curve, width * ACROSS, height * DOWN)
    bits = [[0] * width for _ in range(height)]
    for x, y in _joined(places):
        bits[y // DOWN][x // ACROSS] |= DOTS[x % ACROSS][y % DOWN]
    rows = [[chr(BLANK_DOTS + one) if one else " " for one in line] for line in bits]
    if all(to_x - x >= APART for (x, _), (to_x, _) in pairwise(places)):
        for x, y in places:
            rows[y // DOWN][x // ACROSS] = MARK
    for line in rows:
        yield "".join(line)


def _places(curve: Curve, across: int, down: int) -> list[tuple[int, int]]:
    """The dot (x, y) of each point, from the upper left."""
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
"""Cells of a column, with the blank before its number."""

SHORT = {kind.value: words for kind, words in SHORT_KINDS.items()}
SHORT |= {"UNKNOWN": "Unk", "NOT_NFH": "not", "BROKEN": "dam", "REF-WRONG": "R≠"}
"""Labels in at most four cells; the note of a cell has the long form."""

CellQuery = Callable[[str, str], tuple[str | None, bool]]
"""From row and column: the query of the cell, and whether it is exact."""


@dataclass(frozen=True, slots=True)
class FigureMatrix:
    """Counts by row and column."""

    down: str
    """Whose labels the rows are."""

    across: str
    """Whose labels the columns are."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Mapping[tuple[str, str], int]
    """By (row, column); a missing one is 0."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def of_row(self, label: str) -> int:
        return sum(self.counts.get((label, column), 0) for column in self.columns)

    def of_column(self, label: str) -> int:
        return sum(self.counts.get((row, label), 0) for row in self.rows)


def matrix_of(
    down: str,
    across: str,
    counts: Mapping[tuple[str, str], int],
    order: Sequence[str],
) -> FigureMatrix:
    """A matrix of the labels that occur on either side, in the given order."""
    seen = {label for (row, column), n in counts.items() if n for label in (row, column)}
    kept = seen.intersection(order)
    columns_only = {"REF-WRONG"} - {row for row, _ in counts}
    rows = tuple(label for label in order if label in kept and label not in columns_only)
    return FigureMatrix(down, across, rows, tuple(x for x in order if x in kept), counts)


def matrix_lines(
    matrix: FigureMatrix, width: int, find: CellQuery, *, sums: bool = True
) -> list[Line]:
    """The matrix with labels; each cell with a count is a target.

    width: columns are narrowed to it, but not below NARROWEST. sums: add sums of rows and
    columns.
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
            note = f"{matrix.down}: {label}, {matrix.across}: {column}: {items(n)}"
            stop = Target(f"cell {label} {column}", query, note, exact, total=0 if exact else n)
            same = ("bold",) if label == column else ()
            cells.append(FigureCell(shown, (f"heat-{step(n, total)}", *same), stop))
        if sums:
            cells.append(_sum(total, each))
        lines.append(tuple(cells))
    if sums:
        of_columns = (_sum(matrix.of_column(column), each) for column in matrix.columns)
        name = FigureCell(f" {left('all', MATRIX_LABEL)}", ("faint",))
        lines.append((name, *of_columns, _sum(matrix.total, each)))
    return lines


def _sum(n: int, each: int) -> FigureCell:
    return FigureCell(right(fitting(n, each - 1), each), ("faint",))


def step(count: int, whole: int) -> int:
    """The shade of a count: 0 for 0, the highest for all of its row.

    Proportional to the square root of the share, so that rare confusions differ visibly.
    """
    if count <= 0 or whole <= 0:
        return 0
    return max(1, min(STEPS - 1, round(sqrt(count / whole) * (STEPS - 1))))


def fitting(count: int, width: int) -> str:
    """A count in at most `width` cells, abbreviated in thousands or millions if too long."""
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
