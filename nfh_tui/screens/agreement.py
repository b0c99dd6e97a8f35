"""The agreement screen: how far annotators agree, with the items behind each figure.

Counts come from the store at once. Coefficients with intervals come from `nfh-tui agreement` in
a child process, and are cached until the next answer.
"""

import asyncio
from collections.abc import Sequence
from time import monotonic

from nfh_db.comparisons import AnnotatorPair, Confusions
from nfh_tui.screens.agreement_figures import (
    POOLED,
    AgreementFigures,
    figure_lines,
    pair_lines,
    pair_name,
    pair_of,
)
from nfh_tui.screens.base import TWO_PANES, SideScreen, remembered
from nfh_tui.services.agreement import SettledStratum, settled_strata
from nfh_tui.services.report_process import report
from nfh_tui.services.reports import AgreementReport
from nfh_tui.widgets.figure_lines import Line, Target, items, sentence

FIGURES, PAIRS = "figures", "pairs"
COUNTING = "Counting…"
ARGUMENTS = ("agreement", "--no-skill")
TICK = 1.0
"""Seconds between two updates of the elapsed time."""


class AgreementScreen(SideScreen):
    """Figures of all annotators in the left pane, of a pair in the right one."""

    NAME = "Agreement"
    PANES = ((FIGURES, "Figures"), (PAIRS, "Pairs"))
    HORIZONTAL_BREAKPOINTS = TWO_PANES

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as a side screen takes them
        self.counts: Confusions | None = None
        self.strata: Sequence[SettledStratum] = ()
        self.measured = AgreementFigures()
        pair = self.memory.get("pair", POOLED)
        self.pair: AnnotatorPair = pair if isinstance(pair, tuple) else POOLED

    # --- reading ------------------------------------------------------------------------

    def read(self) -> None:
        """Count, then start the command. Results for other items are discarded."""
        self.counts, self.measured = None, AgreementFigures()
        self.panes.refresh()
        self.runner.work(self._read, group="figures")

    async def _read(self) -> None:
        key = (self.base, await self.client.read(self.store.comparisons.answers_version))
        known_counts = remembered(self.memory, "counts", key)
        if isinstance(known_counts, Confusions):
            counts = known_counts
        else:
            confusions = self.store.comparisons.confusions
            counts = await self.client.read(confusions, self.query_of, self.me)
            self.memory["counts"] = (key, counts)
        self.counts = counts
        golds = await self.client.read(self.store.audits.settled, self.query_of, self.me)
        audits = await self.client.read(self.store.audits.all)
        self.strata = settled_strata(audits, golds, self.base)
        if self.pair not in counts.pairs:
            self.pair = POOLED
        self.set_status(place=items(sum(counts.votes.values())))
        known = remembered(self.memory, "measured", key)
        if isinstance(known, AgreementReport):
            self.measured = AgreementFigures(known)
        elif len(counts.people) > 1:
            await self._measure(key)
        self.panes.refresh_all()

    async def _measure(self, key: object) -> None:
        """Run the command and show its figures."""
        path, base = self.client.store.path, self.base
        arguments = [*ARGUMENTS, "--as", self.me.name, "--", base] if base else ARGUMENTS
        asked = asyncio.create_task(report(arguments, path, AgreementReport))
        try:
            await self._wait(asked)
            self.measured = AgreementFigures(await asked)
            self.memory["measured"] = (key, self.measured.figures)
        except Exception as error:
            self.measured = AgreementFigures(None, f"Not measured: {error}")
            self.panes.refresh()
            raise
        finally:
            asked.cancel()
            self.set_status(busy="")

    async def _wait(self, asked: asyncio.Task[AgreementReport]) -> None:
        """Show the elapsed time until the command ends."""
        begun = monotonic()
        self.measured = AgreementFigures(None, "Measuring; the counts below are ready.")
        self.panes.refresh()
        while not asked.done():
            self.set_status(busy=f"measuring… {monotonic() - begun:.0f} s")
            await asyncio.wait({asked}, timeout=TICK)

    # --- drawing ------------------------------------------------------------------------

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        if self.counts is None:
            return sentence(COUNTING, width)
        if pane == FIGURES:
            return figure_lines(self.counts, self.measured, self.base, width, self.strata)
        return pair_lines(self.counts, self.measured, self.pair, self.base, width)

    def pane_note(self, pane: str) -> str:
        """Return the pair whose matrix is shown."""
        return pair_name(self.pair) if pane == PAIRS else ""

    # --- actions ---------------------------------------------------------------------------

    def chosen(self, stop: Target) -> None:
        """Show the matrix of a pair."""
        self.pair = self.memory["pair"] = pair_of(stop)
        self.panes.refresh_all()
