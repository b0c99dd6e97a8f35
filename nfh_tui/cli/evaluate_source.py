"""What an evaluation is held on, alike for both tasks: a file, gold, or passages of ours."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import visible
from nfh_db.query import Query, parse
from nfh_tui import places
from nfh_tui.cli.common import open_to_read, say
from nfh_tui.cli.evaluate_call import Call
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_db.store import Store

WARNING_SHOWN = 500

Tell = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


@contextmanager
def watched(tell: Tell | None) -> Iterator[Tell]:
    """Who is told how far an evaluation is: `tell`, else whoever watches the terminal."""
    if tell is not None:
        yield tell
        return
    with Steps("evaluating") as steps:
        yield steps.step


@contextmanager
def opened(call: Call, *, looks_up: bool) -> Iterator["Store | None"]:
    """The database; None where it is not measured on and nothing has to be looked up.

    looks_up: whether a model may be one of the database's.
    """
    database = places.database(call.db)
    named = places.named_database(call.db) is not None
    if not call.of_database and not (looks_up and (named or database.exists())):
        yield None
        return

    with open_to_read(database) as store:
        yield store


def named_file(call: Call) -> Path:
    """The file of a call that is not about a database. ValueError where it names none."""
    if call.file is None:
        raise ValueError("neither a file nor a database to measure on")
    return call.file


def parsed_query(call: Call) -> Query:
    """The anchors that are measured on. Raises QueryError."""
    return parse(call.query)


def warn(sentences: Iterable[str]) -> None:
    """Say warnings on standard error."""
    for sentence in sentences:
        say(f"warning: {visible(sentence, WARNING_SHOWN)}")


def check_names(names: Iterable[str]) -> None:
    """Raise UsageError where two models are the same one by two of its names."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise click.UsageError(f"--model names {name} twice")
        seen.add(name)
