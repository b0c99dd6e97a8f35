"""What `nfh-tui retrain --wait` says of a model of resolution, or of both tasks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_tui.cli.models_figures import figure_lines, number
from nfh_tui.cli.retrain_text import FEW, left_out_of, note_lines
from nfh_tui.sheets.job_words import count

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.models import Model


def resolution_lines(job: "Job", model: "Model") -> Iterator[str]:
    """What it learnt from, and how good it is."""
    metrics = model.metrics
    examples = count(metrics.get("examples"))
    yield (
        f"{model.name}: learnt from {counted(examples, 'example')} in "
        f"{counted(count(metrics.get('passages')), 'passage')}"
    )
    numbers = count(metrics.get("numbers"))
    if numbers:
        yield (
            f"  and, for identification, from {counted(numbers, 'number')}, "
            f"{count(metrics.get('numbers_nfh')):,} of them fused heads"
        )
    yield from left_out_of(metrics)
    yield from note_lines(job)
    yield ""
    yield from figure_lines(metrics)
    judged = number(metrics, "dev_examples") or examples
    if judged < FEW:
        yield f"  Of {counted(int(judged), 'example')} only, these figures are rough."
