"""`nfh-tui models compare`: two models item by item, on the gold of the database."""

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
    known,
    open_to_read,
    reporting,
    tell,
    user,
)
from nfh_tui.cli.models_given import given, one_model

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.query import Query
    from nfh_db.store import Store

ITEMS = 10


@click.command(cls=QueryCommand, short_help="Two models item by item, on the gold.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("query", nargs=-1)
@click.option(
    "--task",
    type=click.Choice(("identification", "resolution")),
    help="In which task; resolution where both do both.",
)
@click.option("--predict", is_flag=True, help="Have both answer first what they have not yet.")
@click.option(
    "--parser",
    metavar="SPEC",
    help="With --predict: spacy, spacy:NAME or stanza:FOLDER.",
)
@click.option(
    "--items",
    type=click.IntRange(min=0),
    default=ITEMS,
    show_default=True,
    help="Of those that one alone has right, show so many of each.",
)
@as_option
@db_option
@json_option
@click.pass_context
@reporting
def compare(
    ctx: click.Context,
    first: str,
    second: str,
    query: tuple[str, ...],
    task: str | None,
    predict: bool,
    parser: str | None,
    items: int,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Compare the models A and B on the gold that QUERY finds, item by item.

    Compared is what both have answered and is stored, as by `nfh-tui predict --model A`; an
    item is right as in `hit:` and `miss:` of the query language. The difference is tested as
    `nfh-tui evaluate` does. What you have still to decide blind is left out.
    """
    from nfh_db.query import parse
    from nfh_tui.cli.models_compare_text import as_json as told
    from nfh_tui.cli.models_compare_text import lines
    from nfh_tui.comparing_models import compare_models, task_of

    wanted = parse(" ".join(query))
    db, as_json = given(ctx, db, as_json)
    with open_to_read(places.database(db)) as store:
        models = one_model(store, first), one_model(store, second)
        if models[0].id == models[1].id:
            raise click.UsageError(f"{models[0].name} is compared with itself: name another")
        chosen = task_of(*models, task)
        if predict:
            _predict(store, chosen, models, wanted, parser)
        found = compare_models(store, chosen, *models, wanted, _hidden(store, me or user()))
    if as_json:
        emit(told(found))
        return
    for line in lines(found, items, db):
        tell(line)


def _hidden(store: "Store", me: str) -> frozenset[int]:
    """What somebody has still to decide blind: its gold is not told."""
    found = known(store, me)
    return frozenset() if found is None else store.to_decide_blind(found)


def _predict(
    store: "Store",
    task: str,
    models: "tuple[Model, Model]",
    query: "Query",
    parser: str | None,
) -> None:
    """Have both answer what they have not yet, and store it."""
    from nfh_tui.cli.steps import Steps
    from nfh_tui.predicting_all import Wanted, predict_all

    if task != "resolution":
        raise click.UsageError(
            "--predict is of resolution; what models of identification say of passages is "
            "stored by nfh-tui identify --model M"
        )
    text = " ".join([*([query.text] if query.text else []), "state:decided"])
    with Steps("predict") as steps:
        for model in models:
            wanted = Wanted(query=text, model=str(model.id), parser=parser, who=user())
            predict_all(store, wanted, steps.step)
