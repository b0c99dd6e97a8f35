"""The job "train", from its row to a registered model over as many attempts as it takes;
what is known of it before it waits, and scheduled retraining.
"""

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
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
    digest_of,
    read_config,
)
from nfh_models.parsing.base import ParseLayer, Parser, ParserError, check_spec
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
from nfh_tui.jobs.reporting import Phase, TrainingStep
from nfh_tui.jobs.runner import write_whole
from nfh_tui.jobs.snapshot import IDENTIFICATION as OF_IDENTIFICATION
from nfh_tui.jobs.snapshot import (
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
    remarks,
    take,
    within,
)
from nfh_tui.services.models import models_folder, stored_path
from nfh_tui.services.training import (
    JUDGED_BY,
    Base,
    General,
    TrainedModel,
    Trainer,
    base_for,
    check_keys,
    general_of,
    trainer_for,
)

if TYPE_CHECKING:
    from nfh_db.jobs import Every, Job
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter


# Retraining after every so many decisions: a setting of the database, for each task.
#
# Whoever decides looks now and then whether a training is due (`queue_due`), and starts a
# runner for it. Two who look at one time queue one job.

FEWEST, MOST = 1, 1_000_000


def set_every(store: "Store", number: int, new: "NewJob") -> "Every | None":
    """Have this training queued after every `number` decisions.

    Counted is from when the last training of its task began. It takes the place of what was
    set for its task, which is given back where that was another training. Raises ValueError
    for a number that is none of 1 to 1,000,000, StoreError.
    """
    if not FEWEST <= number <= MOST:
        raise ValueError(f"after every {number} decisions: give {FEWEST} to {MOST:,}")
    before = next((one for one in store.retraining.all() if one.task == new.task), None)
    store.retraining.put(new.task, number, new)
    same = before is None or before.arguments == new.arguments
    return None if same else before


def stop_every(store: "Store", task: str) -> bool:
    """Have a task trained on demand only; False where it was so already. Raises StoreError."""
    wanted = any(one.task == task for one in store.retraining.all())
    if wanted:
        store.retraining.put(task, 0, None)
    return wanted


def queue_due(store: "Store") -> tuple[int, ...]:
    """Queue the trainings that are due; their numbers, mostly none. Raises StoreError.

    It only reads where nothing is due.
    """
    return (
        store.retraining.queue_due(too_few(store)) if store.retraining.schedule().to_do else ()
    )


def too_few(store: "Store") -> dict[str, str]:
    """The tasks whose training is due and would find nothing to learn, each with why.

    Raises StoreError.
    """
    from nfh_db.errors import QueryError
    from nfh_models.errors import ModelsError

    found = {}
    for one in store.retraining.all():
        if one.due and not one.held_by:
            try:
                check_at_hand(store, one.new)
            except (ModelsError, QueryError) as error:
                found[one.task] = str(error)
    return found


def replaced(before: "Every") -> str:
    """That another training comes round no more, in words."""
    recipe = before.arguments.get("recipe")
    named = recipe if isinstance(recipe, str) else before.task
    query = before.arguments.get("query")
    of = f" on {query}" if isinstance(query, str) and query else ""
    return f"in place of {named}{of} after every {before.number:,}"


def told(every: "Every", held: Mapping[str, str] | None = None) -> str:
    """What is set, and how far it has come, in words. held: tasks that wait, with why."""
    recipe = every.arguments.get("recipe")
    what = f"{every.task} ({recipe})" if isinstance(recipe, str) else every.task
    after = "decision" if every.number == 1 else f"{every.number:,} decisions"
    far = f"{every.count:,} so far"
    if not every.own:
        far = (
            "set by somebody else, so nothing is queued from here; set it yourself with retrain"
        )
    if every.due:
        job = every.held_by
        far = f"due, and queued once job {job} has ended" if job else "due now"
        if not job and (why := (held or {}).get(every.task)):
            far = f"due once there is enough to learn from: {why}"
    return f"{what} is retrained after every {after}: {far}"


def all_told(store: "Store") -> tuple[str, ...]:
    """What comes round, and how far each has come, in words. Raises StoreError."""
    held = too_few(store)
    return tuple(told(one, held) for one in store.retraining.all())


# The way of a finished model from its job's folder to the other models of the database.
#
# A model is made without a name, and gets one when it is put in its place: so two trainings at
# one time do not want the same. The name is noted in the job's folder first, and a job that
# was killed between takes away what it had put there.

NOTE = "placed-{pid}.json"
"""The file in a job's folder that says what its process puts in place. Each has its own: one
that was stopped, and wakes while another has the job, is not to take that one's model away."""

NOTES = NOTE.format(pid="*")


class _Note(msgspec.Struct, frozen=True):
    """name: of the model's folder. digest: of it. The rest names the process."""

    name: str
    digest: str
    pid: int
    started: str | None
    place: str


@contextmanager
def placed(store: "Store", home: Path, made: Path, recipe: str) -> Iterator[tuple[Path, str]]:
    """A finished model under the next free name, with its digest; gone again if the block
    fails before the model is registered.

    home: the job's folder. made: the model's folder in it, which stays. Raises OSError,
    ModelFileError.
    """
    _take_back(store, home)
    folder, digest = _put(store, home, made, recipe)
    try:
        yield folder, digest
    except BaseException:
        # Stopped after its last write, a model is registered all the same.
        if store.models.named(folder.name) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _take_back(store: "Store", home: Path) -> None:
    """Remove what this job put in place before it was killed."""
    for path in home.glob(NOTES):
        note = None
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            note = msgspec.json.decode(path.read_bytes(), type=_Note)
        if note is None or _left(note):
            if note is not None:
                _remove(store, note)
            path.unlink(missing_ok=True)


def _left(note: _Note) -> bool:
    """Whether nobody is at it any more: its process is gone, or is this one."""
    if note.place != system.place():
        return True
    return note.pid == os.getpid() or not system.alive(note.pid, note.started)


def _remove(store: "Store", note: _Note) -> None:
    """Remove a folder, unless it has become a model, or is another one of that name."""
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
    """Give a model its name, in what it says of itself and at the head of its card."""
    config = read_config(folder)
    named: ModelConfig = msgspec.structs.replace(config, name=name)
    spelled = msgspec.json.format(msgspec.json.encode(named), indent=2)
    write_whole(folder / CONFIG, spelled + b"\n")
    card = (folder / CARD).read_text("utf-8")
    start, *rest = card.split("\n", 1)
    if start == f"# {config.name}":
        write_whole(folder / CARD, "\n".join([f"# {name}", *rest]).encode("utf-8"))


def _free_name(store: "Store", recipe: str) -> str:
    """The next name that neither a model of the database nor a folder has."""
    names = {model.name for model in store.models.all()}
    names |= {path.name for path in models_folder(store.path).iterdir()}
    taken = (re.fullmatch(rf"{re.escape(recipe)}-([0-9]{{1,8}})", name) for name in names)
    return f"{recipe}-{max((int(one[1]) for one in taken if one), default=0) + 1}"


def asked(
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
    """A training to be queued. words: settings, "key=value"; the rest as `nfh-tui retrain`.

    promote: whether a model that is found better than the active one takes over. scheduler:
    the address of a Dask cluster that does the work.
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


def check(store: "Store", new: NewJob) -> None:
    """Raise ModelsError for a training that could not begin: a wrong setting, say.

    Nothing is read but the settings and the model that it is to start from.
    """

    check_order(store, new.task, new.arguments)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object] | None:
    """Train, judge, register; the job is done together with the model's registration."""

    train(store, job, report)
    return None


# The work of a training: out of a snapshot of labels, a model's folder.
#
# It knows of no database, so that it is the same on this machine and on another one. It goes
# on from what its work folder holds of the same training.

IDENTIFICATION = "identification"

Tell = Callable[[TrainingStep], None]
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
    from nfh_tui.services.training import card_of, judged, metrics_of

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


def _driven(steps: Generator[TrainingStep, None, TrainedModel], tell: Tell) -> TrainedModel:
    """Go through a training, and tell each step; left early, a network saves where it is."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as stop:
                made: TrainedModel = stop.value
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


def _parser(spec: TrainSpec, needs: frozenset[ParseLayer], tell: Tell) -> Parser | None:
    if not needs:
        return None
    from nfh_models.parsing.base import load_parser

    tell(Phase("loading the parser"))
    return load_parser(spec.parser, needs)


# --- identification -------------------------------------------------------------------------


def _svm(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:  # noqa: ARG001 - it is done in minutes, and begins anew
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
    examples = snapshot.lessons.numbers
    check_enough(examples)
    layers = plan.settings.layers
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
    """general: the settings that are no recipe's own. promote: whether a better model takes
    over. scheduler: the address of a cluster that does the work."""

    task: str
    recipe: str
    general: General
    which: SnapshotSpec
    parser: str | None
    promote: bool
    scheduler: str | None


def order_of(task: str, given: Mapping[str, object]) -> TrainingRequest:
    """The arguments of a job. Raises QueryError, TrainerError."""
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
    """How to train, with the model that is the active one now where that is started from.

    Raises ModelsError for a model that does not hold, or cannot be started from.
    """
    general, which = order.general, order.which
    start = None
    if order.task != OF_IDENTIFICATION:
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


def check_order(store: "Store", task: str, given: Mapping[str, object]) -> None:
    """Raise ModelsError, or QueryError, for a training that could not begin."""
    order = order_of(task, given)
    if task == OF_IDENTIFICATION:
        check_identification(order.recipe, texts_of(given, "words"))
    else:
        trainer_of(spec_of(store, order))


def check_identification(recipe: str, words: Sequence[str]) -> None:
    """Raise SettingError, or TrainerError, for settings that are none of its recipe's."""
    from nfh_models.identification.svm import WANTED, plan_of

    check_keys(words, recipe, WANTED, JUDGED_BY)
    plan_of(general_of(words).words)


# What can be told of a training before it waits for its turn: whether there is gold for it.
#
# Only gold that is there now is counted, by its kind: a training that is refused here would
# find nothing to learn when its turn comes, perhaps hours later. Whether what is there is
# enough, once passages are kept out, the training itself finds (`snapshot`).

PIPELINES = "spacy_models"
"""Under this name installed pipelines make themselves known."""

HEADS = (Kind.REFERENCE, *IMPLICIT_KINDS)
"""What resolution tells apart."""


def check_parser_there(spec: str | None) -> None:
    """Raise ParserError for a parser that is named and not there. None is loaded."""
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
    """Raise TooLittleGoldError for a training that gold, as it is now, can teach nothing, and
    SplitError, ParserError where it names a split or a parser that is not there.

    Where an import waits or runs nothing is refused: it may bring the gold. Raises StoreError,
    QueryError, TrainerError.
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
    kinds = store.holdout.gold_kinds(within(which.query, which.split))
    if new.task != OF_IDENTIFICATION:
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
    total = sum(found.values())
    if not total:
        raise TooLittleGoldError(f"there is nothing to learn resolution from: {NO_HEADS}")
    if total < LEAST:
        raise TooLittleGoldError(
            f"too few examples to learn resolution from: {total:,} "
            f"{'number has' if total == 1 else 'numbers have'} gold here that says what its "
            f"noun is, wanted {LEAST} or more"
        )
    if len(found) < 2:
        raise TooLittleGoldError(
            f"there is nothing to tell apart: all {total:,} examples are {next(iter(found))}"
        )


def _check_labels(kinds: Mapping[Kind, int], task: str) -> None:
    total = sum(n for kind, n in kinds.items() if kind is not Kind.BROKEN)
    none = kinds.get(Kind.NOT_NFH, 0)
    if not total:
        raise TooLittleGoldError(
            "there is nothing to learn from: no number found here has gold that says whether "
            "its noun is missing. Settle or decide some first, or ask for others"
        )
    if none in (0, total):
        raise TooLittleGoldError(alike(total, fused=not none, alone=task != OF_IDENTIFICATION))


# A training as a job: from its row to a registered model, over as many attempts as it takes.
#
# What it works on is fixed when it is first begun, and lies in its folder: the labels, and the
# model that it starts from. So it goes on after a kill as if nothing had happened, whatever
# anybody decided meanwhile.

SNAPSHOT = "snapshot.json"
SPEC = "spec.json"
WORK = "work"
MODEL = "model"
MADE = "made.json"
"""What a training keeps in its job's folder: labels, settings, checkpoints, the model."""

UNDECIDED = "-state:decided"

LEARNING = ("training", "judging", "saving")
"""Phases of a network behind its start from a checkpoint."""


def train(store: "Store", job: "Job", report: "JobReporter") -> None:
    """Train, judge, register, and say that the job is done.

    Raises ModelsError where nothing can be learnt or parsed, StoreError, OSError, and
    JobGoneError and KeyboardInterrupt, after which it can be gone on with.
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
    """One run of the job, which may have had others before."""

    store: "Store"
    job: "Job"
    report: "JobReporter"
    order: TrainingRequest

    @property
    def home(self) -> Path:
        return job_folder(self.store.path, self.job)

    def spec(self) -> TrainSpec:
        """The settings, with the model that was the active one when the job first began."""
        path = self.home / SPEC
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=TrainSpec)
        spec = spec_of(self.store, self.order)
        write_whole(path, msgspec.json.encode(spec))
        return spec

    def snapshot(self) -> Snapshot:
        """The labels as they were when the job first began."""
        path = self.home / SNAPSHOT
        with suppress(FileNotFoundError, SnapshotError):
            return Snapshot.read(path)
        self._forget()  # what was learnt from other labels is of no use
        snapshot = take(self.store, self.order.which, self.report)
        snapshot.write(path)
        return snapshot

    def _forget(self) -> None:
        remove(*(self.home / name for name in (WORK, MODEL, MADE)))

    # --- making it ------------------------------------------------------------------------

    def model(self, snapshot: Snapshot, spec: TrainSpec) -> Made:
        """The model, made unless an attempt before has made it."""
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
            remove(work)  # it would go astray again
            raise
        except TrainingError:
            if not before or phases.intersection(LEARNING):
                raise
        # A checkpoint that does not hold: the labels are there, and it begins anew.
        remove(work)
        work.mkdir()
        return self._train(snapshot, spec, tell)

    def _train(self, snapshot: Snapshot, spec: TrainSpec, tell: Tell) -> Made:
        work, out, scheduler = self.home / WORK, self.home / MODEL, self.order.scheduler
        if scheduler is None:
            return train_model(snapshot, spec, work, out, tell)
        from nfh_tui.jobs.cluster_work import train_model_at

        return train_model_at(scheduler, snapshot, spec, work, out, tell)

    # --- making it known ------------------------------------------------------------------

    def register(self, snapshot: Snapshot, made: Made, begun: float) -> None:
        """Judge the model, put it in its place and register it; the job is done with it."""
        from nfh_tui.jobs.promotion import judge

        store, order = self.store, self.order
        model = self.home / MODEL
        verdict = judge(store, snapshot, model, self.report.step, parser=order.parser)
        # Another process may have the job by now, and be putting its own in place.
        if not store.jobs.beat(self.job.id):
            raise JobGoneError(CANCELLED)
        with placed(store, self.home, model, order.recipe) as (folder, digest):
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
        """What follows where the model takes over; None where it resolves nothing."""
        if self.order.task == OF_IDENTIFICATION:
            return None
        return tasks.prediction_asked(UNDECIDED, asked_by=self.job.asked_by)
