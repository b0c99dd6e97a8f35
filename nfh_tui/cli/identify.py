"""`nfh-tui identify`: numbers found, and decided: is the noun of each missing?"""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import visible
from nfh_tui import places
from nfh_tui.cli.common import (
    Failure,
    QueryCommand,
    db_option,
    emit,
    json_option,
    known,
    open_to_read,
    reporting,
    say,
    tell,
    user,
)
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_db.query import Query
    from nfh_db.store import Store
    from nfh_models.identification.case import Identifier
    from nfh_tui.choosing_models import Chosen
    from nfh_tui.identifying import Tools

NAME_SHOWN = 100
PARSERS = "spacy, spacy:NAME (an installed pipeline, or its folder) or stanza:FOLDER"


@click.command(cls=QueryCommand, short_help="Find numbers, and decide which lack a noun.")
@click.argument("query", nargs=-1)
@click.option(
    "--model",
    metavar="M",
    help="A model's number, name, recipe or folder; else the active one, else the rules.",
)
@click.option(
    "--parser",
    "spec",
    metavar="SPEC",
    help=f"What parses the sentences: {PARSERS}; else the first English spaCy pipeline.",
)
@click.option(
    "--new/--no-new",
    default=True,
    show_default=True,
    help="Also add the numbers of these passages that nobody has marked yet.",
)
@click.option(
    "--again", is_flag=True, help="Also decide anew what this model has decided already."
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be added and decided; store nothing."
)
@click.option(
    "--file",
    "file",
    metavar="F",
    help="A text file, - for standard input, in place of the database.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="F",
    help="With --file: where the lines go; else to standard output.",
)
@click.option("--per-line", is_flag=True, help="With --file: each line is a text of its own.")
@db_option
@json_option
@reporting
def identify(
    query: tuple[str, ...],
    model: str | None,
    spec: str | None,
    new: bool,
    again: bool,
    dry_run: bool,
    file: str | None,
    out: Path | None,
    per_line: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Decide of each number in the passages that QUERY finds whether its noun is missing.

    Numbers that nobody has marked yet are added first, as an import adds them: all or none.
    What is decided is stored with the rule that decided, and shown in the workbench. It is
    no answer, no vote and no gold. With --file no database is needed.
    """
    if file is None:
        if out is not None or per_line:
            raise click.UsageError("--out and --per-line go with --file")
        from nfh_db.query import parse

        _in_database(parse(" ".join(query)), model, spec, db, as_json, (new, again, dry_run))
        return
    _check_alone(query, new=new, again=again, dry_run=dry_run)
    from nfh_tui.cli.identify_file import identify_file

    identify_file(file, out, model, spec, db, per_line=per_line, as_json=as_json)


def _check_alone(query: tuple[str, ...], *, new: bool, again: bool, dry_run: bool) -> None:
    """Raise UsageError for what a text has nothing to do with."""
    if query:
        raise click.UsageError("give a QUERY or --file, not both")
    if again or dry_run or not new:
        raise click.UsageError(
            "--no-new, --again and --dry-run are about the database: leave them out with --file"
        )


def _in_database(
    query: "Query",
    model: str | None,
    spec: str | None,
    db: Path | None,
    as_json: bool,
    how: tuple[bool, bool, bool],
) -> None:
    from nfh_db.records import Annotator
    from nfh_db.store import Store
    from nfh_models.identification.recipes import RULES
    from nfh_tui.choosing_models import identifier_for
    from nfh_tui.cli.identify_text import Told, report_json, report_lines
    from nfh_tui.identifying import Wanted, identify

    new, again, dry_run = how
    began = time.perf_counter()
    opened = open_to_read if dry_run else Store.open
    with opened(places.database(db)) as store:
        me = known(store, user()) or Annotator(0, user())
        chosen = identifier_for(store, model, register=not dry_run)
        if chosen.model_id is None and not dry_run:
            raise Failure(
                f"the model in {model} is none of this database's, so that what it decides "
                "could not be stored: --dry-run says what it would decide, --file takes a text"
            )
        tools = tools_of(chosen, spec)
        if not dry_run:
            _say_what_is_forgotten(store, tools)
        wanted = Wanted(query, new=new, again=again, dry_run=dry_run)
        with Steps("identify") as steps:
            report = identify(store, wanted, tools, me, steps.step)
        active = store.identifying()
    seconds = time.perf_counter() - began
    # The rules become the active model where there is none.
    shown = RULES if active is None else active.name
    is_active = shown == chosen.name and (active is None or active.model_id == chosen.model_id)
    told = Told(wanted, tools, report, seconds, is_active, db)
    if as_json:
        emit(report_json(told))
        return
    for line in report_lines(told):
        tell(line)


def _say_what_is_forgotten(store: "Store", tools: "Tools") -> None:
    """A sentence where the model decided with another parser until now."""
    chosen = tools.chosen
    before = None if chosen.model_id is None else store.decided_with(chosen.model_id)
    if before is not None and before != tools.parser_name:
        say(
            f"nfh-tui: what {visible(chosen.name, NAME_SHOWN)} decided with "
            f"{visible(before or 'no parser', NAME_SHOWN)} is forgotten: it decides with "
            f"{visible(tools.parser_name or 'none', NAME_SHOWN)} now"
        )


def tools_of(chosen: "Chosen[Identifier]", spec: str | None) -> "Tools":
    """The model with the parser that it needs, loaded; a warning where it learnt with another.

    Raises ParserError.
    """
    from nfh_models.parsing import load_parser
    from nfh_tui.entrants import other_parser
    from nfh_tui.identifying import Tools

    if chosen.aside:
        say(f"nfh-tui: {chosen.aside}")
    identifier = chosen.model
    parser = load_parser(spec, identifier.needs) if identifier.needs else None
    warning = other_parser(identifier, chosen.name, parser)
    if warning is not None:
        say(f"nfh-tui: {warning}")
    return Tools(chosen, parser, _from_anywhere(spec))


def _from_anywhere(spec: str | None) -> str | None:
    """A parser that is loaded by now, named so that it is found from any folder."""
    kind, _, name = (spec or "").partition(":")
    if not name or not Path(name).is_dir():
        return spec
    if kind == "spacy":
        from spacy.util import is_package

        if is_package(name):
            return spec
    return f"{kind}:{Path(name).resolve()}"
