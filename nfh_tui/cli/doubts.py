"""`nfh-tui doubts`: gold that a model which has not seen it would answer otherwise."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from nfh_db.messages import counted
from nfh_tui.cli import options
from nfh_tui.cli.retrain import (
    called_wrongly,
    check_parser,
    check_recipe,
    check_settings,
    left_out_of,
    sentence_lines,
)
from nfh_tui.display_figures import percent
from nfh_tui.jobs.descriptions import count, fraction

TASKS = ("resolution", "identification")
MOST_FOLDS = 50

BY_DEFAULT = {"resolution": "linear", "identification": "svm"}
"""Recipes that start untrained: a model that has seen the gold would doubt it too little."""


@click.command(cls=options.QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--task",
    type=click.Choice(TASKS),
    default=TASKS[0],
    help="The task whose gold is checked.",
)
@click.option(
    "--recipe",
    metavar="R",
    help="The recipe that learns, as of `nfh-tui retrain`; by default linear, or svm.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the recipe, as of `nfh-tui retrain`.",
)
@click.option(
    "--folds",
    type=click.IntRange(2, MOST_FOLDS),
    default=5,
    metavar="K",
    help="Parts into which the gold is split; a model of the others judges each part.",
)
@click.option("--parser", metavar="SPEC", help="As of `nfh-tui retrain`.")
@options.wait_option
@options.as_option
@options.on_database
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
    """Find gold that a model considers unlikely, among the items that QUERY finds.

    The gold is split into parts. A model learns from all parts but one, and says for that one
    what it would answer. No model is kept, and no gold is changed: how unlikely each gold is
    is stored, for the queries doubt>0.9 and sort:doubt. It is a job; `nfh-tui jobs`
    shows its progress.
    """
    from nfh_db.query import parse
    from nfh_tui.jobs.descriptions import whole_parser, whole_setting
    from nfh_tui.jobs.doubts import TrialError, asked_of, new_doubts_job, start_of

    check_recipe(task, recipe)
    chosen = recipe or BY_DEFAULT[task]
    words = " ".join(query)
    parse(words)
    check_parser(parser)
    with options.open_database(db, writes=True) as store:
        check_settings(store, task, chosen, settings)
        new = new_doubts_job(
            task,
            chosen,
            words=tuple(map(whole_setting, settings)),
            query=words,
            folds=folds,
            parser=whole_parser(parser),
            asked_by=me or options.user(),
        )
        with called_wrongly(TrialError):
            start_of(store, asked_of(task, new.arguments))
        options.queue_or_wait(store, new, db, "doubts", wait=wait, as_json=as_json)


MOSTLY_RIGHT = 0.8
"""Agreement below which a model's doubts are mostly its own mistakes."""

OWN_MISTAKES = (
    "It agrees with so little of the gold that most of its findings are its own mistakes. "
    "Begin with the least likely gold: where this was measured (66 % agreed), 25 of the 40 "
    "least likely ones were label problems, and of 20 drawn from all 1"
)
"""The measurement stands in docs/label-trouble.md."""

ROUGH = 300
"""With fewer labels the report calls its result rough."""

FIND = "adjudicate 'doubt>0.9 sort:doubt'"


def checked_lines(result: Mapping[str, object], db: Path | None) -> Iterator[str]:
    """How many were looked at, how many are doubted, and how to see them."""
    anchors = counted(count(result.get("anchors")), "number")
    doubted = count(result.get("doubted"))
    yield f"{anchors} with gold, each answered by a model that had not seen it"
    if (right := fraction(result.get("accuracy"))) is not None:
        yield f"  {percent(right)} % of the answers agree with the gold"
    yield f"  {doubted:,} unlikely: the model gives this gold a probability below 0.1"
    found = count(result.get("anchors"))
    if found < ROUGH:
        yield from sentence_lines(
            f"Of {counted(found, 'label')} only, this is rough: models of so few know little",
            "  ",
        )
    if right is not None and right < MOSTLY_RIGHT and doubted:
        yield from sentence_lines(OWN_MISTAKES, "  ")
    yield from left_out_of(result)
    notes = result.get("notes")
    for note in notes if isinstance(notes, list) else []:
        yield from sentence_lines(str(note), "  ")
    if doubted:
        yield f"See them: {options.command(FIND, db)}"
