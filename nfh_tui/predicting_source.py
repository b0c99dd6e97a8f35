"""A file or standard input read once, line by line, as the formats' readers want it."""

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from nfh_db.errors import FormatError
from nfh_db.formats.reading import HEAD, Source, wide_encoding
from nfh_db.formats.wording import visible

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
