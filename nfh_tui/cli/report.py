"""What commands print: reports of paragraphs, tables and footnotes on a terminal or a pipe, and
the progress of long work, on a terminal only, in a line that is rewritten.

rich is imported where something is printed: help and --json need none of it.
"""

import io
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nfh_db.messages import counted, visible
from nfh_models.agreement.measure import NOT_ASKED, LeftOut, Measure

if TYPE_CHECKING:
    from rich.console import Console
import time
from typing import Self

from nfh_tui.cli.options import on_terminal

WIDTH = 80
"""Columns of output to a pipe, and of sentences."""
NARROWEST = 40
WIDEST = 100
INDENTED = (0, 0, 0, 2)
GAP = 2
FOLDED = 6
"""Least width of a column of words on a narrow page."""


def wrapped(
    text: str,
    first: str = "",
    rest: str | None = None,
    *,
    width: int = WIDTH,
    cuts: bool = False,
) -> list[str]:
    """Wrap a text into lines. first, rest: prefixes of the first line and of the others.

    cuts: cut words that are longer than a line.
    """
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=cuts,
        break_on_hyphens=False,
    )


def aligned(rows: Sequence[Sequence[str]], words: int = 1, indent: str = "") -> list[str]:
    """Rows as padded lines: the first `words` columns are left-aligned, the others
    right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent
        + "  ".join(
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def page_width() -> int:
    """Columns of a page: those of the terminal, from NARROWEST to WIDEST; 80 on a pipe."""
    watched = sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if watched else WIDTH
    return max(NARROWEST, min(columns, WIDEST))


@dataclass(frozen=True, slots=True)
class Brief:
    """A measure with two decimal places, for rows with several measures."""

    measure: Measure
    interval: bool = False


Cell = str | Measure | Brief


@dataclass(slots=True)
class CommandReport:
    """The text of a report, built from top to bottom."""

    _file: io.StringIO = field(default_factory=io.StringIO)
    _console: "Console" = field(init=False)

    def __post_init__(self) -> None:
        from rich.console import Console

        self._console = Console(
            file=self._file,
            width=page_width(),
            force_terminal=sys.stdout.isatty(),
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def say(self, sentence: str) -> None:
        from rich.text import Text

        self._console.print(Text(visible(sentence, 2_000)))

    def note(self, sentence: str) -> None:
        """A paragraph that belongs to the table above it, indented."""
        from rich.padding import Padding
        from rich.text import Text

        self._console.print(Padding(Text(visible(sentence, 2_000)), INDENTED))

    def title(self, words: str) -> None:
        from rich.text import Text

        self._console.print()
        self._console.print(Text(visible(words, 500), style="bold"))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Rows under columns; sentences of measures without a value stand below.

        A column whose name ends in ":" holds numbers and is right-aligned.
        """
        from rich.cells import cell_len
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        notes: dict[str, int] = {}
        kept = [tuple(row) for row in rows]
        texts = [[cell_text(value, notes) for value in row] for row in kept]
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="italic")
        needed = INDENTED[-1]
        for place, name in enumerate(columns):
            numbers, title = name.endswith(":"), name.removesuffix(":")
            whole = numbers or any(isinstance(row[place], Measure | Brief) for row in kept)
            width = max(map(cell_len, (title, *(row[place] for row in texts))))
            needed += GAP + (width if whole else min(width, FOLDED))
            table.add_column(
                title,
                justify="right" if numbers else "left",
                overflow="fold",
                no_wrap=whole,
            )
        for row in texts:
            table.add_row(*map(Text, row))
        # Where not even the numbers fit, the terminal folds the lines; none is cut off.
        usual = self._console.width
        self._console.width = max(usual, needed)
        self._console.print(Padding(table, INDENTED))
        self._console.width = usual
        for why, number in notes.items():
            self.note(f"({number}) {why}")

    def left_out(self, reasons: Iterable[LeftOut], of: str = "") -> None:
        """Note the items that a measure leaves out. of: the measure, where a table has
        several."""
        from nfh_tui.cli.agreement import omission

        for one in reasons:
            find = omission(one.why)
            where = f": {find.query}" if find else ""
            thing, why = one.why.split(" ", maxsplit=1)
            what = f"{counted(one.n, thing.removesuffix('s'))} {why}"
            self.note(f"left out{of and f' of {of}'}: {what}{where}")

    def text(self) -> str:
        lines = self._file.getvalue().split("\n")
        return "\n".join(line.rstrip() for line in lines)


def cell_text(value: Cell, notes: dict[str, int]) -> str:
    """A measure as "0.733 [0.724, 0.741]"; without a value the number of its sentence.

    notes: numbers by sentence; a new sentence is added to them.
    """
    if isinstance(value, str):
        return visible(value, 500)
    if isinstance(value, Brief):
        measure, places, interval = value.measure, 2, value.interval
    else:
        measure, places, interval = value, 3, True
    note = ""
    if measure.why and measure.why != NOT_ASKED and (interval or measure.value is None):
        note = f" ({notes.setdefault(measure.why, len(notes) + 1)})"
    if measure.value is None:
        return f"none{note}"
    if not interval or measure.low is None or measure.high is None:
        return f"{measure.value:.{places}f}{note}"
    return f"{measure.value:.{places}f} [{measure.low:.{places}f}, {measure.high:.{places}f}]"


SECONDS_BETWEEN = 0.1
CLEAR = "\r\x1b[K"
WORDS_SHOWN = 500


class RowCounter:
    """Shows a count of rows on standard error if that is a terminal."""

    def __init__(self, name: str) -> None:
        self.name = visible(name)
        self.watched = on_terminal()
        self.shown_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown_at:
            self._write(CLEAR)

    def __call__(self, rows: int) -> None:
        """Show the count, at most ten times a second."""
        self.show(f"{rows:,} rows")

    def show(self, words: str) -> None:
        """Show the progress in words, at most ten times a second."""
        if not self.watched or time.monotonic() - self.shown_at < SECONDS_BETWEEN:
            return
        self.shown_at = time.monotonic()
        self._write(f"{CLEAR}{self.name}: {visible(words, WORDS_SHOWN)}")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class Steps(RowCounter):
    """Shows a step and its progress on standard error if that is a terminal."""

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step, at most ten times a second. total: 0 if it is not known."""
        words = what.removesuffix(":")
        self.show(f"{words}: {done:,} of {total:,}" if total else words)
