"""`nfh-tui retrain`: a model out of the gold of the database."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    QueryCommand,
    db_option,
    emit,
    json_option,
    reporting,
    say,
    word,
)
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_models.identification.svm_settings import Plan

TASKS = ("identification", "resolution", "both")
TRAINABLE = {"identification": ("svm",)}
"""Each task that can be trained, with its recipes, the default first."""

QUERY_OPTION = "--query"

NO_RUNNER = (
    "There is no job runner yet: it was trained in this process, as with --wait, and was done "
    "when the command ended."
)


class RetrainCommand(QueryCommand):
    """A command whose query may also follow `--query`, a negated one, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, what follows `--query` tied to it."""
        tied: list[str] = []
        for arg in args:
            if tied and tied[-1] == QUERY_OPTION:
                tied[-1] = f"{QUERY_OPTION}={arg}"
            else:
                tied.append(arg)
        return super().parse_args(ctx, tied)


@click.command(cls=RetrainCommand, short_help="Train a model on the gold.")
@click.argument("task", metavar="TASK")
@click.argument("query", nargs=-1)
@click.option("--recipe", metavar="R", help="svm, the only one that learns yet.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the recipe: features, window, pos, ends, c, seed, folds.",
)
@click.option("--split", callback=word, help="Learn from the anchors of this split only.")
@click.option(QUERY_OPTION, "named_query", metavar="QUERY", help="The same as QUERY.")
@click.option(
    "--parser",
    metavar="SPEC",
    help="spacy, spacy:NAME or stanza:FOLDER; else the first English spaCy pipeline.",
)
@click.option("--wait", is_flag=True, help="Follow the job until it is done.")
@db_option
@json_option
@reporting
def retrain(
    task: str,
    query: tuple[str, ...],
    recipe: str | None,
    settings: tuple[str, ...],
    split: str | None,
    named_query: str | None,
    parser: str | None,
    wait: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Train a model of TASK on the gold of the anchors that QUERY finds, of all by default.

    It is tried in folds first, each passage by a model that has not seen it, and then made
    of everything. Passages that also stand in a split kept to be tried on are left out:
    "test", and with --split "dev" and "test" but for the one named.
    """
    check_recipe(task, recipe)
    plan = _plan(settings)
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.cli.retrain_text import retrained_json, retrained_lines
    from nfh_tui.training import Wanted, retrain

    wanted = Wanted(parse(" ".join([*query, named_query or ""]).strip()), split, parser, plan)
    with Store.open(places.database(db)) as store, Steps("retrain") as steps:
        done = retrain(store, wanted, steps.step)
    if as_json:
        emit(retrained_json(done))
    else:
        for line in retrained_lines(done):
            click.echo(line)
    if not wait:
        say(NO_RUNNER)


def check_recipe(task: str, recipe: str | None) -> None:
    """Raise UsageError unless a task can be trained, by this recipe where one is named."""
    if task not in TASKS:
        raise click.UsageError(f"{task!r} is no task: wanted {' or '.join(TASKS)}")
    recipes = TRAINABLE.get(task)
    if recipes is None:
        raise click.UsageError(
            f"models of {task} cannot be trained yet; {', '.join(TRAINABLE)} can"
        )
    if recipe is not None and recipe not in recipes:
        learns = "learns nothing" if recipe == "rules" else "cannot be trained"
        raise click.UsageError(
            f"the recipe {recipe!r} of {task} {learns}; {', '.join(recipes)} can be trained"
        )


def _plan(settings: tuple[str, ...]) -> "Plan":
    from nfh_models.identification.svm_settings import SettingError, plan_of

    try:
        return plan_of(settings)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
