"""Offsets in UTF-16 code units, as browsers and UIMA count, to code points and back, exactly.

A character beyond U+FFFF is one code point and two units (a surrogate pair; The Unicode
Standard, section 3.9, D91). Texts without one have the same offsets in both.
"""

from bisect import bisect_left
from collections.abc import Sequence

LAST_OF_ONE_UNIT = "\uffff"


class SplitPairError(ValueError):
    """An offset that stands between the two halves of one character."""


class Units:
    """The offsets of one text. wide: code points at which a character of two units stands."""

    __slots__ = ("_ends", "length", "wide")

    def __init__(self, text: str) -> None:
        self.wide: Sequence[int] = ()
        if not text.isascii() and max(text, default="") > LAST_OF_ONE_UNIT:
            self.wide = [i for i, character in enumerate(text) if character > LAST_OF_ONE_UNIT]
        # In units, where the second half of each wide character begins.
        self._ends = [place + rank + 1 for rank, place in enumerate(self.wide)]
        self.length = len(text) + len(self.wide)

    def to_units(self, place: int) -> int:
        """The offset in units of a code point offset."""
        return place + bisect_left(self.wide, place) if self.wide else place

    def to_points(self, place: int) -> int:
        """The code point offset of an offset in units.

        Raises SplitPairError if it stands inside a character; offsets past the end stay so.
        """
        if not self.wide:
            return place
        rank = bisect_left(self._ends, place)
        if rank < len(self._ends) and self._ends[rank] == place:
            raise SplitPairError(f"offset {place} stands inside a character of two units")
        return place - rank
