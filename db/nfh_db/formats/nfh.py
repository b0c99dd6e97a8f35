"""Formats `nfh` and `nfh-ident`: the resolution files of the release, and its tab-separated
identification files.
"""

import json
from collections.abc import Iterator
from itertools import pairwise

from nfh_db.errors import FormatError
from nfh_db.formats.fields import Fields
from nfh_db.formats.files import Source
from nfh_db.formats.rows import RELEASE_KEYS, LabelledRow, joined, runs
from nfh_db.messages import counted, shown
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Turn

CLASSES = ", ".join(kind.value for kind in IMPLICIT_KINDS)


def read(source: Source) -> Iterator[LabelledRow]:
    """The rows of an `nfh` file. Raises FormatError at the first invalid line.

    A NaN speaker is read as null; a warning counts the lines with one.
    """
    nan_lines = 0
    for number, text in source.rows():
        row, had_nan = row_of(Fields.of_line(source, number, text))
        nan_lines += had_nan
        yield row
    if nan_lines:
        source.warnings.append(
            f"NaN was given for speakers on {counted(nan_lines, 'line')}; read as null"
        )


def row_of(fields: Fields) -> tuple[LabelledRow, bool]:
    """The row of an object with RELEASE_KEYS, and whether a speaker is NaN. Raises
    FormatError.
    """
    hint = " (a line of the gold format?)" if "format" in fields.values else ""
    fields.expect_keys(RELEASE_KEYS, hint)
    words = fields.strings("tokens")
    speakers, had_nan = fields.speakers()
    numbers = fields.turn_numbers()
    fields.same_length("line_indices", len(words))
    fields.same_length("speakers", len(words))
    anchor = fields.anchor(len(words))
    kind, heads = _head(fields, anchor, len(words))
    row = LabelledRow(
        line=fields.line,
        passage=joined(words, runs(numbers, speakers)),
        anchor=anchor,
        labels=json.dumps(fields.values["head"]),
        kind=kind,
        head_tokens=heads,
    )
    return row, had_nan


def _head(fields: Fields, anchor: Anchor, token_count: int) -> tuple[Kind, tuple[int, ...]]:
    items = fields.items("head")
    if any(isinstance(item, str) for item in items):
        return _class(fields, items), ()
    indices = fields.integers("head")
    if not indices:
        raise fields.refuse("head", f"one class of {CLASSES}, or token indices")
    if not (min(indices) >= 0 and max(indices) < token_count):
        raise fields.refuse("head", f"token indices from 0 to {token_count - 1}")
    if any(one >= two for one, two in pairwise(indices)):
        raise fields.refuse("head", "ascending token indices, each once")
    inside = [index for index in indices if anchor.start <= index < anchor.end]
    if inside:
        raise fields.refuse("head", f"no index inside the anchor (found {inside[0]})")
    return Kind.REFERENCE, tuple(indices)


def _class(fields: Fields, items: list[object]) -> Kind:
    """The class that `head` names. Raises FormatError."""
    if len(items) != 1:
        raise fields.refuse("head", "either one class or token indices")
    name = str(items[0])
    if name in CLASSES.split(", "):
        return Kind(name)
    if name.upper() in CLASSES.split(", "):
        raise fields.refuse("head", f"{name.upper()} in capital letters", name)
    raise fields.refuse("head", f"one class of {CLASSES}", name)


COLUMNS = ("text", "ind_s", "ind_e", "y")
HEADER = "\t".join(COLUMNS)
SEPARATOR = "_SEP_"
LABELS = {"1": Kind.NFH, "0": Kind.NOT_NFH}
DIGITS = 9
"""Digits of an offset."""


def read_labels(source: Source) -> Iterator[LabelledRow]:
    """The rows of an `nfh-ident` file. Raises FormatError at the first invalid row."""
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
        raise source.error(None, "has only a header; wanted at least one row")


def _row(source: Source, number: int, text: str) -> LabelledRow:
    cells = text.split("\t")
    if len(cells) != len(COLUMNS):
        raise source.error(
            number, f"found {counted(len(cells), 'column')}, wanted 4: {', '.join(COLUMNS)}"
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
    passage = joined(words, (Turn(0, None, 0, len(words)),), "words")
    return LabelledRow(number, passage, Anchor(start, stop), label, kind)


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
