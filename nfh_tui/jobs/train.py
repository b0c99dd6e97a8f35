"""The job "train": a model out of the gold of the database."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nfh_db.jobs import NewJob
from nfh_tui.jobs.kinds import KINDS, TRAIN

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter


def asked(
    task: str,
    recipe: str,
    *,
    words: tuple[str, ...] = (),
    query: str = "",
    split: str | None = None,
    parser: str | None = None,
    promote: bool = True,
    scheduler: str | None = None,
    asked_by: str = "",
) -> NewJob:
    """A training to be queued. words: settings, "key=value"; the rest as `nfh-tui retrain`.

    promote: whether a model that is found better than the active one takes over. scheduler:
    the address of a Dask cluster that does the work.
    """
    arguments = {
        "recipe": recipe,
        "words": list(words),
        "query": query,
        "split": split,
        "parser": parser,
        "promote": promote,
        "scheduler": scheduler,
    }
    return NewJob(TRAIN, KINDS[TRAIN].version, task, arguments, asked_by)


def check(store: "Store", new: NewJob) -> None:
    """Raise ModelsError for a training that could not begin: a wrong setting, say.

    Nothing is read but the settings and the model that it is to start from.
    """
    from nfh_tui.jobs.training_order import check_order

    check_order(store, new.task, new.arguments)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object] | None:
    """Train, judge, register; the job is done together with the model's registration."""
    from nfh_tui.jobs.training_run import train

    train(store, job, report)
    return None
