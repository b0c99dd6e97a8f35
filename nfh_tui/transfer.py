"""Files in and out: where formats, tokens and lemmas, and the store meet."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from nfh_db.errors import ExportError
from nfh_db.formats.reading import Source
from nfh_db.formats.registry import Format
from nfh_db.formats.release import LineWriter, Mentions
from nfh_db.formats.writing import pour, replacing
from nfh_db.load import IncomingFile
from nfh_db.query import Query
from nfh_db.records import ExportRecord, ImportReport
from nfh_db.store import Store

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file comes in. split: wins over what rows and file names say."""

    split: str | None = None
    annotator: str | None = None
    replace_gold: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote.

    left_out: anchors without a form in the format, by reason. undecided: rows among those
    written whose anchor has no gold yet.
    """

    format: str
    out: str | None
    rows: int
    left_out: Mapping[str, int]
    undecided: int


def import_file(
    store: Store,
    source: Source,
    format_: Format,
    options: ImportOptions,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Bring one file in, all of it or nothing; `progress` is told the rows so far.

    Raises FormatError for a file that does not hold, StoreError where it cannot be stored.
    """
    # Imported here: the lemmas' dictionary is loaded by the import only.
    from nfh_tui.incoming import PassageMaker

    split = options.split
    if split is None and format_.carries_split is False:
        split = split_of_name(source.path.stem)
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
    maker = PassageMaker(source, split, annotator)
    file = IncomingFile(
        name=_storable(source.path.name),
        sha256=source.sha256,
        format=format_.name,
        split=split,
        annotator=annotator,
        warnings=lambda: source.warnings,
    )
    return store.load(
        file,
        maker.passages(format_.read(source)),
        replace_gold=options.replace_gold,
        dry_run=options.dry_run,
        progress=progress,
    )


def _storable(name: str) -> str:
    """A file's name as text: bytes of it that are no UTF-8 become question marks."""
    return name.encode("utf-8", "replace").decode("utf-8")


def split_of_name(stem: str) -> str | None:
    """The split that a file's name says: "nfh_dev" is dev; None if it says none or two."""
    words = "".join(c.lower() if c.isalnum() else " " for c in stem).split()
    named = {word for word in words if word in SPLITS}
    return named.pop() if len(named) == 1 else None


def export_file(
    store: Store,
    query: Query,
    format_: Format,
    out: Path | None,
    mentions: Mentions = "all",
) -> ExportReport:
    """Write what `query` finds, in one read transaction, streaming; None is standard output.

    Raises ExportError if it cannot be written (the file that stood there is untouched),
    StoreError if it cannot be read. A broken pipe is left to the caller.
    """
    if format_.writer is None:
        raise ExportError(f"{format_.name} is import only")
    writer = format_.writer(mentions)
    layout: Literal["gold", "nfh"] = "gold" if format_.name == "gold" else "nfh"
    undecided = 0

    def records() -> Iterator[ExportRecord]:
        nonlocal undecided
        for record in store.outgoing(query, None, layout):
            undecided += record.gold is None and layout == "gold"
            yield record

    lines = _lines(records(), writer)
    with ExitStack() as stack:
        file: BinaryIO = (
            standard_output() if out is None else stack.enter_context(replacing(out))
        )
        rows = pour(file, lines)
        file.flush()
    name = None if out is None else str(out)
    left_out = dict(sorted(writer.left_out.items()))
    return ExportReport(format_.name, name, rows, left_out, undecided)


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
