"""Pictures of an evaluation as inline SVG: confusion matrices and reliability diagrams.

Colours are the page's own variables (see `evaluate_resolution_page.STYLE`), so that a picture
is read in light, in dark and on paper; numbers stand in the cells and beside the points, so
that none is read by colour alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, pairwise

CELL_WIDTH = 74
CELL_HEIGHT = 34
LEFT = 104
TOP = 58
EDGE = 8

DARKEST = 0.6
"""Opacity of a cell that holds its whole row: the ink stays legible on it in both themes."""

SIZE = 300
"""Width and height of a reliability diagram's square, in its own units."""
MARGIN = 44
COUNTS = 46
"""Height of the bars below it that say how many answers each point stands for."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table of counts: a row a gold label, a column an answer.

    rows: None for a cell that is not known. right: the column that is right for each row.
    sizes: examples of each row, where they are more than the cells that are known.
    """

    title: str
    labels: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[int | None]]
    right: Sequence[int]
    sizes: Sequence[int]


def matrix(one: Matrix) -> str:
    """A confusion matrix with its counts; the darker a cell, the more of its row it holds."""
    width = LEFT + CELL_WIDTH * len(one.columns) + EDGE
    height = TOP + CELL_HEIGHT * len(one.labels) + EDGE
    title = escape(one.title)
    parts = [
        f'<svg class="matrix" role="img" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px"><title>{title}</title>',
        f'<text class="axis" x="{EDGE}" y="{TOP - 10}">gold ↓ · answer →</text>',
    ]
    for place, name in enumerate(one.columns):
        at = LEFT + CELL_WIDTH * (place + 0.5)
        parts.append(f'<text class="label" x="{at}" y="{TOP - 10}">{_short(name)}</text>')
    for place in range(len(one.labels)):
        parts += _row(one, place)
    return "".join([*parts, "</svg>"])


def _row(one: Matrix, place: int) -> list[str]:
    top = TOP + CELL_HEIGHT * place
    middle = top + CELL_HEIGHT / 2
    label, size = one.labels[place], one.sizes[place]
    parts = [
        f'<text class="row" x="{LEFT - EDGE}" y="{middle}">{escape(label)}</text>',
    ]
    for column, cell in enumerate(one.rows[place]):
        left = LEFT + CELL_WIDTH * column
        share = cell / size if cell and size else 0.0
        box = (
            f'x="{left + 1}" y="{top + 1}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}"'
        )
        style, words = _cell(cell, right=column == one.right[place])
        said = f"gold {label}, answer {one.columns[column]}: {_hover(cell, share)}"
        parts.append(
            f"<g><title>{escape(said)}</title>"
            f'<rect class="empty" {box}/>'
            f'<rect class="full" {box} fill-opacity="{DARKEST * share:.3f}"/>'
            f'<text class="{style}" x="{left + CELL_WIDTH / 2}" y="{middle}">{words}</text></g>'
        )
    return parts


def _cell(cell: int | None, *, right: bool) -> tuple[str, str]:
    if cell is None:
        return "count faint", "?"
    if not cell:
        return "count faint", "0"
    return ("count right" if right else "count"), f"{cell:,}"


def _hover(cell: int | None, share: float) -> str:
    return "not published" if cell is None else f"{cell:,} ({100 * share:.1f} % of the row)"


def _short(name: str) -> str:
    return escape("REFER." if name == "REFERENCE" else name)


# --- reliability ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """Answers of about the same confidence: mean confidence, share that is right, how many."""

    confidence: float
    right: float
    n: int


@dataclass(frozen=True, slots=True)
class Line:
    """The points of one calibration, by rising confidence. name: for the key."""

    name: str
    points: Sequence[Point]


def reliability(title: str, lines: Sequence[Line]) -> str:
    """How often answers are right, by how sure the model says it is; at most two lines.

    A calibrated model lies on the diagonal. The bars below are the counts of the first line.
    """
    width, height = SIZE + 2 * MARGIN, SIZE + 2 * MARGIN + COUNTS
    parts = [
        f'<svg class="reliability" role="img" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px"><title>{escape(title)}</title>',
        *_frame(),
    ]
    for number, line in zip(count(1), lines, strict=False):
        parts += _line(line, number)
    if lines:
        parts += _bars(lines[0])
    return "".join([*parts, "</svg>"])


def _frame() -> list[str]:
    parts = [
        f'<rect class="frame" x="{MARGIN}" y="{MARGIN / 2}" width="{SIZE}" height="{SIZE}"/>',
        f'<path class="even" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>',
    ]
    for step in range(0, 101, 25):
        share = step / 100
        parts += [
            f'<text class="tick across" x="{_x(share)}" y="{_y(0) + 16}">{step}</text>',
            f'<text class="tick up" x="{MARGIN - 8}" y="{_y(share)}">{step}</text>',
        ]
        if 0 < step < 100:
            parts.append(
                f'<path class="grid" d="M{_x(share)} {_y(0)}V{_y(1)}'
                f'M{_x(0)} {_y(share)}H{_x(1)}"/>'
            )
    middle = MARGIN + SIZE / 2
    below = _y(0) + COUNTS + 32
    upright = MARGIN / 2 + SIZE / 2
    return [
        *parts,
        f'<text class="tick across" x="{middle}" y="{below}">confidence, percent; '
        "bars: answers</text>",
        f'<text class="tick across" transform="rotate(-90 10 {upright})" x="10" '
        f'y="{upright}">right, percent</text>',
    ]


def _line(line: Line, number: int) -> list[str]:
    parts = [
        f'<path class="line line-{number}" d="M{_x(one.confidence)} {_y(one.right)}'
        f'L{_x(two.confidence)} {_y(two.right)}"/>'
        for one, two in pairwise(line.points)
    ]
    for one in line.points:
        said = (
            f"{line.name}: {one.n:,} answers, confidence {100 * one.confidence:.1f} %, right "
            f"{100 * one.right:.1f} %"
        )
        parts.append(
            f'<g class="mark mark-{number}"><title>{escape(said)}</title>'
            f"{_mark(_x(one.confidence), _y(one.right), number)}</g>"
        )
    return parts


def _mark(x: float, y: float, number: int) -> str:
    """A dot for the first line, a square for the second: told apart without colour."""
    if number == 1:
        return f'<circle cx="{x}" cy="{y}" r="4.5"/>'
    return f'<rect x="{round(x - 4, 1)}" y="{round(y - 4, 1)}" width="8" height="8"/>'


def _bars(line: Line) -> list[str]:
    most = max((one.n for one in line.points), default=0)
    if not most:
        return []
    foot = _y(0) + 22 + COUNTS - 8
    tall = COUNTS - 16
    return [
        f'<rect class="bar" x="{round(_x(one.confidence) - 5, 1)}" '
        f'y="{round(foot - tall * one.n / most, 1)}" width="10" '
        f'height="{round(tall * one.n / most, 1)}"><title>{one.n:,} answers</title></rect>'
        for one in line.points
    ]


def _x(share: float) -> float:
    return round(MARGIN + SIZE * share, 1)


def _y(share: float) -> float:
    return round(MARGIN / 2 + SIZE * (1 - share), 1)
