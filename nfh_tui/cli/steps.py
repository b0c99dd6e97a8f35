"""Progress of work in steps: on a terminal a line that is rewritten, on a pipe nothing."""

import time

from nfh_tui.cli.progress import CLEAR, SECONDS_BETWEEN, RowCounter


class Steps(RowCounter):
    """Shows what is being done and how much of it, if a person watches standard error."""

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step, at most ten times a second; total 0: how much there is is not known."""
        if not self.watched or time.monotonic() - self.shown_at < SECONDS_BETWEEN:
            return
        self.shown_at = time.monotonic()
        count = f" {done:,} of {total:,}" if total else ""
        self._write(f"{CLEAR}{self.name}: {what}{count}")
