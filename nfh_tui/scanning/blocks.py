"""Opens text files of any size, plain or gzip, cuts them into blocks, and holds the figures.

A block ends at the end of a sentence, or of a line where each line is a text; only 256 KiB
without white space are cut elsewhere. The blocks depend on the file alone, so that the figures
are the same for any number, order and place of workers.
"""

import gzip
import io
import math
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from nfh_db.formats.files import IS_POINTER, POINTER
from nfh_models.text.sentences import SEEN, sentence_ends

SIZE = 1 << 18
"""The largest block, in bytes: a few seconds of work, and many blocks for each worker."""

TAIL = 1 << 14
"""Bytes at the end of a block that are searched for its last sentence."""

ESCAPE = "surrogateescape"
"""Error handler with which bytes that are not UTF-8 survive decoding and encoding."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a file: the unpacked bytes [start, start + len(data))."""

    index: int
    """Number of the block in the file, from 0."""
    start: int
    data: bytes
    read: int
    """Bytes of the file on disk (packed) read when the block was cut; up to one block more
    than the blocks so far hold."""

    @property
    def end(self) -> int:
        """The byte after the last one."""
        return self.start + len(self.data)


def blocks(
    stream: "Reader", *, per_line: bool, index: int = 0, start: int = 0
) -> Iterator[Block]:
    """The blocks of a stream that is at byte `start`, where block `index` begins."""
    held = b""
    while True:
        if not (held := _filled(stream, held)):
            return
        size = cut(held[:SIZE], per_line=per_line) if len(held) > SIZE else len(held)
        yield Block(index, start, held[:size], stream.read_so_far)
        index, start, held = index + 1, start + size, held[size:]


def cut(window: bytes, *, per_line: bool) -> int:
    """The size of the block at the beginning of a full window: at least one byte."""
    if per_line and (line := window.rfind(b"\n")) >= 0:
        return line + 1
    if sentence := _last_sentence(window):
        return sentence
    white = max(window.rfind(sign) for sign in (b" ", b"\n", b"\t", b"\r", b"\0"))
    return white + 1 if white >= 0 else _whole_characters(window)


def _filled(stream: "Reader", held: bytes) -> bytes:
    """`held` with more of the stream: longer than a block, unless the stream ends."""
    parts, size = [held], len(held)
    while size <= SIZE:
        if not (more := stream.read(SIZE + 1 - size)):
            break
        parts.append(more)
        size += len(more)
    return b"".join(parts)


def _last_sentence(window: bytes) -> int:
    """The byte at which the last certain sentence begins; 0 if there is none in the tail.

    A boundary closer than SEEN to an end of the tail is not certain: it may depend on text
    outside the tail.
    """
    begin = max(0, len(window) - TAIL)
    while begin < len(window) and 0x80 <= window[begin] < 0xC0:
        begin += 1
    text = window[begin:].replace(b"\0", b" ").decode("utf-8", ESCAPE)
    last = 0
    for end in sentence_ends(text, 0, len(text)):
        start = end
        while start < len(text) and text[start].isspace():
            start += 1
        if start > len(text) - SEEN:
            break
        if begin == 0 or end > SEEN:
            last = start
    return begin + len(text[:last].encode("utf-8", ESCAPE)) if last else 0


def _whole_characters(window: bytes) -> int:
    """The size of the window without an incomplete UTF-8 character at its end."""
    for back in range(1, 4):
        lead = window[-back]
        if lead >= 0xC0:
            needed = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return len(window) - back if needed > back and len(window) > back else len(window)
        if lead < 0x80:
            break
    return len(window)


STANDARD_INPUT = "-"
HEAD = 1 << 16
"""Bytes at the beginning of a file that decide whether it is text."""

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_CONTROL = bytes(set(range(32)) - set(b"\0\t\n\v\f\r\b\x1b")) + b"\x7f"
_CONTROL_AT_MOST = 0.1
_FOREIGN_AT_MOST = 0.3
_NUL_AT_MOST = 0.3
"""A file is refused if a larger share of its head is control characters, bytes that are not
UTF-8 (_FOREIGN_AT_MOST), or NUL bytes."""


class UnreadableError(Exception):
    """A file is not text, or is damaged; the message says which."""


class Reader:
    """The unpacked bytes of a file, from its beginning.

    limit: bytes of the file on disk after which it ends, even if it grows in the meantime.
    """

    def __init__(self, file: BinaryIO, limit: int | None = None) -> None:
        self._file = _CountedFile(file, limit)
        self.packed = self._file.begins_with(_GZIP)
        stream = gzip.GzipFile(fileobj=self._file) if self.packed else self._file
        self._stream: gzip.GzipFile | _CountedFile = stream
        self._head = b""
        head = b""
        while len(head) < HEAD and (part := self.read(HEAD - len(head))):
            head += part
        self._head = head
        check_text(head)

    @property
    def read_so_far(self) -> int:
        """Bytes of the file on disk (packed) read so far."""
        return self._file.count - (0 if self.packed else len(self._head))

    def read(self, size: int) -> bytes:
        """At most `size` bytes. Raises UnreadableError for a damaged gzip file."""
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
            raise UnreadableError(
                f"it is a damaged gzip file: copy it again ({error})"
            ) from error

    def skip_to(self, start: int) -> None:
        """Skip the unpacked bytes before `start`; call it before the first `read`."""
        if not start:
            return
        if not self.packed:
            self._head = b""
            self._file.skip_to(start)
            return
        left = start
        while left and (part := self.read(min(left, 1 << 20))):
            left -= len(part)


class _CountedFile(io.RawIOBase):
    """A file that counts the bytes read from it."""

    def __init__(self, file: BinaryIO, limit: int | None) -> None:
        self._file = file
        self._limit = limit
        self._pushed = b""
        self.count = 0

    def begins_with(self, sign: bytes) -> bool:
        """Whether the next bytes are `sign`; `read` still returns them."""
        self._pushed = self._file.read(self._allowed(len(sign)))
        return self._pushed == sign

    def skip_to(self, start: int) -> None:
        self._pushed = b""
        self.count = self._file.seek(start)

    def read(self, size: int = -1) -> bytes:
        found, self._pushed = self._pushed, b""
        if not found:
            found = self._file.read(self._allowed(size))
        self.count += len(found)
        return found

    def _allowed(self, size: int) -> int:
        """How many of `size` bytes (-1: all) may be read before the limit; -1: all."""
        if self._limit is None:
            return size
        left = max(0, self._limit - self.count)
        return left if size < 0 else min(size, left)

    def readable(self) -> bool:
        return True


@contextmanager
def opened(name: str, limit: int | None = None) -> Iterator[Reader]:
    """Open the file of a path, or standard input for "-"; limit: see `Reader`.

    Raises OSError for a file that cannot be read, UnreadableError for one that is not text.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise UnreadableError("standard input is closed")
        yield Reader(sys.stdin.buffer)
        return
    with Path(name).open("rb") as file:
        yield Reader(file, limit)


def device_and_inode(name: str) -> tuple[int, int] | None:
    """Identify the file of a path, whatever its name; None if it is not a regular file."""
    try:
        status = Path(name).stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def distinct(names: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The names of different files, and pairs (repeated name, name that is kept)."""
    known: dict[tuple[int, int], str] = {}
    kept, repeated = [], []
    for name in dict.fromkeys(names):
        file = None if name == STANDARD_INPUT else device_and_inode(name)
        if file is not None and file in known:
            repeated.append((name, known[file]))
        else:
            kept.append(name)
            if file is not None:
                known[file] = name
    return kept, repeated


def check_text(head: bytes) -> None:
    """Raise UnreadableError unless `head` can be the beginning of a UTF-8 text."""
    if POINTER.match(head):
        raise UnreadableError(f"it {IS_POINTER}")
    encoding = "UTF-32" if head[:4] in _UTF32 else "UTF-16"
    if encoding == "UTF-32" or head[:2] in _UTF16 or _looks_like_utf16(head):
        raise UnreadableError(
            f"it is {encoding}, and UTF-8 is read here: `iconv -f {encoding} -t UTF-8 FILE > "
            "FILE.utf8` converts it"
        )
    if not head:
        return
    control = len(head) - len(head.translate(None, _CONTROL))
    text = head.decode("utf-8", "ignore")
    foreign = len(head) - len(text.encode("utf-8"))
    nul = head.count(0)
    # A text in an older encoding has bytes that are not UTF-8, but no control characters. In
    # English such bytes are few and do no harm.
    if control > _CONTROL_AT_MOST * len(head) or nul > _NUL_AT_MOST * len(head):
        raise UnreadableError("it is not text: too much of its beginning is control characters")
    if foreign > _FOREIGN_AT_MOST * len(head):
        raise UnreadableError(
            "it is not UTF-8 text: too much of its beginning is something else. If it is "
            "text, `iconv -f ENCODING -t UTF-8 FILE > FILE.utf8` converts it"
        )


def _looks_like_utf16(head: bytes) -> bool:
    """Whether every other byte is NUL, as in English UTF-16 without a byte order mark."""
    even, odd = head[0::2], head[1::2]
    if len(odd) < 8:
        return False
    full, empty = (even, odd) if even.count(0) < odd.count(0) else (odd, even)
    return empty.count(0) > 0.7 * len(empty) and full.count(0) < 0.1 * len(full)


ANCHORS_KEPT = 20_000
"""Distinct numbers that are counted separately, which bounds the memory. Numbers met after
these are summed up in `rest`; the common ones are met early."""

LONGEST_ANCHOR = 60
"""Characters of a number that is counted separately; a longer one is cut."""

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(slots=True)
class Count:
    """Counts of numbers."""

    numbers: int = 0
    nfh: int = 0
    """How many of the numbers are fused heads."""

    def add(self, other: "Count") -> None:
        """Add to both counts."""
        self.numbers += other.numbers
        self.nfh += other.nfh


@dataclass(slots=True)
class TextFigures:
    """The figures of a text. Stored in checkpoints and sent by workers: fields keep names."""

    bytes: int = 0
    """Unpacked."""
    words: int = 0
    """Separated by white space."""
    sentences: int = 0
    sentences_with_number: int = 0
    undecodable: int = 0
    """Places that are not UTF-8."""
    nul: int = 0
    total: Count = field(default_factory=Count)
    anchors: dict[str, Count] = field(default_factory=dict)
    """By the words of the number in lower case."""
    rest: Count = field(default_factory=Count)
    """Numbers that are not counted separately, see ANCHORS_KEPT."""
    rules: dict[str, Count] = field(default_factory=dict)
    """By the rule that decided."""

    def count(self, words: str, rule: str, *, nfh: bool) -> None:
        """Count one number."""
        one = Count(1, int(nfh))
        self.total.add(one)
        words = words.lower()
        if len(words) > LONGEST_ANCHOR:
            words = f"{words[: LONGEST_ANCHOR - 1]}…"
        self._anchor(words).add(one)
        self.rules.setdefault(rule, Count()).add(one)

    def add(self, other: "TextFigures") -> None:
        """Add the figures of the text that follows. The order matters, see ANCHORS_KEPT."""
        self.bytes += other.bytes
        self.words += other.words
        self.sentences += other.sentences
        self.sentences_with_number += other.sentences_with_number
        self.undecodable += other.undecodable
        self.nul += other.nul
        self.total.add(other.total)
        self.rest.add(other.rest)
        for words, count in other.anchors.items():
            self._anchor(words).add(count)
        for rule, count in other.rules.items():
            self.rules.setdefault(rule, Count()).add(count)

    def common(self, most: int) -> Iterator[tuple[str, Count]]:
        """At most `most` anchors with their counts, those with the most fused heads first."""
        found = [item for item in self.anchors.items() if item[1].nfh]
        found.sort(key=lambda item: (-item[1].nfh, -item[1].numbers, item[0]))
        yield from found[:most]

    def _anchor(self, words: str) -> Count:
        if (known := self.anchors.get(words)) is None:
            if len(self.anchors) >= ANCHORS_KEPT:
                return self.rest
            known = self.anchors[words] = Count()
        return known


def wilson(count: Count) -> tuple[float, float] | None:
    """The 95 % score interval of the share of fused heads; None without numbers.

    Wilson 1927, Journal of the American Statistical Association 22, 209-212. The method
    assumes independent draws; the numbers of one text are only nearly independent.
    """
    if not (n := count.numbers):
        return None
    share, square = count.nfh / n, Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
