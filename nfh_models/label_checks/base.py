"""Input and output of label checks: passages with anchors, answers and tags; findings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from nfh_models.domain import Anchor, Answer, Kind, Passage
from nfh_models.text.numbers import Span, find_numbers

NOUNS = frozenset({"NOUN", "PROPN"})
SILENT = frozenset({Kind.NOT_NFH, Kind.BROKEN})
"""Kinds that do not say that a noun is missing."""


class Severity(StrEnum):
    """ERROR: two statements in the corpus contradict each other. DOUBT: probably wrong. NOTE:
    bookkeeping, or a departure from the guidelines that may be intended.
    """

    ERROR = "error"
    DOUBT = "doubt"
    NOTE = "note"


ERROR, DOUBT, NOTE = Severity


@dataclass(frozen=True, slots=True)
class StatedAnswer:
    """An answer to an anchor."""

    who: str | None
    """The annotator's name; None for gold."""
    answer: Answer


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A row of an imported file."""

    file: str
    line: int
    split: str | None
    said: Answer | None = None
    """The answer that its label states; None where the row has none."""
    vote: bool = False
    """The file has one row for each annotator, so that another row of the anchor is no
    repetition.
    """
    who: str | None = None
    """The annotator, in a file of one annotator; else None."""


@dataclass(frozen=True, slots=True)
class CheckedNumber:
    """One anchor with its answers."""

    key: int
    anchor: Anchor
    said: tuple[StatedAnswer, ...] = ()
    """Its gold; the votes where it has no gold."""
    rows: tuple[ImportedRow, ...] = ()
    """The rows of imported files that it came from."""


@dataclass(frozen=True, slots=True)
class LabelFinding:
    """One finding."""

    check: str
    keys: tuple[int, ...]
    """The anchors concerned, the most relevant one first."""
    note: str
    """What was found, in words; it may quote the passage as it came, unescaped."""
    who: str | None = None
    """The annotator whose answer it is about; None for gold, or where it is about no answer."""


@dataclass(frozen=True)
class CheckContext:
    """A passage with what the checks need of it."""

    key: int
    """Tells passages apart."""
    passage: Passage
    cases: tuple[CheckedNumber, ...]
    tags: Sequence[str] | None = None
    """A universal part of speech for each token; None where no parser is installed."""

    @cached_property
    def words(self) -> list[str]:
        """The tokens as they stand."""
        text = self.passage.text
        return [text[token.start : token.end] for token in self.passage.tokens]

    @cached_property
    def low(self) -> list[str]:
        """The tokens in lower case, with straight apostrophes."""
        return [word.lower().replace("\u2019", "'") for word in self.words]

    @cached_property
    def numbers(self) -> list[Span]:
        """Token spans [start, end) that the number grammar finds, ascending."""
        found = []
        glued = self._glued
        for turn in self.passage.turns:
            part = slice(turn.start, turn.end)
            spans = find_numbers(self.words[part], glued[part] if glued else None)
            found += [(turn.start + start, turn.start + end) for start, end in spans]
        return found

    @cached_property
    def _glued(self) -> list[bool] | None:
        """Whether each token touches the one before it; None if no two touch, as in files that
        part all tokens.
        """
        tokens = self.passage.tokens
        glued = [False, *(left.end == right.start for left, right in pairwise(tokens))]
        return glued if any(glued) else None

    def word(self, place: int) -> str:
        """The token in lower case; "" outside the passage."""
        return self.low[place] if 0 <= place < len(self.low) else ""

    def tag(self, place: int) -> str:
        """The part of speech; "" outside the passage and without tags."""
        if self.tags is None or not 0 <= place < len(self.tags):
            return ""
        return self.tags[place]

    def lemma(self, place: int) -> str:
        return self.passage.tokens[place].lemma.casefold()

    def same_turn(self, left: int, right: int) -> bool:
        """Whether both are tokens of the passage and of one turn."""
        if not (0 <= left < len(self.low) and 0 <= right < len(self.low)):
            return False
        return self.passage.turn_of(left) == self.passage.turn_of(right)

    def following(self, anchor: Anchor) -> str:
        """The word after an anchor in the same turn; else ""."""
        place = anchor.end
        return self.word(place) if self.same_turn(anchor.end - 1, place) else ""

    def preceding(self, anchor: Anchor) -> str:
        """The word before an anchor in the same turn; else ""."""
        place = anchor.start - 1
        return self.word(place) if self.same_turn(anchor.start, place) else ""

    def text(self, start: int, end: int) -> str:
        """Tokens [start, end) as they stand, on one line."""
        return " ".join(self.passage.words(max(start, 0), min(end, len(self.low))).split())

    def said(self, *, fused: bool = True) -> Iterator[tuple[CheckedNumber, StatedAnswer]]:
        """Each answer with its anchor. fused: only those that say that a noun is missing."""
        for number in self.cases:
            for said in number.said:
                if not fused or said.answer.kind not in SILENT:
                    yield number, said


Look = Callable[[CheckContext], Iterable[LabelFinding]]

Note = Callable[[CheckContext, Anchor, Answer], str]
"""What is wrong with an answer, in words; "" for nothing."""


def no_findings(_context: CheckContext) -> Iterator[LabelFinding]:
    """The `look` of checks whose findings come from elsewhere."""
    return iter(())


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """A check of one passage at a time."""

    name: str
    severity: Severity
    sentence: str
    """What is wrong with its findings."""
    look: Look
    rule: int | None = None
    """The rule of the guidelines that decides it, if there is one."""
    tagged: bool = False
    """Needs parts of speech; it finds nothing without them."""


def check_of_answers(
    name: str,
    severity: Severity,
    sentence: str,
    note: Note,
    rule: int | None = None,
    *,
    tagged: bool = False,
) -> LabelCheck:
    """A check of one answer at a time, of those that say that a noun is missing."""

    def look(context: CheckContext) -> Iterator[LabelFinding]:
        for number, said in context.said():
            if found := note(context, number.anchor, said.answer):
                yield LabelFinding(name, (number.key,), found, said.who)

    return LabelCheck(name, severity, sentence, look, rule, tagged)
