"""`nfh-tui retrain`: a model out of the gold of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    QueryCommand,
    as_option,
    db_option,
    emit,
    json_option,
    reporting,
    tell,
    user,
    word,
)
from nfh_tui.cli.queueing import queued

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.store import Store

IDENTIFICATION, RESOLUTION = "identification", "resolution"

TRAINABLE = {
    "identification": ("svm",),
    "resolution": ("encoder", "linear", "bilstm"),
    "both": ("encoder", "small"),
}
"""Each task that can be trained, with its recipes, the default first.

Resolution has linear for its default where encoder has nothing to start from.
"""

LEARN_NOTHING = ("rules", "deterministic", "nearest-noun", "cues")

QUERY_OPTION = "--query"


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
    help="svm; for resolution encoder, linear or bilstm; for both encoder or small. By "
    "default the first of these.",
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
@click.option("--wait", is_flag=True, help="Follow the job until it is done, and report.")
@click.option(
    "--promote/--no-promote",
    default=True,
    help="Whether the model may take over if it is found better than the one in use.  "
    "[default: --promote]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Train on a Dask cluster.")
@click.option(
    "--every",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="Not now: queue this training after every N decisions; 0: no longer.",
)
@as_option
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
    promote: bool,
    scheduler: str | None,
    every: int | None,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Train a model of TASK on the gold of the anchors that QUERY finds, of all by default.

    TASK is identification, resolution, or both. The training is a job: the command returns
    when it is queued, and `nfh-tui jobs` tells how far it is. Some passages are kept out of
    it. On these the model is compared with the one in use, and takes over if it is better.
    Passages that also stand in a split kept to be tried on are left out: "test", and with
    --split "dev" and "test" but for the one named.

    For resolution, encoder goes on from the model in use, or the one in the package (300
    labels took 70 seconds on a busy core). linear and bilstm (which needs --set
    vectors=file:PATH) begin with nothing, and are for comparison; linear needs no torch, and
    is the default where that is not installed.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.jobs.at_hand import check_at_hand
    from nfh_tui.jobs.train import asked
    from nfh_tui.jobs.words import whole_parser, whole_setting

    if every is not None and wait:
        raise click.UsageError("--every trains later: there is nothing to --wait for")
    check_recipe(task, recipe)
    words = " ".join([*query, named_query or ""]).strip()
    parse(words)
    check_parser(parser)
    check_scheduler(scheduler)
    with Store.open(places.database(db)) as store:
        chosen = recipe or usual(store, task)
        check_settings(store, task, chosen, settings)
        new = asked(
            task,
            chosen,
            words=tuple(map(whole_setting, settings)),
            query=words,
            split=split,
            parser=whole_parser(parser),
            promote=promote,
            scheduler=scheduler,
            asked_by=me or user(),
        )
        if every is not None:
            _come_round(store, every, new, as_json=as_json)
            return
        check_at_hand(store, new)
        if wait:
            from nfh_tui.cli.following import wait_and_report

            number = store.queue_job(new)
            wait_and_report(store, number, db, "retrain", as_json=as_json)
        else:
            queued(store, new, db, as_json=as_json)


def _come_round(store: "Store", every: int, new: "NewJob", *, as_json: bool) -> None:
    from nfh_tui.cli.retrain_text import in_words
    from nfh_tui.jobs.every import replaced, set_every, stop_every, told, too_few

    before = None
    if every:
        before = set_every(store, every, new)
    else:
        stop_every(store, new.task)
    if as_json:
        emit({"task": new.task, "every": every or None})
        return
    held = too_few(store)
    lines = [told(one, held) for one in store.every() if one.task == new.task]
    if before is not None:
        lines.append(replaced(before))
    for line in lines or [f"{in_words(new.task)}: trained on demand only"]:
        tell(line)


# --- what is called wrongly is told before anything is queued --------------------------------


def usual(store: "Store", task: str) -> str:
    """The recipe of a task where none is named."""
    if task != RESOLUTION:
        return TRAINABLE[task][0]
    from nfh_tui.choosing_models import ensure_built_in
    from nfh_tui.training_base import usual_recipe

    ensure_built_in(store)
    return usual_recipe(store)


def check_recipe(task: str, recipe: str | None) -> None:
    """Raise UsageError unless the task can be trained, and by the recipe, if one is named."""
    if task not in TRAINABLE:
        raise click.UsageError(f"{task!r} is no task: wanted {' or '.join(TRAINABLE)}")
    recipes = TRAINABLE[task]
    if recipe is not None and recipe not in recipes:
        learns = "learns nothing" if recipe in LEARN_NOTHING else "cannot be trained"
        raise click.UsageError(
            f"the recipe {recipe!r} of {task} {learns}; {', '.join(recipes)} can be trained"
        )


def check_settings(store: "Store", task: str, recipe: str, settings: tuple[str, ...]) -> None:
    """Raise UsageError for a wrong --set, ModelFileError for a base that does not hold."""
    from nfh_models.errors import ModelsError
    from nfh_models.model_files import ModelFileError

    if task == IDENTIFICATION:
        from nfh_tui.jobs.training_order import check_identification

        with called_wrongly(ModelsError):
            check_identification(recipe, settings)
        return
    from nfh_tui.training_base import base_for, general_of
    from nfh_tui.training_trainers import trainer_for

    with called_wrongly(ModelsError):
        general = general_of(settings)
    with called_wrongly(ModelsError, but=ModelFileError):
        base = base_for(store, recipe, general)
        trainer_for(task, recipe, general.words, base, general.device)


def check_parser(spec: str | None) -> None:
    """Raise UsageError for what describes no parser, or one that is not there."""
    from nfh_models.parsing.parsed import ParserError
    from nfh_tui.jobs.at_hand import check_parser_there

    with called_wrongly(ParserError):
        check_parser_there(spec)


def check_scheduler(address: str | None) -> None:
    """Raise UsageError for what is no address, or where Dask is missing."""
    if address is None:
        return
    from nfh_tui.scanning.connecting import check_address
    from nfh_tui.scanning.crew import CrewError

    with called_wrongly(CrewError):
        check_address(address)


@contextmanager
def called_wrongly(
    kind: type[Exception], but: type[Exception] | tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Errors of a kind are the caller's: exit status 2."""
    try:
        yield
    except but:
        raise
    except kind as error:
        raise click.UsageError(str(error)) from error
