"""The context of a task: its text, and how a browser cut it into text nodes.

A worker saw `Input.text_reduced_html`, which a batch may hold; else only the plain context
is known, and there are several ways in which it may have been cut. Places are compared by
*letters*, characters that are no white space: white space is what differs between a field,
a page and what a browser says was selected.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

LONGEST_HTML = 1_000_000

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
_LINE_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_BOLD = frozenset({"b", "strong", "mark"})
_LINES = frozenset({"br", "p", "div", "li"})

Span = tuple[int, int]


class Letters:
    """The characters of a text that are no white space, and where each stands."""

    __slots__ = ("places", "string")

    def __init__(self, text: str) -> None:
        self.string = "".join(text.split())
        self.places = [place for place, sign in enumerate(text) if not sign.isspace()]

    def before(self, place: int) -> int:
        """How many letters stand before a code point of the text."""
        return bisect_left(self.places, place)

    def span(self, first: int, last: int) -> Span:
        """Code points [start, end) of letters [first, last), which must not be empty."""
        return self.places[first], self.places[last - 1] + 1

    def of(self, start: int, end: int) -> Span:
        """The letters [first, last) of code points [start, end)."""
        return self.before(start), self.before(end)


@dataclass(frozen=True, slots=True)
class Node:
    """A text node as the browser has it. line: the rank of the line that it belongs to."""

    text: str
    bold: bool
    line: int


class Layout:
    """One way in which a context may have been cut into text nodes, in their order."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self._nodes = []
        first = 0
        for text in nodes:
            letters = Letters(text)
            self._nodes.append((text, letters, first))
            first += len(letters.string)

    def letters_before(self, offset: int) -> Iterator[tuple[int, int]]:
        """For each node that has the offset: its rank, and the letters before that place.

        offset: in UTF-16 code units from the node's start, as browsers count.
        """
        for rank, (text, letters, first) in enumerate(self._nodes):
            place = code_point(text, offset)
            if place is not None:
                yield rank, first + letters.before(place)


@dataclass(frozen=True, slots=True)
class Shown:
    """A context.

    text: as it is stored. given: the field, without markup. nodes: as a browser had them,
    where that is known (`exact`), else only the lines.
    """

    text: str
    given: str
    letters: Letters
    nodes: tuple[Node, ...]
    exact: bool

    def bold(self) -> list[Span]:
        """The letters [first, last) of each bold stretch."""
        spans = []
        first = 0
        for bold, run in groupby(self.nodes, key=lambda node: node.bold):
            last = first + sum(len("".join(node.text.split())) for node in run)
            if bold and last > first:
                spans.append((first, last))
            first = last
        return spans


def stored(context: str) -> str:
    """The text that is stored of a context.

    A plain one as it came, without empty lines at its ends; of one with markup what a
    browser shows.
    """
    return _text(parse(context)) if _is_page(context) else _trimmed(context)


def _is_page(context: str) -> bool:
    return len(context) <= LONGEST_HTML and _LINE_BREAK.search(context) is not None


def shown(context: str, page: str) -> Shown:
    """The context of a row. page: `Input.text_reduced_html`, "" where there is none.

    Markup in the context itself counts as markup only if it has line breaks ("<br>"); then
    its entities are characters. A page that holds other words than the context is passed
    over.
    """
    text = stored(context)
    if _is_page(context):
        own, given = parse(context), text
        exact = any(node.bold for node in own)
    else:
        own = [Node(line, False, rank) for rank, line in enumerate(context.split("\n"))]
        given, exact = context, False
    letters = Letters(text)
    if page.strip() and len(page) <= LONGEST_HTML:
        nodes = parse(page)
        if "".join("".join(node.text.split()) for node in nodes) == letters.string:
            return Shown(text, given, letters, tuple(nodes), exact=True)
    return Shown(text, given, letters, tuple(own), exact)


def layouts(context: Shown, anchor: Span) -> list[Layout]:
    """Every way in which a browser may have cut a context. anchor: its letters.

    Where the page is not known: the number stands in a node of its own, with or without the
    white space behind it; a node behind a line break begins with the next line, or with a
    line feed before that (as "<br />", line feed, next line do).
    """
    if context.exact:
        return [Layout([node.text for node in context.nodes])]
    lines = [node.text for node in context.nodes]
    fed = [lines[0], *("\n" + line for line in lines[1:])]
    starts = [lines, fed] if len(lines) > 1 else [lines]
    return [Layout(_cut(nodes, anchor, wide)) for nodes in starts for wide in (False, True)]


def parse(page: str) -> list[Node]:
    """The text nodes of a piece of HTML, entities read, empty ones left out."""
    nodes: list[Node] = []
    place = depth = line = 0
    for tag in _TAG.finditer(page):
        _add(nodes, page[place : tag.start()], depth, line)
        place = tag.end()
        name = tag[2].lower()
        if name in _BOLD:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        elif name in _LINES:
            line += 1
    _add(nodes, page[place:], depth, line)
    return nodes


def _add(nodes: list[Node], data: str, depth: int, line: int) -> None:
    if data:
        # Browsers' text has line feeds only.
        text = html.unescape(data).replace("\r\n", "\n").replace("\r", "\n")
        nodes.append(Node(text, depth > 0, line))


def _text(nodes: Sequence[Node]) -> str:
    """What a browser shows: lines, each with single spaces between its words."""
    lines = (
        " ".join("".join(node.text for node in line).split())
        for _, line in groupby(nodes, key=lambda node: node.line)
    )
    return "\n".join(line for line in lines if line)


def _trimmed(context: str) -> str:
    """A plain context without the empty lines at its ends."""
    lines = context.split("\n")
    filled = [rank for rank, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _cut(nodes: Sequence[str], anchor: Span, wide: bool) -> list[str]:
    """The nodes, the one that holds the number cut around it. wide: with what space follows."""
    cut: list[str] = []
    first = 0
    for text in nodes:
        letters = Letters(text)
        last = first + len(letters.string)
        if first <= anchor[0] and anchor[1] <= last and anchor[0] < last:
            start, end = letters.span(anchor[0] - first, anchor[1] - first)
            while wide and end < len(text) and text[end].isspace():
                end += 1
            cut += [text[:start], text[start:end], text[end:]]
        else:
            cut.append(text)
        first = last
    return [text for text in cut if text]


def code_point(text: str, offset: int) -> int | None:
    """The code point of a place counted in UTF-16 units.

    None where the text is shorter, and in the middle of a character.
    """
    if text.isascii():
        return offset if offset <= len(text) else None
    units = 0
    for place, sign in enumerate(text):
        if units >= offset:
            return place if units == offset else None
        units += 2 if ord(sign) > 0xFFFF else 1
    return len(text) if units == offset else None
