"""`nfh-tui stats`: the paper's figures of its data, for any database."""

from pathlib import Path

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    QueryCommand,
    as_option,
    db_option,
    emit,
    json_option,
    known,
    open_to_read,
    reporting,
    user,
)
from nfh_tui.cli.progress import RowCounter

MOST_SHOWN = 10_000


@click.command(
    cls=QueryCommand, short_help="Count numbers, anchors, classes, heads, distances."
)
@click.argument("query", nargs=-1)
@click.option(
    "--of",
    type=click.Choice(["gold", "identified"]),
    default="gold",
    show_default=True,
    help="Who says which numbers are NFHs: gold, or the active model of identification.",
)
@click.option(
    "--by", type=click.Choice(["split", "doc"]), help="Sizes and classes by group, too."
)
@click.option(
    "--top",
    type=click.IntRange(1, MOST_SHOWN),
    default=10,
    show_default=True,
    metavar="N",
    help="How many anchors (and documents) to list.",
)
@click.option("--plot", is_flag=True, help="Draw classes, anchors and distances, too.")
@as_option
@db_option
@json_option
@reporting
def stats(
    query: tuple[str, ...],
    of: str,
    by: str | None,
    top: int,
    plot: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Count the numbers that QUERY finds, all without one, as the paper counts its data.

    The share of numbers that are NFHs, the most common anchors, classes, and where the
    heads are; the paper's own figures stand beside those that they compare with.
    """
    if plot and as_json:
        raise click.UsageError("--plot draws for people, --json is for programs: give one")
    from nfh_db.formats.wording import counted
    from nfh_db.query import parse
    from nfh_tui.cli.stats_reading import Asked, read

    text = " ".join(query)
    parsed = parse(text)
    database = places.database(db)
    asked = Asked(text, of, by, top)
    with open_to_read(database) as store, RowCounter("counting") as counter:
        found = read(
            store,
            parsed,
            known(store, me or user()),
            asked,
            lambda numbers: counter.show(counted(numbers, "number")),
        )
    if as_json:
        from nfh_tui.cli.stats_json import as_json as written

        emit(written(found, asked))
        return
    from nfh_tui.cli.stats_text import as_text

    click.echo(as_text(found, asked, plot=plot), nl=False)
