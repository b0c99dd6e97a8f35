"""Jobs that make models, whatever the recipe: their rows, their folders, what they leave.

The work is a job with a row of its own, whoever runs it. Whatever ends it early leaves no
model behind, neither in the database nor on the disk. What a network had learnt by then stays
in the job's work folder (`training_work`), and the same job asked for again goes on from it.
"""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from nfh_db import processes
from nfh_db.clock import now
from nfh_db.errors import StoreError
from nfh_db.jobs import JobPoint, JobProgress, JobState
from nfh_db.models import Model, NewModel
from nfh_db.query import Match, Query
from nfh_models.model_files import FolderTakenError
from nfh_tui.ending import EndedError
from nfh_tui.model_folders import models_folder

if TYPE_CHECKING:
    from nfh_db.store import Store

SECONDS_BETWEEN = 0.1
"""Between two notes in a job's row."""

MOST_POINTS = 300
"""Of a curve of losses, or about so many."""

LOSS = "loss"

HELD_OUT = ("dev", "test")
"""Splits that are kept to be tried on."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

Made = TypeVar("Made")


class Step(Protocol):
    """How far a training is."""

    @property
    def phase(self) -> str:
        """What is being done."""
        ...

    @property
    def done(self) -> int:
        """How much of it is done."""
        ...

    @property
    def total(self) -> int:
        """How much there is; 0 where that is not known."""
        ...

    @property
    def metrics(self) -> Mapping[str, float]:
        """Figures by name."""
        ...


@dataclass(frozen=True, slots=True)
class Phase:
    """A step. total: 0 where it is not known."""

    phase: str
    done: int = 0
    total: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)


class JobReporter:
    """Notes in a job's row how far it is, ten times a second at most, and tells `progress`.

    Steps that have figures make the job's curves: of those that come often, some hundreds are
    kept, and each that judges (its figures are others than those of the step before).
    """

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
        self._curves = Curves()

    def step(self, step: Step) -> None:
        """Report a step. Raises JobGoneError if somebody ended the job meanwhile."""
        self._progress(step.phase, step.done, step.total)
        point = self._curves.point_of(step)
        if point is None and self._clock() - self._noted_at < SECONDS_BETWEEN:
            return
        self._noted_at = self._clock()
        noted = JobProgress(step.phase, step.done, step.total or None, step.metrics)
        self._store.note_job(self._job_id, noted, point)


class Curves:
    """Which steps of a training become points of its curves.

    LOSS is the one figure that differs at every step.
    """

    def __init__(self) -> None:
        self._judged: dict[str, float] = {}
        self._next = 0

    def point_of(self, step: Step) -> JobPoint | None:
        """The point that a step makes; None if it makes none."""
        figures = dict(step.metrics)
        judged = {name: value for name, value in figures.items() if name != LOSS}
        if not figures or (judged == self._judged and step.done < self._next):
            return None
        self._judged = judged
        self._next = step.done + max(1, step.total // MOST_POINTS)
        return JobPoint(step.done, figures)


def as_job(
    store: "Store",
    task: str,
    arguments: Mapping[str, object],
    progress: Progress,
    work: Callable[[int, JobReporter], Made],
) -> Made:
    """Do some work as a job of this process that was never in the queue; what it gives.

    work: is told the job's number, and makes its model known itself (`save_model`). Raises
    what it raises; the job then is failed, cancelled or, by a signal, interrupted.
    """
    job_id = store.begin_job(task, arguments)
    try:
        return work(job_id, JobReporter(store, job_id, progress))
    except BaseException as error:
        _end(store, job_id, error)
        raise


def _end(store: "Store", job_id: int, error: BaseException) -> None:
    """Note how a job ended early; one that somebody else ended is left as it is."""
    with suppress(StoreError):  # what ended it matters more, and may be the same trouble
        if isinstance(error, EndedError):
            store.end_job(job_id, JobState.INTERRUPTED, str(error))
        elif isinstance(error, KeyboardInterrupt):
            store.end_job(job_id, JobState.CANCELLED, "stopped")
        else:
            store.end_job(job_id, JobState.FAILED, str(error) or type(error).__name__)


def held_out_splits(split: str | None) -> tuple[str, ...]:
    """The splits whose passages are not learnt from, where `split` is learnt from."""
    return ("test",) if split is None else tuple(one for one in HELD_OUT if one != split)


def held_out_passages(store: "Store", splits: Sequence[str]) -> dict[str, str]:
    """Each passage, by its digest, that stands in one of these splits, with the split."""
    return {
        ballot.passage.digest: split
        for split in splits
        for ballot in store.ballots(Query(terms=(Match("split", (split,)),)))
    }


# --- saving ---------------------------------------------------------------------------------


def save_model(
    store: "Store", job_id: int, recipe: str, write: Callable[[Path, str], NewModel]
) -> tuple[Model, Path]:
    """Have a model's folder written and register it; if that fails, the folder is gone again.

    write: makes the folder, at the time that is given, and says what to register. It raises
    FolderTakenError where something stands there already; another name is tried then.
    """
    at = now()
    folder: Path | None = None
    try:
        while folder is None:
            free = _free_folder(store, recipe)
            try:
                new = write(free, at)
                folder = free
            except FolderTakenError:
                continue
        return store.finish_training(job_id, new), folder
    except BaseException:
        # Stopped after its last write, a model is registered all the same.
        if folder is not None and store.model(folder.name) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _free_folder(store: "Store", recipe: str) -> Path:
    """The next name that neither a model of the database nor a folder has."""
    folder = models_folder(store.path)
    _sweep(folder)
    names = {model.name for model in store.models()}
    if folder.is_dir():
        names |= {path.name for path in folder.iterdir()}
    prefix = f"{recipe}-"
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
