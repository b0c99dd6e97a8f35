"""What `nfh-tui retrain --wait` says of a model: out of its row and that of its job."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_tui.cli.queueing import command
from nfh_tui.model_folders import folder_of
from nfh_tui.sheets.job_words import count, fraction, ruled

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.models import Model

FEW = 300
"""Labels under which figures are rough enough to be said so: of 100 fused heads, the interval
of a share of 95 % is 4 points to each side."""

FIGURES = ("precision", "recall", "f1", "accuracy")

WIDTH = 80

VERDICTS = {
    "promoted": "It is better, and has taken over",
    "candidate": "It is kept as a candidate",
    "rejected": "It is rejected",
    "first": "It is the first model of its task, and in use",
}
"""What is said before the reason of a verdict."""


def retrained_json(job: "Job", model: "Model", database: Path) -> dict[str, object]:
    """The report of a training that is done; id is the job's."""
    return {
        "id": job.id,
        "task": model.task,
        "recipe": model.recipe,
        "state": job.state.value,
        "model": model.name,
        "model_id": model.id,
        "model_state": model.state,
        "verdict": job.result.get("verdict"),
        "folder": None if model.path is None else str(folder_of(database, model.path)),
        "version": model.version,
        "parser": model.config.get("parser"),
        "metrics": dict(model.metrics),
        "snapshot": model.snapshot,
        "notes": notes_of(job),
        "seconds": seconds_of(job),
    }


def retrained_lines(
    job: "Job", model: "Model", database: Path, db: Path | None
) -> Iterator[str]:
    """The same for a person. db: as the call named the database."""
    if model.task == "identification":
        yield from _identification(job, model)
    else:
        from nfh_tui.cli.retrain_resolution_text import resolution_lines

        yield from resolution_lines(job, model)
    yield ""
    yield from verdict_lines(job.result.get("verdict"))
    yield from what_now(job, model, database, db)


def _identification(job: "Job", model: "Model") -> Iterator[str]:
    metrics = model.metrics
    examples = count(metrics.get("examples"))
    passages = count(metrics.get("passages"))
    yield (
        f"{model.name}: learnt from {counted(examples, 'number')} in "
        f"{counted(passages, 'passage')}, {count(metrics.get('nfh')):,} of them fused heads"
    )
    yield from left_out_of(metrics)
    yield from note_lines(job)
    yield ""
    folds = count(metrics.get("folds"))
    yield f"In {folds} folds, each passage by a model that has not seen it:"
    yield f"  {'':10} {'all':>6}   {'mean of folds':>13}"
    per_fold = metrics.get("per_fold")
    spreads = per_fold if isinstance(per_fold, dict) else {}
    for name in FIGURES:
        own = spreads.get(name)
        spread = own if isinstance(own, dict) else {}
        yield (
            f"  {name:10} {percent(fraction(metrics.get(name))):>6}   "
            f"{percent(fraction(spread.get('mean'))):>6} ± "
            f"{percent(fraction(spread.get('deviation')))}"
        )
    if examples < FEW:
        yield f"  With {counted(examples, 'label')} only, these figures are rough."
    if metrics.get("converged") is False:
        yield "  The fitting was broken off before it came to its end: a smaller c gets there."


def verdict_lines(kept: object) -> Iterator[str]:
    """What became of a model beside the one that was in use, and why."""
    ruling = ruled(kept)
    if not ruling.word:
        return
    said = VERDICTS.get(ruling.word, visible(ruling.word, 40))
    yield from wrapped(f"{said}: {ruling.reason}" if ruling.reason else f"{said}.")


def what_now(job: "Job", model: "Model", database: Path, db: Path | None) -> Iterator[str]:
    """Where a new model is, whether it is used, and how to use it."""
    if model.path is not None:
        folder = visible(str(folder_of(database, model.path)), 200)
        yield f"Saved in {folder}; {seconds_of(job):.1f} s in all."
    if model.state == "active":
        yield f"It is the active model of {in_words(model.task)}."
        return
    activate = command(f"models activate {model.name}", db)
    if model.state == "candidate" and not ruled(job.result.get("verdict")).word:
        yield f"It is a candidate. To use it: {activate}"
    else:
        yield f"To use it all the same: {activate}"


def left_out_of(metrics: Mapping[str, object]) -> Iterator[str]:
    """What was not learnt from, as a model's figures have it."""
    kept = metrics.get("left_out")
    if isinstance(kept, dict):
        yield from left_out_lines({str(why): count(n) for why, n in kept.items()})


def left_out_lines(left_out: Mapping[str, int]) -> Iterator[str]:
    """What was not learnt from, by reason."""
    for reason, number in sorted(left_out.items()):
        yield f"  left out: {counted(number, 'anchor')} ({visible(reason)})"


def notes_of(job: "Job") -> list[str]:
    """Sentences for a person that a job left."""
    notes = job.result.get("notes")
    return [str(one) for one in notes] if isinstance(notes, list) else []


def note_lines(job: "Job") -> Iterator[str]:
    """The same, indented."""
    for note in notes_of(job):
        yield from wrapped(note, "  ")


def seconds_of(job: "Job") -> float:
    """How long a job took, as it says itself."""
    return round(fraction(job.result.get("seconds")) or 0.0, 3)


def wrapped(text: str, indent: str = "") -> list[str]:
    """A sentence as lines of WIDTH at most, but for words that are longer."""
    return textwrap.wrap(
        visible(text, 2_000),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def percent(value: float | None) -> str:
    """A fraction as a person reads it, in hundredths."""
    return "none" if value is None else f"{100 * value:.1f}"


def in_words(task: str) -> str:
    """A task as a sentence names it."""
    return "both tasks" if task == "both" else task
