"""From labelled examples to a trained model, in one generator of reports."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import torch
from torch import nn

from nfh_models.encoder.backbone import Backbone, pretrained
from nfh_models.encoder.files import network_of
from nfh_models.encoder.judging import Asked, asked
from nfh_models.encoder.learner import EncoderLearner
from nfh_models.encoder.lessons import (
    Lessons,
    Silver,
    Soft,
    add_identification,
    add_resolution,
    add_silver,
    wanted,
)
from nfh_models.encoder.model import Whole
from nfh_models.encoder.network import Network
from nfh_models.encoder.priors import shift_to_paper
from nfh_models.encoder.reading import Shown
from nfh_models.encoder.rows import Featuriser
from nfh_models.encoder.settings import EncoderSettings, Priors, Task, Weights
from nfh_models.errors import ModelsError
from nfh_models.identification.example import Example
from nfh_models.resolution.item import ResolutionExample
from nfh_models.training.learner import Outcome, StepReport
from nfh_models.training.loop import train


class StartError(ModelsError):
    """A model that another cannot begin with."""


@dataclass(frozen=True, slots=True)
class Material:
    """What is learnt from, and what it is judged on.

    silver: anchors that nobody labelled by hand. soft: a teacher's probabilities, over the six
    classes and all tokens, by `key_of_item` or `key_of_case`. shown: its states of words, by
    `key_of_item`.
    """

    resolution: Sequence[ResolutionExample] = ()
    identification: Sequence[Example] = ()
    dev_resolution: Sequence[ResolutionExample] = ()
    dev_identification: Sequence[Example] = ()
    silver: Sequence[Silver] = ()
    soft: Mapping[str, Soft] = field(default_factory=dict)
    shown: Mapping[str, Shown] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A network with its lessons. lessons: what is learnt from, and what is left out."""

    learner: EncoderLearner
    lessons: Lessons
    dev: Asked
    whole: Whole


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training made. whole: with the weights of the best judgement."""

    whole: Whole
    outcome: Outcome
    lessons: Lessons
    dev: Asked


def prepare(
    material: Material,
    settings: EncoderSettings,
    backbone: Backbone | None = None,
    start: Whole | None = None,
) -> Prepared:
    """Load the encoder and make all rows. backbone: in place of the one that settings name.
    start: a model of the same encoder and sizes whose weights are begun with.

    Raises EncoderError, TokenizerError, NoLessonsError where nothing can be learnt, and
    StartError for a model of other sizes.
    """
    torch.manual_seed(settings.seed)
    own = backbone or pretrained(settings.encoder, download=settings.download)
    network = network_of(own.architecture, own.module, settings)
    if start is not None:
        begin_with(start.network, network)
    if settings.weights is Weights.MIXED:
        # A step of the training is smaller than one of 4 bits, and would be lost.
        table = cast("nn.Module", own.module.get_input_embeddings())  # type: ignore[operator]
        table.requires_grad_(requires_grad=False)
    featuriser = Featuriser(own.pieces, settings.window, settings.before, own.limit)
    lessons = lessons_of(material, featuriser, settings)
    dev = asked(
        featuriser,
        material.dev_resolution if wanted(settings.task, Task.RESOLUTION) else (),
        material.dev_identification if wanted(settings.task, Task.IDENTIFICATION) else (),
        settings.candidates,
    )
    learner = EncoderLearner(network, featuriser, settings, lessons.taught, dev)
    whole = Whole(network, settings, own.architecture, own.pieces, Path(own.name).name)
    if settings.priors is Priors.PAPER:
        whole = replace(whole, shift=shift_to_paper(material.resolution))
    return Prepared(learner, lessons, dev, whole)


def begin_with(trained: Network, network: Network) -> None:
    """Put the weights of one network into another. Raises StartError if they do not fit."""
    try:
        network.load_state_dict(trained.state_dict())
    except RuntimeError as error:
        raise StartError(
            "the model that is begun with has another encoder or other sizes: "
            + str(error).splitlines()[-1].strip()
        ) from error


def lessons_of(
    material: Material, featuriser: Featuriser, settings: EncoderSettings
) -> Lessons:
    """What the examples teach, for the task of the settings."""
    lessons = Lessons()
    if wanted(settings.task, Task.RESOLUTION):
        taught = material.soft, material.shown
        add_resolution(lessons, material.resolution, featuriser, settings, *taught)
        add_silver(lessons, material.silver, featuriser, settings, *taught)
    if wanted(settings.task, Task.IDENTIFICATION):
        silver = material.soft if settings.task is Task.BOTH else None
        add_identification(lessons, material.identification, featuriser, silver)
    return lessons


def training(
    prepared: Prepared,
    folder: Path,
    *,
    on: torch.device | None = None,
    checkpoint_every: int | None = None,
    judge_first: bool = False,
) -> Generator[StepReport, None, Trained]:
    """Train, and report each step; goes on from what `folder` holds of the same training.

    judge_first: what is begun with is a trained model, and is kept where no epoch does better.

    Raises what `nfh_models.training.loop.train` raises.
    """
    plan = replace(prepared.whole.settings.plan(checkpoint_every), judge_first=judge_first)
    outcome = yield from train(prepared.learner, plan, folder, on)
    prepared.whole.network.cpu()
    return Trained(prepared.whole, outcome, prepared.lessons, prepared.dev)
