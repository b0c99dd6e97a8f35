"""Markdown of a datasheet: tables, paragraphs of one width, and text that stays text."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from nfh_db.formats.wording import visible
from nfh_models.agreement.measure import Measure

WIDTH = 100
SHOWN = 100

MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~&])")
AT_START = re.compile(r"^([-+=]|\d+[.)])")


def plain(text: str) -> str:
    """Somebody's own words (a name, a file's name, a query): on one line, and no markup."""
    return MARKUP.sub(r"\\\1", visible(text, SHOWN))


def paragraph(*sentences: str) -> str:
    """Sentences as one paragraph; those that are empty are left out."""
    text = " ".join(sentence for sentence in sentences if sentence)
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def points(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "".join(
        textwrap.fill(
            sentence,
            WIDTH,
            initial_indent="* ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
        for sentence in sentences
        if sentence
    )


def table(titles: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    """A table; columns of whole numbers are set to the right."""
    rule = ["---:" if _numeric(rows, column) else "---" for column in range(len(titles))]
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (titles, rule, *cells))


def _numeric(rows: Sequence[Sequence[str | int]], column: int) -> bool:
    return bool(rows) and all(isinstance(row[column], int) for row in rows)


def percent(share: float) -> str:
    """A share as it is said: "17.8 %"."""
    return f"{100 * share:.1f} %"


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """Counts by name on one line: "AND 2, OR 1"."""
    return ", ".join(f"{name} {count:,}" for name, count in counts)


def figure(measure: Measure, *, share: bool) -> tuple[str, str]:
    """A measure's value and its interval, or the reason why there is none."""
    if measure.value is None:
        return "–", measure.why or ""
    said = percent if share else "{:.2f}".format
    if measure.low is None or measure.high is None:
        return said(measure.value), measure.why or ""
    return said(measure.value), f"{said(measure.low)} to {said(measure.high)}"
