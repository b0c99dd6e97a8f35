"""A network so small that a training takes no time, and what drives one."""

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from nfh_models.training.loop import SCORE, ParameterGroup, StepReport, TrainingOutcome, train
from nfh_models.training.plan import TrainingPlan

CPU = torch.device("cpu")
BATCHES = 4
PLAN = TrainingPlan(epochs=3, precision="fp32", averaging=0.9, checkpoint_every=3)


class SmallLearner:
    """A classifier of points; `scores`, where given, are what its judgements say in turn."""

    def __init__(self, scores: Sequence[float] = (), fingerprint: str = "") -> None:
        chance = torch.Generator().manual_seed(7)
        self.points = torch.randn(16, 6, generator=chance)
        self.classes = torch.randint(0, 3, (16,), generator=chance)
        self.network: nn.Module = nn.Sequential(
            nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3)
        )
        with torch.no_grad():
            for one in self.network.parameters():
                one.copy_(torch.randn(one.shape, generator=chance) / 3)
        self.scores = list(scores)
        self.fingerprint = fingerprint
        self.judged: list[dict[str, Tensor]] = []
        self.factor = 1.0

    def groups(self) -> Sequence[ParameterGroup]:
        first, *others = self.network.parameters()
        return [ParameterGroup([first], 0.01, 0.0), ParameterGroup(others, 0.02, 0.01)]

    def batches(self, epoch: int) -> Sequence[Tensor]:
        order = torch.randperm(16, generator=torch.Generator().manual_seed(epoch))
        return list(order.split(16 // BATCHES))

    def loss(self, batch: Tensor, on: torch.device) -> Tensor:
        said = self.network(self.points[batch])
        return nn.functional.cross_entropy(said, self.classes[batch]) * self.factor

    def judge(self, on: torch.device) -> Mapping[str, float]:
        assert not self.network.training
        self.judged.append({name: one.clone() for name, one in self.weights().items()})
        if self.scores:
            return {SCORE: self.scores[len(self.judged) - 1]}
        said = self.network(self.points)
        return {SCORE: -float(nn.functional.cross_entropy(said, self.classes))}

    def weights(self) -> dict[str, Tensor]:
        return dict(self.network.state_dict())


class Driven:
    """A training run to its end, or through so many reports."""

    def __init__(
        self,
        learner: SmallLearner,
        folder: Path,
        plan: TrainingPlan = PLAN,
        reports: int | None = None,
    ) -> None:
        self.learner = learner
        self.reports: list[StepReport] = []
        self.outcome: TrainingOutcome | None = None
        self.running = train(learner, plan, folder, CPU)
        self.go(self.running, reports)

    def go(
        self, running: Generator[StepReport, None, TrainingOutcome], reports: int | None
    ) -> None:
        while reports is None or len(self.reports) < reports:
            try:
                self.reports.append(next(running))
            except StopIteration as end:
                self.outcome = end.value
                return


def same(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> bool:
    """Whether two sets of weights are alike to the bit."""
    return set(first) == set(second) and all(
        torch.equal(first[name], second[name]) for name in first
    )
