"""Texts as brat keeps them, and the offsets of their files.

Lines of brat's files end wherever Python's text files end them, and a span's text stands on
one line. Characters that end a line but are no line feed are written as a space, one for one,
and kept in the side file; so is a mark of byte order at a text's start. Spans are cut into
fragments at line feeds, as brat itself does.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nfh_db.formats.brat_ann import LineError, TextBound
from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import Offsets, Span
from nfh_db.formats.utf16 import SplitPairError, Units
from nfh_db.formats.wording import shown

REPLACED = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]|\\A\ufeff")
"""What ends a line for `str.splitlines`, but for the line feed; a mark of byte order."""

Replaced = tuple[tuple[int, str], ...]
"""Code points of a text at which another character stands in its file, and which was there."""


def written(text: str) -> tuple[str, Replaced]:
    """A text as its file has it, of the same length, and what was replaced."""
    replaced = tuple((match.start(), match[0]) for match in REPLACED.finditer(text))
    return (REPLACED.sub(" ", text) if replaced else text), replaced


def restored_text(text: str, replaced: Sequence[tuple[int, str]]) -> str:
    """The text that was exported. Raises MarkError if the file was changed since."""
    if not replaced:
        return text
    signs = list(text)
    for place, sign in replaced:
        if not 0 <= place < len(signs) or signs[place] != " " or len(sign) != 1:
            raise MarkError(
                f"expected a space at {place}, in the place of {shown(sign)}: the text was "
                "changed since it was exported"
            )
        signs[place] = sign
    return "".join(signs)


def fragments(text: str, start: int, end: int) -> Iterator[Span]:
    """A span in pieces of one line each, without white space at a line's end or start."""
    place = start
    for line in text[start:end].split("\n"):
        words = line.strip() if "\n" in text[start:end] else line
        if words:
            first = place + line.index(words)
            yield first, first + len(words)
        place += len(line) + 1


def surface(text: str, pieces: Sequence[Span]) -> str:
    """The text of fragments as a span's line states it."""
    return " ".join(text[start:end] for start, end in pieces).replace("\n", " ")


# --- in -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counting:
    """A way of counting the characters of a text. to_points: an offset as code points."""

    name: str
    to_points: Callable[[int], int]


def counting(text: str, offsets: Offsets | None, spans: Sequence[TextBound]) -> Counting:
    """The way in which the spans' offsets count, told by the texts that they state.

    Code points; or with each carriage return and line feed as one, as brat reads files of
    Windows. UTF-16 only if somebody said so. Raises LineError where none fits.
    """
    ways = list(_ways(text, offsets))
    for way in ways:
        if all(_fits(text, span, way) for span in spans):
            return way
    bad = next(span for span in spans if not _fits(text, span, ways[0]))
    raise LineError(bad.line, _misfit(text, bad, ways[0]) + _hint(text, offsets, spans))


def _ways(text: str, offsets: Offsets | None) -> Iterator[Counting]:
    if offsets == "utf16":
        yield Counting("UTF-16 code units", Units(text).to_points)
        return
    yield Counting("code points", int)
    if "\r\n" in text:
        yield Counting("code points, line ends as one", _ends_as_one(text))


def _ends_as_one(text: str) -> Callable[[int], int]:
    """Offsets of the text with "\\n" for each "\\r\\n", as code points of the text itself."""
    pairs: list[int] = []
    place = text.find("\r\n")
    while place >= 0:
        pairs.append(place - len(pairs))  # Where the pair begins in the shorter text.
        place = text.find("\r\n", place + 2)
    return lambda offset: offset + bisect_right(pairs, offset - 1)


def _fits(text: str, span: TextBound, way: Counting) -> bool:
    try:
        pieces = [(way.to_points(start), way.to_points(end)) for start, end in span.fragments]
    except SplitPairError:
        return False
    if not all(0 <= start < end <= len(text) for start, end in pieces):
        return False
    return span.surface is None or _same(surface(text, pieces), span.surface)


def _same(found: str, stated: str) -> bool:
    """Line ends inside a fragment are stated as spaces, or by older versions left out."""
    return found == stated or found.split() == stated.split()


def _misfit(text: str, span: TextBound, way: Counting) -> str:
    stated = f"expected {shown(span.label if span.surface is None else span.surface)}"
    places = ";".join(f"{start} {end}" for start, end in span.fragments)
    try:
        pieces = [(way.to_points(start), way.to_points(end)) for start, end in span.fragments]
    except SplitPairError as error:
        return f"at {places}: {stated}, but {error}"
    if not all(0 <= start < end <= len(text) for start, end in pieces):
        return (
            f"the span {places} is outside a text of {len(text)} characters, or "
            f"holds none; {stated} there"
        )
    return f"at {places}: {stated}, found {shown(surface(text, pieces))}"


def _hint(text: str, offsets: Offsets | None, spans: Sequence[TextBound]) -> str:
    """What may be wrong: the other unit fits all spans."""
    if offsets != "utf16" and Units(text).wide:
        way = next(_ways(text, "utf16"))
        if all(_fits(text, span, way) for span in spans):
            return "; all spans fit if offsets count UTF-16 units: say --offsets utf16"
    if offsets == "utf16" and all(_fits(text, s, next(_ways(text, None))) for s in spans):
        return "; all spans fit if offsets count code points: leave --offsets away"
    return ""


def covering(text: str, pieces: Sequence[Span]) -> tuple[Span, bool]:
    """The code points from a span's first fragment to its last, and whether other words
    stand between them.
    """
    ordered = sorted(pieces)
    torn = any(text[one[1] : two[0]].strip() for one, two in pairwise(ordered))
    return (ordered[0][0], max(end for _, end in ordered)), torn
