"""What the commands share: their options, their reports, and how they fail."""

import contextlib
import errno
import functools
import getpass
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, ParamSpec

import click

from nfh_db.errors import ExportError, FormatError, QueryError, StoreError
from nfh_db.formats.fields import NAME_LENGTH
from nfh_db.formats.wording import lines_visible, visible
from nfh_models.errors import ModelsError
from nfh_tui import places
from nfh_tui.demo import hint_of
from nfh_tui.ending import EndedError, tidily

if TYPE_CHECKING:
    from nfh_db.records import Annotator
    from nfh_db.store import Store

P = ParamSpec("P")

MESSAGE_LIMIT = 2000


NEGATED = re.compile(r"-[^-]")
"""How a negated term of a query starts, as "-class:OTHER"; options start with two dashes."""


class QueryCommand(click.Command):
    """A command with a query: "-class:OTHER" is a term of it, not an option.

    Terms are joined by *and*, so the negated ones may go to the end.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, negated terms after all options."""
        end = args.index("--") if "--" in args else len(args)
        before, after = args[:end], args[end + 1 :]
        terms = [arg for arg in before if NEGATED.match(arg) and arg != "-h"]
        options = [arg for arg in before if arg not in terms]
        return super().parse_args(ctx, [*options, "--", *terms, *after])


class Failure(click.ClickException):
    """The work failed: one sentence on standard error, exit status 1."""

    exit_code = 1

    def show(self, file: IO[str] | None = None) -> None:
        """Print the sentence."""
        click.echo(f"nfh-tui: {lines_visible(self.message)}", file=file, err=file is None)


db_option = click.option(
    "--db",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help=f"The database; else ${places.DATABASE_VARIABLE}, else {places.DATABASE_NAME} here, "
    "else the one in your data folder.",
)
no_db_option = click.option(
    "--db",
    type=click.Path(path_type=Path),
    metavar="PATH",
    expose_value=False,
    help="Accepted as on every command; no database is read.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, for programs."
)


def reporting(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the errors that a person can do something about into one sentence each.

    A command that SIGTERM or SIGHUP ends leaves nothing half written.
    """
    return _worded(tidily()(command))


def reporting_screen(command: Callable[P, None]) -> Callable[P, None]:
    """The same for a command that opens a screen, which signals end as they always do."""
    return _worded(command)


def _worded(command: Callable[P, None]) -> Callable[P, None]:
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
        except KeyboardInterrupt as error:
            raise _stopped(error) from error

    return run


def _stopped(error: KeyboardInterrupt) -> Exception:
    """How a stopped command ends: with what is left of its work, and the signal's status."""
    notes = [visible(note, MESSAGE_LIMIT) for note in getattr(error, "__notes__", ())]
    failure = Failure(" ".join(["stopped.", *notes]))
    if not isinstance(error, EndedError):
        return failure
    with contextlib.suppress(OSError):  # at SIGHUP nobody may be there any more
        failure.show()
    return click.exceptions.Exit(error.status)


def sentence(error: Exception) -> str:
    """What an expected error says, on one line and safe to print."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return visible(f"{where}{error.strerror}", MESSAGE_LIMIT)
    return visible(str(error), MESSAGE_LIMIT)


def say(message: str) -> None:
    """Tell the person something that is no result, on standard error."""
    tell(message, err=True)


def tell(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Print text for a person: names and texts in it steer no terminal."""
    click.echo(lines_visible(text), nl=nl, err=err)


def emit(report: Mapping[str, object]) -> None:
    """Print the one JSON object of a command."""
    click.echo(json.dumps(report))


def word(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """A callback: the value as one word, of the kind that a query can name."""
    if value is None:
        return None
    if not value or any(character.isspace() for character in value) or not _plain(value):
        raise click.BadParameter("wanted one word without white space")
    return value


def name(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """A callback: the value as somebody's name, white space at its ends left out."""
    if value is None:
        return None
    cleaned = value.strip()
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
        return getpass.getuser() or "me"
    except (KeyError, OSError):
        return "me"


def known(store: "Store", wanted: str) -> "Annotator | None":
    """Somebody by name, None if nobody here has it: to look makes nobody."""
    return next((one for one in store.annotators() if one.name == wanted), None)


def open_to_read(path: Path) -> "Store":
    """A database that is only read, also where nothing can be written.

    What of it cannot be shown there is said. Where $NFH_TUI_READ_ONLY says why, nothing is
    written, as for a guest who only reads. Raises StoreError and its kinds.
    """
    from nfh_db.store import Store

    why = os.environ.get(places.READ_ONLY_VARIABLE)
    store = Store.open_read_only(path, why) if why else Store.open_to_read(path)
    if store.unseen:
        say(f"nfh-tui: {store.unseen}")
    return store


def on_terminal() -> bool:
    """True if a person watches standard error."""
    return sys.stderr.isatty()
