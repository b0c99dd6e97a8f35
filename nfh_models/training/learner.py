"""What the training loop is told of a network, and what it tells about the training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from torch import Tensor, device, nn

SCORE = "score"
"""The dev figure that is maximised; every judgement holds it, a fraction."""

Batch = TypeVar("Batch")


@dataclass(frozen=True, slots=True)
class StepReport:
    """How far a training is.

    phase: "training", "judging", "saving". step: of `steps` in all, 0 before the first. epoch:
    that it is about, counted from 1; 0 is what is begun with. loss: mean of the epoch so far;
    None before its first step. metrics: the dev figures of the last judgement, fractions;
    empty before the first. seconds: since the training, resumed or not, began in this process.
    """

    phase: str
    step: int
    steps: int
    epoch: int
    loss: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A training that came to its end.

    metrics: of the best judgement. epoch, step: where it was. stopped_early: dev got no
    better for `patience` judgements. curve: one entry a judgement, with epoch, step, loss and
    metrics, for the model's metrics.json.
    """

    metrics: Mapping[str, float]
    epoch: int
    step: int
    stopped_early: bool
    curve: Sequence[Mapping[str, float]]
    seconds: float


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that learn at one rate. rate: at its peak. decay: of the weights."""

    parameters: Sequence["nn.Parameter"]
    rate: float
    decay: float


class Learner(Protocol, Generic[Batch]):
    """A network with its examples: what the loop needs of it, and nothing of how it is run."""

    @property
    def network(self) -> "nn.Module":
        """What is trained; all of its parameters and buffers are saved."""
        ...

    def groups(self) -> Sequence[Group]:
        """All parameters that learn, in an order that is always alike."""
        ...

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch, shuffled by the learner's seed and the epoch alone.

        The same arguments give the same batches: a training that goes on after a kill passes
        over those that it had.
        """
        ...

    def loss(self, batch: Batch, on: "device") -> "Tensor":
        """The mean loss of a batch, a scalar. Called in train mode, under autocast."""
        ...

    def judge(self, on: "device") -> Mapping[str, float]:
        """The figures on dev, SCORE among them. Called in eval mode, without gradients."""
        ...
