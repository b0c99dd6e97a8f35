"""The statistics in words, tables and bars, for 80 columns, plain on a pipe."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from nfh_db.messages import counted, visible
from nfh_models import statistics
from nfh_models.statistics import (
    Anchors,
    CorpusSize,
    HeadSide,
    HeadStatistics,
    PaperFigure,
    Speaker,
    Statistics,
    ValueCounts,
)
from nfh_tui.cli.report import CommandReport, page_width
from nfh_tui.cli.stats import StatsOptions, StatsResult, nfhs_only, notes
from nfh_tui.display_figures import EIGHTHS, NONE, bar, percentage, share

ASCII_BAR = "#"
LABEL = 20
"""Columns that a label may take."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart. said: what stands behind the bar, as "464  46.4 %"."""

    label: str
    value: float
    said: str


def chart(bars: Sequence[Bar], width: int, *, blocks: bool) -> list[str]:
    """The lines of a chart at most `width` columns wide, its longest bar as long as there is
    room.

    A value above 0 is never shown as nothing. blocks: draw with eighths of a column; else
    with "#", for terminals that know no more.
    """
    if not bars:
        return []
    label = min(LABEL, max(cell_len(one.label) for one in bars))
    said = max(cell_len(one.said) for one in bars)
    room = max(1, width - label - said - 2)
    most = max(one.value for one in bars)
    return [
        f"{set_cell_size(one.label, label)} "
        f"{_bar(one.value / most if most else 0.0, room, blocks=blocks)} "
        f"{one.said:>{said}}"
        for one in bars
    ]


def _bar(share: float, room: int, *, blocks: bool) -> str:
    """A share of the room, padded to all of it."""
    if blocks:
        return bar(share, room).ljust(room)
    signs = max(1, round(share * room)) if share > 0 else 0
    return (ASCII_BAR * signs).ljust(room)


def can_show_blocks(encoding: str | None) -> bool:
    """Whether an encoding has the characters that bars are drawn with."""
    try:
        EIGHTHS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def indented(lines: Iterable[str], columns: int) -> str:
    """The lines as one paragraph."""
    return "".join(f"{' ' * columns}{line.rstrip()}\n" for line in lines)


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


def histogram(distance: ValueCounts) -> list[tuple[str, int]]:
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


WITHIN = (5, 10, 20, 40)
"""Tokens within which the share of nearest heads is told."""

COMPARED = ("count:", "share:", "paper:")


def as_text(found: StatsResult, asked: StatsOptions, *, plot: bool) -> str:
    """The report, ready to print. plot: with charts, in signs that standard output can show."""
    page = CommandReport()
    size = found.statistics.size
    _head(page, found, asked)
    _numbers(page, found)
    if size.nfh:
        _anchors(page, found.statistics.anchors, asked.top)
        _form(page, found.statistics.anchors)
    if size.with_class:
        _classes(page, size)
    if found.statistics.heads.n:
        _heads(page, found.statistics.heads)
    if size.numbers:
        _sizes(page, size)
        _groups(page, found, asked)
    text = page.text()
    if plot:
        blocks = can_show_blocks(sys.stdout.encoding)
        text += charts(found.statistics, asked.top, blocks=blocks)
    return text


def _published(part: PaperFigure | None) -> str:
    return "" if part is None else percentage(part.share)


def _head(page: CommandReport, found: StatsResult, asked: StatsOptions) -> None:
    statistics = found.statistics
    where = f"that the query {asked.query} finds" if asked.query else "of the whole database"
    who = "their gold says" if found.model is None else f"the model {found.model} says"
    page.say(f"{counted(statistics.found, 'number')} {where}, counted by what {who}.")
    for note in notes(found, asked):
        page.say(note)


def _numbers(page: CommandReport, found: StatsResult) -> None:
    size = found.statistics.size
    if not size.numbers:
        return
    page.title("Numbers (section 4)")
    said = size.said
    shares = not nfhs_only(size, found)
    rows = [
        ("NFH", f"{size.nfh:,}", percentage(share(size.nfh, said)) if shares else NONE),
        (
            "not an NFH",
            f"{size.not_nfh:,}",
            percentage(share(size.not_nfh, said)) if shares else NONE,
        ),
    ]
    if size.broken:
        rows.append(("broken: in no share", f"{size.broken:,}", ""))
    page.table(("what", "count:", "share:"), rows)
    if shares:
        files = [
            (f"its {name} file (table 2)", _published(one))
            for name, one in statistics.NUMBERS.items()
        ]
        others = [
            (f"{name}, by its identifier (section 2)", f"{share:.1%}".replace("%", " %"))
            for name, share in statistics.ELSEWHERE.items()
        ]
        page.table(("the paper's", "NFH:"), [*files, *others])


def _anchors(page: CommandReport, anchors: Anchors, top: int) -> None:
    page.title(f"Anchors of {counted(anchors.n, 'NFH')}, most common first")
    split = anchors.numbers.total() > anchors.n
    columns = ["anchor", "count:", "share:", "paper 4.3:", "paper 5.4:"]
    rows = []
    for word in anchors.most_common(top):
        row = [
            visible(word.text, 24),
            f"{word.nfh:,}",
            percentage(share(word.nfh, anchors.n)),
            _published(statistics.IDENTIFICATION_WORDS.get(word.text)),
            _published(statistics.RESOLUTION_WORDS.get(word.text)),
        ]
        rows.append([*row, percentage(share(word.nfh, word.numbers))] if split else row)
    page.table([*columns, "NFH when said:"] if split else columns, rows)
    if split:
        page.note("NFH when said: how often this number, wherever it stands, is an NFH")
    if anchors.distinct > top:
        page.note(f"{anchors.distinct - top:,} further anchors: --top N shows more")


def _form(page: CommandReport, anchors: Anchors) -> None:
    n = anchors.n
    rows = [
        _row("different anchors", anchors.distinct, n, statistics.DISTINCT),
        _row("that occur once", anchors.once, n, statistics.ONCE),
    ]
    rows += [
        _row(counted(length, "token"), times, n, statistics.LENGTHS.get(length))
        for length, times in sorted(anchors.lengths.counts.items())
    ]
    rows += [
        _row("in words", anchors.words, n, statistics.WORDS),
        _row("in digits", anchors.digits, n, statistics.DIGITS),
        _row("of these, with letters", anchors.mixed, n, None),
    ]
    page.title("Form of the anchors (section 4.3; those that occur once, 5.4)")
    page.table(("what", *COMPARED), rows)
    page.note(
        f"longest, {counted(anchors.lengths.most or 0, 'token')}: "
        f"{visible(anchors.longest, 200)}; the paper's has {statistics.LONGEST}"
    )
    page.note(
        "the shares of different anchors and of those that occur once fall as data grow: they "
        "compare between data of like size only"
    )


def _row(what: str, count: int, of: int, part: PaperFigure | None) -> tuple[str, ...]:
    return what, f"{count:,}", percentage(share(count, of)), _published(part)


def _classes(page: CommandReport, size: CorpusSize) -> None:
    page.title(f"Classes of {counted(size.with_class, 'NFH')} (section 5.4, figure 4)")
    page.table(
        ("class", *COMPARED),
        [
            _row(kind.value, times, size.with_class, statistics.CLASSES[kind])
            for kind, times in size.ranked()
        ],
    )
    if size.unknown:
        page.note(f"OTHER holds {size.unknown:,} UNKNOWN, as the paper's does")
    if size.no_class:
        page.note(f"left out: {counted(size.no_class, 'NFH')} without a class")


def _heads(page: CommandReport, heads: HeadStatistics) -> None:
    n = heads.n
    page.title(f"Heads of {counted(n, 'REFERENCE')} (section 5.4)")
    rows = [
        _row(name, _many(heads.words, number), n, statistics.HEADS[number])
        for number, name in ((1, "one head word"), (2, "two"), (3, "three or more"))
    ]
    rows += [
        _row("before the anchor", heads.sides[HeadSide.BEFORE], n, statistics.BEFORE),
        _row("after it", heads.sides[HeadSide.AFTER], n, statistics.AFTER),
        _row("on both sides", heads.sides[HeadSide.BOTH], n, statistics.BOTH),
        _row("in the same turn", heads.turns.counts[0], n, statistics.SAME_SENTENCE),
        _row("1 turn off", heads.turns.counts[1], n, statistics.NEXT_SENTENCE),
        _row("2 turns off", heads.turns.counts[2], n, None),
        _row("3 turns off, or more", n - heads.turns.within(2), n, None),
    ]
    rows += [
        _row(f"nearest within {limit} tokens", heads.distance.within(limit), n, None)
        for limit in WITHIN
    ]
    rows += [
        _row("said by the same speaker", heads.speakers[Speaker.SAME], n, None),
        _row("by another", heads.speakers[Speaker.OTHER], n, None),
    ]
    if heads.speakers[Speaker.UNKNOWN]:
        rows.append(_row("by nobody named", heads.speakers[Speaker.UNKNOWN], n, None))
    page.table(("what", *COMPARED), rows)
    page.note(
        "head words are different strings, as the paper counts; in the turns' place the paper "
        "has sentences: the anchor's own, and the one before or after it"
    )
    page.table(
        ("heads per anchor", "1:", "2:", "3 or more:", "most:"),
        [
            (name, *(f"{_many(tally, number):,}" for number in (1, 2, 3)), f"{tally.most}")
            for name, tally in (
                ("by noun", heads.nouns),
                ("by word", heads.words),
                ("by mention", heads.mentions),
            )
        ],
    )
    distance = dict(zip(("mean", "median", "most"), _spread(heads.distance), strict=True))
    page.note(
        "tokens to the nearest head: "
        + ", ".join(f"{name} {value}" for name, value in distance.items())
    )


def _many(tally: ValueCounts, number: int) -> int:
    """How many anchors have that many heads; 3 stands for three or more."""
    return tally.n - tally.within(2) if number == 3 else tally.counts[number]


def _spread(tally: ValueCounts) -> tuple[str, str, str]:
    """Mean, median and greatest value."""
    if tally.mean is None or tally.median is None:
        return NONE, NONE, NONE
    return f"{tally.mean:,.1f}", f"{tally.median:,.1f}", f"{tally.most:,}"


def _sizes(page: CommandReport, size: CorpusSize) -> None:
    page.title("Passages (section 5.4)")
    page.table(
        ("what", "sum:", "mean:", "median:", "most:"),
        [
            (name, f"{tally.total:,}", *_spread(tally))
            for name, tally in (
                ("tokens of a passage", size.tokens),
                ("turns of a passage", size.turns),
                ("tokens, for each number", size.read),
            )
        ],
    )
    page.note(
        f"{counted(size.passages, 'passage')}; the last line counts a passage with each of its "
        f"numbers, as the paper counts its {statistics.TOKENS:,} tokens of "
        f"{statistics.EXAMPLES:,} examples ({statistics.TOKENS / statistics.EXAMPLES:.1f} each)"
    )


def _groups(page: CommandReport, found: StatsResult, asked: StatsOptions) -> None:
    groups = found.statistics.groups
    if not groups:
        return
    ranked = sorted(groups.items(), key=lambda item: (-item[1].numbers, item[0] or ""))
    shown = [(visible(name or "none", 24), size) for name, size in ranked[: asked.top]]
    page.title("By split" if asked.by == "split" else "By document")
    page.table(
        (
            asked.by or "",
            "numbers:",
            "NFH:",
            "share:",
            "passages:",
            "tokens:",
            "turns:",
            "each:",
        ),
        [
            (
                name,
                f"{size.numbers:,}",
                f"{size.nfh:,}",
                NONE if nfhs_only(size, found) else percentage(share(size.nfh, size.said)),
                f"{size.passages:,}",
                f"{size.tokens.total:,}",
                f"{size.turns.total:,}",
                f"{size.tokens.mean or 0:,.1f}",
            )
            for name, size in shown
        ],
    )
    page.note("each: tokens of a passage, on average")
    if len(ranked) > asked.top:
        page.note(f"{len(ranked) - asked.top:,} further are in --json")
    with_class = [(name, size) for name, size in shown if size.with_class]
    if with_class:
        kinds = [kind for kind, _ in with_class[0][1].ranked()]
        page.table(
            (asked.by or "", *(f"{kind.value}:" for kind in kinds)),
            [
                (name, *(f"{times:,}" for _, times in size.ranked()))
                for name, size in with_class
            ],
        )
