"""The progress of a job: steps and curves in its database row. Also the passages that a
registered model was trained on.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from nfh_db.errors import BusyError, FullError, QueryError
from nfh_db.jobs import JobPoint, JobProgress
from nfh_db.query import Match, Query, parse
from nfh_models.identification.base import TRAINED as IDENTIFYING
from nfh_models.model_files import read_seen
from nfh_models.resolution.recipes import SMALL
from nfh_models.resolution.recipes import TRAINED as RESOLVING

if TYPE_CHECKING:
    from pathlib import Path

    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.domain import Passage
    from nfh_models.parsing.base import ParseLayer, Parser


SECONDS_BETWEEN = 0.1
"""Least time between two writes of a job's row."""

MOST_POINTS = 300
"""Approximate number of points of a loss curve."""

LOSS = "loss"

JUDGING = "judging"
"""Prefix of the names of phases that evaluate on held-out examples."""

HELD_OUT = ("dev", "test")
"""Splits that are kept for evaluation."""

Progress = Callable[[str, int, int], None]
"""Called with the phase, how much of it is done, and its total."""


class TrainingStep(Protocol):
    """A progress report of a training."""

    @property
    def phase(self) -> str: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int:
        """0 if unknown."""
        ...

    @property
    def metrics(self) -> Mapping[str, float]:
        """Figures by name."""
        ...


@dataclass(frozen=True, slots=True)
class Phase:
    """A plain `TrainingStep`."""

    phase: str
    done: int = 0
    total: int = 0
    """0 if unknown."""
    metrics: Mapping[str, float] = field(default_factory=dict)


Tell = Callable[[TrainingStep], None]
"""Called with each step; an exception that it raises stops the training after a checkpoint."""
Trained = TypeVar("Trained")


def drive(steps: Generator[TrainingStep, None, Trained], tell: Tell) -> Trained:
    """Run a training and report each step. If it is stopped early, a network saves a
    checkpoint.
    """
    with closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as stop:
                trained: Trained = stop.value
                return trained
            tell(step)


def loaded_parser(
    spec: str | None, needs: "frozenset[ParseLayer]", tell: Tell
) -> "Parser | None":
    """Load a parser, which takes seconds; None if nothing needs one. Raises ParserError."""
    if not needs:
        return None
    from nfh_models.parsing.base import load_parser

    tell(Phase("loading the parser"))
    return load_parser(spec, needs)


class JobReporter:
    """Writes the progress of a job to its row, at most ten times a second, and to `progress`.

    Steps with metrics become points of the job's curves: every evaluation, and about
    MOST_POINTS losses. A point that cannot be written, because the file is locked or the disk
    full, is written with a later step; points still unwritten when the process ends are lost.
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
        self._points: list[JobPoint] = []

    def step(self, step: TrainingStep) -> None:
        """Report a step. Raises JobGoneError if the job was ended by somebody else."""
        phase = step.phase.rstrip(": ")
        self._progress(phase, step.done, step.total)
        point = self._curves.point_of(step)
        if point is None and self._clock() - self._noted_at < SECONDS_BETWEEN:
            return
        self._noted_at = self._clock()
        noted = JobProgress(phase, step.done, step.total or None, step.metrics)
        if point is not None:
            self._points.append(point)
        with suppress(BusyError, FullError):
            self._note(noted)

    def tell(self, phase: str, done: int, total: int = 0) -> None:
        """Report a step by its parts."""
        self.step(Phase(phase, done, total))

    def _note(self, noted: JobProgress) -> None:
        if not self._points:
            self._store.jobs.update(self._job_id, noted)
        while self._points:
            self._store.jobs.update(self._job_id, noted, self._points[0])
            del self._points[0]


class Curves:
    """Selects the steps of a training that become points of its curves.

    Metrics other than LOSS change only with an evaluation. The step right after a phase of
    evaluation is always a point, even if its metrics are unchanged.
    """

    def __init__(self) -> None:
        self._judged: dict[str, float] = {}
        self._next = 0
        self._judging = False

    def point_of(self, step: TrainingStep) -> JobPoint | None:
        """The point of a step; None if it is not selected."""
        figures = dict(step.metrics)
        judged = {name: value for name, value in figures.items() if name != LOSS}
        before, self._judging = self._judging, step.phase.startswith(JUDGING)
        anew = judged != self._judged or (before and not self._judging and bool(judged))
        if not figures or (not anew and step.done < self._next):
            return None
        self._judged = judged
        self._next = step.done + max(1, step.total // MOST_POINTS)
        return JobPoint(step.done, figures)


def held_out_splits(split: str | None) -> tuple[str, ...]:
    """The splits whose passages are held out when `split` (None: everything) is trained on."""
    return ("test",) if split is None else tuple(one for one in HELD_OUT if one != split)


LEARNING = frozenset({*IDENTIFYING, *RESOLVING, SMALL})

NOTHING_KEPT_OUT = (None, "", "folds")
"""Values of "judged_on" of trainings that held nothing out."""

LONGEST = 100
"""Longest chain of base models that is followed."""


def seen_by(
    store: "Store | None", model: "Model | None", folder: "Path | None"
) -> "Callable[[Passage], bool]":
    """A test whether a model has seen a passage: the list in its folder has the passage or one
    of its long turns, or the database knows that it was trained on it.

    model: its row; None for one that is not registered. folder: of its files; None for rules.
    Raises ModelFileError for a damaged list.
    """
    seen = None if folder is None else read_seen(folder)
    known: frozenset[str] = frozenset()
    if store is not None and model is not None:
        known = passages_learnt_from(store, model)
    return lambda one: one.digest in known or (seen is not None and seen.holds(one))


def passages_learnt_from(store: "Store", model: "Model") -> frozenset[str]:
    """The digests of the passages that a model and its base models were trained on.

    These are the passages that match the model's query and split, had gold when it was made,
    and were not held out. Nothing is known of the packaged model and of base models outside
    this database.
    """
    known = {one.name: one for one in store.models.all()}
    found: frozenset[str] = frozenset()
    seen: set[int] = set()
    current: Model | None = model
    while current is not None and current.id not in seen and len(seen) < LONGEST:
        seen.add(current.id)
        found |= _own(store, current)
        base = known.get(str(current.config.get("base") or ""))
        # A folder may have the name of a model that it is not.
        current = base if base and base.digest == current.config.get("base_digest") else None
    return found


def _own(store: "Store", model: "Model") -> frozenset[str]:
    """The passages of the model itself, without those of its base models."""
    if model.recipe not in LEARNING or model.path is None:
        return frozenset()
    query_text, split, dev_split = (
        str(model.metrics.get(name) or "") for name in ("query", "split", "dev_split")
    )
    try:
        query = parse(query_text)
    except QueryError:  # written by another version of the program
        return frozenset()
    if split:
        query = Query(terms=(*query.terms, Match("split", (split,))))
    kept_out = sorted({*held_out_splits(split or None), dev_split} - {"", split})
    sides = not dev_split and model.metrics.get("judged_on") not in NOTHING_KEPT_OUT
    return store.models.passages_with_gold(query, model.created_at, kept_out, sides=sides)
