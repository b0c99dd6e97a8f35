"""One visual line of a passage as runs of text with their roles, exactly as wide as planned.

Pure: no screen. Signs and hint letters go to cells beside words; where there is none, hint
letters lie over the beginning of the word.
"""

from typing import NamedTuple

from nfh_tui.passage_layout import NO_TOKEN, Layout, Line, Piece
from nfh_tui.passage_marks import Marks, Sign
from nfh_tui.visible import END_ISOLATE, ISOLATE, clip, glyphs, is_right_to_left, width_of

Roles = tuple[str, ...]


class Run(NamedTuple):
    """Text drawn in one look."""

    text: str
    roles: Roles


class _Grid:
    """The cells of a line. A wide sign takes its cell and leaves the next one empty."""

    def __init__(self, width: int) -> None:
        self.texts = [" "] * width
        self.roles: list[Roles] = [()] * width
        self._taken = bytearray(width)

    def draw(self, x: int, text: str, roles: Roles) -> None:
        """Draw a text from cell x on, and take its cells."""
        for glyph, width in [(c, 1) for c in text] if text.isascii() else glyphs(text):
            self.texts[x] = glyph
            self.roles[x] = roles
            for cell in range(x, x + width):
                self._taken[cell] = 1
            for cell in range(x + 1, x + width):
                self._follow(cell, roles)
            x += width

    def _follow(self, cell: int, roles: Roles) -> None:
        self.texts[cell] = ""
        self.roles[cell] = roles

    def fill(self, start: int, end: int, roles: Roles) -> None:
        """Give cells between words a look."""
        for cell in range(start, end):
            self.roles[cell] = roles

    def is_free(self, x: int) -> bool:
        """True for a cell that holds nothing yet."""
        return 0 <= x < len(self.texts) and not self._taken[x]

    def put(self, x: int, text: str, roles: Roles) -> None:
        """Put one character into a cell, over whatever stands there."""
        if not 0 <= x < len(self.texts):
            return
        if self.texts[x] == "":
            self.texts[x - 1] = " "
        after = x + 1
        while after < len(self.texts) and self.texts[after] == "":
            self.texts[after] = " "
            after += 1
        self.texts[x], self.roles[x], self._taken[x] = text, roles, 1

    def runs(self) -> list[Run]:
        """Neighbouring cells of one look together; right-to-left words each isolated."""
        made: list[Run] = []
        kept: list[str] = []
        look: tuple[Roles, bool] = ((), False)
        for text, roles in zip(self.texts, self.roles, strict=True):
            if text == "":
                continue
            now = (roles, not text.isascii() and is_right_to_left(text))
            if now != look and kept:
                made.append(_run(kept, look))
                kept = []
            look = now
            kept.append(text)
        if kept:
            made.append(_run(kept, look))
        return made


def _run(texts: list[str], look: tuple[Roles, bool]) -> Run:
    roles, right_to_left = look
    text = "".join(texts)
    return Run(f"{ISOLATE}{text}{END_ISOLATE}" if right_to_left else text, roles)


def paint(layout: Layout, number: int, marks: Marks, current_turn: int) -> list[Run]:
    """Line `number` of a passage. current_turn: rank of the turn whose gutter stands out."""
    line = layout.lines[number]
    if line.rule:
        return _rule(layout, line)
    width = max(layout.width, layout.gutter + 1, _end(line) + 1)
    grid = _Grid(width)
    gutter = "gutter-here" if line.turn == current_turn else "gutter"
    grid.fill(0, layout.gutter, (gutter,))
    label = line.label.rstrip(" ")
    grid.draw(0, label, (gutter,))
    for piece in line.pieces:
        grid.draw(piece.x, piece.text, marks.roles.get(piece.token, ()))
    _fill_between(grid, line, marks)
    _letters(grid, layout, number, line, marks)
    _signs(grid, layout, number, line, marks)
    return grid.runs()


RULE = "┄"
"""What a thin line between turns is made of."""


def _rule(layout: Layout, line: Line) -> list[Run]:
    """A thin line with its words at the right, as far as there is room for them."""
    words = clip(f" {line.rule} ", max(0, layout.width - layout.gutter))
    drawn = RULE * (layout.width - layout.gutter - width_of(words))
    return [Run(" " * layout.gutter + drawn + words, ("rule",))]


def _end(line: Line) -> int:
    last = line.pieces[-1]
    return last.x + last.width


def _fill_between(grid: _Grid, line: Line, marks: Marks) -> None:
    for piece, after in zip(line.pieces, line.pieces[1:], strict=False):
        between = marks.between.get(piece.token)
        if between is not None:
            grid.fill(piece.x + piece.width, after.x, between)


def _starts(layout: Layout, number: int, piece: Piece) -> bool:
    """True if the token of a piece begins with it."""
    return piece.token != NO_TOKEN and layout.spots[piece.token][:2] == (number, piece.x)


def _goes_on(layout: Layout, number: int, piece: Piece) -> bool:
    """True if the token of a piece goes on in the next line."""
    return piece is layout.lines[number].pieces[-1] and layout.goes_on(number, piece.token)


def _letters(grid: _Grid, layout: Layout, number: int, line: Line, marks: Marks) -> None:
    """Hint letters: the first into the cell before the word if that is free."""
    if not marks.hints:
        return
    for piece in line.pieces:
        label = marks.hints.get(piece.token)
        if label is None or not _starts(layout, number, piece):
            continue
        x = piece.x - 1 if grid.is_free(piece.x - 1) else piece.x
        for offset, letter in enumerate(label):
            grid.put(x + offset, letter, ("hint",))


def _signs(grid: _Grid, layout: Layout, number: int, line: Line, marks: Marks) -> None:
    """Put signs into free cells, by rank; the layout has made room for those that need it."""
    if not marks.signs:
        return
    wanted = [
        (sign, number_of, piece)
        for number_of, piece in enumerate(line.pieces)
        for sign in marks.signs.get(piece.token, ())
    ]
    for sign, number_of, piece in sorted(wanted, key=lambda entry: entry[0].rank):
        for cells in _cells(grid, layout, number, number_of, piece, sign):
            if cells:
                _put_sign(grid, layout, cells.start, sign)
                break


def _put_sign(grid: _Grid, layout: Layout, x: int, sign: Sign) -> None:
    looks = (sign.role, sign.look) if sign.look else (sign.role,)
    for offset, character in enumerate(sign.text):
        under = grid.roles[x + offset] if x + offset >= layout.gutter else ()
        grid.put(x + offset, character, (*under, *looks))


def _cells(
    grid: _Grid, layout: Layout, number: int, number_of: int, piece: Piece, sign: Sign
) -> tuple[range, ...]:
    """The free cells beside a word for a sign, those it likes best first; none where none."""
    pieces = layout.lines[number].pieces
    size = len(sign.text)
    before = range(0)
    if _starts(layout, number, piece) and grid.is_free(piece.x - 1) and size == 1:
        before = range(piece.x - 1, piece.x)
    behind = range(0)
    if not _goes_on(layout, number, piece):
        after = number_of + 1
        end = pieces[after].x if after < len(pieces) else len(grid.texts)
        behind = _free(grid, piece.x + piece.width, end, size)
    sides = (before, behind) if sign.left else (behind, before)
    return sides[:1] if sign.fixed else sides


def _free(grid: _Grid, start: int, end: int, size: int) -> range:
    """The first `size` free cells in a row, none where there are no such."""
    for x in range(start, end - size + 1):
        if all(grid.is_free(cell) for cell in range(x, x + size)):
            return range(x, x + size)
    return range(0)
