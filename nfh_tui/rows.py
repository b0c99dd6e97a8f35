"""Plain text in rows of a given width: headings, wrapped paragraphs, and bars.

Pure: no screen. Whatever a corpus holds is drawn as text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import NamedTuple, TypeVar

from nfh_tui.passage_paint import Roles, Run
from nfh_tui.visible import clip, glyphs, isolated, visible, width_of

T = TypeVar("T")
Row = tuple[Run, ...]
Part = tuple[str, str]
"""A text and the role it is drawn in, "" for none."""


_BREAKS = re.compile("[ \n]+")
"""Where a row may end; other blanks are drawn as they are, a no-break space holds words."""

EIGHTHS = " ▏▎▍▌▋▊▉█"
"""A cell filled from the left by nothing to eight eighths."""

MOST_BAR = 20
"""Cells of the longest bar."""

FIGURE = 8
"""Cells for the figure of a bar: a score and the number of a turn."""

LEAST = 16
"""Cells that rows may always take: a code such as ⟨U+10FFFF⟩ fits behind any indent."""


class _Word(NamedTuple):
    text: str
    width: int
    roles: Roles
    glued: bool


class Rows:
    """Collects rows of at most `width` cells, or LEAST of them where it is less."""

    def __init__(self, width: int) -> None:
        self.width = max(LEAST, width)
        self.made: list[Row] = []

    def blank(self) -> None:
        """An empty row, but never two, and none at the top."""
        if self.made and self.made[-1]:
            self.made.append(())

    def heading(self, title: str, note: str = "") -> None:
        """A title on the left with a note on the right, under the title if it is too long."""
        self.blank()
        title = clip(title, self.width)
        room = self.width - width_of(title) - 2
        fits = width_of(visible(note)) <= room
        row = [Run(title, ("title",))]
        if note and fits:
            shown = visible(note)
            gap = self.width - width_of(title) - width_of(shown)
            row += [Run(" " * gap, ()), Run(isolated(shown), ("note",))]
        self.made.append(tuple(row))
        if note and not fits:
            self.text([(note, "note")], indent=1)

    def text(self, parts: Iterable[Part], indent: int = 0, hang: int | None = None) -> None:
        """A paragraph: its first row `indent` cells in, the others `hang`.

        What is written without a blank between stays together where a row can hold it.
        """
        hang = indent if hang is None else hang
        row: list[Run] = [Run(" " * indent, ())] if indent else []
        at, started = indent, False
        for word, behind in _ahead(_words(parts, self.width - max(indent, hang))):
            space = 0 if word.glued or not started else 1
            whole = at + space + word.width + behind
            parted = not word.glued and whole > self.width >= hang + word.width + behind
            if started and (parted or at + space + word.width > self.width):
                self.made.append(tuple(row))
                row, at, space = ([Run(" " * hang, ())] if hang else []), hang, 0
            if space:
                row.append(Run(" ", word.roles if row[-1].roles == word.roles else ()))
            row.append(Run(isolated(word.text), word.roles))
            at, started = at + space + word.width, True
        if started:
            self.made.append(tuple(row))

    def cells(self, cells: Sequence[tuple[Part, int]], indent: int = 1) -> None:
        """One row of a table: each text in so many cells, one free cell between two.

        A column of no cells is left out with the gap before it; blanks at the end, too.
        """
        row: list[Run] = []
        at = indent
        due = indent
        for (text, role), width in cells:
            if width <= 0:
                continue
            shown = clip(text, min(width, self.width - at))
            if shown:
                row += [Run(" " * due, ())] if due else []
                row.append(Run(isolated(shown), _roles(role)))
                due = 0
            due += width - width_of(shown) + 1
            at += width + 1
        self.made.append(tuple(row))

    def bar(self, name: Part, share: float, figure: str, name_width: int) -> None:
        """A name, a bar as long as its share of what is left, and a figure if it fits."""
        fits = self.width - name_width >= FIGURE + LEAST // 2
        room = min(self.width - name_width - 2 - (FIGURE + 1 if fits else 0), MOST_BAR)
        shown, drawn = clip(name[0], name_width), bar(share, room)
        row = [Run(" ", ()), Run(isolated(shown), _roles(name[1]))]
        row.append(Run(" " * (name_width - width_of(shown) + 1), ()))
        row.append(Run(drawn, ("bar",)))
        if fits:
            row.append(Run(" " * (room - width_of(drawn) + 1), ()))
            row.append(Run(clip(figure, FIGURE), ("note",)))
        self.made.append(tuple(row))


def _ahead(words: Iterable[_Word]) -> Iterator[tuple[_Word, int]]:
    """Each word with the cells of those glued behind it."""
    made = list(words)
    behind = 0
    counted: list[tuple[_Word, int]] = []
    for word in reversed(made):
        counted.append((word, behind))
        behind = behind + word.width if word.glued else 0
    return reversed(counted)


def _roles(role: str) -> Roles:
    return (role,) if role else ()


def _words(parts: Iterable[Part], most: int) -> Iterator[_Word]:
    """Words that stay whole, too long ones broken; glued to the one before if so written."""
    open_end = False
    for text, role in parts:
        roles = _roles(role)
        for number, chunk in enumerate(filter(None, _BREAKS.split(text))):
            glued = number == 0 and open_end and not _BREAKS.match(text)
            for shown, width, first in _broken(chunk, max(1, most)):
                yield _Word(shown, width, roles, glued or not first)
        if text:
            open_end = text[-1] not in " \n"


def folded(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` cells, broken at blanks where it can be."""
    lines: list[str] = []
    taken = 0
    for word in _words([(text, "")], max(1, width)):
        space = 0 if word.glued or not lines else 1
        if not lines or taken + space + word.width > width:
            lines.append(word.text)
            taken = word.width
        else:
            lines[-1] += " " * space + word.text
            taken += space + word.width
    return lines or [""]


def longest_word(text: str) -> int:
    """Cells of the longest part of a text that is not broken at blanks."""
    return max((width_of(visible(word)) for word in _BREAKS.split(text)), default=0)


def _broken(chunk: str, most: int) -> Iterator[tuple[str, int, bool]]:
    kept: list[str] = []
    taken, first = 0, True
    for glyph, width in glyphs(chunk):
        if kept and taken + width > most:
            yield "".join(kept), taken, first
            kept, taken, first = [], 0, False
        kept.append(glyph)
        taken += width
    if kept:
        yield "".join(kept), taken, first


def bar(share: float, width: int) -> str:
    """A bar of at most `width` cells, in eighths; a share above nought shows at least one."""
    if isnan(share) or share <= 0:
        return ""
    eighths = max(1, min(round(min(share, 1.0) * width * 8), width * 8))
    whole, part = divmod(eighths, 8)
    return EIGHTHS[-1] * whole + (EIGHTHS[part] if part else "")


def best(scores: Iterable[tuple[T, float | None]], count: int) -> list[tuple[T, float]]:
    """The `count` highest scores with what they belong to, highest first; no gaps."""
    known = [(what, s) for what, s in scores if s is not None and not isnan(s)]
    return sorted(known, key=lambda pair: -pair[1])[:count]
