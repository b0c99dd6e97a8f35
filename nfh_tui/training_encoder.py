"""Training of `encoder` and `small`: on a pretrained encoder, or on a model trained before."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_models.encoder.settings import WANTED, EncoderSettings, Weights
from nfh_models.model_files import ModelFileError, read_config
from nfh_models.parsing.parsed import Layer, Parser
from nfh_models.resolution.recipes import SMALL
from nfh_models.setting_words import read_settings
from nfh_tui.training_jobs import Step
from nfh_tui.training_networks import HELD_OUT_SHARE, outcome_metrics, steps_of
from nfh_tui.training_trainers import (
    GENERAL,
    Base,
    Lessons,
    Trained,
    TrainerError,
    Written,
    check_keys,
)

if TYPE_CHECKING:
    from torch import device

    from nfh_models.encoder.model import Whole
    from nfh_models.encoder.training import Material, Prepared
    from nfh_models.training.learner import Outcome, StepReport

OF_NETWORK = ("window", "before", "pair", "distance", "candidates", "dropout")
"""Settings that a model has from the one that it starts from."""

GENTLY = {"rate": 3e-5, "head_rate": 1e-4, "epochs": 3}
"""How a model that was trained before is trained on, where nobody says otherwise: at the rates
of a fresh start it forgets on a few labels more than it learns."""

IN_FEW_BITS = frozenset((Weights.BYTE, Weights.MIXED))
"""How `small` may keep its weights; else it does so in 8 bits."""

SETTABLE = {key: said for key, said in WANTED.items() if key != "task"}
"""What may be set, with what it may be: the task has been said already."""


class EncoderTrainer:
    """The recipe with its settings, and what it starts from."""

    needs: frozenset[Layer] = frozenset()
    share = HELD_OUT_SHARE

    def __init__(
        self,
        task: str,
        recipe: str,
        words: Sequence[str],
        base: Base | str | None,
        device: str | None,
    ) -> None:
        """base: a model's folder, or a pretrained encoder's folder or name. Raises
        SettingError, TrainerError, ModelFileError."""
        self.recipe = recipe
        named = {word.partition("=")[0] for word in words}
        if "task" in named:
            raise TrainerError("the task is said before the options, and is no setting")
        if base is not None and "encoder" in named:
            raise TrainerError("base and encoder both name what to start from: leave one out")
        check_keys(words, recipe, SETTABLE, GENERAL)
        fixed = {"task": task}
        if recipe == SMALL:
            fixed["weights"] = "8bit"
        if isinstance(base, str):
            fixed["encoder"] = base
        self._settings = read_settings(words, EncoderSettings, recipe, SETTABLE, fixed)
        self._base = base if isinstance(base, Base) else None
        self._device = device
        if self._base is not None:
            self._settings = _as_before(self._settings, self._base, named)
        elif not self._settings.encoder:
            raise TrainerError(
                f"{recipe} starts from an encoder: name one with --set base=…, a folder or "
                "name of a Hugging Face encoder, a model's name or folder, or active"
            )
        self.settings = dict(msgspec.to_builtins(self._settings)) | {
            "base": None if self._base is None else self._base.name,
            "base_digest": None if self._base is None else self._base.digest,
        }

    def train(
        self,
        lessons: Lessons,
        folder: Path,
        parser: Parser | None,  # noqa: ARG002 - it needs none
    ) -> Generator[Step, None, Trained]:
        """Train it. Raises EncoderError, NoLessonsError, TrainingError."""
        from nfh_models.encoder.files import config_of, save
        from nfh_models.encoder.model import EncoderModel
        from nfh_models.encoder.training import Material
        from nfh_models.training.devices import choose_device

        on = choose_device(self._device)
        prepared = self._prepared(
            Material(lessons.train, lessons.numbers, lessons.dev, lessons.dev_numbers)
        )
        told_by = bool(lessons.dev or lessons.dev_numbers)
        outcome = yield from steps_of(
            _outcome(prepared, folder, on, judge_first=self._base is not None and told_by)
        )
        whole = prepared.whole
        whole.network.eval().requires_grad_(requires_grad=False)

        def write(at: Path, made: str, metrics: dict[str, object], card: str) -> Written:
            digest = save(
                whole, at, recipe=self.recipe, created_at=made, metrics=metrics, card=card
            )
            return Written(config_of(whole, self.recipe, at.name, made), digest)

        found = prepared.lessons
        told = outcome_metrics(outcome, on) | _identification(outcome.metrics)
        told |= {"base": whole.base, "heads": found.heads, "heads_outside_window": found.lost}
        notes = []
        if not outcome.epoch and self._base is not None:
            notes.append(
                f"no epoch did better on what was kept out than {self._base.name}, from which "
                "it started: it says what that one says"
            )
        if found.lost:
            notes.append(
                f"{found.lost:,} of {found.heads:,} heads stand outside the window of "
                f"{whole.settings.window} words and cannot be learnt"
            )
        return Trained(
            EncoderModel(whole, self.recipe),
            write,
            told,
            left_out=dict(found.left_out),
            notes=notes,
        )

    def _prepared(self, material: "Material") -> "Prepared":
        from nfh_models.encoder.training import prepare

        if self._base is None:
            return prepare(material, self._settings)
        before = _whole(self._base.folder)
        prepared = prepare(material, self._settings, before.backbone)
        _take_over(prepared.whole, before)
        return replace(prepared, whole=replace(prepared.whole, base=before.base))


def _outcome(
    prepared: "Prepared", folder: Path, on: "device", *, judge_first: bool
) -> "Generator[StepReport, None, Outcome]":
    from nfh_models.encoder.training import training

    trained = yield from training(prepared, folder, on=on, judge_first=judge_first)
    return trained.outcome


def _identification(figures: Mapping[str, float]) -> dict[str, object]:
    """The figures of identification under the names that all its models have."""
    start = "identification_"
    return {name[len(start) :]: v for name, v in figures.items() if name.startswith(start)}


def _as_before(settings: EncoderSettings, base: Base, named: set[str]) -> EncoderSettings:
    """The settings with those of the network that it starts from, and gentle rates, where none
    was named."""
    config = read_config(base.folder)
    try:
        before = msgspec.convert(config.settings.get("training"), EncoderSettings)
    except msgspec.ValidationError as error:
        raise ModelFileError(
            f"{base.folder} is no model that encoder can start from: {error}"
        ) from error
    kept: dict[str, object] = {name: getattr(before, name) for name in OF_NETWORK}
    kept = {name: value for name, value in (kept | GENTLY).items() if name not in named}
    if settings.weights is Weights.BYTE and before.weights in IN_FEW_BITS:
        kept["weights"] = before.weights
    return msgspec.structs.replace(settings, encoder=before.encoder or base.name, **kept)


def _whole(folder: Path) -> "Whole":
    """A model in 32 bits, ready to be taught."""
    from nfh_models.encoder.files import load

    whole = load(folder, bytes_=False).whole
    whole.network.requires_grad_(requires_grad=True)
    return whole


def _take_over(whole: "Whole", before: "Whole") -> None:
    """Put what stands on the encoder of an earlier model where the new one has the same."""
    own = whole.network.state_dict()
    fitting = {
        name: tensor
        for name, tensor in before.network.state_dict().items()
        if name in own and own[name].shape == tensor.shape
    }
    whole.network.load_state_dict(fitting, strict=False)
