"""How a training is run: what it is told by whoever starts it, and how the rate moves."""

import math
from dataclasses import dataclass

from nfh_models.errors import ModelsError

PRECISIONS = ("auto", "fp32", "bf16", "fp16")

FLOOR = 0.02
"""The share of the peak rate that is left at the end."""


class TrainingError(ModelsError):
    """A training that cannot begin, or cannot go on; the sentence says what to do."""


class DivergedError(TrainingError):
    """A loss, a gradient or a score that is no finite number."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How to train."""

    epochs: int = 5
    """At most."""
    warmup: float = 0.1
    """The share of all steps in which the rate rises."""
    patience: int = 3
    """The judgements without a better score after which it stops."""
    averaging: float = 0.995
    """How much of the averaged weights each step keeps, 0 for none."""
    clip: float = 1.0
    """The largest norm of the gradient, 0 for any."""
    precision: str = "auto"
    """One of PRECISIONS."""
    seed: int = 1
    """Of dropout; the learner has its own for the order of examples."""
    checkpoint_every: int = 200
    """Steps between two checkpoints within an epoch."""
    floor: float = FLOOR
    """The share of the peak rate that is left at the end; 1 for a rate that stays."""
    judge_first: bool = False
    """What is begun with is judged, too, and kept where no epoch does better: for a training
    that goes on from a trained model."""

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

        It rises in a line over the warm-up, and falls in a line to the floor.
        """
        rising = 1.0 if self.warmup == 0 else min(1.0, (step + 1) / (self.warmup * steps))
        return rising * max(self.floor, 1 - step / steps)
