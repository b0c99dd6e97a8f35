"""Layout of a passage in lines of a given width.

x counts cells from the left edge of the pane, lines from the top of the passage. The gutter on
the left has the turn's number and, in its first line, the speaker and the start time, if known
and if the pane is wide enough. The last cell of the gutter and of each line is free for signs.
`Rooms` reserves further cells for signs and hint letters between words.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from nfh_models.domain import Passage, Turn
from nfh_tui.display_figures import clock
from nfh_tui.display_text import broken, clip, visible, width_of
from nfh_tui.widgets.substitution import is_tokenized, joined_tokens, written_word


def said_at(turn: Turn) -> str:
    """The turn's start time in the recording: "0:15", "1:02:15"; "" if unknown."""
    if turn.begin is None:
        return ""
    return clock(turn.begin // 1000)


NO_TOKEN = -1
"""The token number of drawn text between tokens."""

NARROW, TIGHT = 48, 28
"""Widths below which speakers' names are shortened, and left out."""

TIMED = 50
"""Least width with start times of turns."""

LEAST_TEXT = 10
"""Least cells for words."""

MOST_NAME, MOST_GAP = 16, 8
"""Most cells for a speaker's name, and for spaces in a row."""

STAYS = frozenset(
    """% , . ; : ! ? ) ] } ” ’ » … ... .. -- '' 's 're 've 'll 'd 'm n't 'S N'T
    ’s ’re ’ve ’ll ’d ’m n’t""".split()
)
"""Tokens that do not begin a line, even after a space."""


class TokenPiece(NamedTuple):
    """Drawn text of a token, or of a part of a token longer than a line."""

    token: int
    x: int
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Rooms:
    """Cells reserved for signs before and after words, by token."""

    before: Mapping[int, int] = field(default_factory=dict)
    behind: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnWindow:
    """Turns from index `first` to `last`, inclusive, and the words of the lines around them."""

    first: int
    last: int
    begins: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True)
class VisualLine:
    """A line of words, or a thin line between two turns."""

    turn: int
    label: str
    """Text of the gutter, padded to its width."""

    pieces: tuple[TokenPiece, ...]
    """From left to right; () for a thin line."""

    rule: str = ""
    """Words of a thin line; "" for a line of words."""


NO_ROOMS = Rooms()


class TokenPosition(NamedTuple):
    """A token's first line, and its first cell and width there."""

    line: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class PassageLayout:
    """The lines of a passage."""

    width: int
    gutter: int
    """Cells before the words."""

    lines: tuple[VisualLine, ...]
    turns: Sequence["TurnLayout"]
    firsts: Sequence[int]
    """The line in which each turn begins."""

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return self.turns[-1].end

    def spot(self, token: int) -> TokenPosition:
        """The position of a token."""
        rank = bisect_right(self.turns, token, key=attrgetter("end"))
        turn = self.turns[rank]
        line, x, width = turn.spots[token - turn.end]
        return TokenPosition(self.firsts[rank] + line, x, width)

    def at(self, line: int, x: int) -> int | None:
        """The token drawn in a cell; None for none."""
        if not 0 <= line < len(self.lines):
            return None
        pieces = self.lines[line].pieces
        place = bisect_right(pieces, x, key=lambda piece: piece.x) - 1
        if place < 0 or x >= pieces[place].x + pieces[place].width:
            return None
        return None if pieces[place].token == NO_TOKEN else pieces[place].token

    def lines_of(self, token: int) -> range:
        """The lines of a token: several if it is longer than a line."""
        first = self.spot(token).line
        last = first
        while self.goes_on(last, token):
            last += 1
        return range(first, last + 1)

    def goes_on(self, line: int, token: int) -> bool:
        """Whether the next line begins with a part of the same token."""
        if line + 1 >= len(self.lines):
            return False
        pieces = self.lines[line + 1].pieces
        return bool(pieces) and pieces[0].token == token

    def vertical_neighbour(self, token: int, down: bool) -> int:
        """The token below or above another, nearest to its middle.

        The same token in the first and the last line.
        """
        spot = self.spot(token)
        middle = spot.x + spot.width / 2
        step = 1 if down else -1
        line = spot.line + step
        while 0 <= line < len(self.lines):
            if (found := self._nearest(line, middle, token)) is not None:
                return found
            line += step
        return token

    def _nearest(self, line: int, middle: float, other_than: int) -> int | None:
        pieces = [
            piece
            for piece in self.lines[line].pieces
            if piece.token not in {NO_TOKEN, other_than}
        ]
        if not pieces:
            return None
        return min(pieces, key=lambda p: abs(p.x + p.width / 2 - middle)).token


@dataclass(frozen=True, slots=True)
class TurnLayout:
    """The lines of a turn, and the positions of its tokens, counted from its first line."""

    end: int
    """The token after the last."""

    lines: Sequence[VisualLine]
    spots: Sequence[TokenPosition]


def lay_out(
    passage: Passage,
    width: int,
    rooms: Rooms = NO_ROOMS,
    window: TurnWindow | None = None,
    known: dict[object, TurnLayout] | None = None,
) -> PassageLayout:
    """Lay out a passage in lines of at most `width` cells.

    window: thin lines are drawn between its turns and those outside it. known: turns of the
    passage that are laid out already; the others are added.
    """
    digits = len(str(len(passage.turns)))
    names = _name_cells(passage, width)
    clock = _time_cells(passage, width)
    gutter = digits + (names + 1 if names else 0) + (clock + 1 if clock else 0) + 2
    right = max(gutter + LEAST_TEXT, width - 1)
    cells = _cells_by_turn(passage, rooms)
    known = {} if known is None else known
    lines: list[VisualLine] = []
    turns: list[TurnLayout] = []
    firsts: list[int] = []
    for rank, turn in enumerate(passage.turns):
        if window is not None and rank == window.first > 0:
            lines.append(VisualLine(rank, " " * gutter, (), window.begins))
        key = rank, width, cells.get(rank)
        laid = known.get(key)
        if laid is None:
            name = clip(turn.speaker, names) if turn.speaker else ""
            label = f"{rank + 1:>{digits}} {name}"
            if clock:
                label = label.rstrip(" ")
                label += said_at(turn).rjust(gutter - 2 - width_of(label))
            filler = _Filler(
                gutter, right, rank, label + " " * (gutter - width_of(label)), turn
            )
            for lead, newline, gap, word in _words(passage, turn, rooms):
                filler.add(lead, newline, gap, word)
            filler.break_line()
            known[key] = laid = TurnLayout(turn.end, filler.lines, filler.spots)
        turns.append(laid)
        firsts.append(len(lines))
        lines += laid.lines
        if window is not None and rank == window.last < len(passage.turns) - 1:
            lines.append(VisualLine(rank, " " * gutter, (), window.ends))
    return PassageLayout(width, gutter, tuple(lines), turns, firsts)


def _cells_by_turn(
    passage: Passage, rooms: Rooms
) -> dict[int, frozenset[tuple[int, int, str]]]:
    """By rank of a turn, its tokens with rooms, the cells and the side."""
    found = defaultdict[int, set[tuple[int, int, str]]](set)
    for side, cells in (("before", rooms.before), ("behind", rooms.behind)):
        for token, number in cells.items():
            found[passage.turn_of(token)].add((token, number, side))
    return {rank: frozenset(some) for rank, some in found.items()}


def _name_cells(passage: Passage, width: int) -> int:
    """Cells for speakers' names: the longest, within the limit for this width."""
    if width < TIGHT:
        return 0
    most = 6 if width < NARROW else min(MOST_NAME, width // 5)
    names = {turn.speaker for turn in passage.turns if turn.speaker}
    return max((width_of(clip(name, most)) for name in names), default=0)


def _time_cells(passage: Passage, width: int) -> int:
    """Cells for start times: 0 where none is known or the pane is too narrow."""
    if width < TIMED:
        return 0
    timed = (turn for turn in passage.turns if turn.begin is not None)
    return max((len(said_at(turn)) for turn in timed), default=0)


class _Word(NamedTuple):
    """A drawn word. before, behind: cells reserved for signs."""

    token: int
    text: str
    width: int
    before: int = 0
    behind: int = 0


def _words(
    passage: Passage, turn: Turn, rooms: Rooms
) -> Iterator[tuple[str, bool, int | None, _Word]]:
    """The words of a turn as (lead, newline, gap, word), where

    lead is text drawn directly after the previous word, newline says that the text has a line
    feed between them, and gap is the number of cells between them, None if they are glued.
    """
    text, tokens = passage.text, passage.tokens
    before, behind = rooms.before, rooms.behind
    drawn: dict[str, tuple[str, int]] = {}
    end = tokens[turn.start].start
    joined = joined_tokens(passage, turn) if is_tokenized(text) else frozenset()
    for number in range(turn.start, turn.end):
        token = tokens[number]
        raw = text[token.start : token.end]
        if raw not in drawn:
            shown = visible(written_word(passage, number))
            drawn[raw] = shown, width_of(shown)
        word = _Word(number, *drawn[raw], before.get(number, 0), behind.get(number, 0))
        between = text[end : token.start]
        end = token.end
        if between == " " and number not in joined:
            yield "", False, 1, word
        elif not between or (number in joined and not between.strip(" ")):
            yield "", False, None, word
        else:
            yield *_between(between), word


def _between(text: str) -> tuple[str, bool, int]:
    """lead, newline and gap of `_words` for text between two tokens."""
    body = text.rstrip(" \n")
    rest = text[len(body) :]
    return visible(body), "\n" in text, min(len(rest), MOST_GAP)


class _Filler:
    """Fills the lines of a turn; glued words stay together where a line has room for them."""

    def __init__(self, left: int, right: int, rank: int, label: str, turn: Turn) -> None:
        self.lines: list[VisualLine] = []
        self.spots = [TokenPosition(0, left, 0)] * (turn.end - turn.start)
        self._left, self._right = left, right
        self._rank, self._label, self._start = rank, label, turn.start
        self._row: list[TokenPiece] = []
        self._x = left
        self._gap = 0
        self._chunk: list[tuple[int, _Word]] = []
        self._chunk_width = 0
        self._wanted = 0

    def break_line(self) -> None:
        """Place the last words and end the line."""
        self._flush()
        self._end_line()
        self._wanted = 0

    def add(self, lead: str, newline: bool, gap: int | None, word: _Word) -> None:
        """Add the next word of `_words`."""
        if lead:
            self._glue(self._wanted, _Word(NO_TOKEN, lead, width_of(lead)))
            self._wanted = 0
        needed = self._wanted + word.before
        if newline:
            self.break_line()
            self._glue(0, word)
        elif gap is None:
            # The gutter has a free cell before the first word of a turn.
            self._glue(needed if self._chunk else 0, word)
        else:
            # One cell stays free between signs and a word after a space.
            gap = max(gap, needed + 1) if needed else gap
            if word.text in STAYS:
                self._glue(gap, word)
            else:
                self._flush()
                self._gap = gap
                self._glue(0, word)
        self._wanted = word.behind

    def _glue(self, gap: int, word: _Word) -> None:
        self._chunk.append((gap, word))
        self._chunk_width += gap + word.width

    def _flush(self) -> None:
        """Place the glued words: on this line, on the next, or broken."""
        if not self._chunk:
            return
        if self._x > self._left:
            self._x += self._gap
        # The last cell of a line is free for one sign; further ones need cells.
        width = self._chunk_width + max(0, self._chunk[-1][1].behind - 1)
        if self._x + width > self._right and self._row:
            self._end_line()
        if not self._row:
            # The gutter has one free cell before a line; further ones need cells.
            self._x = self._left + max(0, self._chunk[0][1].before - 1)
        whole = self._x + self._chunk_width <= self._right
        for gap, word in self._chunk:
            if whole:
                self._x += gap
                self._put(word.token, word.text, word.width)
            else:
                self._squeeze(gap, word)
        self._chunk, self._chunk_width, self._gap = [], 0, 0

    def _squeeze(self, gap: int, word: _Word) -> None:
        """Place a word of a chunk longer than a line, broken if necessary."""
        if self._x + gap + word.width <= self._right:
            self._x += gap
            self._put(word.token, word.text, word.width)
            return
        if self._row:
            self._end_line()
        start = self._left + max(0, word.before - 1)
        for text, width in broken(word.text, self._right - start):
            if self._row:
                self._end_line()
            self._x = start
            self._put(word.token, text, width)

    def _put(self, token: int, text: str, width: int) -> None:
        if token != NO_TOKEN and not self.spots[token - self._start].width:
            self.spots[token - self._start] = TokenPosition(len(self.lines), self._x, width)
        self._row.append(TokenPiece(token, self._x, width, text))
        self._x += width

    def _end_line(self) -> None:
        if self._row:
            self.lines.append(VisualLine(self._rank, self._label, tuple(self._row)))
            self._label = " " * self._left
        self._row = []
        self._x = self._left
