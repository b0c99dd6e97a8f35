"""spaCy's DocBin: one .spacy file, or a folder of several.

A .spacy file is msgpack packed by zlib (https://spacy.io/api/docbin); it is held in memory
while it is read or written, so a large set is a folder of files of PART passages each.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nfh_db.errors import ExportError
from nfh_db.formats.folders import Binary, Folder
from nfh_db.formats.format import First, Format, How, Takes, holds
from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import LabelMap, Reading, Writing
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import Row
from nfh_db.formats.splits import split_of_name
from nfh_db.formats.wording import visible
from nfh_db.records import ExportRecord
from nfh_tui.formats.docbin_docs import Groups, doc_of
from nfh_tui.formats.docbin_rows import DocReader

if TYPE_CHECKING:
    from spacy.tokens import Doc

PART = 2_000
"""Passages of one file of a folder."""

WHOLE = 50_000
"""Passages that one file alone may have."""

UNPACKED = 2**31
"""Bytes that a file may have once unpacked; msgpack takes no more, either."""

STEP = 1 << 20
ATTRS = ("ORTH", "SPACY", "SENT_START")


# --- in -------------------------------------------------------------------------------------


def read(origin: Origin, how: Reading) -> Iterator[Row]:
    """The rows of a .spacy file, or of a folder of them. Raises FormatError."""
    try:
        reader = DocReader(how)
    except MarkError as error:
        raise origin.error(None, str(error)) from error
    if isinstance(origin, Folder):
        names = list(origin.named(".spacy"))
        if not names:
            raise origin.error(None, "holds no .spacy file")
        for name in names:
            reader.split = split_of_name(PurePosixPath(name).stem)
            try:
                yield from _rows(origin.read(name), reader)
            except MarkError as error:
                raise origin.member_error(name, None, str(error)) from error
    elif isinstance(origin, Binary):
        reader.split = split_of_name(origin.path.stem)
        try:
            yield from _rows(origin.content(), reader)
        except MarkError as error:
            raise origin.error(None, str(error)) from error
    if (missing := reader.missing(how.labels)) is not None:
        raise origin.error(None, missing)
    origin.warnings.extend(reader.counts.warnings())


def _rows(content: bytes, reader: DocReader) -> Iterator[Row]:
    _check_size(content)
    for number, doc in enumerate(_docs(content), 1):
        try:
            yield from reader.rows(doc)
        except MarkError as error:
            raise MarkError(f"Doc {number}: {error}") from error


def _docs(content: bytes) -> Iterator["Doc"]:
    """The Docs of a file. Raises MarkError for one that is no DocBin."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        yield from DocBin().from_bytes(content).get_docs(Vocab())
    except Exception as error:  # spaCy raises what it comes upon
        said = visible(f"{type(error).__name__}: {error}", 200)
        raise MarkError(f"cannot be read as a DocBin of spaCy: {said}") from error


def _check_size(content: bytes) -> None:
    """Raise MarkError for what is not packed by zlib, or is too large once unpacked."""
    unpacking = zlib.decompressobj()
    size = 0
    left = content
    try:
        while left:
            size += len(unpacking.decompress(left, STEP))
            left = unpacking.unconsumed_tail
            if size > UNPACKED:
                raise MarkError(f"has more than {UNPACKED:,} bytes unpacked; split it")
    except zlib.error as error:
        raise MarkError(f"is no DocBin of spaCy: {error}") from error
    if not unpacking.eof:
        raise MarkError("is no whole DocBin of spaCy: it ends too early")


def _sniff(first: First) -> str | None:
    if first.folder is not None:
        names = list(first.folder.named(".spacy"))
        if names and _is_docbin(first.folder.read(names[0])):
            return f"it is a folder or zip of spaCy's DocBin files such as {visible(names[0])}"
        return None
    if first.takes is Takes.BYTES and _is_docbin(first.head):
        return "it is packed as spaCy's DocBin is, and begins with a DocBin's keys"
    return None


def _is_docbin(head: bytes) -> bool:
    try:
        start = zlib.decompressobj().decompress(head[:4096], 64)
    except zlib.error:
        return False
    return b"\xa7version" in start and b"\xa5attrs" in start


# --- out ------------------------------------------------------------------------------------


class DocBinWriter:
    """Makes .spacy files. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._labels: LabelMap = how.labels
        try:
            self._groups = Groups.of(how.labels)
        except MarkError as error:
            raise ExportError(str(error)) from error

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """One file. Raises ExportError for more passages than it may have."""
        passages = self._passages(records)
        first = list(islice(passages, WHOLE))
        if next(passages, None) is not None:
            raise ExportError(
                f"there are more than {WHOLE:,} passages, too many for one .spacy file: name "
                "a folder, or a query that finds fewer"
            )
        yield self._file(first)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """part-0001.spacy and so on, of PART passages each."""
        passages = self._passages(records)
        rank = 0
        while part := list(islice(passages, PART)):
            rank += 1
            yield f"part-{rank:05d}.spacy", self._file(part)

    @staticmethod
    def _passages(records: Iterable[ExportRecord]) -> Iterator[list[ExportRecord]]:
        groups = groupby(records, lambda record: record.passage.digest)
        return (list(group) for _, group in groups)

    def _file(self, passages: Sequence[Sequence[ExportRecord]]) -> bytes:
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab

        vocab = Vocab()
        file = DocBin(attrs=ATTRS, store_user_data=True)
        for records in passages:
            file.add(doc_of(records, vocab, self._groups, self._labels))
        content: bytes = file.to_bytes()
        return content


DOCBIN = Format(
    name="docbin",
    extensions=(".spacy",),
    description=(
        "spaCy's DocBin: a Doc for each passage, gold as span groups and as the attributes of "
        "the component nfh, the rest in user_data; one .spacy file or a folder of several"
    ),
    example="",
    read=read,
    sniff=_sniff,
    chunks=DocBinWriter,
    members=DocBinWriter,
    carries_split=True,
    takes=(Takes.BYTES, Takes.FOLDER),
    holds=holds(
        How.BESIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        GOLD=How.OWN,
    ),
    settings=frozenset({"map"}),
)
