"""Where the text that a worker marked stands in the context.

A browser gives a selection as its text and two offsets, where it began and where it ended,
each counted within one text node; which nodes is not stored, and the second may lie before
the first. All readings are tried. A place counts if both offsets lead to its two ends in
one way of cutting the context, the text between them the one that was marked.
"""

from collections.abc import Iterable

from nfh_db.formats.amt_text import Layout, Letters, Shown, Span
from nfh_db.formats.amt_trouble import Trouble, UnusableRow


def places(
    layouts: Iterable[Layout], letters: Letters, marked: str, pair: tuple[int, int]
) -> set[Span]:
    """The letters [first, last) of each place that fits text and offsets, under any reading.

    pair: anchor and focus of the selection, in UTF-16 code units from their nodes' starts.
    """
    wanted = "".join(marked.split())
    found: set[Span] = set()
    for layout in layouts:
        for begun, ended in {pair, pair[::-1]}:
            ranks: dict[int, int] = {}
            for rank, first in layout.letters_before(begun):
                ranks.setdefault(first, rank)
            for rank, last in layout.letters_before(ended):
                first = last - len(wanted)
                in_order = ranks.get(first, rank + 1) <= rank
                if in_order and letters.string.startswith(wanted, first):
                    found.add((first, last))
    return found


def find(
    context: Shown, layouts: Iterable[Layout], marked: str, pair: tuple[int, int] | None
) -> tuple[Span, bool]:
    """Code points [start, end) of the marked text, and whether its offsets said so.

    Where no offsets are given, or none fit, the text must stand in the context only once.
    Raises UnusableRow where there is no place, or more than one.
    """
    if not marked.strip():
        raise UnusableRow(Trouble.NOTHING_MARKED)
    fitting = set() if pair is None else places(layouts, context.letters, marked, pair)
    if len(fitting) > 1:
        raise UnusableRow(Trouble.MARK_AMBIGUOUS, marked)
    if fitting:
        return context.letters.span(*fitting.pop()), True
    standing = occurrences(context.text, marked, 2)
    if len(standing) != 1:
        reason = Trouble.MARK_AMBIGUOUS if standing else Trouble.MARK_MISSING
        raise UnusableRow(reason, marked)
    return standing[0], False


def occurrences(text: str, words: str, limit: int) -> list[Span]:
    """Code points [start, end) of the first places where the words stand, any white space
    between them taken for any other. At most `limit`, of which some may overlap."""
    wanted = " ".join(words.split())
    if not wanted:
        return []
    plain, origin = _single_spaced(text)
    found: list[Span] = []
    place = plain.find(wanted)
    while place >= 0 and len(found) < limit:
        found.append((origin[place], origin[place + len(wanted) - 1] + 1))
        place = plain.find(wanted, place + 1)
    return found


def _single_spaced(text: str) -> tuple[str, list[int]]:
    """The text with single spaces between words, and the place of each of its characters."""
    signs: list[str] = []
    origin: list[int] = []
    for place, sign in enumerate(text):
        if not sign.isspace():
            signs.append(sign)
            origin.append(place)
        elif signs and signs[-1] != " ":
            signs.append(" ")
            origin.append(place)
    return "".join(signs), origin
