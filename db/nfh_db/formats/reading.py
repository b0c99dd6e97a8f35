"""Reading text files safely: checked first, then line by line in constant memory.

A file is read twice. The first pass hashes it and refuses what is no text; the second
yields its lines. Lines end at "\n" or "\r\n" and nowhere else.
"""

import codecs
import hashlib
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from nfh_db.errors import FormatError
from nfh_db.formats.wording import visible

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes that one line may have, its end included."""

CHUNK = 1 << 20
HEAD = 4096
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
JSON_START = re.compile(rb'\s*[\[{]\s*["{]')
"""How a line of JSON starts, of which all formats are UTF-8."""

NO_LINE_YET = "holds nothing but white space; wanted at least one row"


class Origin:
    """What is being read. warnings: sentences that the reader wants said at the end.

    sha256: hex, of all its bytes.
    """

    sha256: str

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = visible(str(path), limit=200)
        self.warnings: list[str] = []

    def error(self, line: int | None, message: str) -> FormatError:
        """The refusal of this file at `line`, which counts from 1."""
        return FormatError(self.name, line, message)

    def unreadable(self, error: OSError) -> FormatError:
        """The refusal of a file that the system does not give."""
        reasons: dict[type[OSError], str] = {
            FileNotFoundError: "there is no such file",
            NotADirectoryError: "there is no such file",
            PermissionError: "may not be read: permission denied",
        }
        reason = reasons.get(type(error)) or f"cannot be read: {error.strerror or error}"
        return self.error(None, reason)


class Source(Origin):
    """A text file being read, in UTF-8 or in the encoding that somebody named.

    Making one raises FormatError if the file is missing, cannot be read, is empty, or is no
    text as far as NUL bytes tell. encodable: whether its format is read in other encodings,
    None while the format is not known; refusals recommend nothing that would be refused.
    """

    encodable: bool | None = None

    def __init__(
        self, path: Path, encoding: str | None = None, encodable: bool | None = None
    ) -> None:
        super().__init__(path)
        self.encoding = encoding
        self.encodable = encodable
        self.sha256 = self._inspect()

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, without its end. A byte-order mark is left out.

        Raises FormatError for a line over LINE_LIMIT, for bytes that are no text in the
        file's encoding, and at the end if the file changed since it was inspected.
        """
        if self.encoding is not None:
            yield from self._encoded_lines(self.encoding)
            return
        seen = hashlib.sha256()
        try:
            with self.path.open("rb", buffering=CHUNK) as file:
                for number, raw in enumerate(self._raw_lines(file), 1):
                    seen.update(raw)
                    yield number, self._decode(number, raw)
        except OSError as error:
            raise self.unreadable(error) from error
        if seen.hexdigest() != self.sha256:
            raise self.error(None, "changed while it was read; import it again")

    def rows(self) -> Iterator[tuple[int, str]]:
        """The lines of a file of rows: empty lines are accepted at its end only.

        Raises FormatError also where the file holds no row at all.
        """
        empty: int | None = None
        any_row = False
        for number, text in self.lines():
            if not text.strip():
                empty = empty or number
                continue
            if empty is not None:
                raise self.error(empty, "the line is empty; wanted one row on each line")
            any_row = True
            yield number, text
        if not any_row:
            raise self.error(None, NO_LINE_YET)

    def first_row(self) -> str:
        """The first line that is not empty; "" if there is none."""
        return next((text for _, text in self.lines() if text.strip()), "")

    def start(self, size: int) -> str:
        """The text of the first `size` bytes, whatever of it can be read."""
        try:
            with self.path.open("rb") as file:
                raw = file.read(size).removeprefix(BYTE_ORDER_MARK)
        except OSError as error:
            raise self.unreadable(error) from error
        return raw.decode(self.encoding or "utf-8", "replace")

    def _encoded_lines(self, encoding: str) -> Iterator[tuple[int, str]]:
        """The lines of a file in another encoding, ends and mark as `lines` has them."""
        number = 0
        try:
            with self._text(encoding) as file:
                while text := file.readline(LINE_LIMIT + 1):
                    number += 1
                    if len(text) > LINE_LIMIT:
                        raise self.error(
                            number, f"the line is longer than {LINE_LIMIT:,} characters"
                        )
                    if "\0" in text:
                        raise self.error(
                            number, f"is no text in {encoding}: it holds NUL characters"
                        )
                    yield number, _ended(text.removeprefix("\ufeff") if number == 1 else text)
        except UnicodeError as error:
            raise self._misread(encoding, error) from error
        except OSError as error:
            raise self.unreadable(error) from error

    def _misread(self, encoding: str, error: UnicodeError) -> FormatError:
        """The refusal of a file that is not in an encoding, with the line where that shows."""
        line = 1
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            with self._bytes() as file:
                while some := file.read(CHUNK):
                    before = decoder.getstate()
                    try:
                        line += decoder.decode(some).count("\n")
                    except UnicodeError:
                        decoder.setstate(before)
                        for place in range(len(some)):
                            line += decoder.decode(some[place : place + 1]).count("\n")
        except UnicodeError:
            pass
        reason = getattr(error, "reason", None) or str(error)
        return self.error(
            line, f"is no text in {encoding} ({reason}); name its encoding with --encoding"
        )

    def _bytes(self) -> IO[bytes]:
        return self.path.open("rb")

    def _text(self, encoding: str) -> IO[str]:
        return self.path.open(encoding=encoding, newline="\n")

    def _raw_lines(self, file: IO[bytes]) -> Iterator[bytes]:
        number = 1
        while raw := file.readline(LINE_LIMIT + 1):
            if len(raw) > LINE_LIMIT:
                raise self.error(
                    number,
                    f"the line is {self._line_size(file, raw):,} bytes long; "
                    f"wanted at most {LINE_LIMIT:,}",
                )
            yield raw
            number += 1

    @staticmethod
    def _line_size(file: IO[bytes], raw: bytes) -> int:
        size = len(raw)
        while not raw.endswith(b"\n") and (raw := file.readline(CHUNK)):
            size += len(raw)
        return size

    def _decode(self, number: int, raw: bytes) -> str:
        if number == 1:
            raw = raw.removeprefix(BYTE_ORDER_MARK)
        try:
            return _ended(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            hint = ", or name its encoding with --encoding" if self._encodable(raw) else ""
            raise self.error(
                number,
                f"byte {error.start + 1} of the line (0x{raw[error.start]:02X}) is not "
                f"UTF-8; save the file as UTF-8{hint}",
            ) from error

    def _encodable(self, raw: bytes) -> bool:
        """Whether --encoding would help: as the format says, else as the bytes look."""
        return JSON_START.match(raw) is None if self.encodable is None else self.encodable

    def _inspect(self) -> str:
        """The first pass: refuse what is no text file, and hash it."""
        digest = hashlib.sha256()
        try:
            self._check_kind()
            with self.path.open("rb") as file:
                start = file.read(CHUNK)
                self._check_start(start)
                at = 0
                while start:
                    self._check_chunk(start, at)
                    digest.update(start)
                    at += len(start)
                    start = file.read(CHUNK)
        except OSError as error:
            raise self.unreadable(error) from error
        return digest.hexdigest()

    def _check_kind(self) -> None:
        mode = self.path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise self.error(None, "is a folder; name the files in it")
        if not stat.S_ISREG(mode):
            # A pipe could be read only once, and opening one may wait for ever.
            raise self.error(None, "is no regular file; save its content to a file first")

    def _check_start(self, start: bytes) -> None:
        if not start.removeprefix(BYTE_ORDER_MARK):
            raise self.error(None, "is empty")
        if start.count(b"\r") > 1 and b"\n" not in start:
            raise self.error(
                None,
                "has lines that end in carriage returns alone, as on old Macs, which is no end "
                "of a line here; save it with line feeds",
            )
        if self.encoding is not None:
            return
        encoding = wide_encoding(start[:HEAD])
        if encoding:
            codec = _codec(start, encoding)
            begins = start[:HEAD].decode(codec, "replace").lstrip("\ufeff").encode("utf-8")
            hint = f", or read it with --encoding {codec}" if self._encodable(begins) else ""
            raise self.error(None, f"is {encoding} text; save it as UTF-8{hint}")

    def _check_chunk(self, chunk: bytes, at: int) -> None:
        if self.encoding is not None:
            return
        place = chunk.find(b"\0")
        if place >= 0:
            raise self.error(
                None,
                f"is a binary file (NUL at byte {at + place + 1:,}); wanted UTF-8 text",
            )


def _ended(text: str) -> str:
    """A line without its end."""
    if text.endswith("\n"):
        return text[:-2] if text.endswith("\r\n") else text[:-1]
    return text


def _codec(start: bytes, encoding: str) -> str:
    """What Python calls a wide encoding: without a mark, by where the zeros of ASCII stand."""
    if any(start.startswith(mark) for mark, _ in WIDE_MARKS):
        return encoding.lower()
    return "utf-16-be" if start[:HEAD:2].count(0) > start[1:HEAD:2].count(0) else "utf-16-le"


def wide_encoding(start: bytes) -> str | None:
    """The name of the wide encoding that the first bytes of a file show, if any."""
    for mark, name in WIDE_MARKS:
        if start.startswith(mark):
            return name
    # Without a mark: text of mostly ASCII has a NUL in every other byte.
    half = len(start) // 2
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if half >= 2 and max(even, odd) > 0.7 * half and min(even, odd) < 0.1 * half:
        return "UTF-16"
    return None
