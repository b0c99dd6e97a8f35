"""How far a job is: steps, the job's row that tells them, and the points of its curves."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nfh_db.errors import BusyError, FullError
from nfh_db.jobs import JobPoint, JobProgress

if TYPE_CHECKING:
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

    def step(self, step: Step) -> None:
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
            self._store.note_job(self._job_id, noted)
        while self._points:
            self._store.note_job(self._job_id, noted, self._points[0])
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

    def point_of(self, step: Step) -> JobPoint | None:
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
