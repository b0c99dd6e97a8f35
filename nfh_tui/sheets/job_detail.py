"""One job in full: where it stands, its curves, what came of it, the end of its log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nfh_db.jobs import Job, JobPoint, JobState
from nfh_tui.sheets.curve import curve_lines, curve_of
from nfh_tui.sheets.job_words import (
    CHECK,
    FOREIGN,
    PREDICT,
    ROLES,
    SIGNS,
    TRAIN,
    at_clock,
    count,
    fraction,
    job_name,
    phase_of,
    ruled,
    share_done,
    text,
    took,
)
from nfh_tui.sheets.jobs import Listed, job_stop, model_stop
from nfh_tui.sheets.line import (
    BLANK,
    Cell,
    Line,
    Stop,
    heading,
    items,
    left,
    percent,
    row,
    sentence,
)
from nfh_tui.visible import visible

LOG_STOP, GO_STOP = "log", "go"

LOSS = "loss"
SCORES = ("score", "accuracy_inclusive", "accuracy", "f1")
"""Figures on dev, the one that counts first; one of them is drawn."""

LABEL = 13
"""Cells of what a line of facts is about."""

LEAST_LOG = 6
"""Lines of the log that are shown at least, where there are so many."""

NO_LOG = "It has no log: it ran in the command that asked for it."
NO_LOG_YET = "It has not begun, so its log is empty."
NEVER_BEGUN = "It never began, so it has no log."
AGAIN = {
    JobState.INTERRUPTED: "The next runner goes on from its last checkpoint; r starts one now.",
    JobState.FAILED: "r puts it into the queue again.",
    JobState.CANCELLED: "r puts it into the queue again.",
}


NOT_FROM_HERE = (
    "You did not queue it from this installation, so no runner starts it. `nfh-tui jobs show "
    "{id}` says what it would read and write, `nfh-tui jobs run --accept {id}` starts it."
)


@dataclass(frozen=True, slots=True)
class JobView:
    """What is known of a job besides its row. log: its last lines; None until it is read."""

    points: Sequence[JobPoint] = ()
    log: Sequence[str] | None = None


def job_lines(job: Job, view: JobView, listed: Listed, width: int, rows: int) -> list[Line]:
    """All of a job. rows: of the pane, which the log fills."""
    top = job_stop(job.id)
    lines = [*_top(job, listed, width), *_facts(job, listed, width)]
    lines += _curves(job, view, top, width, rows)
    lines += _result(job, listed, top, width)
    return [*lines, BLANK, *_log(job, view, listed.now, width, rows - len(lines) - 2)]


# --- where it stands ------------------------------------------------------------------------


def _top(job: Job, listed: Listed, width: int) -> list[Line]:
    words = job_name(listed.names, job)
    stop = Stop(f"{job_stop(job.id)} top", None, f"job {job.id}, {words}: {job.state}")
    head = Cell(f" Job {job.id}: {visible(words)}", ("head",), stop)
    task = Cell(f"  {visible(job.task)}" if job.task else "", ("faint",))
    lines: list[Line] = [(head, task)]
    said = f" {SIGNS[job.state]} {FOREIGN if job.held else job.state}"
    time = took(job, listed.now)
    if time:
        said += f" · {time}" if job.state is JobState.RUNNING else f" · took {time}"
    if job.attempts > 1:
        said += f" · begun {job.attempts} times"
    lines.append((Cell(said, ("bold", *ROLES.get(job.state, ()))),))
    if job.state is JobState.RUNNING:
        lines.append(_bar(job, width))
    if job.error and job.state is not JobState.DONE:
        lines += sentence(job.error, width, "bold")
    if job.held:
        lines += sentence(NOT_FROM_HERE.format(id=job.id), width)
    elif job.state in AGAIN:
        lines += sentence(AGAIN[job.state], width)
    return lines


def sentence_like(words: str) -> str:
    """A clause as a sentence."""
    shown = words[:1].upper() + words[1:]
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _bar(job: Job, width: int) -> Line:
    """How much of the phase is done: a bar, the number, the phase."""
    phase = phase_of(job)
    share = share_done(job)
    if share is None:
        done = f", {job.done:,} done" if job.done else ""
        return (Cell(f" {visible(phase)}{done}"),)
    said = f"{100 * share:3.0f} %  {job.done:,} of {job.total:,}  "
    room = max(6, min(24, width - len(said) - len(phase) - 4))
    full = round(share * room)
    return (
        Cell(f" {'█' * full}"),
        Cell("░" * (room - full), ("faint",)),
        Cell(f" {said}"),
        Cell(visible(phase), ("bold",)),
    )


# --- what was asked for ---------------------------------------------------------------------


def _facts(job: Job, listed: Listed, width: int) -> list[Line]:
    given = job.arguments
    asked = ", ".join(filter(None, [job.asked_by, at_clock(job.created_at, listed.now)]))
    facts = [("asked for", asked)]
    if job.state is JobState.QUEUED and job.after is not None:
        facts.append(("waits for", f"job {job.after}"))
    gold = ", ".join(filter(None, [text(given.get("query")), _split(text(given.get("split")))]))
    if job.kind in (TRAIN, CHECK):
        facts.append(("labels", gold or "all gold but what is kept to try it on"))
    elif job.kind == PREDICT:
        facts.append(("items", text(given.get("query")) or "all"))
    words = given.get("words")
    if isinstance(words, list) and words:
        facts.append(("settings", " ".join(map(str, words))))
    if text(given.get("scheduler")):
        facts.append(("runs on", text(given.get("scheduler"))))
    if job.kind == TRAIN and given.get("promote") is False:
        facts.append(("takes over", "never: it stays a candidate"))
    return fact_lines(facts, width)


def _split(name: str) -> str:
    return f"split:{name}" if name else ""


def fact_lines(facts: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Pairs of what and what of it; a long value is cut."""
    return [
        (
            Cell(f" {left(what, LABEL)}", ("faint",)),
            Cell(left(value, max(8, width - LABEL - 2))),
        )
        for what, value in facts
        if value
    ]


# --- curves ---------------------------------------------------------------------------------


def _curves(job: Job, view: JobView, top: str, width: int, rows: int) -> list[Line]:
    """Loss, and the figure on dev that counts."""
    running = job.state is JobState.RUNNING
    whole = float(job.total or 0) if running else 0.0
    height = 6 if rows >= 34 else 4
    lines: list[Line] = []
    losses = curve_of("loss", series(view.points, LOSS), whole=whole, lower=True)
    if losses.points:
        lines += [BLANK, *curve_lines(losses, f"{top} loss", width, height)]
    for name in SCORES:
        found = judgements(view.points, name)
        if found:
            words = f"{name.replace('_', ' ')} on dev"
            curve = curve_of(words, found, whole=whole or _last(view.points), percent=True)
            lines += [BLANK, *curve_lines(curve, f"{top} dev", width, height)]
            break
    return lines


def series(points: Sequence[JobPoint], name: str) -> list[tuple[float, float]]:
    """One figure of a job over its steps."""
    found = ((point.done, fraction(point.metrics.get(name))) for point in points)
    return [(float(done), value) for done, value in found if value is not None]


def judgements(points: Sequence[JobPoint], name: str) -> list[tuple[float, float]]:
    """Of a figure that is repeated beside each loss until it is judged anew, each judgement
    once: one that gave the same as the one before stands by itself, without a loss."""
    found: list[tuple[float, float]] = []
    for point in points:
        value = fraction(point.metrics.get(name))
        if value is None:
            continue
        if not found or value != found[-1][1] or LOSS not in point.metrics:
            found.append((float(point.done), value))
    return found


def _last(points: Sequence[JobPoint]) -> float:
    return float(points[-1].done) if points else 0.0


# --- what came of it ------------------------------------------------------------------------


def _result(job: Job, listed: Listed, top: str, width: int) -> list[Line]:
    if job.state is not JobState.DONE:
        return []
    lines: list[Line] = []
    model = listed.model(job.model_id) if job.model_id is not None else None
    if model is not None:
        stop = Stop(
            f"{top} model",
            None,
            f"enter goes to {model.name}",
            act=f"{GO_STOP} {model_stop(model.id)}",
        )
        words = Cell(left(f"{model.name}, {model.state}", max(8, width - LABEL - 2)), ("bold",))
        lines.append(row(stop, Cell(f" {left('made', LABEL)}", ("faint",)), words))
    ruling = ruled(job.result.get("verdict"))
    if ruling.word:
        lines += sentence(f"{ruling.word}: {ruling.reason}", width, "bold")
    if job.kind == CHECK:
        lines += _doubted(job, top)
    facts = result_facts(job.result)
    lines += fact_lines(facts, width)
    notes = job.result.get("notes")
    for note in notes if isinstance(notes, list) else ():
        lines += sentence(sentence_like(str(note)), width)
    return [BLANK, heading("What came of it"), *lines] if lines else []


def _doubted(job: Job, top: str) -> list[Line]:
    doubted = count(job.result.get("doubted"))
    query = "doubt>0.9 sort:doubt" if doubted else None
    told = f"gold that the model doubts: {items(doubted)}"
    stop = Stop(f"{top} doubted", query, told, exact=False)
    return [row(stop, Cell(f" {left('doubted', LABEL)}", ("faint",)), Cell(f"{doubted:,}"))]


TOLD = (
    ("anchors", "items"),
    ("predicted", "predicted"),
    ("silent", "no answer"),
    ("n", "tried on"),
    ("passages", "passages"),
    ("rows", "rows"),
)


def result_facts(result: Mapping[str, object]) -> list[tuple[str, str]]:
    """The counts and shares of a result that can be told in a line each."""
    facts = [
        (words, f"{value:,}")
        for name, words in TOLD
        if isinstance(value := result.get(name), int) and not isinstance(value, bool)
    ]
    for name in ("accuracy_inclusive", "accuracy", "f1"):
        value = fraction(result.get(name))
        if value is not None:
            facts.append((name.replace("_", " "), f"{percent(value)} %"))
    left_out = result.get("left_out")
    if isinstance(left_out, Mapping):
        told = [f"{n:,} {why}" for why, n in left_out.items() if isinstance(n, int) and n]
        facts.append(("left out", ", ".join(told)))
    return facts


# --- the log --------------------------------------------------------------------------------


def _log(job: Job, view: JobView, now: str, width: int, room: int) -> list[Line]:
    lines = [heading("Log", "L shows all of it")]
    if view.log is None:
        return lines + sentence("Reading…", width)
    if not view.log:
        return [heading("Log"), *sentence(no_log(job), width)]
    shown = view.log[-max(LEAST_LOG, room) :]
    first = len(view.log) - len(shown)
    for place, words in enumerate(shown):
        stop = Stop(f"{job_stop(job.id)} log {first + place}", None, words, act=LOG_STOP)
        clock, rest = log_parts(words, now)
        lines.append(
            row(
                stop,
                Cell(f" {clock} ", ("faint",)),
                Cell(left(rest, max(8, width - len(clock) - 3))),
            )
        )
    return lines


def no_log(job: Job) -> str:
    """Why a job has no log."""
    if job.state is JobState.QUEUED:
        return NO_LOG_YET
    return NEVER_BEGUN if job.started_at is None and job.log is None else NO_LOG


def log_parts(words: str, now: str) -> tuple[str, str]:
    """A line of the log as its time here and the rest; "" where it does not begin with one."""
    stamp, _, rest = words.partition(" ")
    try:
        datetime.fromisoformat(stamp)
    except ValueError:
        return "", words
    return at_clock(stamp, now), rest
