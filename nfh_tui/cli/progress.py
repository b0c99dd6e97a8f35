"""Progress of long work, in rows or in steps: on a terminal a line that is rewritten, on a
pipe nothing.
"""

import sys
import time
from types import TracebackType
from typing import Self

from nfh_db.messages import visible
from nfh_tui.cli.options import on_terminal

SECONDS_BETWEEN = 0.1
CLEAR = "\r\x1b[K"
WORDS_SHOWN = 500


class RowCounter:
    """Called with the rows so far; shows them on standard error if a person watches it."""

    def __init__(self, name: str) -> None:
        self.name = visible(name)
        self.watched = on_terminal()
        self.shown_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.shown_at:
            self._write(CLEAR)

    def __call__(self, rows: int) -> None:
        """Show the count, at most ten times a second."""
        self.show(f"{rows:,} rows")

    def show(self, words: str) -> None:
        """Show how far the work is, at most ten times a second."""
        if not self.watched or time.monotonic() - self.shown_at < SECONDS_BETWEEN:
            return
        self.shown_at = time.monotonic()
        self._write(f"{CLEAR}{self.name}: {visible(words, WORDS_SHOWN)}")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class Steps(RowCounter):
    """Shows what is being done and how much of it, if a person watches standard error."""

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step, at most ten times a second; total 0: how much there is is not known."""
        words = what.removesuffix(":")
        self.show(f"{words}: {done:,} of {total:,}" if total else words)
