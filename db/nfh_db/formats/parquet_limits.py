"""What a Parquet file would become, read from its pages' headers before any page is unpacked.

The footer says how many values and bytes a column has, and so does each page's header; either
may lie, and bytes do not tell what repeated values come to: 700 hold 300 million words, all the
same. So the pages are gone through here, by their headers alone, and columns of strings are
read as dictionaries, which hold each word once. What a row comes to is added up before it is
made.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

import os
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from nfh_db.formats.files import OBJECTS, LimitError, check_rows, held_limit
from nfh_db.messages import visible

if TYPE_CHECKING:
    import pyarrow

VALUES = 10_000_000
"""Values that one column of a row group may have: some 120 MB while it is read."""

ROW_BYTES = 64 * 1024 * 1024
"""What a row, or the rows that are made at once, may take in memory: 1,000,000 words."""

VALUE_BYTES = 64
"""About what one value takes in memory besides the bytes of a word."""

PLAIN_BYTES = 4
"""What one value takes in a plain page: a number, or the length of a word before its bytes."""

FOOTER_STRINGS = 16 * 1024 * 1024
FOOTER_ITEMS = 100_000
"""Bytes of one text, and items of one list, that a footer may have."""

LONGEST_HEADER = 16 * 1024 * 1024
"""Bytes that a page's header may have; Arrow reads no longer one."""

_HEADER = 8 * 1024
_DICTIONARY, _KINDS = 2, {0: 5, 2: 7, 3: 8}
"""The kind of a page that is a dictionary; by kind, the field of a page's own header."""

_UNBOUND = 7
"""DELTA_BYTE_ARRAY: a word says how much of the one before it begins with, so that a page of
some bytes can hold any number of words of any length, which Arrow spells out at once.
"""


def check_pages(file: IO[bytes]) -> None:
    """Raise LimitError where a column would be more than may be held, or the file is damaged.

    pyarrow's own metadata is not asked: where a column's does not hold, it ends the process.
    """
    for number, group in enumerate(_list_of(_footer(file), 4)):
        for rank, chunk in enumerate(_list_of(group, 1)):
            column = None
            try:
                column = _of_kind(chunk, 3, _STRUCTURE)
                if column is None or 8 in chunk or 9 in chunk:
                    raise LimitError(f"column {rank + 1} is encrypted or damaged")
                _check_column(column, file)
            except LimitError as error:
                where = f"row group {number + 1}, column {_path(column, rank)}"
                raise LimitError(f"{where}: {error}") from error


def _path(column: "Header | None", rank: int) -> str:
    names = _of_kind(column or {}, 3, _LIST) or []
    told = b".".join(name for name in names if isinstance(name, bytes))
    return visible(told.decode("utf-8", "replace")) or str(rank + 1)


def _footer(file: IO[bytes]) -> "Header":
    """What stands at the end of a file: its length before the last four bytes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if size < 12 or end[4:] != b"PAR1" or length > size - 8:
        raise LimitError("cannot be read as Parquet: its end is cut off, or of another kind")
    file.seek(size - 8 - length)
    try:
        return _Structures(file.read(length)).structure()
    except IndexError:
        raise LimitError("cannot be read as Parquet: its footer is damaged") from None


def _check_column(column: "Header", file: IO[bytes]) -> None:
    values = 0
    for kind, header, own in _pages(column, file):
        packed, unpacked = _size_of(header, 3), _size_of(header, 2)
        count = _size_of(own, 1)
        if unpacked > held_limit(packed):
            raise LimitError(
                f"a page has {unpacked:,} bytes packed in {packed:,}; wanted at most "
                f"{held_limit(packed):,}: write smaller pages"
            )
        if kind == _DICTIONARY:
            if count > OBJECTS:
                raise LimitError(
                    f"a dictionary has {count:,} words; wanted at most {OBJECTS:,}"
                )
            continue
        if _of_kind(own, 4 if kind else 2, _I32) == _UNBOUND:
            raise LimitError(
                "it is written as DELTA_BYTE_ARRAY, which is not read: write it anew without"
            )
        values += count
        if values > VALUES:
            raise LimitError(
                f"has {values:,} values or more; wanted at most {VALUES:,}: write smaller row "
                "groups"
            )


def _pages(column: "Header", file: IO[bytes]) -> "Iterator[tuple[int, Header, Header]]":
    """Kind, header and own header of each page, from the place where Arrow begins to read."""
    at = _of_kind(column, 9, _I64)
    size = _of_kind(column, 7, _I64)
    if at is None or size is None or at < 0 or size < 0:
        raise LimitError("its place in the file is damaged")
    dictionary = _of_kind(column, 11, _I64)
    if dictionary is not None and 0 < dictionary < at:
        at = dictionary
    end = at + size
    while at < end:
        header, length = _header(file, at)
        try:
            packed, kind = _size_of(header, 3), _of_kind(header, 1, _I32)
            _size_of(header, 2)
            own = _of_kind(header, _KINDS.get(kind, -1), _STRUCTURE)
            if own is not None:
                _size_of(own, 1)
        except LimitError:
            raise _no_page(at) from None
        if own is not None:
            yield kind, header, own
        at += length + packed


def _header(file: IO[bytes], at: int) -> "tuple[Header, int]":
    """A page's header, and how many bytes it has."""
    size = _HEADER
    while True:
        file.seek(at)
        content = file.read(size)
        try:
            structures = _Structures(content)
            return structures.structure(), structures.at
        except IndexError:
            if size >= LONGEST_HEADER or len(content) < size:
                raise _no_page(at) from None
            size *= 16


def _no_page(at: int) -> LimitError:
    return LimitError(f"at byte {at:,} stands no page: the file is damaged")


# --- thrift's compact protocol --------------------------------------------------------------

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCTURE = 1, 2, 3, 7, 8, 9, 10, 12
_I16, _I32, _I64 = 4, 5, 6
_BITS = {_I16: 16, _I32: 32, _I64: 64}
_DEEPEST = 8

Header = dict[int, tuple[int, Any]]
"""A structure of thrift: by field, the kind of what stands in it and its value."""


def _of_kind(header: Header, field: int, kind: int) -> Any:  # noqa: ANN401 - by the kind
    """What stands in a field; None if nothing does. Raises LimitError for another kind, which
    Arrow passes over."""
    found, value = header.get(field, (kind, None))
    if found != kind:
        raise LimitError("a header is damaged")
    return value


def _size_of(header: Header, field: int) -> int:
    value: int | None = _of_kind(header, field, _I32)
    if value is None or value < 0:
        raise LimitError("a header is damaged")
    return value


def _list_of(header: Header, field: int) -> list[Header]:
    """A list of structures."""
    values: list[Header] = _of_kind(header, field, _LIST) or []
    if not all(isinstance(value, dict) for value in values):
        raise LimitError("cannot be read as Parquet: its footer is damaged")
    return values


class _Structures:
    """Structures as they stand in bytes, read one behind the other; at: of the next byte.

    Reading raises IndexError where the content ends before, LimitError for what is none.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._values = 0
        self.at = 0

    def structure(self, depth: int = 0) -> Header:
        """The structure that begins here."""
        found: Header = {}
        field = 0
        while (sign := self._byte()) != 0:
            field = field + (sign >> 4) if sign >> 4 else self._number(_I16)
            found[field] = sign & 15, self._value(sign & 15, depth)
        return found

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _bytes(self, length: int) -> bytes:
        self.at += length
        if self.at > len(self._content):
            raise IndexError
        return self._content[self.at - length : self.at]

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 - by the kind
        self._values += 1
        if self._values > OBJECTS:
            raise LimitError(
                f"its headers have more than {OBJECTS:,} values: write larger row groups, or "
                "several files"
            )
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in _BITS:
            return self._number(kind)
        if kind == _BINARY:
            return self._bytes(self._unsigned(32))
        if kind in (_BYTE, _DOUBLE):
            return self._bytes(1 if kind == _BYTE else 8)
        if depth < _DEEPEST and kind == _STRUCTURE:
            return self.structure(depth + 1)
        if depth < _DEEPEST and kind in (_LIST, _SET):
            return self._list(depth + 1)
        raise LimitError("a header is damaged")

    def _list(self, depth: int) -> list[Any]:
        sign = self._byte()
        size, kind = sign >> 4, sign & 15
        if size == 15:
            size = self._unsigned(32)
        if kind in (_TRUE, _FALSE):
            kind = _BYTE  # In a list, a truth value is a byte.
        return [self._value(kind, depth) for _ in range(size)]

    def _unsigned(self, bits: int) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if found >> bits or shift > 70:
                raise LimitError("a header is damaged")
            if byte < 128:
                return found

    def _number(self, kind: int) -> int:
        found = self._unsigned(_BITS[kind])
        return (found >> 1) ^ -(found & 1)


# --- rows -----------------------------------------------------------------------------------


def check_types(schema: "pyarrow.Schema") -> None:
    """Raise LimitError for a column that is no number, word, or list of either."""
    from pyarrow import types

    for field in schema:
        kind = field.type
        if types.is_list(kind) or types.is_large_list(kind):
            kind = kind.value_type
        if types.is_dictionary(kind):
            kind = kind.value_type
        if not (
            types.is_string(kind)
            or types.is_large_string(kind)
            or types.is_integer(kind)
            or types.is_floating(kind)
            or types.is_boolean(kind)
            or types.is_null(kind)
        ):
            raise LimitError(
                f"column {field.name}: found {kind}; wanted numbers, strings, or lists of them"
            )


def rows_of(batches: "Iterable[pyarrow.RecordBatch]", packed: int) -> Iterator[dict[str, Any]]:
    """The rows of a file of so many bytes, made some at a time.

    Raises LimitError at one that is larger than ROW_BYTES, and where all come to more than the
    file may become (`check_rows`), before those of the batch are made.
    """
    unpacked = 0
    for batch in batches:
        values, text = _counted(batch)
        unpacked += PLAIN_BYTES * values + text
        check_rows(unpacked, packed)
        yield from _made(batch)


def _made(batch: "pyarrow.RecordBatch") -> Iterator[dict[str, Any]]:
    values, text = _counted(batch)
    size = VALUE_BYTES * values + text
    if size <= ROW_BYTES:
        yield from batch.to_pylist()
    elif batch.num_rows == 1:
        raise LimitError(f"the row would take {size:,} bytes; wanted at most {ROW_BYTES:,}")
    else:
        half = batch.num_rows // 2
        yield from _made(batch.slice(0, half))
        yield from _made(batch.slice(half))


def _counted(batch: "pyarrow.RecordBatch") -> tuple[int, int]:
    """How many values the rows have, lists among them, and how many bytes their words."""
    import pyarrow as pa
    from pyarrow import compute

    count = text = 0
    for column in batch.columns:
        values = column.flatten() if hasattr(column, "flatten") else column
        count += batch.num_rows + len(values)
        if isinstance(values, pa.DictionaryArray):
            if pa.types.is_integer(values.dictionary.type):
                continue
            lengths = compute.binary_length(values.dictionary)
            text += compute.sum(lengths.take(values.indices)).as_py() or 0
        elif pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            text += compute.sum(compute.binary_length(values)).as_py() or 0
    return count, text
