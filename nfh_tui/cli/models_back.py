"""`nfh-tui models back`, and the history by which it goes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import visible
from nfh_tui import places
from nfh_tui.cli.common import (
    as_option,
    db_option,
    emit,
    json_option,
    open_to_read,
    reporting,
    say,
    tell,
    user,
)
from nfh_tui.cli.models_given import given
from nfh_tui.cli.retrain_text import wrapped

if TYPE_CHECKING:
    from nfh_db.activations import Activation
    from nfh_tui.going_back import Back

TASKS = ("identification", "resolution")
SHOWN = 400
MINUTES = 16
"""Characters of a time as far as its minutes."""


@click.command(short_help="Go back to the model that was used before.")
@click.argument("task", required=False, type=click.Choice(TASKS))
@as_option
@db_option
@json_option
@click.pass_context
@reporting
def back(
    ctx: click.Context, task: str | None, me: str | None, db: Path | None, as_json: bool
) -> None:
    """Use the model again that TASK used before; by default undo the last change of model.

    Nothing is lost: the model that is left is kept, and can be activated again. One that
    cannot be used any more is passed over. Going back again goes back further.
    """
    from nfh_db.store import Store
    from nfh_tui.going_back import go_back

    db, as_json = given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        done = go_back(store, task, who=me or user())
    for name, why in done.passed_over.items():
        say(f"warning: {visible(name)} is passed over: {visible(why, SHOWN)}")
    if as_json:
        emit(_json(done))
        return
    for line in _lines(done):
        tell(line)


def _json(done: "Back") -> dict[str, object]:
    return {
        "before": dict(done.before),
        "after": dict(done.after),
        "passed_over": dict(done.passed_over),
    }


def _lines(done: "Back") -> Iterator[str]:
    for task, name in done.after.items():
        before = done.before.get(task)
        instead = "" if before is None else f", in place of {visible(before)}"
        yield f"{visible(name)} is again the active model of {task}{instead}"


@click.command(short_help="Which models were used, since when, and why.")
@db_option
@json_option
@click.pass_context
@reporting
def history(ctx: click.Context, db: Path | None, as_json: bool) -> None:
    """List each time that a task came to use another model, the newest first."""

    db, as_json = given(ctx, db, as_json)
    with open_to_read(places.database(db)) as store:
        told = tuple(reversed(store.activations()))
    if as_json:
        emit({"activations": [activation_json(one) for one in told]})
        return
    if not told:
        tell("No change of model has been noted yet.")
    for line in history_lines(told):
        tell(line)


def activation_json(one: "Activation") -> Mapping[str, object]:
    """A change of model. before: null where there was none. job: null where a person did it."""
    return {
        "at": one.at,
        "task": one.task,
        "model": one.model,
        "model_id": one.model_id,
        "before": one.before,
        "who": one.who or None,
        "reason": one.reason or None,
        "job": one.job,
    }


def history_lines(told: "Sequence[Activation]") -> Iterator[str]:
    """Each change for a person: a line, and one with the reason where there is one."""
    for one in told:
        instead = "" if one.before is None else f" in place of {visible(one.before)}"
        by = f" by {visible(one.who)}" if one.who else ""
        by = f" by job {one.job}" if one.job is not None else by
        at = one.at[:MINUTES].replace("T", " ")
        yield f"{at} UTC  {one.task}: {visible(one.model)}{instead}{by}"
        if one.reason:
            yield from wrapped(one.reason, "    ")
