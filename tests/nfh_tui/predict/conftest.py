"""A folder to work in, a resolver that needs nothing, and a tiny encoder."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage
from nfh_models.identification.base import Decision, SentenceNumber
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution.base import Choice, Item
from nfh_tui.services.models import SelectedModel
from nfh_tui.services.predict import PredictionTools
from nfh_tui.services.predict_sources import Anchors, opened, passages

NOUNS = frozenset({"tickets", "spoons", "apples", "dogs"})


class Stub:
    """Resolves to the last of some nouns before the number, else to OTHER; and identifies:
    a number before one of these nouns has its noun. window: tokens it looks back."""

    version = "1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()
    probabilities = True

    def __init__(self, recipe: str = "small", window: int = 1_000) -> None:
        self.recipe = recipe
        self.asked: list[int] = []
        self._window = window

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        self.asked.append(len(items))
        return [self._choice(item.passage, item.anchor) for item in items]

    def _choice(self, passage: Passage, anchor: Anchor) -> Choice:
        first = max(0, anchor.start - self._window)
        scores: list[float | None] = [0.0] * len(IMPLICIT_KINDS)
        scores += [None if at < first else 0.0 for at in range(len(passage.tokens))]
        for at in range(anchor.start, anchor.end):
            scores[6 + at] = None
        for at in range(anchor.start - 1, first - 1, -1):
            if passage.word(at) in NOUNS:
                scores[6 + at], scores[5] = 0.75, 0.25
                return Choice(str(at), Kind.OTHER.value, 0.5, tuple(scores))
        scores[5] = 1.0
        return Choice(Kind.OTHER.value, None, None, tuple(scores))

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        return [
            Decision(
                not NOUNS & set(case.word_span.words[case.end : case.end + 1]), "stub", 1.5
            )
            for case in cases
        ]


def tools(
    stub: Stub | None = None, *, identify: bool = True, patterns: bool = True
) -> PredictionTools:
    """Tools without a parser."""
    stub = stub or Stub()
    chosen = SelectedModel(stub, "stub") if identify else None
    return PredictionTools(chosen, SelectedModel(stub, "stub"), None, patterns)


@pytest.fixture(autouse=True)
def at_home(home: Path) -> None:
    """Every test works in its own folder."""


@pytest.fixture
def read(home: Path) -> Callable[..., list[tuple[list[str], list[list[str]]]]]:
    """The passages of some text: the words of each, and of each of its numbers."""

    def reads(
        text: str, format_name: str = "dialog", anchors: Anchors = "given"
    ) -> list[tuple[list[str], list[list[str]]]]:
        (home / "read.txt").write_bytes(text.encode("utf-8"))
        with opened(str(home / "read.txt")) as stream:
            found = list(passages(stream, format_name, anchors))
        return [
            (
                [one.passage.word(at) for at in range(len(one.passage.tokens))],
                [
                    [one.passage.word(at) for at in range(anchor.start, anchor.end)]
                    for anchor in one.anchors
                ],
            )
            for one in found
        ]

    return reads
