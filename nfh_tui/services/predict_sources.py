"""Passages with numbers for `predict --file`, from raw dialog, running text, labelled rows, or
files of other tools. Text is read once, line by line.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal

from nfh_db.errors import FormatError
from nfh_db.formats import dialog, gold, nfh
from nfh_db.formats.base import First
from nfh_db.formats.files import HEAD, Source, wide_encoding
from nfh_db.formats.registry import (
    AMT,
    DIALOG,
    GOLD,
    NFH,
    NFH_IDENT,
    RecognizedFile,
    reading,
    recognise,
)
from nfh_db.formats.registry import opened as opened_source
from nfh_db.formats.rows import DialogBlock, DialogTurn, Row
from nfh_db.messages import counted, visible
from nfh_models.domain import Anchor, Passage
from nfh_models.identification.base import numbers_of
from nfh_models.text.numbers import may_hold_number
from nfh_models.text.sentences import sentence_spans
from nfh_tui.services.imports import ImportOptions, PassageMaker, recognise_file

STANDARD_INPUT = "-"
STANDARD_NAME = "standard input"
BUFFER = 1 << 16


class Stream(Source):
    """The lines of a file, a pipe, or standard input, each read once.

    Unlike a `Source` it is not validated first: errors are raised when their line is reached.
    """

    def __init__(self, file: BinaryIO, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.warnings: list[str] = []
        self.sha256 = ""
        self.encoding = None
        self._file = file
        self._is_empty = True
        self._ahead: deque[tuple[int, str]] = deque()
        self._rest = self._read()

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number from 1, without its line end.

        Raises FormatError for a line over LINE_LIMIT, for bytes that are not UTF-8, for
        binary content, and where reading fails.
        """
        while self._ahead:
            yield self._ahead.popleft()
        yield from self._rest

    def first_row(self) -> str:
        """The first line that is not blank, which `lines` then begins with; "" if none is."""
        if not self._ahead:
            self._ahead.extend(islice((line for line in self._rest if line[1].strip()), 1))
        return self._ahead[0][1] if self._ahead else ""

    def start(self, size: int) -> str:
        """The first line in place of the first `size` characters: nothing else is read yet."""
        return self.first_row()[:size]

    def nothing(self) -> FormatError:
        """The error for a file without a word, after it has been read."""
        return empty_error(self.name, empty=self._is_empty)

    def _read(self) -> Iterator[tuple[int, str]]:
        with self.reading():
            for number, raw in enumerate(self._raw_lines(self._file), 1):
                if number == 1:
                    self._is_empty = False
                    if encoding := wide_encoding(raw[:HEAD]):
                        raise self.error(None, f"is {encoding} text; save it as UTF-8")
                place = raw.find(b"\0")
                if place >= 0:
                    raise self.error(
                        number,
                        f"is binary (NUL at byte {place + 1:,} of the line); wanted UTF-8 text",
                    )
                yield number, self._decode(number, raw)


OPEN_ERRORS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    NotADirectoryError: "there is no such file",
    PermissionError: "cannot be read: permission denied",
    IsADirectoryError: "is a folder; name a file in it",
}


@contextmanager
def opened(place: str) -> Iterator[Stream]:
    """A file by its path, standard input for "-". Raises FormatError if it cannot be opened."""
    if place == STANDARD_INPUT:
        if sys.stdin is None:
            raise FormatError(STANDARD_NAME, None, "is closed: name a file")
        stream = Stream(sys.stdin.buffer, Path(STANDARD_NAME), STANDARD_NAME)
        stream.encodable = False
        yield stream
        return
    path, name = Path(place), visible(place, limit=200)
    try:
        file = path.open("rb", buffering=BUFFER)
    except OSError as error:
        reason = OPEN_ERRORS.get(type(error)) or f"cannot be read: {error.strerror or error}"
        raise FormatError(name, None, reason) from error
    with file:
        yield Stream(file, path, name)


def empty_error(name: str, *, empty: bool) -> FormatError:
    """The error for a text without a word. empty: it has no white space either."""
    if empty:
        return FormatError(name, None, "is empty")
    return FormatError(
        name, None, "holds nothing but white space; wanted a dialog, or other text"
    )


# At most one passage is in memory: dialog without empty lines and paragraphs over LONGEST are
# cut where a line or a sentence ends.

TEXT = "text"
"""Running text, the only format here that cannot be imported."""

FORMATS = (DIALOG.name, TEXT, NFH.name, NFH_IDENT.name, GOLD.name)
LABELLED = (NFH.name, NFH_IDENT.name, GOLD.name)

LONGEST = 40_000
"""Most code points of a passage, some 8,000 words: each number is written with its whole
passage, so the output grows with the square of the length."""

LEAST_TEXT = 1_500
"""Code points from which paragraphs of running text form a passage, some 300 words: a number's
noun may be in the paragraph before."""

REMEMBERED = 10_000
"""Latest passages (or numbers) that are recognised as repeated."""

Anchors = Literal["given", "found"]


@dataclass(frozen=True, slots=True)
class PassageNumbers:
    """A passage with its numbers, ascending. split: the row's."""

    passage: Passage
    anchors: tuple[Anchor, ...]
    split: str | None = None


def format_of(stream: Stream) -> str:
    """The format by the first line.

    Raises FormatError for a format without passages, and for a file without a line.
    """
    if not First.of(stream).text:
        raise stream.nothing()
    found, _ = recognise(stream)
    if found.name not in FORMATS:
        raise stream.error(
            None,
            f"is a file of {found.name}, which holds answers, not numbers; predict reads "
            f"{', '.join(FORMATS)}",
        )
    return found.name


def passages(stream: Stream, format_name: str, anchors: Anchors) -> Iterator[PassageNumbers]:
    """The passages of a file that have numbers, in order.

    anchors: "given" for the number of each labelled row, "found" for all numbers of its
    passage, each passage once. The stream's warnings are complete at the end. Raises
    FormatError for an invalid row.
    """
    readers: dict[str, Callable[[Stream], Iterator[Row]]] = {
        NFH.name: nfh.read,
        NFH_IDENT.name: nfh.read_labels,
        GOLD.name: gold.read,
        DIALOG.name: lambda source: _with_numbers(source, _dialog(source)),
        TEXT: lambda source: _with_numbers(source, _text(source)),
    }
    found = (
        PassageNumbers(
            one.passage,
            tuple(anchor.anchor for anchor in one.anchors),
            splits.pop() if len(splits := {row.split for row in one.anchors}) == 1 else None,
        )
        for one in PassageMaker(stream, None, None).passages(readers[format_name](stream))
    )
    if format_name in LABELLED and anchors == "found":
        return all_numbers(found)
    return found


def _with_numbers(stream: Stream, blocks: Iterator[DialogBlock]) -> Iterator[DialogBlock]:
    """The blocks that may have a number. Raises FormatError where there is no block."""
    block = None
    for block in blocks:
        if may_hold_number(block.text):
            yield block
    if block is None:
        raise stream.nothing()


def all_numbers(rows: Iterable[PassageNumbers]) -> Iterator[PassageNumbers]:
    """All numbers found in the rows' passages, each passage once."""
    known: dict[str, None] = {}
    for row in rows:
        if row.passage.digest in known:
            continue
        known[row.passage.digest] = None
        if len(known) > REMEMBERED:
            del known[next(iter(known))]
        if anchors := tuple(numbers_of(row.passage, spaced_out=True)):
            yield PassageNumbers(row.passage, anchors, row.split)


# --- raw text -------------------------------------------------------------------------------


class _BlockBuilder:
    """Collects the turns of a block. between: the text between two turns."""

    def __init__(self, between: str) -> None:
        self.size = 0
        self._between = between
        self._texts: list[str] = []
        self._turns: list[DialogTurn] = []

    def add(self, line: int, text: str, speaker: str | None = None, start: int = 0) -> None:
        """Add a turn; its words begin at code point `start` of its text."""
        offset = self.size + (len(self._between) if self._texts else 0)
        end = offset + len(text)
        self._turns.append(DialogTurn(line, len(self._turns), speaker, offset + start, end))
        self._texts.append(text)
        self.size = end

    def flush(self) -> Iterator[DialogBlock]:
        """The block of the turns so far, if any; the builder is empty afterwards."""
        if self._texts:
            yield DialogBlock(self._between.join(self._texts), tuple(self._turns))
        self._texts, self._turns, self.size = [], [], 0


def _dialog(stream: Stream) -> Iterator[DialogBlock]:
    """Blocks as `dialog.read` makes them, cut at LONGEST."""
    block = _BlockBuilder("\n")
    doubtful = dialog.Doubtful()
    cut = 0
    for number, text in stream.lines():
        doubtful.look_at(number, text)
        if not text.strip():
            yield from block.flush()
            continue
        speaker, start = dialog.split_speaker(text)
        for piece, (first, last) in enumerate(_pieces(text)):
            if block.size and block.size + last - first > LONGEST:
                cut += 1
                yield from block.flush()
            block.add(number, text[first:last], speaker, 0 if piece else start)
    yield from block.flush()
    stream.warnings.extend(doubtful.warnings())
    _warn_of_cuts(stream, cut)


def _text(stream: Stream) -> Iterator[DialogBlock]:
    """Running text: each paragraph is a turn without a speaker; empty lines separate them."""
    block = _BlockBuilder("\n\n")
    cut = 0
    for number, paragraph, whole in _paragraphs(stream):
        cut += not whole
        for first, last in _pieces(paragraph):
            if block.size + last - first > LONGEST:
                yield from block.flush()
            block.add(number, paragraph[first:last])
        if block.size >= LEAST_TEXT:
            yield from block.flush()
    yield from block.flush()
    _warn_of_cuts(stream, cut)


def _paragraphs(stream: Stream) -> Iterator[tuple[int, str, bool]]:
    """Number of the first line, text, and False for a paragraph cut at LONGEST."""
    lines: list[str] = []
    first = size = 0
    for number, text in stream.lines():
        if lines and (not text.strip() or size + len(text) > LONGEST):
            yield first, "\n".join(lines), not text.strip()
            lines, size = [], 0
        if text.strip():
            first = first if lines else number
            lines.append(text)
            size += len(text) + 1
    if lines:
        yield first, "\n".join(lines), True


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Code points [start, end) of parts of at most LONGEST, cut between sentences."""
    if len(text) <= LONGEST:
        yield 0, len(text)
        return
    start = end = 0
    for first, last in sentence_spans(text):
        if last - start > LONGEST and end > start:
            yield start, end
            start = first
        end = last
    yield start, end


def _warn_of_cuts(stream: Stream, cut: int) -> None:
    if cut:
        stream.warnings.append(
            f"passages of more than {LONGEST:,} characters were cut, in "
            f"{counted(cut, 'place')}, and text before a cut is not used after it: put an "
            "empty line where a scene ends"
        )


def other_format(
    place: str, format_name: str | None, options: ImportOptions | None = None
) -> RecognizedFile | None:
    """A file of a format that is not read as a stream; None for a stream.

    None, too, for a file that cannot be opened: the stream reports why. options: settings of
    a format, with which no file is read as a stream. Raises FormatError for a file that is
    not of the named format, and for a setting that the format does not have.
    """
    path = Path(place)
    if options is not None:
        first = next(iter(options.format_settings()))
        if place == STANDARD_INPUT:
            raise FormatError(
                STANDARD_NAME, None, f"is read without --{first}; save it to a file first"
            )
        if format_name == TEXT:
            name, why = (
                visible(place, 200),
                f"is read as {TEXT}, which has no --{first}",
            )
            raise FormatError(name, None, f"{why}; leave it out")
        return recognise_file(path, format_name, options)
    if format_name is not None:
        return None if format_name in FORMATS else opened_source(path, format_name)
    if not (path.is_file() or path.is_dir()):
        return None
    try:
        found = opened_source(path)
    except FormatError:
        if path.is_dir():
            raise
        return None
    return None if found.format.name in (*FORMATS, AMT.name) else found


def passages_of(
    found: RecognizedFile, anchors: Anchors, options: ImportOptions | None = None
) -> Iterator[PassageNumbers]:
    """The file's passages, each number once even if several rows have it. Raises FormatError.

    anchors: as in `passages`; raw dialog has only found ones.
    """
    maker = PassageMaker(found.source, None, None, options.window if options else None)
    how = options.read_options() if options else reading()
    rows = (
        PassageNumbers(
            one.passage,
            tuple(row.anchor for row in one.anchors),
            next((row.split for row in one.anchors), None),
        )
        for one in maker.passages(found.format.read(found.source, how))
    )
    if found.format.labelled and anchors == "found":
        return all_numbers(rows)
    return _without_repeats(rows)


def _without_repeats(rows: Iterator[PassageNumbers]) -> Iterator[PassageNumbers]:
    known: dict[tuple[str, Anchor], None] = {}
    for row in rows:
        new = [a for a in row.anchors if (row.passage.digest, a) not in known]
        known |= dict.fromkeys((row.passage.digest, anchor) for anchor in new)
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        if new:
            yield PassageNumbers(row.passage, tuple(new), row.split)
