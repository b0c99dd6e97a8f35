"""The corpus figures of the paper's sections 4.3 and 5.4, for numbers of any source.

Counters over plain records; memory does not grow with the number of records. The figures that
the paper prints stand beside them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from nfh_models.domain import PAPER_CLASSES, Anchor, Answer, Kind, Passage, paper_class


def share(part: int, whole: int) -> float | None:
    """part / whole; None where the whole is 0."""
    return part / whole if whole else None


class Share:
    """An attribute of a class with counts: the share that one of them is of another, named as
    for `attrgetter`; None where the other is 0.
    """

    def __init__(self, part: str, whole: str) -> None:
        self._counts = attrgetter(part, whole)

    def __get__(self, counted: object, kind: type | None = None) -> float | None:
        return share(*self._counts(counted))


@dataclass(frozen=True, slots=True)
class PassageNumber:
    """A number in its passage."""

    passage_id: int
    """The same for all numbers of a passage."""
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    nfh: bool | None
    """Whether it is a fused head; None if unknown."""
    answer: Answer | None = None
    """Gold; None without gold, and for numbers identified by a model, which say only `nfh`."""

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
        """Whether gold is BROKEN."""
        return self.answer is not None and self.answer.kind is Kind.BROKEN

    @property
    def text(self) -> str:
        """The anchor's tokens in lower case, separated by spaces."""
        words = (self.passage.word(at) for at in range(self.anchor.start, self.anchor.end))
        return " ".join(words).lower()


# --- the paper's figures of its own data
# --------------------------------------------------------
#
# Elazar and Goldberg 2019, "Where's My Head? Definition, Data Set, and Models for Numeric
# Fused-Head Identification and Resolution", Transactions of the ACL 7:519-535
# (https://arxiv.org/abs/1905.10886), sections 2, 4.3 and 5.4 and table 2. Where the paper's own
# figures contradict each other, the docstring says so.


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure of the paper: a count and its total."""

    count: int | None
    of: int | None
    printed: float | None = None
    """The share that the paper prints, if its counts give another one or are not printed."""

    @property
    def share(self) -> float:
        """The share that the paper prints, else the one of its counts."""
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
"""Share of numbers that the identifier takes for NFHs, in other texts (section 2)."""

IDENTIFICATION_WORDS: Mapping[str, PaperFigure] = {
    "one": PaperFigure(48_788, None, 0.610),
    "two": PaperFigure(6_263, None, 0.084),
}
"""The most frequent anchors of identification (section 4.3). 6,263 of the paper's 79,884 NFHs
are 7.8 %; it prints 8.4 %.
"""

DISTINCT = PaperFigure(1_803, None, 0.022)
"""Distinct anchors of identification (section 4.3)."""

LENGTHS: Mapping[int, PaperFigure] = {
    1: PaperFigure(None, None, 0.974),
    2: PaperFigure(None, None, 0.013),
}
"""Anchors by length in tokens (section 4.3)."""

LONGEST = 8
WORDS = PaperFigure(None, None, 0.867)
DIGITS = PaperFigure(None, None, 0.133)
"""Length of the longest anchor in tokens; anchors in words and in digits (section 4.3)."""

EXAMPLES = 9_412
TOKENS = 900_777
"""Examples of resolution, and the tokens of their passages, counted once for each example
(section 5.4).
"""

RESOLUTION_WORDS: Mapping[str, PaperFigure] = {"one": PaperFigure(None, None, 0.490)}
"""The most frequent anchor of resolution (section 5.4)."""

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
"""Counts from the authors' notebook; the paper has them as a chart (figure 4)."""

HEADS: Mapping[int, PaperFigure] = {
    1: PaperFigure(3_983, 4_237),
    2: PaperFigure(238, 4_237),
    3: PaperFigure(16, 4_237),
}
"""References by number of distinct head words; 3 stands for three or more (section 5.4). The
paper prints 3,938 for one head, which omits 45; the notebook has 3,983.
"""

SAME_SENTENCE = PaperFigure(2_019, 4_237)
NEXT_SENTENCE = PaperFigure(1_747, 4_237)
"""Heads in the anchor's sentence, and in the one before or after it (section 5.4)."""

BEFORE = PaperFigure(None, None, 0.827)
AFTER = PaperFigure(None, None, 0.051)
BOTH = PaperFigure(None, None, 0.122)
"""Heads before the anchor, after it, and on both sides (section 5.4)."""


@dataclass(slots=True)
class ValueCounts:
    """Counts by value; memory grows only with the number of distinct values."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, value: int) -> None:
        self.counts[value] += 1

    @property
    def n(self) -> int:
        """The number of values counted."""
        return self.counts.total()

    @property
    def total(self) -> int:
        return sum(value * times for value, times in self.counts.items())

    mean = Share("total", "n")
    """None where nothing was counted."""

    @property
    def most(self) -> int | None:
        """The largest value; None where nothing was counted."""
        return max(self.counts, default=None)

    @property
    def median(self) -> float | None:
        """The middle value, or the mean of the two in the middle; None where nothing was
        counted.
        """
        n = self.n
        if not n:
            return None
        return (self._ranked((n - 1) // 2) + self._ranked(n // 2)) / 2

    def _ranked(self, place: int) -> int:
        """The value at an index of the sorted values."""
        passed = 0
        for value in sorted(self.counts):
            passed += self.counts[value]
            if passed > place:
                return value
        raise IndexError(place)

    def within(self, limit: int) -> int:
        """The number of values of at most `limit`."""
        return sum(times for value, times in self.counts.items() if value <= limit)

    def between(self, low: int, high: int) -> int:
        """The number of values in [low, high], both included."""
        return sum(times for value, times in self.counts.items() if low <= value <= high)


@dataclass(frozen=True, slots=True)
class AnchorWord:
    """The text of an anchor in lower case."""

    text: str
    nfh: int
    """Occurrences as an NFH."""
    numbers: int
    """Occurrences that are known to be an NFH or not."""


@dataclass(slots=True)
class Anchors:
    """Counts over numbers with a known `nfh`; all but `numbers` are of the NFHs among them."""

    numbers: Counter[str] = field(default_factory=Counter)
    nfh: Counter[str] = field(default_factory=Counter)
    """`numbers` and `nfh`: occurrences by text in lower case."""
    lengths: ValueCounts = field(default_factory=ValueCounts)
    """In tokens."""
    longest: str = ""
    """The first anchor of the greatest length."""
    words: int = 0
    """Without a digit."""
    digits: int = 0
    """With a digit."""
    mixed: int = 0
    """Of `digits`, those that also have a letter."""
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
        """The number of NFHs."""
        return self.words + self.digits

    @property
    def distinct(self) -> int:
        """Distinct texts in lower case."""
        return len(self.nfh)

    @property
    def once(self) -> int:
        """Texts that occur once."""
        return sum(times == 1 for times in self.nfh.values())

    def most_common(self, most: int) -> list[AnchorWord]:
        """The most frequent texts, at most `most`; ties in alphabetical order."""
        ranked = sorted(self.nfh.items(), key=lambda item: (-item[1], item[0]))
        return [AnchorWord(text, times, self.numbers[text]) for text, times in ranked[:most]]


class HeadSide(StrEnum):
    """The side of the anchor on which its heads stand."""

    BEFORE = "before"
    AFTER = "after"
    BOTH = "both"


class Speaker(StrEnum):
    """Who says the nearest head: the anchor's speaker, another one, or not stated by the
    source.
    """

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class HeadStatistics:
    """Counts over the numbers whose answer is REFERENCE."""

    nouns: ValueCounts = field(default_factory=ValueCounts)
    words: ValueCounts = field(default_factory=ValueCounts)
    mentions: ValueCounts = field(default_factory=ValueCounts)
    """Heads of an anchor by noun (`nouns`), by distinct words in lower case (`words`, as in the
    paper), and by mention (`mentions`).
    """
    distance: ValueCounts = field(default_factory=ValueCounts)
    """Tokens from the nearest head to the nearest token of the anchor; 1 is adjacent."""
    sides: Counter[HeadSide] = field(default_factory=Counter)
    turns: ValueCounts = field(default_factory=ValueCounts)
    """Turns from the anchor to the head whose turn is nearest, by rank; 0 is the same turn."""
    speakers: Counter[Speaker] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """The number of References."""
        return self.distance.n

    def add(self, number: PassageNumber) -> None:
        """Count a number whose answer is REFERENCE."""
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
    """Tokens from a head to the nearest token of the anchor; 1 is adjacent, 0 inside it."""
    if token < anchor.start:
        return anchor.start - token
    return max(0, token - anchor.end + 1)


def side(anchor: Anchor, tokens: Sequence[int]) -> HeadSide:
    """The side of the anchor on which head tokens stand; they are ascending."""
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
    """Counts over numbers that are NFHs, not NFHs, or BROKEN; those of one passage come
    together.
    """

    nfh: int = 0
    not_nfh: int = 0
    broken: int = 0
    """`nfh`, `not_nfh` and `broken`: what is said of them."""
    classes: Counter[Kind] = field(default_factory=Counter)
    """NFHs by the paper's seven classes, UNKNOWN as OTHER."""
    unknown: int = 0
    """Of OTHER, those that are UNKNOWN."""
    no_class: int = 0
    """NFHs without a class."""
    tokens: ValueCounts = field(default_factory=ValueCounts)
    turns: ValueCounts = field(default_factory=ValueCounts)
    """`tokens` and `turns` of each passage, counted once."""
    read: ValueCounts = field(default_factory=ValueCounts)
    """Tokens of the passage of each number: a passage counts once for each of its numbers, as
    in the paper's count of examples.
    """
    _passage: int | None = None

    def add(self, number: PassageNumber) -> None:
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
        """All numbers counted."""
        return self.nfh + self.not_nfh + self.broken

    @property
    def said(self) -> int:
        """Numbers that are known to be NFHs or not: the denominator of `share`."""
        return self.nfh + self.not_nfh

    share = Share("nfh", "said")
    """NFHs among these; None without any.

    It is meaningless where only NFHs were labelled, as in the files of the resolution
    release.
    """

    @property
    def with_class(self) -> int:
        """NFHs whose answer has a class."""
        return self.nfh - self.no_class

    @property
    def passages(self) -> int:
        return self.tokens.n

    def ranked(self) -> list[tuple[Kind, int]]:
        """The paper's classes with their counts, in its order."""
        return [(kind, self.classes[kind]) for kind in PAPER_CLASSES]


GroupOf = Callable[[PassageNumber], str | None]
"""The name of a number's group; None for a number in none."""


@dataclass(slots=True)
class Statistics:
    """All figures."""

    unsaid: int = 0
    """Numbers of which nothing is known; they are in no other figure."""
    size: CorpusSize = field(default_factory=CorpusSize)
    anchors: Anchors = field(default_factory=Anchors)
    heads: HeadStatistics = field(default_factory=HeadStatistics)
    groups: dict[str | None, CorpusSize] = field(default_factory=dict)
    """Sizes by group, None for the numbers in none; empty where no groups were requested."""

    @property
    def found(self) -> int:
        """All numbers, `unsaid` included."""
        return self.unsaid + self.size.numbers


def count(numbers: Iterable[PassageNumber], group_of: GroupOf | None = None) -> Statistics:
    """The figures of numbers; those of one passage must come together.

    Memory grows with the number of distinct texts, lengths and groups, not with that of
    numbers.
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
