"""Text files opened: plain or gzip, looked at before they are read."""

import gzip
import io
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

STANDARD_INPUT = "-"
HEAD = 1 << 16
"""Bytes at the beginning that tell what a file is."""

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_CONTROL = bytes(set(range(32)) - set(b"\0\t\n\v\f\r\b\x1b")) + b"\x7f"
_CONTROL_AT_MOST = 0.1
_FOREIGN_AT_MOST = 0.3
_NUL_AT_MOST = 0.3
"""Shares of control characters, of bytes that are no UTF-8 and of NUL bytes at the beginning,
beyond which a file is refused."""


class UnreadableError(Exception):
    """A file that is no text, or ends where it should not; the sentence says which."""


class Reader:
    """A file's bytes, unpacked, from its beginning.

    limit: bytes of the file itself, packed, at which it ends, though it may grow meanwhile.
    """

    def __init__(self, file: BinaryIO, limit: int | None = None) -> None:
        self._file = _Counted(file, limit)
        self.packed = self._file.begins_with(_GZIP)
        stream = gzip.GzipFile(fileobj=self._file) if self.packed else self._file
        self._stream: gzip.GzipFile | _Counted = stream
        self._head = b""
        self._head = self._read_head()
        check_text(self._head)

    @property
    def read_so_far(self) -> int:
        """Bytes of the file itself that were read."""
        return self._file.count - (0 if self.packed else len(self._head))

    def read(self, size: int) -> bytes:
        """Up to so many bytes. Raises UnreadableError for a gzip file that is damaged."""
        if self._head:
            found, self._head = self._head[:size], self._head[size:]
            return found
        try:
            return self._stream.read(size)
        except EOFError as error:
            raise UnreadableError(
                "it is a gzip file that ends too early: copy it again"
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableError(f"it is a damaged gzip file ({error})") from error

    def go_to(self, start: int) -> None:
        """Leave out what stands before byte `start`; called before anything is read."""
        if not start:
            return
        if not self.packed:
            self._head = b""
            self._file.go_to(start)
            return
        left = start
        while left and (part := self.read(min(left, 1 << 20))):
            left -= len(part)

    def _read_head(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        while size < HEAD and (part := self.read(HEAD - size)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)


class _Counted(io.RawIOBase):
    """A file that counts the bytes read from it, and can be looked at before."""

    def __init__(self, file: BinaryIO, limit: int | None) -> None:
        self._file = file
        self._limit = limit
        self._pushed = b""
        self.count = 0

    def begins_with(self, sign: bytes) -> bool:
        """Whether the next bytes are these."""
        self._pushed = self._file.read(self._left(len(sign)))
        return self._pushed == sign

    def go_to(self, start: int) -> None:
        """Read on from byte `start`."""
        self._pushed = b""
        self.count = self._file.seek(start)

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes."""
        found, self._pushed = self._pushed, b""
        if not found:
            found = self._file.read(self._left(size))
        self.count += len(found)
        return found

    def _left(self, size: int) -> int:
        """How much of so many bytes may be read; -1 for all there is."""
        if self._limit is None:
            return size
        left = max(0, self._limit - self.count)
        return left if size < 0 else min(size, left)

    def readable(self) -> bool:
        """It is."""
        return True


@contextmanager
def opened(name: str, limit: int | None = None) -> Iterator[Reader]:
    """A file by its path, or standard input for "-"; limit: see `Reader`.

    Raises OSError for one that cannot be read, UnreadableError for what is no text.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise UnreadableError("standard input is closed")
        yield Reader(sys.stdin.buffer)
        return
    with Path(name).open("rb") as file:
        yield Reader(file, limit)


def place_of(name: str) -> tuple[int, int] | None:
    """Which file a path leads to, by whatever name; None for what is no regular file."""
    try:
        status = Path(name).stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def distinct(names: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Names of different files, and the pairs (left out, the same as) of the others."""
    known: dict[tuple[int, int], str] = {}
    left, twice = [], []
    for name in dict.fromkeys(names):
        place = None if name == STANDARD_INPUT else place_of(name)
        if place is not None and place in known:
            twice.append((name, known[place]))
        else:
            left.append(name)
            if place is not None:
                known[place] = name
    return left, twice


def check_text(head: bytes) -> None:
    """Raise UnreadableError unless this may be the beginning of a text."""
    encoding = "UTF-32" if head[:4] in _UTF32 else "UTF-16"
    if encoding == "UTF-32" or head[:2] in _UTF16 or _looks_like_utf16(head):
        raise UnreadableError(
            f"it is {encoding}, and UTF-8 is read here: "
            f"`iconv -f {encoding} -t UTF-8 FILE > FILE.utf8` makes it so"
        )
    if not head:
        return
    control = len(head) - len(head.translate(None, _CONTROL))
    text = head.decode("utf-8", "ignore")
    foreign = len(head) - len(text.encode("utf-8"))
    nul = head.count(0)
    # Text in an older encoding has letters that are no UTF-8, but no control characters: a
    # few of the former do no harm where the text is English.
    if control > _CONTROL_AT_MOST * len(head) or nul > _NUL_AT_MOST * len(head):
        raise UnreadableError("it is no text: too much of its beginning is control characters")
    if foreign > _FOREIGN_AT_MOST * len(head):
        raise UnreadableError(
            "it is no text in UTF-8: too much of its beginning is something else. If it is "
            "text, `iconv -f ENCODING -t UTF-8 FILE > FILE.utf8` makes it readable"
        )


def _looks_like_utf16(head: bytes) -> bool:
    """Whether every other byte is NUL, as in English text without a byte order mark."""
    even, odd = head[0::2], head[1::2]
    if len(odd) < 8:
        return False
    full, empty = (even, odd) if even.count(0) < odd.count(0) else (odd, even)
    return empty.count(0) > 0.7 * len(empty) and full.count(0) < 0.1 * len(full)
