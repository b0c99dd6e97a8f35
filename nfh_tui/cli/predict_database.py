"""`nfh-tui predict [QUERY]`: what a model says of the anchors of a database, stored."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import counted, visible
from nfh_models.domain import Kind
from nfh_tui import places
from nfh_tui.cli.common import Failure, emit, known, say, user
from nfh_tui.cli.predict_text import window_note
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_models.parsing import Parser
    from nfh_models.resolution.item import Resolver
    from nfh_tui.choosing_models import Chosen
    from nfh_tui.predicting_store import Predictions, Resolution

NAME_SHOWN = 100


@dataclass(frozen=True, slots=True)
class _Told:
    """What was asked, with what it was done, and what came of it. active: it is shown."""

    query: str
    tools: "Resolution"
    report: "Predictions"
    active: bool
    seconds: float


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
    from nfh_db.records import Annotator
    from nfh_db.store import Store
    from nfh_tui.choosing_resolvers import RESOLUTION, TASK, resolver_for
    from nfh_tui.predicting_store import Resolution, predict_stored

    query = parse(words)
    began = time.perf_counter()
    with Store.open(places.database(db)) as store:
        me = known(store, user()) or Annotator(0, user())
        chosen = resolver_for(store, model)
        if chosen.aside:
            say(f"nfh-tui: {chosen.aside}")
        _check_stored(chosen, model)
        tools = Resolution(chosen, _parser(chosen, spec))
        with Steps("predict") as steps:
            report = predict_stored(store, query, tools, me, steps.step, force=force)
        active = RESOLUTION.named(store, None)
    shown = active is not None and active.id == chosen.model_id
    told = _Told(query.text, tools, report, shown, time.perf_counter() - began)
    if as_json:
        emit(_json(told, TASK))
        return
    for line in _lines(told, db):
        click.echo(line)


def _check_stored(chosen: "Chosen[Resolver]", model: str | None) -> None:
    if chosen.model_id is None:
        raise Failure(
            f"the model in {model} is none of this database's, so that what it predicts could "
            "not be stored; --file takes a text, or labelled rows"
        )


def _parser(chosen: "Chosen[Resolver]", spec: str | None) -> "Parser | None":
    """The parser that the model needs; None if it needs none. Raises ParserError."""
    from nfh_models.parsing import load_parser

    needs = chosen.model.needs
    return load_parser(spec, needs) if needs else None


def _lines(told: _Told, db: Path | None) -> Iterator[str]:
    report, tools = told.report, told.tools
    name = visible(tools.chosen.name, NAME_SHOWN)
    parser = f", with {visible(tools.parser_name, NAME_SHOWN)}" if tools.parser else ""
    yield f"{counted(report.anchors, 'number')}, predicted by {name}{parser}"
    before = report.anchors - report.predicted - report.silent
    yield f"  {report.predicted:,} predicted now, {before:,} before"
    if report.silent:
        yield f"  {report.silent:,} of which it says nothing"
    kinds = [f"{kind.value} {report.kinds[kind]:,}" for kind in Kind if report.kinds[kind]]
    if kinds:
        yield f"  now: {', '.join(kinds)}"
    note = window_note(tools.chosen.name, report.cut, report.predicted)
    if note:
        yield f"  {note}"
    if not told.active:
        where = "" if db is None else f" --db {db}"
        command = f"nfh-tui models activate {tools.chosen.model_id}{where}"
        yield f"  {name} is not the active model, whose predictions are shown: {command}"


def _json(told: _Told, task: str) -> dict[str, object]:
    report, tools = told.report, told.tools
    return {
        "query": told.query,
        "task": task,
        "model": tools.chosen.name,
        "recipe": tools.chosen.model.recipe,
        "version": tools.chosen.model.version,
        "parser": tools.parser_name or None,
        "active": told.active,
        "anchors": report.anchors,
        "predicted": report.predicted,
        "silent": report.silent,
        "kinds": {kind.value: report.kinds[kind] for kind in Kind if report.kinds[kind]},
        "beyond_window": report.cut,
        "seconds": round(told.seconds, 3),
    }
