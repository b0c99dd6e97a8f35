"""The four features of the paper's learned identifier (section 4.2), as words.

A feature is one string, "window:-1=the": what it is and where, and its value. Each is there
or not, so that a case is the list of those it has. The words and parts of speech of the
window are told apart by their distance from the anchor, as -1 just before it and 1 just behind.

What the paper leaves open was chosen by cross-validation on the release's development rows:
the anchor as it is written, universal parts of speech, and the sentence's ends in the window.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfh_models.identification.case import Case
from nfh_models.parsing.parsed import Layer, Parsed


class Feature(StrEnum):
    """What the paper's identifier looks at."""

    ANCHOR = "anchor"
    WINDOW = "window"
    WINDOW_POS = "window-pos"
    HEAD_POS = "head-pos"


class PartOfSpeech(StrEnum):
    """Which inventory of parts of speech: universal ("NOUN") or Penn Treebank ("NNS")."""

    UNIVERSAL = "universal"
    PENN = "penn"


BEFORE_SENTENCE = "<s>"
BEHIND_SENTENCE = "</s>"
"""What stands in the window where the sentence does not: the first and the last place beyond
its ends; places further out have no feature."""

ROOT = "ROOT"
"""What an anchor hangs on that hangs on nothing."""

LAYERS = {
    Feature.ANCHOR: frozenset[Layer](),
    Feature.WINDOW: frozenset[Layer](),
    Feature.WINDOW_POS: frozenset({Layer.POS}),
    Feature.HEAD_POS: frozenset({Layer.POS, Layer.DEPENDENCY}),
}
"""The layers of a parse that each feature needs."""


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """Which features, and how.

    features: at least one. window: words on each side, as in the paper 3. pos: the inventory
    of both features that have one. ends: whether the window sees the sentence's ends.
    """

    features: tuple[Feature, ...] = tuple(Feature)
    window: int = 3
    pos: PartOfSpeech = PartOfSpeech.UNIVERSAL
    ends: bool = True

    def __post_init__(self) -> None:
        if not self.features:
            raise ValueError("no feature is left to decide by")

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers of a parse that these features need."""
        return frozenset[Layer]().union(*(LAYERS[feature] for feature in self.features))


class Extractor:
    """Tells the features of cases. Raises ValueError for a case without the parse it needs."""

    def __init__(self, settings: FeatureSettings) -> None:
        self.settings = settings
        chosen = set(settings.features)
        self._anchor = Feature.ANCHOR in chosen
        self._words = Feature.WINDOW in chosen
        self._tags = Feature.WINDOW_POS in chosen
        self._head = Feature.HEAD_POS in chosen
        self._tags_of: Callable[[Parsed], Sequence[str]] = (
            _penn if settings.pos is PartOfSpeech.PENN else _universal
        )

    def features(self, case: Case) -> list[str]:
        """The features of a case, the anchor's own first, then by distance to the left."""
        words = case.stretch.words
        start, end = case.start, case.end
        found = []
        if self._anchor:
            found.append(f"anchor={' '.join(words[start:end])}")
        tags: Sequence[str] = ()
        if self._tags or self._head:
            tags = self._parsed_tags(case)
        for offset, place in self._places(case):
            outside = self._outside(place, len(words))
            if outside == "":
                continue
            if self._words:
                found.append(f"window:{offset}={outside or words[place].lower()}")
            if self._tags:
                found.append(f"window-pos:{offset}={outside or tags[place]}")
        if self._head:
            found.append(f"head-pos={self._head_tag(case, tags)}")
        return found

    def _places(self, case: Case) -> list[tuple[int, int]]:
        """Distance and place of the words of the window, from left to right."""
        width = self.settings.window
        before = [(-far, case.start - far) for far in range(width, 0, -1)]
        return before + [(far, case.end + far - 1) for far in range(1, width + 1)]

    def _outside(self, place: int, size: int) -> str | None:
        """What stands for a place outside the sentence, "" for nothing; None inside it."""
        if 0 <= place < size:
            return None
        if self.settings.ends and place == -1:
            return BEFORE_SENTENCE
        if self.settings.ends and place == size:
            return BEHIND_SENTENCE
        return ""

    def _parsed_tags(self, case: Case) -> Sequence[str]:
        tags = () if case.parsed is None else self._tags_of(case.parsed)
        if len(tags) != len(case.stretch.words):
            raise ValueError("a case without the parts of speech that the features need")
        return tags

    def _head_tag(self, case: Case, tags: Sequence[str]) -> str:
        """The part of speech of the word that the anchor hangs on."""
        heads = () if case.parsed is None else case.parsed.heads
        if len(heads) != len(tags):
            raise ValueError("a case without the dependencies that the features need")
        head = head_of(heads, case.start, case.end)
        return ROOT if head is None else tags[head]


def head_of(heads: Sequence[int], start: int, end: int) -> int | None:
    """The token outside tokens [start, end) that the first of them hangs on which hangs on
    any; None if none does."""
    for token in range(start, end):
        head = heads[token]
        if not start <= head < end:
            return head
    return None


def _penn(parsed: Parsed) -> Sequence[str]:
    return parsed.tags


def _universal(parsed: Parsed) -> Sequence[str]:
    return parsed.pos
