"""The report of a job that is done, whatever its kind, out of its row."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_tui.cli.common import Failure
from nfh_tui.cli.jobs_text import summary_json
from nfh_tui.jobs.kinds import CHECK, EVALUATE, IMPORT, PREDICT

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.models import Model
    from nfh_db.store import Store

Lines = Callable[["Job", Path | None], Iterator[str]]


def done_json(store: "Store", job: "Job") -> dict[str, object]:
    """Of a training the report of `retrain`; of others the row with its result."""
    if job.model_id is not None:
        from nfh_tui.cli.retrain_text import retrained_json

        return retrained_json(job, model_of(store, job), store.path)
    return summary_json(job, {}) | {"result": dict(job.result)}


def done_lines(store: "Store", job: "Job", db: Path | None) -> Iterator[str]:
    """The same for a person. db: as the call named it."""
    if job.model_id is not None:
        from nfh_tui.cli.retrain_text import retrained_lines

        yield from retrained_lines(job, model_of(store, job), store.path, db)
        return
    lines = OF_KIND.get(job.kind)
    if lines is None:
        yield f"job {job.id} is done"
    else:
        yield from lines(job, db)


def model_of(store: "Store", job: "Job") -> "Model":
    """The model that a job made. Raises Failure for one that is gone."""
    found = next((model for model in store.models() if model.id == job.model_id), None)
    if found is None:
        raise Failure(f"the model that job {job.id} made is no longer in the database")
    return found


def _predicted(job: "Job", db: Path | None) -> Iterator[str]:
    from nfh_tui.cli.predict_words import predicted_lines

    yield from predicted_lines(job.result, db)


def _imported(job: "Job", db: Path | None) -> Iterator[str]:  # noqa: ARG001 - as the others
    from nfh_tui.cli.files_text import imported_lines
    from nfh_tui.cli.retrain_text import wrapped

    files = job.result.get("files")
    for one in files if isinstance(files, list) else []:
        if isinstance(one, Mapping):
            for line in imported_lines(one):
                yield from wrapped(line)


def _evaluated(job: "Job", db: Path | None) -> Iterator[str]:
    from nfh_tui.cli.evaluate_job import evaluated_lines

    yield from evaluated_lines(job, db)


def _checked(job: "Job", db: Path | None) -> Iterator[str]:
    from nfh_tui.cli.doubts_text import checked_lines

    yield from checked_lines(job.result, db)


OF_KIND: dict[str, Lines] = {
    PREDICT: _predicted,
    IMPORT: _imported,
    EVALUATE: _evaluated,
    CHECK: _checked,
}
