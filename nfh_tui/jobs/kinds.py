"""The kinds of jobs that this program knows, and where the work of each is.

A kind's module has `run(store, job, report)`. It gives what is to be kept as the job's result,
a JSON object, or None where it has said itself how the job ended. It raises ModelsError,
StoreError or OSError where the work cannot be done: the job then is failed, with the sentence.
It is run again where it was interrupted, with `job.attempts` counted up: what it can go on
from lies in the job's own folder (`job_files`), and in the database.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

Run = Callable[["Store", "Job", "JobReporter"], Mapping[str, object] | None]

QUEUED_SINCE = 2
"""The lowest version of a job that was ever in the queue; see training_store.IN_PLACE."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job. version: the newest form of its arguments that is known.

    title: what it does, in words. heavy: few of these run at a time.
    """

    name: str
    version: int
    title: str
    module: str
    heavy: bool = False

    def run(
        self, store: "Store", job: "Job", report: "JobReporter"
    ) -> Mapping[str, object] | None:
        """Do the work of a job; its result."""
        found = import_module(f"nfh_tui.jobs.{self.module}")
        return cast("Run", found.run)(store, job, report)


TRAIN, EVALUATE, PREDICT, CHECK, IMPORT = "train", "evaluate", "predict", "check", "import"

KINDS = {
    one.name: one
    for one in (
        JobKind(TRAIN, 2, "train a model", "train", heavy=True),
        JobKind(EVALUATE, 2, "evaluate a model", "evaluate"),
        JobKind(PREDICT, 2, "predict", "predict_all", heavy=True),
        JobKind(CHECK, 2, "look for doubtful gold", "check", heavy=True),
        JobKind(IMPORT, 2, "import files", "import_files"),
    )
}


def claimable() -> dict[str, tuple[int, int, bool]]:
    """The kinds as the store's queue wants them."""
    return {one.name: (QUEUED_SINCE, one.version, one.heavy) for one in KINDS.values()}


def known(kind: str, version: int) -> bool:
    """Whether this program can run such a job."""
    found = KINDS.get(kind)
    return found is not None and QUEUED_SINCE <= version <= found.version
