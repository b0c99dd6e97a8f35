"""The commands that open the workbench: `demo`, `browse`, `annotate`, `adjudicate`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    Failure,
    QueryCommand,
    as_option,
    db_option,
    no_db_option,
    reporting_screen,
    say,
    user,
)

MODES = ("browse", "annotate", "adjudicate")

query_argument = click.argument("query", nargs=-1)


@click.command(short_help="Open the sample corpus in the workbench.")
@click.option("--fresh", is_flag=True, help="Start again; the old copy is kept beside it.")
@as_option
@no_db_option
@reporting_screen
def demo(fresh: bool, me: str | None) -> None:
    """Open the sample corpus in the workbench: dialogs with three annotators' answers.

    It is copied to your data folder once; what you decide in it stays.
    """
    from nfh_tui.demo import demo_database, ensure_demo, first_query, set_aside

    _need_terminal()
    path = demo_database()
    if fresh:
        kept = set_aside(path)
        if kept is not None:
            say(f"The old copy is kept as {kept}")
    ensure_demo(path)
    me = me or user()
    _open(path, me, "adjudicate", first_query(path, me))


@click.command(cls=QueryCommand, short_help="Open the workbench, to read.")
@query_argument
@as_option
@click.option("--mode", type=click.Choice(MODES), default="browse", show_default=True)
@db_option
@reporting_screen
def browse(query: Sequence[str], me: str | None, mode: str, db: Path | None) -> None:
    """Open the workbench on the anchors that QUERY finds, all of them without one."""
    _start(db, me, mode, query)


@click.command(cls=QueryCommand, short_help="Open the workbench, to give your own answers.")
@query_argument
@as_option
@db_option
@reporting_screen
def annotate(query: Sequence[str], me: str | None, db: Path | None) -> None:
    """Open the workbench to give your own answers; other people's are not shown."""
    _start(db, me, "annotate", query)


@click.command(cls=QueryCommand, short_help="Open the workbench, to decide the gold.")
@query_argument
@as_option
@db_option
@reporting_screen
def adjudicate(query: Sequence[str], me: str | None, db: Path | None) -> None:
    """Open the workbench to decide what counts, with everybody's answers in view."""
    _start(db, me, "adjudicate", query)


def _start(db: Path | None, me: str | None, mode: str, query: Sequence[str]) -> None:
    from nfh_db.query import asked_by, parse
    from nfh_db.records import Role

    text = " ".join(query)
    role = Role.ANNOTATOR if mode == "annotate" else Role.ADJUDICATOR
    asked_by(parse(text), role, me or user())
    _need_terminal()
    _open(places.database(db), me, mode, text or None)


def _open(path: Path, me: str | None, mode: str, query: str | None) -> None:
    from nfh_tui.app import run_workbench

    status = run_workbench(path, me or user(), mode, query, tour=True)
    if status:
        raise click.exceptions.Exit(status)


def _need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure(
            "the workbench needs a terminal; in scripts, use nfh-tui import and nfh-tui export"
        )
    term = os.environ.get("TERM", "")
    if term in ("", "dumb") and os.name != "nt":
        why = f"TERM is {term}" if term else "TERM is not set"
        raise Failure(f"this terminal cannot draw screens ({why}): set TERM, or use another")
