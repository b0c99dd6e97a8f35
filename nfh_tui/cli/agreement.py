"""`nfh-tui agreement`: how far those who answered agree, and how sure that is."""

from pathlib import Path

import click

from nfh_tui import config
from nfh_tui.cli.options import (
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

MOST_RESAMPLES = 100_000


@click.command(cls=QueryCommand, short_help="Measure how far annotators agree.")
@click.argument("query", nargs=-1)
@click.option(
    "--resamples",
    type=click.IntRange(0, MOST_RESAMPLES),
    default=1_000,
    show_default=True,
    help="Resamples of passages for each interval; 0 for no intervals.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="For resamples and samples: the same seed gives the same report.",
)
@click.option(
    "--matrix", is_flag=True, help="Show majority against minority, and who confuses what."
)
@click.option(
    "--no-skill",
    is_flag=True,
    help="Do not look for closest nouns, which needs a parser and takes longest.",
)
@as_option
@db_option
@json_option
@reporting
def agreement(
    query: tuple[str, ...],
    resamples: int,
    seed: int,
    matrix: bool,
    no_skill: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure how far annotators agree on the anchors that QUERY finds, all without one.

    Whole answers are compared, by noun; each figure has its interval, or a sentence that
    says why there is none. What experts decided is never counted as an annotator's answer.
    """
    from nfh_db.query import parse
    from nfh_models.agreement.bootstrap import Resampling
    from nfh_tui.cli.agreement_report import AgreementOptions, agreement_json
    from nfh_tui.services.agreement import measure

    text = " ".join(query)
    parsed = parse(text)
    database = config.database(db)
    with (
        open_to_read(database) as store,
        RowCounter("reading") as reading,
        RowCounter("looking for nouns") as tagging,
    ):
        found = measure(
            store,
            parsed,
            known(store, me or user()),
            Resampling(resamples, seed),
            with_skill=not no_skill,
            progress=reading,
            tagging=tagging,
        )
    asked = AgreementOptions(text, resamples, seed, db)
    if as_json:
        emit(agreement_json(found, asked))
        return
    from nfh_tui.cli.agreement_report import as_text

    click.echo(as_text(found, asked, matrix=matrix), nl=False)
