"""What the tasks of a file say together of a text that several of them are of.

Each annotator's task of a text is read by itself, but all are to be of one passage with the
same tokens, and whoever passes a text over passes over the numbers that others mark in it.
"""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from nfh_db.formats.marked import ANSWERS, Spot
from nfh_db.formats.options import IGNORE, Span


@dataclass(slots=True)
class Texts:
    """Marks in code points, by the hash of their text.

    bounds: spans on which tokens must begin and end. numbers: spans that are numbers.
    """

    _bounds: dict[bytes, set[Span]] = field(default_factory=dict)
    _numbers: dict[bytes, set[Span]] = field(default_factory=dict)

    def note(self, text: str, spots: Iterable[Spot], *, whole: Collection[Span] = ()) -> None:
        """Take what one task marks; labels are our own. whole: tokens that it comes with of
        ours, on whose bounds marks need no care.
        """
        spots = [spot for spot in spots if spot.label != IGNORE]
        if not spots:
            return
        key = _hash(text)
        starts, ends = {start for start, _ in whole}, {end for _, end in whole}
        loose = {
            (spot.start, spot.end)
            for spot in spots
            if spot.start not in starts or spot.end not in ends
        }
        if loose:
            self._bounds.setdefault(key, set()).update(loose)
        numbers = {(spot.start, spot.end) for spot in spots if spot.label in ANSWERS}
        if numbers and not whole:
            self._numbers.setdefault(key, set()).update(numbers)

    def bounds(self, text: str) -> Collection[Span]:
        """Spans of a text that tokens are cut at."""
        return self._bounds.get(_hash(text), ()) if self._bounds else ()

    def numbers(self, text: str) -> Collection[Span]:
        """Numbers that tasks mark in a text, in their order."""
        return sorted(self._numbers.get(_hash(text), ())) if self._numbers else ()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
