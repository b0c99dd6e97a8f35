"""decide: a network with its tokenizer, ready to resolve and to identify."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from nfh_models.encoder.backbone import Architecture, Backbone, limit_of
from nfh_models.encoder.network import SHUT, Network
from nfh_models.encoder.pieces import Pieces
from nfh_models.encoder.priors import NO_SHIFT, Shift
from nfh_models.encoder.reading import Shown, read
from nfh_models.encoder.rows import CLASSES, Featuriser, Row
from nfh_models.encoder.settings import EncoderSettings, Task
from nfh_models.errors import ModelsError
from nfh_models.identification.case import Case, Decision
from nfh_models.parsing.parsed import Layer
from nfh_models.resolution.item import Choice, Item, Several

VERSION = "1"
"""Of what is made of the network's numbers; the numbers are the directory's."""

AT_ONCE = 4_096
"""Rows that are made before they are scored; so many are sorted by length together."""

LEAST = 1e-30
"""The least probability of what can be chosen at all."""

Floats = NDArray[np.float32]


class TaskError(ModelsError):
    """A model asked for what it was not trained for."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All that a model is.

    base: the name of its encoder. temperature: what logits are divided by before they become
    probabilities. threshold: the logit above which a number is a fused head. shift: what is
    added to the logits of the six classes, see `priors`.
    """

    network: Network
    settings: EncoderSettings
    architecture: Architecture
    pieces: Pieces
    base: str = ""
    temperature: float = 1.0
    threshold: float = 0.0
    shift: Shift = NO_SHIFT

    @property
    def backbone(self) -> Backbone:
        """Its encoder, so that another model can begin with it."""
        return Backbone(self.network.encoder, self.architecture, self.pieces, self.base)

    @property
    def featuriser(self) -> Featuriser:
        """What makes rows for it."""
        settings = self.settings
        return Featuriser(
            self.pieces, settings.window, settings.before, limit_of(self.architecture)
        )


@dataclass(frozen=True, slots=True)
class EncoderModel:
    """A Resolver and an Identifier. recipe: "encoder" or "small". precision: see `kind_of`.

    on: where its network is. An anchor gets the scores that it gets alone whatever is asked
    together with it, to within the rounding of the arithmetic.
    """

    whole: Whole
    recipe: str
    on: torch.device = field(default_factory=lambda: torch.device("cpu"))
    precision: str = "fp32"

    @property
    def version(self) -> str:
        """Changes when its answers may."""
        return VERSION

    @property
    def needs(self) -> frozenset[Layer]:
        """No parse."""
        return frozenset()

    @property
    def uses(self) -> frozenset[Layer]:
        """No parse."""
        return frozenset()

    @property
    def probabilities(self) -> bool:
        """Its scores are probabilities."""
        return True

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item; None only where an oracle run leaves no candidate.

        Raises TaskError for a model that was trained for identification alone, PassageError
        for an anchor outside its passage.
        """
        self._check(Task.RESOLUTION)
        made: list[Choice | None] = []
        for start in range(0, len(items), AT_ONCE):
            made += self._resolved(items[start : start + AT_ONCE])[0]
        return made

    def read(self, items: Sequence[Item]) -> tuple[list[Choice | None], list[Shown]]:
        """A choice an item as from `resolve`, and the states of the words that were read."""
        self._check(Task.RESOLUTION)
        return self._resolved(items, states=True)

    def _resolved(
        self, items: Sequence[Item], *, states: bool = False
    ) -> tuple[list[Choice | None], list[Shown]]:
        whole, featuriser = self.whole, self.whole.featuriser
        rows = [featuriser.row(item.passage, item.anchor) for item in items]
        found = read(
            whole.network,
            rows,
            whole.pieces.pad,
            on=self.on,
            precision=self.precision,
            candidates=whole.settings.candidates,
            states=states,
        )
        both = whole.settings.task is Task.BOTH
        choices = [
            choice_of(
                row,
                len(item.passage.tokens),
                probabilities(found.logits[place], whole.temperature, whole.shift),
                several_of(found.several[place]) if whole.settings.several else None,
                nfh_of(found.nfh[place] - whole.threshold) if both else None,
            )
            for place, (row, item) in enumerate(zip(rows, items, strict=True))
        ]
        return choices, found.shown

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """A decision a case; its score is the logit less the threshold.

        Raises TaskError for a model that was trained for resolution alone.
        """
        self._check(Task.IDENTIFICATION)
        whole, featuriser = self.whole, self.whole.featuriser
        made: list[Decision] = []
        for start in range(0, len(cases), AT_ONCE):
            rows = [featuriser.case_row(case) for case in cases[start : start + AT_ONCE]]
            found = read(
                whole.network, rows, whole.pieces.pad, on=self.on, precision=self.precision
            )
            scores = (found.nfh - whole.threshold).tolist()
            made += [Decision(score > 0, self.recipe, score) for score in scores]
        return made

    def _check(self, task: Task) -> None:
        own = self.whole.settings.task
        if own not in (Task.BOTH, task):
            raise TaskError(
                f"this model was trained for {own} alone, and cannot say anything of {task}"
            )


def probabilities(logits: Floats, temperature: float, shift: Shift = NO_SHIFT) -> Floats:
    """Of all candidates of a row; 0 for those that are closed, and for no other."""
    open_ = logits > SHUT
    if not open_.any():
        return np.zeros(len(logits), np.float32)
    scaled = logits.astype(np.float64)
    scaled[:CLASSES] += shift
    scaled /= temperature
    raised = np.where(open_, np.exp(scaled - scaled[open_].max()), 0.0)
    shares = np.where(open_, np.maximum(raised / raised.sum(), LEAST), 0.0)
    return shares.astype(np.float32)


def choice_of(
    row: Row, tokens: int, found: Floats, several: Several | None, nfh: float | None
) -> Choice | None:
    """The best candidate, the second best, and all scores laid out over the passage.

    found: probabilities of the row's candidates, 0 for no candidate. None without any.
    """
    ranked = np.argsort(-found, kind="stable")[:2].tolist()
    if not found[ranked[0]] > 0:
        return None
    laid_out: list[float | None] = [None] * (CLASSES + tokens)
    values = [value if value > 0 else None for value in found.tolist()]
    laid_out[:CLASSES] = values[:CLASSES]
    first = CLASSES + row.offset
    laid_out[first : first + row.words] = values[CLASSES:]
    best, second = map(row.name, ranked)
    if not found[ranked[1]] > 0:
        return Choice(best, None, None, tuple(laid_out), several, nfh)
    margin = float(found[ranked[0]] - found[ranked[1]])
    return Choice(best, second, margin, tuple(laid_out), several, nfh)


def several_of(shares: Floats) -> Several:
    """The three probabilities by their names."""
    one, both, either = shares.tolist()
    return Several(one, both, either)


def nfh_of(logit: float) -> float:
    """The probability that a logit says."""
    return float(1 / (1 + np.exp(-np.float64(logit))))
