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
    from nfh_db.query import Query
    from nfh_models.identification.svm_settings import Plan

TRAINABLE = {
    "identification": ("svm",),
    "resolution": ("linear", "bilstm", "encoder"),
    "both": ("encoder", "small"),
}
"""Each task that can be trained, with its recipes, the default first."""

LEARN_NOTHING = ("rules", "deterministic", "nearest-noun", "cues")

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
@click.option(
    "--recipe",
    metavar="R",
    help="svm; for resolution linear, bilstm or encoder; for both encoder or small.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting: of the recipe, or base, dev_split, dev, device. See docs/models.md.",
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

    TASK is identification, resolution, or both. The model is tried on passages that it has
    not seen. Passages that also stand in a split kept to be tried on are left out: "test",
    and with --split "dev" and "test" but for the one named.
    """
    chosen = check_recipe(task, recipe)
    from nfh_db.query import parse

    words = " ".join([*query, named_query or ""]).strip()
    if task == "identification":
        found, lines = _identification(parse(words), settings, split, parser, db)
    else:
        found, lines = _resolution(task, chosen, parse(words), settings, split, parser, db)
    if as_json:
        emit(found)
    else:
        for line in lines:
            click.echo(line)
    if not wait:
        say(NO_RUNNER)


Report = tuple[dict[str, object], list[str]]
"""The report of a job that is done, as JSON and in lines."""


def _identification(
    query: "Query",
    settings: tuple[str, ...],
    split: str | None,
    parser: str | None,
    db: Path | None,
) -> Report:
    plan = _plan(settings)
    from nfh_db.store import Store
    from nfh_tui.cli.retrain_text import retrained_json, retrained_lines
    from nfh_tui.training import Wanted, retrain

    wanted = Wanted(query, split, parser, plan)
    with Store.open(places.database(db)) as store, Steps("retrain") as steps:
        done = retrain(store, wanted, steps.step)
    return retrained_json(done), list(retrained_lines(done))


def _resolution(
    task: str,
    recipe: str,
    query: "Query",
    settings: tuple[str, ...],
    split: str | None,
    parser: str | None,
    db: Path | None,
) -> Report:
    from nfh_db.store import Store
    from nfh_models.errors import ModelsError
    from nfh_models.model_files import ModelFileError
    from nfh_tui.cli.retrain_resolution_text import retrained_json, retrained_lines
    from nfh_tui.training_base import base_for, general_of
    from nfh_tui.training_resolution import Wanted, retrain
    from nfh_tui.training_trainers import TrainerError, trainer_for

    try:
        general = general_of(settings)
    except TrainerError as error:
        raise click.UsageError(str(error)) from error
    with Store.open(places.database(db)) as store, Steps("retrain") as steps:
        base = base_for(store, recipe, general)
        try:
            trainer = trainer_for(task, recipe, general.words, base, general.device)
        except ModelFileError:
            raise
        except ModelsError as error:
            raise click.UsageError(str(error)) from error
        wanted = Wanted(task, trainer, query, split, parser, general.dev_split, general.dev)
        done = retrain(store, wanted, steps.step)
    return retrained_json(done), list(retrained_lines(done))


def check_recipe(task: str, recipe: str | None) -> str:
    """The recipe; the task's first where none is named.

    Raises UsageError unless the task can be trained, and by that recipe.
    """
    if task not in TRAINABLE:
        raise click.UsageError(f"{task!r} is no task: wanted {' or '.join(TRAINABLE)}")
    recipes = TRAINABLE[task]
    if recipe is not None and recipe not in recipes:
        learns = "learns nothing" if recipe in LEARN_NOTHING else "cannot be trained"
        raise click.UsageError(
            f"the recipe {recipe!r} of {task} {learns}; {', '.join(recipes)} can be trained"
        )
    return recipe or recipes[0]


def _plan(settings: tuple[str, ...]) -> "Plan":
    from nfh_models.identification.svm_settings import plan_of
    from nfh_models.setting_words import SettingError

    try:
        return plan_of(settings)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
