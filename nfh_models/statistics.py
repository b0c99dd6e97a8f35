"""The figures of the paper's sections 4.3 and 5.4, for numbers of any source. Pure functions
and counters over plain records, in memory that does not grow with them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nfh_models.domain import (
    PAPER_CLASSES,
    Anchor,
    Answer,
    Kind,
    Passage,
    paper_class,
)


@dataclass(frozen=True, slots=True)
class PassageNumber:
    """A number in its passage."""

    passage_id: int
    """The same for the numbers of one passage."""
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    nfh: bool | None
    """Whether its noun is said to be missing; None where that is not said."""
    answer: Answer | None = None
    """What gold says; None where there is none, or where a model speaks, which says no more
    than `nfh`."""

    @classmethod
    def of_gold(
        cls,
        passage_id: int,
        document: str,
        split: str | None,
        passage: Passage,
        anchor: Anchor,
        answer: Answer | None,
    ) -> "PassageNumber":
        """A number with its gold, None where it has none."""
        nfh = None if answer is None else answer.kind.identification
        return cls(passage_id, document, split, passage, anchor, nfh, answer)

    @property
    def broken(self) -> bool:
        """Whether gold says that nothing can be said of it."""
        return self.answer is not None and self.answer.kind is Kind.BROKEN

    @property
    def text(self) -> str:
        """The anchor's tokens in small letters, with a space between them."""
        words = (self.passage.word(at) for at in range(self.anchor.start, self.anchor.end))
        return " ".join(words).lower()


# What the paper reports of its own data, to stand beside ours.
#
# Elazar and Goldberg 2019, "Where's My Head? Definition, Data Set, and Models for Numeric
# Fused-Head Identification and Resolution", Transactions of the ACL 7:519-535
# (https://arxiv.org/abs/1905.10886), sections 2, 4.3 and 5.4 and table 2. Where the paper's
# own figures contradict each other, the docstring says so.


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure: how many of how many. printed: the share that the paper prints, where that
    is not what its counts come to, or where it prints no counts."""

    count: int | None
    of: int | None
    printed: float | None = None

    @property
    def share(self) -> float:
        """The share that the paper prints, else what its counts come to."""
        if self.printed is not None:
            return self.printed
        if self.count is None or not self.of:
            raise ValueError("a published share needs counts or its printed value")
        return self.count / self.of


NUMBERS: Mapping[str, PaperFigure] = {
    "train": PaperFigure(71_821, 165_606),
    "dev": PaperFigure(7_865, 18_401),
    "test": PaperFigure(206, 500),
}
"""NFHs among the labelled numbers of the identification files (table 2)."""

ELSEWHERE: Mapping[str, float] = {
    "TED talks": 0.355,
    "WikiText-2": 0.332,
    "WikiText-103": 0.329,
    "Penn Treebank": 0.222,
    "Amazon reviews": 0.375,
}
"""Share of numbers that are NFHs by the identifier, in other texts (section 2)."""

IDENTIFICATION_WORDS: Mapping[str, PaperFigure] = {
    "one": PaperFigure(48_788, None, 0.610),
    "two": PaperFigure(6_263, None, 0.084),
}
"""The most common anchors of identification (section 4.3). 6,263 of the paper's 79,884 NFHs
would be 7.8 %; it prints 8.4 %."""

DISTINCT = PaperFigure(1_803, None, 0.022)
"""Different anchors of identification (section 4.3)."""

LENGTHS: Mapping[int, PaperFigure] = {
    1: PaperFigure(None, None, 0.974),
    2: PaperFigure(None, None, 0.013),
}
"""Anchors by length in tokens (section 4.3)."""

LONGEST = 8
WORDS = PaperFigure(None, None, 0.867)
DIGITS = PaperFigure(None, None, 0.133)
"""Longest anchor in tokens; anchors in words and in digits (section 4.3)."""

EXAMPLES = 9_412
TOKENS = 900_777
"""Examples of resolution, and the tokens of their passages, each once an example
(section 5.4)."""

RESOLUTION_WORDS: Mapping[str, PaperFigure] = {"one": PaperFigure(None, None, 0.490)}
"""The most common anchor of resolution (section 5.4)."""

ONCE = PaperFigure(377, None, 0.039)
"""Anchors of resolution that occur once (section 5.4)."""

CLASSES: Mapping[Kind, PaperFigure] = {
    Kind.REFERENCE: PaperFigure(4_237, EXAMPLES),
    Kind.YEAR: PaperFigure(485, EXAMPLES),
    Kind.AGE: PaperFigure(1_081, EXAMPLES),
    Kind.CURRENCY: PaperFigure(386, EXAMPLES),
    Kind.PEOPLE: PaperFigure(799, EXAMPLES),
    Kind.TIME: PaperFigure(216, EXAMPLES),
    Kind.OTHER: PaperFigure(2_208, EXAMPLES),
}
"""Counts from the authors' notebook; the paper draws them as a chart (figure 4)."""

HEADS: Mapping[int, PaperFigure] = {
    1: PaperFigure(3_983, 4_237),
    2: PaperFigure(238, 4_237),
    3: PaperFigure(16, 4_237),
}
"""References by number of different head words; 3 stands for three or more (section 5.4).
The paper prints 3,938 for one head, which leaves 45 out: the notebook has 3,983."""

SAME_SENTENCE = PaperFigure(2_019, 4_237)
NEXT_SENTENCE = PaperFigure(1_747, 4_237)
"""Heads in the anchor's sentence, and in the one before or after it (section 5.4)."""

BEFORE = PaperFigure(None, None, 0.827)
AFTER = PaperFigure(None, None, 0.051)
BOTH = PaperFigure(None, None, 0.122)
"""Heads before the anchor, after it, and on both sides (section 5.4)."""


@dataclass(slots=True)
class ValueCounts:
    """Counts by value. Memory grows with the number of different values only."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, value: int) -> None:
        """Count one value."""
        self.counts[value] += 1

    @property
    def n(self) -> int:
        """How many values were counted."""
        return self.counts.total()

    @property
    def total(self) -> int:
        """Their sum."""
        return sum(value * times for value, times in self.counts.items())

    @property
    def mean(self) -> float | None:
        """None where nothing was counted."""
        n = self.n
        return self.total / n if n else None

    @property
    def most(self) -> int | None:
        """The greatest value; None where nothing was counted."""
        return max(self.counts, default=None)

    @property
    def median(self) -> float | None:
        """The middle value, or the mean of the two in the middle; None without any."""
        n = self.n
        if not n:
            return None
        return (self._ranked((n - 1) // 2) + self._ranked(n // 2)) / 2

    def _ranked(self, place: int) -> int:
        """The value at a place, from 0, of all of them in ascending order."""
        passed = 0
        for value in sorted(self.counts):
            passed += self.counts[value]
            if passed > place:
                return value
        raise IndexError(place)

    def within(self, limit: int) -> int:
        """How many values are at most `limit`."""
        return sum(times for value, times in self.counts.items() if value <= limit)

    def between(self, low: int, high: int) -> int:
        """How many values are in [low, high], both ends included."""
        return sum(times for value, times in self.counts.items() if low <= value <= high)


@dataclass(frozen=True, slots=True)
class AnchorWord:
    """An anchor's text in small letters. nfh: how often it is one; numbers: how often it is
    said to be one or none."""

    text: str
    nfh: int
    numbers: int


@dataclass(slots=True)
class Anchors:
    """Counts over numbers of which it is said whether they are NFHs; all but `numbers` are of
    the NFHs among them.
    """

    numbers: Counter[str] = field(default_factory=Counter)
    nfh: Counter[str] = field(default_factory=Counter)
    """`numbers` and `nfh`: how often each text came up, in small letters."""
    lengths: ValueCounts = field(default_factory=ValueCounts)
    """In tokens."""
    longest: str = ""
    """The first anchor of the greatest length."""
    words: int = 0
    """Without a digit."""
    digits: int = 0
    """With one."""
    mixed: int = 0
    """Those of `digits` that hold a letter, too."""
    _longest: int = 0

    def add(self, number: PassageNumber) -> None:
        """Count a number whose `nfh` is not None."""
        text = number.text
        self.numbers[text] += 1
        if not number.nfh:
            return
        self.nfh[text] += 1
        length = number.anchor.end - number.anchor.start
        self.lengths.add(length)
        if length > self._longest:
            self.longest, self._longest = text, length
        if any(map(str.isdigit, text)):
            self.digits += 1
            self.mixed += any(map(str.isalpha, text))
        else:
            self.words += 1

    @property
    def n(self) -> int:
        """How many NFHs."""
        return self.words + self.digits

    @property
    def distinct(self) -> int:
        """How many different texts, small letters and capitals taken as one."""
        return len(self.nfh)

    @property
    def once(self) -> int:
        """How many texts came up once."""
        return sum(times == 1 for times in self.nfh.values())

    def most_common(self, most: int) -> list[AnchorWord]:
        """The most common texts, at most `most`, equal ones in the order of the alphabet."""
        ranked = sorted(self.nfh.items(), key=lambda item: (-item[1], item[0]))
        return [AnchorWord(text, times, self.numbers[text]) for text, times in ranked[:most]]


class HeadSide(StrEnum):
    """On which side of the anchor its heads stand."""

    BEFORE = "before"
    AFTER = "after"
    BOTH = "both"


class Speaker(StrEnum):
    """Who says the nearest head: as the anchor's turn, another, or the source does not say."""

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class HeadStatistics:
    """Counts over the numbers whose answer is REFERENCE."""

    nouns: ValueCounts = field(default_factory=ValueCounts)
    words: ValueCounts = field(default_factory=ValueCounts)
    mentions: ValueCounts = field(default_factory=ValueCounts)
    """`nouns`, `words` and `mentions`: how many heads an anchor has, counted by noun, by
    different words in small letters (as the paper counts), and by marked or added place."""
    distance: ValueCounts = field(default_factory=ValueCounts)
    """In tokens, from the nearest head to the nearest token of the anchor: 1 is beside it."""
    sides: Counter[HeadSide] = field(default_factory=Counter)
    turns: ValueCounts = field(default_factory=ValueCounts)
    """Ranks of turns between the anchor and the head whose turn is nearest, 0 is the same."""
    speakers: Counter[Speaker] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """How many References."""
        return self.distance.n

    def add(self, number: PassageNumber) -> None:
        """Count a number whose answer is a REFERENCE."""
        answer, passage, anchor = number.answer, number.passage, number.anchor
        if answer is None:
            raise ValueError("a number without an answer has no heads to count")
        tokens = answer.head_tokens()
        self.nouns.add(len(answer.heads))
        self.words.add(len({passage.word(token).lower() for token in tokens}))
        self.mentions.add(len(tokens))
        nearest = min(tokens, key=lambda token: (distance(anchor, token), token))
        self.distance.add(distance(anchor, nearest))
        self.sides[side(anchor, tokens)] += 1
        here = passage.turn_of(anchor.start)
        self.turns.add(min(abs(passage.turn_of(token) - here) for token in tokens))
        self.speakers[_speaker(passage, here, passage.turn_of(nearest))] += 1


def distance(anchor: Anchor, token: int) -> int:
    """Tokens from a head to the nearest token of the anchor; 1 where they are neighbours."""
    if token < anchor.start:
        return anchor.start - token
    return max(0, token - anchor.end + 1)


def side(anchor: Anchor, tokens: Sequence[int]) -> HeadSide:
    """On which side of the anchor head tokens stand, in ascending order."""
    if tokens[-1] < anchor.start:
        return HeadSide.BEFORE
    return HeadSide.BOTH if tokens[0] < anchor.start else HeadSide.AFTER


def _speaker(passage: Passage, here: int, there: int) -> Speaker:
    if here == there:
        return Speaker.SAME
    ours, theirs = passage.turns[here].speaker, passage.turns[there].speaker
    if ours is None or theirs is None:
        return Speaker.UNKNOWN
    return Speaker.SAME if ours == theirs else Speaker.OTHER


@dataclass(slots=True)
class CorpusSize:
    """Counts over numbers of which something is said; those of one passage come together."""

    nfh: int = 0
    not_nfh: int = 0
    broken: int = 0
    """`nfh`, `not_nfh` and `broken`: what is said of them."""
    classes: Counter[Kind] = field(default_factory=Counter)
    """Of NFHs whose answer names one of the paper's seven, UNKNOWN among OTHER."""
    unknown: int = 0
    """How many of OTHER are UNKNOWN."""
    no_class: int = 0
    """NFHs without a class."""
    tokens: ValueCounts = field(default_factory=ValueCounts)
    turns: ValueCounts = field(default_factory=ValueCounts)
    """`tokens` and `turns`: of each passage, each once."""
    read: ValueCounts = field(default_factory=ValueCounts)
    """Tokens of each number's passage, so that a passage counts once a number, as the paper
    counts examples."""
    _passage: int | None = None

    def add(self, number: PassageNumber) -> None:
        """Count a number that is an NFH, or none, or broken."""
        if number.broken:
            self.broken += 1
        elif number.nfh:
            self.nfh += 1
            self._class(number)
        else:
            self.not_nfh += 1
        size = len(number.passage.tokens)
        self.read.add(size)
        if number.passage_id != self._passage:
            self._passage = number.passage_id
            self.tokens.add(size)
            self.turns.add(len(number.passage.turns))

    def _class(self, number: PassageNumber) -> None:
        kind = None if number.answer is None else number.answer.kind
        found = None if kind is None else paper_class(kind)
        if found is None:
            self.no_class += 1
            return
        self.classes[found] += 1
        self.unknown += kind is Kind.UNKNOWN

    @property
    def numbers(self) -> int:
        """How many numbers were counted."""
        return self.nfh + self.not_nfh + self.broken

    @property
    def said(self) -> int:
        """Numbers of which it is said whether they are NFHs: what the share is of."""
        return self.nfh + self.not_nfh

    @property
    def share(self) -> float | None:
        """NFHs among them; None where nothing is said of any.

        It says nothing of a text where only NFHs were labelled, as in files of the resolution
        release: `not_nfh` is 0 there.
        """
        return self.nfh / self.said if self.said else None

    @property
    def with_class(self) -> int:
        """NFHs whose answer names a class."""
        return self.nfh - self.no_class

    @property
    def passages(self) -> int:
        """How many passages the numbers stand in."""
        return self.tokens.n

    def ranked(self) -> list[tuple[Kind, int]]:
        """The paper's classes with their counts, in its order."""
        return [(kind, self.classes[kind]) for kind in PAPER_CLASSES]


GroupOf = Callable[[PassageNumber], str | None]
"""The name of the group that a number is in; None for those that are in none."""


@dataclass(slots=True)
class Statistics:
    """All the figures. unsaid: numbers of which nothing is said; they are in no other figure.

    groups: sizes by group, None for the numbers in none; empty where none were asked for.
    """

    unsaid: int = 0
    size: CorpusSize = field(default_factory=CorpusSize)
    anchors: Anchors = field(default_factory=Anchors)
    heads: HeadStatistics = field(default_factory=HeadStatistics)
    groups: dict[str | None, CorpusSize] = field(default_factory=dict)

    @property
    def found(self) -> int:
        """How many numbers passed by."""
        return self.unsaid + self.size.numbers


def count(numbers: Iterable[PassageNumber], group_of: GroupOf | None = None) -> Statistics:
    """The figures of numbers, those of one passage one behind the other.

    Memory grows with the number of different texts, lengths and groups, not of numbers.
    """
    found = Statistics()
    for number in numbers:
        if number.nfh is None and not number.broken:
            found.unsaid += 1
            continue
        found.size.add(number)
        if group_of is not None:
            group = group_of(number)
            if group not in found.groups:
                found.groups[group] = CorpusSize()
            found.groups[group].add(number)
        if number.nfh is not None:
            found.anchors.add(number)
        if number.answer is not None and number.answer.kind is Kind.REFERENCE:
            found.heads.add(number)
    return found
