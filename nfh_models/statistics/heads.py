"""Where the heads of References are: the figures of the paper's section 5.4."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nfh_models.domain import Anchor, Passage
from nfh_models.statistics.number import Number
from nfh_models.statistics.tally import Tally


class Side(StrEnum):
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
class Heads:
    """Counts over the numbers whose answer is REFERENCE.

    nouns, words, mentions: how many heads an anchor has, counted by noun, by different
    words in small letters (as the paper counts), and by marked or added place. distance: in
    tokens, from the nearest head to the nearest token of the anchor: 1 is beside it. turns:
    ranks of turns between the anchor and the head whose turn is nearest, 0 is the same.
    """

    nouns: Tally = field(default_factory=Tally)
    words: Tally = field(default_factory=Tally)
    mentions: Tally = field(default_factory=Tally)
    distance: Tally = field(default_factory=Tally)
    sides: Counter[Side] = field(default_factory=Counter)
    turns: Tally = field(default_factory=Tally)
    speakers: Counter[Speaker] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """How many References."""
        return self.distance.n

    def add(self, number: Number) -> None:
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


def side(anchor: Anchor, tokens: Sequence[int]) -> Side:
    """On which side of the anchor head tokens stand, in ascending order."""
    if tokens[-1] < anchor.start:
        return Side.BEFORE
    return Side.BOTH if tokens[0] < anchor.start else Side.AFTER


def _speaker(passage: Passage, here: int, there: int) -> Speaker:
    if here == there:
        return Speaker.SAME
    ours, theirs = passage.turns[here].speaker, passage.turns[there].speaker
    if ours is None or theirs is None:
        return Speaker.UNKNOWN
    return Speaker.SAME if ours == theirs else Speaker.OTHER
