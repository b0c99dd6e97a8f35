"""`nfh-tui import` and `nfh-tui export`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from nfh_db.errors import ExportError, FormatError, GoneError, StoreError
from nfh_db.formats.options import LabelMap, Writing
from nfh_db.formats.release import MENTIONS, Mentions
from nfh_db.formats.wording import counted, visible
from nfh_tui import places
from nfh_tui.cli.common import (
    Failure,
    QueryCommand,
    db_option,
    emit,
    json_option,
    name,
    open_to_read,
    reporting,
    say,
    sentence,
    tell,
    user,
    word,
)
from nfh_tui.cli.files_text import in_words, noted, stale_gold_words
from nfh_tui.cli.format_options import FormatName, map_option, reading_options
from nfh_tui.cli.overwriting import is_database
from nfh_tui.cli.progress import RowCounter
from nfh_tui.cli.queueing import background_option, queued

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.store import Store
    from nfh_tui.formats.opening import Opened
    from nfh_tui.transfer import ExportReport, ImportOptions

REASONS = {
    "open": "undecided",
    "NOT_NFH": "not NFHs",
    "BROKEN": "damaged",
    "NFH": "NFHs without a head",
}
"""Why anchors have no release form, in words, by what the export reports."""


# --- import -------------------------------------------------------------------------------


@click.command("import", short_help="Bring files into the database.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_name",
    type=FormatName(),
    help="The files' format; without it, or with auto, their content decides.",
)
@click.option(
    "--split",
    callback=word,
    help="The split of every row; without it the rows' own, else train, dev or test where "
    "it is a word of the file's name.",
)
@click.option(
    "--annotator",
    callback=name,
    metavar="NAME",
    help="Take the labels as this person's answers; without it they are gold.",
)
@click.option("--dry-run", is_flag=True, help="Check and report; store nothing.")
@click.option(
    "--replace-gold",
    is_flag=True,
    help="Let the files' labels replace gold that differs; never an expert's.",
)
@click.option(
    "--newer-answers",
    is_flag=True,
    help="Let a person's answer in the files take the place of an older one of theirs.",
)
@reading_options
@background_option
@db_option
@json_option
@reporting
def import_(
    files: tuple[Path, ...],
    format_name: str | None,
    background: bool,
    db: Path | None,
    as_json: bool,
    **said: object,
) -> None:
    """Bring FILES into the database, which is made if it is not there.

    Each file comes in whole or not at all. Importing a file again changes nothing.
    """
    if background and said["dry_run"]:
        raise click.UsageError("--dry-run stores nothing: leave out --background")
    options = import_options(said)
    results = [_look(path, format_name, options) for path in files]
    if background:
        refused = sum(isinstance(result, FormatError) for result in results)
        if refused:
            raise Failure(f"{counted(refused, 'file')} cannot be read: nothing was queued")
        new = _asked(files, format_name, options)
        with _store(places.database(db), dry_run=False) as store:
            queued(store, new, db, as_json=as_json)
        return
    if any(not isinstance(result, FormatError) for result in results):
        outcomes = _import_all(results, places.database(db), options, quiet=as_json)
    else:
        outcomes = [_refused(e.name, e) for e in results if isinstance(e, FormatError)]
    failed = any("error" in outcome for outcome in outcomes)
    if as_json:
        emit({"ok": not failed, "files": outcomes})
    if failed:
        raise click.exceptions.Exit(1)


def import_options(said: Mapping[str, Any]) -> "ImportOptions":
    """What the options of the command say; those that were not said are left to defaults."""
    from nfh_tui.transfer import ImportOptions

    return ImportOptions(**{key: value for key, value in said.items() if value is not None})


def _look(
    path: Path, format_name: str | None, options: "ImportOptions"
) -> "Opened | FormatError":
    """The file with its format; a refusal is said at once."""
    from nfh_tui.importing import look

    try:
        ready = look(path, format_name, options)
    except FormatError as error:
        say(f"nfh-tui: {sentence(error)}")
        return error
    if ready.reason:
        say(f"{ready.source.name}: read as {ready.format.name}: {ready.reason}")
    return ready


def _asked(
    files: tuple[Path, ...], format_name: str | None, options: "ImportOptions"
) -> "NewJob":
    from nfh_tui.jobs.import_files import asked

    return asked(files, format_name=format_name, options=options, asked_by=user())


def _import_all(
    results: "Sequence[Opened | FormatError]",
    database: Path,
    options: "ImportOptions",
    *,
    quiet: bool,
) -> list[dict[str, object]]:
    from nfh_tui.importing import collecting_rarely

    outcomes = []
    with collecting_rarely(), _store(database, dry_run=options.dry_run) as store:
        for result in results:
            if isinstance(result, FormatError):
                outcomes.append(_refused(result.name, result))
                continue
            outcomes.append(_import_one(store, result, options, quiet=quiet))
    return outcomes


@contextmanager
def _store(database: Path, *, dry_run: bool) -> Iterator["Store"]:
    """The database, made if need be; a trial run without one works on a passing one."""
    from nfh_db.store import Store
    from nfh_tui.guidelines import first_text
    from nfh_tui.packaged import ensure_small

    with TemporaryDirectory(prefix="nfh-tui-") as folder:
        if dry_run and not database.exists():
            database = Path(folder) / places.DATABASE_NAME
        places.make_folder_for(database)
        new = not database.exists()
        opened = Store.open(database, create=True) if new or not dry_run else None
        with opened or open_to_read(database) as store:
            if new:
                ensure_small(store)
                store.begin_guidelines(first_text())
            yield store


def _import_one(
    store: "Store", ready: "Opened", options: "ImportOptions", *, quiet: bool
) -> dict[str, object]:
    from nfh_tui.transfer import import_file

    source = ready.source
    try:
        with RowCounter(source.name) as progress:
            report = import_file(store, source, ready.format, options, progress)
    except GoneError:
        raise
    except (FormatError, StoreError) as error:
        say(f"nfh-tui: {sentence(error)}")
        return _refused(source.name, error)
    told = asdict(report)
    for line in noted(told):
        say(line)
    if not quiet:
        tell(f"{source.name}: {in_words(told)}")
    return told


def _refused(file_name: str, error: Exception) -> dict[str, object]:
    return {"name": file_name, "error": sentence(error)}


# --- export -------------------------------------------------------------------------------


@click.command(cls=QueryCommand, short_help="Take anchors out of the database, as a file.")
@click.argument("query", nargs=-1)
@click.option(
    "--format",
    "format_name",
    type=FormatName(export=True),
    required=True,
    help="What to write; `nfh-tui formats` describes them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to; without it, or with -, to standard output.",
)
@click.option(
    "--mentions",
    type=click.Choice(MENTIONS),
    default="all",
    show_default=True,
    help="Which mentions of a head an nfh row lists. Imported rows leave as they came.",
)
@map_option
@db_option
@json_option
@reporting
def export(
    query: tuple[str, ...],
    format_name: str,
    out: Path | None,
    mentions: Mentions,
    labels: LabelMap | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write the anchors that QUERY finds, all of them without one.

    A file is written beside its place and renamed into it when it is complete; one that was
    there is replaced then, and that is said.
    """
    from nfh_db.query import parse
    from nfh_tui.cli.formats_text import before_export
    from nfh_tui.formats.registry import by_name
    from nfh_tui.transfer import export_file

    target = None if out is None or str(out) == "-" else out
    parsed = parse(" ".join(query))
    database = places.database(db)
    if target is not None and is_database(target, database):
        raise Failure(f"{target} is the database itself; name another file")
    there = target is not None and target.is_file()
    format_ = by_name(format_name)
    for line in before_export(format_):
        say(line)
    how = Writing(mentions, labels or LabelMap())
    try:
        with open_to_read(database) as store:
            report = export_file(store, parsed, format_, target, how)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportError(f"standard output: {sentence(error)}") from error
    _say_export(report, as_json=as_json)
    if there:
        say(f"{visible(str(target), 200)}: took the place of the file that was there")


def _say_export(report: "ExportReport", *, as_json: bool) -> None:
    from nfh_tui.cli.formats_text import after_export

    for reason, number in report.left_out.items():
        words = REASONS.get(reason, reason)
        say(
            f"{counted(number, 'anchor')} left out: {words}; {report.format} has no form for it"
        )
    if report.undecided:
        say(
            f"{counted(report.undecided, 'anchor')} without a decision (kind null) among what "
            "the query finds; state:decided leaves them out"
        )
    if report.stale_gold:
        say(stale_gold_words(report.stale_gold))
    lost = after_export(report.format, report.lost)
    if lost:
        say(lost)
    if report.out is None:
        return
    if as_json:
        emit(asdict(report))
    else:
        tell(f"{visible(report.out, 200)}: {counted(report.rows, 'row')} written")
