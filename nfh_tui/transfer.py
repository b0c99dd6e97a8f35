"""Files in and out: where formats, tokens and lemmas, and the store meet."""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from nfh_db.errors import ExportError
from nfh_db.formats.format import Format
from nfh_db.formats.options import LabelMap, Offsets, Reading, Writing
from nfh_db.formats.reading import Origin
from nfh_db.formats.release import LineWriter
from nfh_db.formats.splits import split_of_name
from nfh_db.formats.writing import replacing, write_members
from nfh_db.load import IncomingFile
from nfh_db.query import Query
from nfh_db.records import ExportRecord, ImportReport
from nfh_db.store import Store
from nfh_tui.formats.losses import Losses
from nfh_tui.formats.reading import reading

FIELDS = {"map": "labels"}
"""What holds a setting that the command line has another name for."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file comes in. split: wins over what rows and file names say.

    labels, offsets, columns, pause, encoding: as `nfh_db.formats.options.Reading` has them.
    window: turns before and after the one a number stands in that make a passage of its own;
    None for whole scenes. newer_answers: an annotator's answer in the file takes the place of
    an older one of theirs.
    """

    split: str | None = None
    annotator: str | None = None
    replace_gold: bool = False
    dry_run: bool = False
    labels: LabelMap = field(default_factory=LabelMap)
    offsets: Offsets | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    pause: float | None = None
    encoding: str | None = None
    window: tuple[int, int] | None = None
    newer_answers: bool = False

    def named(self) -> list[str]:
        """The settings of a format that were said, by the names of their options."""
        said = {
            "map": self.labels != LabelMap(),
            "offsets": self.offsets is not None,
            "columns": bool(self.columns),
            "pause": self.pause is not None,
            "encoding": self.encoding is not None,
            "window": self.window is not None,
        }
        return [name for name, is_said in said.items() if is_said]

    def known_by(self, sha256: str) -> str:
        """By what an import is known again: the file's hash, hex, and behind it that of the
        settings, if any were said: read with another window or other columns, a file is
        another one.
        """
        said = {name: getattr(self, FIELDS.get(name, name)) for name in self.named()}
        if self.newer_answers:
            said["newer_answers"] = True
        if not said:
            return sha256
        written = json.dumps(said, default=asdict, sort_keys=True)
        return f"{sha256} as {hashlib.sha256(written.encode()).hexdigest()[:16]}"

    def reading(self) -> Reading:
        """How the file's format is read."""
        return reading(
            labels=self.labels,
            offsets=self.offsets,
            columns=self.columns,
            pause=self.pause,
            encoding=self.encoding,
            annotator=self.annotator,
        )


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote.

    left_out: anchors without a form in the format, by reason. undecided: rows among those
    written whose anchor has no gold yet. lost: anchors that had something which the format
    cannot hold, by what. stale_gold: anchors of the database whose gold was given to a span
    that was replaced since, and that nobody has decided anew: no file has it.
    """

    format: str
    out: str | None
    rows: int
    left_out: Mapping[str, int]
    undecided: int
    lost: Mapping[str, int] = field(default_factory=dict)
    stale_gold: int = 0


def import_file(
    store: Store,
    source: Origin,
    format_: Format,
    options: ImportOptions,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Bring one file in, all of it or nothing; `progress` is told the rows so far.

    Raises FormatError for a file that does not hold, StoreError where it cannot be stored.
    """
    # Imported here: the lemmas' dictionary is loaded by the import only.
    from nfh_tui.incoming import PassageMaker

    split, named = options.split, split_of_name(source.path.stem)
    if split is None and format_.carries_split is False:
        split = named
    annotator = options.annotator
    if annotator is not None and format_.names_people:
        raise source.error(
            None,
            f"the rows of {format_.name} files name who answered; import it without an "
            f"annotator's name ({annotator})",
        )
    if annotator is not None and not format_.labelled:
        source.warnings.append(
            f"{format_.name} files hold no answers: no answer of {annotator}"
        )
        annotator = None
    maker = PassageMaker(source, split, annotator, options.window, named)
    file = IncomingFile(
        name=_storable(source.path.name),
        sha256=options.known_by(source.sha256),
        format=format_.name,
        split=split,
        annotator=annotator,
        warnings=lambda: source.warnings,
        newer_answers=options.newer_answers,
        raw=not format_.labelled,
    )
    return store.load(
        file,
        maker.passages(format_.read(source, options.reading())),
        replace_gold=options.replace_gold,
        dry_run=options.dry_run,
        progress=progress,
    )


def _storable(name: str) -> str:
    """A file's name as text: bytes of it that are no UTF-8 become question marks."""
    return name.encode("utf-8", "replace").decode("utf-8")


def export_file(
    store: Store,
    query: Query,
    format_: Format,
    out: Path | None,
    how: Writing | None = None,
) -> ExportReport:
    """Write what `query` finds, in one read transaction, streaming; None is standard output.

    Raises ExportError if it cannot be written (what stood there is untouched), StoreError if
    it cannot be read. A broken pipe is left to the caller.
    """
    layout: Literal["gold", "nfh"] = "nfh" if format_.name == "nfh" else "gold"
    counted = _Counted(store.outgoing(query, None, layout), format_, layout == "gold")
    left_out = _write(format_, how or Writing(), counted.records(), out)
    name = None if out is None else str(out)
    rows = counted.rows - sum(left_out.values())
    lost = {str(what): number for what, number in counted.losses.counted.items()}
    return ExportReport(
        format_.name,
        name,
        rows,
        dict(sorted(left_out.items())),
        counted.undecided,
        lost,
        store.count_stale_gold() if format_.labelled else 0,
    )


class _Counted:
    """Records as they go by, with their number, that of the undecided ones, and losses."""

    def __init__(
        self, given: Iterator[ExportRecord], format_: Format, tells_undecided: bool
    ) -> None:
        self._given = given
        self._tells = tells_undecided
        self.losses = Losses(format_)
        self.rows = 0
        self.undecided = 0

    def records(self) -> Iterator[ExportRecord]:
        """Each record once."""
        for record in self._given:
            self.rows += 1
            self.undecided += record.gold is None and self._tells
            self.losses.look(record)
            yield record


def _write(
    format_: Format, how: Writing, records: Iterator[ExportRecord], out: Path | None
) -> Counter[str]:
    """Write records; return what the format has no form for, by reason. Raises ExportError."""
    if format_.members is not None and not _one_file(format_, out):
        if out is None:
            raise ExportError(
                f"{format_.name} is written as a folder or a zip file: name one with --out"
            )
        folder_writer = format_.members(how)
        write_members(out, folder_writer.members(records))
        return folder_writer.left_out
    if format_.chunks is not None:
        chunk_writer = format_.chunks(how)
        _pour(out, chunk_writer.chunks(records))
        return chunk_writer.left_out
    if format_.writer is None:
        raise ExportError(f"{format_.name} is import only")
    writer = format_.writer(how)
    _pour(out, (line.encode("utf-8") for line in _lines(records, writer)))
    return writer.left_out


def _one_file(format_: Format, out: Path | None) -> bool:
    """True where a format that can be either is asked for as one file, by the name's end, or
    for standard output.
    """
    single = format_.chunks is not None or format_.writer is not None
    return single and (out is None or out.suffix.lower() in format_.extensions)


def _pour(out: Path | None, chunks: Iterator[bytes]) -> None:
    with ExitStack() as stack:
        file: BinaryIO = (
            standard_output() if out is None else stack.enter_context(replacing(out))
        )
        file.writelines(chunks)
        file.flush()


def standard_output() -> BinaryIO:
    """Where bytes for standard output go. Raises ExportError where the caller closed it."""
    if sys.stdout is None:
        raise ExportError("Standard output is closed: name a file with --out")
    return sys.stdout.buffer


def _lines(records: Iterator[ExportRecord], writer: LineWriter) -> Iterator[str]:
    for record in records:
        line = writer.line(record)
        if line is not None:
            yield line
