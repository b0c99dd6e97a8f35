"""The commands that open the workbench or serve it, `nfh-tui init`, `nfh-tui formats` and
`nfh-tui keys`.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.messages import quoted, visible
from nfh_tui import config
from nfh_tui.cli import options

if TYPE_CHECKING:
    from nfh_db.errors import LikeNameError
    from nfh_tui.config import Config
    from nfh_tui.serving.server import Service


@click.command()
@click.argument("name", required=False)
@options.no_db_option
@options.json_option
@options.reporting
def formats(name: str | None, as_json: bool) -> None:
    """List the file formats, for import or export; with NAME, describe one.

    That is what of an answer it can hold and where, its settings, and a line of it.
    """
    from nfh_db.formats.registry import known
    from nfh_tui.cli.files import described, details, overview

    found, troubles = known()
    for trouble in troubles:
        options.say(f"nfh-tui: {visible(trouble, options.MESSAGE_LIMIT)}")
    if name is not None and not (found := tuple(one for one in found if one.name == name)):
        raise click.UsageError(_no_format(name, [one.name for one in known()[0]]))
    if as_json:
        options.emit({"formats": list(map(described, found))})
        return
    options.tell_lines(overview(found) if name is None else details(found[0]))


def _no_format(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    from nfh_db.formats.unsupported import REMOVED

    if name in REMOVED:
        return f"The format {name} was removed: {REMOVED[name]}"
    near = [one for one in names if name and name in one] or get_close_matches(name, names, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"There is no format {visible(name)}{meant}; there are {', '.join(names)}"


@click.command()
@click.option("--check", is_flag=True, help="Only say what in your file cannot be used.")
@options.no_db_option
@options.json_option
@options.reporting
def keys(check: bool, as_json: bool) -> None:
    """List the keys of the workbench by purpose, and the file of your own keys.

    Your file is nfh-tui.toml in your data folder. With --check the exit status is 1 if
    something in it cannot be used.
    """
    from nfh_tui.actions import key_table_text
    from nfh_tui.config import config_files, load

    config = load()
    files = config_files()
    troubles = [*config.troubles, *_theme_troubles(config)]
    if as_json:
        options.emit(
            {
                "keys": [
                    options.picked(action, "id group keys shown title description")
                    | {"own": action.id in config.keymap.own}
                    for action in config.keymap.actions
                ],
                "files": [{"path": str(f), "found": f in config.files} for f in files],
                "theme": config.theme,
                "themes": [theme.name for theme in config.themes],
                "workbench": asdict(config.options),
                "troubles": troubles,
            }
        )
    elif not check:
        options.echo(key_table_text(config.keymap.actions), nl=False)
        options.echo(_files_text(config, files), nl=False)
    for trouble in troubles:
        options.say(f"nfh-tui: {visible(trouble, options.MESSAGE_LIMIT)}")
    if check and troubles:
        raise click.exceptions.Exit(1)
    if check and not as_json:
        options.echo("Nothing is wrong with your settings." if config.files else NO_FILE)


NO_FILE = "There is no file of your own; the keys are those of the program."


def _files_text(config: "Config", files: Sequence[Path]) -> str:
    """The settings files, and the actions with keys of the user."""
    from nfh_tui.actions import key_line

    own = [a for a in config.keymap.actions if a.id in config.keymap.own]
    lines = ["", "Your own settings"]
    for path in files:
        if path in config.files or path == files[0]:
            is_read = "read" if path in config.files else "none"
            lines.append(f"  {visible(str(path), options.MESSAGE_LIMIT)}  ({is_read})")
    lines += [
        key_line(action.shown, f"{action.title} ({action.id})", config.keymap.actions)
        for action in own
    ]
    return "\n".join(lines) + "\n"


def _theme_troubles(config: "Config") -> list[str]:
    """The error of an unknown theme; Textual is imported only if one is named."""
    if config.theme is None or config.theme in [theme.name for theme in config.themes]:
        return []
    from textual.theme import BUILTIN_THEMES

    from nfh_tui.config import theme_trouble
    from nfh_tui.theme import THEMES

    known = {**BUILTIN_THEMES, **{theme.name: theme for theme in THEMES}}
    trouble = theme_trouble(config.theme, known)
    return [trouble] if trouble else []


@click.command()
@options.on_database
def init(db: Path | None, as_json: bool) -> None:
    """Make a new, empty database: at --db, else at $NFH_TUI_DB, else nfh.db here.

    The models that come with the program are active in it, and the guidelines begin with
    the text that comes with it. An existing database is not changed.
    """
    from nfh_db.store import Store
    from nfh_tui.services.models import set_up

    path = config.new_database(db)
    existed = path.exists()
    with Store.open(path, create=True) as store:
        if not existed:
            set_up(store)
    if as_json:
        options.emit({"db": str(path), "created": not existed})
    else:
        shown = visible(str(path), 200)
        options.echo(f"{shown} is there already" if existed else f"Made {shown}")


MODES = ("browse", "annotate", "adjudicate")

query_argument = click.argument("query", nargs=-1)


@click.command()
@click.option("--fresh", is_flag=True, help="Start again; the old copy is kept beside it.")
@options.as_option
@options.no_db_option
@options.reporting_screen
def demo(fresh: bool, me: str | None) -> None:
    """Open the sample corpus in the workbench: dialogs with three annotators' answers.

    It is copied to your data folder once; your decisions in it are kept.
    """
    from nfh_tui.demo import demo_database, ensure_demo, first_query, set_aside

    _need_terminal()
    path = demo_database()
    if fresh and (kept := set_aside(path)) is not None:
        options.say(f"The old copy is kept as {kept}")
    ensure_demo(path)
    me = me or options.user()
    _open(path, me, "adjudicate", first_query(path, me), command="nfh-tui demo")


@click.command(cls=options.QueryCommand)
@query_argument
@options.as_option
@click.option("--mode", type=click.Choice(MODES), default="browse")
@options.db_option
@options.reporting_screen
def browse(query: Sequence[str], me: str | None, mode: str, db: Path | None) -> None:
    """Open the workbench on the items that QUERY finds; without QUERY, on all."""
    _start(db, me, mode, query)


@click.command(cls=options.QueryCommand)
@query_argument
@options.as_option
@options.db_option
@options.reporting_screen
def annotate(query: Sequence[str], me: str | None, db: Path | None) -> None:
    """Open the workbench to give your own answers; other people's are not shown."""
    _start(db, me, "annotate", query)


@click.command(cls=options.QueryCommand)
@query_argument
@options.as_option
@options.db_option
@options.reporting_screen
def adjudicate(query: Sequence[str], me: str | None, db: Path | None) -> None:
    """Open the workbench to decide gold, with everybody's answers in view."""
    _start(db, me, "adjudicate", query)


def _start(db: Path | None, me: str | None, mode: str, query: Sequence[str]) -> None:
    from nfh_db.query import asked_by, parse
    from nfh_db.records import Role

    text = " ".join(query)
    role = Role.ANNOTATOR if mode == "annotate" else Role.ADJUDICATOR
    asked_by(parse(text), role, me or options.user())
    _need_terminal()
    _open(config.database(db), me, mode, text or None, db=db)


def _open(
    path: Path,
    me: str | None,
    mode: str,
    query: str | None,
    *,
    command: str = "nfh-tui {mode}",
    db: Path | None = None,
) -> None:
    """Run the workbench. command, db: of the command that is told at the end, to go on with."""
    from nfh_db.errors import LikeNameError
    from nfh_tui.app import run_workbench

    def run(name: str, *, new: bool = False) -> int:
        named = [] if name == options.user() else ["--as", name]
        given = [*named, *([] if db is None else ["--db", str(db)])]
        words = (quoted(word).replace("{", "{{").replace("}", "}}") for word in given)
        again = " ".join([command, *words])
        return run_workbench(path, name, mode, query, tour=True, new_person=new, again=again)

    try:
        status = run(me or options.user())
    except LikeNameError as error:
        chosen = _ask_who(error)
        status = run(chosen, new=chosen == error.name)
    if status:
        raise click.exceptions.Exit(status)


def _ask_who(error: "LikeNameError") -> str:
    """Ask which of the people with like names somebody is, or whether they are new here."""
    options.echo(f"{error.name} is new here, and like a known name. Who are you?")
    answers = {str(number): one for number, one in enumerate(error.alike, 1)}
    for key, one in answers.items():
        options.echo(f"  {key}  {one}, who is known")
    options.echo(f"  n  {error.name}, somebody else, who is new")
    key = click.prompt("Choose", type=click.Choice([*answers, "n"]))
    return answers.get(key, error.name)


def _need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise options.Failure(
            "the workbench needs a terminal; in scripts, use nfh-tui import and nfh-tui export"
        )
    term = os.environ.get("TERM", "")
    if term in ("", "dumb") and os.name != "nt":
        why = f"TERM is {term}" if term else "TERM is not set"
        raise options.Failure(
            f"this terminal cannot draw screens ({why}): set TERM, or use another"
        )


PORT = 8000
PEOPLE_AT_ONCE = 24
NEEDED = ("aiohttp", "aiohttp_jinja2", "jinja2", "textual_serve")
INSTALL = "serve needs packages that are not installed: pip install 'nfh-tui[serve]'"
OPEN_TO_ALL = (
    "Other machines can connect to {host}, and the connection is not encrypted: anybody on "
    "the network can read it, links included. It is safer to leave out --host, to let a "
    "proxy with TLS forward to 127.0.0.1:{port}, and to name its address: --public-url "
    "https://…"
)
TO_EACH = (
    "A link identifies its person: send each link only to that person. Ctrl-C ends the server."
)


def _names(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(options.name(ctx, parameter, value) or "" for value in values)


def _public_url(
    ctx: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> str | None:
    if value is None:
        return None
    from nfh_tui.serving.access import public_url

    try:
        return public_url(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command(cls=options.QueryCommand)
@query_argument
@click.option(
    "--invite",
    "invited",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="Invite this person; repeat it for more people.",
)
@click.option(
    "--adjudicator",
    "adjudicators",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="Invite this person as an adjudicator, whatever --mode says.",
)
@click.option(
    "--admin",
    "admins",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="This invited person also manages models, jobs and settings.",
)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="annotate",
    help="The mode of those invited with --invite; annotators and readers cannot change it.",
)
@click.option("--host", default="127.0.0.1", help=("The address to listen on."))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--public-url",
    callback=_public_url,
    metavar="URL",
    help="The address of a proxy in front, as https://nfh.example.org.",
)
@click.option(
    "--at-most",
    type=click.IntRange(1, 1000),
    default=PEOPLE_AT_ONCE,
    help="How many workbenches can be open at once.",
)
@options.db_option
@options.json_option
@options.reporting_screen
def serve(
    query: Sequence[str],
    invited: tuple[str, ...],
    adjudicators: tuple[str, ...],
    admins: tuple[str, ...],
    mode: str,
    host: str,
    port: int,
    public_url: str | None,
    at_most: int,
    db: Path | None,
    as_json: bool,
) -> None:
    """Serve the workbench on the items that QUERY finds to invited people.

    Prints a link for each of them. Links hold until the server ends (Ctrl-C).
    """
    from nfh_db.query import asked_by, parse
    from nfh_db.records import Role

    people = [(one, mode) for one in invited] + [(one, "adjudicate") for one in adjudicators]
    _check_names([one for one, _ in people], admins)
    text = " ".join(query)
    asked = parse(text)
    for person, what_for in people:
        role = Role.ANNOTATOR if what_for == "annotate" else Role.ADJUDICATOR
        asked_by(asked, role, person)
    try:
        from nfh_tui.serving import server
        from nfh_tui.serving.access import Guest
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise options.Failure(INSTALL) from error

    guests = tuple(Guest(one, what_for, one in admins) for one, what_for in people)
    path = config.database(db)
    call = server.ServeOptions(path, guests, host, port, public_url, text or None, at_most)
    with server.opened(call) as made:
        address = made.plan.address
        if not address.is_local and public_url is None:
            options.say(OPEN_TO_ALL.format(host=host, port=address.port))
        _print_links(made, as_json=as_json)
        made.run()


def _check_names(names: Sequence[str], admins: Sequence[str]) -> None:
    if not names:
        raise click.UsageError("Nobody is invited: name a person with --invite.")
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice!r} is invited twice: name each person once.")
    if (missing := next((one for one in admins if one not in names), None)) is not None:
        raise click.UsageError(
            f"--admin {missing!r} is not invited: name them with --invite, too, or with "
            "--adjudicator."
        )


def _print_links(made: "Service", *, as_json: bool) -> None:
    if as_json:
        links = [asdict(guest) | {"url": url} for guest, url in made.links.items()]
        options.emit({"database": str(made.plan.database), "links": links})
    else:
        for guest, url in made.links.items():
            options.echo(f"{guest.name} ({guest.words}): {url}")
        options.say(TO_EACH)
    sys.stdout.flush()
