"""The job "evaluate": how good models are on what is labelled.

The result is what `nfh-tui evaluate --json` prints. One that was interrupted begins anew:
nothing was written.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nfh_db.jobs import NewJob
from nfh_tui.jobs.kinds import EVALUATE, KINDS
from nfh_tui.training_jobs import Phase

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter


def asked(
    task: str,
    models: tuple[str, ...] = (),
    *,
    query: str = "",
    split: str | None = None,
    report: str | None = None,
    more: Mapping[str, object] | None = None,
    asked_by: str = "",
    after: int | None = None,
) -> NewJob:
    """An evaluation to be queued; the words as `nfh-tui evaluate` has them, paths whole.

    models: none for the active one. report: where the page goes. more: further options of
    the command by their names, as `nfh_tui.cli.evaluate_call.Call` has them.
    """
    arguments = dict(more or {}) | {
        "task": task,
        "models": list(models),
        "query": query,
        "split": split,
        "report": report,
    }
    return NewJob(EVALUATE, KINDS[EVALUATE].version, task, arguments, asked_by, after)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Evaluate. The result: the report as JSON."""
    # The report is the command's own, and the command line is loaded by this job alone.
    from nfh_tui.cli.evaluate_job import evaluated

    def tell(phase: str, done: int, total: int) -> None:
        report.step(Phase(phase, done, total))

    return evaluated(store.path, job.arguments, tell)
