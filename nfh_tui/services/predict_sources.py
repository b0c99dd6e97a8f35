"""Passages with numbers for `predict --file`: out of raw dialog, running text, labelled
rows, or files of other tools, read once, line by line.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from nfh_db.errors import FormatError
from nfh_db.formats import dialog, gold, nfh
from nfh_db.formats.base import First, Format
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
from nfh_tui.services.imports import PassageMaker

if TYPE_CHECKING:
    from nfh_tui.services.imports import ImportOptions


STANDARD_INPUT = "-"
STANDARD_NAME = "standard input"
BUFFER = 1 << 16


class Stream(Source):
    """Lines as they come, each read once: of a file, a pipe, or standard input.

    Unlike a `Source` it is not looked through before, so that what is wrong with a line is
    said when that line is reached. `first_row` may be asked for before `lines`.
    """

    def __init__(self, file: BinaryIO, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.warnings: list[str] = []
        self.sha256 = ""
        self.encoding = None
        self._file = file
        self._begun = False
        self._ahead: deque[tuple[int, str]] = deque()
        self._rest = self._read()

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, without its end; those that were looked at first.

        Raises FormatError for a line over LINE_LIMIT, for bytes that are no UTF-8, for what
        is binary, and where reading fails.
        """
        while self._ahead:
            yield self._ahead.popleft()
        yield from self._rest

    def first_row(self) -> str:
        """The first line with something in it; "" if there is none. Empty ones are passed."""
        if not self._ahead:
            with_something = (line for line in self._rest if line[1].strip())
            self._ahead.extend(islice(with_something, 1))
        return self._ahead[0][1] if self._ahead else ""

    def start(self, size: int) -> str:
        """The first line, of what begins the text: nothing behind it has been read yet."""
        return self.first_row()[:size]

    def nothing(self) -> FormatError:
        """The error for a file that was read to its end without a word."""
        return nothing(self.name, empty=not self._begun)

    def _read(self) -> Iterator[tuple[int, str]]:
        try:
            for number, raw in enumerate(self._raw_lines(self._file), 1):
                if number == 1:
                    self._begun = True
                    self._check_encoding(raw)
                place = raw.find(b"\0")
                if place >= 0:
                    raise self.error(
                        number,
                        f"is binary (NUL at byte {place + 1:,} of the line); wanted UTF-8 text",
                    )
                yield number, self._decode(number, raw)
        except OSError as error:
            raise self.unreadable(error) from error

    def _check_encoding(self, raw: bytes) -> None:
        encoding = wide_encoding(raw[:HEAD])
        if encoding:
            raise self.error(None, f"is {encoding} text; save it as UTF-8")


@contextmanager
def opened(place: str) -> Iterator[Stream]:
    """A file by its path, or standard input for "-". Raises FormatError for what is no file."""
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
        raise FormatError(name, None, _why(error)) from error
    with file:
        yield Stream(file, path, name)


def nothing(name: str, *, empty: bool) -> FormatError:
    """The error for a text without a word. empty: there is not even white space in it."""
    if empty:
        return FormatError(name, None, "is empty")
    return FormatError(
        name, None, "holds nothing but white space; wanted a dialog, or other text"
    )


def _why(error: OSError) -> str:
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: "there is no such file",
        NotADirectoryError: "there is no such file",
        PermissionError: "may not be read: permission denied",
        IsADirectoryError: "is a folder; name a file in it",
    }
    return reasons.get(type(error)) or f"cannot be read: {error.strerror or error}"


# Passages with numbers, out of raw dialog, of running text, or of labelled rows, as they come.
#
# Nothing here holds more than one passage: a dialog without an empty line in it, and a
# paragraph without end, are cut where a line or a sentence ends.

TEXT = "text"
"""The one format of ours that is not imported: running text."""

FORMATS = (DIALOG.name, TEXT, NFH.name, NFH_IDENT.name, GOLD.name)
LABELLED = (NFH.name, NFH_IDENT.name, GOLD.name)

LONGEST = 40_000
"""Code points of a passage, some 8,000 words: each number of a passage is written with all of
it, so that the output grows with the square of its length."""

GATHERED = 1_500
"""Code points of running text, some 300 words: so many paragraphs are one passage, since a
number's noun may stand in the paragraph before."""

REMEMBERED = 10_000
"""Passages that are known to have been searched for numbers already."""

Anchors = Literal["given", "found"]


@dataclass(frozen=True, slots=True)
class PassageNumbers:
    """A passage with numbers of it, ascending. split: as its row said."""

    passage: Passage
    anchors: tuple[Anchor, ...]
    split: str | None = None


def format_of(stream: Stream) -> str:
    """The format that the first line shows. Raises FormatError for one that has no passages,
    and for a file without a line."""
    if not First.of(stream).text:
        raise stream.nothing()
    found, _ = recognise(stream)
    if found.name not in FORMATS:
        raise _no_passages(stream, found)
    return found.name


def _no_passages(stream: Stream, found: Format) -> FormatError:
    return stream.error(
        None,
        f"is a file of {found.name}, which holds answers, and numbers are wanted; "
        f"predict reads {', '.join(FORMATS)}",
    )


def passages(stream: Stream, format_name: str, anchors: Anchors) -> Iterator[PassageNumbers]:
    """The passages of a file that have numbers, in order.

    anchors: of labelled rows, the number that a row gives, or all that are found in its
    passage, each passage once. What a person should know of the file stands in the stream's
    warnings at the end. Raises FormatError at a row that does not hold.
    """
    maker = PassageMaker(stream, None, None)
    found = (
        PassageNumbers(
            one.passage, tuple(anchor.anchor for anchor in one.anchors), _split(one.anchors)
        )
        for one in maker.passages(_rows(stream, format_name))
    )
    if format_name in LABELLED and anchors == "found":
        return found_anew(found)
    return found


def _split(anchors: Iterable[object]) -> str | None:
    splits = {getattr(anchor, "split", None) for anchor in anchors}
    return splits.pop() if len(splits) == 1 else None


def _rows(stream: Stream, format_name: str) -> Iterator[Row]:
    if format_name == NFH.name:
        yield from nfh.read(stream)
    elif format_name == NFH_IDENT.name:
        yield from nfh.read_labels(stream)
    elif format_name == GOLD.name:
        yield from gold.read(stream)
    else:
        yield from _blocks(stream, format_name)


def _blocks(stream: Stream, format_name: str) -> Iterator[DialogBlock]:
    """Raw text in blocks, those without a number left out. Raises FormatError where none is."""
    block = None
    for block in _dialog(stream) if format_name == DIALOG.name else _text(stream):
        if may_hold_number(block.text):
            yield block
    if block is None:
        raise stream.nothing()


def found_anew(rows: Iterable[PassageNumbers]) -> Iterator[PassageNumbers]:
    """All numbers that are found in the rows' passages, each passage once."""
    known: dict[str, None] = {}
    for row in rows:
        if row.passage.digest in known:
            continue
        known[row.passage.digest] = None
        if len(known) > REMEMBERED:
            del known[next(iter(known))]
        anchors = tuple(numbers_of(row.passage, spaced_out=True))
        if anchors:
            yield PassageNumbers(row.passage, anchors, row.split)


# --- raw text -------------------------------------------------------------------------------


class _Gathering:
    """Turns on their way to a block. between: what stands between two of them."""

    def __init__(self, between: str) -> None:
        self.size = 0
        self._between = between
        self._texts: list[str] = []
        self._turns: list[DialogTurn] = []

    def add(self, line: int, text: str, speaker: str | None = None, start: int = 0) -> None:
        """A turn; its words begin at code point `start` of its text."""
        place = self.size + (len(self._between) if self._texts else 0)
        end = place + len(text)
        self._turns.append(DialogTurn(line, len(self._turns), speaker, place + start, end))
        self._texts.append(text)
        self.size = end

    def taken(self) -> Iterator[DialogBlock]:
        """The block of what was gathered, if anything was; then there is nothing."""
        if self._texts:
            yield DialogBlock(self._between.join(self._texts), tuple(self._turns))
        self._texts, self._turns, self.size = [], [], 0


def _dialog(stream: Stream) -> Iterator[DialogBlock]:
    """Blocks as `dialog.read` makes them; those that are longer than LONGEST are cut."""
    gathering = _Gathering("\n")
    doubtful = dialog.Doubtful()
    cut = 0
    for number, text in stream.lines():
        doubtful.look_at(number, text)
        if not text.strip():
            yield from gathering.taken()
            continue
        speaker, start = dialog.split_speaker(text)
        for place, (first, last) in enumerate(_pieces(text)):
            if gathering.size and gathering.size + last - first > LONGEST:
                cut += 1
                yield from gathering.taken()
            gathering.add(number, text[first:last], speaker, 0 if place else start)
    yield from gathering.taken()
    stream.warnings.extend(doubtful.warnings())
    _say_cut(stream, cut)


def _text(stream: Stream) -> Iterator[DialogBlock]:
    """Running text: an empty line ends a paragraph, each of which is a turn of nobody."""
    gathering = _Gathering("\n\n")
    cut = 0
    for number, paragraph, whole in _paragraphs(stream):
        cut += not whole
        for first, last in _pieces(paragraph):
            if gathering.size + last - first > LONGEST:
                yield from gathering.taken()
            gathering.add(number, paragraph[first:last])
        if gathering.size >= GATHERED:
            yield from gathering.taken()
    yield from gathering.taken()
    _say_cut(stream, cut)


def _paragraphs(stream: Stream) -> Iterator[tuple[int, str, bool]]:
    """Line, text, and False for a paragraph that was cut as too long."""
    lines: list[str] = []
    begun = size = 0
    for number, text in stream.lines():
        if lines and (not text.strip() or size + len(text) > LONGEST):
            yield begun, "\n".join(lines), not text.strip()
            lines, size = [], 0
        if text.strip():
            begun = begun if lines else number
            lines.append(text)
            size += len(text) + 1
    if lines:
        yield begun, "\n".join(lines), True


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Code points [start, end) of the text, or of parts of it that end where sentences do."""
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


def _say_cut(stream: Stream, cut: int) -> None:
    if cut:
        stream.warnings.append(
            f"passages of more than {LONGEST:,} characters were cut, in "
            f"{counted(cut, 'place')}, and what stands before a cut is not seen behind it: put "
            "an empty line where a scene ends"
        )


def other_format(
    place: str, format_name: str | None, options: "ImportOptions | None" = None
) -> RecognizedFile | None:
    """A file of a format that is not read as a stream; None for those that are.

    What cannot be opened is left to the stream, which says why. options: settings that were
    said, with which no file is read as a stream. Raises FormatError where the format was
    named, or a setting that the format does not know.
    """
    path = Path(place)
    if options is not None:
        return _set(place, format_name, options)
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


def _set(place: str, format_name: str | None, options: "ImportOptions") -> RecognizedFile:
    """A file that is read with settings."""
    from nfh_tui.services.imports import recognise_file

    first = next(iter(options.format_settings()))
    if place == STANDARD_INPUT:
        raise FormatError(
            STANDARD_NAME, None, f"is read without --{first}; save it to a file first"
        )
    if format_name == TEXT:
        raise FormatError(
            visible(place, 200),
            None,
            f"is read as {TEXT}, which knows no --{first}; leave it out",
        )
    return recognise_file(Path(place), format_name, options)


def passages_of(
    found: RecognizedFile, anchors: Anchors, options: "ImportOptions | None" = None
) -> Iterator[PassageNumbers]:
    """Its passages, each number once, though several rows may be of it. Raises FormatError.

    anchors: as `passages` has them; raw dialogs have only found ones.
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
        return found_anew(rows)
    return _once(rows)


def _once(rows: Iterator[PassageNumbers]) -> Iterator[PassageNumbers]:
    known: dict[tuple[str, Anchor], None] = {}
    for row in rows:
        new = [a for a in row.anchors if (row.passage.digest, a) not in known]
        known |= dict.fromkeys((row.passage.digest, anchor) for anchor in new)
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        if new:
            yield PassageNumbers(row.passage, tuple(new), row.split)
