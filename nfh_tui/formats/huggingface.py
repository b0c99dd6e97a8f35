"""`hf-parquet`: the data set as published for Hugging Face's `datasets`.

A folder or zip: `resolution/SPLIT.parquet` and `identification/SPLIT.parquet`, a README.md
whose head tells `datasets` of them, and `gold.jsonl`, a side file of ours with all that the two
configurations have no columns for. A single Parquet file is read, too.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from tempfile import TemporaryFile

from nfh_db.errors import ExportError
from nfh_db.formats import gold
from nfh_db.formats.folders import Binary, Folder, Member
from nfh_db.formats.format import First, Format, How, Takes, holds
from nfh_db.formats.gold_form import GoldWriter
from nfh_db.formats.options import Reading, Writing
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import GoldRow, Row
from nfh_db.formats.strangers import HF_JSON, REMOVED, SIDE, is_row_file
from nfh_db.formats.wording import counted, shown, visible
from nfh_db.formats.writing import Content
from nfh_db.records import ExportRecord
from nfh_models.domain import Anchor, Answer, Turn
from nfh_tui.formats.huggingface_files import (
    INSTALL,
    Numbered,
    ParquetPart,
    parquet_rows,
)
from nfh_tui.formats.huggingface_rows import (
    CONFIGURATIONS,
    IDENTIFICATION,
    RESOLUTION,
    Values,
    identification_values,
    resolution_values,
    row_of,
    split_here,
    split_there,
)

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


def read(source: Binary | Folder, how: Reading) -> Iterator[Row]:  # noqa: ARG001
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


def _named(folder: Folder, name: str) -> Origin:
    """A member, for refusals that name it."""
    member = Origin(folder.path / name)
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
    for row in gold.read(Member(folder, SIDE)):
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
    takes=(Takes.BYTES, Takes.FOLDER),
    carries_split=True,
    holds=holds(How.SIDE, KIND=How.OWN, HEADS=How.OWN, SPEAKERS=How.OWN, SPLIT=How.OWN),
    extra="pyarrow",
)
