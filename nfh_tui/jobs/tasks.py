"""The jobs "evaluate", "import" and "predict", run out of their rows."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.jobs import JobState, NewJob
from nfh_db.messages import counted
from nfh_tui.jobs.descriptions import (
    EVALUATE,
    IMPORT,
    KINDS,
    PREDICT,
    text_of,
    texts_of,
    words_of,
)
from nfh_tui.jobs.reporting import Phase

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter
    from nfh_tui.services.imports import ImportFiles, ImportOptions


# The job "evaluate": how good models are on what is labelled.
#
# The result is what `nfh-tui evaluate --json` prints. One that was interrupted begins anew:
# nothing was written.


def evaluation_asked(
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
    the command by their names, as `nfh_tui.cli.evaluate_call.EvaluateOptions` has them.
    """
    arguments = dict(more or {}) | {
        "task": task,
        "models": list(models),
        "query": query,
        "split": split,
        "report": report,
    }
    return NewJob(EVALUATE, KINDS[EVALUATE].version, task, arguments, asked_by, after)


def run_evaluation(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Evaluate. The result: the report as JSON."""
    # The report is the command's own, and the command line is loaded by this job alone.
    from nfh_tui.cli.evaluate_call import evaluated

    def tell(phase: str, done: int, total: int) -> None:
        report.step(Phase(phase, done, total))

    return evaluated(store.path, job.arguments, tell)


# The job "import": files brought into the database, each whole or not at all.
#
# Importing a file again changes nothing, so that one that was interrupted begins anew.


def import_asked(
    files: Iterable[Path],
    *,
    format_name: str | None = None,
    options: "ImportOptions | None" = None,
    asked_by: str = "",
) -> NewJob:
    """An import to be queued; the words as `nfh-tui import` has them."""
    from nfh_tui.services.imports import ImportOptions

    said = asdict(options or ImportOptions())
    arguments = {
        **{name: value for name, value in said.items() if name != "dry_run"},
        "files": [str(path.resolve()) for path in files],
        "format": format_name,
    }
    return NewJob(IMPORT, KINDS[IMPORT].version, "", arguments, asked_by)


def run_import(
    store: "Store", job: "Job", report: "JobReporter"
) -> Mapping[str, object] | None:
    """Import. The result: "ok", and of each file what `nfh-tui import --json` says.

    Where a file was refused, the job has failed; the others came in.
    """
    from nfh_tui.services.imports import import_files

    def tell(name: str, rows: int) -> None:
        report.step(Phase(f"rows of {name}", rows))

    outcomes = import_files(store, _files(job.arguments), tell)
    refused = [str(one["error"]) for one in outcomes if "error" in one]
    result = {"ok": not refused, "files": outcomes}
    if not refused:
        return result
    came = f"{len(outcomes) - len(refused):,} of {counted(len(outcomes), 'file')} came in"
    sentence = "; ".join([*refused, came])
    store.jobs.end(job.id, JobState.FAILED, sentence, result)
    return None


def _files(given: Mapping[str, object]) -> "ImportFiles":
    from nfh_tui.services.imports import ImportFiles

    return ImportFiles(
        tuple(map(Path, texts_of(given, "files"))), text_of(given, "format"), _options(given)
    )


def _options(given: Mapping[str, object]) -> "ImportOptions":
    """The options as they were queued; what is not there has its default."""
    from msgspec import convert

    from nfh_tui.services.imports import ImportOptions

    named = {field.name for field in fields(ImportOptions)}
    return convert({k: v for k, v in given.items() if k in named}, ImportOptions)


# The job "predict": what a model says of all that a query finds, stored.
#
# What is stored is not predicted anew, so that one that was interrupted goes on where it was.

TASK = "resolution"


def prediction_asked(
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


def run_prediction(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Predict. The result: anchors, predicted, silent, kinds, model, seconds, and more."""
    from nfh_tui.services.predict import PredictAllRequest, predict_all

    given = job.arguments
    wanted = PredictAllRequest(
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
    notes = [*([found.fallback_reason] if found.fallback_reason else []), *found.warnings]
    return dict(found.report) | {"notes": notes}
