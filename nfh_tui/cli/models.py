"""`nfh-tui models`: the registered models, one of them in full, and which one is used."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import places
from nfh_tui.cli.common import Failure, db_option, emit, json_option, reporting

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

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
    from nfh_db.store import Store
    from nfh_tui.cli.models_text import listed, summary_json

    with Store.open_to_read(places.database(db)) as store:
        found = _all(store)
        database = store.path
    if as_json:
        emit({"models": [summary_json(model, database) for model in found]})
        return
    for line in listed(found, database):
        click.echo(line)


@models.command(short_help="Show a model in full.")
@click.argument("model", metavar="ID")
@db_option
@json_option
@click.pass_context
@reporting
def show(ctx: click.Context, model: str, db: Path | None, as_json: bool) -> None:
    """Show a model: what it is, how it was made, how good it was, and whether it is whole."""
    from nfh_db.store import Store
    from nfh_tui.cli.models_text import full_json, full_lines

    db, as_json = _given(ctx, db, as_json)
    with Store.open_to_read(places.database(db)) as store:
        found = _one(store, model)
        database = store.path
    if as_json:
        emit(full_json(found, database))
        return
    for line in full_lines(found, database):
        click.echo(line)


@models.command(short_help="Put a model to use.")
@click.argument("model", metavar="ID")
@db_option
@json_option
@click.pass_context
@reporting
def activate(ctx: click.Context, model: str, db: Path | None, as_json: bool) -> None:
    """Make a model the one that its task uses; the one before is kept, and can come back.

    Refused where its folder is gone, its files are not what they were when it was made, or
    this program cannot use it.
    """
    from nfh_db.store import Store
    from nfh_tui.choosing_models import check_usable
    from nfh_tui.cli.models_text import summary_json
    from nfh_tui.cli.retrain_text import in_words

    db, as_json = _given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        found = _one(store, model)
        before = _in_use(store)
        check_usable(store, found)
        active = store.activate_model(found.id)
        replaced = _replaced(before, _in_use(store))
        database = store.path
    if as_json:
        still = {name: task for name, task in replaced.items() if task is not None}
        emit(summary_json(active, database) | {"before": list(replaced), "still": still})
        return
    instead = " and ".join(_instead(name, task) for name, task in replaced.items())
    ending = f", in place of {instead}" if instead else ""
    click.echo(f"{active.name} is now the active model of {in_words(active.task)}{ending}")


def _in_use(store: "Store") -> dict[str, str]:
    """The model that each task uses, by the task."""
    found = {task: store.active_model(task) for task in DOES}
    return {task: model.name for task, model in found.items() if model is not None}


def _replaced(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Each model that a task uses no more, with the task that still uses it."""
    still = {name: task for task, name in after.items()}
    return {name: still.get(name) for task, name in before.items() if after.get(task) != name}


def _instead(name: str, task: str | None) -> str:
    return name if task is None else f"{name}, which now only {DOES[task]}"


def _given(ctx: click.Context, db: Path | None, as_json: bool) -> tuple[Path | None, bool]:
    """The options, whether they stand before or behind the command's name."""
    outer_db, outer_json = ctx.obj
    return db or outer_db, as_json or outer_json


def _all(store: "Store") -> tuple["Model", ...]:
    """All models; those that need no training are registered, where that can be written."""
    from nfh_tui.choosing_models import ensure_built_in

    ensure_built_in(store)
    return store.models()


def _one(store: "Store", wanted: str) -> "Model":
    """A model by its number or name. Raises Failure for one that is not there."""
    from nfh_db.formats.wording import shown

    found = _all(store)
    for model in found:
        if wanted in (str(model.id), model.name):
            return model
    names = ", ".join(f"{model.id} ({model.name})" for model in found) or "none yet"
    raise Failure(f"there is no model {shown(wanted)}; there are: {names}")
