"""A matrix of counts as lines: a number in each cell, shaded in steps of one hue."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from nfh_tui.heat import STEPS
from nfh_tui.sheets.line import Cell, Line, Stop, items, left, right

LABEL = 6
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
class Matrix:
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
) -> Matrix:
    """A matrix of those labels that occur, on either side, in the order given.

    always: labels that have a row and a column even where nothing is counted.
    """
    seen = {label for (row, column), n in counts.items() if n for label in (row, column)}
    kept = {label for label in order if label in seen or label in always}
    columns_only = {"REF-WRONG"} - {row for row, _ in counts}
    rows = tuple(label for label in order if label in kept and label not in columns_only)
    return Matrix(down, across, rows, tuple(x for x in order if x in kept), counts)


def matrix_lines(matrix: Matrix, width: int, find: Find, *, sums: bool = True) -> list[Line]:
    """The matrix with its labels; each cell that counts something is a stop.

    width: cells there are; columns become narrower for it, never less than their labels.
    sums: whether rows and columns have theirs.
    """
    columns = max(1, len(matrix.columns) + sums)
    each = max(NARROWEST, min(WIDEST, (width - LABEL - 1) // columns))
    head = [Cell(left("", LABEL + 1))]
    head += [Cell(right(short(label), each), ("bold",)) for label in matrix.columns]
    if sums:
        head.append(Cell(right("all", each), ("faint",)))
    lines: list[Line] = [tuple(head)]
    for label in matrix.rows:
        total = matrix.of_row(label)
        cells = [Cell(f" {left(short(label), LABEL)}", ("bold",))]
        for column in matrix.columns:
            n = matrix.counts.get((label, column), 0)
            shown = right(fitting(n, each - 1) if n else "·", each)
            if not n:
                cells.append(Cell(shown, ("faint",)))
                continue
            query, exact = find(label, column)
            said = f"{matrix.down}: {label}, {matrix.across}: {column}: {items(n)}"
            stop = Stop(f"cell {label} {column}", query, said, exact, total=0 if exact else n)
            same = ("bold",) if label == column else ()
            cells.append(Cell(shown, (f"heat-{step(n, total)}", *same), stop))
        if sums:
            cells.append(_sum(total, each))
        lines.append(tuple(cells))
    return [*lines, _last(matrix, each)] if sums else lines


def _last(matrix: Matrix, each: int) -> Line:
    """The sums of the columns."""
    of_columns = (_sum(matrix.of_column(column), each) for column in matrix.columns)
    label = Cell(f" {left('all', LABEL)}", ("faint",))
    return (label, *of_columns, _sum(matrix.total, each))


def _sum(n: int, each: int) -> Cell:
    return Cell(right(fitting(n, each - 1), each), ("faint",))


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
