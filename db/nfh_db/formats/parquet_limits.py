"""What a Parquet file would become, read from its pages' headers before any page is unpacked.

The footer says how many values and bytes a column has, and so does each page's header; either
may lie, and bytes do not tell what repeated values come to: 700 hold 300 million words, all the
same. So the pages are gone through here, by their headers alone, and columns of strings are
read as dictionaries, which hold each word once. What a row comes to is added up before it is
made.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from nfh_db.formats.limits import OBJECTS, LimitError, held_limit

if TYPE_CHECKING:
    import pyarrow

VALUES = 10_000_000
"""Values that one column of a row group may have: some 120 MB while it is read."""

ROW_BYTES = 64 * 1024 * 1024
"""What a row, or the rows that are made at once, may take in memory: 1,000,000 words."""

VALUE_BYTES = 64
"""About what one value takes in memory besides the bytes of a word."""

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


def check_pages(metadata: Any, file: IO[bytes]) -> None:  # noqa: ANN401 - no types in pyarrow
    """Raise LimitError where a column would be more than may be held."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for rank in range(group.num_columns):
            column = group.column(rank)
            where = f"row group {number + 1}, column {column.path_in_schema}"
            try:
                _check_column(column, file)
            except LimitError as error:
                raise LimitError(f"{where}: {error}") from error


def _check_column(column: Any, file: IO[bytes]) -> None:  # noqa: ANN401
    values = 0
    for kind, header, own in _pages(column, file):
        packed, unpacked, count = header.get(3, 0), header.get(2, 0), own.get(1, 0)
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
        if own.get(4 if kind else 2) == _UNBOUND:
            raise LimitError(
                "it is written as DELTA_BYTE_ARRAY, which is not read: write it anew without"
            )
        values += count
        if values > VALUES:
            raise LimitError(
                f"has {values:,} values or more; wanted at most {VALUES:,}: write smaller row "
                "groups"
            )


Header = dict[int, Any]
"""A structure of thrift: fields by number; numbers, truth values and structures are kept."""


def _pages(column: Any, file: IO[bytes]) -> Iterator[tuple[int, Header, Header]]:  # noqa: ANN401
    """Kind, header and own header of each page, from the place where Arrow begins to read."""
    at = column.data_page_offset
    dictionary = column.dictionary_page_offset if column.has_dictionary_page else None
    if dictionary and dictionary < at:
        at = dictionary
    end = at + column.total_compressed_size
    while 0 <= at < end:
        header, length = _header(file, at)
        if header.get(3, -1) < 0 or header.get(2, -1) < 0:
            raise _no_page(at)
        kind = header.get(1, -1)
        own = header.get(_KINDS.get(kind, -1))
        if isinstance(own, dict):
            if own.get(1, -1) < 0:
                raise _no_page(at)
            yield kind, header, own
        at += length + header[3]


def _header(file: IO[bytes], at: int) -> tuple[Header, int]:
    """A page's header, and how many bytes it has."""
    size = _HEADER
    while True:
        file.seek(at)
        content = file.read(size)
        try:
            return _structure(content, 0, 0)
        except IndexError:
            if size >= LONGEST_HEADER or len(content) < size:
                raise LimitError(
                    f"at byte {at:,} stands no page: the file is damaged"
                ) from None
            size *= 16


def _no_page(at: int) -> LimitError:
    return LimitError(f"at byte {at:,} stands no page: the file is damaged")


# --- thrift's compact protocol --------------------------------------------------------------

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCTURE = 1, 2, 3, 7, 8, 9, 10, 12
_NUMBERS = (4, 5, 6)
_DEEPEST = 8


def _structure(content: bytes, at: int, depth: int) -> tuple[Header, int]:
    """Raises IndexError where the content ends before it, LimitError for what is none."""
    found: Header = {}
    field = 0
    while (sign := content[at]) != 0:
        at += 1
        if sign >> 4:
            field += sign >> 4
        else:
            field, at = _number(content, at)
        found[field], at = _value(content, at, sign & 15, depth)
    return found, at + 1


def _value(content: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind in _NUMBERS:
        return _number(content, at)
    if kind == _STRUCTURE and depth < _DEEPEST:
        return _structure(content, at, depth + 1)
    if kind in (_LIST, _SET) and depth < _DEEPEST:
        return None, _list_end(content, at, depth + 1)
    if kind == _BINARY:
        length, at = _unsigned(content, at)
        end = at + length
    elif kind in (_BYTE, _DOUBLE):
        end = at + (1 if kind == _BYTE else 8)
    else:
        raise LimitError("a page's header is damaged")
    if end > len(content):
        raise IndexError
    return None, end


def _list_end(content: bytes, at: int, depth: int) -> int:
    size, kind = content[at] >> 4, content[at] & 15
    at += 1
    if size == 15:
        size, at = _unsigned(content, at)
    for _ in range(size):
        if kind in (_TRUE, _FALSE):
            content[at]
            at += 1
        else:
            _, at = _value(content, at, kind, depth)
    return at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = content[at]
        at += 1
        found |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return found, at
        if shift > 63:
            raise LimitError("a page's header is damaged")


def _number(content: bytes, at: int) -> tuple[int, int]:
    found, at = _unsigned(content, at)
    return (found >> 1) ^ -(found & 1), at


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


def rows_of(batch: "pyarrow.RecordBatch") -> Iterator[dict[str, Any]]:
    """The rows, made some at a time. Raises LimitError at one that is larger than ROW_BYTES."""
    size = _size(batch)
    if size <= ROW_BYTES:
        yield from batch.to_pylist()
    elif batch.num_rows == 1:
        raise LimitError(f"the row would take {size:,} bytes; wanted at most {ROW_BYTES:,}")
    else:
        half = batch.num_rows // 2
        yield from rows_of(batch.slice(0, half))
        yield from rows_of(batch.slice(half))


def _size(batch: "pyarrow.RecordBatch") -> int:
    """What the rows take in memory, about."""
    import pyarrow as pa
    from pyarrow import compute

    size = 0
    for column in batch.columns:
        values = column.flatten() if hasattr(column, "flatten") else column
        size += VALUE_BYTES * (batch.num_rows + len(values))
        if isinstance(values, pa.DictionaryArray):
            if pa.types.is_integer(values.dictionary.type):
                continue
            lengths = compute.binary_length(values.dictionary)
            size += compute.sum(lengths.take(values.indices)).as_py() or 0
        elif pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            size += compute.sum(compute.binary_length(values)).as_py() or 0
    return size
