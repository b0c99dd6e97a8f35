"""Settings of the recipe `encoder`, for command lines and config.json."""

import re
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from nfh_models.model_files import SEED, read_settings

if TYPE_CHECKING:
    from nfh_models.training.plan import TrainingPlan


HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)


def may_be_a_name(word: str) -> bool:
    """Whether an encoder of the Hugging Face hub could have this name; else it can only be a
    folder.
    """
    return HUB_NAME.fullmatch(word) is not None


class Task(StrEnum):
    """What a model is trained for."""

    BOTH = "both"
    RESOLUTION = "resolution"
    IDENTIFICATION = "identification"


class Candidates(StrEnum):
    """What can be chosen.

    REFERENCE and IMPLICIT are the paper's oracle runs (section 6.4): only words, or only the
    six classes, in training and in use.
    """

    ALL = "all"
    REFERENCE = "reference"
    IMPLICIT = "implicit"


class Priors(StrEnum):
    """The class distribution that a model expects: that of its examples, or that of the paper's
    whole corpus.
    """

    EXAMPLES = "examples"
    PAPER = "paper"


class Weights(StrEnum):
    """How weights are stored.

    FULL: 32 bits. HALF: 16 bits. BYTE: 8 bits with a scale for each row. MIXED: 4 bits for the
    word table and the layers after attention, with a scale for each group of numbers, and 8
    bits for all other matrices.
    """

    FULL = "full"
    HALF = "half"
    BYTE = "8bit"
    MIXED = "4bit"


_Share = Annotated[float, Meta(ge=0, le=1)]
_Rate = Annotated[float, Meta(gt=0, le=1)]
_Weight = Annotated[float, Meta(ge=0, le=100)]


class EncoderSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings of a training; see WANTED for each.

    The first block describes the network and is needed to use it, the rest describes the
    training.
    """

    encoder: str = ""
    download: bool = False
    task: Task = Task.BOTH
    candidates: Candidates = Candidates.ALL
    window: Annotated[int, Meta(ge=16, le=4_000)] = 170
    before: _Share = 0.6
    pair: Annotated[int, Meta(ge=4, le=8_192)] = 384
    distance: bool = True
    priors: Priors = Priors.EXAMPLES
    weights: Weights = Weights.HALF

    dropout: Annotated[float, Meta(ge=0, lt=1)] = 0.1
    epochs: Annotated[int, Meta(ge=1, le=1_000)] = 5
    patience: Annotated[int, Meta(ge=0, le=1_000)] = 0
    batch: Annotated[int, Meta(ge=1, le=4_096)] = 16
    rate: _Rate = 1e-4
    head_rate: _Rate = 5e-4
    layer_decay: Annotated[float, Meta(gt=0, le=1)] = 0.9
    weight_decay: Annotated[float, Meta(ge=0, le=1)] = 0.01
    warmup: _Share = 0.1
    averaging: Annotated[float, Meta(ge=0, lt=1)] = 0.995
    clip: Annotated[float, Meta(gt=0, le=1_000)] = 1.0
    precision: Annotated[str, Meta(pattern="^(auto|fp32|bf16|fp16)$")] = "auto"
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 0
    identification: _Weight = 0.5
    passages: bool = False
    several: _Weight = 0.2
    single: _Share = 0.1
    soft: _Share = 0.7
    states: _Weight = 0.0
    swap: _Share = 0.0
    rdrop: _Weight = 0.0
    reference_share: Annotated[float, Meta(ge=0, lt=1)] = 0.0

    def plan(self, checkpoint_every: int | None = None) -> "TrainingPlan":
        """The parameters of the training loop. checkpoint_every: in steps; None for the
        default.
        """
        from nfh_models.training.plan import TrainingPlan

        plan = TrainingPlan(
            epochs=self.epochs,
            warmup=self.warmup,
            patience=self.patience or self.epochs,
            averaging=self.averaging,
            clip=self.clip,
            precision=self.precision,
            seed=self.seed,
        )
        return (
            plan
            if checkpoint_every is None
            else replace(plan, checkpoint_every=checkpoint_every)
        )


WANTED = {
    "encoder": "a folder with a Hugging Face encoder, or its name",
    "download": "true or false: whether the encoder may be downloaded",
    "task": "both, resolution or identification",
    "candidates": "all, reference (words only) or implicit (classes only)",
    "window": "a number of words around the anchor, 16 to 4000",
    "before": "the share of the window before the anchor, 0 to 1",
    "pair": "the width of the scoring layer, 4 to 8192",
    "distance": "true or false: whether the score uses a word's distance from the anchor",
    "priors": "examples or paper: the expected shares of the classes",
    "weights": "full (32 bits), half (16 bits), 8bit, or 4bit (where it costs least)",
    "dropout": "a share from 0 on, below 1",
    "epochs": "a number of passes over the examples, 1 to 1000",
    "patience": "evaluations without an improvement before training stops; 0: never",
    "batch": "a number of examples, 1 to 4096",
    "rate": "the encoder's learning rate, above 0 and up to 1",
    "head_rate": "the learning rate of the layers above the encoder, above 0 and up to 1",
    "layer_decay": "the factor by which the rate falls from layer to layer, up to 1",
    "weight_decay": "0 to 1",
    "warmup": "the share of steps in which the rate rises, 0 to 1",
    "averaging": "the factor of the running mean of weights, below 1; 0: none",
    "clip": "the largest norm of a gradient, above 0",
    "precision": "auto, fp32, bf16 or fp16",
    "seed": SEED,
    "identification": "the weight of the loss of identification, 0 to 100",
    "passages": "true or false: whether passages of heads also teach identification",
    "several": "the weight of the loss of `one head or several`; 0: it is not predicted",
    "single": "the share at which an example with one head teaches `one`, 0 to 1",
    "soft": "the share of a teacher's probabilities where there is gold, 0 to 1",
    "states": "the weight of the difference of the words' states from a teacher's; 0: none",
    "swap": "the share of References whose number word is replaced by another, 0 to 1",
    "rdrop": "the weight of the difference of two readings of an example (R-Drop), 0 to 100",
    "reference_share": "the weight of all References together, below 1; 0: by their number",
}
"""Each setting with its possible values."""


def settings_from(given: Iterable[str]) -> EncoderSettings:
    """Settings from "key=value" words; settings not given have their defaults.

    Raises SettingError for a malformed word, and for a value that its key cannot have.
    """
    return read_settings(given, EncoderSettings, "encoder", WANTED, {})
