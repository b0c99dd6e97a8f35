"""`nfh-tui annotators`: how far each person's answers can be trusted, and how they change."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import config
from nfh_tui.cli.options import (
    Failure,
    QueryCommand,
    as_option,
    db_option,
    emit,
    json_option,
    known,
    open_to_read,
    reporting,
    tell,
    user,
)
from nfh_tui.cli.progress import RowCounter

if TYPE_CHECKING:
    from nfh_models.agreement.drift import Cut

BLOCKS = ("tenths", "weeks", "days")


@click.command(cls=QueryCommand, short_help="Tell how far each annotator can be trusted.")
@click.argument("query", nargs=-1)
@click.option(
    "--blocks",
    type=click.Choice(BLOCKS),
    default=BLOCKS[0],
    show_default=True,
    help="How each person's answers are cut into stretches of time.",
)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Print this person only; may be repeated."
)
@click.option("--matrix", is_flag=True, help="Print Dawid and Skene's matrices, too.")
@click.option(
    "--no-nouns",
    is_flag=True,
    help="Do not look for closest nouns, which needs a parser.",
)
@click.option(
    "--remember",
    is_flag=True,
    help="Keep each person's figure: proposals in the workbench weigh votes by it.",
)
@click.option("--forget", is_flag=True, help="Undo --remember; nothing is reported.")
@as_option
@db_option
@json_option
@reporting
def annotators(
    query: tuple[str, ...],
    blocks: "Cut",
    only: tuple[str, ...],
    matrix: bool,
    no_nouns: bool,
    remember: bool,
    forget: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Tell how far each annotator can be trusted on what QUERY finds, all without one.

    Against what experts decided, by the models of Dawid and Skene and MACE, and over time.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.services.annotators import look_at_people, remember_people

    if forget:
        _forget(config.database(db), remember=remember, as_json=as_json)
        return
    parsed = parse(" ".join(query))
    opened = Store.open if remember else open_to_read
    with opened(config.database(db)) as store, RowCounter("reading answers") as progress:
        told = look_at_people(
            store,
            parsed,
            known(store, me or user()),
            blocks,
            progress,
            with_nouns=not no_nouns,
        )
        if remember:
            told = remember_people(store, told)
    missing = [name for name in only if name not in {p.name for p in told.competence.people}]
    if missing:
        raise Failure(f"{missing[0]} answered none of these items as an annotator")
    from nfh_tui.cli.annotators_report import as_object, as_text

    if as_json:
        emit(as_object(told, only))
    else:
        click.echo(as_text(told, only, matrix=matrix), nl=False)


def _forget(database: Path, *, remember: bool, as_json: bool) -> None:
    from nfh_db.store import Store

    if remember:
        raise click.UsageError("--remember and --forget exclude each other")
    with Store.open(database) as store:
        forgotten = store.forget_competences()
    if as_json:
        emit({"forgotten": forgotten})
    else:
        tell("Forgotten: votes count alike again." if forgotten else "Nothing was kept.")
