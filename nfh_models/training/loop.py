"""The training loop: a generator of step reports, which goes on where a kill cut it off.

    training = train(learner, Plan(epochs=5), folder)
    try:
        while True:
            report = next(training)
    except StopIteration as end:
        outcome = end.value

`folder` holds `last.safetensors` (all that is needed to go on) and `best.safetensors` (the
weights of the best judgement). On a CPU in 32 bits a training that went on has the weights of
one that was never cut off, provided that `loss` and `judge` take random numbers from torch's
generator only. Closing the generator, which is how a training is cancelled, saves `last`, too;
so does a KeyboardInterrupt, unless it comes in the middle of a step: then the checkpoint
before stays. A learner may have `fingerprint`, a string that differs where its
examples or settings do: a checkpoint of another one is refused, not gone on from.
"""

import hashlib
import json
import math
import time
from collections.abc import Generator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from nfh_models.training import checkpoints
from nfh_models.training.averaging import Average
from nfh_models.training.checkpoints import BEST, LAST, Best, Checkpoint, Identity, Progress
from nfh_models.training.devices import autocast, choose_device, kind_of
from nfh_models.training.learner import SCORE, Learner, Outcome, StepReport
from nfh_models.training.plan import DivergedError, Plan, TrainingError

__all__ = ["Plan", "train"]

BETAS = (0.9, 0.98)
"""Of AdamW: the second is that of "Attention is all you need" (section 5.3)."""

FUSED = ("cpu", "cuda")
"""Where AdamW takes all its weights in one call."""

Reports = Generator[StepReport, None, None]


class NothingToLearnError(TrainingError):
    """A learner without a batch."""


def train(
    learner: Learner[Any], plan: Plan, folder: Path, on: torch.device | None = None
) -> Generator[StepReport, None, Outcome]:
    """Train, and report after each step; the outcome is the generator's value.

    on: by default the fastest device that is there; the network is moved there, and holds the
    best averaged weights in the end. A training found in `folder` is gone on with, one that
    is over gives its outcome again. Raises NothingToLearnError, DivergedError, DeviceError,
    and CheckpointError for a folder of another training and for a damaged one.
    """
    run = _Run(learner, plan, folder, on or choose_device())
    run.resume()
    try:
        if plan.judge_first and run.fresh:
            yield run.report("judging", 0)
            run.judge_first()
        yield run.report("training")
        while not run.progress.done:
            yield from run.epoch()
    except (GeneratorExit, KeyboardInterrupt):
        # Whoever ends it is not to be held up by a full disk: the checkpoint before stays.
        if run.between_steps:
            with suppress(TrainingError):
                run.save_last()
        raise
    return run.outcome()


class _Run:
    """A training in this process."""

    def __init__(
        self, learner: Learner[Any], plan: Plan, folder: Path, on: torch.device
    ) -> None:
        self.learner, self.plan, self.folder, self.on = learner, plan, folder, on
        self.network: nn.Module = learner.network.to(on)
        per_epoch = len(learner.batches(1))
        if not per_epoch:
            raise NothingToLearnError(
                "There is nothing to train on: no example is left for training"
            )
        self.steps = plan.epochs * per_epoch
        groups = learner.groups()
        self.peaks = [group.rate for group in groups]
        self.weights = [one for group in groups for one in group.parameters]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": list(one.parameters), "lr": one.rate, "weight_decay": one.decay}
                for one in groups
            ],
            betas=BETAS,
            fused=on.type in FUSED,
        )
        halved = kind_of(on, plan.precision) is torch.float16
        self.scaler = torch.amp.GradScaler(on.type, enabled=halved)
        self.average = Average(self.network, plan.averaging)
        self.identity = Identity(_spelled(plan), _digest(learner, per_epoch))
        self.progress = Progress()
        self.stepping = False
        self.began = self.counted = time.monotonic()

    # --- steps ------------------------------------------------------------------------------

    def epoch(self) -> Reports:
        """The rest of the epoch in work, and its judgement."""
        batches = self.learner.batches(self.progress.epoch)
        for batch in batches[self.progress.place :]:
            self.step(batch)
            yield self.report("training")
            if self.progress.step % self.plan.checkpoint_every == 0:
                yield self.report("saving")
                self.save_last()
        judged = self.progress.epoch
        yield self.report("judging", judged)
        self.judge()
        yield self.report("saving", judged)
        self.save_last()

    def step(self, batch: object) -> None:
        """Learn from one batch."""
        self.stepping = True
        done = self.progress
        self.network.train()
        factor = self.plan.rate(done.step, self.steps)
        for group, peak in zip(self.optimizer.param_groups, self.peaks, strict=True):
            group["lr"] = peak * factor
        self.optimizer.zero_grad()
        with autocast(self.on, self.plan.precision):
            loss = self.learner.loss(batch, self.on)
        lost = float(loss.detach())
        if not math.isfinite(lost):
            raise self._diverged(f"the loss is {lost}")
        torch.autograd.backward(self.scaler.scale(loss))
        self.scaler.unscale_(self.optimizer)
        norm = float(nn.utils.clip_grad_norm_(self.weights, self.plan.clip or math.inf))
        if not math.isfinite(norm) and not self.scaler.is_enabled():
            raise self._diverged(f"the gradient's norm is {norm}")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.average.move(done.step + 1)
        self._now(step=done.step + 1, place=done.place + 1, lost=done.lost + lost)
        self.stepping = False

    @property
    def between_steps(self) -> bool:
        """What is in memory is what a checkpoint may hold: no step is half made."""
        return not self.stepping and not self.average.away

    @property
    def fresh(self) -> bool:
        """Nothing was learnt or judged yet."""
        return not self.progress.step and self.progress.best is None

    def judge_first(self) -> None:
        """Judge what is begun with, as an epoch 0; it is the best so far."""
        self.network.eval()
        metrics = self._judged()
        self._save(BEST, self.network.state_dict())
        entry = {"epoch": 0, "step": 0, **metrics}
        self._now(best=Best(0, 0, metrics), metrics=metrics, curve=(entry,))

    def _judged(self) -> dict[str, float]:
        with torch.no_grad():
            metrics = {name: float(one) for name, one in self.learner.judge(self.on).items()}
        if not math.isfinite(metrics[SCORE]):
            raise self._diverged(f"the score on dev is {metrics[SCORE]}")
        return metrics

    def judge(self) -> None:
        """Judge the averaged weights, keep them if they are the best, end the epoch."""
        self.network.eval()
        done, best, worse = self.progress, self.progress.best, self.progress.worse + 1
        with self.average.in_place():
            metrics = self._judged()
            if best is None or metrics[SCORE] > best.metrics[SCORE]:
                best, worse = Best(done.epoch, done.step, metrics), 0
                self._save(BEST, self.network.state_dict())
        entry = {"epoch": done.epoch, "step": done.step, "loss": self.loss or 0.0, **metrics}
        tired = worse >= self.plan.patience
        over = done.epoch >= self.plan.epochs
        self._now(
            epoch=done.epoch + (0 if tired or over else 1),
            place=0,
            lost=0.0,
            best=best,
            worse=worse,
            metrics=metrics,
            curve=(*done.curve, entry),
            done=tired or over,
            stopped_early=tired and not over,
        )

    def _now(self, **changes: object) -> None:
        self.progress = msgspec.structs.replace(self.progress, **changes)

    def _diverged(self, what: str) -> DivergedError:
        return DivergedError(
            f"The training went astray at step {self.progress.step + 1}: {what}. Try a lower "
            "rate, a longer warm-up, or the precision fp32"
        )

    # --- saying -----------------------------------------------------------------------------

    @property
    def loss(self) -> float | None:
        """The mean of the epoch so far."""
        return self.progress.lost / self.progress.place if self.progress.place else None

    def report(self, phase: str, epoch: int | None = None) -> StepReport:
        """How far it is. epoch: that it is about, else the one in work."""
        done = self.progress
        about = done.epoch if epoch is None else epoch
        seconds = time.monotonic() - self.began
        return StepReport(phase, done.step, self.steps, about, self.loss, done.metrics, seconds)

    def outcome(self) -> Outcome:
        """The end, with the best weights in the network."""
        done, best = self.progress, self.progress.best
        assert best is not None  # noqa: S101 - a training that is over was judged
        self._load(checkpoints.read(self.folder / BEST, self.identity).tensors, BEST)
        self.network.eval()
        return Outcome(
            best.metrics, best.epoch, best.step, done.stopped_early, done.curve, done.seconds
        )

    # --- checkpoints ------------------------------------------------------------------------

    def save_last(self) -> None:
        """Write all that is needed to go on."""
        now = time.monotonic()
        self._now(
            seconds=self.progress.seconds + now - self.counted, scaler=self._scaler_state()
        )
        self.counted = now
        tensors = {f"network.{name}": one for name, one in self.network.state_dict().items()}
        tensors |= {f"average.{name}": one for name, one in self.average.tensors.items()}
        for place, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"moment.{place}.{name}": one for name, one in state.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if self.on.type != "cpu":
            tensors[f"random.{self.on.type}"] = _random_state(self.on)
        self._save(LAST, tensors)

    def _scaler_state(self) -> dict[str, float]:
        return {name: float(one) for name, one in self.scaler.state_dict().items()}

    def _save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        found = Checkpoint(self.identity, self.progress, tensors)
        checkpoints.write(self.folder / name, found)

    def resume(self) -> None:
        """Go on from `last` where there is one; else begin."""
        checkpoints.clear(self.folder)
        path = self.folder / LAST
        if not path.exists():
            torch.manual_seed(self.plan.seed)
            return
        found = checkpoints.read(path, self.identity)
        self.progress = found.progress
        if self.progress.best is not None:
            # Now rather than at the end, where all the work would be in vain.
            checkpoints.read(self.folder / BEST, self.identity)
        self._load(_part(found.tensors, "network."), LAST)
        self._load_average(_part(found.tensors, "average."))
        self._load_moments(_part(found.tensors, "moment."))
        if self.scaler.is_enabled() and found.progress.scaler:
            self.scaler.load_state_dict(found.progress.scaler)
        self._set_random_state(found.tensors)

    def _set_random_state(self, tensors: Mapping[str, Tensor]) -> None:
        """A training may go on elsewhere: then a device that it was not on has no state."""
        torch.set_rng_state(tensors["random.cpu"])
        state = tensors.get(f"random.{self.on.type}")
        if self.on.type == "cuda" and state is not None:
            torch.cuda.set_rng_state(state, self.on)
        elif self.on.type == "mps" and state is not None:
            torch.mps.set_rng_state(state)

    def _load(self, tensors: Mapping[str, Tensor], name: str) -> None:
        try:
            self.network.load_state_dict(tensors)
        except RuntimeError as error:
            checkpoints.damaged(self.folder / name, error)

    def _load_average(self, tensors: Mapping[str, Tensor]) -> None:
        if set(tensors) != set(self.average.tensors):
            checkpoints.damaged(self.folder / LAST, "the averaged weights are others")
        for name, tensor in tensors.items():
            self.average.tensors[name].copy_(tensor)

    def _load_moments(self, tensors: Mapping[str, Tensor]) -> None:
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            place, _, key = name.partition(".")
            state.setdefault(int(place), {})[key] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})


def _part(tensors: Mapping[str, Tensor], start: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(start): tensor
        for name, tensor in tensors.items()
        if name.startswith(start)
    }


def _random_state(on: torch.device) -> Tensor:
    return torch.cuda.get_rng_state(on) if on.type == "cuda" else torch.mps.get_rng_state()


def _spelled(plan: Plan) -> dict[str, str]:
    """What of a plan makes another training."""
    return {
        name: str(value) for name, value in asdict(plan).items() if name != "checkpoint_every"
    }


def _digest(learner: Learner[Any], per_epoch: int) -> str:
    """SHA-256 (hex) of what can be seen of a learner without running it."""
    tensors = [
        [name, list(tensor.shape), str(tensor.dtype)]
        for name, tensor in learner.network.state_dict().items()
    ]
    groups = [[one.rate, one.decay, len(one.parameters)] for one in learner.groups()]
    own = str(getattr(learner, "fingerprint", ""))
    spelled = json.dumps([tensors, groups, per_epoch, own])
    return hashlib.sha256(spelled.encode()).hexdigest()
