"""Words made fit for a parser: long stretches cut, words without a visible character shown.

Neural parsers need memory that grows with a sentence's length, some with its square, and trip
over words of nothing but white space or control characters. What they get is cut and cleaned
here; what they say is put back on the words as they came.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfh_models.parsing.stretch import Stretch

LONGEST_WORD = 100
"""Characters of a word that a parser gets to see; what is longer is no word."""

STAND_IN = "_"
"""What a parser sees instead of a word without a visible character."""

_ENDS = (frozenset({".", "!", "?", "..."}), frozenset({";", ":", "-", "--"}), frozenset({","}))
"""Where a long stretch is rather cut, the best first: behind a sentence, a clause, a comma."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens [start, end) of the stretch with this number, counted from 0."""

    stretch: int
    start: int
    end: int
    words: Sequence[str]


def shown(word: str) -> str:
    """A word as a parser may see it: printable, neither empty nor endless.

    White space at its ends and control characters (NUL among them) are left out.
    """
    if word.isprintable() and 0 < len(word) <= LONGEST_WORD and not word.isspace():
        return word
    seen = "".join(filter(str.isprintable, word[: 2 * LONGEST_WORD])).strip()
    return seen[:LONGEST_WORD] or STAND_IN


def cut(words: Sequence[str], longest: int) -> Iterator[tuple[int, int]]:
    """Token spans [start, end) of at most `longest` tokens that cover the words, in order.

    A cut is made behind a mark in the later half of a piece if there is one, behind a full
    stop rather than a comma; else where the piece is full.
    """
    start = 0
    while len(words) - start > longest:
        end = _cut_after(words, start, start + longest)
        yield start, end
        start = end
    if start < len(words):
        yield start, len(words)


def _cut_after(words: Sequence[str], start: int, limit: int) -> int:
    for marks in _ENDS:
        for place in range(limit - 1, (start + limit - 1) // 2, -1):
            if words[place] in marks:
                return place + 1
    return limit


def groups(pieces: Iterable[Piece], size: int) -> Iterator[list[Piece]]:
    """Pieces in order, in groups of at most `size` tokens (or of one piece)."""
    held: list[Piece] = []
    tokens = 0
    for piece in pieces:
        if held and tokens + len(piece.words) > size:
            yield held
            held, tokens = [], 0
        held.append(piece)
        tokens += len(piece.words)
    if held:
        yield held


def batches(
    stretches: Iterable[Stretch], longest: int, size: int
) -> Iterator[tuple[list[Stretch], list[Piece]]]:
    """Stretches in order, with their pieces, in batches.

    longest: tokens in a piece; size: tokens in a batch, after which no other stretch is added.
    An empty stretch has no piece. A stretch is in one batch with all of its pieces.
    """
    waiting: list[Stretch] = []
    pieces: list[Piece] = []
    held = 0
    for stretch in stretches:
        words = [shown(word) for word in stretch.words]
        for start, end in cut(words, longest):
            pieces.append(Piece(len(waiting), start, end, words[start:end]))
        waiting.append(stretch)
        held += len(words) + 1
        if held >= size:
            yield waiting, pieces
            waiting, pieces, held = [], [], 0
    if waiting:
        yield waiting, pieces
