"""What a scan found in words and tables of 80 columns, and how far it is."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nfh_db.formats.wording import counted, visible
from nfh_tui.scanning.scan import Progress

ANCHOR_WIDTH = 34
NAME_LENGTH = 200
PROGRESS_NAME = 20
"""Characters of a file's name in the line of progress, which has to fit a terminal."""

SURE_AFTER = 2.0
"""Seconds before which a rate says little of the time left."""

RATED_FROM = 10_000
"""Words of a text below which its rate says little: starting takes longer than reading."""

Figures = Mapping[str, Any]


def shown(text: str) -> str:
    """Text from outside, safe to print."""
    return visible(text, NAME_LENGTH)


def progress_words(now: Progress) -> str:
    """How far a scan is, how fast, and how long it will take."""
    rate = (now.done - now.started) / now.seconds if now.seconds else 0.0
    name = visible(Path(now.file).name or now.file, PROGRESS_NAME)
    parts = [name, f"{rate / 1e6:.1f} MB/s"]
    if now.seconds:
        parts.append(f"{now.words / now.seconds:,.0f} words/s")
    if now.total:
        parts.insert(1, f"{min(now.done / now.total, 1.0):.0%} of {now.total / 1e6:,.0f} MB")
        if now.seconds > SURE_AFTER and rate:
            parts.append(f"{_clock(max(0, now.total - now.done) / rate)} left")
    else:
        parts.insert(1, f"{now.done / 1e6:,.0f} MB")
    return ", ".join(parts)


def report_lines(report: Figures) -> Iterator[str]:
    """The report, line by line."""
    files = [file for file in report["files"] if file["failed"] is None]
    for file in files:
        yield shown(file["file"])
        yield from _figures(file)
        yield ""
    if not files:
        return
    whole = report["all"]
    if len(report["files"]) > 1:
        yield f"in all, {counted(len(files), 'file')}"
        yield from _figures(whole)
        yield ""
    yield from _anchors(whole)
    yield from _rules(whole)
    parser = f", parser {shown(report['parser'])}" if report["parser"] else ""
    yield f"model {shown(report['model'])}{parser}"


def _figures(found: Figures) -> Iterator[str]:
    yield (
        f"  {counted(found['bytes'], 'byte')}, {counted(found['words'], 'word')}, "
        f"{counted(found['sentences'], 'sentence')}, "
        f"{found['sentences_with_number']:,} with a number"
    )
    if found["numbers"]:
        low, high = found["share_95"]
        yield (
            f"  {counted(found['numbers'], 'number')}, {found['nfh']:,} of them fused heads: "
            f"{found['share']:.1%} (95 % interval {low:.1%} to {high:.1%})"
        )
    else:
        yield "  no number, so no share of fused heads"
    rate = f", {found['words_per_second']:,} words/s" if found["words"] >= RATED_FROM else ""
    yield f"  {found['seconds']:,.1f} s{rate}"
    if found["undecodable"]:
        yield (
            f"  {counted(found['undecodable'], 'place')} no UTF-8, replaced. Is it another "
            "encoding?"
        )
    if found["nul_bytes"]:
        yield f"  {counted(found['nul_bytes'], 'NUL byte')}, taken for white space"


def _anchors(found: Figures) -> Iterator[str]:
    if not found["anchors"]:
        return
    rows = [
        (
            visible(one["anchor"], ANCHOR_WIDTH),
            f"{one['nfh']:,}",
            f"{one['share_of_nfh']:.1%}",
            f"{one['numbers']:,}",
            f"{one['share']:.1%}",
        )
        for one in found["anchors"]
    ]
    heads = ("anchor", "NFH", "of all NFH", "numbers", "of them NFH")
    yield from _table(heads, rows)
    if found["anchors_not_apart"]:
        yield (
            f"  {counted(found['distinct_anchors'], 'distinct anchor')} counted apart; "
            f"{counted(found['anchors_not_apart'], 'number')} more met later"
        )
    yield ""


def _rules(found: Figures) -> Iterator[str]:
    if not found["rules"]:
        return
    rows = [
        (
            visible(one["rule"], ANCHOR_WIDTH),
            f"{one['numbers']:,}",
            f"{one['share_of_numbers']:.1%}",
            f"{one['nfh']:,}",
        )
        for one in found["rules"]
    ]
    yield from _table(("decided by", "numbers", "of all", "NFH"), rows)
    yield ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  " + "  ".join(cells).rstrip()


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
