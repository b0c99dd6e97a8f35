"""Jobs and models in words: what a job does, where it stands, how long it took."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nfh_db.jobs import Job, JobState
from nfh_db.models import Model
from nfh_tui.jobs.words import job_title, phase_words

SIGNS = {
    JobState.QUEUED: "○",
    JobState.RUNNING: "◐",
    JobState.DONE: "✓",
    JobState.FAILED: "✗",
    JobState.CANCELLED: "–",
    JobState.INTERRUPTED: "↺",
}
"""Before the word for a job's state, which always stands there, too."""

ROLES = {JobState.DONE: ("good",), JobState.FAILED: ("bad",)}

FOREIGN = "foreign"
"""Where a job stands that somebody else queued, and that no runner of this user takes."""

TRAIN, EVALUATE, PREDICT, CHECK, IMPORT = "train", "evaluate", "predict", "check", "import"

ACTIVE = "active"

FIGURES = (
    ("accuracy_inclusive", "incl", "inclusive accuracy"),
    ("accuracy", "acc", "accuracy, which does not count other words of the same form"),
    ("f1", "F1", "F1 of identification"),
)
"""Figures of a model, the one that counts first: its name, a short one, and in words."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of a new model, and why, as its row keeps it.

    word: "promoted", "candidate", "rejected" or "first"; "" for a model that nobody judged.
    reason: a sentence with the figures. against: the model that it was compared with. n:
    gold items that both were tried on. difference, low, high: of `figure`, as fractions, with
    the interval; None where there is none. saw: items whose gold was made with a model's
    answer in view.
    """

    word: str = ""
    reason: str = ""
    against: str = ""
    n: int = 0
    figure: str = ""
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    saw: int = 0


def ruling_of(model: Model) -> Ruling:
    """The verdict on a model; an empty one where it has none, or none that can be read."""
    return ruled(getattr(model, "verdict", None))


def ruled(kept: object) -> Ruling:
    """A verdict out of JSON, or of its text."""
    if isinstance(kept, str):
        try:
            kept = json.loads(kept or "null")
        except ValueError:
            return Ruling()
    if not isinstance(kept, Mapping) or not isinstance(kept.get("verdict"), str):
        return Ruling()
    return Ruling(
        kept["verdict"],
        text(kept.get("reason")),
        text(kept.get("against")),
        count(kept.get("n")),
        text(kept.get("figure")),
        fraction(kept.get("difference")),
        fraction(kept.get("low")),
        fraction(kept.get("high")),
        count(kept.get("saw_model")),
    )


def text(value: object) -> str:
    """A text; "" for anything else."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """A whole number; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def fraction(value: object) -> float | None:
    """A number; None for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else None  # type: ignore[arg-type]  # narrowed above


def figure_of(metrics: Mapping[str, object]) -> tuple[float | None, str]:
    """The figure of a model that counts, as a fraction, with its short name."""
    for name, short, _ in FIGURES:
        value = fraction(metrics.get(name))
        if value is not None and -1 <= value <= 1:
            return value, short
    return None, ""


def job_name(names: Mapping[int, str], job: Job) -> str:
    """What a job does, in few words. names: of models, by number."""
    given = job.arguments
    title = job_title(job.kind, text(given.get("recipe")), job.task)
    if job.kind == PREDICT:
        return " ".join(filter(None, [title, _model(names, given.get("model"))]))
    if job.kind == EVALUATE:
        models = given.get("models")
        tried = models if isinstance(models, list) else []
        shown = ", ".join(_model(names, one) for one in tried) or job.task
        return f"{title} {shown}"
    if job.kind == IMPORT:
        files = given.get("files")
        named = (
            [str(one).rpartition("/")[2] for one in files] if isinstance(files, list) else []
        )
        return f"{title} {', '.join(named) or 'files'}"
    return title


def _model(names: Mapping[int, str], value: object) -> str:
    return names.get(value, str(value)) if isinstance(value, int) else text(value)


def state_words(job: Job) -> str:
    """Where a job stands, in few words: a running one says its phase and how much is done, a
    training that is done which model it made, and what became of that."""
    if job.state is JobState.DONE and job.kind == TRAIN:
        made, word = text(job.result.get("model")), ruled(job.result.get("verdict")).word
        return ": ".join(filter(None, (made, word))) or job.state.value
    if job.state is not JobState.RUNNING:
        return FOREIGN if job.held else job.state.value
    share = share_done(job)
    phase = phase_of(job)
    return phase if share is None else f"{100 * share:3.0f} % {phase}"


def phase_of(job: Job) -> str:
    """What a running job does now."""
    return phase_words(job.phase or "") or "starting"


def share_done(job: Job) -> float | None:
    """How much of its phase a job has done, as a fraction; None where that is not known."""
    if not job.total or job.total <= 0:
        return None
    return max(0.0, min(1.0, job.done / job.total))


def took(job: Job, now: str) -> str:
    """How long a job has run, or ran; "" before it began."""
    if job.started_at is None:
        return ""
    running = job.state is JobState.RUNNING
    return span_between(job.started_at, now if running else job.finished_at or job.heartbeat)


def span_between(start: str, end: str | None) -> str:
    """The time between two times of the store; "" where that cannot be told.

    Clocks may have been set back meanwhile: no time at all then.
    """
    try:
        passed = datetime.fromisoformat(end or "") - datetime.fromisoformat(start)
    except (ValueError, TypeError):
        return ""
    return clocked(max(0, int(passed.total_seconds())))


def clocked(seconds: int) -> str:
    """Seconds as m:ss, from an hour on as h:mm:ss."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def at_clock(at: str | None, now: str) -> str:
    """A time of the store in the time of this place: only the clock's if it is of today."""
    try:
        here = datetime.fromisoformat(at or "").astimezone()
        today = datetime.fromisoformat(now).astimezone().date()
    except ValueError:
        return at or ""
    form = "%H:%M:%S" if here.date() == today else "%Y-%m-%d %H:%M"
    return here.strftime(form)
