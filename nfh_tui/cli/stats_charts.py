"""The charts of the statistics: classes, anchors, distances."""

from collections.abc import Sequence

from nfh_db.formats.wording import visible
from nfh_models.statistics.counting import Statistics
from nfh_models.statistics.tally import Tally
from nfh_tui.cli.agreement_page import page_width
from nfh_tui.cli.stats_plot import LABEL, Bar, chart, indented

INDENT = 2
BIN = 2
LAST = 40
"""Distances are drawn in bins of two tokens; those above 40 in one bin."""


def charts(statistics: Statistics, top: int, *, blocks: bool) -> str:
    """All charts that have something to show, each under its title."""
    width = page_width() - INDENT
    size, anchors = statistics.size, statistics.anchors
    drawn: list[tuple[str, list[Bar]]] = []
    if size.with_class:
        ranked = size.ranked()
        drawn.append(("Classes", _bars([(k.value, n) for k, n in ranked], size.with_class)))
    if size.nfh:
        words = [(visible(word.text, LABEL - 1), word.nfh) for word in anchors.most_common(top)]
        drawn.append(("Anchors", _bars(words, anchors.n)))
    if statistics.heads.n:
        bins = histogram(statistics.heads.distance)
        drawn.append(("Tokens to the nearest head", _bars(bins, statistics.heads.n)))
    return "".join(
        f"\n{title}\n{indented(chart(bars, width, blocks=blocks), INDENT)}"
        for title, bars in drawn
    )


def histogram(distance: Tally) -> list[tuple[str, int]]:
    """Bins with their counts, up to the last one that holds anything."""
    bins = [
        (f"{low}-{low + BIN - 1}", distance.between(low, low + BIN - 1))
        for low in range(1, LAST, BIN)
    ]
    beyond = distance.n - distance.within(LAST)
    if beyond:
        return [*bins, (f"{LAST + 1} or more", beyond)]
    while bins and not bins[-1][1]:
        bins.pop()
    return bins


def _bars(counts: Sequence[tuple[str, int]], of: int) -> list[Bar]:
    return [
        Bar(label, times, f"{times:,} {100 * times / of:5.1f} %") for label, times in counts
    ]
