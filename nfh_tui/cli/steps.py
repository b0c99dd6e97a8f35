"""Progress of work in steps: on a terminal a line that is rewritten, on a pipe nothing."""

from nfh_tui.cli.progress import RowCounter


class Steps(RowCounter):
    """Shows what is being done and how much of it, if a person watches standard error."""

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step, at most ten times a second; total 0: how much there is is not known."""
        words = what.removesuffix(":")
        self.show(f"{words}: {done:,} of {total:,}" if total else words)
