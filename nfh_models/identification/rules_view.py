"""A case as rules look at it: words, tags and arcs by place, empty outside the sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.identification.case import Case
from nfh_models.identification.rules_words import (
    FRACTIONS,
    MARKS,
    NO_NOUNS,
    QUANTITIES,
    SCALES,
    TENS,
    UNITS,
)
from nfh_models.parsing.parsed import Parsed, Tree
from nfh_models.text.lexicon import parts_of

NOUNS = frozenset({"NOUN", "PROPN"})
CLIMB = 8
"""Arcs that are followed from a number to the larger one that it is part of."""


@dataclass(frozen=True, slots=True)
class View:
    """A number at tokens [start, end) of a parsed sentence.

    behind: the first token behind the whole number, past marks of emphasis and past what its
    anchor leaves out: "and a half" always, and in some files the rest of a number, as
    "hundred" where the anchor is the *eleven* of "eleven hundred".
    lows: the words in lower case, with straight apostrophes.
    """

    start: int
    end: int
    behind: int
    words: Sequence[str]
    lows: Sequence[str]
    parsed: Parsed

    @classmethod
    def of(cls, case: Case, lows: Sequence[str] | None = None) -> "View":
        """The view of a case. lows: the words in lower case, if they are known.

        Raises ValueError for a case without parts of speech or arcs, or outside its sentence.
        """
        parsed = case.parsed
        words = case.stretch.words
        size = len(words)
        if parsed is None or not len(parsed.pos) == len(parsed.heads) == size:
            raise ValueError("the rules need a case with parts of speech and dependencies")
        if not 0 <= case.start < case.end <= size:
            raise ValueError(
                f"the number at tokens {case.start} to {case.end} lies outside its sentence of "
                f"{size} tokens"
            )
        known = lower(words) if lows is None else lows
        return cls(case.start, case.end, _behind(known, case.end), words, known, parsed)

    def word(self, place: int) -> str:
        """The token as it stands."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def low(self, place: int) -> str:
        """The token in lower case."""
        return self.lows[place] if 0 <= place < len(self.lows) else ""

    def pos(self, place: int) -> str:
        """The universal part of speech."""
        return self.parsed.pos[place] if 0 <= place < len(self.lows) else ""

    def tag(self, place: int) -> str:
        """The Penn Treebank's tag; empty where the parser gives none."""
        tags = self.parsed.tags
        return tags[place] if 0 <= place < len(tags) else ""

    def head(self, place: int) -> int:
        """The token that a token hangs on; itself for a root."""
        return self.parsed.heads[place]

    def relation(self, place: int) -> str:
        """What a token is to its head."""
        return self.parsed.relations[place] if 0 <= place < len(self.lows) else ""

    def noun(self, place: int) -> bool:
        """Whether a token is a noun or a name."""
        return self.pos(place) in NOUNS

    def plural(self, place: int) -> bool:
        """Whether a token is tagged as a plural common noun."""
        return self.tag(place) == "NNS"

    def counted(self, place: int) -> bool:
        """Whether a token is a noun that a number before it may count."""
        return self.noun(place) and self.low(place) not in NO_NOUNS

    def quantity(self, place: int) -> bool:
        """Whether a token is a word that numbers count whatever it is taken for."""
        word = self.low(place)
        return word in QUANTITIES or (word == "per" and self.low(place + 1) == "cent")

    def number(self, place: int) -> bool:
        """Whether a token is a number by itself."""
        return 0 <= place < len(self.words) and bool(parts_of(self.words[place]))

    def top(self) -> int:
        """The token that the number hangs by, or that of the larger number that it is in."""
        place = self.end - 1
        for inner in range(self.start, self.end):
            head = self.head(inner)
            if head == inner or not self.start <= head < self.end:
                place = inner
        for _ in range(CLIMB):
            head = self.head(place)
            if head == place or self.pos(head) != "NUM":
                break
            place = head
        return place

    @property
    def is_one(self) -> bool:
        """Whether the number is the word *one*, a pronoun more often than not."""
        return self.end == self.start + 1 and self.lows[self.start] == "one"

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The phrases, where the parser gives them."""
        return tuple(self.parsed.trees)


def lower(words: Sequence[str]) -> list[str]:
    """Words in lower case, with straight apostrophes."""
    return [word.lower().replace("\u2019", "'") for word in words]


def _behind(lows: Sequence[str], place: int) -> int:
    """Past what belongs to the number but not to its anchor, and past marks of emphasis."""
    while place < len(lows):
        if _goes_on(lows[place - 1], lows[place]) or lows[place] in MARKS:
            place += 1
        elif lows[place] == "and" and (parts := _part_behind_and(lows, place)):
            place += parts
        else:
            break
    return place


def _goes_on(last: str, word: str) -> bool:
    return word in SCALES or (last in TENS and word in UNITS)


def _part_behind_and(lows: Sequence[str], place: int) -> int:
    """Tokens of "and a half", or of "and five" behind a hundred; 0 where there is neither."""
    behind = lows[place + 1 : place + 3]
    if len(behind) == 2 and behind[0] == "a" and behind[1] in FRACTIONS:
        return 3
    in_words = behind[:1] and behind[0].replace("-", "").isalpha() and parts_of(behind[0])
    return 2 if in_words and lows[place - 1] in SCALES else 0
