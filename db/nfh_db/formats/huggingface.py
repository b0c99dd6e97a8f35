"""Format `hf-parquet`: the data set as published for Hugging Face's `datasets`, in Parquet.

A folder or zip: `resolution/SPLIT.parquet` and `identification/SPLIT.parquet`, a README.md
whose header `datasets` reads, and the side file `gold.jsonl` with everything that the two
configurations have no columns for. A single Parquet file is read, too.

`identification`: tokens, start_index, end_index (exclusive), label (0 "neg", 1 "pos").
`resolution`: tokens, line_indices, head, speakers, anchors_indices; `head` is a list of
strings, a class or token indices in digits. Splits are train, validation and test. Source: the
features of https://huggingface.co/datasets/numeric_fused_head.
"""

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from nfh_db.errors import ExportError
from nfh_db.formats import gold, nfh
from nfh_db.formats.base import First, Format, How, InputKind, each, holds
from nfh_db.formats.fields import Fields
from nfh_db.formats.files import (
    OBJECTS,
    Binary,
    Content,
    FileOrigin,
    Folder,
    FolderMember,
    LimitError,
    check_rows,
    held_limit,
)
from nfh_db.formats.gold import GoldWriter
from nfh_db.formats.rows import (
    RELEASE_KEYS,
    GoldRow,
    LabelledRow,
    ReadOptions,
    Row,
    Writing,
    joined,
    release_head,
    release_row,
)
from nfh_db.formats.unsupported import HF_JSON, REMOVED, SIDE, is_row_file
from nfh_db.messages import counted, reason_of, shown, visible
from nfh_db.records import ExportRecord
from nfh_models.domain import Anchor, Answer, Kind, Turn

if TYPE_CHECKING:
    import pyarrow

# Limits of Parquet files, checked before a page is unpacked.
#
# The footer states the values and bytes of a column, and so does each page's header; either may
# be wrong, and bytes do not bound repeated values: 700 bytes can hold 300 million equal words.
# So the headers of all pages are read here, and columns of strings are read as dictionaries,
# which hold each word once. The size of a row is computed before the row is made. Format:
# https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift

VALUES = 10_000_000
"""Values of one column of a row group: 120 MB while it is read."""

ROW_BYTES = 64 * 1024 * 1024
"""Memory of a row, or of the rows that are made at once: 1,000,000 words."""

VALUE_BYTES = 64
"""Approximate memory of one value, without the bytes of a word."""

PLAIN_BYTES = 4
"""Size of one value in a plain page: a number, or the length of a word before its bytes."""

FOOTER_STRINGS = 16 * 1024 * 1024
FOOTER_ITEMS = 100_000
"""Bytes of one text, and items of one list, in a footer."""

LONGEST_HEADER = 16 * 1024 * 1024
"""Bytes of a page's header; the most that Arrow reads."""

_HEADER = 8 * 1024
_DICTIONARY, _KINDS = 2, {0: 5, 2: 7, 3: 8}
"""The type of a dictionary page; for each type of page, the field of its own header."""

_UNBOUND = 7
"""DELTA_BYTE_ARRAY: words are stored as differences to the word before, so that a small page
can hold any number of words of any length, which Arrow expands at once.
"""


def check_pages(file: IO[bytes]) -> None:
    """Raise LimitError for a column that is too large, and for a damaged file.

    pyarrow's own metadata is not used: on some damaged columns it ends the process.
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


def _path(column: "ThriftStruct | None", rank: int) -> str:
    names = _of_kind(column or {}, 3, _LIST) or []
    told = b".".join(name for name in names if isinstance(name, bytes))
    return visible(told.decode("utf-8", "replace")) or str(rank + 1)


def _footer(file: IO[bytes]) -> "ThriftStruct":
    """The footer; its length is before the last four bytes of the file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if size < 12 or end[4:] != b"PAR1" or length > size - 8:
        raise LimitError("cannot be read as Parquet: its end is missing, or of another kind")
    file.seek(size - 8 - length)
    try:
        return _ThriftReader(file.read(length)).structure()
    except IndexError:
        raise LimitError("cannot be read as Parquet: its footer is damaged") from None


def _check_column(column: "ThriftStruct", file: IO[bytes]) -> None:
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
                "it is written as DELTA_BYTE_ARRAY, which is not read: write it again without"
            )
        values += count
        if values > VALUES:
            raise LimitError(
                f"has {values:,} values or more; wanted at most {VALUES:,}: write smaller row "
                "groups"
            )


def _pages(
    column: "ThriftStruct", file: IO[bytes]
) -> "Iterator[tuple[int, ThriftStruct, ThriftStruct]]":
    """Type, header and own header of each page, from the offset at which Arrow begins to
    read.
    """
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


def _header(file: IO[bytes], at: int) -> "tuple[ThriftStruct, int]":
    """A page's header, and its size in bytes."""
    size = _HEADER
    while True:
        file.seek(at)
        content = file.read(size)
        try:
            structures = _ThriftReader(content)
            return structures.structure(), structures.at
        except IndexError:
            if size >= LONGEST_HEADER or len(content) < size:
                raise _no_page(at) from None
            size *= 16


def _no_page(at: int) -> LimitError:
    return LimitError(f"byte {at:,} does not begin a page: the file is damaged")


# --- thrift's compact protocol --------------------------------------------------------------

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCTURE = 1, 2, 3, 7, 8, 9, 10, 12
_I16, _I32, _I64 = 4, 5, 6
_BITS = {_I16: 16, _I32: 32, _I64: 64}
_DEEPEST = 8

ThriftStruct = dict[int, tuple[int, Any]]
"""A struct: for each field the type and the value."""


def _of_kind(header: ThriftStruct, field: int, kind: int) -> Any:  # noqa: ANN401 - by the kind
    """The value of a field; None if it is missing. Raises LimitError for another type, which
    Arrow would skip.
    """
    found, value = header.get(field, (kind, None))
    if found != kind:
        raise LimitError("a header is damaged")
    return value


def _size_of(header: ThriftStruct, field: int) -> int:
    value: int | None = _of_kind(header, field, _I32)
    if value is None or value < 0:
        raise LimitError("a header is damaged")
    return value


def _list_of(header: ThriftStruct, field: int) -> list[ThriftStruct]:
    values: list[ThriftStruct] = _of_kind(header, field, _LIST) or []
    if not all(isinstance(value, dict) for value in values):
        raise LimitError("cannot be read as Parquet: its footer is damaged")
    return values


class _ThriftReader:
    """A reader of structs. at: the offset of the next byte.

    Reading raises IndexError at the end of the content, LimitError for invalid content.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._values = 0
        self.at = 0

    def structure(self, depth: int = 0) -> ThriftStruct:
        found: ThriftStruct = {}
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
            kind = _BYTE  # In a list, a boolean is a byte.
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
    """Raise LimitError unless each column holds numbers, strings, or lists of them."""
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
    """The rows of a file. packed: its size in bytes.

    Raises LimitError for a row of more than ROW_BYTES, and if all rows are too much for the
    file (`check_rows`), before the rows of the batch are made.
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
    """The number of values of the rows, lists included, and the bytes of their words."""
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


# --- rows of the two configurations -----------------------------------------------------------

IDENTIFICATION, RESOLUTION = "identification", "resolution"
CONFIGURATIONS = (RESOLUTION, IDENTIFICATION)

IDENTIFICATION_KEYS = ("tokens", "start_index", "end_index", "label")
KEYS = {IDENTIFICATION: IDENTIFICATION_KEYS, RESOLUTION: RELEASE_KEYS}

LABELS = {0: Kind.NOT_NFH, 1: Kind.NFH, "neg": Kind.NOT_NFH, "pos": Kind.NFH}
LABEL_NAMES = ("neg", "pos")

UNSPLIT = "unsplit"
"""The split of rows without one, since each file has a split."""

DEV = "validation"
"""The data set's name of `dev`."""

Values = Mapping[str, Any]


def split_there(split: str | None) -> str:
    """The data set's name of a split."""
    return UNSPLIT if split is None else DEV if split == "dev" else split


def split_here(name: str | None) -> str | None:
    """Our name of a split of the data set."""
    return None if name == UNSPLIT else "dev" if name == DEV else name


def values_of(
    words: Sequence[str], turns: Sequence[Turn], anchor: Anchor, answer: Answer | None
) -> Iterator[tuple[str, Values]]:
    """The rows of an anchor in the two configurations, where they have a form for its
    answer.
    """
    head = release_head(answer, anchor)
    if head is not None:
        yield RESOLUTION, release_row(list(words), turns, anchor, list(map(str, head)))
    is_one = answer.kind.identification if answer else None
    if is_one is not None:
        indices = {"start_index": anchor.start, "end_index": anchor.end}
        yield IDENTIFICATION, {"tokens": list(words), **indices, "label": int(is_one)}


def row_of(source: FileOrigin, line: int, values: Values, split: str | None) -> LabelledRow:
    """A row of either configuration. Raises FormatError for an invalid row."""
    fields = Fields(source, line, values)
    if values.keys() == set(IDENTIFICATION_KEYS):
        return _identified(fields, split)
    if values.keys() == set(RELEASE_KEYS):
        return _resolved(fields, split)
    shown = " or ".join(f"{', '.join(keys)} ({name})" for name, keys in KEYS.items())
    raise source.error(line, f"found the keys {', '.join(values)}; wanted {shown}")


def _resolved(fields: Fields, split: str | None) -> LabelledRow:
    head = [
        int(item) if isinstance(item, str) and item.isascii() and item.isdigit() else item
        for item in fields.items("head")
    ]
    row, _ = nfh.row_of(Fields(fields.source, fields.line, {**fields.values, "head": head}))
    return replace(row, split=split)


def _identified(fields: Fields, split: str | None) -> LabelledRow:
    words = fields.strings("tokens")
    start, end = fields.integer("start_index"), fields.integer("end_index")
    if not 0 <= start < len(words):
        raise fields.refuse("start_index", f"a token from 0 to {len(words) - 1}")
    if not start < end <= len(words):
        wanted = f"a number from {start + 1} to {len(words)}, the token after the last"
        raise fields.refuse("end_index", wanted)
    label = fields.values["label"]
    kind = LABELS.get(label) if isinstance(label, str | int) else None
    if kind is None or isinstance(label, bool):
        raise fields.refuse("label", "1 (pos, an NFH) or 0 (neg, none)")
    passage = joined(words, (Turn(0, None, 0, len(words)),), "words")
    labels = json.dumps(int(kind is Kind.NFH))
    return LabelledRow(fields.line, passage, Anchor(start, end), labels, kind, (), split)


# --- Parquet files ----------------------------------------------------------------------------

AT_ONCE = 1_000
"""Rows of a row group, and rows that are held at a time."""

Numbered = Iterator[tuple[int, dict[str, Any]]]
"""Rows with their numbers in a file, from 1."""

INSTALL = "needs pyarrow: pip install 'nfh-tui[formats]'"


class ParquetPart:
    """A Parquet file that is being written, with the types of the published data set. Its
    schema holds the features that `datasets` reads, with the names of the labels.
    """

    def __init__(self, configuration: str) -> None:
        from pyarrow import parquet

        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the export closes it
        """Complete after `close`."""
        self._schema = _schema(configuration)
        self._writer: Any = parquet.ParquetWriter(self.file, self._schema)
        self._rows: list[Values] = []

    def add(self, values: Values) -> None:
        self._rows.append(values)
        if len(self._rows) == AT_ONCE:
            self._flush()

    def close(self) -> None:
        """Write the rest of the file."""
        self._flush()
        self._writer.close()

    def drop(self) -> None:
        """Delete the file. An open writer would write when it is garbage-collected."""
        try:
            self._writer.close()
        finally:
            self.file.close()

    def _flush(self) -> None:
        import pyarrow

        if self._rows:
            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, self._schema))
            self._rows.clear()


def _schema(configuration: str) -> "pyarrow.Schema":
    import pyarrow as pa

    words, numbers = pa.list_(pa.string()), pa.list_(pa.int32())
    types: dict[str, list[Any]] = {
        IDENTIFICATION: [words, pa.int32(), pa.int32(), pa.int64()],
        RESOLUTION: [words, numbers, words, words, numbers],
    }
    columns = list(zip(KEYS[configuration], types[configuration], strict=True))
    features = {name: _feature(name, kind) for name, kind in columns}
    metadata = json.dumps({"info": {"features": features}})
    return pa.schema(columns, metadata={"huggingface": metadata})


def _feature(name: str, kind: Any) -> dict[str, object]:  # noqa: ANN401 - a type of arrow
    """The feature of `datasets` for a column."""
    if name == "label":
        return {"names": list(LABEL_NAMES), "_type": "ClassLabel"}
    value_type = getattr(kind, "value_type", None)
    if value_type is None:
        return {"dtype": str(kind), "_type": "Value"}
    return {"feature": {"dtype": str(value_type), "_type": "Value"}, "_type": "List"}


def parquet_rows(source: FileOrigin, file: IO[bytes]) -> Numbered:
    """The rows of a Parquet file, numbered from 1. Raises FormatError."""
    try:
        from pyarrow import ArrowException
    except ImportError as error:
        raise source.error(None, INSTALL) from error
    number = 0
    try:
        check_pages(file)
        schema = _opened(file).metadata.schema
        words = [
            column.path
            for column in map(schema.column, range(len(schema)))
            if column.physical_type == "BYTE_ARRAY"
        ]
        with _opened(file, read_dictionary=words) as opened:
            check_types(opened.schema_arrow)
            packed = file.seek(0, os.SEEK_END)
            for values in rows_of(opened.iter_batches(batch_size=AT_ONCE), packed):
                number += 1
                yield number, values
    except LimitError as error:
        raise source.error(number + 1 if number else None, str(error)) from error
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        reason = reason_of(error)
        place = number + 1 if number else None
        what = f"cannot be read as Parquet: download or write it again ({reason})"
        raise source.error(place, what) from error


def _opened(file: IO[bytes], **more: Any) -> Any:  # noqa: ANN401 - no types in pyarrow
    from pyarrow import parquet

    file.seek(0)
    return parquet.ParquetFile(
        file,
        thrift_string_size_limit=FOOTER_STRINGS,
        thrift_container_size_limit=FOOTER_ITEMS,
        **more,
    )


CARD = "README.md"
PARQUET = ".parquet"
MAGIC = b"PAR1"

SPLIT_NAMES = ("train", "validation", "dev", "test", "unsplit")
KEEP = "remove gold.jsonl to import the changed files without it"


# --- the writer -------------------------------------------------------------------------------


class HubWriter:
    """Writes the folder. Files are written to disk while records come."""

    def __init__(self, how: Writing) -> None:  # noqa: ARG002
        self.left_out: Counter[str] = Counter()

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        """Raises ExportError if pyarrow is not installed, and for a split that cannot be the
        name of a file.
        """
        parts: dict[tuple[str, str], ParquetPart] = {}
        with contextlib.ExitStack() as stack:
            side = stack.enter_context(TemporaryFile())
            lines = GoldWriter()
            for record in records:
                side.write(lines.line(record).encode("utf-8"))
                passage, split = record.passage, split_there(record.split)
                words = [passage.text[token.start : token.end] for token in passage.tokens]
                answer = record.gold.answer if record.gold else None
                for name, values in values_of(words, passage.turns, record.anchor, answer):
                    if (name, split) not in parts:
                        parts[name, split] = _part(name, split)
                        stack.callback(parts[name, split].drop)
                    parts[name, split].add(values)
            yield CARD, _card(sorted(parts)).encode("utf-8")
            yield SIDE, side
            for (configuration, split), part in sorted(parts.items()):
                part.close()
                yield f"{configuration}/{split}{PARQUET}", part.file


def _part(configuration: str, split: str) -> ParquetPart:
    if "/" in split or split.startswith("."):
        raise ExportError(
            f"the split {shown(split)} cannot be the name of a file of its own; rename it"
        )
    try:
        return ParquetPart(configuration)
    except ImportError as error:
        raise ExportError(f"hf-parquet {INSTALL}") from error


def _card(parts: Sequence[tuple[str, str]]) -> str:
    """README.md: a header for `datasets`, and a description."""
    lines = ["---", "configs:"]
    for configuration in CONFIGURATIONS:
        splits = [split for name, split in parts if name == configuration]
        if splits:
            lines += [f"- config_name: {configuration}", "  data_files:"]
        for split in splits:
            lines += [f"  - split: {split}", f"    path: {configuration}/{split}{PARQUET}"]
    return "\n".join(
        [
            *lines,
            "---",
            "",
            "# Numeric fused heads",
            "",
            "`resolution`: which words of the dialog a number's missing noun is, or its class. "
            "`identification`: whether its noun is missing at all.",
            "`gold.jsonl` holds what these columns have no place for: answers, flags, spans.",
            "",
        ]
    )


# --- the reader -------------------------------------------------------------------------------


def read(source: Binary | Folder, how: ReadOptions) -> Iterator[Row]:  # noqa: ARG001
    """The rows of a folder, zip or file. Raises FormatError at the first invalid row."""
    if isinstance(source, Binary):
        with source.path.open("rb") as file:
            for number, values in parquet_rows(source, file):
                yield row_of(source, number, values, _split(source.path.name))
        return
    _check_json(source)
    if SIDE in source.names:
        yield from _by_side(source)
        return
    count = 0
    for name in data_names(source.names):
        for number, values in _member_rows(source, name):
            count += 1
            row = row_of(FolderMember(source, name), number, values, _split(name))
            yield replace(row, line=count)  # Lines count through the files of a folder.
    if not count:
        raise source.error(None, "holds no row of the data set")


def _check_json(folder: Folder) -> None:
    """Raise FormatError for a folder with rows in JSON only; warn if some are."""
    rows = [name for name in folder.names if is_row_file(name)]
    if rows and not data_names(folder.names):
        raise folder.error(None, f"holds {visible(rows[0])}: {REMOVED[HF_JSON]}")
    if rows:
        folder.warnings.append(
            f"{counted(len(rows), 'file')} of JSON left out: only Parquet is read; the first "
            f"is {visible(rows[0])}"
        )


def _member_rows(folder: Folder, name: str) -> Numbered:
    with folder.open(name) as file:
        yield from parquet_rows(FolderMember(folder, name), file)


def data_names(names: Iterable[str]) -> list[str]:
    """The members that hold rows: all Parquet files."""
    found = [name for name in names if name.lower().endswith(PARQUET)]
    # Resolution first: that a noun is missing does not replace which noun it is.
    return sorted(found, key=lambda name: IDENTIFICATION in name.split("/"))


def _split(name: str) -> str | None:
    """The split of a file's name ("train-00000-of-00001.parquet" is train), else of its
    folder's ("resolution/train/0000.parquet", "resolution/partial-train/…").
    """
    path = PurePosixPath(name)
    for part in (path.name, path.parent.name):
        words = re.split(r"[^a-z]+", part.lower())
        found = next((word for word in words if word in SPLIT_NAMES), None)
        if found is not None:
            return split_here(found)
    return None


def _by_side(folder: Folder) -> Iterator[GoldRow]:
    """The rows of the side file. Raises FormatError if a row of the Parquet files differs."""
    rows = {name: _member_rows(folder, name) for name in data_names(folder.names)}
    by_part = {
        (PurePosixPath(name).parent.name, PurePosixPath(name).stem): name for name in rows
    }
    for row in gold.read(FolderMember(folder, SIDE)):
        answer = row.gold.answer if row.gold else None
        split = split_there(row.split)
        passage = row.passage
        for configuration, values in values_of(
            passage.words, passage.turns, row.anchor, answer
        ):
            name = by_part.get((configuration, split))
            if name is None:
                raise folder.error(
                    None,
                    f"{SIDE}, line {row.line}, belongs to {configuration}/{split}, which is "
                    f"missing; {KEEP}",
                )
            _compare(folder, name, rows[name], row.line, values)
        yield row
    for name, rest in rows.items():
        number, _ = next(rest, (0, None))
        if number:
            raise FolderMember(folder, name).error(number, f"is not in {SIDE}; {KEEP}")


def _compare(folder: Folder, name: str, rows: Numbered, line: int, wanted: Values) -> None:
    number, found = next(rows, (0, None))
    if found is None:
        raise FolderMember(folder, name).error(
            None, f"ends before line {line} of {SIDE}; {KEEP}"
        )
    for key, value in wanted.items():
        if found.get(key) != value:
            raise FolderMember(folder, name).error(
                number,
                f"{key}: found {shown(found.get(key))}, expected {shown(value)}, as line "
                f"{line} of {SIDE} has it; {KEEP}",
            )


# --- the format -----------------------------------------------------------------------------


def _sniff(first: First) -> str | None:
    if first.head.startswith(MAGIC):
        return "it begins as Parquet files do"
    if set(first.names) == {SIDE, CARD}:
        return f"it holds {SIDE} and {CARD}, as an export in which nothing is decided does"
    for name in first.names:
        path = PurePosixPath(name)
        within = {parent.name for parent in path.parents}
        if path.suffix.lower() == PARQUET and not within.isdisjoint(CONFIGURATIONS):
            return f"it holds {name}"
    return None


HF_PARQUET = Format(
    name="hf-parquet",
    extensions=(PARQUET,),
    description=(
        "the data set of Hugging Face's datasets: a folder of Parquet files, configurations "
        "resolution and identification"
    ),
    example="",
    read=read,
    sniff=_sniff,
    members=HubWriter,
    takes=(InputKind.BYTES, InputKind.FOLDER),
    carries_split=True,
    holds=holds(How.SIDE, **each(How.OWN, "KIND HEADS SPEAKERS SPLIT")),
    extra="pyarrow",
)
