"""Jobs as `nfh-tui jobs` shows them."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.clock import now
from nfh_db.formats.wording import visible
from nfh_db.jobs import JobState
from nfh_tui.cli.following import how_far
from nfh_tui.cli.queueing import command
from nfh_tui.jobs.arguments import READS, WRITES, job_paths
from nfh_tui.sheets.job_words import job_name, phase_of, ruled, took

if TYPE_CHECKING:
    from nfh_db.jobs import Job, JobPoint

WIDTH = 80
LABEL = 10
MINUTES = 16
"""Characters of a time as far as its minutes."""

NAME_WIDTH, STATE_WIDTH, OUTCOME_WIDTH, ASKED_WIDTH = 21, 11, 28, 11

FOREIGN = "foreign"
NOT_FROM_HERE = (
    "your installation did not queue it, or what it asks for was changed since, so no runner "
    "starts it."
)

CALLED = {"words": "settings", "report": "page", "replace_gold": "replaces", "sets": "settings"}
"""Arguments whose names would say little."""

SHOWN = 2_000

Names = Mapping[int, str]
"""Models' names by their numbers."""


# --- JSON -----------------------------------------------------------------------------------


def summary_json(job: "Job", names: Names) -> dict[str, object]:
    """A job in short. model: the name of what it made. progress: how far it is, or was."""
    return {
        "id": job.id,
        "kind": job.kind,
        "task": job.task or None,
        "recipe": job.arguments.get("recipe"),
        "state": job.state.value,
        "foreign": job.foreign,
        "pid": job.pid,
        "progress": {
            "phase": job.phase,
            "done": job.done,
            "total": job.total,
            "metrics": dict(job.metrics),
        },
        "model": names.get(job.model_id or 0),
        "model_id": job.model_id,
        "error": job.error,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
    }


def full_json(job: "Job", names: Names, points: Sequence["JobPoint"]) -> dict[str, object]:
    """A job in full. points: of its curves."""
    return summary_json(job, names) | {
        "version": job.version,
        "arguments": dict(job.arguments),
        "asked_by": job.asked_by,
        "after": job.after,
        "attempts": job.attempts,
        "heartbeat": job.heartbeat,
        "log": job.log,
        "snapshot": job.snapshot,
        "result": dict(job.result),
        "reads": [path for does, path in job_paths(job) if does == READS],
        "writes": [path for does, path in job_paths(job) if does == WRITES],
        "points": [asdict(point) for point in points],
    }


# --- lines ----------------------------------------------------------------------------------


def listed(found: Sequence["Job"], names: Names, db: Path | None) -> Iterator[str]:
    """A line a job, under a line that says what stands in it. db: as the call named it."""
    if not found:
        yield f"no jobs yet: {command('retrain TASK', db)} makes one"
        return
    yield (
        f"{'id':>4}  {'job':{NAME_WIDTH}} {'state':{STATE_WIDTH}} "
        f"{'how far':{OUTCOME_WIDTH}} {'asked (UTC)':>{ASKED_WIDTH}}"
    )
    for job in found:
        yield (
            f"{job.id:>4}  {_cut(job_name(names, job), NAME_WIDTH)} "
            f"{_state(job):{STATE_WIDTH}} {_cut(outcome(job, names), OUTCOME_WIDTH)} "
            f"{_cut(_minutes(job.created_at)[5:], ASKED_WIDTH)}"
        )


def _state(job: "Job") -> str:
    """Where a job stands; a foreign one that would wait for a runner waits for nobody."""
    return FOREIGN if job.held else job.state.value


def left_over(found: Sequence["Job"], db: Path | None) -> Iterator[str]:
    """What takes up the jobs that were interrupted, and the foreign ones, a line for all."""
    if held := [job.id for job in found if job.held]:
        number = held[-1]
        yield (
            f"foreign: not queued from here, so not run; {command(f'jobs show {number}', db)} "
            f"says what job {number} would do"
        )
    left = [job.id for job in found if job.state is JobState.INTERRUPTED and not job.held]
    if left:
        number = left[-1]
        yield f"interrupted: {command(f'jobs wait {number}', db)} takes job {number} up again"


def outcome(job: "Job", names: Names) -> str:
    """How far a job is, or what came of it, in a few words."""
    if job.state is JobState.RUNNING:
        share = f"{100 * min(job.done / job.total, 1):.0f} % " if job.total else ""
        return share + phase_of(job)
    if job.state is not JobState.DONE:
        return job.error or ""
    if job.model_id is not None:
        word = ruled(job.result.get("verdict")).word
        name = names.get(job.model_id, f"model {job.model_id}")
        return f"{name}, {word}" if word else name
    return result_words(job)


def result_words(job: "Job") -> str:
    """The result of a job that makes no model, in a few words."""
    result = job.result
    for key, what in (("predicted", "predicted"), ("doubted", "doubted"), ("n", "examples")):
        value = result.get(key)
        if isinstance(value, int):
            return f"{value:,} {what}"
    files = result.get("files")
    if isinstance(files, list):
        return f"{len(files)} {'file' if len(files) == 1 else 'files'}"
    return ""


def full_lines(job: "Job", names: Names, db: Path | None) -> Iterator[str]:
    """A job in full, for a person. db: as the call named it."""
    yield f"job {job.id}: {visible(job_name(names, job), 60)}, {_state(job)}"
    if job.held:
        accept = command(f"jobs run --accept {job.id}", db)
        yield from _labelled("foreign", f"{NOT_FROM_HERE} {accept} starts it.")
        for label, path in job_paths(job):
            yield from _labelled(label, path)
    yield from _times(job)
    if job.state is JobState.RUNNING:
        yield from _labelled("process", f"{job.pid}")
        yield from _labelled("how far", how_far(job))
    yield from _labelled("task", job.task)
    for key, value in job.arguments.items():
        if key != "task":
            yield from _labelled(CALLED.get(key, key.replace("_", " ")), _said(value))
    yield from _labelled("waits for", "" if job.after is None else f"job {job.after}")
    yield from _labelled("log", job.log or "")
    yield from _labelled("error", job.error or "")
    if job.state is JobState.DONE:
        yield from _labelled("result", outcome(job, names))
    yield from _labelled("verdict", ruled(job.result.get("verdict")).reason)


def _times(job: "Job") -> Iterator[str]:
    by = f" by {visible(job.asked_by)}" if job.asked_by else ""
    yield from _labelled("asked", f"{_minutes(job.created_at)} UTC{by}")
    if job.started_at is None:
        return
    times = "once" if job.attempts <= 1 else f"{job.attempts} times"
    ran = took(job, now())
    took_words = f"; {ran} (m:ss){'' if job.state.ended else ' so far'}" if ran else ""
    yield from _labelled("begun", f"{_minutes(job.started_at)} UTC, {times}{took_words}")


def _labelled(label: str, text: str) -> Iterator[str]:
    """A line, or several, no wider than WIDTH but for words that are; none for no text."""
    yield from textwrap.wrap(
        visible(text, SHOWN),
        WIDTH,
        initial_indent=f"  {label:{LABEL}}",
        subsequent_indent=" " * (LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _said(value: object) -> str:
    """An argument as a person reads it; "" for one that says nothing."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={said}" for key, one in value.items() if (said := _said(one)))
    if value is None or value is False:
        return ""
    return "yes" if value is True else str(value)


def _minutes(at: str) -> str:
    return at[:MINUTES].replace("T", " ")


def _cut(text: str, width: int) -> str:
    """Exactly so many characters."""
    shown = visible(text, width)
    return f"{shown if len(shown) <= width else shown[: width - 1] + '…':{width}}"
