"""The jobs "evaluate", "import" and "predict", run from their rows in the job queue."""

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


# The job "evaluate": compares models with gold.
#
# The result is what `nfh-tui evaluate --json` prints. An interrupted job starts again from the
# beginning; it has written nothing.


def evaluation_asked(
    task: str,
    models: tuple[str, ...] = (),
    *,
    query: str = "",
    split: str | None = None,
    report: str | None = None,
    more: Mapping[str, object] | None = None,
    asked_by: str = "",
) -> NewJob:
    """Build an evaluation job. The arguments are those of `nfh-tui evaluate`, with absolute
    paths.

    models: empty for the active one. report: path of the HTML page. more: further options by
    the names in `nfh_tui.cli.evaluate_call.EvaluateOptions`.
    """
    arguments = dict(more or {}) | {
        "task": task,
        "models": list(models),
        "query": query,
        "split": split,
        "report": report,
    }
    return NewJob(EVALUATE, KINDS[EVALUATE].version, task, arguments, asked_by)


def run_evaluation(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Run an evaluation. The result is the report as JSON."""
    # The report is the command's own, and the command line is loaded by this job alone.
    from nfh_tui.cli.evaluate_call import evaluated

    return evaluated(store.path, job.arguments, report.tell)


# The job "import": imports files, each completely or not at all.
#
# Importing a file twice changes nothing, so an interrupted job starts again from the beginning.


def import_asked(
    files: Iterable[Path],
    *,
    format_name: str | None = None,
    options: "ImportOptions | None" = None,
    asked_by: str = "",
) -> NewJob:
    """Build an import job. The arguments are those of `nfh-tui import`."""
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
    """Import files. The result has "ok", and per file what `nfh-tui import --json` prints.

    If a file is refused, the job fails; the other files are imported.
    """
    from nfh_tui.services.imports import import_files

    def tell(name: str, rows: int) -> None:
        report.step(Phase(f"rows of {name}", rows))

    outcomes = import_files(store, _files(job.arguments), tell, job.asked_by)
    refused = [str(one["error"]) for one in outcomes if "error" in one]
    result = {"ok": not refused, "files": outcomes}
    if not refused:
        return result
    came = f"{len(outcomes) - len(refused):,} of {counted(len(outcomes), 'file')} imported"
    sentence = "; ".join([*refused, came])
    store.jobs.end(job.id, JobState.FAILED, sentence, result)
    return None


def _files(given: Mapping[str, object]) -> "ImportFiles":
    from nfh_tui.services.imports import ImportFiles

    return ImportFiles(
        tuple(map(Path, texts_of(given, "files"))), text_of(given, "format"), _options(given)
    )


def _options(given: Mapping[str, object]) -> "ImportOptions":
    """Return the options as they were queued, with defaults for those that are absent."""
    from msgspec import convert

    from nfh_tui.services.imports import ImportOptions

    named = {field.name for field in fields(ImportOptions)}
    return convert({k: v for k, v in given.items() if k in named}, ImportOptions)


# The job "predict": stores the predictions of a model for all anchors of a query.
#
# Stored predictions are not computed again, so an interrupted job resumes where it stopped.

TASK = "resolution"


def prediction_asked(
    query: str = "",
    *,
    model: str | None = None,
    parser: str | None = None,
    force: bool = False,
    scheduler: str | None = None,
    asked_by: str = "",
) -> NewJob:
    """Build a prediction job. The arguments are those of `nfh-tui predict`.

    model: None for the one that is active when the job runs.
    """
    arguments = {
        "query": query,
        "model": model,
        "parser": parser,
        "force": force,
        "scheduler": scheduler,
    }
    return NewJob(PREDICT, KINDS[PREDICT].version, TASK, arguments, asked_by)


def run_prediction(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Predict. The result has anchors, predicted, silent, kinds, model, seconds and notes,
    among others.
    """
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

    report.step(Phase("loading the model"))
    found = predict_all(store, wanted, report.tell)
    notes = [*([found.fallback_reason] if found.fallback_reason else []), *found.warnings]
    return dict(found.report) | {"notes": notes}
