"""Format `hf-parquet`: the data set as published for Hugging Face's `datasets`, in Parquet.

A folder or zip: `resolution/SPLIT.parquet` and `identification/SPLIT.parquet`, a README.md
whose head tells `datasets` of them, and `gold.jsonl`, a side file of ours with all that the two
configurations have no columns for. A single Parquet file is read, too.
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

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats import gold, nfh
from nfh_db.formats.base import First, Format, How, InputKind, holds
from nfh_db.formats.fields import Fields
from nfh_db.formats.files import Binary, Content, FileOrigin, Folder, FolderMember, LimitError
from nfh_db.formats.gold import GoldWriter
from nfh_db.formats.parquet_limits import (
    FOOTER_ITEMS,
    FOOTER_STRINGS,
    check_pages,
    check_types,
    rows_of,
)
from nfh_db.formats.rows import (
    RELEASE_KEYS,
    GoldRow,
    LabelledRow,
    ReadOptions,
    Row,
    Writing,
    joined,
    per_token,
    release_head,
)
from nfh_db.formats.unsupported import HF_JSON, REMOVED, SIDE, is_row_file
from nfh_db.messages import counted, shown, visible
from nfh_db.records import ExportRecord
from nfh_models.domain import Anchor, Answer, Kind, Turn

if TYPE_CHECKING:
    import pyarrow


# The two configurations of the data set as published for Hugging Face's `datasets`.
#
# `identification`: tokens, start_index, end_index (exclusive), label (0 "neg", 1 "pos").
# `resolution`: tokens, line_indices, head, speakers, anchors_indices; `head` is a list of
# strings, a class or token indices in digits. Splits are train, validation and test.
# Source: the features of https://huggingface.co/datasets/numeric_fused_head.

IDENTIFICATION, RESOLUTION = "identification", "resolution"
CONFIGURATIONS = (RESOLUTION, IDENTIFICATION)

IDENTIFICATION_KEYS = ("tokens", "start_index", "end_index", "label")
KEYS = {IDENTIFICATION: IDENTIFICATION_KEYS, RESOLUTION: RELEASE_KEYS}

LABELS = {0: Kind.NOT_NFH, 1: Kind.NFH, "neg": Kind.NOT_NFH, "pos": Kind.NFH}
LABEL_NAMES = ("neg", "pos")

UNSPLIT = "unsplit"
"""The split's name of what has none: a file needs one."""

DEV = "validation"
"""What `dev` is called there."""

Values = Mapping[str, Any]


def split_there(split: str | None) -> str:
    """What a split of ours is called there."""
    return UNSPLIT if split is None else DEV if split == "dev" else split


def split_here(name: str | None) -> str | None:
    """What a split of theirs is called here."""
    return None if name == UNSPLIT else "dev" if name == DEV else name


# --- out ------------------------------------------------------------------------------------


def resolution_values(
    words: Sequence[str],
    turns: Sequence[Turn],
    anchor: Anchor,
    answer: Answer | None,
) -> Values | None:
    """A row of `resolution`; None for an answer that has no form there."""
    head = release_head(answer, anchor)
    if head is None:
        return None
    numbers, speakers = per_token(turns)
    return {
        "tokens": list(words),
        "line_indices": numbers,
        "head": list(map(str, head)),
        "speakers": speakers,
        "anchors_indices": list(range(anchor.start, anchor.end)),
    }


def identification_values(
    words: Sequence[str], anchor: Anchor, answer: Answer | None
) -> Values | None:
    """A row of `identification`; None where nobody said, or the words cannot be read."""
    is_one = answer.kind.identification if answer else None
    if is_one is None:
        return None
    return {
        "tokens": list(words),
        "start_index": anchor.start,
        "end_index": anchor.end,
        "label": int(is_one),
    }


# --- in -------------------------------------------------------------------------------------


def configuration_of(keys: Sequence[str]) -> str | None:
    """The configuration whose rows have these keys; None if neither has."""
    found = set(keys)
    return next((name for name, wanted in KEYS.items() if set(wanted) == found), None)


def row_of(source: FileOrigin, line: int, values: Values, split: str | None) -> LabelledRow:
    """A row of either configuration. Raises FormatError if it does not hold."""
    fields = Fields(source, line, values)
    configuration = configuration_of(tuple(values))
    if configuration is None:
        shown = " or ".join(f"{', '.join(keys)} ({name})" for name, keys in KEYS.items())
        raise source.error(line, f"found the keys {', '.join(values)}; wanted {shown}")
    make = _identified if configuration == IDENTIFICATION else _resolved
    return make(fields, split)


def _resolved(fields: Fields, split: str | None) -> LabelledRow:
    head = [
        int(item) if isinstance(item, str) and item.isascii() and item.isdigit() else item
        for item in fields.items("head")
    ]
    changed = Fields(fields.source, fields.line, {**fields.values, "head": head})
    row, _ = nfh.row_of(changed)
    return LabelledRow(
        row.line, row.passage, row.anchor, row.labels, row.kind, row.head_tokens, split
    )


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
    passage = joined(words, (Turn(0, None, 0, len(words)),))
    told = json.dumps(int(kind is Kind.NFH))
    return LabelledRow(fields.line, passage, Anchor(start, end), told, kind, (), split)


AT_ONCE = 1_000
"""Rows of a row group, and rows held at a time."""

Numbered = Iterator[tuple[int, dict[str, Any]]]
"""Rows with their numbers in a file, from 1."""

INSTALL = "needs pyarrow: pip install 'nfh-tui[formats]'"


class ParquetPart:
    """A Parquet file being filled, with the types that the published data set has.

    file: what was written of it, whole once it is closed. Its schema carries what `datasets`
    reads its features from, names of the label among them.
    """

    def __init__(self, configuration: str) -> None:
        from pyarrow import parquet

        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the export closes it
        self._schema = _schema(configuration)
        self._writer: Any = parquet.ParquetWriter(self.file, self._schema)
        self._rows: list[Values] = []

    def add(self, values: Values) -> None:
        """A further row."""
        self._rows.append(values)
        if len(self._rows) == AT_ONCE:
            self._flush()

    def close(self) -> None:
        """No more rows come."""
        self._flush()
        self._writer.close()

    def drop(self) -> None:
        """Let go of it, be it whole or not. A writer left open would write when collected."""
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
    if configuration == IDENTIFICATION:
        columns: list[tuple[str, Any]] = [
            ("tokens", words),
            ("start_index", pa.int32()),
            ("end_index", pa.int32()),
            ("label", pa.int64()),
        ]
    else:
        columns = [
            ("tokens", words),
            ("line_indices", numbers),
            ("head", words),
            ("speakers", words),
            ("anchors_indices", numbers),
        ]
    features = {name: _feature(name, kind) for name, kind in columns}
    told = json.dumps({"info": {"features": features}})
    return pa.schema(columns, metadata={"huggingface": told})


def _feature(name: str, kind: Any) -> dict[str, object]:  # noqa: ANN401 - a type of arrow
    """A column as `datasets` names its type."""
    if name == "label":
        return {"names": list(LABEL_NAMES), "_type": "ClassLabel"}
    value_type = getattr(kind, "value_type", None)
    if value_type is None:
        return {"dtype": str(kind), "_type": "Value"}
    return {"feature": {"dtype": str(value_type), "_type": "Value"}, "_type": "List"}


# --- in -------------------------------------------------------------------------------------


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
        raise _damaged(source, number, error) from error


def _opened(file: IO[bytes], **more: Any) -> Any:  # noqa: ANN401 - no types in pyarrow
    from pyarrow import parquet

    file.seek(0)
    return parquet.ParquetFile(
        file,
        thrift_string_size_limit=FOOTER_STRINGS,
        thrift_container_size_limit=FOOTER_ITEMS,
        **more,
    )


def _damaged(source: FileOrigin, number: int, error: Exception) -> FormatError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    place = number + 1 if number else None
    return source.error(place, f"cannot be read as Parquet: {reason}")


CARD = "README.md"
PARQUET = ".parquet"
MAGIC = b"PAR1"

SPLIT_NAMES = ("train", "validation", "dev", "test", "unsplit")
KEEP = "take gold.jsonl away to import the changed files for themselves"


# --- out ------------------------------------------------------------------------------------


def _as_file(split: str) -> str:
    if "/" in split or split.startswith("."):
        raise ExportError(
            f"the split {shown(split)} cannot be the name of a file of its own; rename it"
        )
    return split


class HubWriter:
    """Writes the folder. Each file grows on the disk, so that memory does not."""

    def __init__(self, how: Writing) -> None:  # noqa: ARG002
        self.left_out: Counter[str] = Counter()

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        """Raises ExportError where pyarrow is missing, and for a split that no file can be
        called after.
        """
        parts: dict[tuple[str, str], ParquetPart] = {}
        with contextlib.ExitStack() as stack:
            side = stack.enter_context(TemporaryFile())
            lines = GoldWriter()
            for record in records:
                side.write(lines.line(record).encode("utf-8"))
                for configuration, values in _values(record):
                    key = (configuration, _as_file(split_there(record.split)))
                    if key not in parts:
                        parts[key] = _part(configuration)
                        stack.callback(parts[key].drop)
                    parts[key].add(values)
            yield CARD, _card(sorted(parts)).encode("utf-8")
            yield SIDE, side
            for (configuration, split), part in sorted(parts.items()):
                part.close()
                yield f"{configuration}/{split}{PARQUET}", part.file


def _part(configuration: str) -> ParquetPart:
    try:
        return ParquetPart(configuration)
    except ImportError as error:
        raise ExportError(f"hf-parquet {INSTALL}") from error


def _values(record: ExportRecord) -> Iterator[tuple[str, Values]]:
    passage = record.passage
    words = [passage.text[token.start : token.end] for token in passage.tokens]
    answer = record.gold.answer if record.gold else None
    yield from _rendered(words, passage.turns, record.anchor, answer)


def _rendered(
    words: Sequence[str], turns: Sequence[Turn], anchor: Anchor, answer: Answer | None
) -> Iterator[tuple[str, Values]]:
    """The rows that an anchor has in the two configurations."""
    resolved = resolution_values(words, turns, anchor, answer)
    if resolved is not None:
        yield RESOLUTION, resolved
    identified = identification_values(words, anchor, answer)
    if identified is not None:
        yield IDENTIFICATION, identified


def _card(parts: Sequence[tuple[str, str]]) -> str:
    """README.md: what `datasets` reads of its head, and a word for people."""
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


# --- in -------------------------------------------------------------------------------------


def read(source: Binary | Folder, how: ReadOptions) -> Iterator[Row]:  # noqa: ARG001
    """The rows of a folder, zip or file. Raises FormatError at the first that does not hold."""
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
            row = row_of(_named(source, name), number, values, _split(name))
            yield replace(row, line=count)  # A line of the folder: files may say the same.
    if not count:
        raise source.error(None, "holds no row of the data set")


def _check_json(folder: Folder) -> None:
    """Raises FormatError for a folder whose rows are JSON only; warns where some are."""
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
        yield from parquet_rows(_named(folder, name), file)


def _named(folder: Folder, name: str) -> FileOrigin:
    """A member, for refusals that name it."""
    member = FileOrigin(folder.path / name)
    member.name = f"{folder.name}: {name}"
    return member


def data_names(names: Iterable[str]) -> list[str]:
    """The members that hold rows: all Parquet files."""
    found = [name for name in names if name.lower().endswith(PARQUET)]
    # What says most of a number comes first: that its noun is missing does not replace which.
    return sorted(found, key=lambda name: IDENTIFICATION in name.split("/"))


def _split(name: str) -> str | None:
    """The split that a file's name says, "train-00000-of-00001.parquet" is train, or else its
    folder's, as in "resolution/train/0000.parquet" and "resolution/partial-train/…".
    """
    path = PurePosixPath(name)
    for part in (path.name, path.parent.name):
        words = re.split(r"[^a-z]+", part.lower())
        found = next((word for word in words if word in SPLIT_NAMES), None)
        if found is not None:
            return split_here(found)
    return None


def _by_side(folder: Folder) -> Iterator[GoldRow]:
    """The side file's rows, as long as the files beside it say the same, row by row."""
    rows = {name: _member_rows(folder, name) for name in data_names(folder.names)}
    by_part = {
        (PurePosixPath(name).parent.name, PurePosixPath(name).stem): name for name in rows
    }
    for row in gold.read(FolderMember(folder, SIDE)):
        answer = row.gold.answer if row.gold else None
        split = split_there(row.split)
        passage = row.passage
        for configuration, values in _rendered(
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
            raise _named(folder, name).error(number, f"is not in {SIDE}; {KEEP}")


def _compare(folder: Folder, name: str, rows: Numbered, line: int, wanted: Values) -> None:
    number, found = next(rows, (0, None))
    if found is None:
        raise _named(folder, name).error(None, f"ends before line {line} of {SIDE}; {KEEP}")
    for key, value in wanted.items():
        if found.get(key) != value:
            raise _named(folder, name).error(
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
        "the data set as Hugging Face's datasets has it: a folder of Parquet files, "
        "configurations resolution and identification"
    ),
    example="",
    read=read,
    sniff=_sniff,
    members=HubWriter,
    takes=(InputKind.BYTES, InputKind.FOLDER),
    carries_split=True,
    holds=holds(How.SIDE, KIND=How.OWN, HEADS=How.OWN, SPEAKERS=How.OWN, SPLIT=How.OWN),
    extra="pyarrow",
)
