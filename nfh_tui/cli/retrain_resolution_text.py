"""What `nfh-tui retrain` says of a model of resolution, or of both tasks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_tui.cli.models_figures import figure_lines, number
from nfh_tui.cli.retrain_text import FEW, left_out_lines, what_now

if TYPE_CHECKING:
    from nfh_tui.training_resolution import Retrained


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
        "parser": model.config.get("parser"),
        "metrics": dict(model.metrics),
        "snapshot": model.snapshot,
        "notes": list(done.notes),
        "seconds": round(done.seconds, 3),
    }


def retrained_lines(done: "Retrained") -> Iterator[str]:
    """The same for a person."""
    model, metrics = done.model, done.model.metrics
    lessons = done.material.lessons
    yield (
        f"{model.name}: learnt from {counted(len(lessons.train), 'example')} in "
        f"{counted(done.material.passages, 'passage')}"
    )
    if lessons.numbers:
        nfh = sum(one.nfh for one in lessons.numbers)
        yield (
            f"  and, for identification, from {counted(len(lessons.numbers), 'number')}, "
            f"{nfh:,} of them fused heads"
        )
    left_out = metrics.get("left_out")
    if isinstance(left_out, dict):
        yield from left_out_lines({str(why): int(n) for why, n in left_out.items()})
    for note in done.notes:
        yield f"  {visible(note, 500)}"
    yield ""
    yield from figure_lines(metrics)
    judged = number(metrics, "dev_examples") or len(lessons.train)
    if judged < FEW:
        yield f"  Of {counted(int(judged), 'example')} only, these figures are rough."
    yield ""
    yield from what_now(model, done.folder, done.seconds)
