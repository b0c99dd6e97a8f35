"""`nfh-tui predict [QUERY]`: what a model says of the anchors of a database, stored."""

from pathlib import Path

from nfh_tui import places
from nfh_tui.cli.common import emit, say, tell, user
from nfh_tui.cli.steps import Steps


def predict_database(
    words: str,
    model: str | None,
    spec: str | None,
    db: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Predict the anchors that a query finds, and say what came of it."""
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.cli.predict_words import predicted_lines
    from nfh_tui.predicting_all import Wanted, predict_all

    parse(words)  # before a database is looked for
    wanted = Wanted(words, model, spec, force, user())
    with Store.open(places.database(db)) as store, Steps("predict") as steps:
        found = predict_all(store, wanted, steps.step)
    if found.aside:
        say(f"nfh-tui: {found.aside}")
    if as_json:
        emit(found.report)
        return
    for line in predicted_lines(found.report, db):
        tell(line)


def queue_prediction(
    words: str,
    model: str | None,
    spec: str | None,
    db: Path | None,
    *,
    force: bool,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Queue a job that does the same; what is called wrongly is refused at once."""
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.choosing_resolvers import RESOLUTION
    from nfh_tui.cli.queueing import queued
    from nfh_tui.cli.retrain import check_parser, check_scheduler
    from nfh_tui.jobs.predict_all import asked
    from nfh_tui.jobs.words import whole_parser

    parse(words)
    check_parser(spec)
    check_scheduler(scheduler)
    with Store.open(places.database(db)) as store:
        if model is not None and RESOLUTION.named(store, model) is None:
            _check_recipe(model)
        new = asked(
            words,
            model=model,
            parser=whole_parser(spec),
            force=force,
            scheduler=scheduler,
            asked_by=user(),
        )
        queued(store, new, db, as_json=as_json)


def _check_recipe(model: str) -> None:
    """Raise RecipeError for what is neither registered nor will be."""
    from nfh_tui.choosing_resolvers import RESOLUTION, RecipeError

    if model not in RESOLUTION.registered:
        raise RecipeError(
            f"{model!r} names no model of this database: `nfh-tui models` lists them"
        )
