"""Files of word vectors, read as a stream: word2vec's two forms, and GloVe's.

A line of text is a word and its numbers, with a space between. word2vec begins with a line
"WORDS WIDTH", GloVe does not; word2vec's binary form has that line, too, and then each word,
a space, and its numbers as 32-bit floats. The form is told by the content, and ".gz" by the
name. A reader of one's own, because no library at hand reads them without keeping all of a
file, which may be 3.4 GB of words that nobody asks for.
https://code.google.com/archive/p/word2vec/ (distance.c), https://nlp.stanford.edu/projects/glove/
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from nfh_models.bilstm.words import Floats
from nfh_models.errors import ModelsError

LONGEST_LINE = 1_000_000
LONGEST_WORD = 10_000
"""Bytes; Google News has words of 98."""

WIDEST = 4_096
CHUNK = 1 << 20


class VectorError(ModelsError):
    """Word vectors that are not there, or cannot be read; says where, and what to do."""


def read_vector_file(path: Path, wanted: set[str], extra: int) -> Iterator[tuple[str, Floats]]:
    """The words of a file that are wanted, and its first `extra` words, with their vectors.

    Raises VectorError with the line, or in the binary form the word, where the file does not
    hold.
    """
    try:
        with _opened(path) as file:
            yield from _entries(file, path, wanted, extra)
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) else None
        raise VectorError(f"{path} cannot be read: {said or error}") from error


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    return path.open("rb")


def _entries(
    file: BinaryIO, path: Path, wanted: set[str], extra: int
) -> Iterator[tuple[str, Floats]]:
    first = file.readline(LONGEST_LINE)
    if not first.strip():
        raise VectorError(f"{path} holds no word vectors: its first line is empty")
    header = _header(first)
    if header is None:
        yield from _text(file, path, first, _width(first, path), wanted, extra)
        return
    width = header[1]
    if not 1 <= width <= WIDEST:
        raise VectorError(
            f"{path}, line 1: vectors of {width:,} numbers; wanted 1 to {WIDEST:,}"
        )
    head = file.read(CHUNK)
    if _is_text(head, width):
        file.seek(len(first))
        yield from _text(file, path, b"", width, wanted, extra)
    else:
        yield from _binary(file, path, head, header, wanted, extra)


def _header(line: bytes) -> tuple[int, int] | None:
    """The words and the width that word2vec's first line gives; None where it is no such."""
    parts = line.split()
    if len(parts) == 2 and all(part.isdigit() and len(part) < 20 for part in parts):
        return int(parts[0]), int(parts[1])
    return None


def _width(line: bytes, path: Path) -> int:
    width = len(line.split()) - 1
    if not 1 <= width <= WIDEST or _numbers(line.split()[1:]) is None:
        raise VectorError(
            f"{path}, line 1: wanted a word and its numbers, or word2vec's number of words and "
            "of numbers a word"
        )
    return width


def _is_text(head: bytes, width: int) -> bool:
    """Whether what follows the header is a line of text: a word and `width` numbers."""
    line, _, _ = head.partition(b"\n")
    parts = line.split()
    return len(parts) > width and _numbers(parts[-width:]) is not None


def _numbers(parts: list[bytes]) -> Floats | None:
    try:
        found = np.array([float(part) for part in parts], np.float32)
    except (ValueError, OverflowError):
        return None
    return found if np.isfinite(found).all() else None


# --- text -----------------------------------------------------------------------------------


def _text(
    file: BinaryIO, path: Path, first: bytes, width: int, wanted: set[str], extra: int
) -> Iterator[tuple[str, Floats]]:
    """first: the line that was read already, b"" where it was the header."""
    number = 0 if first else 1
    taken = 0
    while line := first or file.readline(LONGEST_LINE):
        first = b""
        number += 1
        parts = line.rstrip().split(b" ")
        if not line.strip():
            continue
        if len(parts) <= width:
            raise VectorError(
                f"{path}, line {number:,}: {len(parts) - 1:,} numbers, wanted {width:,}. The "
                "file may be cut short"
            )
        # A few words of GloVe hold spaces themselves.
        word = b" ".join(parts[:-width]).decode("utf-8", "replace")
        if word in wanted or taken < extra:
            numbers = _numbers(parts[-width:])
            if numbers is None:
                raise VectorError(
                    f"{path}, line {number:,}: what follows the word is no number"
                )
            taken += 1
            yield word, numbers


# --- binary ---------------------------------------------------------------------------------


class _Bytes:
    """A stream of which a piece is held, so that words can be looked for in it."""

    def __init__(self, file: BinaryIO, held: bytes) -> None:
        self._file, self._held, self._at = file, held, 0

    def _more(self) -> bool:
        found = self._file.read(CHUNK)
        self._held = self._held[self._at :] + found
        self._at = 0
        return bool(found)

    def until_space(self) -> bytes | None:
        """What stands before the next space; None where none comes, or not soon."""
        while (end := self._held.find(b" ", self._at)) < 0:
            if len(self._held) - self._at > LONGEST_WORD or not self._more():
                return None
        found = self._held[self._at : end]
        self._at = end + 1
        return found

    def take(self, size: int) -> bytes | None:
        """So many bytes; None where there are less."""
        while len(self._held) - self._at < size:
            if not self._more():
                return None
        found = self._held[self._at : self._at + size]
        self._at += size
        return found


def _binary(
    file: BinaryIO,
    path: Path,
    head: bytes,
    header: tuple[int, int],
    wanted: set[str],
    extra: int,
) -> Iterator[tuple[str, Floats]]:
    words, width = header
    stream = _Bytes(file, head)
    for number in range(1, words + 1):
        spelled = stream.until_space()
        packed = None if spelled is None else stream.take(4 * width)
        if spelled is None or packed is None or len(spelled) > LONGEST_WORD:
            raise VectorError(
                f"{path} ends, or is no file of word2vec, in word {number:,} of {words:,}. "
                "Copy or download it again"
            )
        word = spelled.lstrip(b"\n").decode("utf-8", "replace")
        if word in wanted or number <= extra:
            numbers = np.frombuffer(packed, "<f4").astype(np.float32)
            if not np.isfinite(numbers).all():
                raise VectorError(
                    f"{path}, word {number:,}, {word[:60]!r}: its vector holds what is no "
                    "finite number"
                )
            yield word, numbers
