"""What the recipes of resolution have in common for whoever trains them.

A trainer is made of the settings before anything is read, so that a wrong one is told at
once; only its training loads a framework.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nfh_models.errors import ModelsError
from nfh_models.identification.example import Example
from nfh_models.model_files import Config
from nfh_models.parsing.parsed import Layer, Parser
from nfh_models.resolution.item import ResolutionExample, Resolver
from nfh_models.resolution.recipes import BILSTM, LINEAR
from nfh_models.setting_words import pair_of
from nfh_tui.training_jobs import Step

BOTH = "both"

JUDGED_BY = ("dev_split", "dev")
GENERAL = ("base", *JUDGED_BY, "device")
"""Settings that are no recipe's own; a recipe takes some of them."""


class TrainerError(ModelsError):
    """A training that was asked for wrongly; the sentence says what can be."""


@dataclass(frozen=True, slots=True)
class Base:
    """What a training starts from: a model's folder. name: for a person. digest: of it."""

    folder: Path
    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learnt from, and what is kept out to judge it.

    numbers, dev_numbers: of identification, for a model of both tasks.
    """

    train: Sequence[ResolutionExample]
    dev: Sequence[ResolutionExample] = ()
    numbers: Sequence[Example] = ()
    dev_numbers: Sequence[Example] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A model's folder on the disk: what it says of itself, and its digest."""

    config: Config
    digest: str


Write = Callable[[Path, str, dict[str, object], str], Written]
"""Writes a model's folder: where, made when, with which metrics and card."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training made.

    resolver: the model, ready. metrics: what the training itself tells, for metrics.json.
    figures: fractions by name, where no examples were kept out to judge it by. left_out:
    examples that taught nothing, by reason. notes: sentences for a person.
    """

    resolver: Resolver
    write: Write
    metrics: Mapping[str, object] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()


class Trainer(Protocol):
    """A recipe with its settings.

    needs: layers that examples must have. share: of the passages, kept out to judge it by
    where nobody says otherwise; 0 for a recipe that judges itself. settings: all of them, as
    a job's row keeps them.
    """

    @property
    def recipe(self) -> str:
        """Its name."""
        ...

    @property
    def needs(self) -> frozenset[Layer]:
        """The layers that it parses."""
        ...

    @property
    def share(self) -> float:
        """Of the passages, kept out by default."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides what comes out."""
        ...

    def train(
        self, lessons: Lessons, folder: Path, parser: Parser | None
    ) -> Generator[Step, None, Trained]:
        """Train, and report each step; goes on from what `folder` holds of the same training.

        parser: where it needs layers. Raises ModelsError.
        """
        ...


def trainer_for(
    task: str, recipe: str, words: Sequence[str], base: Base | str | None, device: str | None
) -> Trainer:
    """A recipe with its settings.

    words: "key=value". base: what it starts from: a model's folder, or in words a pretrained
    encoder; None for what the recipe starts from by itself. Raises ModelsError for what it
    cannot be.
    """
    if recipe == LINEAR:
        from nfh_tui.training_linear import LinearTrainer

        _refuse(recipe, base, device)
        return LinearTrainer(words)
    if recipe == BILSTM:
        from nfh_tui.training_bilstm import BiLstmTrainer

        _refuse(recipe, base, None)
        return BiLstmTrainer(words, device)
    from nfh_tui.training_encoder import EncoderTrainer

    return EncoderTrainer(task, recipe, words, base, device)


def _refuse(recipe: str, base: Base | str | None, device: str | None) -> None:
    if base is not None:
        raise TrainerError(f"{recipe} starts from nothing: leave base out")
    if device is not None:
        raise TrainerError(f"{recipe} is fitted without a network: leave device out")


def check_keys(
    words: Iterable[str], recipe: str, own: Iterable[str], general: Iterable[str]
) -> None:
    """Raise SettingError for a word whose key is neither the recipe's own nor one of these."""
    wanted = dict.fromkeys((*own, *general), "")
    for word in words:
        pair_of(word, recipe, wanted)
