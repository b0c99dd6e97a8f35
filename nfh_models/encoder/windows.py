"""The words that are read for an anchor: a window of its passage, and what stands where.

suggest: every word of the window but the anchor's own, and the six classes, are candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.domain import Anchor, Passage
from nfh_models.identification.case import Case
from nfh_models.text.plain_words import plain_words


@dataclass(frozen=True, slots=True)
class Window:
    """Words [offset, offset + len(words)) of a passage, around an anchor.

    words: stand-ins for quotes and brackets made the signs. turns: the turn of each word,
    counted from the anchor's (-1: the one before it). same: whether the anchor's speaker says
    it. start, end: the anchor, counted inside the window.
    """

    words: Sequence[str]
    turns: Sequence[int]
    same: Sequence[bool]
    start: int
    end: int
    offset: int


def bounds(total: int, start: int, end: int, size: int, before: float) -> tuple[int, int]:
    """Words [first, last) of `total` that a window of `size` words holds.

    before: the share of its room that stands before the anchor; what one side does not need
    the other gets. Of an anchor longer than the window the first words are in it.
    """
    if total <= size:
        return 0, total
    room = max(0, size - (end - start))
    first = max(0, start - int(room * before))
    last = min(total, first + size)
    return max(0, last - size), last


def window_of(passage: Passage, anchor: Anchor, size: int, before: float) -> Window:
    """The window of an anchor. Raises PassageError for an anchor outside the passage.

    Turns are ranked by their numbers: what has the same number is one turn.
    """
    anchor.check(passage)
    first, last = bounds(len(passage.tokens), anchor.start, anchor.end, size, before)
    own = passage.turn_of(anchor.start)
    speaker = passage.turns[own].speaker
    turns: list[int] = []
    same: list[bool] = []
    rank = 0
    low = passage.turn_of(first)
    for place in range(low, passage.turn_of(last - 1) + 1):
        turn = passage.turns[place]
        rank += place > low and turn.number != passage.turns[place - 1].number
        words = min(turn.end, last) - max(turn.start, first)
        turns += [rank] * words
        same += [turn.speaker == speaker] * words
    at = turns[anchor.start - first]
    return Window(
        plain_words(passage.word(place) for place in range(first, last)),
        [rank - at for rank in turns],
        same,
        anchor.start - first,
        min(anchor.end, last) - first,
        first,
    )


def window_of_case(case: Case, size: int, before: float) -> Window:
    """The window of a number in its sentence: one turn of one speaker."""
    words = case.stretch.words
    if not 0 <= case.start < case.end <= len(words):
        raise ValueError(f"[{case.start}, {case.end}) is outside {len(words)} words")
    first, last = bounds(len(words), case.start, case.end, size, before)
    count = last - first
    return Window(
        plain_words(words[first:last]),
        [0] * count,
        [True] * count,
        case.start - first,
        min(case.end, last) - first,
        first,
    )
