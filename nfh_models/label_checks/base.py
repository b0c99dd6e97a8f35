"""What the checks look at: one passage with its anchors, their answers, and word classes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from nfh_models.domain import Anchor, Answer, Kind, Passage
from nfh_models.text.numbers import Span, find_numbers

NOUNS = frozenset({"NOUN", "PROPN"})
SILENT = frozenset({Kind.NOT_NFH, Kind.BROKEN})
"""Kinds that say of an anchor that no noun is missing, or nothing at all."""


class Severity(StrEnum):
    """How sure a finding is.

    ERROR: two things in the corpus contradict each other, whoever is right. DOUBT: probably
    wrong. NOTE: bookkeeping, or a departure from the guidelines that may be meant.
    """

    ERROR = "error"
    DOUBT = "doubt"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class StatedAnswer:
    """An answer to an anchor. who: an annotator's name; None for gold."""

    who: str | None
    answer: Answer


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A row of an imported file. said: what its label says; None where the row has none.

    vote: the row is one of several people's answers, so that another row of its anchor is
    no repetition. who: of the one person whose answers the file holds; None elsewhere.
    """

    file: str
    line: int
    split: str | None
    said: Answer | None = None
    vote: bool = False
    who: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedNumber:
    """One anchor. said: its gold, or where it has none the votes. rows: where it came from."""

    key: int
    anchor: Anchor
    said: tuple[StatedAnswer, ...] = ()
    rows: tuple[ImportedRow, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelFinding:
    """One thing found. keys: the anchors concerned, the one to look at first in front.

    note: what was found here, in words; text of the passage in it is as it came.
    who: whose answer it is about; None for gold, or where it is about no answer.
    """

    check: str
    keys: tuple[int, ...]
    note: str
    who: str | None = None


@dataclass(frozen=True)
class CheckContext:
    """A passage ready to be checked.

    key: tells passages apart. tags: a universal part of speech a token; None where no
    parser is installed.
    """

    key: int
    passage: Passage
    cases: tuple[CheckedNumber, ...]
    tags: Sequence[str] | None = None

    @cached_property
    def words(self) -> list[str]:
        """The tokens as they stand."""
        text = self.passage.text
        return [text[token.start : token.end] for token in self.passage.tokens]

    @cached_property
    def low(self) -> list[str]:
        """The tokens in lower case, apostrophes straight."""
        return [word.lower().replace("\u2019", "'") for word in self.words]

    @cached_property
    def numbers(self) -> list[Span]:
        """Spans of the number grammar, turn by turn, ascending."""
        found = []
        glued = self._glued
        for turn in self.passage.turns:
            part = slice(turn.start, turn.end)
            spans = find_numbers(self.words[part], glued[part] if glued else None)
            found += [(turn.start + start, turn.start + end) for start, end in spans]
        return found

    @cached_property
    def _glued(self) -> list[bool] | None:
        """Whether each token touches the one before it; None if none does: not known then."""
        tokens = self.passage.tokens
        glued = [False, *(left.end == right.start for left, right in pairwise(tokens))]
        return glued if any(glued) else None

    @cached_property
    def in_numbers(self) -> frozenset[int]:
        """Tokens that are part of a number."""
        return frozenset(i for start, end in self.numbers for i in range(start, end))

    def word(self, place: int) -> str:
        """The token in lower case; "" outside the passage."""
        return self.low[place] if 0 <= place < len(self.low) else ""

    def tag(self, place: int) -> str:
        """The part of speech; "" outside the passage and where none is known."""
        if self.tags is None or not 0 <= place < len(self.tags):
            return ""
        return self.tags[place]

    def lemma(self, place: int) -> str:
        """The lemma, in lower case."""
        return self.passage.tokens[place].lemma.casefold()

    def same_turn(self, left: int, right: int) -> bool:
        """Whether both places are tokens of one turn."""
        if not (0 <= left < len(self.low) and 0 <= right < len(self.low)):
            return False
        return self.passage.turn_of(left) == self.passage.turn_of(right)

    def following(self, anchor: Anchor) -> str:
        """The word behind an anchor, if it is said in the same turn; else ""."""
        place = anchor.end
        return self.word(place) if self.same_turn(anchor.end - 1, place) else ""

    def preceding(self, anchor: Anchor) -> str:
        """The word before an anchor, if it is said in the same turn; else ""."""
        place = anchor.start - 1
        return self.word(place) if self.same_turn(anchor.start, place) else ""

    def text(self, start: int, end: int) -> str:
        """Tokens [start, end) as they stand, on one line."""
        return " ".join(self.passage.words(max(start, 0), min(end, len(self.low))).split())

    def said(self, *, fused: bool = True) -> Iterator[tuple[CheckedNumber, StatedAnswer]]:
        """Each answer with its anchor. fused: only those that say a noun is missing."""
        for case in self.cases:
            for said in case.said:
                if not fused or said.answer.kind not in SILENT:
                    yield case, said


Look = Callable[[CheckContext], Iterable[LabelFinding]]


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """A check of one passage at a time. sentence: what is wrong with what it finds.

    rule: of the guidelines, where one decides it. tagged: needs parts of speech, and finds
    nothing without them.
    """

    name: str
    severity: Severity
    sentence: str
    look: Look
    rule: int | None = None
    tagged: bool = False
