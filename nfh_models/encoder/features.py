"""Model input: the window of words around an anchor, and its numeric features.

All words of the window outside the anchor, and the six classes, are candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Passage
from nfh_models.identification.base import SentenceNumber
from nfh_models.text.tokens import plain_words

if TYPE_CHECKING:
    from nfh_models.encoder.backbone import Pieces


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """Words [offset, offset + len(words)) of a passage, around an anchor."""

    words: Sequence[str]
    """With stand-ins for quotes and brackets replaced by the signs."""
    turns: Sequence[int]
    """The turn of each word relative to the anchor's (-1: the one before)."""
    same: Sequence[bool]
    """Whether the anchor's speaker says it."""
    start: int
    end: int
    """`start` and `end`: the anchor, relative to the window."""
    offset: int


def bounds(total: int, start: int, end: int, size: int, before: float) -> tuple[int, int]:
    """Words [first, last) of `total` that a window of `size` words holds.

    before: the share of its room before the anchor; room that one side does not need goes to
    the other. Of an anchor longer than the window it holds the first words.
    """
    if total <= size:
        return 0, total
    room = max(0, size - (end - start))
    first = max(0, start - int(room * before))
    last = min(total, first + size)
    return max(0, last - size), last


def window_of(passage: Passage, anchor: Anchor, size: int, before: float) -> TokenWindow:
    """The window of an anchor. Raises PassageError for an anchor outside the passage.

    Turns are ranked by their numbers: turns with one number are one turn.
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
    return TokenWindow(
        plain_words(passage.word(place) for place in range(first, last)),
        [rank - at for rank in turns],
        same,
        anchor.start - first,
        min(anchor.end, last) - first,
        first,
    )


def window_of_case(case: SentenceNumber, size: int, before: float) -> TokenWindow:
    """The window of a number in its sentence: one turn of one speaker."""
    words = case.word_span.words
    if not 0 <= case.start < case.end <= len(words):
        raise ValueError(f"[{case.start}, {case.end}) is outside {len(words)} words")
    first, last = bounds(len(words), case.start, case.end, size, before)
    count = last - first
    return TokenWindow(
        plain_words(words[first:last]),
        [0] * count,
        [True] * count,
        case.start - first,
        min(case.end, last) - first,
        first,
    )


CLASSES = len(IMPLICIT_KINDS)
FARTHEST_TURN = 3
TURNS = 2 * FARTHEST_TURN + 2
"""Rows of the table of turn distances: 0 for padding, then -3 to 3."""

SPEAKERS = 3
"""Rows of the table of speakers: padding, the anchor's speaker, another one."""

EDGES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""The least distances, in words, of the buckets on each side of the anchor."""

NO_DISTANCE = 2 * (len(EDGES) + 1)
"""The bucket of the classes, after those of words."""

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncoderRow:
    """A window in pieces. All sequences but `first` have one entry for each piece."""

    ids: Sequence[int]
    """Numbers of pieces."""
    mark: Sequence[int]
    """1 at the anchor's pieces."""
    turns: Sequence[int]
    speakers: Sequence[int]
    """`turns` and `speakers` are rows of the tables."""
    first: Sequence[int]
    """The index of each word's first piece."""
    start: int
    end: int
    """`start` and `end`: the anchor, in words of the row."""
    offset: int
    """Of the first word in the passage."""

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.first)

    def candidate(self, token: int) -> int | None:
        """The candidate index of a passage's token; None outside the window."""
        place = token - self.offset
        return CLASSES + place if 0 <= place < len(self.first) else None

    def name(self, candidate: int) -> str:
        """A candidate as a Choice names it: a class, or a token of the passage."""
        if candidate < CLASSES:
            return IMPLICIT_KINDS[candidate].value
        return str(candidate - CLASSES + self.offset)


@dataclass(frozen=True, slots=True)
class EncoderFeaturiser:
    """Makes rows."""

    pieces: "Pieces"
    window: int
    """In words."""
    before: float
    """See `bounds`."""
    limit: int
    """The largest number of pieces; a window with more is cut."""

    def row(self, passage: Passage, anchor: Anchor) -> EncoderRow:
        """The row of an anchor. Raises PassageError for one outside its passage."""
        return self.of_window(window_of(passage, anchor, self.window, self.before))

    def case_row(self, case: SentenceNumber) -> EncoderRow:
        """The row of a number in its sentence."""
        return self.of_window(window_of_case(case, self.window, self.before))

    def of_window(self, window: TokenWindow) -> EncoderRow:
        cut = self.pieces.cut(window.words)
        low, high = self._fitting(window, [len(one) for one in cut])
        return self._row(window, cut, low, high)

    def _fitting(self, window: TokenWindow, sizes: Sequence[int]) -> tuple[int, int]:
        """The words [low, high) that fit: both sides keep their shares, and the anchor is cut
        last.
        """
        low, high = 0, len(sizes)
        turns = window.turns
        spent = 2 + sum(sizes) + sum(a != b for a, b in pairwise(turns))
        if spent <= self.limit:
            return low, high
        costs = [
            size + (place > 0 and turns[place] != turns[place - 1])
            for place, size in enumerate(sizes)
        ]
        while spent > self.limit and high - low > 1:
            left, right = window.start - low, high - window.end
            if left > 0 and left * (1 - self.before) >= right * self.before:
                spent -= costs[low]
                low += 1
            else:
                high -= 1
                spent -= costs[high]
        return low, high

    def _row(
        self, window: TokenWindow, cut: Sequence[tuple[int, ...]], low: int, high: int
    ) -> EncoderRow:
        pieces = self.pieces
        ids, mark, turns, speakers = [pieces.cls], [0], [0], [0]
        first: list[int] = []
        for place in range(low, high):
            turn = window.turns[place]
            if place > low and turn != window.turns[place - 1]:
                _separate(ids, mark, turns, speakers, pieces.sep)
            first.append(len(ids))
            own = cut[place]
            count = len(own)
            ids += own
            mark += [int(window.start <= place < window.end)] * count
            near = max(-FARTHEST_TURN, min(FARTHEST_TURN, turn))
            turns += [near + FARTHEST_TURN + 1] * count
            speakers += [1 if window.same[place] else 2] * count
        _separate(ids, mark, turns, speakers, pieces.sep)
        start, end = window.start - low, min(window.end, high) - low
        return EncoderRow(ids, mark, turns, speakers, first, start, end, window.offset + low)


def _separate(
    ids: list[int], mark: list[int], turns: list[int], speakers: list[int], sep: int
) -> None:
    ids.append(sep)
    mark.append(0)
    turns.append(0)
    speakers.append(0)


@dataclass(frozen=True, slots=True)
class Padded:
    """Rows side by side: B rows, L pieces, W words, C = 6 + W candidates."""

    ids: Ints
    attention: Ints
    """B x L, 1 at pieces, 0 at padding."""
    mark: Floats
    """B x L, 0 or 1."""
    turns: Ints
    speakers: Ints
    """`ids`, `turns` and `speakers`: B x L."""
    first: Ints
    """B x W."""
    anchor: Floats
    """B x W, the anchor's words, with the sum 1 in each row."""
    open: Flags
    """B x C, what can be chosen."""
    distance: Ints
    """B x C, buckets."""


def pad(rows: Sequence[EncoderRow], empty: int) -> Padded:
    """One batch of rows. empty: the number of the padding piece."""
    count = len(rows)
    length = max(len(row.ids) for row in rows)
    words = max(row.words for row in rows)
    made = Padded(
        np.full((count, length), empty, np.int64),
        np.zeros((count, length), np.int64),
        np.zeros((count, length), np.float32),
        np.zeros((count, length), np.int64),
        np.zeros((count, length), np.int64),
        np.zeros((count, words), np.int64),
        np.zeros((count, words), np.float32),
        np.zeros((count, CLASSES + words), np.bool_),
        np.full((count, CLASSES + words), NO_DISTANCE, np.int64),
    )
    for place, row in enumerate(rows):
        size = len(row.ids)
        made.ids[place, :size] = row.ids
        made.attention[place, :size] = 1
        made.mark[place, :size] = row.mark
        made.turns[place, :size] = row.turns
        made.speakers[place, :size] = row.speakers
        made.first[place, : row.words] = row.first
        made.anchor[place, row.start : row.end] = 1 / (row.end - row.start)
        made.open[place, : CLASSES + row.words] = True
        made.open[place, CLASSES + row.start : CLASSES + row.end] = False
        made.distance[place, CLASSES : CLASSES + row.words] = buckets(row)
    return made


def buckets(row: EncoderRow) -> Ints:
    """The bucket of each word's distance to the nearer end of the anchor: 0 to 12 after it (0
    inside it), 14 to 25 before it.
    """
    places = np.arange(row.words)
    last = row.end - 1
    away = np.where(places > last, places - last, places - row.start)
    away[row.start : row.end] = 0
    steps = np.searchsorted(np.asarray(EDGES), np.abs(away), side="right")
    return np.where(away >= 0, steps, steps + len(EDGES) + 1).astype(np.int64)


def by_length(rows: Sequence[EncoderRow], size: int) -> list[list[int]]:
    """Row indices in batches of `size` rows of similar length, shortest first."""
    order = _shortest_first(rows)
    return [order[start : start + size] for start in range(0, len(order), size)]


def by_pieces(rows: Sequence[EncoderRow], most: int) -> list[list[int]]:
    """Row indices in batches of at most `most` pieces or one row, shortest first."""
    batches: list[list[int]] = []
    room = 0
    for place in _shortest_first(rows):
        pieces = len(rows[place].ids)
        if not batches or pieces > room:
            batches.append([])
            room = most
        batches[-1].append(place)
        room -= pieces
    return batches


def _shortest_first(rows: Sequence[EncoderRow]) -> list[int]:
    return sorted(range(len(rows)), key=lambda place: len(rows[place].ids))
