"""What the commands share: options, reports, failures, the options of formats, and work put
into the queue of jobs.
"""

import codecs
import contextlib
import errno
import functools
import getpass
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from nfh_db.errors import ExportError, FormatError, NoFileError, QueryError, StoreError
from nfh_db.formats.fields import NAME_LENGTH
from nfh_db.formats.rows import LabelMap
from nfh_db.messages import lines_visible, quoted, visible
from nfh_db.records import normal_name
from nfh_models import ModelsError
from nfh_tui import config
from nfh_tui.demo import hint_of
from nfh_tui.process_signals import EndedError, ended_by_signals

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.query import Query
    from nfh_db.records import Annotator
    from nfh_db.store import Store
    from nfh_tui.services.imports import ImportOptions


P = ParamSpec("P")

MESSAGE_LIMIT = 2000


class QueryCommand(click.Command):
    """A command whose words and values may begin with a dash: "-class:OTHER" is a term of its
    query, "-x.db" a database. Its options begin with two, except -h.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        before, after = iter(args[:end]), args[end + 1 :]
        take_value = {
            name
            for one in self.get_params(ctx)
            if isinstance(one, click.Option) and not (one.is_flag or one.count)
            for name in one.opts
        }
        options: list[str] = []
        words: list[str] = []
        for arg in before:
            (options if arg.startswith("--") or arg == "-h" else words).append(arg)
            if arg in take_value:
                options.extend(islice(before, 1))
        return super().parse_args(ctx, [*options, "--", *words, *after])


class Failure(click.ClickException):
    """The work failed: one sentence on standard error, exit status 1."""

    exit_code = 1

    def show(self, file: IO[str] | None = None) -> None:
        click.echo(f"nfh-tui: {lines_visible(self.message)}", file=file, err=file is None)


db_option = click.option(
    "--db",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help=f"The database; else ${config.DATABASE_VARIABLE}, else {config.DATABASE_NAME} here, "
    "else the one in your data folder.",
)
no_db_option = click.option(
    "--db",
    type=click.Path(path_type=Path),
    metavar="PATH",
    expose_value=False,
    help="Accepted on every command; no database is read.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, for programs."
)


OUT_OF_MEMORY = (
    "there is not enough memory for this. Close other programs, or do it in smaller parts"
)


def reporting(command: Callable[P, None]) -> Callable[P, None]:
    """Report expected errors as one sentence each.

    A command that SIGTERM or SIGHUP ends leaves nothing half written.
    """
    return reporting_screen(ended_by_signals()(command))


def on_database(command: Callable[..., None]) -> Callable[..., None]:
    """The options --db and --json, with errors reported as by `reporting`.

    In a group they may stand before or after the name of a subcommand. Decorators of other
    options stand above this one.
    """

    @functools.wraps(command)
    def run(*args: Any, db: Path | None, as_json: bool, **kwargs: Any) -> None:  # noqa: ANN401 - as click calls
        context = click.get_current_context()
        outer_db, outer_json = context.obj or (None, False)
        context.obj = db or outer_db, as_json or outer_json
        command(*args, db=context.obj[0], as_json=context.obj[1], **kwargs)

    return db_option(json_option(reporting(run)))


def reporting_screen(command: Callable[P, None]) -> Callable[P, None]:
    """The same for a command that opens a screen: signals keep their default effect."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except QueryError as error:
            raise click.UsageError(f"{error} (at character {error.position + 1})") from error
        except (StoreError, FormatError, ExportError, ModelsError, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise Failure(sentence(error) + hint_of(error)) from error
        except MemoryError as error:
            raise Failure(OUT_OF_MEMORY) from error
        except KeyboardInterrupt as error:
            raise _stopped(error) from error

    return run


def _stopped(error: KeyboardInterrupt) -> Exception:
    """The exception that ends a stopped command: its notes as the message, the signal's
    status."""
    notes = [visible(note, MESSAGE_LIMIT) for note in getattr(error, "__notes__", ())]
    failure = Failure(" ".join(["stopped.", *notes]))
    if not isinstance(error, EndedError):
        return failure
    with contextlib.suppress(OSError):  # at SIGHUP nobody may be there any more
        failure.show()
    return click.exceptions.Exit(error.status)


def sentence(error: Exception) -> str:
    """The message of an expected error on one line, safe to print; then the lines of a mapping
    that it offers.
    """
    if isinstance(error, FormatError) and error.mapping:
        return f"{visible(str(error), MESSAGE_LIMIT)}\n{lines_visible(error.mapping)}"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return visible(f"{where}{error.strerror}", MESSAGE_LIMIT)
    return visible(str(error), MESSAGE_LIMIT)


def say(message: str) -> None:
    """Print a message that is no result, on standard error."""
    echo(message, err=True)


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Print text for a person; control characters are shown as visible ones."""
    click.echo(lines_visible(text), nl=nl, err=err)


def tell_lines(lines: Iterable[str]) -> None:
    for line in lines:
        echo(line)


def emit(report: object) -> None:
    """Print the one JSON object of a command: a report, a dataclass or a mapping."""
    from nfh_tui.services.reports import to_json

    click.echo(json.dumps(to_json(report)))


def picked(source: object, keys: str) -> dict[str, Any]:
    """A JSON object of attributes of `source`, of a report that no screen decodes.

    keys: in their order, each as "key", or as "key=attribute" where the attribute has another
    name or stands within another one ("key=attribute.of.it").
    """
    pairs = (word.partition("=") for word in keys.split())
    return {key: attrgetter(attribute or key)(source) for key, _, attribute in pairs}


def word(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """A callback: the value as one word, of the kind that a query can name."""
    if value is None:
        return None
    if not value or any(character.isspace() for character in value) or not _plain(value):
        raise click.BadParameter("wanted one word without white space")
    return value


def name(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """A callback: the value as somebody's name, as the store has it."""
    if value is None:
        return None
    cleaned = normal_name(value)
    if not cleaned or not _plain(cleaned):
        raise click.BadParameter(
            f"wanted a name of 1 to {NAME_LENGTH} characters, all of which can be seen"
        )
    return cleaned


def _plain(text: str) -> bool:
    return len(text) <= NAME_LENGTH and text.isprintable()


as_option = click.option(
    "--as",
    "me",
    callback=name,
    metavar="NAME",
    help="Who you are; else your user name. A name, not a login.",
)


def user() -> str:
    """The user's name on this machine, "me" where it has none."""
    try:
        return normal_name(getpass.getuser()) or "me"
    except (KeyError, OSError):
        return "me"


def known(store: "Store", wanted: str) -> "Annotator | None":
    """The annotator of this name, None if there is none."""
    return store.people.find(wanted)


def open_to_read(path: Path) -> "Store":
    """Open a database for reading, also where nothing can be written.

    Prints what of it cannot be read there. $NFH_TUI_READ_ONLY holds the reason why a guest
    with read access writes nothing. Raises StoreError.
    """
    from nfh_db.store import Store

    why = os.environ.get(config.READ_ONLY_VARIABLE)
    store = Store.open_read_only(path, why) if why else Store.open_to_read(path)
    if store.unseen:
        say(f"nfh-tui: {store.unseen}")
    return store


def parse_query(words: Iterable[str]) -> "Query":
    """The query of a command's arguments. Raises QueryError."""
    from nfh_db.query import parse

    return parse(" ".join(words))


@contextlib.contextmanager
def named_store(db: Path | None) -> "Iterator[Store | None]":
    """The database of --db, to look up models in; None without --db.

    Raises Failure where there is none at that place.
    """
    if db is None:
        yield None
        return
    try:
        store = open_to_read(db)
    except NoFileError as error:
        raise Failure(
            f"There is no database at {visible(str(db), NAME_SHOWN)} to look up a model in. "
            "Leave out --db, which a file does not need, or name another"
        ) from error
    with store:
        yield store


def open_database(db: Path | None, *, writes: bool = False) -> "Store":
    """Open the database of --db, else the default one. Raises StoreError."""
    from nfh_db.store import Store

    path = config.database(db)
    return Store.open(path) if writes else open_to_read(path)


def on_terminal() -> bool:
    """True if a person watches standard error."""
    return sys.stderr.isatty()


F = TypeVar("F", bound=Callable[..., Any])

AUTO = "auto"
"""The name of: detect the format from the content."""

COLUMNS = ("speaker", "text", "turn", "dialog")


class FormatName(click.ParamType[str | None]):
    """The name of a format; plug-ins are looked up when the command is called."""

    name = "format"

    def __init__(self, *, export: bool = False, besides: tuple[str, ...] = ()) -> None:
        self.export = export
        self.besides = besides

    def names(self) -> tuple[str, ...]:
        from nfh_db.formats.registry import readable, writable

        return writable() if self.export else (AUTO, *self.besides, *readable())

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        return "FORMAT"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | None:
        """The name, None for `auto`; an unknown name is refused."""
        from nfh_db.formats.unsupported import REMOVED

        names = self.names()
        if value in REMOVED and value not in names:
            self.fail(f"{value!r} was removed: {REMOVED[value]}", param, ctx)
        if value not in names:
            listed = ", ".join(map(repr, names))
            self.fail(f"{value!r} is not one of {listed}.", param, ctx)
        return None if value == AUTO else value


class WindowOption(click.ParamType[tuple[int, int]]):
    """Turns before and after a number's own: "2,1"."""

    name = "window"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
            self.fail(f"{value!r} is not two whole numbers such as 2,1", param, ctx)
        return int(parts[0]), int(parts[1])


def _columns(_: click.Context, __: click.Parameter, value: str | None) -> dict[str, str]:
    if value is None:
        return {}
    pairs = [part.partition("=") for part in value.split(",")]
    known = ", ".join(COLUMNS)
    for ours, sign, theirs in pairs:
        if ours.strip() not in COLUMNS or not sign or not theirs.strip():
            raise click.BadParameter(
                f"{value!r}: wanted NAME=COLUMN with commas between, NAME one of {known}"
            )
    said = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
    if len(said) < len(pairs):
        raise click.BadParameter(
            f"{value!r} names two columns for one of {known}; join those of a dialog with +"
        )
    return said


def _pause(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds")
    return value


def _encoding(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        codec = codecs.lookup(value)
        if not codec._is_text_encoding:  # noqa: SLF001
            raise LookupError
    except LookupError as error:
        raise click.BadParameter(
            f"{value!r} is not a known encoding; wanted one such as cp1252"
        ) from error
    return None if codec.name == "utf-8" else codec.name


def _map(_: click.Context, __: click.Parameter, value: Path | None) -> LabelMap | None:
    if value is None:
        return None
    try:
        return LabelMap.of_file(value)
    except FormatError as error:
        raise click.BadParameter(str(error)) from error


def map_option(command: F) -> F:
    """`--map FILE`."""
    return click.option(
        "--map",
        "labels",
        type=click.Path(path_type=Path),
        callback=_map,
        metavar="FILE",
        help="What a project's own labels mean here, in TOML; docs/formats.md shows one.",
    )(command)


OPTIONS = (
    map_option,
    click.option(
        "--offsets",
        type=click.Choice(("codepoint", "utf16")),
        help="The unit of a file's offsets, where the file does not say.",
    ),
    click.option(
        "--columns",
        callback=_columns,
        metavar="NAME=COLUMN,…",
        help=f"A table's columns: {', '.join(COLUMNS)}, as in dialog=Episode+Scene. Without it "
        "their names decide.",
    ),
    click.option(
        "--pause",
        type=click.FloatRange(min=0, min_open=True),
        callback=_pause,
        metavar="SECONDS",
        help="Subtitles: a silence of this length ends a scene.",
    ),
    click.option(
        "--encoding",
        callback=_encoding,
        metavar="NAME",
        help="The encoding of a file's text, where it is not UTF-8: cp1252, say.",
    ),
    click.option(
        "--window",
        type=WindowOption(),
        metavar="BEFORE,AFTER",
        help="Dialogs: this many turns before and after each number's own; 2,1 is the "
        "paper's. Without it, whole scenes.",
    ),
    click.option(
        "--count-rejected",
        is_flag=True,
        help="Also import answers that the file marks as rejected.",
    ),
)


READING = ("labels", "offsets", "columns", "pause", "encoding", "window", "count_rejected")
"""Parameters of a command with `reading_options`."""


def reading_options(command: F) -> F:
    """Options that say how a file is read; the command has the parameters of READING."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def of_file(options: dict[str, Any], file: object) -> "ImportOptions | None":
    """Take the options of `reading_options` out of those of a command; None for none given.

    Raises UsageError where one is given without a --file.
    """
    given = {name: value for name in READING if (value := options.pop(name))}
    if not given:
        return None
    if file is None:
        option = next(iter(given)).replace("labels", "map").replace("_", "-")
        raise click.UsageError(f"--{option} needs --file")
    from nfh_tui.services.imports import ImportOptions

    return ImportOptions(**given)


NAME_SHOWN = 200
BESIDE = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps beside a database."""


def is_database(out: Path, database: Path) -> bool:
    """True if writing to `out` would overwrite the database or what SQLite keeps beside it."""
    target, kept = _real(out), _real(database)
    return target in {kept, *(f"{kept}{end}" for end in BESIDE)}


def check_out(out: Path, read: Iterable[Path], database: Path, option: str = "--out") -> None:
    """Raise UsageError where `out` is one of the files that are read, or the database."""
    name = visible(str(out), NAME_SHOWN)
    if is_database(out, database):
        raise click.UsageError(f"{option} would overwrite the database: {name}")
    if _real(out) in map(_real, read):
        raise click.UsageError(f"{option} would overwrite {name}, which is an input")


def _real(path: Path) -> str:
    # Not Path.resolve(): that one fails for a link that leads to itself.
    return os.path.realpath(path)


out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write; without it, or with -, standard output.",
)
allow_empty_option = click.option(
    "--allow-empty",
    is_flag=True,
    help="Allow an existing file to be replaced by an empty one.",
)
parser_option = click.option(
    "--parser",
    metavar="SPEC",
    help="spacy, spacy:NAME or stanza:FOLDER; else the first English spaCy pipeline.",
)
resamples_option = click.option(
    "--resamples",
    type=click.IntRange(0, 100_000),
    default=1_000,
    help="Resamples of passages for each interval; 0 for no intervals.",
)
wait_option = click.option(
    "--wait", is_flag=True, help="Follow the job until it is done, and report."
)
background_option = click.option(
    "--background",
    is_flag=True,
    help="Queue it as a job and return; `nfh-tui jobs` shows its progress.",
)


def queued(store: "Store", new: "NewJob", db: Path | None, *, as_json: bool) -> int:
    """Queue a job, start a runner and print so. Returns the job's number.

    db: the value of --db, for the commands in the message. Raises StoreError.
    """
    job_id = store.jobs.add(new)
    if as_json:
        from nfh_tui.services.reports import QueuedJob, filled

        recipe = {key: new.arguments[key] for key in ("recipe",) if key in new.arguments}
        emit(filled(QueuedJob, new, id=job_id, task=new.task or None, **recipe))
    else:
        echo(f"job {job_id} is queued; {command(f'jobs wait {job_id}', db)} follows it")
    start(store, db)
    return job_id


def queue_or_wait(
    store: "Store", new: "NewJob", db: Path | None, name: str, *, wait: bool, as_json: bool
) -> None:
    """Queue a job and return, or follow it to its end and print its report.

    name: the title of the progress on a terminal. Raises as `queued` and `wait_and_report`.
    """
    if not wait:
        queued(store, new, db, as_json=as_json)
        return
    from nfh_tui.cli.jobs import wait_and_report

    wait_and_report(store, store.jobs.add(new), db, name, as_json=as_json)


def start(store: "Store", db: Path | None, *, waits: bool = False) -> None:
    """Start a runner; if none is started, the job stays queued and a message says so.

    waits: the call follows its job, and may work the queue itself.
    """
    from nfh_tui.jobs.runner import HERE, VARIABLE, asked_for, start_runner

    by_hand = f"{command('jobs run', db)} runs the jobs"
    try:
        if start_runner(store.path) or (waits and asked_for(HERE)):
            return
    except OSError as error:
        say(f"nfh-tui: no runner could be started ({sentence(error)});\n{by_hand}")
        return
    say(f"no runner is started ({VARIABLE}={os.environ.get(VARIABLE)}); {by_hand}")


def command(words: str, db: Path | None) -> str:
    """A command line to type, with the --db of this call."""
    where = "" if db is None else f" --db {quoted(str(db))}"
    return f"nfh-tui {words}{where}"
