"""The training loop, a generator of step reports that resumes a training after a kill; the
protocol of a learner; training targets; devices; averaged weights; networks without weights.

    training = train(learner, TrainingPlan(epochs=5), folder)
    try:
        while True:
            report = next(training)
    except StopIteration as end:
        outcome = end.value

`folder` holds `last.safetensors` (all that is needed to resume) and `best.safetensors` (the
weights of the best evaluation). On a CPU in 32 bits a resumed training has the same weights as
an uninterrupted one, provided that `loss` and `judge` take random numbers only from torch's
generator. Closing the generator, which is how a training is cancelled, saves `last`, too; so
does a KeyboardInterrupt, unless it comes in the middle of a step: then the checkpoint before
stays. A learner may have `fingerprint`, a string that differs where its examples or settings
do: a checkpoint of another learner is refused.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from nfh_models.domain import IMPLICIT_KINDS, Head, Kind, paper_class
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.statistics import distance
from nfh_models.training import checkpoints
from nfh_models.training.checkpoints import (
    BEST,
    LAST,
    Best,
    Checkpoint,
    Identity,
    TrainingProgress,
)
from nfh_models.training.plan import PRECISIONS, DivergedError, TrainingError, TrainingPlan

if TYPE_CHECKING:
    from torch import device


class Average:
    """Exponential moving average of a network's floating-point parameters and buffers.

    keep: the largest decay per step. The decay at an early step is less, (1 + step) / (10 +
    step), so that the initial weights are soon forgotten (as in torch.optim.swa_utils and
    TensorFlow). keep 0: no average is held, and the network's own weights are used. away: the
    network currently has the averaged weights.
    """

    def __init__(self, network: nn.Module, keep: float) -> None:
        self.keep = keep
        self._own = {
            name: tensor
            for name, tensor in network.state_dict(keep_vars=True).items()
            if tensor.is_floating_point()
        }
        self.tensors: dict[str, Tensor] = {}
        self.away = False
        if keep:
            self.tensors = {name: one.detach().clone() for name, one in self._own.items()}

    @torch.no_grad()
    def move(self, step: int) -> None:
        """Update the average after a step, counted from 1."""
        if self.tensors:
            kept = min(self.keep, (1 + step) / (10 + step))
            own = [self._own[name] for name in self.tensors]
            torch._foreach_lerp_(list(self.tensors.values()), own, 1 - kept)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Give the network the averaged weights; its own are restored afterwards."""
        own = {name: self._own[name].detach().clone() for name in self.tensors}
        self.away = True
        try:
            self._put(self.tensors)
            yield
        finally:
            self._put(own)
            self.away = False

    @torch.no_grad()
    def _put(self, tensors: dict[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            self._own[name].copy_(tensor)


DEVICES = "auto, cpu, cuda, cuda:NUMBER or mps"

FAST_BF16 = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
"""Functions of torch.cpu that tell whether the processor multiplies bfloat16. Without such
instructions torch emulates it, slower than 32 bits.
"""


class DeviceError(TrainingError):
    """A device that does not exist, or does not support what is asked."""


def choose_device(name: str | None = None) -> torch.device:
    """The device of a name; the fastest one for None and "auto".

    Raises DeviceError for an unknown name, and for a device that does not exist.
    """
    if name is None or name == "auto":
        mps = "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device("cuda" if torch.cuda.is_available() else mps)
    try:
        chosen = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(f"{name!r} is not a device: wanted {DEVICES}") from error
    if chosen.type not in ("cpu", "cuda", "mps"):
        raise DeviceError(f"{name!r} is not a supported device: wanted {DEVICES}")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"There is no {name} here that torch can use. Try cpu, or auto")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise DeviceError(f"{name} is not here: there are {torch.cuda.device_count()} of cuda")
    if chosen.type == "mps" and not torch.backends.mps.is_available():
        raise DeviceError("There is no mps here that torch can use. Try cpu, or auto")
    return chosen


def kind_of(on: torch.device, precision: str = "auto") -> torch.dtype:
    """The number type of matrix products.

    "auto": 16 bits where the device is faster with them (bfloat16 before float16), else 32.
    Raises DeviceError for a precision that the device does not support well.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"{precision!r} is not a precision: wanted one of {PRECISIONS}")
    good = [kind for kind in (torch.bfloat16, torch.float16) if _fast(on, kind)]
    if precision == "auto":
        return good[0] if good else torch.float32
    wanted = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    if wanted is not torch.float32 and wanted not in good:
        raise DeviceError(f"This {on.type} does not support {precision}. Try auto, or fp32")
    return wanted


def _fast(on: torch.device, kind: torch.dtype) -> bool:
    if on.type == "cuda":
        return kind is torch.float16 or torch.cuda.is_bf16_supported(False)
    if on.type == "cpu" and kind is torch.bfloat16:
        asked = (getattr(torch.cpu, name, None) for name in FAST_BF16)
        return any(ask is not None and ask() for ask in asked)
    return False


def autocast(on: torch.device, precision: str = "auto") -> AbstractContextManager[object]:
    """A context in which products have the precision; see `kind_of`."""
    kind = kind_of(on, precision)
    if kind is torch.float32:
        return nullcontext()
    return torch.autocast(on.type, dtype=kind)


class _LeftUninitialised(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever torch returns
        given = kwargs or {}
        if getattr(func, "__module__", "") == nn.init.__name__:
            return args[0] if args else given["tensor"]
        return func(*args, **given)


@contextmanager
def without_weights() -> Iterator[None]:
    """A context in which networks are built with shapes alone, for weights that are read.

    Layers do not initialise themselves: on the meta device that has no effect but to load
    torch's compiler, which takes two seconds.
    """
    with torch.device("meta"), _LeftUninitialised():
        yield


SCORE = "score"
"""The key of the dev figure that is maximised, a fraction; every evaluation has it."""

Batch = TypeVar("Batch")


@dataclass(frozen=True, slots=True)
class StepReport:
    """The progress of a training."""

    phase: str
    """One of training, judging, saving."""
    step: int
    """Of `steps` in all; 0 before the first."""
    steps: int
    epoch: int
    """The one reported on, from 1; 0 for the initial weights."""
    loss: float | None = None
    """Mean of the epoch so far; None before its first step."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The figures on dev of the last evaluation, fractions; empty before the first."""
    seconds: float = 0.0
    """Since the training began or was resumed in this process."""


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """A finished training."""

    metrics: Mapping[str, float]
    """Of the best evaluation."""
    epoch: int
    step: int
    """`epoch` and `step` of the best evaluation."""
    stopped_early: bool
    """The score did not improve for `patience` evaluations."""
    curve: Sequence[Mapping[str, float]]
    """One entry for each evaluation, with epoch, step, loss and metrics, for metrics.json."""
    seconds: float


@dataclass(frozen=True, slots=True)
class ParameterGroup:
    """Parameters with one learning rate."""

    parameters: Sequence["nn.Parameter"]
    rate: float
    """At its peak."""
    decay: float
    """Weight decay."""


class Learner(Protocol, Generic[Batch]):
    """A network with its examples, as the loop uses it."""

    @property
    def network(self) -> "nn.Module":
        """The network to train; all its parameters and buffers are saved."""

    def groups(self) -> Sequence[ParameterGroup]:
        """All trainable parameters, always in the same order."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch, shuffled by the learner's seed and the epoch alone.

        The same arguments give the same batches: a resumed training skips those that are done.
        """

    def loss(self, batch: Batch, on: "device") -> "Tensor":
        """The mean loss of a batch, a scalar. Called in train mode, under autocast."""

    def judge(self, on: "device") -> Mapping[str, float]:
        """The figures on dev, SCORE among them. Called in eval mode, without gradients."""


BETAS = (0.9, 0.98)
"""Of AdamW; the second is that of "Attention is all you need" (section 5.3)."""

FUSED = ("cpu", "cuda")
"""Devices on which AdamW updates all weights in one call."""

Reports = Generator[StepReport, None, None]


class NothingToLearnError(TrainingError):
    """A learner without a batch."""


def train(
    learner: Learner[Any], plan: TrainingPlan, folder: Path, on: torch.device | None = None
) -> Generator[StepReport, None, TrainingOutcome]:
    """Train, with a report after each step; the outcome is the generator's value.

    on: by default the fastest device; the network is moved there, and holds the best averaged
    weights at the end. A training found in `folder` is resumed, and a finished one gives its
    outcome again. Raises NothingToLearnError, DivergedError, DeviceError, and CheckpointError
    for a folder of another training and for a damaged one.
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
        # A full disk must not prevent the end: the checkpoint before stays.
        if run.between_steps:
            with suppress(TrainingError):
                run.save_last()
        raise
    return run.outcome()


class _Run:
    """The state of a training in this process."""

    def __init__(
        self, learner: Learner[Any], plan: TrainingPlan, folder: Path, on: torch.device
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
        self.progress = TrainingProgress()
        self.stepping = False
        self.began = self.counted = time.monotonic()

    # --- steps ------------------------------------------------------------------------------

    def epoch(self) -> Reports:
        """The rest of the current epoch, and its evaluation."""
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
        """Whether the state in memory is consistent: no step is half done."""
        return not self.stepping and not self.average.away

    @property
    def fresh(self) -> bool:
        """Nothing was trained or evaluated yet."""
        return not self.progress.step and self.progress.best is None

    def judge_first(self) -> None:
        """Evaluate the initial weights as an epoch 0; they are the best so far."""
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
        """Evaluate the averaged weights, keep them if they are the best, end the epoch."""
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
            f"The training diverged at step {self.progress.step + 1}: {what}. Try a lower "
            "rate, a longer warm-up, or the precision fp32"
        )

    # --- saying -----------------------------------------------------------------------------

    @property
    def loss(self) -> float | None:
        """The mean loss of the epoch so far."""
        return self.progress.lost / self.progress.place if self.progress.place else None

    def report(self, phase: str, epoch: int | None = None) -> StepReport:
        """The progress. epoch: the one reported on, by default the current one."""
        done = self.progress
        about = done.epoch if epoch is None else epoch
        seconds = time.monotonic() - self.began
        return StepReport(phase, done.step, self.steps, about, self.loss, done.metrics, seconds)

    def outcome(self) -> TrainingOutcome:
        """The outcome, with the best weights in the network."""
        done, best = self.progress, self.progress.best
        assert best is not None  # noqa: S101 - a training that is over was judged
        self._load(checkpoints.read(self.folder / BEST, self.identity).tensors, BEST)
        self.network.eval()
        return TrainingOutcome(
            best.metrics, best.epoch, best.step, done.stopped_early, done.curve, done.seconds
        )

    # --- checkpoints ------------------------------------------------------------------------

    def save_last(self) -> None:
        """Write all that is needed to resume."""
        now = time.monotonic()
        scaler = {name: float(one) for name, one in self.scaler.state_dict().items()}
        self._now(seconds=self.progress.seconds + now - self.counted, scaler=scaler)
        self.counted = now
        tensors = {f"network.{name}": one for name, one in self.network.state_dict().items()}
        tensors |= {f"average.{name}": one for name, one in self.average.tensors.items()}
        for place, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"moment.{place}.{name}": one for name, one in state.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if self.on.type != "cpu":
            cuda = self.on.type == "cuda"
            state = torch.cuda.get_rng_state(self.on) if cuda else torch.mps.get_rng_state()
            tensors[f"random.{self.on.type}"] = state
        self._save(LAST, tensors)

    def _save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        found = Checkpoint(self.identity, self.progress, tensors)
        checkpoints.write(self.folder / name, found)

    def resume(self) -> None:
        """Resume from `last` if it exists; else begin."""
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
        """A training may be resumed on another device: then that device has no saved state."""
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


def _spelled(plan: TrainingPlan) -> dict[str, str]:
    """The parameters that make a different training."""
    return {
        name: str(value) for name, value in asdict(plan).items() if name != "checkpoint_every"
    }


def _digest(learner: Learner[Any], per_epoch: int) -> str:
    """SHA-256 (hex) of the learner's tensors, groups and batches, and of its fingerprint."""
    tensors = [
        [name, list(tensor.shape), str(tensor.dtype)]
        for name, tensor in learner.network.state_dict().items()
    ]
    groups = [[one.rate, one.decay, len(one.parameters)] for one in learner.groups()]
    own = str(getattr(learner, "fingerprint", ""))
    spelled = json.dumps([tensors, groups, per_epoch, own])
    return hashlib.sha256(spelled.encode()).hexdigest()


def learnable(example: ResolutionExample) -> bool:
    """Whether gold names a class or heads: NOT_NFH, BROKEN and NFH do not."""
    return paper_class(example.gold.kind) is not None


def right_class(example: ResolutionExample) -> int | None:
    """The index in IMPLICIT_KINDS of an implicit gold, UNKNOWN as OTHER; None for a
    Reference.
    """
    kind = paper_class(example.gold.kind)
    if kind is None or kind is Kind.REFERENCE:
        return None
    return IMPLICIT_KINDS.index(kind)


def right_tokens(example: ResolutionExample) -> list[list[int]]:
    """`mentions_of` each head of a Reference; empty for an implicit gold."""
    return [mentions_of(head, example.item) for head in example.gold.heads]


def mentions_of(head: Head, item: Item) -> list[int]:
    """The tokens that are correct for a head: ascending, outside the anchor.

    These are its marked mentions, and each token with the lemma of one of them: files mark one
    mention of a noun, or some, and choosing another one is not wrong.
    """
    tokens = item.passage.tokens
    marked = {mention.head for mention in head.live}
    lemmas = {tokens[place].lemma.lower() for place in marked}
    anchor = range(item.anchor.start, item.anchor.end)
    return [
        place
        for place, token in enumerate(tokens)
        if place not in anchor and (place in marked or token.lemma.lower() in lemmas)
    ]


def nearest_token(example: ResolutionExample) -> int | None:
    """The marked head token nearest to the anchor, the earlier of two: the paper's target
    (section 6.1). None for an implicit gold.
    """
    anchor = example.item.anchor
    heads = example.gold.head_tokens()
    return min(heads, key=lambda head: (distance(anchor, head), head), default=None)
