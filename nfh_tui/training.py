"""A model of identification out of the gold of a database: read, trained, saved, registered.

The work is a job with a row of its own, whoever runs it. Whatever ends it early leaves no
model behind, neither in the database nor on the disk.
"""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db import processes
from nfh_db.clock import now
from nfh_db.errors import StoreError
from nfh_db.jobs import JobProgress, JobState
from nfh_db.models import Model, NewModel
from nfh_db.query import Match, Query
from nfh_models.identification.crossing import check_enough
from nfh_models.identification.example import Example
from nfh_models.identification.recipes import SVM
from nfh_models.identification.svm_settings import Plan
from nfh_models.identification.svm_training import Step, Trained, training
from nfh_models.model_files import FolderTakenError
from nfh_tui.choosing_models import TASK, ensure_rules, models_folder, stored_path
from nfh_tui.examples import examples_of_store

if TYPE_CHECKING:
    from nfh_db.store import Store

SECONDS_BETWEEN = 0.1
"""Between two notes in a job's row."""

HELD_OUT = ("dev", "test")
"""Splits that are kept to be tried on."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


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
        return ("test",) if self.split is None else tuple({*HELD_OUT} - {self.split})


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


class JobReporter:
    """Notes in a job's row how far it is, ten times a second at most, and tells `progress`."""

    def __init__(
        self,
        store: "Store",
        job_id: int,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._job_id = job_id
        self._progress = progress
        self._clock = clock
        self._noted_at = -SECONDS_BETWEEN

    def step(self, step: Step) -> None:
        """Report a step. Raises JobGoneError if somebody ended the job meanwhile."""
        self._progress(step.phase, step.done, step.total)
        if self._clock() - self._noted_at < SECONDS_BETWEEN:
            return
        self._noted_at = self._clock()
        noted = JobProgress(step.phase, step.done, step.total or None, step.metrics)
        self._store.note_job(self._job_id, noted)


def retrain(store: "Store", wanted: Wanted, progress: Progress) -> Retrained:
    """Train `svm` on the gold of a database, in this process.

    The model is a candidate, or active where identification has no active model. Raises
    ModelsError where nothing can be learnt or parsed, StoreError, OSError, KeyboardInterrupt;
    the job then is failed or cancelled, and there is no model.
    """
    begun = time.perf_counter()
    job_id = store.begin_job(TASK, arguments_of(wanted))
    try:
        report = JobReporter(store, job_id, progress)
        material = read(store, wanted, report)
        trained = train(material.examples, wanted, report)
        report.step(Step("saving", 0, 1))
        model, folder = save(store, job_id, trained, material, wanted)
    except BaseException as error:
        _end(store, job_id, error)
        raise
    ensure_rules(store)
    seconds = time.perf_counter() - begun
    return Retrained(job_id, model, folder, trained, material, seconds)


def _end(store: "Store", job_id: int, error: BaseException) -> None:
    """Note how a job ended early; one that somebody else ended is left as it is."""
    with suppress(StoreError):  # what ended it matters more, and may be the same trouble
        if isinstance(error, KeyboardInterrupt):
            store.end_job(job_id, JobState.CANCELLED, "stopped")
        else:
            store.end_job(job_id, JobState.FAILED, str(error) or type(error).__name__)


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
            report.step(Step("reading", number, 0))
    return Material(tuple(kept), dict(source.left_out + dropped))


def held_out_passages(store: "Store", splits: Sequence[str]) -> dict[str, str]:
    """Each passage, by its digest, that stands in one of these splits, with the split."""
    return {
        ballot.passage.digest: split
        for split in splits
        for ballot in store.ballots(Query(terms=(Match("split", (split,)),)))
    }


# --- training and saving --------------------------------------------------------------------


def train(examples: Sequence[Example], wanted: Wanted, report: JobReporter) -> Trained:
    """Go through the training, and report each step."""
    check_enough(examples)
    parser = None
    if wanted.plan.settings.features.layers:
        from nfh_models.parsing import load_parser

        report.step(Step("loading the parser", 0, 0))
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
    at = now()
    folder, digest = None, ""
    try:
        while folder is None:
            free = _free_folder(store)
            card = card_of(trained, material.examples, free.name, at)
            try:
                digest = save_svm(trained.svm, free, created_at=at, metrics=metrics, card=card)
                folder = free
            except FolderTakenError:
                continue
        config = config_of(trained.svm, folder.name, at)
        new = NewModel(
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
        return store.finish_training(job_id, new), folder
    except BaseException:
        # Stopped after its last write, a model is registered all the same.
        if folder is not None and store.model(folder.name) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _free_folder(store: "Store") -> Path:
    """The next name that neither a model of the database nor a folder has."""
    folder = models_folder(store.path)
    _sweep(folder)
    names = {model.name for model in store.models()}
    if folder.is_dir():
        names |= {path.name for path in folder.iterdir()}
    prefix = f"{SVM}-"
    taken = [int(n[len(prefix) :]) for n in names if _numbered(n, prefix)]
    return folder / f"{prefix}{max(taken, default=0) + 1}"


def _numbered(name: str, prefix: str) -> bool:
    rest = name[len(prefix) :]
    return name.startswith(prefix) and rest.isascii() and rest.isdigit() and len(rest) < 9


def _sweep(folder: Path) -> None:
    """Remove what processes left that were killed while they wrote a model."""
    for path in folder.glob(".*.new"):
        pid = path.name.removesuffix(".new").rpartition(".")[2]
        if pid.isdigit() and not processes.alive(int(pid), None):
            shutil.rmtree(path, ignore_errors=True)
