"""`nfh-tui import` and `nfh-tui export`."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from nfh_db.errors import ExportError, FormatError, StoreError
from nfh_db.formats.reading import Source
from nfh_db.formats.registry import BY_NAME, READABLE, WRITABLE, Format, check_choice, recognise
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
    reporting,
    say,
    sentence,
    word,
)
from nfh_tui.cli.overwriting import is_database
from nfh_tui.cli.progress import RowCounter

if TYPE_CHECKING:
    from nfh_db.records import ImportReport
    from nfh_db.store import Store
    from nfh_tui.transfer import ExportReport, ImportOptions

SHOWN_CONFLICTS = 10
COLLECT_AFTER = (1_000_000, 20, 100)
"""Records alive beyond those before the import; a stretch of a file has far fewer."""

REASONS = {
    "open": "undecided",
    "NOT_NFH": "not NFHs",
    "BROKEN": "damaged",
    "NFH": "NFHs without a head",
}
"""Why anchors have no release form, in words, by what the export reports."""


# --- import -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """A file that was looked at: it can be read, and its format is known."""

    source: Source
    format: Format


@click.command("import", short_help="Bring files into the database.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_name",
    type=click.Choice(READABLE),
    help="The files' format; without it their content decides.",
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
@db_option
@json_option
@reporting
def import_(
    files: tuple[Path, ...],
    format_name: str | None,
    split: str | None,
    annotator: str | None,
    dry_run: bool,
    replace_gold: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Bring FILES into the database, which is made if it is not there.

    Each file comes in whole or not at all. Importing a file again changes nothing.
    """
    results = [_look(path, BY_NAME.get(format_name or "")) for path in files]
    if any(isinstance(result, Ready) for result in results):
        from nfh_tui.transfer import ImportOptions

        options = ImportOptions(split, annotator, replace_gold, dry_run)
        outcomes = _import_all(results, places.database(db), options, quiet=as_json)
    else:
        outcomes = [_refused(e.name, e) for e in results if isinstance(e, FormatError)]
    failed = any("error" in outcome for outcome in outcomes)
    if as_json:
        emit({"ok": not failed, "files": outcomes})
    if failed:
        raise click.exceptions.Exit(1)


def _look(path: Path, format_: Format | None) -> Ready | FormatError:
    """The file with its format; a refusal is said at once."""
    try:
        source = Source(path)
        if format_ is not None:
            check_choice(source, format_)
            return Ready(source, format_)
        format_, reason = recognise(source)
    except FormatError as error:
        say(f"nfh-tui: {sentence(error)}")
        return error
    say(f"{source.name}: read as {format_.name}: {reason}")
    return Ready(source, format_)


def _import_all(
    results: Sequence[Ready | FormatError],
    database: Path,
    options: "ImportOptions",
    *,
    quiet: bool,
) -> list[dict[str, object]]:
    outcomes = []
    with _collecting_rarely(), _store(database, dry_run=options.dry_run) as store:
        for result in results:
            if isinstance(result, FormatError):
                outcomes.append(_refused(result.name, result))
                continue
            outcomes.append(_import_one(store, result, options, quiet=quiet))
    return outcomes


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Let the cycle collector run seldom: an import makes millions of records and no cycle.

    Looking through them costs a fifth of its time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


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
        store = Store.open(database, create=True)
        try:
            if new:
                ensure_small(store)
                store.begin_guidelines(first_text())
            yield store
        finally:
            store.close()


def _import_one(
    store: "Store", ready: Ready, options: "ImportOptions", *, quiet: bool
) -> dict[str, object]:
    from nfh_tui.transfer import import_file

    source = ready.source
    try:
        with RowCounter(source.name) as progress:
            report = import_file(store, source, ready.format, options, progress)
    except (FormatError, StoreError) as error:
        say(f"nfh-tui: {sentence(error)}")
        return _refused(source.name, error)
    for warning in report.warnings:
        say(f"{source.name}: warning: {visible(warning, 500)}")
    for conflict in report.conflicts[:SHOWN_CONFLICTS]:
        say(f"{source.name}: {visible(conflict, 500)}")
    if len(report.conflicts) > SHOWN_CONFLICTS:
        say(f"{source.name}: and more like these; --json lists them")
    if not quiet:
        click.echo(f"{source.name}: {_in_words(report)}")
    return asdict(report)


def _refused(file_name: str, error: Exception) -> dict[str, object]:
    return {"name": file_name, "error": sentence(error)}


def _in_words(report: "ImportReport") -> str:
    if report.already:
        return "imported before; nothing changed"
    new = f"{counted(report.passages_new, 'passage')}, {counted(report.anchors_new, 'anchor')}"
    parts = [
        f"{counted(report.rows, 'row')}: {new} new",
        f"gold {report.gold_new:,} new, {report.gold_same:,} the same, "
        f"{report.gold_replaced:,} replaced",
    ]
    if report.votes_new:
        parts.append(f"{counted(report.votes_new, 'answer')} new")
    if report.flags_new:
        parts.append(f"{counted(report.flags_new, 'flag')} new")
    if report.conflicts:
        parts.append("labels that differ from what was kept are listed above")
    return "; ".join(parts) + (". Nothing was stored" if report.dry_run else "")


# --- export -------------------------------------------------------------------------------


@click.command(cls=QueryCommand, short_help="Take anchors out of the database, as a file.")
@click.argument("query", nargs=-1)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(WRITABLE),
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
@db_option
@json_option
@reporting
def export(
    query: tuple[str, ...],
    format_name: str,
    out: Path | None,
    mentions: Mentions,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write the anchors that QUERY finds, all of them without one.

    A file is written beside its place and renamed into it when it is complete; one that was
    there is replaced then, and that is said.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.transfer import export_file

    target = None if out is None or str(out) == "-" else out
    parsed = parse(" ".join(query))
    database = places.database(db)
    if target is not None and is_database(target, database):
        raise Failure(f"{target} is the database itself; name another file")
    there = target is not None and target.is_file()
    store = Store.open(database)
    try:
        report = export_file(store, parsed, BY_NAME[format_name], target, mentions)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportError(f"standard output: {sentence(error)}") from error
    finally:
        store.close()
    _say_export(report, as_json=as_json)
    if there:
        say(f"{visible(str(target), 200)}: took the place of the file that was there")


def _say_export(report: "ExportReport", *, as_json: bool) -> None:
    for reason, number in report.left_out.items():
        words = REASONS.get(reason, reason)
        say(
            f"{counted(number, 'anchor')} left out: {words}; {report.format} has no form for it"
        )
    if report.undecided:
        say(
            f"{counted(report.undecided, 'row')} of these {report.rows:,} without a decision "
            "(kind null); the query state:decided leaves them out"
        )
    if report.out is None:
        return
    if as_json:
        emit(asdict(report))
    else:
        click.echo(f"{visible(report.out, 200)}: {counted(report.rows, 'row')} written")
