"""The job "import": files brought into the database, each whole or not at all.

Importing a file again changes nothing, so that one that was interrupted begins anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_db.jobs import JobState, NewJob
from nfh_tui.jobs.kinds import IMPORT, KINDS
from nfh_tui.jobs.words import text_of, texts_of
from nfh_tui.training_jobs import Phase

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.importing import Files
    from nfh_tui.training_jobs import JobReporter
    from nfh_tui.transfer import ImportOptions


def asked(
    files: Iterable[Path],
    *,
    format_name: str | None = None,
    options: "ImportOptions | None" = None,
    asked_by: str = "",
) -> NewJob:
    """An import to be queued; the words as `nfh-tui import` has them."""
    from nfh_tui.transfer import ImportOptions

    said = asdict(options or ImportOptions())
    arguments = {
        **{name: value for name, value in said.items() if name != "dry_run"},
        "files": [str(path.resolve()) for path in files],
        "format": format_name,
    }
    return NewJob(IMPORT, KINDS[IMPORT].version, "", arguments, asked_by)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object] | None:
    """Import. The result: "ok", and of each file what `nfh-tui import --json` says.

    Where a file was refused, the job has failed; the others came in.
    """
    from nfh_tui.importing import import_files

    def tell(name: str, rows: int) -> None:
        report.step(Phase(f"rows of {name}", rows))

    outcomes = import_files(store, _files(job.arguments), tell)
    refused = [str(one["error"]) for one in outcomes if "error" in one]
    result = {"ok": not refused, "files": outcomes}
    if not refused:
        return result
    came = f"{len(outcomes) - len(refused):,} of {counted(len(outcomes), 'file')} came in"
    sentence = "; ".join([*refused, came])
    store.end_job(job.id, JobState.FAILED, sentence, result)
    return None


def _files(given: Mapping[str, object]) -> "Files":
    from nfh_tui.importing import Files

    return Files(
        tuple(map(Path, texts_of(given, "files"))), text_of(given, "format"), _options(given)
    )


def _options(given: Mapping[str, object]) -> "ImportOptions":
    """The options as they were queued; what is not there has its default."""
    from msgspec import convert

    from nfh_tui.transfer import ImportOptions

    named = {field.name for field in fields(ImportOptions)}
    return convert({k: v for k, v in given.items() if k in named}, ImportOptions)
