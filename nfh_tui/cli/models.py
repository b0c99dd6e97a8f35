"""`nfh-tui models`: the registered models, one of them in full, and which one is used."""

from collections.abc import Mapping
from pathlib import Path

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    as_option,
    db_option,
    emit,
    json_option,
    open_to_read,
    reporting,
    tell,
    user,
)
from nfh_tui.cli.models_back import back, history
from nfh_tui.cli.models_compare import compare
from nfh_tui.cli.models_given import all_models, given, one_model

DOES = {"identification": "identifies", "resolution": "resolves"}
"""Each task that uses a model, and what a model does for it."""


@click.group(
    invoke_without_command=True, short_help="List the models, show one, or put one to use."
)
@db_option
@json_option
@click.pass_context
@reporting
def models(ctx: click.Context, db: Path | None, as_json: bool) -> None:
    """List the models of the database; with a command: show one, or put one to use.

    Models are made by `nfh-tui retrain`; the small model in the package is one, and so are
    the recipes that need no training.
    """
    ctx.obj = (db, as_json)
    if ctx.invoked_subcommand is not None:
        return
    from nfh_tui.cli.models_text import listed, summary_json

    with open_to_read(places.database(db)) as store:
        found = all_models(store)
        database = store.path
    if as_json:
        emit({"models": [summary_json(model, database) for model in found]})
        return
    for line in listed(found, database):
        tell(line)


@models.command(short_help="Show a model in full.")
@click.argument("model", metavar="ID")
@db_option
@json_option
@click.pass_context
@reporting
def show(ctx: click.Context, model: str, db: Path | None, as_json: bool) -> None:
    """Show a model: what it is, how it was made, how good it was, and whether it is whole."""
    from nfh_tui.cli.models_text import full_json, full_lines

    db, as_json = given(ctx, db, as_json)
    with open_to_read(places.database(db)) as store:
        found = one_model(store, model)
        used = [one for one in store.activations() if found.id in (one.model_id, one.before_id)]
        database = store.path
    if as_json:
        emit(full_json(found, database, used))
        return
    for line in full_lines(found, database, used):
        tell(line)


@models.command(short_help="Put a model to use.")
@click.argument("model", metavar="ID")
@as_option
@db_option
@json_option
@click.pass_context
@reporting
def activate(
    ctx: click.Context, model: str, me: str | None, db: Path | None, as_json: bool
) -> None:
    """Make a model the one that its task uses; the one before is kept: `nfh-tui models back`.

    Refused where its folder is gone, its files are not what they were when it was made, or
    this program cannot use it.
    """
    from nfh_db.activations import Because
    from nfh_db.store import Store
    from nfh_tui.choosing_models import check_usable
    from nfh_tui.cli.models_text import summary_json
    from nfh_tui.cli.retrain_text import in_words, wrapped
    from nfh_tui.going_back import in_use

    db, as_json = given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        found = one_model(store, model)
        before = in_use(store)
        check_usable(store, found)
        active = store.activate_model(found.id, Because(me or user()))
        replaced = _replaced(before, in_use(store))
        database = store.path
    if as_json:
        still = {name: task for name, task in replaced.items() if task is not None}
        emit(summary_json(active, database) | {"before": list(replaced), "still": still})
        return
    instead = " and ".join(_instead(name, task) for name, task in replaced.items())
    ending = f", in place of {instead}" if instead else ""
    told = f"{active.name} is now the active model of {in_words(active.task)}{ending}"
    tell("\n".join(wrapped(told)))


def _replaced(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Each model that a task uses no more, with the task that still uses it."""
    still = {name: task for task, name in after.items()}
    return {name: still.get(name) for task, name in before.items() if after.get(task) != name}


def _instead(name: str, task: str | None) -> str:
    return name if task is None else f"{name}, which now only {DOES[task]}"


models.add_command(back)
models.add_command(compare)
models.add_command(history)
