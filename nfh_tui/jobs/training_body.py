"""The work of a training: out of a snapshot of labels, a model's folder.

It knows of no database, so that it is the same on this machine and on another one. It goes on
from what its work folder holds of the same training.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path

from nfh_db.clock import now
from nfh_models.parsing.parsed import Layer, Parser
from nfh_tui.jobs.enough import check_resolution, remarks
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.training_jobs import Phase, Step
from nfh_tui.training_trainers import Base, Trained, Trainer, trainer_for

IDENTIFICATION = "identification"

Tell = Callable[[Step], None]
"""Told each step; what it raises ends the training, which saves where it is."""


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """How to train; JSON has it as it is (msgspec).

    words: the recipe's own settings, "key=value". parser: as --parser has it, None for the
    default. base_folder: of the model that it starts from, with its name and its digest; where
    that folder lies elsewhere on another machine, it alone is replaced. encoder: the
    pretrained encoder that it starts from, by folder or name, in place of a model. asked: what
    metrics.json repeats: query, split, dev_split.
    """

    task: str
    recipe: str
    words: tuple[str, ...] = ()
    parser: str | None = None
    device: str | None = None
    base_folder: str | None = None
    base_name: str = ""
    base_digest: str = ""
    encoder: str | None = None
    asked: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """What a training made; JSON has it as it is (msgspec).

    digest: of the folder (`nfh_models.model_files.digest_of`). version: of the recipe's
    decisions. config: of the model's row. notes: sentences for a person. seconds: of this
    process. passages: learnt from. left_out: labels that taught nothing, by reason.
    """

    digest: str
    version: str
    config: dict[str, object]
    metrics: dict[str, object]
    notes: tuple[str, ...]
    seconds: float = 0.0
    passages: int = 0
    left_out: dict[str, int] = field(default_factory=dict)


def train_model(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:
    """Train, judge on what was kept out, and write the model's folder at `out`, which is new.

    work: a folder for checkpoints. Raises ModelsError where nothing can be learnt or parsed,
    OSError, and what `tell` raises.
    """
    begun = time.perf_counter()
    made = _svm if spec.task == IDENTIFICATION else _resolution
    found = made(snapshot, spec, work, out, tell)
    return replace(found, seconds=time.perf_counter() - begun)


def trainer_of(spec: TrainSpec) -> Trainer:
    """The recipe of resolution, or of both tasks, with its settings. Raises ModelsError."""
    base: Base | str | None = spec.encoder
    if spec.base_folder is not None:
        base = Base(Path(spec.base_folder), spec.base_name, spec.base_digest)
    return trainer_for(spec.task, spec.recipe, spec.words, base, spec.device)


# --- resolution, and both tasks ---------------------------------------------------------------


def _resolution(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:
    from nfh_tui.training_card import card_of
    from nfh_tui.training_judging import judged, metrics_of

    trainer = trainer_of(spec)
    check_resolution(snapshot, kept_out=bool(trainer.share))
    parser = _parser(spec, trainer.needs, tell)
    tell(Phase("preparing"))
    lessons = snapshot.lessons
    trained = _driven(trainer.train(lessons, work, parser), tell)
    tell(Phase("judging"))
    judgement = judged(trained, lessons.dev, parser)
    left_out = dict(Counter(snapshot.left_out) + Counter(trained.left_out))
    metrics = metrics_of(lessons, trained, judgement) | _told(snapshot, spec, left_out)
    notes = [*remarks(snapshot), *trained.notes]
    tell(Phase("saving", 0, 1))
    at = now()
    card = card_of(out.name, at, trainer, metrics, notes)
    written = trained.write(out, at, metrics, card)
    return Made(
        written.digest,
        written.config.version,
        dict(trainer.settings) | {"parser": written.config.parser},
        metrics,
        tuple(notes),
        passages=snapshot.passages,
        left_out=left_out,
    )


def _driven(steps: Generator[Step, None, Trained], tell: Tell) -> Trained:
    """Go through a training, and tell each step; left early, a network saves where it is."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as stop:
                made: Trained = stop.value
                return made
            tell(step)
    finally:
        steps.close()


def _told(snapshot: Snapshot, spec: TrainSpec, left_out: dict[str, int]) -> dict[str, object]:
    """What metrics.json has of the labels, whatever the recipe."""
    return {
        "passages": snapshot.passages,
        "judged_on": snapshot.judged_on or "folds",
        "left_out": left_out,
        **spec.asked,
    }


def _parser(spec: TrainSpec, needs: frozenset[Layer], tell: Tell) -> Parser | None:
    if not needs:
        return None
    from nfh_models.parsing import load_parser

    tell(Phase("loading the parser"))
    return load_parser(spec.parser, needs)


# --- identification -------------------------------------------------------------------------


def _svm(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:  # noqa: ARG001 - it is done in minutes, and begins anew
    from nfh_models.identification.crossing import check_enough
    from nfh_models.identification.svm_card import card_of, metrics_of
    from nfh_models.identification.svm_files import config_of, save_svm
    from nfh_models.identification.svm_settings import plan_of
    from nfh_models.identification.svm_training import training

    plan = plan_of(spec.words)
    examples = snapshot.lessons.numbers
    check_enough(examples)
    layers = plan.settings.features.layers
    parser = _parser(spec, layers, tell)
    steps = training(examples, plan, parser)
    while True:
        try:
            tell(next(steps))
        except StopIteration as stop:
            trained = replace(stop.value, groups=snapshot.passages)
            break
    left_out = dict(snapshot.left_out)
    metrics = metrics_of(trained, examples) | _told(snapshot, spec, left_out)
    tell(Phase("saving", 0, 1))
    at = now()
    card = card_of(trained, examples, out.name, at)
    digest = save_svm(trained.svm, out, created_at=at, metrics=metrics, card=card)
    config = config_of(trained.svm, out.name, at)
    return Made(
        digest,
        config.version,
        config.settings | {"parser": config.parser},
        metrics,
        tuple(remarks(snapshot)),
        passages=snapshot.passages,
        left_out=left_out,
    )
