"""Training of the resolution recipes: settings, base models, the trainers of `linear`, `bilstm`
and `encoder`, figures on held-out examples, and the model card.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib.util import find_spec
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from nfh_models import ModelsError
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.encoder.settings import WANTED as ENCODER_WANTED
from nfh_models.encoder.settings import EncoderSettings, Weights, may_be_a_name
from nfh_models.identification.base import Example
from nfh_models.model_files import (
    CONFIG,
    ModelConfig,
    ModelFileError,
    SeenTexts,
    digest_of,
    packaged_folder,
    pair_of,
    read_config,
    read_settings,
)
from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.resolution.base import ResolutionExample, Resolver
from nfh_models.resolution.bilstm_settings import WANTED, plan_of, settings_of
from nfh_models.resolution.recipes import BASE, BILSTM, ENCODER, LINEAR, SMALL
from nfh_tui.jobs.reporting import Phase, TrainingStep
from nfh_tui.process_signals import when_done
from nfh_tui.services import templates
from nfh_tui.services.models import (
    BOTH,
    IDENTIFICATION,
    RESOLUTION,
    checked_folder,
    is_packaged,
    packaged_version,
)

if TYPE_CHECKING:
    from torch import device

    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.encoder.training import Material, PreparedTraining
    from nfh_models.resolution.linear import FittedLinear
    from nfh_models.training.loop import StepReport, TrainingOutcome
    from nfh_models.training.plan import PhaseProgress


HELD_OUT_SHARE = 0.1
"""Share of the passages held out to choose the best weights."""

CHECKPOINTS = "*.safetensors"
"""The files in a work folder from which a training is resumed."""

SHORT_PHASES = ("training", "saving")
"""Phases no longer than a step. Evaluation may take minutes, and can be interrupted."""


def steps_of(
    training: "Generator[StepReport, None, TrainingOutcome]",
) -> "Generator[TrainingStep, None, TrainingOutcome]":
    """The loop's reports as a job's steps; closing this closes the training, which saves.

    Ctrl-C is delayed to the end of a step, so that its result is saved.
    """
    with closing(training):
        is_short = False
        while True:
            try:
                with when_done() if is_short else nullcontext():
                    report = next(training)
            except StopIteration as end:
                outcome: TrainingOutcome = end.value
                return outcome
            is_short = report.phase in SHORT_PHASES
            loss = {} if report.loss is None else {"loss": report.loss}
            yield Phase(
                f"{report.phase}, epoch {report.epoch}",
                report.step,
                report.steps,
                loss | dict(report.metrics),
            )


def outcome_metrics(outcome: "TrainingOutcome", on: "device") -> dict[str, object]:
    """The entries of metrics.json about the training itself: its curve and best step."""
    return {
        "curve": [dict(entry) for entry in outcome.curve],
        "epoch": outcome.epoch,
        "step": outcome.step,
        "stopped_early": outcome.stopped_early,
        "training_seconds": round(outcome.seconds, 3),
        "device": str(on),
    }


# A trainer is created from the settings before any data is read, so that a wrong setting is
# reported at once. Only `train` loads a framework.

JUDGED_BY = ("dev_split", "dev")
GENERAL = ("base", *JUDGED_BY, "device")
"""Settings that belong to no single recipe; each recipe allows some of them."""


class TrainerError(ModelsError):
    """A training with an impossible option; the sentence says what is possible."""


@dataclass(frozen=True, slots=True)
class Base:
    """The model from which a training starts."""

    folder: Path
    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class TrainingSets:
    """Examples to train on, and held-out ones (dev).

    numbers, dev_numbers: of identification, for a model of both tasks.
    """

    train: Sequence[ResolutionExample]
    dev: Sequence[ResolutionExample] = ()
    numbers: Sequence[Example] = ()
    dev_numbers: Sequence[Example] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A model's folder on disk: its config and digest."""

    config: ModelConfig
    digest: str


Write = Callable[[Path, str, dict[str, object], str, SeenTexts], Written]
"""Writes a model's folder: path, time of creation, metrics, card, texts that it has seen."""


def writer(save: Callable[..., str], model: object, **more: object) -> Write:
    """Writes a model by the `save` of its recipe, which returns the digest."""

    def write(
        at: Path, made: str, metrics: dict[str, object], card: str, seen: SeenTexts
    ) -> Written:
        digest = save(model, at, created_at=made, metrics=metrics, card=card, seen=seen, **more)
        return Written(read_config(at), digest)

    return write


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The result of a training."""

    resolver: Resolver
    write: Write
    metrics: Mapping[str, object] = field(default_factory=dict)
    """Entries of metrics.json about the training itself."""

    figures: Mapping[str, float] = field(default_factory=dict)
    """Fractions by name, of a recipe that evaluates itself in folds."""

    left_out: Mapping[str, int] = field(default_factory=dict)
    """Examples that could not be used, by reason."""

    notes: Sequence[str] = ()
    """Sentences for the user."""


class Trainer(Protocol):
    """A recipe with its settings."""

    @property
    def recipe(self) -> str: ...

    @property
    def needs(self) -> frozenset[ParseLayer]:
        """The layers that examples must have."""
        ...

    @property
    def share(self) -> float:
        """Of the passages, held out by default; 0 for a recipe that evaluates itself."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """All settings that influence the model, as stored in a job's row."""
        ...

    def train(
        self, sets: TrainingSets, folder: Path, parser: Parser | None
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Train and yield each step; resumes the same training from the files in `folder`.

        parser: None where the recipe needs no layer. Raises ModelsError.
        """
        ...


def trainer_for(
    task: str, recipe: str, words: Sequence[str], base: Base | str | None, device: str | None
) -> Trainer:
    """The trainer of a recipe.

    words: settings as "key=value". base: a model, or the name or folder of a pretrained
    encoder; None for the recipe's default. Raises ModelsError for a setting that the recipe
    does not have or whose value is wrong.
    """
    if recipe == LINEAR:
        _refuse(recipe, base, device)
        return LinearTrainer(words)
    if recipe == BILSTM:
        _refuse(recipe, base, None)
        return BiLstmTrainer(words, device)
    return EncoderTrainer(task, recipe, words, base, device)


def _refuse(recipe: str, base: Base | str | None, device: str | None) -> None:
    if base is not None:
        raise TrainerError(f"{recipe} starts from scratch: leave out base")
    if device is not None:
        raise TrainerError(f"{recipe} is fitted without a network: leave out device")


def check_keys(
    words: Iterable[str], recipe: str, own: Iterable[str], general: Iterable[str]
) -> None:
    """Raise SettingError for a word whose key is neither in `own` nor in `general`."""
    wanted = dict.fromkeys((*own, *general), "")
    for word in words:
        pair_of(word, recipe, wanted)


ACTIVE = "active"
LARGEST_SHARE = 0.5
TORCH = "torch"
WARM = (ENCODER, SMALL)
"""Recipes that can start from a model."""

BASES = (*WARM, BASE)
"""Recipes of the models from which they can start."""

DEVICE = re.compile("auto|cpu|cuda(:[0-9]{1,3})?|mps")
DEVICES = "auto, cpu, cuda, cuda:NUMBER or mps"


@dataclass(frozen=True, slots=True)
class General:
    """The settings in GENERAL, apart from a recipe's own."""

    words: tuple[str, ...]
    """The recipe's settings, as "key=value"."""

    base: str | None = None
    dev_split: str | None = None
    """The held-out split."""

    dev: float | None = None
    """Share of the passages held out, where no split is."""

    device: str | None = None


def general_of(words: Iterable[str]) -> General:
    """The values of --set, separated. Raises TrainerError for a value that is not allowed."""
    own: dict[str, str] = {}
    rest = []
    for word in words:
        key, equals, value = word.partition("=")
        if key in GENERAL and equals:
            if not value:
                raise TrainerError(f"{word!r}: a value is missing after the =")
            own[key] = value
        else:
            rest.append(word)
    if "dev" in own and "dev_split" in own:
        raise TrainerError("dev and dev_split both say what judges the training: leave out one")
    device = own.get("device")
    if device is not None and not DEVICE.fullmatch(device):
        raise TrainerError(f"'device={device}': wanted {DEVICES}")
    return General(
        tuple(rest),
        own.get("base"),
        own.get("dev_split"),
        _share(own["dev"]) if "dev" in own else None,
        device,
    )


def _share(value: str) -> float:
    with suppress(ValueError):
        if 0 < (share := float(value)) <= LARGEST_SHARE:
            return share
    raise TrainerError(
        f"'dev={value}': wanted a share of the passages above 0 and up to {LARGEST_SHARE:g}"
    )


def base_for(store: "Store", recipe: str, general: General) -> Base | str | None:
    """The base of a training.

    A `Base` for "active", for a registered model's id, name or recipe, and for a model's
    folder; else the setting itself, the name or folder of a pretrained encoder. Without it,
    `encoder` and `small` start from the active model where it is of these recipes, else from
    the bundled `small`: from `base` a training takes far more memory and time, so that it has
    to be named. Raises ModelsError for a model that is damaged or cannot be started from.
    """
    word = general.base
    if recipe not in WARM:
        return word
    if word is None:
        if any(one.startswith("encoder=") for one in general.words):
            return None
        active = RESOLUTION.named(store, None)
        if active is not None and active.recipe in WARM:
            return _of_model(store, active)
        return packaged_base(SMALL) if is_packaged(SMALL) else None
    if word == ACTIVE:
        if (active := RESOLUTION.named(store, None)) is None:
            raise TrainerError("there is no active model to start from: name another base")
        return _of_model(store, active)
    if Path(word).is_dir():
        return _of_folder(Path(word))
    if (found := RESOLUTION.named(store, word)) is not None:
        return _of_model(store, found)
    return _encoder_name(word)


def _encoder_name(word: str) -> str:
    """The word itself. Raises TrainerError if it cannot be a pretrained encoder's name."""
    wanted = (
        "wanted active, a model that `nfh-tui models` lists, a model's folder, or the folder "
        "or name of a Hugging Face encoder"
    )
    if word.isdecimal():
        raise TrainerError(f"'base={word}': there is no model {word}; {wanted}")
    if word in RESOLUTION.recipes or word in IDENTIFICATION.recipes:
        raise TrainerError(f"'base={word}': {word} is a recipe that has no model; {wanted}")
    if not may_be_a_name(word):
        raise TrainerError(f"'base={word}': there is no such folder; {wanted}")
    return word


def default_recipe(store: "Store") -> str:
    """The recipe of resolution where none is named.

    `encoder` where torch is installed and there is a model to start from, else `linear`,
    which needs neither.
    """
    active = RESOLUTION.named(store, None)
    has_base = is_packaged(SMALL) or (active is not None and active.recipe in WARM)
    return ENCODER if has_base and find_spec(TORCH) is not None else LINEAR


def _of_model(store: "Store", model: "Model") -> Base:
    if model.recipe not in BASES:
        raise TrainerError(
            f"{model.name} is of the recipe {model.recipe}: only a model of "
            f"{' or '.join(BASES)} can be started from"
        )
    if model.path is None:
        return packaged_base(model.recipe)
    return Base(checked_folder(store.path, model), model.name, model.digest or "")


def packaged_base(recipe: str) -> Base:
    """A bundled model, unchecked."""
    return Base(packaged_folder(recipe), recipe, packaged_version(recipe) or "")


def _of_folder(folder: Path) -> Base | str:
    """A model, or the path of a pretrained encoder, whose config has no `format_version`."""
    try:
        found = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or "format_version" not in found:
        return str(folder.resolve())
    config = read_config(folder)
    if config.recipe not in BASES:
        raise TrainerError(
            f"{folder} is a model of {config.recipe}: only one of {' or '.join(BASES)} can be "
            "started from"
        )
    return Base(folder.resolve(), config.name, digest_of(folder))


class LinearTrainer:
    """Holds nothing out: the folds evaluate it."""

    recipe = LINEAR
    share = 0.0

    def __init__(self, words: Sequence[str]) -> None:
        """words: "key=value". Raises SettingError."""
        from nfh_models.resolution import linear

        check_keys(words, LINEAR, linear.WANTED, JUDGED_BY)
        self.needs = linear.NEEDS
        self._plan = linear.settings_of(words)
        own = msgspec.to_builtins(self._plan.settings)
        self.settings: Mapping[str, object] = own | {"folds": self._plan.folds}

    def train(
        self,
        sets: TrainingSets,
        folder: Path,  # noqa: ARG002 - training takes minutes and is never resumed
        parser: Parser | None,
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Fit it. Raises NoLinearExamplesError, ParserError."""
        from nfh_models.resolution.linear import save_linear, training

        done = yield from without_folds(training(sets.train, self._plan, parser))
        model = done.model
        told = {
            "folds": len(done.folds),
            "per_fold": [fold.figures() for fold in done.folds],
            "loss": done.loss,
            "converged": done.converged,
            "features": len(model.weights.anchors) + len(model.weights.tokens),
        }
        figures = reduce(add, done.folds).figures() if done.folds else {}
        write = writer(save_linear, model)
        return TrainedModel(model, write, told, figures, done.left_out, done.warnings)


def without_folds(
    steps: "Generator[PhaseProgress, None, FittedLinear]",
) -> "Generator[TrainingStep, None, FittedLinear]":
    """The same steps; those of the folds lose their figures."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            fitted: FittedLinear = end.value
            return fitted
        # The folds fit other models, whose figures do not belong into the curve of this one.
        if step.phase == "fitting":
            yield step
        else:
            yield Phase(step.phase, step.done, step.total)


class BiLstmTrainer:
    """Trains the paper's network."""

    recipe = BILSTM
    needs: frozenset[ParseLayer] = frozenset()
    share = HELD_OUT_SHARE

    def __init__(self, words: Sequence[str], device: str | None) -> None:
        """words: settings as "key=value". Raises SettingError."""
        check_keys(words, BILSTM, WANTED, (*JUDGED_BY, "device"))
        self._settings = settings_of(words)
        self._device = device
        self.settings = dict(msgspec.to_builtins(self._settings))

    def train(
        self,
        sets: TrainingSets,
        folder: Path,
        parser: Parser | None,  # noqa: ARG002 - it needs none
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Train it. Raises NoExamplesError, VectorError, TrainingError."""
        from nfh_models.resolution.bilstm import learner_of, make_model, save_bilstm
        from nfh_models.resolution.word_vectors import vectors_of
        from nfh_models.training.loop import choose_device, train

        on = choose_device(self._device)
        vectors = vectors_of(self._settings, sets.train)
        learner = learner_of(sets.train, sets.dev, self._settings, vectors)
        plan = plan_of(self._settings)
        outcome = yield from steps_of(train(learner, plan, folder, on))
        model = make_model(learner)

        return TrainedModel(
            model,
            writer(save_bilstm, model),
            outcome_metrics(outcome, on),
            notes=learner.notes,
        )


OF_NETWORK = ("window", "before", "pair", "distance", "candidates", "dropout")
"""Settings inherited from the base model."""

FINE_TUNING = {"rate": 3e-5, "head_rate": 1e-4, "epochs": 3}
"""Defaults for a model that is trained further: at the rates of a new model it forgets more
than it learns from few labels."""

QUANTIZED = frozenset((Weights.BYTE, Weights.MIXED))
"""Weights that `small` inherits from its base; otherwise it uses 8 bits."""

SETTABLE = {key: values for key, values in ENCODER_WANTED.items() if key != "task"}
"""Allowed values by setting; the task is an argument of its own."""


class EncoderTrainer:
    """Fine-tunes a pretrained encoder, or a model trained before."""

    needs: frozenset[ParseLayer] = frozenset()
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
            raise TrainerError("the task goes before the options, and is not a setting")
        if base is not None and "encoder" in named:
            raise TrainerError("base and encoder both name what to start from: leave out one")
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
            self._settings = _inherited_settings(self._settings, self._base, named)
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
        sets: TrainingSets,
        folder: Path,
        parser: Parser | None,  # noqa: ARG002 - it needs none
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Train it. Raises EncoderError, NoLessonsError, TrainingError."""
        from nfh_models.encoder.model import EncoderModel, save
        from nfh_models.encoder.training import Material, training
        from nfh_models.training.loop import choose_device

        on = choose_device(self._device)
        prepared = self._prepared(
            Material(sets.train, sets.numbers, sets.dev, sets.dev_numbers)
        )
        judge_first = self._base is not None and bool(sets.dev or sets.dev_numbers)
        outcome = yield from steps_of(
            training(prepared, folder, on=on, judge_first=judge_first)
        )
        bundle = prepared.bundle
        bundle.network.eval().requires_grad_(requires_grad=False)

        found = prepared.training_examples
        # Figures of identification have the names that its own models use.
        start = "identification_"
        metrics = outcome_metrics(outcome, on) | {
            name.removeprefix(start): value
            for name, value in outcome.metrics.items()
            if name.startswith(start)
        }
        metrics |= {
            "base": bundle.base,
            "heads": found.heads,
            "heads_outside_window": found.lost,
        }
        notes = []
        if not outcome.epoch and self._base is not None:
            notes.append(
                f"no epoch did better on what was kept out than {self._base.name}, from which "
                "it started: the two models answer alike"
            )
        if found.lost:
            notes.append(
                f"{found.lost:,} of {found.heads:,} heads are outside the window of "
                f"{bundle.settings.window} words and cannot be learnt"
            )
        return TrainedModel(
            EncoderModel(bundle, self.recipe),
            writer(save, bundle, recipe=self.recipe),
            metrics,
            left_out=dict(found.left_out),
            notes=notes,
        )

    def _prepared(self, material: "Material") -> "PreparedTraining":
        from nfh_models.encoder.model import load
        from nfh_models.encoder.training import prepare

        if self._base is None:
            return prepare(material, self._settings)
        before = load(self._base.folder, bytes_=False).bundle  # in 32 bits, to be trained
        before.network.requires_grad_(requires_grad=True)
        prepared = prepare(material, self._settings, before.backbone)
        # The layers after the encoder start from the base's, where both have the same shape.
        network = prepared.bundle.network
        own = network.state_dict()
        fitting = {
            name: tensor
            for name, tensor in before.network.state_dict().items()
            if name in own and own[name].shape == tensor.shape
        }
        network.load_state_dict(fitting, strict=False)
        return replace(prepared, bundle=replace(prepared.bundle, base=before.base))


def _inherited_settings(
    settings: EncoderSettings, base: Base, named: set[str]
) -> EncoderSettings:
    """The settings with the base's network and FINE_TUNING, except for those that are named."""
    config = read_config(base.folder)
    try:
        before = msgspec.convert(config.settings.get("training"), EncoderSettings)
    except msgspec.ValidationError as error:
        raise ModelFileError(
            f"{base.folder} is not a model that encoder can start from: {error}"
        ) from error
    kept: dict[str, object] = {name: getattr(before, name) for name in OF_NETWORK}
    kept = {name: value for name, value in (kept | FINE_TUNING).items() if name not in named}
    if settings.weights is Weights.BYTE and before.weights in QUANTIZED:
        kept["weights"] = before.weights
    return msgspec.structs.replace(settings, encoder=before.encoder or base.name, **kept)


WORST = 15
"""Anchor words with most errors that metrics.json lists."""

FIGURES = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
)


def dev_metrics(
    trained: TrainedModel, dev: Sequence[ResolutionExample], parser: Parser | None
) -> dict[str, object]:
    """The entries of metrics.json about held-out examples; {} without any.

    Figures are fractions, by name (FIGURES). Raises ParserError.
    """
    if not dev:
        return {}
    from nfh_models.resolution.base import resolve_items
    from nfh_models.resolution.scoring import by_mistake, figures, judge, mistakes

    items = (one.item for one in dev)
    choices = [choice for _, choice in resolve_items(items, trained.resolver, parser)]
    found = judge(dev, choices)
    all_figures = figures(found)
    named = {name: getattr(all_figures, name) for name in FIGURES}
    of_kind = Counter(one.example.gold.kind.value for one in found)
    right = Counter(one.example.gold.kind.value for one in found if one.right)
    of_word = Counter(_word(one.example) for one in found)
    wrong = Counter(_word(one.example) for one in found if not one.right)
    worst = sorted(wrong, key=lambda word: (-wrong[word], word))[:WORST]
    return {
        "dev_examples": len(found),
        **{name: value for name, value in named.items() if value is not None},
        "by_kind": [
            {"kind": kind, "n": n, "right": right[kind]} for kind, n in of_kind.most_common()
        ],
        "mistakes": [
            {"mistake": str(one.mistake), "n": one.n}
            for one in by_mistake(mistakes(found))
            if one.n
        ],
        "worst": [{"anchor": w, "n": of_word[w], "wrong": wrong[w]} for w in worst],
    }


def _word(example: ResolutionExample) -> str:
    item = example.item
    places = range(item.anchor.start, item.anchor.end)
    return " ".join(item.passage.word(place) for place in places).lower()


def metrics_of(
    sets: TrainingSets, trained: TrainedModel, judgement: dict[str, object]
) -> dict[str, object]:
    """The content of metrics.json; figures are fractions. judgement: of `dev_metrics`."""
    kinds = Counter(one.gold.kind for one in sets.train)
    metrics: dict[str, object] = {
        "examples": len(sets.train),
        "kinds": {
            kind.value: kinds[kind] for kind in (Kind.REFERENCE, *IMPLICIT_KINDS) if kinds[kind]
        },
        **trained.figures,
        **trained.metrics,
    }
    if sets.numbers:
        metrics |= {
            "numbers": len(sets.numbers),
            "numbers_nfh": sum(one.nfh for one in sets.numbers),
            "dev_numbers": len(sets.dev_numbers),
        }
    return metrics | judgement


DESCRIPTIONS = {
    "linear": "A linear model over pairs of number and candidate, with the features of the "
    "paper's appendix.",
    "bilstm": "The paper's network (section 6.1): two LSTMs and a scorer of pairs.",
    "encoder": "A pretrained encoder, fine-tuned.",
    "small": "A small pretrained encoder, fine-tuned, its weights in 8 bits.",
}

IDENTIFICATION_FIGURES = ("precision", "recall", "f1")


def card_of(
    name: str,
    at: str,
    trainer: Trainer,
    metrics: Mapping[str, object],
    notes: Sequence[str],
) -> str:
    """The model card in Markdown; text from the data is escaped."""
    from nfh_models.identification.svm import plain

    kinds, left_out, settings = metrics.get("kinds"), metrics.get("left_out"), trainer.settings
    both = "It also says whether the noun is missing at all. "
    known = ((one, metrics.get(one)) for one in (*FIGURES, *IDENTIFICATION_FIGURES))
    return templates.render(
        "model_card.md.j2",
        {
            "plain": lambda value: plain(str(value), None),
            "cell": lambda one: f"{one:,}" if isinstance(one, int) else plain(str(one)),
            "whole": lambda value: value if isinstance(value, int) else 0,
        },
        name=name,
        at=at,
        both=both if settings.get("task") == BOTH else "",
        what=DESCRIPTIONS.get(trainer.recipe, ""),
        m=metrics,
        kinds=", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        if isinstance(kinds, dict) and kinds
        else "none",
        left_out=sorted(left_out.items()) if isinstance(left_out, dict) else (),
        notes=[f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes if note],
        settings=", ".join(f"{key} {_setting_text(value)}" for key, value in settings.items()),
        figures=[
            (f"identification: {one}" if one in IDENTIFICATION_FIGURES else one, value)
            for one, value in known
            if isinstance(value, float | int)
        ],
    )


def _setting_text(value: object) -> str:
    from nfh_models.identification.svm import plain

    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else plain(str(value), None)
