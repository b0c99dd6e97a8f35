"""The job "predict": what a model says of all that a query finds, stored.

What is stored is not predicted anew, so that one that was interrupted goes on where it was.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nfh_db.jobs import NewJob
from nfh_tui.jobs.kinds import KINDS, PREDICT
from nfh_tui.jobs.words import text_of, words_of

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

TASK = "resolution"


def asked(
    query: str = "",
    *,
    model: str | None = None,
    parser: str | None = None,
    force: bool = False,
    scheduler: str | None = None,
    asked_by: str = "",
    after: int | None = None,
) -> NewJob:
    """A prediction to be queued; the words as `nfh-tui predict` has them.

    model: None for the one that is active when the job runs. after: a job that it waits for.
    """
    arguments = {
        "query": query,
        "model": model,
        "parser": parser,
        "force": force,
        "scheduler": scheduler,
    }
    return NewJob(PREDICT, KINDS[PREDICT].version, TASK, arguments, asked_by, after)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Predict. The result: anchors, predicted, silent, kinds, model, seconds, and more."""
    from nfh_tui.predicting_all import Wanted, predict_all
    from nfh_tui.training_jobs import Phase

    given = job.arguments
    wanted = Wanted(
        query=words_of(given, "query"),
        model=text_of(given, "model"),
        parser=text_of(given, "parser"),
        force=given.get("force") is True,
        who=job.asked_by,
        scheduler=text_of(given, "scheduler"),
    )

    def tell(phase: str, done: int, total: int) -> None:
        report.step(Phase(phase, done, total))

    report.step(Phase("loading the model"))
    found = predict_all(store, wanted, tell)
    notes = [*([found.aside] if found.aside else []), *found.warnings]
    return dict(found.report) | {"notes": notes}
