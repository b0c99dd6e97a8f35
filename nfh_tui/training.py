"""Identification's `svm` out of the gold of a database: read, trained, saved, registered."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.models import Model, NewModel
from nfh_db.query import Query
from nfh_models.identification.crossing import check_enough
from nfh_models.identification.example import Example
from nfh_models.identification.recipes import SVM
from nfh_models.identification.svm_settings import Plan
from nfh_models.identification.svm_training import Trained, training
from nfh_tui.choosing_models import TASK, ensure_rules
from nfh_tui.examples import examples_of_store
from nfh_tui.model_folders import stored_path
from nfh_tui.training_jobs import (
    JobReporter,
    Phase,
    Progress,
    as_job,
    held_out_passages,
    held_out_splits,
    save_model,
)

if TYPE_CHECKING:
    from nfh_db.store import Store

__all__ = [
    "JobReporter",
    "Material",
    "Retrained",
    "Wanted",
    "held_out_passages",
    "retrain",
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be trained on what. parser: as --parser has it, None for the default."""

    query: Query = field(default_factory=Query)
    split: str | None = None
    parser: str | None = None
    plan: Plan = field(default_factory=Plan)

    @property
    def held_out(self) -> tuple[str, ...]:
        """The splits whose passages are not learnt from."""
        return held_out_splits(self.split)


@dataclass(frozen=True, slots=True)
class Material:
    """What is learnt from. left_out: anchors that are not, by reason."""

    examples: tuple[Example, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Retrained:
    """A job that is done. seconds: of all of it."""

    job_id: int
    model: Model
    folder: Path
    trained: Trained
    material: Material
    seconds: float


def retrain(store: "Store", wanted: Wanted, progress: Progress) -> Retrained:
    """Train `svm` on the gold of a database, in this process.

    The model is a candidate, or active where identification has no active model. Raises
    ModelsError where nothing can be learnt or parsed, StoreError, OSError, KeyboardInterrupt;
    the job then is failed or cancelled, and there is no model.
    """
    done = as_job(
        store,
        TASK,
        arguments_of(wanted),
        progress,
        lambda job_id, report: train_for(store, job_id, wanted, report),
    )
    ensure_rules(store)
    return done


def train_for(store: "Store", job_id: int, wanted: Wanted, report: JobReporter) -> Retrained:
    """The work of a job that is running. Raises as `retrain`."""
    begun = time.perf_counter()
    material = read(store, wanted, report)
    trained = train(material.examples, wanted, report)
    report.step(Phase("saving", 0, 1))
    model, folder = save(store, job_id, trained, material, wanted)
    seconds = time.perf_counter() - begun
    return Retrained(job_id, model, folder, trained, material, seconds)


def arguments_of(wanted: Wanted) -> dict[str, object]:
    """What was asked for, as a job's row keeps it."""
    settings = wanted.plan.settings
    return {
        "recipe": SVM,
        "query": wanted.query.text,
        "split": wanted.split,
        "parser": wanted.parser,
        "settings": {
            "features": list(settings.features.features),
            "window": settings.features.window,
            "pos": settings.features.pos,
            "ends": settings.features.ends,
            "c": settings.c,
            "seed": settings.seed,
            "folds": wanted.plan.folds,
        },
    }


# --- reading --------------------------------------------------------------------------------


def read(store: "Store", wanted: Wanted, report: JobReporter) -> Material:
    """The examples, less the passages that also stand in a split that is held out."""
    held_out = held_out_passages(store, wanted.held_out)
    source = examples_of_store(store, wanted.query, wanted.split)
    kept = []
    dropped: Counter[str] = Counter()
    for number, example in enumerate(source, 1):
        if example.group in held_out:
            dropped[f"in a passage of the split {held_out[example.group]}"] += 1
        else:
            kept.append(example)
        if not number % 1_000:
            report.step(Phase("reading", number))
    return Material(tuple(kept), dict(source.left_out + dropped))


# --- training and saving --------------------------------------------------------------------


def train(examples: Sequence[Example], wanted: Wanted, report: JobReporter) -> Trained:
    """Go through the training, and report each step."""
    check_enough(examples)
    parser = None
    if wanted.plan.settings.features.layers:
        from nfh_models.parsing import load_parser

        report.step(Phase("loading the parser"))
        parser = load_parser(wanted.parser)
    steps = training(examples, wanted.plan, parser)
    while True:
        try:
            report.step(next(steps))
        except StopIteration as stop:
            made: Trained = stop.value
            return made


def save(
    store: "Store", job_id: int, trained: Trained, material: Material, wanted: Wanted
) -> tuple[Model, Path]:
    """Write the model's folder and register it; if that fails, the folder is gone again."""
    from nfh_models.identification.svm_card import card_of, metrics_of
    from nfh_models.identification.svm_files import config_of, save_svm

    metrics = metrics_of(trained, material.examples) | {
        "left_out": dict(material.left_out),
        "query": wanted.query.text,
        "split": wanted.split,
    }

    def write(folder: Path, at: str) -> NewModel:
        card = card_of(trained, material.examples, folder.name, at)
        digest = save_svm(trained.svm, folder, created_at=at, metrics=metrics, card=card)
        config = config_of(trained.svm, folder.name, at)
        return NewModel(
            name=folder.name,
            task=TASK,
            recipe=SVM,
            version=trained.svm.version,
            path=stored_path(store.path, folder),
            digest=digest,
            config=config.settings | {"parser": config.parser},
            metrics=metrics,
            snapshot=trained.snapshot,
        )

    return save_model(store, job_id, SVM, write)
