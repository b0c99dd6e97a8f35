"""`nfh`: the release's resolution files, one JSON object of five keys a line."""

import json
from collections.abc import Iterator
from itertools import pairwise

from nfh_db.errors import FormatError
from nfh_db.formats.fields import Fields
from nfh_db.formats.reading import Source
from nfh_db.formats.release import RELEASE_KEYS
from nfh_db.formats.rows import LabelledRow, joined, runs
from nfh_db.formats.wording import counted
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind

CLASSES = ", ".join(kind.value for kind in IMPLICIT_KINDS)


def read(source: Source) -> Iterator[LabelledRow]:
    """The rows of an `nfh` file. Raises FormatError at the first line that does not hold.

    A NaN speaker becomes null; how many lines had one is added to the source's warnings.
    """
    nan_lines = 0
    for number, text in source.rows():
        row, had_nan = row_of(Fields.of_line(source, number, text))
        nan_lines += had_nan
        yield row
    if nan_lines:
        source.warnings.append(
            f"NaN stood for speakers on {counted(nan_lines, 'line')}; read as null"
        )


def row_of(fields: Fields) -> tuple[LabelledRow, bool]:
    """The row that an object of the five keys is, and whether it has a NaN for a speaker.

    Raises FormatError.
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
    """The one class that `head` names. Raises FormatError."""
    if len(items) != 1:
        raise fields.refuse("head", "either one class or token indices")
    name = items[0]
    if name in {kind.value for kind in IMPLICIT_KINDS}:
        return Kind(name)
    raise _unknown_class(fields, str(name))


def _unknown_class(fields: Fields, name: str) -> FormatError:
    upper = name.upper()
    if name != upper and upper in CLASSES.split(", "):
        return fields.refuse("head", f"{upper} in capital letters", name)
    return fields.refuse("head", f"one class of {CLASSES}", name)
