"""Figures by class, by the anchor's words, and by how far the head is."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nfh_models.domain import Kind
from nfh_models.resolution.item import ResolutionExample
from nfh_models.resolution.scoring.figures import Figures, figures, share
from nfh_models.resolution.scoring.judging import LABELS, REF_WRONG, Judged
from nfh_models.statistics.heads import Side

DISTANCES: tuple[str, ...] = (
    "1 to 5 tokens",
    "6 to 10 tokens",
    "11 to 20 tokens",
    "21 to 40 tokens",
    "over 40 tokens",
)
_DISTANCE_ENDS = (5, 10, 20, 40)

TURNS: tuple[str, ...] = ("same turn", "1 turn away", "2 turns away", "3 turns away or more")

SIDES: tuple[str, ...] = tuple(side.value for side in Side)
"""Where all the gold heads stand: before the anchor, after it, on both sides."""

SHAPES: tuple[str, ...] = (
    "one",
    "another word",
    "several words",
    "1 digit",
    "2 digits",
    "3 digits",
    "4 digits",
    "5 digits or more",
    "digits and more",
)
"""What an anchor is written with. Digits and more: also commas, points, letters or words."""

FREQUENT = 5
"""An anchor's words are listed when they occur so often."""


@dataclass(frozen=True, slots=True)
class Part:
    """The figures of the examples that have something in common."""

    name: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class ClassPart:
    """How well one of the seven labels is told from the others; any token is REFERENCE.

    n: examples with this gold label. predicted: examples with this prediction. hit: both.
    right: hit, and for REFERENCE the token is a gold mention.
    """

    label: str
    n: int
    predicted: int
    hit: int
    right: int

    @property
    def precision(self) -> float | None:
        """Of those with this prediction, the share with this label; None if there are none."""
        return share(self.hit, self.predicted)

    @property
    def recall(self) -> float | None:
        """Of those with this label, the share with this prediction; None if there are none."""
        return share(self.hit, self.n)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None if there is neither label nor prediction."""
        return share(2 * self.hit, self.n + self.predicted)

    @property
    def accuracy(self) -> float | None:
        """Of those with this label, the share that is right; None if there are none."""
        return share(self.right, self.n)


def by_class(judged: Iterable[Judged]) -> tuple[ClassPart, ...]:
    """Each of the seven labels, in the order of LABELS; those that do not occur, too."""
    some = list(judged)
    cells = Counter((one.gold, _seven(one.predicted)) for one in some)
    right = Counter(one.gold for one in some if one.right)
    return tuple(
        ClassPart(
            label,
            n=sum(count for (gold, _), count in cells.items() if gold == label),
            predicted=sum(count for (_, said), count in cells.items() if said == label),
            hit=cells[label, label],
            right=right[label],
        )
        for label in LABELS
    )


def _seven(predicted: str | None) -> str | None:
    return Kind.REFERENCE.value if predicted == REF_WRONG else predicted


def by_word(judged: Iterable[Judged], least: int = FREQUENT) -> tuple[Part, ...]:
    """By the anchor's words in lower case, those that occur `least` times; busiest first."""
    parts = _parts(judged, lambda one: anchor_words(one.example))
    frequent = [part for part in parts.values() if part.figures.n >= least]
    return tuple(sorted(frequent, key=lambda part: (-part.figures.n, part.name)))


def by_shape(judged: Iterable[Judged]) -> tuple[Part, ...]:
    """By what the anchor is written with, in the order of SHAPES; none that is empty."""
    return _ordered(SHAPES, judged, lambda one: shape(one.example))


def by_distance(judged: Iterable[Judged]) -> tuple[Part, ...]:
    """References by the tokens between anchor and nearest head, in the order of DISTANCES."""
    return _ordered(DISTANCES, judged, _distance)


def by_turns(judged: Iterable[Judged]) -> tuple[Part, ...]:
    """References by the turns to the head whose turn is nearest, in the order of TURNS."""
    return _ordered(TURNS, judged, _turns)


def by_side(judged: Iterable[Judged]) -> tuple[Part, ...]:
    """References by where their heads stand, in the order of SIDES."""
    return _ordered(SIDES, judged, lambda one: one.side)


# --- what an example is ---------------------------------------------------------------------


def anchor_words(example: ResolutionExample) -> str:
    """The words of the anchor in lower case, a space between two."""
    passage, anchor = example.item.passage, example.item.anchor
    return " ".join(passage.word(at) for at in range(anchor.start, anchor.end)).lower()


def shape(example: ResolutionExample) -> str:
    """What the anchor is written with, of SHAPES."""
    words = anchor_words(example)
    if re.fullmatch(r"\d+", words):
        return SHAPES[2 + min(len(words), 5)]
    if any(map(str.isdigit, words)):
        return SHAPES[8]
    if words == "one":
        return SHAPES[0]
    return SHAPES[2] if " " in words else SHAPES[1]


def _distance(one: Judged) -> str | None:
    if one.distance is None:
        return None
    return DISTANCES[sum(one.distance > end for end in _DISTANCE_ENDS)]


def _turns(one: Judged) -> str | None:
    return None if one.turns is None else TURNS[min(one.turns, len(TURNS) - 1)]


Name = Callable[[Judged], str | None]


def _parts(judged: Iterable[Judged], name: Name) -> dict[str, Part]:
    """By name; those without one are left out."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        called = name(one)
        if called is not None:
            groups[called].append(one)
    return {called: Part(called, figures(some)) for called, some in groups.items()}


def _ordered(names: Sequence[str], judged: Iterable[Judged], name: Name) -> tuple[Part, ...]:
    parts = _parts(judged, name)
    return tuple(parts[called] for called in names if called in parts)
