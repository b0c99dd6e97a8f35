"""Where sentences end, from the characters alone: before any tokenizer or parser.

A parser would find more of them, but only sentences with a number are parsed at all, so
they have to be found without one. A sentence that is not cut costs a longer parse and no more;
one that is cut too early tears a number from its noun, so the doubtful are left whole.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

LONGEST = 2_000
"""Code points; a longer sentence is cut at white space, so that no parse is without bound."""

_END = re.compile(
    r"""
    (?P<mark>[.!?\u2026]+)            # the marks
    (?:\s?(?:''|["'\u201d\u2019)\]]))*     # closing quotes and brackets, spaced or not
    (?=\s+(?P<open>``|["'\u201c\u2018(\[\-\u2014\u2026]*\s*)(?P<next>\S))
    | \n\s*\n                         # an empty line
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|dr|st|vs|no|nos|jr|sr|prof|rev|gen|col|capt|lt|sgt|gov|sen|rep|"
    r"mt|etc|e\.g|i\.e|u\.s|a\.m|p\.m|approx|dept|est|fig|vol|pp|p|inc|ltd|co|corp|jan|feb|mar|"
    r"apr|jun|jul|aug|sep|sept|oct|nov|dec|[a-z])$",
    re.IGNORECASE,
)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Code points [start, end) of each sentence of a part of `text`, white space left out.

    Together they hold everything but white space. A full stop ends no sentence behind an
    abbreviation or an initial, nor before a small letter.
    """
    stop = len(text) if end is None else end
    begin = start
    for found in _END.finditer(text, start, stop):
        if found["mark"] is not None and not _ends(text, begin, found):
            continue
        yield from _trimmed(text, begin, found.end())
        begin = found.end()
    yield from _trimmed(text, begin, stop)


def _ends(text: str, begin: int, found: re.Match[str]) -> bool:
    following = found["next"]
    if following.islower():
        return False
    if found["mark"] != ".":
        return True
    return _ABBREVIATION.search(text, max(begin, found.start() - 12), found.start()) is None


def _trimmed(text: str, begin: int, end: int) -> Iterator[Span]:
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    while end - begin > LONGEST:
        cut = _white_space(text, begin, begin + LONGEST)
        yield begin, cut
        begin = cut
        while begin < end and text[begin].isspace():
            begin += 1
    if end > begin:
        yield begin, end


def _white_space(text: str, begin: int, end: int) -> int:
    """The last white space before `end`; `end` itself where there is none."""
    for place in range(end - 1, begin, -1):
        if text[place].isspace():
            return place
    return end
