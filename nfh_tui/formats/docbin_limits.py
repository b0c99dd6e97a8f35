"""What a DocBin would become, counted before spaCy makes it.

A .spacy file is msgpack packed by zlib. 60 KB of it can say 60 million empty lists, or as many
Docs without a word, or one word of a megabyte a million times.
"""

import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from nfh_db.formats.limits import OBJECTS, TOKENS, LimitError, held_limit
from nfh_db.formats.reading import CHUNK, LINE_LIMIT

if TYPE_CHECKING:
    from spacy.tokens import Doc

UNPACKED = 1024 * 1024 * 1024
"""Bytes of a file once unpacked: 40 million tokens with three attributes."""

DOCS = 100_000
"""Docs of one file; an export writes half as many at most."""

LONGEST_TEXT = LINE_LIMIT
"""Characters of a Doc's text, or of all texts of a span group: as many as a line has."""

HARMLESS = 32 * 1024
"""Bytes of msgpack that are not counted. Lists in lists may each claim as many items as there
are bytes, 512 deep, and msgpack makes room for all: 8 * 512 * 32 KB are 134 MB.
"""


class _File(msgspec.Struct):
    """What is read before spaCy reads a file. lengths: tokens of each Doc, in 32 bits."""

    lengths: bytes


def check_file(content: bytes) -> None:
    """Raise LimitError for a .spacy file that would become too much, or that is none."""
    import numpy as np

    unpacked = _unpacked(content)
    check_objects(unpacked)
    try:
        lengths = np.frombuffer(msgspec.msgpack.decode(unpacked, type=_File).lengths, "<i4")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise LimitError(f"cannot be read as a DocBin of spaCy: {error}") from error
    if len(lengths) > DOCS:
        raise LimitError(f"has {len(lengths):,} Docs; wanted at most {DOCS:,}: split it")
    if len(lengths) and lengths.min() < 0:
        raise LimitError("cannot be read as a DocBin of spaCy: a Doc has less than no tokens")
    if len(lengths) and lengths.max() > TOKENS:
        raise LimitError(
            f"Doc {int(lengths.argmax()) + 1:,} has {lengths.max():,} tokens; wanted at most "
            f"{TOKENS:,}: split it"
        )


def _unpacked(content: bytes) -> bytes:
    """The msgpack. Raises LimitError for what zlib did not pack, or packed too much in."""
    limit = held_limit(len(content), UNPACKED)
    unpacking = zlib.decompressobj()
    size, left = 0, content
    try:
        while left and size <= limit:
            size += len(unpacking.decompress(left, CHUNK))
            left = unpacking.unconsumed_tail
        if size > limit:
            raise LimitError(
                f"has more than {limit:,} bytes packed in {len(content):,}; wanted no more: "
                "split it"
            )
        if not unpacking.eof:
            raise LimitError("is no whole DocBin of spaCy: it ends too early")
        return zlib.decompress(content, bufsize=max(size, 1))
    except zlib.error as error:
        raise LimitError(f"is no DocBin of spaCy: {error}") from error


def check_parts(parts: Iterable[bytes | None]) -> None:
    """Raise LimitError for a part of a Doc, msgpack by itself, with too many values."""
    for part in parts:
        if isinstance(part, bytes) and len(part) > HARMLESS:
            check_objects(part)


def check_text(doc: "Doc") -> None:
    """Raise LimitError for a Doc whose words are longer than a text may be."""
    length = int(doc.to_array("LENGTH").sum()) + len(doc)
    if length > LONGEST_TEXT:
        raise LimitError(
            f"has {length:,} characters; wanted at most {LONGEST_TEXT:,}: split it"
        )


# --- msgpack --------------------------------------------------------------------------------

_SIZED = {
    0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0),
    0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1),
    0xD9: (1, 0), 0xDA: (2, 0), 0xDB: (4, 0),
}  # fmt: skip
"""Bytes, extensions and strings: bytes of their length, and bytes beyond what it says."""

_PLAIN = {
    0xC0: 0, 0xC1: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8,
    0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17,
}  # fmt: skip
"""Values of one size: the bytes behind the first."""

_NESTED = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Lists and maps: bytes of their length, and values of each of their items."""


def check_objects(content: bytes) -> None:
    """Raise LimitError for msgpack that says it has more values than OBJECTS.

    Counted is what lists and maps claim to hold, before any of it is looked at. What is cut
    short is left to the reader.
    """
    at, left, claimed = 0, 1, 1
    while left and at < len(content):
        first = content[at]
        at += 1
        left -= 1
        items = 0
        if 0x80 <= first < 0xA0:
            items = (first & 15) * (1 if first >= 0x90 else 2)
        elif 0xA0 <= first < 0xC0:
            at += first & 31
        elif first in _SIZED:
            width, more = _SIZED[first]
            at += int.from_bytes(content[at : at + width], "big") + width + more
        elif first in _PLAIN:
            at += _PLAIN[first]
        elif first in _NESTED:
            width, each = _NESTED[first]
            items = int.from_bytes(content[at : at + width], "big") * each
            at += width
        left += items
        claimed += items
        if claimed > OBJECTS:
            raise LimitError(
                f"has {claimed:,} values or more; wanted at most {OBJECTS:,}: split it"
            )
