"""A prediction of all that a query finds, as the command and the job of that name do it."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_db.query import parse
from nfh_db.records import Annotator
from nfh_models.domain import Kind
from nfh_models.resolution.recipes import RecipeError
from nfh_tui.choosing_resolvers import RESOLUTION, TASK, resolver_for
from nfh_tui.predicting_store import Predictions, Progress, Resolution, predict_stored

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.parsing import Parser
    from nfh_models.resolution.item import Resolver
    from nfh_tui.choosing_models import Chosen


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be predicted. query: as typed. model, parser: as --model and --parser have
    them, None for the default. force: also what this model has predicted before. who: whose
    queue the query is about. scheduler: the address of a cluster that is to do it."""

    query: str = ""
    model: str | None = None
    parser: str | None = None
    force: bool = False
    who: str = ""
    scheduler: str | None = None


@dataclass(frozen=True, slots=True)
class Predicted:
    """What came of it. report: as JSON has it. aside: why another model answered, or "".
    warnings: sentences about the machines that did it."""

    report: Mapping[str, object]
    aside: str
    warnings: tuple[str, ...] = ()


def predict_all(store: "Store", wanted: Wanted, progress: Progress) -> Predicted:
    """Predict, store what was predicted, and report.

    Raises QueryError, StoreError, ModelsError; a KeyboardInterrupt leaves what is stored by
    then, and the same again goes on from there.
    """
    query = parse(wanted.query)
    began = time.perf_counter()
    me = _known(store, wanted.who)
    chosen = resolver_for(store, wanted.model)
    _check_stored(chosen, wanted.model)
    with ExitStack() as machines:
        tools, warnings = _tools(store, chosen, wanted, machines)
        found = predict_stored(store, query, tools, me, progress, force=wanted.force)
    active = RESOLUTION.named(store, None)
    report = _as_json(query.text, tools, found) | {
        "active": active is not None and active.id == chosen.model_id,
        "seconds": round(time.perf_counter() - began, 3),
    }
    return Predicted(report, chosen.aside, warnings)


def _tools(
    store: "Store", chosen: "Chosen[Resolver]", wanted: Wanted, machines: ExitStack
) -> tuple[Resolution, tuple[str, ...]]:
    """What predicts, here or on the machines of a cluster while `machines` holds; warnings."""
    if wanted.scheduler is None:
        return Resolution(chosen, _parser(chosen, wanted.parser)), ()
    from nfh_tui.jobs.cluster_predicting import resolving_at

    at = resolving_at(wanted.scheduler, store, chosen, wanted.parser)
    elsewhere = machines.enter_context(at)
    return Resolution(chosen, None, elsewhere), elsewhere.warnings


def _known(store: "Store", wanted: str) -> Annotator:
    """Somebody by name; to look makes nobody."""
    found = (one for one in store.annotators() if one.name == wanted)
    return next(found, Annotator(0, wanted))


def _check_stored(chosen: "Chosen[Resolver]", model: str | None) -> None:
    if chosen.model_id is None:
        raise RecipeError(
            f"the model in {model} is none of this database's, so that what it predicts could "
            "not be stored; --file takes a text, or labelled rows"
        )


def _parser(chosen: "Chosen[Resolver]", spec: str | None) -> "Parser | None":
    """The parser that the model needs; None if it needs none. Raises ParserError."""
    from nfh_models.parsing import load_parser

    needs = chosen.model.needs
    return load_parser(spec, needs) if needs else None


def _as_json(query: str, tools: Resolution, found: Predictions) -> dict[str, object]:
    chosen = tools.chosen
    return {
        "query": query,
        "task": TASK,
        "model": chosen.name,
        "model_id": chosen.model_id,
        "recipe": chosen.model.recipe,
        "version": chosen.model.version,
        "parser": tools.parser_name or None,
        "anchors": found.anchors,
        "predicted": found.predicted,
        "silent": found.silent,
        "kinds": {kind.value: found.kinds[kind] for kind in Kind if found.kinds[kind]},
        "beyond_window": found.cut,
    }
