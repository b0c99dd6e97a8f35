"""`nfh-tui evaluate --background`: the call put into a job's row, and taken out of it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import counted, visible
from nfh_models.errors import ModelsError
from nfh_tui import places
from nfh_tui.choosing_models import IDENTIFICATION as IDENTIFICATIONS
from nfh_tui.choosing_resolvers import RESOLUTION as RESOLUTIONS
from nfh_tui.cli.common import user
from nfh_tui.cli.evaluate_call import RESOLUTION, Call
from nfh_tui.cli.evaluate_source import Tell
from nfh_tui.cli.queueing import command, queued
from nfh_tui.jobs.words import whole_model, whole_parser
from nfh_tui.sheets.job_words import count, fraction

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.transfer import ImportOptions

PATHS = ("file", "train", "report")
"""Options that are paths, whole in the row: the job may run in another folder."""

NOT_KEPT = ("db", "as_json", "task", "models", "query", "split", "report")
"""Fields of a call that a row has no place for, or has it elsewhere."""

DEFAULTS: dict[str, object] = {
    "query": "",
    "models": (),
    "several_heads": False,
    "sets": (),
    "ablation": False,
    "oracle": False,
    "baselines": False,
    "errors": 10,
    "resamples": 1_000,
    "seed": 1,
    "blind": False,
}
"""Of options that a row may leave out; the others are None."""

FIGURES = {
    "identification": ("precision", "recall", "f1", "accuracy"),
    RESOLUTION: ("accuracy", "accuracy_inclusive", "accuracy_nearest"),
}


def queue_evaluation(call: Call) -> None:
    """Queue a job that does what the call asks for.

    Raises UsageError, QueryError, StoreError, and RecipeError for a model that is none.
    """
    from nfh_db.query import parse
    from nfh_db.store import Store
    from nfh_tui.jobs.evaluate import asked

    if call.ablation:
        raise click.UsageError("--ablation is done at once: leave out --background")
    parse(call.query)
    with Store.open(places.database(call.db)) as store:
        whole = _whole(store, call)
        kept = {name: value for name, value in asdict(whole).items() if name not in NOT_KEPT}
        new = asked(
            whole.task,
            whole.models,
            query=whole.query,
            split=whole.split,
            report=None if whole.report is None else str(whole.report),
            more={k: str(v) if isinstance(v, Path) else v for k, v in kept.items()},
            asked_by=user(),
        )
        queued(store, new, call.db, as_json=call.as_json)


def _whole(store: "Store", call: Call) -> Call:
    """The call with whole paths in it."""
    models = store.models()
    known = {word for m in models for word in (str(m.id), m.name, m.recipe)}
    for word in call.models:
        if word not in known and not Path(word).is_dir():
            _check_recipe(word, call.task)
    return replace(
        call,
        models=tuple(whole_model(word, known) for word in call.models),
        parser=whole_parser(call.parser),
        file=None if call.file is None else call.file.resolve(),
        train=None if call.train is None else call.train.resolve(),
        report=None if call.report is None else call.report.resolve(),
    )


def _check_recipe(word: str, task: str) -> None:
    choosing = RESOLUTIONS if task == RESOLUTION else IDENTIFICATIONS
    if word.partition(":")[0] not in choosing.recipes:
        raise choosing.error(
            f"{word!r} names no model of {task}: `nfh-tui models` lists those of the database"
        )


def evaluated(database: Path, given: Mapping[str, object], tell: Tell) -> dict[str, object]:
    """The report of an evaluation that a job's row asks for. Raises what its work raises."""
    call = _call(database, given)
    try:
        call.check()
        module = import_module(f"nfh_tui.cli.evaluate_{call.task}")
        found: dict[str, object] = module.report(call, tell)
    except click.ClickException as error:
        raise ModelsError(error.message) from error
    return found


def _call(database: Path, given: Mapping[str, object]) -> Call:
    values: dict[str, object] = {}
    for one in fields(Call):
        value = given.get(one.name, DEFAULTS.get(one.name))
        if isinstance(value, list):
            value = tuple(value)
        if one.name in PATHS and isinstance(value, str):
            value = Path(value)
        if one.name == "reading" and isinstance(value, Mapping):
            value = _reading(value)
        values[one.name] = value
    values |= {"db": database, "as_json": True}
    return Call(**values)  # type: ignore[arg-type]  # the fields are as a call had them


def _reading(given: Mapping[str, object]) -> "ImportOptions":
    from msgspec import convert

    from nfh_tui.transfer import ImportOptions

    return convert(given, ImportOptions)


def evaluated_lines(job: "Job", db: Path | None) -> Iterator[str]:
    """The figures that count, of each model, for a person."""
    result = job.result
    each = result.get("models")
    for one in each if isinstance(each, list) else [result]:
        if not isinstance(one, Mapping):
            continue
        told = counted(count(one.get("n")), "example")
        yield f"{visible(str(one.get('model')), 60)}, {job.task}, on {told}:"
        for name in FIGURES.get(job.task, ()):
            value = fraction(one.get(name))
            if value is not None:
                yield f"  {name:19} {100 * value:>6.1f}"
    page = job.arguments.get("report")
    if isinstance(page, str):
        yield f"The page is {visible(page, 400)}"
    yield f"All of it: {command(f'jobs show {job.id} --json', db)}"
