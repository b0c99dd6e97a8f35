"""Sentence boundaries from the characters alone, before any tokenizer or parser.

A parser would find more boundaries, but only sentences with a number are parsed, so they have
to be found without one. A missed boundary only costs a longer parse; a wrong one separates a
number from its noun, so doubtful places are no boundaries.

The time is linear in the text: each place where a sentence may end is examined once, with REACH
code points around it.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

Span = tuple[int, int]

LONGEST = 2_000
"""Code points. A longer sentence is cut at white space, so that parses are bounded."""

REACH = 16
"""Code points around a place that are examined: signs and quotes, and an abbreviation."""

SEEN = 2 * REACH
"""Code points around a place beyond which nothing decides whether a sentence ends there."""

_MARKS = ".!?\u2026"
_CLOSING_SIGNS = "\"'\u201d\u2019)]"

_PLACES = re.compile(
    rf"[{re.escape(_MARKS + _CLOSING_SIGNS)}]\s++"  # white space after a mark or a quote
    r"|\n[^\S\n]*+\n\s*+"  # an empty line
    r"|\u2029"  # the end of a paragraph
)
_BETWEEN_PARAGRAPHS = re.compile(r"\n[^\S\n]*+\n|\u2029")
_CLOSING = re.compile(rf"[{re.escape(_CLOSING_SIGNS)}]{{1,{REACH}}}+(?!\S)")
_OPENING = re.compile(rf"(?:[`\"'\u201c\u2018(\[\-\u2014\u2026]|\s){{0,{REACH}}}+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|dr|st|vs|no|nos|jr|sr|prof|rev|gen|col|capt|lt|sgt|gov|sen|rep|"
    r"mt|etc|e\.g|i\.e|u\.s|a\.m|p\.m|approx|dept|est|fig|vol|pp|p|inc|ltd|co|corp|jan|feb|mar|"
    r"apr|jun|jul|aug|sep|sept|oct|nov|dec|[a-z])$",
    re.IGNORECASE,
)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Code points [start, end) of each sentence in a part of `text`, without white space around
    it.

    Together they hold everything but white space. A full stop ends no sentence after an
    abbreviation or an initial, nor before a lower-case letter; an empty line always ends one.
    """
    stop = len(text) if end is None else end
    begin = start
    for behind in sentence_ends(text, start, stop):
        yield from _trimmed(text, begin, behind)
        begin = behind
    yield from _trimmed(text, begin, stop)


def sentence_ends(text: str, start: int, stop: int) -> Iterator[int]:
    """Code points after each sentence of a part of `text`, except the last one.

    Whether a sentence ends at a place depends only on the SEEN code points before and after
    it, and on the white space there.
    """
    begin = start
    for found in _PLACES.finditer(text, start, stop):
        if _ends(text, begin, found, stop):
            begin = found.start() + 1
            yield begin


def _ends(text: str, begin: int, found: re.Match[str], stop: int) -> bool:
    """Whether a sentence ends with the first code point of the match."""
    white = found.group()
    if white[0].isspace() or _BETWEEN_PARAGRAPHS.search(white) is not None:
        return True
    mark = _mark(text, begin, found.start())
    if mark is None or _CLOSING.match(text, found.end(), stop) is not None:
        return False
    opened = _OPENING.match(text, found.end(), stop)
    following = found.end() if opened is None else opened.end()
    goes_on = following < stop and text[following].islower()
    if goes_on and _BETWEEN_PARAGRAPHS.search(text, found.end(), following) is None:
        return False
    if text[mark] != "." or (mark > begin and text[mark - 1] in _MARKS):
        return True
    return _ABBREVIATION.search(text[max(begin, mark - REACH) : mark]) is None


def _mark(text: str, begin: int, place: int) -> int | None:
    """The offset of the mark that ends a sentence, at `place` or before closing quotes; else
    None.
    """
    spaces = 0
    for at in range(place, max(begin, place - REACH) - 1, -1):
        if text[at] in _MARKS:
            return at
        if text[at] in _CLOSING_SIGNS:
            spaces = 0
        elif text[at].isspace() and not spaces:  # quotes that are tokens have one before them
            spaces = 1
        else:
            return None
    return None


def _trimmed(text: str, begin: int, end: int) -> Iterator[Span]:
    """A span without surrounding white space, in pieces of at most LONGEST code points."""
    begin, end = _without_space(text, begin, end)
    while end - begin > LONGEST:
        cut = _cut(text, begin, begin + LONGEST)
        yield _without_space(text, begin, cut)
        begin, _ = _without_space(text, cut, end)
    if end > begin:
        yield begin, end


def _without_space(text: str, begin: int, end: int) -> Span:
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    return begin, end


def _cut(text: str, begin: int, end: int) -> int:
    """The last white space up to `end`; else the last place that splits no word or number; else
    the last that splits no letter from its diacritics.
    """
    places = range(end, begin, -1)
    unmarked = [at for at in places if unicodedata.category(text[at])[0] != "M"]
    spaces = (at for at in places if text[at].isspace())
    between_words = (at for at in unmarked if not text[at - 1].isalnum())
    return next(chain(spaces, between_words, unmarked), end)
