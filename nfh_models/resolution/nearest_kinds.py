"""The kinds of `nearest-noun`, as the paper's baselines have them (section 6.3), as resolvers.

    first            the first noun of the passage
    last             the last one
    closest          the one with the fewest tokens between it and the anchor, on either side
    closest-before   the closest before the anchor, else the closest behind it

Nouns come before names, which are candidates of a second rank; with "+names" behind the kind
("closest+names") names count as nouns do, which fits the paper's figures best. All of them
always say Reference, but where there is neither noun nor name: then OTHER.

The scores are ranks made visible, not probabilities: 1, 1/2, 1/3 for `first`, `last` and
`closest`, names half the least noun; those of `closest-before` stand in `nearest_noun`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfh_models.domain import Anchor
from nfh_models.parsing.parsed import Layer
from nfh_models.resolution import nearest_noun
from nfh_models.resolution.item import Choice, Item
from nfh_models.resolution.parse_of import tags_within

NAMES = "+names"


class NounKind(StrEnum):
    """Which noun is taken."""

    FIRST = "first"
    LAST = "last"
    CLOSEST = "closest"
    CLOSEST_BEFORE = "closest-before"


@dataclass(frozen=True, slots=True)
class NounChoice:
    """Which noun is taken, and whether names are nouns like others."""

    kind: NounKind = NounKind.CLOSEST_BEFORE
    names: bool = False

    @classmethod
    def of(cls, spelled: str | None) -> "NounChoice":
        """As it is written: "first", "closest+names"; None for the default.

        Raises ValueError for what is no kind, which says what can be.
        """
        if spelled is None:
            return cls()
        kind = spelled.removesuffix(NAMES)
        if kind not in set(NounKind):
            raise ValueError(
                f"wanted one of {', '.join(NounKind)}, with {NAMES} behind it where names "
                "count as nouns"
            )
        return cls(NounKind(kind), kind != spelled)

    def __str__(self) -> str:
        return f"{self.kind}{NAMES if self.names else ''}"


class NearestResolver:
    """`nearest-noun` of one kind."""

    recipe = nearest_noun.NAME
    needs = frozenset({Layer.POS})
    probabilities = False

    def __init__(self, choice: NounChoice | None = None) -> None:
        self.choice = choice or NounChoice()
        self.version = f"{nearest_noun.VERSION} {self.choice}"

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """The noun of each item. ValueError for one without parts of speech."""
        return [self._resolve(item) for item in items]

    def _resolve(self, item: Item) -> Choice:
        start, tags = tags_within(item)
        candidates: list[int] = []
        scores: list[float] = []
        for tier in self._tiers(nearest_noun.suggest(tags, start, item.anchor)):
            below = min(scores, default=2.0) / 2
            ranked = ordered(tier, item.anchor, self.choice.kind)
            candidates += ranked
            scores += [below * value for value in self._scores(ranked, item.anchor)]
        return nearest_noun.decide(candidates, scores, len(item.passage.tokens))

    def _tiers(self, tiers: Sequence[Sequence[int]]) -> list[list[int]]:
        if self.choice.names:
            return [sorted(token for tier in tiers for token in tier)]
        return [list(tier) for tier in tiers]

    def _scores(self, ranked: Sequence[int], anchor: Anchor) -> list[float]:
        if self.choice.kind is NounKind.CLOSEST_BEFORE:
            return nearest_noun.score(nearest_noun.featurise(ranked, anchor))
        return [1.0 / rank for rank in range(1, len(ranked) + 1)]


def ordered(candidates: Sequence[int], anchor: Anchor, kind: NounKind) -> list[int]:
    """Candidates, given ascending, with the best first; for CLOSEST_BEFORE as they are.

    Of two that are equally close the one before the anchor is the first.
    """
    if kind is NounKind.LAST:
        return list(reversed(candidates))
    if kind is NounKind.CLOSEST:
        return sorted(candidates, key=lambda token: (distance(token, anchor), token))
    return list(candidates)


def distance(token: int, anchor: Anchor) -> int:
    """How many steps a token is from the nearest token of the anchor; 0 inside it."""
    if token < anchor.start:
        return anchor.start - token
    return max(0, token - anchor.end + 1)
