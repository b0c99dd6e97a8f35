"""How far a job is: its steps and curves as its row tells them; and which passages a
registered model learnt from.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nfh_db.errors import BusyError, FullError, QueryError
from nfh_db.jobs import JobPoint, JobProgress
from nfh_db.query import Match, Query, parse
from nfh_models.identification.base import TRAINED as IDENTIFYING
from nfh_models.resolution.recipes import SMALL
from nfh_models.resolution.recipes import TRAINED as RESOLVING

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store


SECONDS_BETWEEN = 0.1
"""Between two notes in a job's row."""

MOST_POINTS = 300
"""Of a curve of losses, or about so many."""

LOSS = "loss"

JUDGING = "judging"
"""A phase that begins so tries what was learnt on what is kept out."""

HELD_OUT = ("dev", "test")
"""Splits that are kept to be tried on."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


class TrainingStep(Protocol):
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
    kept, and each that judges. What
    cannot be written now, since the file is locked or the disk full, is written with a later
    step: the work is worth more.
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
        """Report a step. Raises JobGoneError if somebody ended the job meanwhile."""
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

    def _note(self, noted: JobProgress) -> None:
        if not self._points:
            self._store.jobs.note(self._job_id, noted)
        while self._points:
            self._store.jobs.note(self._job_id, noted, self._points[0])
            del self._points[0]


class Curves:
    """Which steps of a training become points of its curves.

    LOSS is the one figure that differs at every step. What is reported right after a judging is
    a judgement, also where its figures are those of the one before.
    """

    def __init__(self) -> None:
        self._judged: dict[str, float] = {}
        self._next = 0
        self._judging = False

    def point_of(self, step: TrainingStep) -> JobPoint | None:
        """The point that a step makes; None if it makes none."""
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
    """The splits whose passages are not learnt from, where `split` is learnt from."""
    return ("test",) if split is None else tuple(one for one in HELD_OUT if one != split)


LEARNING = frozenset({*IDENTIFYING, *RESOLVING, SMALL})

NOTHING_KEPT_OUT = (None, "", "folds")
"""On what such a training was judged."""

LONGEST = 100
"""Models, each of which started from the one before, that are followed."""


def passages_learnt_from(store: "Store", model: "Model") -> frozenset[str]:
    """The digests of the passages, with those of the models that it started from.

    Whatever had gold when the model was made and its query and split find is counted, but for
    what was kept out then. Of the model in the package, and of a folder that is none of this
    database's, nothing is known.
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
    """Without those of the models that it started from."""
    if model.recipe not in LEARNING or model.path is None:
        return frozenset()
    said = {
        name: str(model.metrics.get(name) or "") for name in ("query", "split", "dev_split")
    }
    split = said["split"] or None
    try:
        query = parse(said["query"])
    except QueryError:  # of another program's language
        return frozenset()
    if split is not None:
        query = Query(terms=(*query.terms, Match("split", (split,))))
    splits = {*held_out_splits(split), said["dev_split"]} - {"", split}
    kept_out = sorted(one for one in splits if one)
    sides = not said["dev_split"] and model.metrics.get("judged_on") not in NOTHING_KEPT_OUT
    return store.models.passages_with_gold(query, model.created_at, kept_out, sides=sides)
