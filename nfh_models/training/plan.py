"""Parameters of a training, and the schedule of the learning rate."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from nfh_models import ModelsError

PRECISIONS = ("auto", "fp32", "bf16", "fp16")

FLOOR = 0.02
"""The share of the peak rate that remains at the end."""


class TrainingError(ModelsError):
    """A training that cannot begin or continue; the message says what to do."""


class DivergedError(TrainingError):
    """A loss, gradient or score that is not finite."""


@dataclass(frozen=True, slots=True)
class PhaseProgress:
    """The progress of a training in phases, as of `svm` and `linear`."""

    phase: str
    """One of parsing, features, fold 2 (and so on), fitting."""
    done: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The parameters of a training."""

    epochs: int = 5
    """The largest number."""
    warmup: float = 0.1
    """The share of all steps in which the rate rises."""
    patience: int = 3
    """Evaluations without a better score after which training stops."""
    averaging: float = 0.995
    """Decay of the averaged weights per step; 0 for no averaging."""
    clip: float = 1.0
    """The largest norm of the gradient; 0 for no limit."""
    precision: str = "auto"
    """One of PRECISIONS."""
    seed: int = 1
    """Of dropout; the learner has its own for the order of examples."""
    checkpoint_every: int = 200
    """Steps between two checkpoints within an epoch."""
    floor: float = FLOOR
    """The share of the peak rate that remains at the end; 1 for a constant rate."""
    judge_first: bool = False
    """Evaluate the initial weights, too, and keep them if no epoch is better: for a training
    that continues a trained model.
    """

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("patience", 1), ("checkpoint_every", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, wanted {least} or more")
        for name in ("warmup", "floor"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}, wanted 0 to 1")
        if not 0 <= self.averaging < 1:
            raise ValueError(f"averaging is {self.averaging}, wanted 0 to less than 1")
        if not 0 <= self.clip < math.inf:
            raise ValueError(f"clip is {self.clip}, wanted 0 or more")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision is {self.precision!r}, wanted one of {PRECISIONS}")

    def rate(self, step: int, steps: int) -> float:
        """The share of the peak rate at a step, counted from 0, of `steps` in all.

        It rises linearly during the warm-up and falls linearly to the floor.
        """
        rising = 1.0 if self.warmup == 0 else min(1.0, (step + 1) / (self.warmup * steps))
        return rising * max(self.floor, 1 - step / steps)
