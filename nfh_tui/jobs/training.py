"""The job "train", from its row to a registered model over any number of attempts; checks
before it is queued; scheduled retraining.
"""

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db import system
from nfh_db.jobs import CANCELLED, JobGoneError, NewJob
from nfh_db.models import NewModel
from nfh_db.query import parse
from nfh_db.queue import MOST_VALUES
from nfh_db.system import now, path_beside, sweep
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.model_files import (
    CARD,
    CONFIG,
    ModelConfig,
    ModelFileError,
    SeenTexts,
    digest_of,
    read_config,
    read_seen,
)
from nfh_models.parsing.base import ParserError, check_spec
from nfh_models.training.plan import DivergedError, TrainingError
from nfh_tui.jobs import tasks
from nfh_tui.jobs.descriptions import (
    IMPORT,
    KINDS,
    TRAIN,
    inner_folder,
    job_folder,
    remove,
    text_of,
    texts_of,
    words_of,
)
from nfh_tui.jobs.reporting import Phase, Tell, TrainingStep, drive, loaded_parser
from nfh_tui.jobs.runner import write_whole
from nfh_tui.jobs.snapshot import (
    IDENTIFICATION,
    LEAST,
    NO_HEADS,
    RESOLUTION,
    Snapshot,
    SnapshotError,
    SnapshotSpec,
    SplitError,
    TooLittleGoldError,
    alike,
    check_resolution,
    in_split,
    remarks,
    take,
)
from nfh_tui.services.models import models_folder, stored_path
from nfh_tui.services.training import (
    JUDGED_BY,
    Base,
    General,
    Trainer,
    base_for,
    check_keys,
    general_of,
    trainer_for,
)

if TYPE_CHECKING:
    from nfh_db.jobs import Job, Schedule
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter


# Retraining after a number of decisions: a setting of the database for each task.
#
# Workbenches check regularly whether a training is due (`queue_due`), and start a runner for
# it. If two check at the same time, one job is queued.

FEWEST, MOST = 1, 1_000_000


def set_every(store: "Store", number: int, new: "NewJob") -> "Schedule | None":
    """Queue this training after every `number` decisions.

    The count starts when the last training of the task begins. Replaces the setting of the
    task, which is returned if it was a different training. Raises ValueError for a number
    outside 1 to 1,000,000, StoreError.
    """
    if not FEWEST <= number <= MOST:
        raise ValueError(f"after every {number} decisions: give {FEWEST} to {MOST:,}")
    before = next((one for one in store.retraining.all() if one.task == new.task), None)
    store.retraining.set_schedule(new.task, number, new)
    same = before is None or before.arguments == new.arguments
    return None if same else before


def stop_every(store: "Store", task: str) -> bool:
    """Train a task on demand only; returns False if it already was. Raises StoreError."""
    if wanted := any(one.task == task for one in store.retraining.all()):
        store.retraining.set_schedule(task, 0, None)
    return wanted


def queue_due(store: "Store") -> tuple[int, ...]:
    """Queue the trainings that are due; returns the ids of the jobs. Raises StoreError.

    Writes nothing if none is due.
    """
    return (
        store.retraining.queue_due(too_few(store)) if store.retraining.schedule().to_do else ()
    )


def too_few(store: "Store") -> dict[str, str]:
    """Return the tasks whose training is due but has too little gold, each with the reason.

    Raises StoreError.
    """
    from nfh_db.errors import QueryError
    from nfh_models import ModelsError

    found = {}
    for one in store.retraining.all():
        if one.due and not one.held_by:
            try:
                check_at_hand(store, one.new)
            except (ModelsError, QueryError) as error:
                found[one.task] = str(error)
    return found


def replaced(before: "Schedule") -> str:
    """Describe the scheduled training that was replaced."""
    recipe = before.arguments.get("recipe")
    named = recipe if isinstance(recipe, str) else before.task
    query = before.arguments.get("query")
    of = f" on {query}" if isinstance(query, str) and query else ""
    return f"in place of {named}{of} after every {before.number:,}"


def schedule_line(every: "Schedule", held: Mapping[str, str] | None = None) -> str:
    """Describe a scheduled training and its count. held: reasons why due tasks wait."""
    recipe = every.arguments.get("recipe")
    what = f"{every.task} ({recipe})" if isinstance(recipe, str) else every.task
    after = "decision" if every.number == 1 else f"{every.number:,} decisions"
    far = f"{every.count:,} so far"
    if not every.own:
        far = "set by somebody else, so nothing is queued here; set it yourself with retrain"
    if every.due:
        job = every.held_by
        far = f"due, and queued once job {job} has ended" if job else "due now"
        if not job and (why := (held or {}).get(every.task)):
            far = f"due once there is enough to learn from: {why}"
    return f"{what} is retrained after every {after}: {far}"


def all_told(store: "Store") -> tuple[str, ...]:
    """Describe all scheduled trainings and their counts. Raises StoreError."""
    held = too_few(store)
    return tuple(schedule_line(one, held) for one in store.retraining.all())


# Moving a finished model from its job's folder to the models of the database.
#
# A model gets its name when it is moved, so two trainings at the same time do not claim the
# same one. The name is first noted in the job's folder. If the job is killed before the model
# is registered, its next attempt removes the moved folder.

NOTE = "placed-{pid}.json"
"""The note that says which model folder a process creates.

Each process has its own note: a process that was suspended and wakes while another one runs the
job must not remove the other one's model.
"""

NOTES = NOTE.format(pid="*")


class _Note(msgspec.Struct, frozen=True):
    """A model folder that a process creates, and the process."""

    name: str
    """Name of the model's folder."""
    digest: str
    """Digest of the model's folder."""
    pid: int
    started: str | None
    """Start time of the process, which tells it from a later one with the same pid."""
    place: str
    """The boot and the PID namespace in which `pid` is valid."""


@contextmanager
def place(store: "Store", home: Path, made: Path, recipe: str) -> Iterator[tuple[Path, str]]:
    """Copy a finished model under the next free name; yields its folder and digest.

    The copy is removed if the block fails before the model is registered. home: the job's
    folder. made: the model's folder in it, which stays. Raises OSError, ModelFileError.
    """
    _take_back(store, home)
    folder, digest = _put(store, home, made, recipe)
    try:
        yield folder, digest
    except BaseException:
        # If the process was stopped after its last write, the model is registered already.
        if store.models.named(folder.name) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _take_back(store: "Store", home: Path) -> None:
    """Remove the folders that earlier attempts of this job created before they were killed."""
    for path in home.glob(NOTES):
        note = None
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            note = msgspec.json.decode(path.read_bytes(), type=_Note)
        if note is None or _left(note):
            if note is not None:
                _remove(store, note)
            path.unlink(missing_ok=True)


def _left(note: _Note) -> bool:
    """Return True if the process of a note is gone, or is this one."""
    if note.place != system.place():
        return True
    return note.pid == os.getpid() or not system.is_running(note.pid, note.started)


def _remove(store: "Store", note: _Note) -> None:
    """Remove a folder, unless it is a registered model or its content is another one."""
    if (
        not re.fullmatch(r"[a-z-]+-[0-9]+", note.name)
        or store.models.named(note.name) is not None
    ):
        return
    folder = models_folder(store.path) / note.name
    with suppress(OSError, ModelFileError):
        if digest_of(folder) == note.digest:
            shutil.rmtree(folder, ignore_errors=True)


def _put(store: "Store", home: Path, made: Path, recipe: str) -> tuple[Path, str]:
    models = models_folder(store.path)
    models.mkdir(parents=True, exist_ok=True)
    sweep(models)
    while True:
        folder = models / _free_name(store, recipe)
        beside = path_beside(folder, "tmp")
        beside.mkdir()
        try:
            shutil.copytree(made, beside, dirs_exist_ok=True)
            _christen(beside, folder.name)
            digest = digest_of(beside)
            _note(home, folder.name, digest)
            if not os.path.lexists(folder):
                beside.rename(folder)
                return folder, digest
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _note(home: Path, name: str, digest: str) -> None:
    pid = os.getpid()
    note = _Note(name, digest, pid, system.started(pid), system.place())
    write_whole(home / NOTE.format(pid=pid), msgspec.json.encode(note))


def _christen(folder: Path, name: str) -> None:
    """Write a model's name into its metadata and into the title of its model card."""
    config = read_config(folder)
    named: ModelConfig = msgspec.structs.replace(config, name=name)
    spelled = msgspec.json.format(msgspec.json.encode(named), indent=2)
    write_whole(folder / CONFIG, spelled + b"\n")
    card = (folder / CARD).read_text("utf-8")
    start, *rest = card.split("\n", 1)
    if start == f"# {config.name}":
        write_whole(folder / CARD, "\n".join([f"# {name}", *rest]).encode("utf-8"))


def _free_name(store: "Store", recipe: str) -> str:
    """Return the next name that no registered model and no folder has."""
    names = {model.name for model in store.models.all()}
    names |= {path.name for path in models_folder(store.path).iterdir()}
    taken = (re.fullmatch(rf"{re.escape(recipe)}-([0-9]{{1,8}})", name) for name in names)
    return f"{recipe}-{max((int(one[1]) for one in taken if one), default=0) + 1}"


def new_job(
    task: str,
    recipe: str,
    *,
    words: tuple[str, ...] = (),
    query: str = "",
    split: str | None = None,
    parser: str | None = None,
    promote: bool = True,
    scheduler: str | None = None,
    asked_by: str = "",
) -> NewJob:
    """Build a training job. words: settings, "key=value"; the rest as for `nfh-tui retrain`.

    promote: a model that is better than the active one replaces it. scheduler: address of a
    Dask cluster that runs the training.
    """
    arguments = {
        "recipe": recipe,
        "words": list(words),
        "query": query,
        "split": split,
        "parser": parser,
        "promote": promote,
        "scheduler": scheduler,
    }
    return NewJob(TRAIN, KINDS[TRAIN].version, task, arguments, asked_by)


# The training itself: from a snapshot of labels to a model's folder.
#
# It does not use the database, so it runs in the same way on other machines. It resumes from
# the checkpoints of the same training in its work folder.


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """How to train. Serialized as JSON by msgspec."""

    task: str
    recipe: str
    words: tuple[str, ...] = ()
    """Settings of the recipe, "key=value"."""
    parser: str | None = None
    """As for --parser; None for the default."""
    device: str | None = None
    base_folder: str | None = None
    """Folder of the model from which the training starts.

    Only this field is replaced if the folder has another path on another machine.
    """
    base_name: str = ""
    base_digest: str = ""
    encoder: str | None = None
    """The pretrained encoder from which the training starts, a folder or a name; excludes
    `base_folder`."""
    asked: dict[str, str | None] = field(default_factory=dict)
    """What metrics.json repeats: query, split, dev_split."""


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a training. Serialized as JSON by msgspec."""

    digest: str
    """Of the model's folder (`nfh_models.model_files.digest_of`)."""
    version: str
    """Version of the recipe's decisions."""
    config: dict[str, object]
    """The `config` of the model's row."""
    metrics: dict[str, object]
    notes: tuple[str, ...]
    """Sentences for people."""
    seconds: float = 0.0
    """Duration in this process."""
    passages: int = 0
    """Number of passages that it learnt from."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Number of labels that could not be used, by reason."""


def train_model(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:
    """Train, judge on the held-out labels, and write the model's folder at `out`, a new path.

    work: folder for checkpoints. Raises ModelsError if nothing can be learnt or parsed,
    OSError, and whatever `tell` raises.
    """
    begun = time.perf_counter()
    made = _svm if spec.task == IDENTIFICATION else _resolution
    found = made(snapshot, spec, work, out, tell)
    return replace(found, seconds=time.perf_counter() - begun)


def trainer_of(spec: TrainSpec) -> Trainer:
    """Return the recipe for resolution or both tasks with its settings. Raises ModelsError."""
    base: Base | str | None = spec.encoder
    if spec.base_folder is not None:
        base = Base(Path(spec.base_folder), spec.base_name, spec.base_digest)
    return trainer_for(spec.task, spec.recipe, spec.words, base, spec.device)


# --- resolution, and both tasks ---------------------------------------------------------------


def _resolution(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:
    from nfh_tui.services.training import card_of, dev_metrics, metrics_of

    trainer = trainer_of(spec)
    check_resolution(snapshot, kept_out=bool(trainer.share))
    parser = loaded_parser(spec.parser, trainer.needs, tell)
    tell(Phase("preparing"))
    used = snapshot.choosing if trainer.share else snapshot
    lessons = used.training_sets
    trained = drive(trainer.train(lessons, work, parser), tell)
    tell(Phase("judging"))
    judgement = dev_metrics(trained, snapshot.training_sets.dev, parser)
    left_out = dict(Counter(snapshot.left_out) + Counter(trained.left_out))
    seen = _seen(used, spec, chooses=bool(trainer.share))
    metrics = metrics_of(lessons, trained, judgement) | _told(snapshot, spec, left_out, seen)
    notes = [*remarks(snapshot), *trained.notes]
    tell(Phase("saving", 0, 1))
    at = now()
    card = card_of(out.name, at, trainer, metrics, notes)
    written = trained.write(out, at, metrics, card, seen)
    return Made(
        written.digest,
        written.config.version,
        dict(trainer.settings) | {"parser": written.config.parser},
        metrics,
        tuple(notes),
        passages=snapshot.passages,
        left_out=left_out,
    )


def _told(
    snapshot: Snapshot, spec: TrainSpec, left_out: dict[str, int], seen: SeenTexts
) -> dict[str, object]:
    """Return what metrics.json says about the labels, the same for all recipes."""
    return {
        "passages": snapshot.passages,
        "judged_on": snapshot.judged_on or "folds",
        "left_out": left_out,
        "texts_seen": seen.count,
        **spec.asked,
    }


def _seen(used: Snapshot, spec: TrainSpec, *, chooses: bool) -> SeenTexts:
    """Return the texts that a model has seen, with those of the model from which it started.

    chooses: whether the held-out passages choose its epoch. Raises ModelFileError.
    """
    seen = SeenTexts.of(
        (sheet.passage for sheet in used.sheets if not sheet.dev),
        (sheet.passage for sheet in used.sheets if sheet.dev and chooses),
    )
    before = read_seen(Path(spec.base_folder)) if spec.base_folder is not None else None
    return seen if before is None else seen | before


# --- identification -------------------------------------------------------------------------


def _svm(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:  # noqa: ARG001 - takes minutes: no checkpoints
    from nfh_models.identification.svm import (
        card_of,
        check_enough,
        metrics_of,
        plan_of,
        save_svm,
        training,
    )
    from nfh_models.model_files import read_config

    plan = plan_of(spec.words)
    examples = snapshot.training_sets.numbers
    check_enough(examples)
    parser = loaded_parser(spec.parser, plan.settings.layers, tell)
    fitted = drive(training(examples, plan, parser), tell)
    trained = replace(fitted, groups=snapshot.passages)
    left_out = dict(snapshot.left_out)
    seen = _seen(snapshot, spec, chooses=False)
    metrics = metrics_of(trained, examples) | _told(snapshot, spec, left_out, seen)
    tell(Phase("saving", 0, 1))
    at = now()
    card = card_of(trained, examples, out.name, at)
    digest = save_svm(trained.svm, out, created_at=at, metrics=metrics, card=card, seen=seen)
    config = read_config(out)
    return Made(
        digest,
        config.version,
        config.settings | {"parser": config.parser},
        metrics,
        tuple(remarks(snapshot)),
        passages=snapshot.passages,
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """The parsed arguments of a training."""

    task: str
    recipe: str
    general: General
    """The settings that do not belong to one recipe."""
    which: SnapshotSpec
    parser: str | None
    promote: bool
    """A model that is better than the active one replaces it."""
    scheduler: str | None
    """Address of a Dask cluster that runs the training; None for this machine."""


def order_of(task: str, given: Mapping[str, object]) -> TrainingRequest:
    """Parse the arguments of a job. Raises QueryError, TrainerError."""
    general = general_of(texts_of(given, "words"))
    which = SnapshotSpec(
        task,
        parse(words_of(given, "query")),
        text_of(given, "split"),
        general.dev_split,
        general.dev,
    )
    return TrainingRequest(
        task,
        words_of(given, "recipe"),
        general,
        which,
        text_of(given, "parser"),
        given.get("promote") is not False,
        text_of(given, "scheduler"),
    )


def spec_of(store: "Store", order: TrainingRequest) -> TrainSpec:
    """Return how to train; the active model is resolved to a folder now if the training starts
    from it.

    Raises ModelsError for a model that is damaged, or from which the recipe cannot start.
    """
    general, which = order.general, order.which
    start = None
    if order.task != IDENTIFICATION:
        start = base_for(store, order.recipe, general)
    spec = TrainSpec(
        order.task,
        order.recipe,
        general.words,
        order.parser,
        general.device,
        asked={
            "query": which.query.text,
            "split": which.split,
            "dev_split": which.dev_split,
        },
    )
    if isinstance(start, Base):
        return replace(
            spec,
            base_folder=str(start.folder),
            base_name=start.name,
            base_digest=start.digest,
        )
    return replace(spec, encoder=start)


def check_identification(recipe: str, words: Sequence[str]) -> None:
    """Raise SettingError or TrainerError for invalid settings of an identification recipe."""
    from nfh_models.identification.svm import WANTED, plan_of

    check_keys(words, recipe, WANTED, JUDGED_BY)
    plan_of(general_of(words).words)


# Checks before a training is queued: is there gold for it?
#
# The check counts gold by kind. A training that is refused here would fail when its turn comes,
# perhaps hours later. Whether the gold suffices after the held-out passages are removed is
# checked by the training (`snapshot`).

PIPELINES = "spacy_models"
"""Entry point group of installed spaCy pipelines."""

HEADS = (Kind.REFERENCE, *IMPLICIT_KINDS)
"""The kinds that resolution distinguishes."""


def check_parser_there(spec: str | None) -> None:
    """Raise ParserError for a named parser that is not installed. Loads no parser."""
    check_spec(spec)
    kind, _, name = (spec or "").partition(":")
    if not name or Path(name).is_dir():
        return
    if kind != "spacy":
        raise ParserError(f"there is no folder {name} with models of stanza")
    installed = sorted({one.name for one in entry_points(group=PIPELINES)})
    if name not in installed:
        raise ParserError(
            f"there is no spaCy pipeline {name}, neither installed nor as a folder; installed: "
            f"{', '.join(installed) or 'none'}"
        )


def check_at_hand(store: "Store", new: "NewJob") -> None:
    """Check that the gold, the split and the parser of a training exist.

    Raises TooLittleGoldError, SplitError, ParserError, StoreError, QueryError, TrainerError.
    Refuses nothing while an import is queued or running, because it may bring the gold.
    """
    order = order_of(new.task, new.arguments)
    if order.scheduler is None:
        check_parser_there(order.parser)
    if any(
        job.kind == IMPORT and not job.state.ended and not job.held for job in store.jobs.all()
    ):
        return
    which = order.which
    for split in filter(None, (which.split, which.dev_split)):
        _check_split(store, split)
    kinds = store.holdout.gold_kinds(in_split(which.query, which.split))
    if new.task != IDENTIFICATION:
        _check_heads(kinds)
    if new.task != RESOLUTION:
        _check_labels(kinds, new.task)


def _check_split(store: "Store", split: str) -> None:
    there = store.queue.values("split")
    if (
        split in there
        or len(there) >= MOST_VALUES
        or store.holdout.passages_of_splits((split,))
    ):
        return
    names = f"; there are: {', '.join(there)}" if there else ": no imported row names one"
    raise SplitError(f"there is no split {split}{names}")


def _check_heads(kinds: Mapping[Kind, int]) -> None:
    counts = Counter(kinds)
    counts[Kind.OTHER] += counts[Kind.UNKNOWN]  # as in the paper
    found = {kind: counts[kind] for kind in HEADS if counts[kind]}
    if not (total := sum(found.values())):
        raise TooLittleGoldError(f"there is nothing to learn resolution from: {NO_HEADS}")
    if total < LEAST:
        raise TooLittleGoldError(
            f"too few examples to learn resolution from: {total:,} "
            f"{'number has' if total == 1 else 'numbers have'} gold here that names its noun, "
            f"wanted {LEAST} or more"
        )
    if len(found) < 2:
        raise TooLittleGoldError(
            f"there is nothing to distinguish: all {total:,} examples are {next(iter(found))}"
        )


def _check_labels(kinds: Mapping[Kind, int], task: str) -> None:
    total = sum(n for kind, n in kinds.items() if kind is not Kind.BROKEN)
    none = kinds.get(Kind.NOT_NFH, 0)
    if not total:
        raise TooLittleGoldError(
            "there is nothing to learn from: no number here has gold that says whether its "
            "noun is missing. Settle or decide some first, or use another query"
        )
    if none in (0, total):
        raise TooLittleGoldError(alike(total, fused=not none, alone=task != IDENTIFICATION))


# A training as a job, from its row to a registered model over any number of attempts.
#
# The labels and the starting model are fixed by the first attempt and kept in the job's folder.
# So an attempt after a kill continues with the same input, whatever has been decided since.

SNAPSHOT = "snapshot.json"
SPEC = "spec.json"
WORK = "work"
MODEL = "model"
MADE = "made.json"
"""What a training keeps in its job's folder: labels, settings, checkpoints, the model."""

UNDECIDED = "-state:decided"

LEARNING = ("training", "judging", "saving")
"""Phases of a network after its start from a checkpoint."""


def run(store: "Store", job: "Job", report: "JobReporter") -> None:
    """Train, judge and register a model; the job ends in the same transaction as the
    registration.

    Raises ModelsError if nothing can be learnt or parsed, StoreError, OSError, and JobGoneError
    and KeyboardInterrupt, after which the job can be resumed.
    """
    from nfh_tui.services.models import ensure_built_in

    begun = time.perf_counter()
    ensure_built_in(store)
    attempt = _Attempt(store, job, report, order_of(job.task, job.arguments))
    spec = attempt.spec()
    snapshot = attempt.snapshot()
    store.jobs.set_snapshot(job.id, snapshot.digest)
    made = attempt.model(snapshot, spec)
    attempt.register(snapshot, made, begun)


@dataclass(frozen=True)
class _Attempt:
    """One attempt at a job, which may have had others before."""

    store: "Store"
    job: "Job"
    report: "JobReporter"
    order: TrainingRequest

    @property
    def home(self) -> Path:
        return job_folder(self.store.path, self.job)

    def spec(self) -> TrainSpec:
        """Return the settings, with the model that was active at the first attempt."""
        path = self.home / SPEC
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=TrainSpec)
        spec = spec_of(self.store, self.order)
        write_whole(path, msgspec.json.encode(spec))
        return spec

    def snapshot(self) -> Snapshot:
        """Return the labels as they were at the first attempt."""
        path = self.home / SNAPSHOT
        with suppress(FileNotFoundError, SnapshotError):
            return Snapshot.read(path)
        self._forget()  # its checkpoints learnt from other labels
        snapshot = take(self.store, self.order.which, self.report)
        snapshot.write(path)
        return snapshot

    def _forget(self) -> None:
        remove(*(self.home / name for name in (WORK, MODEL, MADE)))

    # --- training -------------------------------------------------------------------------

    def model(self, snapshot: Snapshot, spec: TrainSpec) -> Made:
        """Return the model; trains it unless an earlier attempt has finished that."""
        path, folder = self.home / MADE, self.home / MODEL
        with suppress(FileNotFoundError, ModelFileError, msgspec.MsgspecError):
            made = msgspec.json.decode(path.read_bytes(), type=Made)
            if digest_of(folder) == made.digest:
                return made
        remove(folder)
        made = self._trained(snapshot, spec)
        write_whole(path, msgspec.json.encode(made))
        remove(self.home / WORK)
        return made

    def _trained(self, snapshot: Snapshot, spec: TrainSpec) -> Made:
        work = inner_folder(self.home / WORK)
        before = any(work.iterdir())
        phases: set[str] = set()

        def tell(step: TrainingStep) -> None:
            phases.add(step.phase.partition(",")[0])
            self.report.step(step)

        try:
            return self._train(snapshot, spec, tell)
        except DivergedError:
            remove(work)  # it would diverge again
            raise
        except TrainingError:
            if not before or phases.intersection(LEARNING):
                raise
        # The checkpoint is damaged: train again from the start, as the labels are still there.
        remove(work)
        work.mkdir()
        return self._train(snapshot, spec, tell)

    def _train(self, snapshot: Snapshot, spec: TrainSpec, tell: Tell) -> Made:
        work, out, scheduler = self.home / WORK, self.home / MODEL, self.order.scheduler
        if scheduler is None:
            return train_model(snapshot, spec, work, out, tell)
        from nfh_tui.jobs.cluster_work import train_model_at

        return train_model_at(scheduler, snapshot, spec, work, out, tell)

    # --- registration ---------------------------------------------------------------------

    def register(self, snapshot: Snapshot, made: Made, begun: float) -> None:
        """Judge the model, move it to the models of the database, register it, end the job."""
        from nfh_tui.jobs.promotion import judge

        store, order = self.store, self.order
        model = self.home / MODEL
        verdict = judge(store, snapshot, model, self.report.step, parser=order.parser)
        # Another process may have claimed the job and be moving its own model.
        if not store.jobs.write_heartbeat(self.job.id):
            raise JobGoneError(CANCELLED)
        with place(store, self.home, model, order.recipe) as (folder, digest):
            new = NewModel(
                name=folder.name,
                task=order.task,
                recipe=order.recipe,
                version=made.version,
                path=stored_path(store.path, folder),
                digest=digest,
                config=made.config,
                metrics=made.metrics,
                snapshot=snapshot.digest,
            )
            result = {
                "model": folder.name,
                "passages": made.passages,
                "left_out": made.left_out,
                "notes": list(made.notes),
                "seconds": round(time.perf_counter() - begun, 3),
            }
            store.jobs.finish_training(
                self.job.id,
                new,
                result,
                verdict=verdict.to_json(),
                promote=order.promote,
                then=self._predicting(),
            )

    def _predicting(self) -> NewJob | None:
        """Return the prediction job that follows a promotion; None if the model does not
        resolve.
        """
        if self.order.task == IDENTIFICATION:
            return None
        return tasks.prediction_asked(UNDECIDED, asked_by=self.job.asked_by)
