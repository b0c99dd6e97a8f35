"""Captions that roll: each cue shows the line of the cue before again, over its own.

Captions that a machine made, with a time for each word, do so; there the lines shown again are
left out. Elsewhere the same words may have been said twice, and are kept.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from nfh_db.formats.cues import Cue
from nfh_db.formats.wording import counted

TAGS = re.compile(r"<[^<>]*>")
WORD_TIMES = re.compile(r"<(?:\d{2,}:)?\d\d:\d\d\.\d{3}>", re.ASCII)

MANY = 0.2
"""Share of cues that begin as the one before ended, from which it is said."""


def word_times(cue: Cue) -> bool:
    """Whether a cue has times of words."""
    return any(WORD_TIMES.search(text) for _, text in cue.lines)


class Rolling:
    """Takes out what is shown again. sure: the captions roll, as times of words tell."""

    def __init__(self, *, sure: bool) -> None:
        self._sure = sure
        self._cues = 0
        self._again = 0
        self._until = -1
        self._shown = ""

    def new(self, cue: Cue) -> Cue:
        """The cue without the line that was shown last, if it begins with it at once."""
        plain = [TAGS.sub("", text).strip() for _, text in cue.lines]
        joins = cue.begin <= self._until
        self._cues += 1
        self._until = cue.until
        if not any(plain):
            return cue
        again = joins and plain[0] == self._shown
        self._again += again
        self._shown = next(text for text in reversed(plain) if text)
        return replace(cue, lines=cue.lines[1:]) if again and self._sure else cue

    def warnings(self) -> Iterator[str]:
        """A sentence on what was left out, or what may have been."""
        if self._sure and self._again:
            yield f"{counted(self._again, 'line')} that rolling captions show again left out"
        elif self._again > MANY * self._cues:
            yield (
                f"{counted(self._again, 'cue')} of {self._cues:,} begin with the last line of "
                "the cue before, and were kept; if the captions roll, that line was said once"
            )
