"""Lines of the jobs screen: the list of jobs and models, a job in full, and a model in full."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from nfh_db.jobs import Job, JobPoint, JobState
from nfh_db.messages import counted
from nfh_db.models import Model
from nfh_db.query import quote_name
from nfh_models.statistics import share
from nfh_tui.display_figures import percent
from nfh_tui.display_text import visible
from nfh_tui.jobs.descriptions import (
    ACTIVE,
    CHECK,
    FOREIGN,
    PREDICT,
    ROLES,
    SIGNS,
    TRAIN,
    PromotionSummary,
    at_clock,
    count,
    figure_of,
    fraction,
    job_name,
    phase_of,
    read_summary,
    ruling_of,
    run_time,
    share_done,
    state_words,
    text,
)
from nfh_tui.screens.agreement_figures import narrowed
from nfh_tui.services.reports import FigureDifferenceReport, ModelComparisonReport
from nfh_tui.widgets.figure_lines import (
    BLANK,
    FigureCell,
    Line,
    Target,
    curve_lines,
    curve_of,
    figure_row,
    heading,
    items,
    left,
    right,
    row,
    sentence,
)

JOB_STOP, MODEL_STOP, OLDER_STOP = "job", "model", "older"

ROUGH = 30
"""Items; a figure on fewer items is shown with their number because it is unreliable."""

RECENT = 8
"""Number of ended jobs that are listed unless all are requested."""

NO_JOBS = (
    "There are no jobs yet. t starts a training on the present gold, as `nfh-tui retrain` "
    "does. It runs while you work, and after you quit."
)
NO_MODELS = "There is no model yet. t trains one; `nfh-tui models` lists the package's models."


@dataclass(frozen=True, slots=True)
class Listed:
    """The content of the list."""

    jobs: Sequence[Job] = ()
    """Newest first."""
    models: Sequence[Model] = ()
    """By registration."""
    metrics: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    """By model id, for models without metrics in their row."""
    now: str = ""
    """The current time, UTC."""
    every: bool = False
    """Old jobs are listed, too."""
    rounds: Sequence[str] = ()
    """Descriptions of scheduled trainings."""

    @property
    def names(self) -> dict[int, str]:
        return {model.id: model.name for model in self.models}

    def model(self, model_id: int) -> Model | None:
        return next((one for one in self.models if one.id == model_id), None)

    def metrics_of(self, model: Model) -> Mapping[str, object]:
        return self.metrics.get(model.id, model.metrics)


def job_stop(job_id: int) -> str:
    return f"{JOB_STOP} {job_id}"


def model_stop(model_id: int) -> str:
    return f"{MODEL_STOP} {model_id}"


def list_lines(listed: Listed, width: int) -> list[Line]:
    """Return the lines of jobs, then of models."""
    lines = [heading("Jobs")]
    lines += _jobs(listed, width) if listed.jobs else sentence(NO_JOBS, width)
    for words in listed.rounds:
        lines += sentence(words, width)
    lines += [BLANK, heading("Models", "● in use")]
    if not listed.models:
        return lines + sentence(NO_MODELS, width)
    return lines + [_model(listed, model, width) for model in in_order(listed.models)]


def tally(jobs: Sequence[Job]) -> str:
    """Count the running and queued jobs, in words."""
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
    """Return models in use, then the newest ones; models that do not learn are last."""
    return sorted(models, key=lambda one: (one.state != ACTIVE, one.path is None, -one.id))


def _jobs(listed: Listed, width: int) -> list[Line]:
    shown, older = _shown(listed)
    lines = [_job(listed, job, width) for job in shown]
    if older or (listed.every and len(shown) > RECENT):
        words = f"{older:,} older" if older else "fewer"
        told = f"enter shows {'all jobs' if older else 'the newest only'}"
        stop = Target(OLDER_STOP, None, told, act=OLDER_STOP)
        lines.append((FigureCell(f"    {words}", ("faint",), stop),))
    return lines


def _shown(listed: Listed) -> tuple[list[Job], int]:
    """Return the listed jobs, and the number of those left out; active jobs are always
    listed.
    """
    if listed.every:
        return list(listed.jobs), 0
    shown, ended = [], 0
    for job in listed.jobs:
        ended += job.state.ended
        if not job.state.ended or ended <= RECENT:
            shown.append(job)
    return shown, len(listed.jobs) - len(shown)


def _job(listed: Listed, job: Job, width: int) -> Line:
    time = run_time(job, listed.now)
    stands = min(28, max(12, (width - 15) // 2))
    name = max(8, width - 15 - stands)
    words = job_name(listed.names, job)
    said = state_words(job)
    running = job.state is JobState.RUNNING
    told = f"job {job.id}, {words}: {state_words(job) if job.held else job.state}"
    roles = ROLES.get(job.state, ())
    look = ("bold",) if running else ()
    stop = Target(job_stop(job.id), None, told, act=JOB_STOP)
    return (
        FigureCell(f" {SIGNS[job.state]}", roles),
        FigureCell(right(str(job.id), 4), ("faint",)),
        FigureCell(f" {left(words, name - 1)} ", look, stop),
        FigureCell(left(said, stands), roles),
        FigureCell(right(time, 8), ("faint",)),
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
        told += f"; its figure is of only {items(tried)}"
    stop = Target(model_stop(model.id), None, told, act=MODEL_STOP)
    return (
        FigureCell(f" {sign}", ("good",)),
        FigureCell(right(str(model.id), 4), ("faint",)),
        FigureCell(f" {left(model.name, name - 1)} ", ("bold",) if sign == "●" else (), stop),
        FigureCell(left(task, 11), ("faint",)),
        FigureCell(right(percent(value), 5)),
        FigureCell(left(f" {short}", 6), ("faint",)),
        FigureCell(left(model.state, 10)),
    )


def _task(task: str) -> str:
    return "both tasks" if task == "both" else task


LOG_STOP, GO_STOP = "log", "go"

LOSS = "loss"
SCORES = ("score", "accuracy_inclusive", "accuracy", "f1")
"""Metrics on the dev set, by priority; the first one available is plotted."""

LABEL = 13
"""Cells of the labels in lines of facts."""

LEAST_LOG = 6
"""Minimum number of log lines, if there are as many."""

NO_LOG = "It has no log: the command that made it ran it."
NO_LOG_YET = "It has not begun, so its log is empty."
NEVER_BEGUN = "It never began, so it has no log."
AGAIN = {
    JobState.INTERRUPTED: "The next runner continues at its last checkpoint; r starts one.",
    JobState.FAILED: "r puts it into the queue again.",
    JobState.CANCELLED: "r puts it into the queue again.",
}


NOT_FROM_HERE = (
    "You did not queue it from this installation, so no runner starts it. `nfh-tui jobs show "
    "{id}` shows what it would read and write, `nfh-tui jobs run --accept {id}` starts it."
)


@dataclass(frozen=True, slots=True)
class JobView:
    """What is known of a job besides its row."""

    points: Sequence[JobPoint] = ()
    log: Sequence[str] | None = None
    """The last lines; None until they are read."""


def job_lines(job: Job, view: JobView, listed: Listed, width: int, rows: int) -> list[Line]:
    """Return a job in full. rows: of the pane; the log fills it."""
    top = job_stop(job.id)
    lines = [*_job_top(job, listed, width), *_facts(job, listed, width)]
    lines += _curves(job, view, top, width, rows)
    lines += _result(job, listed, top, width)
    return [*lines, BLANK, *_log(job, view, listed.now, width, rows - len(lines) - 2)]


# --- state ----------------------------------------------------------------------------------


def _job_top(job: Job, listed: Listed, width: int) -> list[Line]:
    words = job_name(listed.names, job)
    stop = Target(f"{job_stop(job.id)} top", None, f"job {job.id}, {words}: {job.state}")
    head = FigureCell(f" Job {job.id}: {visible(words)}", ("head",), stop)
    task = FigureCell(f"  {visible(job.task)}" if job.task else "", ("faint",))
    lines: list[Line] = [(head, task)]
    said = f" {SIGNS[job.state]} {FOREIGN if job.held else job.state}"
    if time := run_time(job, listed.now):
        said += f" · {time}" if job.state is JobState.RUNNING else f" · took {time}"
    if job.attempts > 1:
        said += f" · begun {job.attempts} times"
    lines.append((FigureCell(said, ("bold", *ROLES.get(job.state, ()))),))
    if job.state is JobState.RUNNING:
        lines.append(_phase_bar(job, width))
    if job.error and job.state is not JobState.DONE:
        lines += sentence(job.error, width, "bold")
    if job.held:
        lines += sentence(NOT_FROM_HERE.format(id=job.id), width)
    elif job.state in AGAIN:
        lines += sentence(AGAIN[job.state], width)
    return lines


def sentence_like(words: str) -> str:
    """Return a clause as a sentence."""
    shown = words[:1].upper() + words[1:]
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _phase_bar(job: Job, width: int) -> Line:
    """Return the progress of the phase: bar, number, phase."""
    phase = phase_of(job)
    if (share := share_done(job)) is None:
        done = f", {job.done:,} done" if job.done else ""
        return (FigureCell(f" {visible(phase)}{done}"),)
    said = f"{100 * share:3.0f} %  {job.done:,} of {job.total:,}  "
    room = max(6, min(24, width - len(said) - len(phase) - 4))
    full = round(share * room)
    return (
        FigureCell(f" {'█' * full}"),
        FigureCell("░" * (room - full), ("faint",)),
        FigureCell(f" {said}"),
        FigureCell(visible(phase), ("bold",)),
    )


# --- arguments ------------------------------------------------------------------------------


def _facts(job: Job, listed: Listed, width: int) -> list[Line]:
    given = job.arguments
    asked = ", ".join(filter(None, [job.asked_by, at_clock(job.created_at, listed.now)]))
    facts = [("asked for", asked)]
    if job.state is JobState.QUEUED and job.after is not None:
        facts.append(("waits for", f"job {job.after}"))
    gold = ", ".join(filter(None, [text(given.get("query")), _split(text(given.get("split")))]))
    if job.kind in (TRAIN, CHECK):
        facts.append(("labels", gold or "all gold, except a part kept for testing"))
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
    """Return lines with label and value; long values are cut."""
    return [_fact(what, value, width) for what, value in facts if value]


def _fact(what: str, value: str, width: int) -> tuple[FigureCell, FigureCell]:
    label = FigureCell(f" {left(what, LABEL)}", ("faint",))
    return label, FigureCell(left(value, max(8, width - LABEL - 2)))


# --- curves ---------------------------------------------------------------------------------


def _curves(job: Job, view: JobView, top: str, width: int, rows: int) -> list[Line]:
    """Return the curves of the loss and of the main metric on the dev set."""
    running = job.state is JobState.RUNNING
    whole = float(job.total or 0) if running else 0.0
    height = 6 if rows >= 34 else 4
    lines: list[Line] = []
    losses = curve_of("loss", series(view.points, LOSS), whole=whole, lower=True)
    if losses.points:
        lines += [BLANK, *curve_lines(losses, f"{top} loss", width, height)]
    for name in SCORES:
        if found := judgements(view.points, name):
            words = f"{name.replace('_', ' ')} on dev"
            curve = curve_of(words, found, whole=whole or _last(view.points), percent=True)
            lines += [BLANK, *curve_lines(curve, f"{top} dev", width, height)]
            break
    return lines


def series(points: Sequence[JobPoint], name: str) -> list[tuple[float, float]]:
    """Return the values of a metric over the steps of a job."""
    found = ((point.done, fraction(point.metrics.get(name))) for point in points)
    return [(float(done), value) for done, value in found if value is not None]


def judgements(points: Sequence[JobPoint], name: str) -> list[tuple[float, float]]:
    """Return the evaluations of a metric, as (step, value).

    Points with a loss repeat the last value until the next evaluation, so equal values count
    only at points without a loss.
    """
    found: list[tuple[float, float]] = []
    for point in points:
        if (value := fraction(point.metrics.get(name))) is None:
            continue
        if not found or value != found[-1][1] or LOSS not in point.metrics:
            found.append((float(point.done), value))
    return found


def _last(points: Sequence[JobPoint]) -> float:
    return float(points[-1].done) if points else 0.0


# --- result ---------------------------------------------------------------------------------


def _result(job: Job, listed: Listed, top: str, width: int) -> list[Line]:
    if job.state is not JobState.DONE:
        return []
    lines: list[Line] = []
    model = listed.model(job.model_id) if job.model_id is not None else None
    if model is not None:
        told, act = f"enter goes to {model.name}", f"{GO_STOP} {model_stop(model.id)}"
        label, value = _fact("made", f"{model.name}, {model.state}", width)
        stop = Target(f"{top} model", None, told, act=act)
        lines.append(row(stop, label, value._replace(roles=("bold",))))
    ruling = read_summary(job.result.get("verdict"))
    if ruling.word:
        lines += sentence(f"{ruling.word}: {ruling.reason}", width, "bold")
    if job.kind == CHECK:
        lines += _doubted(job, top, width)
    facts = result_facts(job.result)
    lines += fact_lines(facts, width)
    notes = job.result.get("notes")
    for note in notes if isinstance(notes, list) else ():
        lines += sentence(sentence_like(str(note)), width)
    return [BLANK, heading("Result"), *lines] if lines else []


def _doubted(job: Job, top: str, width: int) -> list[Line]:
    doubted = count(job.result.get("doubted"))
    query = "doubt>0.9 sort:doubt" if doubted else None
    told = f"unlikely gold: {items(doubted)}"
    stop = Target(f"{top} doubted", query, told, exact=False)
    return [row(stop, *_fact("doubted", f"{doubted:,}", width))]


TOLD = (
    ("anchors", "items"),
    ("predicted", "predicted"),
    ("silent", "no answer"),
    ("n", "tried on"),
    ("passages", "passages"),
    ("rows", "rows"),
)


def result_facts(result: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the counts and shares of a result that fit into a line each."""
    facts = [
        (words, f"{value:,}")
        for name, words in TOLD
        if isinstance(value := result.get(name), int) and not isinstance(value, bool)
    ]
    facts += [
        (name.replace("_", " "), f"{percent(value)} %")
        for name in ("accuracy_inclusive", "accuracy", "f1")
        if (value := fraction(result.get(name))) is not None
    ]
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
    for place, words in enumerate(shown, len(view.log) - len(shown)):
        stop = Target(f"{job_stop(job.id)} log {place}", None, words, act=LOG_STOP)
        clock, rest = log_parts(words, now)
        said = left(rest, max(8, width - len(clock) - 3))
        lines.append(figure_row(stop, f"{clock} ", said, roles=("faint",)))
    return lines


def no_log(job: Job) -> str:
    """Return why a job has no log."""
    if job.state is JobState.QUEUED:
        return NO_LOG_YET
    return NEVER_BEGUN if job.started_at is None and job.log is None else NO_LOG


def log_parts(words: str, now: str) -> tuple[str, str]:
    """Split a log line into its time, in local form, and the rest; "" if it has no time."""
    stamp, _, rest = words.partition(" ")
    try:
        datetime.fromisoformat(stamp)
    except ValueError:
        return "", words
    return at_clock(stamp, now), rest


CARD_STOP, COMPARE_STOP = "card", "compare"

ALL_FIGURES = (
    ("accuracy_inclusive", "inclusive", "a word of the same form as a gold head counts, too"),
    ("accuracy", "accuracy", "the class or a gold mention is right"),
    ("accuracy_nearest", "nearest", "only the nearest gold mention is right"),
    ("reference", "of words", "right where gold is a word of the passage"),
    ("implicit", "of classes", "right where gold is a class"),
    ("binary", "which of both", "whether it is a word of the passage or a class"),
    ("f1", "F1, is it one", "identification: whether a number lacks its noun"),
    ("precision", "precision", "identification: share of found NFHs that are NFHs"),
    ("recall", "recall", "identification: share of NFHs that were found"),
)
"""Name, short title, and description."""

FIGURE = 20
"""Cells of a metric with its name."""

SIDES = ("both", "only", "other", "neither")
STATES = {
    ACTIVE: "in use",
    "candidate": "a candidate: not in use",
    "retired": "retired: it was in use before",
    "rejected": "rejected: worse than the one in use",
}
VIEW = "answer in view"
"""A reason with these words already mentions gold that was given with an answer in view."""

NO_OTHER = "No other model has answered any item: p on a model predicts."
NOTHING_SAID = "{name} has answered no item yet: p predicts, then compare."
NO_INTERVAL = "no interval"
NOTHING_COMMON = "No item with gold was answered by both."


@dataclass(frozen=True, slots=True)
class ModelComparisonRow:
    """A comparison of a model with another one, item by item."""

    name: str = ""
    """Name of the other model; empty if there is none."""
    base: str = ""
    """The query of the items."""
    counts: Mapping[str, int] | None = None
    """Number of items by SIDES; None until they are counted."""
    why: str = ""
    """Why there are no counts."""
    report: ModelComparisonReport | None = None
    """The result of `nfh-tui models compare`; None until it is known."""
    untold: str = ""
    """Why there is no result."""


def model_lines(
    model: Model, beside: ModelComparisonRow, listed: Listed, width: int
) -> list[Line]:
    """Return a model in full."""
    top = model_stop(model.id)
    lines = [*_model_top(model, listed, top, width), *_verdict(ruling_of(model), width)]
    lines += [BLANK, *_figures(listed.metrics_of(model), top, width)]
    if model.task != "identification":
        lines += [BLANK, *beside_lines(model.name, beside, top, width)]
    return lines


# --- model ----------------------------------------------------------------------------------


def _model_top(model: Model, listed: Listed, top: str, width: int) -> list[Line]:
    sign = "● " if model.state == ACTIVE else ""
    stop = Target(f"{top} top", None, f"enter shows the card of {model.name}", act=CARD_STOP)
    head = FigureCell(f" {visible(model.name)}", ("head",), stop)
    task = "both tasks" if model.task == "both" else model.task
    lines: list[Line] = [
        (head, FigureCell(f"  {visible(model.recipe)} for {visible(task)}", ("faint",))),
        (FigureCell(f" {sign}{_state(model, listed)}", ("bold",)),),
    ]
    metrics = listed.metrics_of(model)
    by = next((f", job {job.id}" for job in listed.jobs if job.model_id == model.id), "")
    learnt, seen = count(metrics.get("examples")), count(metrics.get("texts_seen"))
    facts = [
        ("made", f"{at_clock(model.created_at, listed.now)}{by}"),
        ("learnt from", counted(learnt, "example") if learnt else ""),
        ("has seen", counted(seen, "text") if seen else ""),
        ("started from", text(model.config.get("base"))),
        ("version", "" if model.path is not None else model.version),
    ]
    return lines + fact_lines(facts, width)


def _state(model: Model, listed: Listed) -> str:
    """Return the state of a model; for one replaced in one of its two tasks, the task in
    use.
    """
    taken = {one.task for one in listed.models if one.state == ACTIVE and one.id != model.id}
    left = [task for task in ("identification", "resolution") if task not in taken]
    words = STATES.get(model.state, model.state)
    if model.state == ACTIVE and model.task == "both" and len(left) == 1:
        return f"{words} for {left[0]} alone"
    return words


def _verdict(ruling: PromotionSummary, width: int) -> list[Line]:
    if not ruling.word:
        return []
    lines = [BLANK, heading("Verdict", ruling.word)]
    lines += sentence(ruling.reason or ruling.word, width, "bold")
    if ruling.saw and VIEW not in ruling.reason:
        lines += sentence(
            f"Of these items, {ruling.saw:,} had a model's answer in view when gold was made.",
            width,
        )
    return lines


def _figures(metrics: Mapping[str, object], top: str, width: int) -> list[Line]:
    """Return the metrics in columns; each of them is a stop."""
    tried = count(metrics.get("dev_examples"))
    lines = [
        heading("Figures", f"on {items(tried)} that it did not learn from" if tried else "")
    ]
    cells = []
    for name, short, told in ALL_FIGURES:
        value = fraction(metrics.get(name))
        if value is not None and -1 <= value <= 1:
            stop = Target(f"{top} figure {name}", None, f"{percent(value)} %: {told}")
            words = f" {left(short, FIGURE - 7)}{right(percent(value), 5)} "
            cells.append(FigureCell(words, (), stop))
    if not cells:
        return [
            heading("Figures"),
            *sentence("It was not tested on items that it did not learn from.", width),
        ]
    across = max(1, width // FIGURE)
    return lines + [tuple(cells[at : at + across]) for at in range(0, len(cells), across)]


def _value_bar(value: float, room: int) -> str:
    return f"  {'█' * round(max(0.0, value) * min(20, room))}" if room > 4 else ""


# --- comparison -----------------------------------------------------------------------------


def beside_query(one: str, other: str, side: str, base: str) -> str:
    """Return the query of items that both, only one, or neither of two models answers
    correctly.
    """
    own, others = {
        "both": ("hit", "hit"),
        "only": ("hit", "miss"),
        "other": ("miss", "hit"),
        "neither": ("miss", "miss"),
    }[side]
    return narrowed(base, f"{own}:{quote_name(one, ())} {others}:{quote_name(other, ())}")


def beside_lines(name: str, beside: ModelComparisonRow, top: str, width: int) -> list[Line]:
    """Return the four groups of items, which enter opens, and the difference."""
    if not beside.name:
        return [heading("Item by item"), *sentence(beside.why or NO_OTHER, width)]
    faint = f"within {beside.base}" if beside.base else "c compares with another"
    title = FigureCell(f"Beside {visible(beside.name)}", ("head",))
    lines: list[Line] = [(title, FigureCell(f"  {visible(faint)}", ("faint",)))]
    if beside.counts is None:
        return lines + sentence(beside.why or "Counting…", width)
    if not (whole := sum(beside.counts.values())):
        return lines + sentence(beside.why or NOTHING_COMMON, width)
    words = {
        "both": "both right",
        "only": f"only {name}",
        "other": f"only {beside.name}",
        "neither": "neither",
    }
    label = max(14, min(26, max(map(len, words.values()))))
    for side in SIDES:
        n = beside.counts.get(side, 0)
        query = beside_query(name, beside.name, side, beside.base) if n else None
        stop = Target(f"{top} {COMPARE_STOP} {side}", query, f"{words[side]}: {items(n)}")
        part = share(n, whole) or 0.0
        figures = right(f"{n:,}", 7), right(percent(part), 7)
        drawn = FigureCell(_value_bar(part, width - label - 20), ("faint",))
        lines.append((*figure_row(stop, left(words[side], label), *figures), drawn))
    return lines + _difference(name, beside, whole, top, width)


def _difference(
    name: str, beside: ModelComparisonRow, whole: int, top: str, width: int
) -> list[Line]:
    counts = beside.counts or {}
    gap = (counts.get("only", 0) - counts.get("other", 0)) / whole
    stop = Target(
        f"{top} difference",
        None,
        f"{name} has {abs(100 * gap):.1f} points {'more' if gap >= 0 else 'less'} than "
        f"{beside.name}, of {items(whole)} with gold",
    )
    report = beside.report
    lines = [_gap_row(stop, "difference", gap, report, beside.untold)]
    unseen = None if report is None else report.unseen
    if unseen is not None and unseen.n and (main := unseen.figures[0]).difference is not None:
        told = f"the same, on the {items(unseen.n)} that neither has seen"
        stop = Target(f"{top} unseen", None, told)
        lines.append(_gap_row(stop, "not seen", main.difference, main))
    lines += sentence(f"of {items(whole)} with gold, in points", width)
    if report is None:
        return lines
    for n, who in zip(report.learnt, (name, beside.name), strict=True):
        if n:
            passages = "passage" if n == 1 else "passages"
            words = (
                f"{who} has seen the {passages} of {n:,} of them, and may do worse on others."
            )
            lines += sentence(words, width)
    for n, who in zip(report.missing, (name, beside.name), strict=True):
        if n:
            words = f"{who} has not answered {items(n)} with gold: p on it predicts."
            lines += sentence(words, width)
    return lines


def _gap_row(
    stop: Target,
    words: str,
    gap: float,
    found: ModelComparisonReport | FigureDifferenceReport | None,
    untold: str = "",
) -> Line:
    """Return a difference and its interval, as far as they are known."""
    label = FigureCell(f" {left(words, LABEL)}{right(_signed(gap), 7)}", ("bold",), stop)
    if found is None or found.low is None or found.high is None:
        why = untold if found is None else NO_INTERVAL
        return (label, FigureCell(f"  {why}", ("faint",))) if why else (label,)
    sure = found.low > 0 or found.high < 0
    interval = f"  [{_signed(found.low)}, {_signed(found.high)}]"
    chance = "" if sure else "  may be chance"
    return (label, FigureCell(interval, ("faint",)), FigureCell(chance, ("faint",)))


def _signed(value: float) -> str:
    """Return a difference of fractions in percentage points with its sign."""
    return f"{100 * value:+.1f}".replace("-", "−")


def others_of(model: Model, known: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the models with predictions that can be compared with this one; the active one
    first.
    """
    return [one for one in known if one[0] != model.id]


def why_missing(model: Model) -> str:
    """Return why a model without predictions cannot be compared item by item."""
    if model.task == "identification":
        return "says only whether a number is an NFH"
    return "has answered no item yet: p on it predicts"
