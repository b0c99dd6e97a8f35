"""Text files of any size opened, plain or gzip, cut into blocks that depend on nothing but
what stands in them, and counted block by block.

A block ends where a sentence, or with one text a line a line, ends; only a stretch of 256 KiB
without white space is cut anywhere. Who scans the blocks, in what order and on how many
machines, makes no difference to them.
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
from typing import BinaryIO, Protocol

from nfh_models.text.sentences import SEEN, sentence_ends

SIZE = 1 << 18
"""The most bytes of a block: some seconds of work at worst, and many blocks for a machine."""

TAIL = 1 << 14
"""Bytes at the end of a block in which its last sentence is looked for."""

ESCAPE = "surrogateescape"
"""Reads bytes that are no UTF-8, and gives the same bytes back."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a file: bytes [start, start + len(data)) of what it holds unpacked.

    index: its place among the blocks. read: bytes of the file itself, packed as it is, that
    were read by then; up to a block more than were used.
    """

    index: int
    start: int
    data: bytes
    read: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + len(self.data)


class Readable(Protocol):
    """Something that bytes are read from. read_so_far: bytes of the file itself, packed."""

    def read(self, size: int) -> bytes:
        """Up to so many bytes; none at the end."""
        ...

    @property
    def read_so_far(self) -> int:
        """Bytes of the file itself, packed as it is."""
        ...


def blocks(
    stream: Readable, *, per_line: bool, index: int = 0, start: int = 0
) -> Iterator[Block]:
    """The blocks of a stream that stands at byte `start`, where block `index` begins."""
    held = b""
    while True:
        held = _filled(stream, held)
        if not held:
            return
        size = cut(held[:SIZE], per_line=per_line) if len(held) > SIZE else len(held)
        yield Block(index, start, held[:size], stream.read_so_far)
        index, start, held = index + 1, start + size, held[size:]


def cut(window: bytes, *, per_line: bool) -> int:
    """How many bytes of a full window are a block; at least one."""
    if per_line and (line := window.rfind(b"\n")) >= 0:
        return line + 1
    from_sentence = _last_sentence(window)
    if from_sentence:
        return from_sentence
    white = max(window.rfind(sign) for sign in (b" ", b"\n", b"\t", b"\r", b"\0"))
    return white + 1 if white >= 0 else _whole_characters(window)


def _filled(stream: Readable, held: bytes) -> bytes:
    """More than a block, or all there is."""
    parts, size = [held], len(held)
    while size <= SIZE:
        more = stream.read(SIZE + 1 - size)
        if not more:
            break
        parts.append(more)
        size += len(more)
    return b"".join(parts)


def _last_sentence(window: bytes) -> int:
    """Where the last sentence begins that surely begins there; 0 if none can be seen.

    What stands behind the window is not known, nor what stands before the part of it that
    is looked at: an end of a sentence beside either is left.
    """
    begin = max(0, len(window) - TAIL)
    while begin < len(window) and 0x80 <= window[begin] < 0xC0:
        begin += 1
    text = window[begin:].replace(b"\0", b" ").decode("utf-8", ESCAPE)
    last = 0
    for behind in sentence_ends(text, 0, len(text)):
        start = _without_space(text, behind)
        if start > len(text) - SEEN:
            break
        if begin == 0 or behind > SEEN:
            last = start
    return begin + len(text[:last].encode("utf-8", ESCAPE)) if last else 0


def _without_space(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _whole_characters(window: bytes) -> int:
    """The size without a character that the end would tear."""
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


ANCHORS_KEPT = 20_000
"""Distinct numbers that are counted apart. Texts without end hold numbers without end: of
those met when so many are known, only the sum is kept. What is common is met early."""

LONGEST_ANCHOR = 60
"""Characters of a number that is counted apart; a longer one is cut."""

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


@dataclass(slots=True)
class Count:
    """Numbers, and how many of them are fused heads."""

    numbers: int = 0
    nfh: int = 0

    def add(self, other: "Count") -> None:
        """Count these, too."""
        self.numbers += other.numbers
        self.nfh += other.nfh


@dataclass(slots=True)
class TextFigures:
    """The figures of a text. bytes: unpacked. words: what stands between white space.

    undecodable: places that are no UTF-8. anchors: by the number's words in small letters.
    rest: numbers that are not counted apart, see `ANCHORS_KEPT`. rules: by what decided.
    """

    bytes: int = 0
    words: int = 0
    sentences: int = 0
    sentences_with_number: int = 0
    undecodable: int = 0
    nul: int = 0
    total: Count = field(default_factory=Count)
    anchors: dict[str, Count] = field(default_factory=dict)
    rest: Count = field(default_factory=Count)
    rules: dict[str, Count] = field(default_factory=dict)

    def count(self, words: str, rule: str, *, nfh: bool) -> None:
        """Count one number."""
        one = Count(1, int(nfh))
        self.total.add(one)
        self._anchor(_shortened(words.lower())).add(one)
        self.rules.setdefault(rule, Count()).add(one)

    def add(self, other: "TextFigures") -> None:
        """Count what stands behind this text, too. The order matters, see `ANCHORS_KEPT`."""
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
        """The anchors with the most fused heads, most first."""
        found = [item for item in self.anchors.items() if item[1].nfh]
        found.sort(key=lambda item: (-item[1].nfh, -item[1].numbers, item[0]))
        yield from found[:most]

    def _anchor(self, words: str) -> Count:
        known = self.anchors.get(words)
        if known is None:
            if len(self.anchors) >= ANCHORS_KEPT:
                return self.rest
            known = self.anchors[words] = Count()
        return known


def wilson(count: Count) -> tuple[float, float] | None:
    """The 95 % score interval of the share of fused heads; None where there is no number.

    Wilson 1927, Journal of the American Statistical Association 22, 209-212. It takes
    numbers for independent draws; those of one text are not quite.
    """
    n = count.numbers
    if not n:
        return None
    share, square = count.nfh / n, Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST_ANCHOR else f"{words[: LONGEST_ANCHOR - 1]}…"
