"""`nfh-tui doubts`: gold that a model which has not seen it would answer otherwise."""

from pathlib import Path

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    QueryCommand,
    as_option,
    db_option,
    json_option,
    reporting,
    user,
)
from nfh_tui.cli.queueing import queued
from nfh_tui.cli.retrain import called_wrongly, check_parser, check_recipe, check_settings

TASKS = ("resolution", "identification")
MOST_FOLDS = 50

BY_DEFAULT = {"resolution": "linear", "identification": "svm"}
"""Recipes that begin with nothing: what knows the gold already would doubt it too little."""


@click.command(cls=QueryCommand, short_help="Look for gold that a model doubts.")
@click.argument("query", nargs=-1)
@click.option(
    "--task",
    type=click.Choice(TASKS),
    default=TASKS[0],
    show_default=True,
    help="What the gold is asked for.",
)
@click.option(
    "--recipe",
    metavar="R",
    help="What learns, as `nfh-tui retrain` has it; by default linear, or svm.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the recipe, as `nfh-tui retrain` has them.",
)
@click.option(
    "--folds",
    type=click.IntRange(2, MOST_FOLDS),
    default=5,
    show_default=True,
    metavar="K",
    help="Parts that the gold is dealt into; each is judged by a model of the others.",
)
@click.option("--parser", metavar="SPEC", help="As `nfh-tui retrain` has it.")
@click.option("--wait", is_flag=True, help="Follow the job until it is done, and report.")
@as_option
@db_option
@json_option
@reporting
def doubts(
    query: tuple[str, ...],
    task: str,
    recipe: str | None,
    settings: tuple[str, ...],
    folds: int,
    parser: str | None,
    wait: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Look for gold that a model doubts, among the anchors that QUERY finds.

    The gold is dealt into parts. A model learns from all parts but one, and says of that one
    what it would answer. No model is kept, and no gold is changed: how much each gold is
    doubted is stored, for the queries doubt>0.9 and sort:doubt. It is a job; `nfh-tui jobs`
    tells how far it is.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.jobs.check import asked
    from nfh_tui.jobs.check_opinions import TrialError, asked_of
    from nfh_tui.jobs.check_parts import start_of
    from nfh_tui.jobs.words import whole_parser, whole_setting

    check_recipe(task, recipe)
    chosen = recipe or BY_DEFAULT[task]
    words = " ".join(query)
    parse(words)
    check_parser(parser)
    with Store.open(places.database(db)) as store:
        check_settings(store, task, chosen, settings)
        new = asked(
            task,
            chosen,
            words=tuple(map(whole_setting, settings)),
            query=words,
            folds=folds,
            parser=whole_parser(parser),
            asked_by=me or user(),
        )
        with called_wrongly(TrialError):
            start_of(store, asked_of(task, new.arguments))
        if wait:
            from nfh_tui.cli.following import wait_and_report

            number = store.queue_job(new)
            wait_and_report(store, number, db, "doubts", as_json=as_json)
        else:
            queued(store, new, db, as_json=as_json)
