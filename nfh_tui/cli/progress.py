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
    """Shows a count of rows on standard error if that is a terminal."""

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
