"""`nfh-tui serve`: the workbench in a browser, for people who were invited."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    Failure,
    QueryCommand,
    db_option,
    emit,
    json_option,
    name,
    reporting_screen,
    say,
    tell,
)
from nfh_tui.cli.workbench import MODES, query_argument

if TYPE_CHECKING:
    from nfh_tui.serving.service import Service

PORT = 8000
PEOPLE_AT_ONCE = 24
NEEDED = ("aiohttp", "aiohttp_jinja2", "jinja2", "textual_serve")
INSTALL = "serve needs packages that are not installed: pip install 'nfh-tui[serve]'"
OPEN_TO_ALL = (
    "Other machines can connect to {host}, and nothing on the way is encrypted: whoever is on "
    "the network can read along, links included. Better leave --host out, let a proxy with TLS "
    "pass on to 127.0.0.1:{port}, and name its address: --public-url https://…"
)
TO_EACH = "Whoever has a link is that person: send each to its own. Ctrl-C ends the server."


def _names(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(name(ctx, parameter, value) or "" for value in values)


def _public_url(
    ctx: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> str | None:
    if value is None:
        return None
    from nfh_tui.serving.address import public_url

    try:
        return public_url(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command(cls=QueryCommand, short_help="Open the workbench in browsers, by invitation.")
@query_argument
@click.option(
    "--invite",
    "invited",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="Somebody who gets a link; again for each.",
)
@click.option(
    "--adjudicator",
    "adjudicators",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="Somebody who gets a link and decides the gold, whatever --mode says.",
)
@click.option(
    "--admin",
    "admins",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="Somebody invited who also manages models, jobs and settings.",
)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="annotate",
    show_default=True,
    help="What those of --invite do; who annotates or reads cannot change it.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where to listen; 0 takes one that is free.",
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
    show_default=True,
    help="Workbenches open at once.",
)
@db_option
@json_option
@reporting_screen
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
    """Serve the workbench on the anchors that QUERY finds, to those who were invited.

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
        from nfh_tui.serving import service
        from nfh_tui.serving.guests import Guest
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise Failure(INSTALL) from error

    guests = tuple(Guest(one, what_for, one in admins) for one, what_for in people)
    path = places.database(db)
    call = service.Call(path, guests, host, port, public_url, text or None, at_most)
    with service.opened(call) as made:
        address = made.plan.address
        if not address.is_local and public_url is None:
            say(OPEN_TO_ALL.format(host=host, port=address.port))
        _print_links(made, as_json=as_json)
        made.run()


def _check_names(names: Sequence[str], admins: Sequence[str]) -> None:
    if not names:
        raise click.UsageError("Nobody is invited: name somebody with --invite.")
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice!r} is invited twice: one name, one person.")
    missing = next((one for one in admins if one not in names), None)
    if missing is not None:
        raise click.UsageError(
            f"--admin {missing!r} is not invited: name them with --invite, too, or with "
            "--adjudicator."
        )


def _print_links(made: "Service", *, as_json: bool) -> None:
    if as_json:
        links = [
            {
                "name": link.guest.name,
                "mode": link.guest.mode,
                "admin": link.guest.admin,
                "url": link.url,
            }
            for link in made.links
        ]
        emit({"database": str(made.plan.database), "links": links})
    else:
        for link in made.links:
            tell(f"{link.guest.name} ({link.guest.words}): {link.url}")
        say(TO_EACH)
    sys.stdout.flush()
