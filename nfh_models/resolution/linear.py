"""The recipe `linear`: a linear model over pairs of anchor and candidate (paper, appendix).

Candidates are the six classes and the tokens around the anchor. A class has the sum of the
weights of the anchor's features, which are its own; a token the sum of the weights of its
features as a head. A softmax over all candidates makes probabilities of the scores. A weight
for tokens as such needs no place: it is what all classes have too little.

Choosing needs numpy and no other framework.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.parsing.parsed import Layer
from nfh_models.resolution.item import Choice, Item
from nfh_models.resolution.linear_anchor import anchor_features
from nfh_models.resolution.linear_candidate import Setting, candidate_features
from nfh_models.resolution.linear_groups import LinearFeatures
from nfh_models.resolution.linear_view import View, view_of
from nfh_models.resolution.recipes import LINEAR

VERSION = "linear/1"
"""Changes when the same model would choose otherwise."""

NEEDS = frozenset({Layer.POS, Layer.DEPENDENCY})

BIAS = "bias"
"""The feature that every anchor has."""

CLASSES = len(IMPLICIT_KINDS)

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinearSettings:
    """How a linear model is made.

    c: the weight of errors against the size of the weights. seed: of the folds; the fitting
    itself leaves nothing to chance.
    """

    features: LinearFeatures = field(default_factory=LinearFeatures)
    c: float = 0.1
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Told:
    """The features of one item: of the anchor, and of each candidate token of its view."""

    view: View
    anchor: Sequence[str]
    tokens: Sequence[Sequence[str]]


def tell(item: Item, features: LinearFeatures) -> Told:
    """All features of an item. ValueError for one without the parse that it needs."""
    view = view_of(item)
    setting = Setting(view)
    own = anchor_features(view, features.groups) if features.crossed else []
    tokens = [candidate_features(setting, at, features.groups) for at in view.candidates]
    return Told(view, [BIAS, *own], tokens)


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learnt. anchors, tokens: features, no two of a list alike. classes: [anchor
    features, 6], in the order of IMPLICIT_KINDS. heads: [token features]."""

    anchors: tuple[str, ...]
    tokens: tuple[str, ...]
    classes: Floats
    heads: Floats

    def __post_init__(self) -> None:
        if self.classes.shape != (len(self.anchors), CLASSES):
            raise ValueError(f"{len(self.anchors)} features, weights {self.classes.shape}")
        if self.heads.shape != (len(self.tokens),):
            raise ValueError(f"{len(self.tokens)} features, weights {self.heads.shape}")


class Linear:
    """A fitted model, ready to choose.

    parser: the name of the one that parsed what it was fitted on; another may tag otherwise.
    """

    recipe = LINEAR
    needs = NEEDS
    probabilities = True

    def __init__(
        self, settings: LinearSettings, weights: Weights, parser: str | None = None
    ) -> None:
        self.settings = settings
        self.weights = weights
        self.parser = parser
        self.version = f"{VERSION} {self._fingerprint()}"
        self._anchors = {name: place for place, name in enumerate(weights.anchors)}
        self._tokens = {name: place for place, name in enumerate(weights.tokens)}

    def _fingerprint(self) -> str:
        """Twelve hexadecimal digits of what choices depend on."""
        features, weights = self.settings.features, self.weights
        said = [features.groups, features.crossed, weights.anchors, weights.tokens]
        hashed = hashlib.sha256(json.dumps(said, separators=(",", ":")).encode("ascii"))
        hashed.update(np.ascontiguousarray(weights.classes, "<f8").tobytes())
        hashed.update(np.ascontiguousarray(weights.heads, "<f8").tobytes())
        return hashed.hexdigest()[:12]

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item. ValueError for one without parts of speech and dependencies."""
        return [self._resolve(item) for item in items]

    def _resolve(self, item: Item) -> Choice:
        told = tell(item, self.settings.features)
        probabilities = softmax(self.score(told))
        return decide(told.view, probabilities, len(item.passage.tokens))

    def score(self, told: Told) -> Floats:
        """The scores of the six classes, then of the candidate tokens, in their order."""
        own = list(_known(told.anchor, self._anchors))
        classes = self.weights.classes[own].sum(axis=0)
        places: list[int] = []
        rows: list[int] = []
        for row, names in enumerate(told.tokens):
            found = list(_known(names, self._tokens))
            places += found
            rows += [row] * len(found)
        chosen = self.weights.heads[places] if places else np.zeros(0)
        heads = (
            np.bincount(rows, chosen, len(told.tokens)) if rows else np.zeros(len(told.tokens))
        )
        return np.concatenate([classes, heads])


def _known(names: Iterable[str], places: Mapping[str, int]) -> Iterable[int]:
    return (places[name] for name in names if name in places)


def softmax(scores: Floats) -> Floats:
    """Probabilities in the proportions of the scores' exponentials."""
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), np.float64)


def decide(view: View, probabilities: Floats, tokens: int) -> Choice:
    """The likeliest candidate, the second, and the probabilities of all.

    probabilities: of the classes, then of the view's candidates. tokens: of the passage. Of
    equals the first wins: classes in their order, then tokens in theirs.
    """
    values = probabilities.tolist()
    laid_out: list[float | None] = [None] * (CLASSES + tokens)
    laid_out[:CLASSES] = values[:CLASSES]
    for at, value in zip(view.candidates, values[CLASSES:], strict=True):
        laid_out[CLASSES + view.first + at] = value
    best, second = np.argsort(-probabilities, kind="stable")[:2].tolist()
    return Choice(
        _name(view, best), _name(view, second), values[best] - values[second], tuple(laid_out)
    )


def _name(view: View, place: int) -> str:
    if place < CLASSES:
        return IMPLICIT_KINDS[place].value
    return str(view.first + view.candidates[place - CLASSES])
