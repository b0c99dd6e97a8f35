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
from nfh_db.formats.limits import LimitError
from nfh_db.formats.options import LabelMap, Reading, Writing
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import Row
from nfh_db.formats.splits import split_of_name
from nfh_db.formats.wording import visible
from nfh_db.records import ExportRecord
from nfh_tui.formats.docbin_docs import Groups, doc_of
from nfh_tui.formats.docbin_limits import check_file, check_parts, check_text
from nfh_tui.formats.docbin_rows import DocReader

if TYPE_CHECKING:
    from spacy.tokens import Doc

PART = 2_000
"""Passages of one file of a folder."""

WHOLE = 50_000
"""Passages that one file alone may have."""

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
    for number, doc in enumerate(_docs(content), 1):
        try:
            check_text(doc)
            yield from reader.rows(doc)
        except (LimitError, MarkError) as error:
            raise MarkError(f"Doc {number}: {error}") from error


def _docs(content: bytes) -> Iterator["Doc"]:
    """The Docs of a file. Raises MarkError for one that is no DocBin, or would be too large."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        check_file(content)
        file = DocBin().from_bytes(content)
        check_parts((*file.span_groups, *file.user_data))
        yield from file.get_docs(Vocab())
    except LimitError as error:
        raise MarkError(str(error)) from error
    except Exception as error:  # spaCy raises what it comes upon
        said = visible(f"{type(error).__name__}: {error}", 200)
        raise MarkError(f"cannot be read as a DocBin of spaCy: {said}") from error


def _sniff(first: First) -> str | None:
    if first.folder is not None:
        names = list(first.folder.named(".spacy"))
        if names and _is_docbin(first.folder.head(names[0])):
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
            for content in self._files(part):
                rank += 1
                yield f"part-{rank:05d}.spacy", content

    @staticmethod
    def _passages(records: Iterable[ExportRecord]) -> Iterator[list[ExportRecord]]:
        groups = groupby(records, lambda record: record.passage.digest)
        return (list(group) for _, group in groups)

    def _files(self, passages: Sequence[Sequence[ExportRecord]]) -> Iterator[bytes]:
        """As few files as can be read again: long passages need more."""
        try:
            made = [self._file(passages)]
        except ExportError:
            half = len(passages) // 2
            if not half:
                raise
            made = [*self._files(passages[:half]), *self._files(passages[half:])]
        yield from made

    def _file(self, passages: Sequence[Sequence[ExportRecord]]) -> bytes:
        """Raises ExportError for one that could not be read again."""
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab

        vocab = Vocab()
        file = DocBin(attrs=ATTRS, store_user_data=True)
        for records in passages:
            file.add(doc_of(records, vocab, self._groups, self._labels))
        content: bytes = file.to_bytes()
        try:
            check_file(content)
        except LimitError as error:
            raise ExportError(
                f"the passages make a .spacy file that could not be read again: it {error}; "
                "name a folder, or a query that finds fewer"
            ) from error
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
