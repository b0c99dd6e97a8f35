"""Training of `linear`: fitted on all examples, and evaluated by cross-validation."""

from collections.abc import Generator, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.resolution.linear import NEEDS, WANTED, settings_of
from nfh_models.resolution.recipes import LINEAR
from nfh_tui.jobs.reporting import Phase, TrainingStep
from nfh_tui.services.training import JUDGED_BY, TrainedModel, TrainingSets, check_keys, writer

if TYPE_CHECKING:
    from nfh_models.resolution.linear import FittedLinear
    from nfh_models.training.plan import PhaseProgress

FITTING = "fitting"
"""The phase of the model itself. The folds fit other models, so they are not in its curve."""


class LinearTrainer:
    """Holds nothing out: the folds evaluate it."""

    recipe = LINEAR
    needs: frozenset[ParseLayer] = NEEDS
    share = 0.0

    def __init__(self, words: Sequence[str]) -> None:
        """words: "key=value". Raises SettingError."""
        check_keys(words, LINEAR, WANTED, JUDGED_BY)
        self._plan = settings_of(words)
        self.settings = {
            **msgspec.to_builtins(self._plan.settings),
            "folds": self._plan.folds,
        }

    def train(
        self,
        sets: TrainingSets,
        folder: Path,  # noqa: ARG002 - training takes minutes and is never resumed
        parser: Parser | None,
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Fit it. Raises NoLinearExamplesError, ParserError."""
        from nfh_models.resolution.linear import save_linear, training

        done = yield from without_folds(training(sets.train, self._plan, parser))
        model = done.model

        figures = reduce(add, done.folds).figures() if done.folds else {}
        per_fold = [fold.figures() for fold in done.folds]
        return TrainedModel(
            model,
            writer(save_linear, model),
            {
                "folds": len(done.folds),
                "per_fold": per_fold,
                "loss": done.loss,
                "converged": done.converged,
                "features": len(model.weights.anchors) + len(model.weights.tokens),
            },
            figures,
            done.left_out,
            done.warnings,
        )


def without_folds(
    steps: "Generator[PhaseProgress, None, FittedLinear]",
) -> "Generator[TrainingStep, None, FittedLinear]":
    """The same steps; those of the folds lose their figures."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            fitted: FittedLinear = end.value
            return fitted
        if step.phase == FITTING:
            yield step
        else:
            yield Phase(step.phase, step.done, step.total)
