"""What the training loop is told of the network: its examples, its rates, its figures."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from nfh_models.encoder.imitation import Student, Wanted, student_of
from nfh_models.encoder.judging import Asked, figures
from nfh_models.encoder.lessons import Lesson, balanced
from nfh_models.encoder.losses import Targets, difference, loss_of
from nfh_models.encoder.network import Network, Scored, Tensors
from nfh_models.encoder.reading import read, shut
from nfh_models.encoder.rows import CLASSES, Featuriser, pad
from nfh_models.encoder.settings import Candidates, EncoderSettings
from nfh_models.encoder.swapping import swapped
from nfh_models.errors import ModelsError
from nfh_models.training.learner import Group

COLUMNS = "columns"
"""Before the number of a column in a parameter's name."""

POOL = 40
"""Batches whose examples are sorted by length together, so that little is padding."""

Batch = tuple[int, ...]


class NoLessonsError(ModelsError):
    """Nothing to learn from."""


class EncoderLearner:
    """A network with its lessons and dev examples.

    The batches of an epoch depend on seed and epoch alone. Raises NoLessonsError without a
    lesson, or where all lessons have one answer.
    """

    def __init__(
        self,
        network: Network,
        featuriser: Featuriser,
        settings: EncoderSettings,
        lessons: Sequence[Lesson],
        dev: Asked,
    ) -> None:
        _check(lessons, settings.candidates)
        self._network = network
        self._featuriser = featuriser
        self._settings = settings
        self._lessons = balanced(lessons, settings.reference_share)
        self._student = student_of(network, lessons) if settings.states else None
        self._dev = dev

    @property
    def network(self) -> Network | Student:
        """What is trained: the network, with its projection where it learns states."""
        return self._student or self._network

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of settings and lessons: differs where the training would."""
        hashed = hashlib.sha256(msgspec.json.encode(self._settings))
        for one in self._lessons:
            told = (one.row.ids, one.row.mark, one.heads, one.nfh, one.several, one.weight)
            hashed.update(repr(told).encode("ascii"))
            if one.soft is not None:
                hashed.update(one.soft.tobytes())
            if one.states is not None:
                hashed.update(np.ascontiguousarray(one.states[:1]).tobytes())
        return hashed.hexdigest()

    def groups(self) -> list[Group]:
        """By layer and by what decays. The encoder's lowest layer learns slowest (as in
        Howard and Ruder 2018, "Universal Language Model Fine-tuning"); what stands on the
        encoder has a rate of its own. Vectors, biases and norms do not decay."""
        layers = _layers(self._network.encoder)
        found: dict[tuple[float, float], list[nn.Parameter]] = {}
        for name, parameter in self.network.named_parameters():
            if not parameter.requires_grad:
                continue
            decay = 0.0 if parameter.dim() < 2 else self._settings.weight_decay
            found.setdefault((self._rate(name, layers), decay), []).append(parameter)
        return [Group(those, rate, decay) for (rate, decay), those in found.items()]

    def _rate(self, name: str, layers: int) -> float:
        settings = self._settings
        name = name.removeprefix("network.")
        if not name.startswith("encoder."):
            return settings.head_rate
        return settings.rate * settings.layer_decay ** (layers - _layer(name, layers))

    def batches(self, epoch: int) -> list[Batch]:
        """Places of lessons; examples of about one length stand together."""
        rng = random.Random(f"{self._settings.seed} {epoch}")  # noqa: S311 - no secret
        places = list(range(len(self._lessons)))
        rng.shuffle(places)
        size = self._settings.batch
        made: list[Batch] = []
        for start in range(0, len(places), size * POOL):
            pool = sorted(places[start : start + size * POOL], key=self._length)
            made += [tuple(pool[at : at + size]) for at in range(0, len(pool), size)]
        rng.shuffle(made)
        return made

    def _length(self, place: int) -> int:
        return len(self._lessons[place].row.ids)

    def loss(self, batch: Batch, on: torch.device) -> Tensor:
        """The mean loss of some lessons."""
        lessons = [self._drawn(self._lessons[place]) for place in batch]
        inputs = Tensors.of(pad([one.row for one in lessons], self._featuriser.pieces.pad), on)
        targets = Targets.of(lessons, on)
        words = self._network.read(inputs)
        scored = self._scored(words, inputs)
        total = loss_of(scored, targets, self._settings)
        if self._settings.rdrop:
            again = self._scored(self._network.read(inputs), inputs)
            total = (total + loss_of(again, targets, self._settings)) / 2
            total = total + self._settings.rdrop * difference(scored, again)
        wanted = Wanted.of(lessons, on) if self._student is not None else None
        if self._student is not None and wanted is not None:
            total = total + self._settings.states * self._student.distance(words, wanted)
        return total

    def _scored(self, words: Tensor, inputs: Tensors) -> Scored:
        scored = self._network.score(words, inputs)
        return replace(scored, logits=shut(scored.logits, self._settings.candidates))

    def _drawn(self, lesson: Lesson) -> Lesson:
        """The lesson, its number now and then another."""
        # From torch's generator, which the loop saves and restores.
        share = self._settings.swap
        if not share or float(torch.rand(())) >= share:
            return lesson
        return swapped(lesson, self._featuriser, int(torch.randint(1 << 30, ())))

    def judge(self, on: torch.device) -> Mapping[str, float]:
        """The figures on dev."""
        return judge(
            self._network,
            self._featuriser,
            self._dev,
            self._settings,
            on=on,
        )


def judge(
    network: Network,
    featuriser: Featuriser,
    dev: Asked,
    settings: EncoderSettings,
    *,
    on: torch.device | None = None,
) -> dict[str, float]:
    """The figures of a network on some examples."""
    empty = featuriser.pieces.pad
    asked = [one.row for one in dev.questions]
    logits = read(
        network,
        asked,
        empty,
        on=on,
        precision=settings.precision,
        candidates=settings.candidates,
    ).logits
    nfh = read(network, dev.rows, empty, on=on, precision=settings.precision).nfh
    return figures(dev, logits, nfh.tolist())


def _layers(encoder: nn.Module) -> int:
    """How many layers an encoder has, one at least."""
    numbers = [_number(name) for name, _ in encoder.named_parameters()]
    return max((number + 1 for number in numbers if number is not None), default=1)


def _layer(name: str, layers: int) -> int:
    """0 for the embeddings, then from 1; what is of no layer learns as the last one does."""
    number = _number(name)
    if number is not None:
        return number + 1
    return 0 if ".embeddings." in name else layers


def _number(name: str) -> int | None:
    """The layer in a parameter's name: "encoder.layer.3.output.dense.weight" is of 3, whatever
    column it stands in."""
    parts = name.split(".")
    found = [
        part
        for before, part in pairwise(["", *parts])
        if part.isascii() and part.isdigit() and before != COLUMNS
    ]
    return int(found[0]) if found else None


def _check(lessons: Sequence[Lesson], candidates: Candidates) -> None:
    if not lessons:
        raise NoLessonsError(
            "there is nothing to learn from: no example has an answer that can be learnt"
        )
    headed = [one for one in lessons if one.heads]
    labels = {one.nfh for one in lessons if one.nfh is not None}
    classes = {_answer(one) for one in headed}
    # Among words alone there is a choice to learn, although all words are one class.
    alike = len(classes) < 2 and candidates is not Candidates.REFERENCE
    if headed and alike and len(labels) < 2:
        raise NoLessonsError(
            f"all {len(headed):,} examples have the same class; to learn to choose takes two "
            "classes at least"
        )
    if not headed and len(labels) < 2 and not any(one.soft is not None for one in lessons):
        raise NoLessonsError(
            f"all {len(lessons):,} numbers have the same label; to learn to tell fused heads "
            "takes some that are and some that are not"
        )


def _answer(lesson: Lesson) -> int:
    """The class of an answer; all words are one."""
    return CLASSES if lesson.reference else lesson.heads[0][0]
