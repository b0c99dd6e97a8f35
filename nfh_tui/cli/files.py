"""`nfh-tui import` and `nfh-tui export`, and what `nfh-tui formats` says of each format."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from nfh_db.errors import ExportError, FormatError, GoneError, StoreError
from nfh_db.formats.base import Format, How, InputKind, What
from nfh_db.formats.registry import SAYS, by_how
from nfh_db.formats.rows import MENTIONS, LabelMap, Mentions, Writing
from nfh_db.messages import counted, visible
from nfh_tui import config
from nfh_tui.cli.imports import correction_lines, offer, retired_lines
from nfh_tui.cli.options import (
    Failure,
    FormatName,
    QueryCommand,
    allow_empty_option,
    as_option,
    background_option,
    echo,
    emit,
    is_database,
    map_option,
    name,
    on_database,
    open_to_read,
    out_option,
    parse_query,
    queued,
    reading_options,
    say,
    sentence,
    tell_lines,
    user,
    word,
)
from nfh_tui.cli.report import RowCounter, wrapped

if TYPE_CHECKING:
    from nfh_db.formats.registry import RecognizedFile
    from nfh_db.store import Store
    from nfh_tui.services.imports import ExportReport, ImportOptions


SHOWN_CONFLICTS = 10


def imported_lines(report: Mapping[str, object]) -> Iterator[str]:
    """The report of an import: warnings, conflicts and counts."""
    name = visible(str(report.get("name")), 200)
    if "error" in report:
        yield f"{name}: {visible(str(report['error']), 2_000)}"
        return
    yield from warning_lines(report)
    yield f"{name}: {report_words(report)}"
    retired = report.get("retired")
    if isinstance(retired, Mapping):
        yield from retired_lines(retired, str(report.get("by")))


def warning_lines(report: Mapping[str, object]) -> Iterator[str]:
    """Warnings and conflicts of an import."""
    name = visible(str(report.get("name")), 200)
    for warning in _texts(report.get("warnings")):
        yield f"{name}: warning: {visible(warning, 500)}"
    conflicts = _texts(report.get("conflicts"))
    for conflict in conflicts[:SHOWN_CONFLICTS]:
        yield f"{name}: {visible(conflict, 500)}"
    if len(conflicts) > SHOWN_CONFLICTS:
        yield f"{name}: and more like these; --json lists them"
    yield from correction_lines(report)


def report_words(report: Mapping[str, object]) -> str:
    """What was imported, on one line."""
    if report.get("already") is True:
        return "imported before; nothing changed"

    def number(key: str) -> int:
        value = report.get(key)
        return value if isinstance(value, int) else 0

    new = f"{counted(number('passages_new'), 'passage')}, "
    new += counted(number("anchors_new"), "item")
    parts = [
        f"{counted(number('rows'), 'row')}: {new} new",
        f"gold {number('gold_new'):,} new, {number('gold_same'):,} the same, "
        f"{number('gold_replaced'):,} replaced",
    ]
    for key, what in (("votes_new", "new"), ("votes_replaced", "replaced")):
        if number(key):
            parts.append(f"{counted(number(key), 'answer')} {what}")
    if number("anchors_back"):
        parts.append(f"{counted(number('anchors_back'), 'item')} back")
    if number("flags_new"):
        parts.append(f"{counted(number('flags_new'), 'flag')} new")
    if _texts(report.get("conflicts")):
        parts.append("labels that differ from what was kept are listed above")
    return "; ".join(parts) + (". Nothing was stored" if report.get("dry_run") is True else "")


def stale_gold_words(count: int) -> str:
    """The sentence on stale gold, which no export or release contains."""
    one = count == 1
    return (
        f"{counted(count, 'item')} of the database {'has' if one else 'have'} stale gold, "
        f"which no file has: {'its' if one else 'their'} span was replaced after "
        f"{'it was' if one else 'they were'} decided, and nobody has decided "
        f"{'it' if one else 'them'} again (state:stale finds what nobody has answered again)"
    )


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


REASONS = {
    "open": "undecided",
    "NOT_NFH": "not NFHs",
    "BROKEN": "damaged",
    "NFH": "NFHs without a head",
}
"""Why anchors have no release form, by the reason that the export reports."""


# --- import -------------------------------------------------------------------------------


@click.command("import")
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
    help="The split of every row; without it the rows' own, else train, dev or test if the "
    "file's name has that word.",
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
    help="Let the files' labels replace gold that differs; never an adjudicator's.",
)
@click.option(
    "--newer-answers",
    is_flag=True,
    help="Let a person's answer in the files replace an older one of theirs.",
)
@click.option(
    "--replace",
    "replaces",
    is_flag=True,
    help="Retire what earlier imports of the same name have and the files lack, and carry "
    "over people's answers.",
)
@click.option(
    "--new-person",
    is_flag=True,
    help="Accept a new name that differs from a known one only by case, accents or width.",
)
@reading_options
@background_option
@as_option
@on_database
def import_(
    files: tuple[Path, ...],
    format_name: str | None,
    background: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
    **said: object,
) -> None:
    """Import FILES into the database, which is made if it does not exist.

    Each file comes in whole or not at all. Importing a file again changes nothing.
    """
    if background and said["dry_run"]:
        raise click.UsageError("--dry-run stores nothing: leave out --background")
    names = Counter(path.name for path in files)
    twice = [name for name, times in names.items() if times > 1]
    if twice and said["replaces"]:
        raise click.UsageError(
            f"two files are called {visible(twice[0], 200)}: with --replace import one after "
            "the other"
        )
    options = import_options(said)
    results = [_look(path, format_name, options) for path in files]
    if background:
        refused = sum(isinstance(result, FormatError) for result in results)
        if refused:
            raise Failure(f"{counted(refused, 'file')} cannot be read: nothing was queued")
        from nfh_tui.jobs.tasks import import_asked

        who = me or user()
        new = import_asked(files, format_name=format_name, options=options, asked_by=who)
        with _store(config.database(db), dry_run=False) as store:
            queued(store, new, db, as_json=as_json)
        return
    if any(not isinstance(result, FormatError) for result in results):
        call = ImportCall(options, me or user(), db, quiet=as_json, offers=not twice)
        outcomes = _import_all(results, call)
    else:
        outcomes = [_refused(e.name, e) for e in results if isinstance(e, FormatError)]
    failed = any("error" in outcome for outcome in outcomes)
    if as_json:
        emit({"ok": not failed, "files": outcomes})
    if failed:
        raise click.exceptions.Exit(1)


def import_options(said: Mapping[str, Any]) -> "ImportOptions":
    """The options of the command; those not given have their defaults."""
    from nfh_tui.services.imports import ImportOptions

    return ImportOptions(**{key: value for key, value in said.items() if value is not None})


def _look(
    path: Path, format_name: str | None, options: "ImportOptions"
) -> "RecognizedFile | FormatError":
    """The file with its format. Raises Failure at once for one that is refused."""
    from nfh_tui.services.imports import recognise_file

    try:
        ready = recognise_file(path, format_name, options)
    except FormatError as error:
        say(f"nfh-tui: {sentence(error)}")
        return error
    if ready.reason:
        say(f"{ready.source.name}: read as {ready.format.name}: {ready.reason}")
    return ready


@dataclass(frozen=True, slots=True)
class ImportCall:
    """The options of an import, who calls it, and the value of --db.

    quiet: it prints JSON. offers: it offers to replace earlier imports.
    """

    options: "ImportOptions"
    who: str
    db: Path | None
    quiet: bool
    offers: bool


def _import_all(
    results: "Sequence[RecognizedFile | FormatError]", call: ImportCall
) -> list[dict[str, object]]:
    from nfh_tui.services.imports import rare_garbage_collection

    outcomes = []
    database = config.database(call.db)
    with rare_garbage_collection(), _store(database, dry_run=call.options.dry_run) as store:
        for result in results:
            if isinstance(result, FormatError):
                outcomes.append(_refused(result.name, result))
                continue
            outcomes.append(_import_one(store, result, call))
    return outcomes


@contextmanager
def _store(database: Path, *, dry_run: bool) -> Iterator["Store"]:
    """The database, created if needed; a dry run without one uses a temporary one."""
    from nfh_db.store import Store
    from nfh_tui.services.models import set_up

    with TemporaryDirectory(prefix="nfh-tui-") as folder:
        if dry_run and not database.exists():
            database = Path(folder) / config.DATABASE_NAME
        config.make_folder_for(database)
        new = not database.exists()
        opened = Store.open(database, create=True) if new or not dry_run else None
        with opened or open_to_read(database) as store:
            if new:
                set_up(store)
            yield store


def _import_one(store: "Store", ready: "RecognizedFile", call: ImportCall) -> dict[str, object]:
    from nfh_tui.services.imports import import_file, replace_earlier

    source = ready.source
    try:
        with RowCounter(source.name) as progress:
            report = import_file(store, source, ready.format, call.options, progress, call.who)
    except GoneError:
        raise
    except (FormatError, StoreError) as error:
        say(f"nfh-tui: {sentence(error)}")
        return _refused(source.name, error)
    told = asdict(report)
    for line in warning_lines(told):
        say(line)
    if call.quiet:
        return told
    echo(f"{source.name}: {report_words(told)}")
    offers = call.offers and not call.options.replaces
    if offers and offer(told, source.path, call.db):
        told = asdict(replace_earlier(store, report, call.who))
    if told["retired"]:
        tell_lines(retired_lines(told["retired"], call.who))
    return told


def _refused(file_name: str, error: Exception) -> dict[str, object]:
    return {"name": file_name, "error": sentence(error)}


# --- export -------------------------------------------------------------------------------


@click.command(cls=QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--format",
    "format_name",
    type=FormatName(export=True),
    required=True,
    help="What to write; `nfh-tui formats` describes them.",
)
@out_option
@allow_empty_option
@click.option(
    "--mentions",
    type=click.Choice(MENTIONS),
    default="all",
    help="Which mentions of a head an nfh row lists. Imported rows are written unchanged.",
)
@click.option(
    "--compact",
    is_flag=True,
    help="gold: write each passage once, for passages with many numbers (nfh-gold/2).",
)
@map_option
@on_database
def export(
    query: tuple[str, ...],
    format_name: str,
    out: Path | None,
    allow_empty: bool,
    mentions: Mentions,
    compact: bool,
    labels: LabelMap | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write the items that QUERY finds; without QUERY, all.

    The file is written under another name and renamed when it is complete; a file that was
    there is replaced, with a notice. A file without rows replaces none.
    """
    from nfh_db.formats.registry import by_name
    from nfh_tui.services.imports import export_file

    target = None if out is None or str(out) == "-" else out
    parsed = parse_query(query)
    database = config.database(db)
    if target is not None and is_database(target, database):
        raise Failure(f"{target} is the database itself; name another file")
    there = target is not None and target.is_file()
    format_ = by_name(format_name)
    for line in before_export(format_):
        say(line)
    if compact and format_name != "gold":
        raise Failure(f"{format_name} has no compact form; leave --compact out")
    how = Writing(mentions, labels or LabelMap(), compact)
    try:
        with open_to_read(database) as store:
            report = export_file(store, parsed, format_, target, how, allow_empty=allow_empty)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportError(f"standard output: {sentence(error)}") from error
    _say_export(report, as_json=as_json)
    if there:
        say(f"{visible(str(target), 200)}: replaced the file that was there")


MUCH_REPEATED = 10
"""Times that passages are written above which an export names --compact."""


def _say_export(report: "ExportReport", *, as_json: bool) -> None:

    for reason, number in report.left_out.items():
        words = REASONS.get(reason, reason)
        say(f"{counted(number, 'item')} left out: {words}; {report.format} cannot hold them")
    if report.undecided:
        say(
            f"{counted(report.undecided, 'item')} of the query without a decision (kind "
            "null); state:decided leaves them out"
        )
    if report.stale_gold:
        say(stale_gold_words(report.stale_gold))
    lost = after_export(report.format, report.lost)
    if lost:
        say(lost)
    if report.repeated > MUCH_REPEATED:
        say(
            f"each number has its whole passage, so passages are written {report.repeated:g} "
            "times; --compact writes each once"
        )
    if report.out is None:
        return
    if as_json:
        emit(asdict(report))
    else:
        echo(f"{visible(report.out, 200)}: {counted(report.rows, 'row')} written")


SETTINGS = ("map", "offsets", "columns", "pause", "encoding", "window", "count-rejected")
TAKES = {
    InputKind.TEXT: "a text file",
    InputKind.BYTES: "a file of bytes",
    InputKind.FOLDER: "a folder or zip",
}


def overview(formats: tuple[Format, ...]) -> Iterator[str]:
    """A line or two a format, those with labels first."""
    name = max(len(format_.name) for format_ in formats)
    groups = (("Annotations", True), ("Dialogs without labels", False))
    for title, labelled in groups:
        yield title
        for format_ in formats:
            if format_.labelled is labelled:
                way = "in, out" if format_.writable else "in"
                ends = " ".join(format_.extensions)
                yield f"  {format_.name:<{name}}  {way:<7}  {ends}"
                yield from wrapped(format_.description, " " * (name + 4))
        yield ""
    yield "`nfh-tui formats NAME` describes one: what it can hold, its settings, a line of it."


def details(format_: Format) -> Iterator[str]:
    """A format in full."""
    yield f"{format_.name}  ({' '.join(format_.extensions)}; {format_.direction})"
    yield from wrapped(format_.description, "  ")
    yield f"  is {' or '.join(TAKES[takes] for takes in format_.takes)}"
    for how, whats in by_how(format_).items():
        if whats:
            yield from wrapped(f"{SAYS[how]}: {'; '.join(whats)}", "  ", "    ")
    if format_.limits:
        yield from wrapped(format_.limits, "  ", "    ")
    settings = [f"--{name}" for name in SETTINGS if name in format_.settings]
    if settings:
        yield f"  settings of an import: {', '.join(settings)}"
    if format_.extra:
        yield f"  needs {format_.extra}: {_installed(format_.extra)}"
    if format_.example:
        yield "  for example:"
        yield f"  {format_.example}"


def described(format_: Format) -> dict[str, object]:
    """A format as JSON."""
    return {
        "name": format_.name,
        "extensions": list(format_.extensions),
        "import": True,
        "export": format_.writable,
        "labelled": format_.labelled,
        "takes": [str(takes) for takes in format_.takes],
        "holds": {str(what): str(how) for what, how in (format_.holds or {}).items()},
        "settings": sorted(format_.settings),
        "extra": format_.extra or None,
        "installed": not format_.extra or _version(format_.extra) is not None,
        "description": format_.description,
        "example": format_.example,
    }


def before_export(format_: Format) -> Iterator[str]:
    """What the format cannot hold, printed before an export."""
    held = by_how(format_)
    if held[How.SIDE]:
        yield f"{format_.name} keeps in a side file: {'; '.join(held[How.SIDE])}"
    if held[How.NO]:
        yield f"{format_.name} cannot hold: {'; '.join(held[How.NO])}"
    if format_.limits:
        yield f"{format_.name}: {format_.limits}"


def after_export(name: str, lost: Mapping[str, int]) -> str | None:
    """How many anchors lost what the format cannot hold; None where none did.

    Tokens and turns are every anchor's, so that their number says nothing.
    """
    told = [
        f"{what} of {number:,}"
        for what, number in lost.items()
        if number and what not in (What.TOKENS, What.SPEAKERS)
    ]
    return f"{name}: items that lost data: {'; '.join(told)}" if told else None


def _installed(extra: str) -> str:
    found = _version(extra)
    return f"{found} is there" if found else "pip install 'nfh-tui[formats]'"


def _version(extra: str) -> str | None:
    try:
        return version(extra)
    except PackageNotFoundError:
        return None
