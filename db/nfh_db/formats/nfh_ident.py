"""`nfh-ident`: the release's identification files, tab-separated, no quoting."""

from collections.abc import Iterator
from functools import lru_cache

from nfh_db.errors import FormatError
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import LabelledRow, joined
from nfh_db.formats.wording import counted, shown
from nfh_models.domain import Anchor, Kind, Turn

COLUMNS = ("text", "ind_s", "ind_e", "y")
HEADER = "\t".join(COLUMNS)
SEPARATOR = "_SEP_"
LABELS = {"1": Kind.NFH, "0": Kind.NOT_NFH}
DIGITS = 9
"""Digits that an offset may have."""


def read(source: Source) -> Iterator[LabelledRow]:
    """The rows of an `nfh-ident` file. Raises FormatError at the first that does not hold."""
    rows = source.rows()
    number, header = next(rows)
    if header != HEADER:
        raise source.error(
            number,
            f"found {shown(header)}, wanted the header {', '.join(COLUMNS)} with tabs between",
        )
    any_row = False
    for number, text in rows:
        any_row = True
        yield _row(source, number, text)
    if not any_row:
        raise source.error(None, "holds a header and no row; wanted at least one row")


def _row(source: Source, number: int, text: str) -> LabelledRow:
    cells = text.split("\t")
    if len(cells) != len(COLUMNS):
        raise source.error(
            number,
            f"found {counted(len(cells), 'column')}, wanted 4: {', '.join(COLUMNS)}",
        )
    sentence, first, end, label = cells
    words = sentence.split(SEPARATOR)
    if "" in words:
        raise _wrong(
            source, number, "text", sentence, f"no empty token (token {words.index('')} is)"
        )
    start = _offset(source, number, "ind_s", first)
    stop = _offset(source, number, "ind_e", end)
    if start >= len(words):
        raise _wrong(source, number, "ind_s", first, f"a token from 0 to {len(words) - 1}")
    if not start < stop <= len(words):
        wanted = f"a number from {start + 1} to {len(words)}, the token after the last"
        raise _wrong(source, number, "ind_e", end, wanted)
    kind = LABELS.get(label)
    if kind is None:
        raise _wrong(source, number, "y", label, "1 (NFH) or 0 (not)")
    passage = joined(words, _one_turn(len(words)))
    return LabelledRow(number, passage, Anchor(start, stop), label, kind)


@lru_cache(maxsize=1024)
def _one_turn(token_count: int) -> tuple[Turn, ...]:
    return (Turn(0, None, 0, token_count),)


def _offset(source: Source, number: int, column: str, cell: str) -> int:
    # int() alone would accept signs, spaces, underscores and digits of other scripts.
    if not (cell.isascii() and cell.isdigit() and len(cell) <= DIGITS):
        raise _wrong(source, number, column, cell, "a whole number")
    return int(cell)


def _wrong(source: Source, number: int, column: str, found: str, wanted: str) -> FormatError:
    place = COLUMNS.index(column) + 1
    return source.error(
        number, f'column {place} "{column}": found {shown(found)}, wanted {wanted}'
    )
