"""Files of any size cut into blocks that depend on nothing but what stands in them.

A block ends where a sentence, or with one text a line a line, ends; only a stretch of 256 KiB
without white space is cut anywhere. Who scans the blocks, in what order and on how many
machines, makes no difference to them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

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
