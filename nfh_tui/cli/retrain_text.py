"""What `nfh-tui retrain` says of a model it made."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_models.identification.svm_card import FIGURES

if TYPE_CHECKING:
    from pathlib import Path

    from nfh_db.models import Model
    from nfh_tui.training import Retrained

FEW = 300
"""Labels under which figures are rough enough to be said so: of 100 fused heads, the interval
of a share of 95 % is 4 points to each side."""


def retrained_json(done: "Retrained") -> dict[str, object]:
    """The report of a job that is done; id is the job's."""
    model = done.model
    return {
        "id": done.job_id,
        "task": model.task,
        "recipe": model.recipe,
        "state": "done",
        "model": model.name,
        "model_id": model.id,
        "model_state": model.state,
        "folder": str(done.folder),
        "version": model.version,
        "parser": done.trained.svm.parser,
        "metrics": dict(model.metrics),
        "snapshot": model.snapshot,
        "seconds": round(done.seconds, 3),
    }


def retrained_lines(done: "Retrained") -> Iterator[str]:
    """The same for a person."""
    model, crossed = done.model, done.trained.crossed
    counts = crossed.counts
    yield (
        f"{model.name}: learnt from {counted(counts.n, 'number')} in "
        f"{counted(done.trained.groups, 'passage')}, {counts.nfh:,} of them fused heads"
    )
    yield from left_out_lines(done.material.left_out)
    yield ""
    yield f"In {len(crossed.folds)} folds, each passage by a model that has not seen it:"
    yield f"  {'':10} {'all':>6}   {'mean of folds':>13}"
    for name, figure in FIGURES.items():
        spread = crossed.spread(figure)
        yield (
            f"  {name:10} {percent(figure(counts)):>6}   {percent(spread.mean):>6} ± "
            f"{percent(spread.deviation)}"
        )
    if counts.n < FEW:
        yield f"  With {counted(counts.n, 'label')} only, these figures are rough."
    if not done.trained.svm.converged:
        yield "  The fitting was broken off before it came to its end: a smaller c gets there."
    yield ""
    yield from what_now(done.model, done.folder, done.seconds)


def left_out_lines(left_out: Mapping[str, int]) -> Iterator[str]:
    """What was not learnt from, by reason."""
    for reason, number in sorted(left_out.items()):
        yield f"  left out: {counted(number, 'anchor')} ({visible(reason)})"


def percent(value: float | None) -> str:
    """A fraction as a person reads it, in hundredths."""
    return "none" if value is None else f"{100 * value:.1f}"


def what_now(model: "Model", folder: "Path", seconds: float) -> Iterator[str]:
    """Where a new model is, and whether it is used."""
    yield f"Saved in {visible(str(folder), 200)}; {seconds:.1f} s in all."
    if model.state == "active":
        yield f"It is the active model of {in_words(model.task)}."
        return
    yield f"It is a candidate. To use it: nfh-tui models activate {model.name}"


def in_words(task: str) -> str:
    """A task as a sentence names it."""
    return "both tasks" if task == "both" else task
