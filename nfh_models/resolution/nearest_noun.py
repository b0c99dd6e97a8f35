"""Recipe `nearest-noun`: the closest noun before the anchor, else the closest behind it.

suggest -> featurise -> score -> decide. It always says Reference and never chooses a class,
but where the passage holds neither noun nor name: then OTHER, the most frequent class.
Names come behind all nouns: they are seldom the head, and taken for nouns they cost three
points, but a tagger also takes nouns for names, and those must be there to be picked.
Measured on the release's development split, Reference examples, any gold mention: 59.1 %.

The scores are ranks made visible, not probabilities: the closest noun before the anchor has
1, the second closest 1/2, the third 1/3; behind the anchor half of that: 1/2, 1/4, 1/6.
Names are scored so among themselves, times half the least score of a noun.
"""

from collections.abc import Sequence

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage
from nfh_models.parsing import Stretch
from nfh_models.resolution.item import Choice

NAME = "nearest-noun"
TASK = "resolution"
VERSION = "2"

REACH = 1_000
"""Tokens on either side of the anchor that are looked at. A passage may be a whole film,
and the farthest head that the releases mark is 151 tokens away."""


def reach(passage: Passage, anchor: Anchor) -> tuple[int, int]:
    """The tokens [start, end) of the passage that need tags for this anchor."""
    return max(0, anchor.start - REACH), min(len(passage.tokens), anchor.end + REACH)


def stretch(passage: Passage, anchor: Anchor) -> Stretch:
    """The words of `reach`, ready for a tagger."""
    return Stretch.of(passage, *reach(passage, anchor))


def predict(passage: Passage, anchor: Anchor, tags: Sequence[str]) -> Choice:
    """The whole recipe. tags: a universal part of speech for each token of `reach`."""
    start, end = reach(passage, anchor)
    if len(tags) != end - start:
        raise ValueError(f"{len(tags)} tags for the {end - start} tokens around an anchor")
    candidates: list[int] = []
    scores: list[float] = []
    for tier in suggest(tags, start, anchor):
        below = min(scores, default=2.0) / 2
        candidates += tier
        scores += [below * value for value in score(featurise(tier, anchor))]
    return decide(candidates, scores, len(passage.tokens))


def suggest(tags: Sequence[str], start: int, anchor: Anchor) -> list[list[int]]:
    """Candidate tokens outside the anchor, each list ascending: the nouns, then the names.

    tags: of the tokens from `start` on.
    """
    return [
        [
            token
            for token, tag in enumerate(tags, start)
            if tag == wanted and not anchor.start <= token < anchor.end
        ]
        for wanted in ("NOUN", "PROPN")
    ]


def featurise(candidates: Sequence[int], anchor: Anchor) -> list[int]:
    """The rank by nearness of each candidate: -1, -2 ... before the anchor, 1, 2 ... behind."""
    before = sum(token < anchor.start for token in candidates)
    return [
        place - before if place < before else place - before + 1
        for place in range(len(candidates))
    ]


def score(ranks: Sequence[int]) -> list[float]:
    """1/rank before the anchor, half of that behind it."""
    return [-1.0 / rank if rank < 0 else 0.5 / rank for rank in ranks]


def decide(candidates: Sequence[int], scores: Sequence[float], tokens: int) -> Choice:
    """The best candidate, the second best, and the scores of all.

    Two candidates are equal only on different sides of the anchor: the one before it wins.
    """
    laid_out: list[float | None] = [None] * (len(IMPLICIT_KINDS) + tokens)
    for token, value in zip(candidates, scores, strict=True):
        laid_out[len(IMPLICIT_KINDS) + token] = value
    if not candidates:
        return Choice(Kind.OTHER.value, None, None, tuple(laid_out))
    ranked = sorted(
        zip(scores, candidates, strict=True), key=lambda scored: (-scored[0], scored[1])
    )
    best, choice = ranked[0]
    if len(ranked) == 1:
        return Choice(str(choice), None, None, tuple(laid_out))
    runner_up, second = ranked[1]
    return Choice(str(choice), str(second), best - runner_up, tuple(laid_out))
