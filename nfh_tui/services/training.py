"""Training of the resolution recipes: their settings, start and judges, `bilstm` and
`encoder` by the loop of all networks, and a model's card.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.encoder.settings import WANTED as ENCODER_WANTED
from nfh_models.encoder.settings import EncoderSettings, Weights, may_be_a_name
from nfh_models.errors import ModelsError
from nfh_models.identification.base import Example
from nfh_models.model_files import (
    CONFIG,
    ModelConfig,
    ModelFileError,
    digest_of,
    pair_of,
    read_config,
    read_settings,
)
from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.resolution.base import ResolutionExample, Resolver
from nfh_models.resolution.bilstm_settings import WANTED, plan_of, settings_of
from nfh_models.resolution.recipes import BILSTM, ENCODER, LINEAR, SMALL
from nfh_tui.jobs.reporting import Phase, TrainingStep
from nfh_tui.process_signals import when_done
from nfh_tui.services import templates
from nfh_tui.services.models import (
    IDENTIFICATION,
    RESOLUTION,
    checked_folder,
    is_packaged,
    packaged_folder,
    packaged_version,
)

if TYPE_CHECKING:
    from torch import device

    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.encoder.model import ModelBundle
    from nfh_models.encoder.training import Material, Prepared
    from nfh_models.training.loop import StepReport, TrainingOutcome


HELD_OUT_SHARE = 0.1
"""Of the passages, kept out to choose the best weights by."""

CHECKPOINTS = "*.safetensors"
"""The files in a work folder that a training goes on from."""

SOON_OVER = ("training", "saving")
"""Phases that take no longer than a step; judging may take minutes, and can be broken off."""


def steps_of(
    training: "Generator[StepReport, None, TrainingOutcome]",
) -> "Generator[TrainingStep, None, TrainingOutcome]":
    """The loop's reports as a job's steps; closing this closes the training, which saves.

    Ctrl-C waits for the end of a step, so that nothing that was learnt is lost.
    """
    within_a_step = False
    while True:
        try:
            with when_done() if within_a_step else nullcontext():
                report = next(training)
        except StopIteration as end:
            outcome: TrainingOutcome = end.value
            return outcome
        except BaseException:
            training.close()
            raise
        within_a_step = report.phase in SOON_OVER
        told = {} if report.loss is None else {"loss": report.loss}
        step = Phase(
            f"{report.phase}, epoch {report.epoch}",
            report.step,
            report.steps,
            told | dict(report.metrics),
        )
        try:
            yield step
        except BaseException:
            training.close()
            raise


def outcome_metrics(outcome: "TrainingOutcome", on: "device") -> dict[str, object]:
    """What metrics.json keeps of a training: the curve, and where the best was."""
    return {
        "curve": [dict(entry) for entry in outcome.curve],
        "epoch": outcome.epoch,
        "step": outcome.step,
        "stopped_early": outcome.stopped_early,
        "training_seconds": round(outcome.seconds, 3),
        "device": str(on),
    }


# What the recipes of resolution have in common for whoever trains them.
#
# A trainer is made of the settings before anything is read, so that a wrong one is told at
# once; only its training loads a framework.

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
class TrainingSets:
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

    config: ModelConfig
    digest: str


Write = Callable[[Path, str, dict[str, object], str], Written]
"""Writes a model's folder: where, made when, with which metrics and card."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
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
    def needs(self) -> frozenset[ParseLayer]:
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
        self, lessons: TrainingSets, folder: Path, parser: Parser | None
    ) -> Generator[TrainingStep, None, TrainedModel]:
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
        from nfh_tui.services.linear_training import LinearTrainer

        _refuse(recipe, base, device)
        return LinearTrainer(words)
    if recipe == BILSTM:
        _refuse(recipe, base, None)
        return BiLstmTrainer(words, device)

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


ACTIVE = "active"
LARGEST_SHARE = 0.5
TORCH = "torch"
WARM = (ENCODER, SMALL)
"""Recipes that start from a model."""

DEVICE = re.compile("auto|cpu|cuda(:[0-9]{1,3})?|mps")
DEVICES = "auto, cpu, cuda, cuda:NUMBER or mps"


@dataclass(frozen=True, slots=True)
class General:
    """Settings that are no recipe's own, and the words that are left for the recipe.

    base: what to start from, in words. dev_split, dev: the split, or the share of the
    passages, that judges the training. device: what it runs on.
    """

    words: tuple[str, ...]
    base: str | None = None
    dev_split: str | None = None
    dev: float | None = None
    device: str | None = None


def general_of(words: Iterable[str]) -> General:
    """The words after --set, sorted out. Raises TrainerError for a value that cannot be."""
    own: dict[str, str] = {}
    rest = []
    for word in words:
        key, equals, value = word.partition("=")
        if key in GENERAL and equals:
            if not value:
                raise TrainerError(f"{word!r}: a value is wanted behind the =")
            own[key] = value
        else:
            rest.append(word)
    if "dev" in own and "dev_split" in own:
        raise TrainerError("dev and dev_split both say what judges the training: leave one out")
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
    wanted = f"a share of the passages above 0 and up to {LARGEST_SHARE:g}"
    try:
        share = float(value)
    except ValueError as error:
        raise TrainerError(f"'dev={value}': wanted {wanted}") from error
    if not 0 < share <= LARGEST_SHARE:
        raise TrainerError(f"'dev={value}': wanted {wanted}")
    return share


def base_for(store: "Store", recipe: str, general: General) -> Base | str | None:
    """What a training starts from.

    A model's folder for "active", a registered model's number, name or recipe, or the folder
    of one; else the words themselves, as a pretrained encoder's. Where nothing is said,
    `encoder` and `small` start from the active model where that is one of theirs, else from
    the model in the package. Raises ModelsError for a model that does not hold, or that they
    cannot start from.
    """
    word = general.base
    if recipe not in WARM:
        return word
    if word is None:
        named = any(one.startswith("encoder=") for one in general.words)
        return None if named else _by_default(store)
    if word == ACTIVE:
        return _active(store)
    if Path(word).is_dir():
        return _of_folder(Path(word))
    found = RESOLUTION.named(store, word)
    if found is not None:
        return _of_model(store, found)
    _check_name(word)
    return word


def usual_recipe(store: "Store") -> str:
    """The recipe of resolution where none is named.

    `encoder`, which starts from what a model knows, where torch is installed and there is a
    model to start from; else `linear`, which begins with nothing.
    """
    if find_spec(TORCH) is None or _by_default_name(store) is None:
        return LINEAR
    return ENCODER


def base_for_package() -> Base:
    """The model in the package, to start from."""
    return _packaged()


def _check_name(word: str) -> None:
    """Raise TrainerError for what can be no pretrained encoder's name."""
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


def _active(store: "Store") -> Base:
    active = RESOLUTION.named(store, None)
    if active is None:
        raise TrainerError("there is no active model to start from: name another base")
    return _of_model(store, active)


def _by_default(store: "Store") -> Base | None:
    active = RESOLUTION.named(store, None)
    if active is not None and active.recipe in WARM:
        return _of_model(store, active)
    return _packaged() if is_packaged() else None


def _by_default_name(store: "Store") -> str | None:
    """The name of what is started from by default, unchecked; None for nothing."""
    active = RESOLUTION.named(store, None)
    if active is not None and active.recipe in WARM:
        return active.name
    return SMALL if is_packaged() else None


def _of_model(store: "Store", model: "Model") -> Base:
    if model.recipe not in WARM:
        raise TrainerError(
            f"{model.name} is of the recipe {model.recipe}: only a model of "
            f"{' or '.join(WARM)} can be started from"
        )
    if model.path is None:
        return _packaged()
    return Base(checked_folder(store.path, model), model.name, model.digest or "")


def _packaged() -> Base:
    return Base(packaged_folder(), SMALL, packaged_version() or "")


def _of_folder(folder: Path) -> Base | str:
    """A model's folder, or that of a pretrained encoder, whose config names no format."""
    if not _is_model(folder):
        return str(folder.resolve())
    config = read_config(folder)
    if config.recipe not in WARM:
        raise TrainerError(
            f"{folder} is a model of {config.recipe}: only one of {' or '.join(WARM)} can be "
            "started from"
        )
    return Base(folder.resolve(), config.name, digest_of(folder))


def _is_model(folder: Path) -> bool:
    try:
        found = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "format_version" in found


class BiLstmTrainer:
    """The recipe with its settings."""

    recipe = BILSTM
    needs: frozenset[ParseLayer] = frozenset()
    share = HELD_OUT_SHARE

    def __init__(self, words: Sequence[str], device: str | None) -> None:
        """words: "key=value". Raises SettingError."""
        check_keys(words, BILSTM, WANTED, (*JUDGED_BY, "device"))
        self._settings = settings_of(words)
        self._device = device
        self.settings = dict(msgspec.to_builtins(self._settings))

    def train(
        self,
        lessons: TrainingSets,
        folder: Path,
        parser: Parser | None,  # noqa: ARG002 - it needs none
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Train it. Raises NoExamplesError, VectorError, TrainingError."""
        from nfh_models.resolution.bilstm import learner_of, make_model, save_bilstm
        from nfh_models.resolution.word_vectors import vectors_of
        from nfh_models.training.loop import choose_device, train

        on = choose_device(self._device)
        vectors = vectors_of(self._settings, lessons.train)
        learner = learner_of(lessons.train, lessons.dev, self._settings, vectors)
        plan = plan_of(self._settings)
        outcome = yield from steps_of(train(learner, plan, folder, on))
        model = make_model(learner)

        def write(at: Path, made: str, metrics: dict[str, object], card: str) -> Written:
            digest = save_bilstm(model, at, created_at=made, metrics=metrics, card=card)
            return Written(read_config(at), digest)

        return TrainedModel(model, write, outcome_metrics(outcome, on), notes=learner.notes)


OF_NETWORK = ("window", "before", "pair", "distance", "candidates", "dropout")
"""Settings that a model has from the one that it starts from."""

GENTLY = {"rate": 3e-5, "head_rate": 1e-4, "epochs": 3}
"""How a model that was trained before is trained on, where nobody says otherwise: at the rates
of a fresh start it forgets on a few labels more than it learns."""

IN_FEW_BITS = frozenset((Weights.BYTE, Weights.MIXED))
"""How `small` may keep its weights; else it does so in 8 bits."""

SETTABLE = {key: said for key, said in ENCODER_WANTED.items() if key != "task"}
"""What may be set, with what it may be: the task has been said already."""


class EncoderTrainer:
    """The recipe with its settings, and what it starts from."""

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
        lessons: TrainingSets,
        folder: Path,
        parser: Parser | None,  # noqa: ARG002 - it needs none
    ) -> Generator[TrainingStep, None, TrainedModel]:
        """Train it. Raises EncoderError, NoLessonsError, TrainingError."""
        from nfh_models.encoder.model import EncoderModel, save
        from nfh_models.encoder.training import Material
        from nfh_models.training.loop import choose_device

        on = choose_device(self._device)
        prepared = self._prepared(
            Material(lessons.train, lessons.numbers, lessons.dev, lessons.dev_numbers)
        )
        told_by = bool(lessons.dev or lessons.dev_numbers)
        outcome = yield from steps_of(
            _outcome(prepared, folder, on, judge_first=self._base is not None and told_by)
        )
        whole = prepared.bundle
        whole.network.eval().requires_grad_(requires_grad=False)

        def write(at: Path, made: str, metrics: dict[str, object], card: str) -> Written:
            digest = save(
                whole, at, recipe=self.recipe, created_at=made, metrics=metrics, card=card
            )
            return Written(read_config(at), digest)

        found = prepared.training_examples
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
        return TrainedModel(
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
        before = _loaded_whole(self._base.folder)
        prepared = prepare(material, self._settings, before.backbone)
        _take_over(prepared.bundle, before)
        return replace(prepared, bundle=replace(prepared.bundle, base=before.base))


def _outcome(
    prepared: "Prepared", folder: Path, on: "device", *, judge_first: bool
) -> "Generator[StepReport, None, TrainingOutcome]":
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


def _loaded_whole(folder: Path) -> "ModelBundle":
    """A model in 32 bits, ready to be taught."""
    from nfh_models.encoder.model import load

    whole = load(folder, bytes_=False).bundle
    whole.network.requires_grad_(requires_grad=True)
    return whole


def _take_over(whole: "ModelBundle", before: "ModelBundle") -> None:
    """Put what stands on the encoder of an earlier model where the new one has the same."""
    own = whole.network.state_dict()
    fitting = {
        name: tensor
        for name, tensor in before.network.state_dict().items()
        if name in own and own[name].shape == tensor.shape
    }
    whole.network.load_state_dict(fitting, strict=False)


WORST = 15
"""Anchor words that figures and card list."""

FIGURES = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
)


@dataclass(frozen=True, slots=True)
class DevFigures:
    """figures: fractions by name (FIGURES). n: examples. kinds: how many are of each kind,
    and right. mistakes: how often each was made. worst: anchor words with most errors."""

    n: int
    figures: dict[str, float]
    kinds: tuple[tuple[str, int, int], ...]
    mistakes: tuple[tuple[str, int], ...]
    worst: tuple[tuple[str, int, int], ...]


def judged(
    trained: TrainedModel, dev: Sequence[ResolutionExample], parser: Parser | None
) -> DevFigures | None:
    """The figures on some examples; None without any. Raises ParserError."""
    if not dev:
        return None
    from nfh_models.resolution.base import resolved
    from nfh_models.resolution.scoring import by_mistake, figures, judge, mistakes

    items = (one.item for one in dev)
    choices = [choice for _, choice in resolved(items, trained.resolver, parser)]
    found = judge(dev, choices)
    whole = figures(found)
    named = {name: getattr(whole, name) for name in FIGURES}
    of_kind = Counter(one.example.gold.kind.value for one in found)
    right = Counter(one.example.gold.kind.value for one in found if one.right)
    of_word = Counter(_word(one.example) for one in found)
    wrong = Counter(_word(one.example) for one in found if not one.right)
    worst = sorted(wrong, key=lambda word: (-wrong[word], word))[:WORST]
    return DevFigures(
        len(found),
        {name: value for name, value in named.items() if value is not None},
        tuple((kind, n, right[kind]) for kind, n in of_kind.most_common()),
        tuple((str(one.mistake), one.n) for one in by_mistake(mistakes(found)) if one.n),
        tuple((word, of_word[word], wrong[word]) for word in worst),
    )


def _word(example: ResolutionExample) -> str:
    item = example.item
    places = range(item.anchor.start, item.anchor.end)
    return " ".join(item.passage.word(place) for place in places).lower()


def metrics_of(
    lessons: TrainingSets, trained: TrainedModel, judgement: DevFigures | None
) -> dict[str, object]:
    """The figures as JSON has them: fractions."""
    kinds = Counter(one.gold.kind for one in lessons.train)
    metrics: dict[str, object] = {
        "examples": len(lessons.train),
        "kinds": {
            kind.value: kinds[kind] for kind in (Kind.REFERENCE, *IMPLICIT_KINDS) if kinds[kind]
        },
        **trained.figures,
        **trained.metrics,
    }
    if lessons.numbers:
        metrics |= {
            "numbers": len(lessons.numbers),
            "numbers_nfh": sum(one.nfh for one in lessons.numbers),
            "dev_numbers": len(lessons.dev_numbers),
        }
    if judgement is not None:
        metrics |= {
            "dev_examples": judgement.n,
            **judgement.figures,
            "by_kind": [{"kind": k, "n": n, "right": hit} for k, n, hit in judgement.kinds],
            "mistakes": [{"mistake": what, "n": n} for what, n in judgement.mistakes],
            "worst": [{"anchor": w, "n": n, "wrong": bad} for w, n, bad in judgement.worst],
        }
    return metrics


WHAT = {
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
    """The card, in Markdown; no word out of the data is markup in it."""
    from nfh_models.identification.svm import plain

    kinds, left_out, settings = metrics.get("kinds"), metrics.get("left_out"), trainer.settings
    both = "It also says whether the noun is missing at all. "
    known = ((one, metrics.get(one)) for one in (*FIGURES, *IDENTIFICATION_FIGURES))
    return templates.render(
        "model_card.md.j2",
        {
            "plain": lambda value: plain(str(value), None),
            "cell": lambda one: f"{one:,}" if isinstance(one, int) else plain(str(one)),
            "whole": _number,
        },
        name=name,
        at=at,
        both=both if settings.get("task") == BOTH else "",
        what=WHAT.get(trainer.recipe, ""),
        m=metrics,
        kinds=", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        if isinstance(kinds, dict) and kinds
        else "none",
        left_out=sorted(left_out.items()) if isinstance(left_out, dict) else (),
        notes=[f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes if note],
        settings=", ".join(f"{key} {_said(value)}" for key, value in settings.items()),
        figures=[
            (f"identification: {one}" if one in IDENTIFICATION_FIGURES else one, value)
            for one, value in known
            if isinstance(value, float | int)
        ],
    )


def _said(value: object) -> str:
    from nfh_models.identification.svm import plain

    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else plain(str(value), None)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
