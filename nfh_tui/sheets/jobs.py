"""The list of jobs and of models, line by line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nfh_db.jobs import Job, JobState
from nfh_db.models import Model
from nfh_tui.sheets.job_words import (
    ACTIVE,
    ROLES,
    SIGNS,
    count,
    figure_of,
    job_name,
    ruling_of,
    state_words,
    took,
)
from nfh_tui.sheets.line import (
    BLANK,
    Cell,
    Line,
    Stop,
    heading,
    items,
    left,
    percent,
    right,
    row,
    sentence,
)

JOB_STOP, MODEL_STOP, OLDER_STOP = "job", "model", "older"

ROUGH = 30
"""Items, of fewer of which a figure says next to nothing: their number stands with it."""

RECENT = 8
"""Ended jobs that are listed before one asks for all."""

NO_JOBS = (
    "Nothing has been asked for yet. t starts a training on the labels that are here; so does "
    "`nfh-tui retrain`. It goes on while you work, and after you have left."
)
NO_MODELS = "There is no model yet. t trains one; `nfh-tui models` lists those in the package."


@dataclass(frozen=True, slots=True)
class Listed:
    """What the list shows.

    jobs: the newest first. models: by their registration. metrics: of models, by number,
    where their own are not in the row. now: the time, UTC. every: also the old jobs.
    rounds: trainings that come round, each in words.
    """

    jobs: Sequence[Job] = ()
    models: Sequence[Model] = ()
    metrics: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    now: str = ""
    every: bool = False
    rounds: Sequence[str] = ()

    @property
    def names(self) -> dict[int, str]:
        """Models' names by their numbers."""
        return {model.id: model.name for model in self.models}

    def job(self, job_id: int) -> Job | None:
        """A job by its number."""
        return next((one for one in self.jobs if one.id == job_id), None)

    def model(self, model_id: int) -> Model | None:
        """A model by its number."""
        return next((one for one in self.models if one.id == model_id), None)

    def metrics_of(self, model: Model) -> Mapping[str, object]:
        """A model's figures."""
        return self.metrics.get(model.id, model.metrics)


def job_stop(job_id: int) -> str:
    """The name of a job's line."""
    return f"{JOB_STOP} {job_id}"


def model_stop(model_id: int) -> str:
    """The name of a model's line."""
    return f"{MODEL_STOP} {model_id}"


def list_lines(listed: Listed, width: int) -> list[Line]:
    """Jobs, then models."""
    lines = [heading("Jobs")]
    lines += _jobs(listed, width) if listed.jobs else sentence(NO_JOBS, width)
    for words in listed.rounds:
        lines += sentence(words, width)
    lines += [BLANK, heading("Models", "● in use")]
    if not listed.models:
        return lines + sentence(NO_MODELS, width)
    return lines + [_model(listed, model, width) for model in in_order(listed.models)]


def tally(jobs: Sequence[Job]) -> str:
    """How many run and wait, in words."""
    here = [job for job in jobs if not job.held]
    counts = {state: sum(job.state is state for job in here) for state in JobState}
    said = (
        (counts[JobState.RUNNING], "running"),
        (counts[JobState.QUEUED], "waiting"),
        (counts[JobState.INTERRUPTED], "interrupted"),
        (len(jobs) - len(here), "foreign"),
    )
    return ", ".join(f"{n:,} {word}" for n, word in said if n) or ("idle" if jobs else "")


def in_order(models: Sequence[Model]) -> list[Model]:
    """Those in use first, then the newest; those that learn nothing last."""
    return sorted(models, key=lambda one: (one.state != ACTIVE, one.path is None, -one.id))


def _jobs(listed: Listed, width: int) -> list[Line]:
    shown, older = _shown(listed)
    lines = [_job(listed, job, width) for job in shown]
    if older or (listed.every and len(shown) > RECENT):
        words = f"{older:,} older" if older else "fewer"
        told = f"enter shows {'all jobs' if older else 'the newest only'}"
        lines.append(
            row(Stop(OLDER_STOP, None, told, act=OLDER_STOP), Cell(f"    {words}", ("faint",)))
        )
    return lines


def _shown(listed: Listed) -> tuple[list[Job], int]:
    """The jobs that are listed, and how many are not: none that is still to do."""
    if listed.every:
        return list(listed.jobs), 0
    shown, ended = [], 0
    for job in listed.jobs:
        ended += job.state.ended
        if not job.state.ended or ended <= RECENT:
            shown.append(job)
    return shown, len(listed.jobs) - len(shown)


def _job(listed: Listed, job: Job, width: int) -> Line:
    time = took(job, listed.now)
    stands = min(28, max(12, (width - 15) // 2))
    name = max(8, width - 15 - stands)
    words = job_name(listed.names, job)
    said = state_words(job)
    running = job.state is JobState.RUNNING
    told = f"job {job.id}, {words}: {state_words(job) if job.held else job.state}"
    roles = ROLES.get(job.state, ())
    look = ("bold",) if running else ()
    stop = Stop(job_stop(job.id), None, told, act=JOB_STOP)
    return (
        Cell(f" {SIGNS[job.state]}", roles),
        Cell(right(str(job.id), 4), ("faint",)),
        Cell(f" {left(words, name - 1)} ", look, stop),
        Cell(left(said, stands), roles),
        Cell(right(time, 8), ("faint",)),
    )


def _model(listed: Listed, model: Model, width: int) -> Line:
    value, short = figure_of(listed.metrics_of(model))
    ruling = ruling_of(model)
    sign = "●" if model.state == ACTIVE else " "
    task = {"identification": "NFH or not", "resolution": "heads"}.get(model.task, model.task)
    name = max(8, width - 40)
    told = f"{model.name}: {model.recipe} for {_task(model.task)}, {model.state}"
    if ruling.word:
        told += f"; judged: {ruling.word}"
    tried = count(listed.metrics_of(model).get("dev_examples"))
    if value is not None and 0 < tried < ROUGH:
        short = f"n={tried}"
        told += f"; its figure is of {items(tried)}, which say next to nothing"
    stop = Stop(model_stop(model.id), None, told, act=MODEL_STOP)
    return (
        Cell(f" {sign}", ("good",)),
        Cell(right(str(model.id), 4), ("faint",)),
        Cell(f" {left(model.name, name - 1)} ", ("bold",) if sign == "●" else (), stop),
        Cell(left(task, 11), ("faint",)),
        Cell(right(percent(value), 5)),
        Cell(left(f" {short}", 6), ("faint",)),
        Cell(left(model.state, 10)),
    )


def _task(task: str) -> str:
    return "both tasks" if task == "both" else task
