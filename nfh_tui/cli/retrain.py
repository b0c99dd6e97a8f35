"""`nfh-tui retrain`: trains a model on the gold of the database, and the report of a
training."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfh_db.messages import counted, visible
from nfh_tui.cli import options
from nfh_tui.cli.report import wrapped
from nfh_tui.display_figures import percent
from nfh_tui.jobs.descriptions import count, fraction, read_summary
from nfh_tui.services.models import folder_of

if TYPE_CHECKING:
    from nfh_db.jobs import Job, NewJob
    from nfh_db.models import Model
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


class RetrainCommand(options.QueryCommand):
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


@click.command(cls=RetrainCommand)
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
    help="A setting of the recipe (docs/recipes.md), or base, dev_split, dev or device "
    "(docs/models.md).",
)
@click.option("--split", callback=options.word, help="Learn only from the items of this split.")
@click.option(QUERY_OPTION, "named_query", metavar="QUERY", help="The same as QUERY.")
@options.parser_option
@options.wait_option
@click.option(
    "--promote/--no-promote",
    default=True,
    show_default=False,
    help="Whether a model that is better than the active one becomes active by itself.  "
    "[default: --promote]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Train on a Dask cluster.")
@click.option(
    "--every",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="Do not train now, but after every N decisions; 0 ends that.",
)
@options.as_option
@options.on_database
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
    """Train a model of TASK on the gold of the items that QUERY finds, of all by default.

    TASK is identification, resolution, or both. The training is a job: the command returns
    when it is queued, and `nfh-tui jobs` shows its progress. Some passages are kept out of
    it. On these the model is compared with the active one, and replaces it if it is better.
    Passages that are also in a split kept for testing are left out: "test", and with
    --split "dev" and "test" but for the one named.

    For resolution, encoder goes on from the model in use, or the one in the package (300
    labels took 70 seconds on a busy core). linear and bilstm (which needs --set
    vectors=file:PATH) begin with nothing, and are for comparison; linear needs no torch, and
    is the default where that is not installed.
    """
    from nfh_db.query import parse
    from nfh_tui.jobs.descriptions import whole_parser, whole_setting
    from nfh_tui.jobs.training import check_at_hand, new_job

    if every is not None and wait:
        raise click.UsageError("--every trains later: there is nothing to --wait for")
    check_recipe(task, recipe)
    words = " ".join([*query, named_query or ""]).strip()
    parse(words)
    check_parser(parser)
    check_scheduler(scheduler)
    with options.open_database(db, writes=True) as store:
        chosen = recipe or usual(store, task)
        check_settings(store, task, chosen, settings)
        new = new_job(
            task,
            chosen,
            words=tuple(map(whole_setting, settings)),
            query=words,
            split=split,
            parser=whole_parser(parser),
            promote=promote,
            scheduler=scheduler,
            asked_by=me or options.user(),
        )
        if every is not None:
            _come_round(store, every, new, as_json=as_json)
            return
        check_at_hand(store, new)
        options.queue_or_wait(store, new, db, "retrain", wait=wait, as_json=as_json)


def _come_round(store: "Store", every: int, new: "NewJob", *, as_json: bool) -> None:
    from nfh_tui.jobs.training import replaced, schedule_line, set_every, stop_every, too_few

    before = None
    if every:
        before = set_every(store, every, new)
    else:
        stop_every(store, new.task)
    if as_json:
        options.emit({"task": new.task, "every": every or None})
        return
    held = too_few(store)
    lines = [schedule_line(one, held) for one in store.retraining.all() if one.task == new.task]
    if before is not None:
        lines.append(replaced(before))
    options.tell_lines(lines or [f"{task_words(new.task)}: trained on demand only"])


# --- wrong arguments are refused before anything is queued -----------------------------------


def usual(store: "Store", task: str) -> str:
    if task != RESOLUTION:
        return TRAINABLE[task][0]
    from nfh_tui.services.models import ensure_built_in
    from nfh_tui.services.training import default_recipe

    ensure_built_in(store)
    return default_recipe(store)


def check_recipe(task: str, recipe: str | None) -> None:
    """Raise UsageError unless the task can be trained, and by the recipe, if one is named."""
    if task not in TRAINABLE:
        raise click.UsageError(f"{task!r} is not a task: wanted {' or '.join(TRAINABLE)}")
    recipes = TRAINABLE[task]
    if recipe is not None and recipe not in recipes:
        learns = "learns nothing" if recipe in LEARN_NOTHING else "cannot be trained"
        raise click.UsageError(
            f"the recipe {recipe!r} of {task} {learns}; {', '.join(recipes)} can be trained"
        )


def check_settings(store: "Store", task: str, recipe: str, settings: tuple[str, ...]) -> None:
    """Raise UsageError for a wrong --set, ModelFileError for a base that does not hold."""
    from nfh_models import ModelsError
    from nfh_models.model_files import ModelFileError

    if task == IDENTIFICATION:
        from nfh_tui.jobs.training import check_identification

        with called_wrongly(ModelsError):
            check_identification(recipe, settings)
        return
    from nfh_tui.services.training import base_for, general_of, trainer_for

    with called_wrongly(ModelsError):
        general = general_of(settings)
    with called_wrongly(ModelsError, but=ModelFileError):
        base = base_for(store, recipe, general)
        trainer_for(task, recipe, general.words, base, general.device)


def check_parser(spec: str | None) -> None:
    """Raise UsageError for what describes no parser, or one that is not there."""
    from nfh_models.parsing.base import ParserError
    from nfh_tui.jobs.training import check_parser_there

    with called_wrongly(ParserError):
        check_parser_there(spec)


def check_scheduler(address: str | None) -> None:
    """Raise UsageError for what is no address, or where Dask is missing."""
    if address is None:
        return
    from nfh_tui.scanning.cluster import check_address
    from nfh_tui.scanning.worker import WorkerPoolError

    with called_wrongly(WorkerPoolError):
        check_address(address)


@contextmanager
def called_wrongly(
    kind: type[Exception], but: type[Exception] | tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Turn errors of a kind into usage errors (exit status 2)."""
    try:
        yield
    except but:
        raise
    except kind as error:
        raise click.UsageError(str(error)) from error


FEW = 300
"""With fewer labels a report calls its figures rough: with 100 fused heads, the interval of a
share of 95 % is 4 points to each side."""

FIGURES = ("precision", "recall", "f1", "accuracy")

VERDICTS = {
    "promoted": "It is better, and is now active",
    "candidate": "It is kept as a candidate",
    "rejected": "It is rejected",
    "first": "It is the first model of its task, and is active",
}
"""Words before the reason of a verdict."""


def training_report(job: "Job", model: "Model", database: Path) -> dict[str, Any]:
    """A training that is done; id is the job's."""
    return {
        "id": job.id,
        **options.picked(model, "task recipe"),
        "state": job.state,
        **options.picked(model, "model=name model_id=id model_state=state"),
        "verdict": job.result.get("verdict"),
        "folder": None if model.path is None else str(folder_of(database, model)),
        "version": model.version,
        "parser": model.config.get("parser"),
        **options.picked(model, "metrics snapshot"),
        "notes": notes_of(job),
        "seconds": seconds_of(job),
    }


def retrained_lines(
    job: "Job", model: "Model", database: Path, db: Path | None
) -> Iterator[str]:
    """The result in words. db: the value of --db."""
    if model.task == "identification":
        yield from _identification(job, model)
    else:
        yield from resolution_lines(job, model)
    yield ""
    yield from verdict_lines(job.result.get("verdict"))
    yield from what_now(job, model, database, db)


def _identification(job: "Job", model: "Model") -> Iterator[str]:
    metrics = model.metrics
    examples = count(metrics.get("examples"))
    passages = count(metrics.get("passages"))
    yield (
        f"{model.name}: learnt from {counted(examples, 'number')} in "
        f"{counted(passages, 'passage')}, {count(metrics.get('nfh')):,} of them fused heads"
    )
    yield from left_out_of(metrics)
    yield from note_lines(job)
    yield ""
    folds = count(metrics.get("folds"))
    yield f"In {folds} folds, each passage by a model that has not seen it:"
    yield f"  {'':10} {'all':>6}   {'mean of folds':>13}"
    per_fold = metrics.get("per_fold")
    spreads = per_fold if isinstance(per_fold, dict) else {}
    for name in FIGURES:
        own = spreads.get(name)
        spread = own if isinstance(own, dict) else {}
        yield (
            f"  {name:10} {percent(fraction(metrics.get(name)), none='none'):>6}   "
            f"{percent(fraction(spread.get('mean')), none='none'):>6} ± "
            f"{percent(fraction(spread.get('deviation')), none='none')}"
        )
    if examples < FEW:
        yield f"  With {counted(examples, 'label')} only, these figures are rough."
    if metrics.get("converged") is False:
        yield "  The fitting stopped before it converged: try a smaller c."


def verdict_lines(kept: object) -> Iterator[str]:
    """The verdict on a model in comparison with the active one, with the reason."""
    ruling = read_summary(kept)
    if not ruling.word:
        return
    said = VERDICTS.get(ruling.word, visible(ruling.word, 40))
    yield from sentence_lines(f"{said}: {ruling.reason}" if ruling.reason else f"{said}.")


def what_now(job: "Job", model: "Model", database: Path, db: Path | None) -> Iterator[str]:
    """Where a new model is, whether it is used, and how to use it."""
    if model.path is not None:
        folder = visible(str(folder_of(database, model)), 200)
        yield f"Saved in {folder}; {seconds_of(job):.1f} s in all."
    if model.state == "active":
        yield f"It is the active model of {task_words(model.task)}."
        return
    activate = options.command(f"models activate {model.name}", db)
    if model.state == "candidate" and not read_summary(job.result.get("verdict")).word:
        yield f"It is a candidate. To use it: {activate}"
    else:
        yield f"To use it anyway: {activate}"


def left_out_of(metrics: Mapping[str, object]) -> Iterator[str]:
    kept = metrics.get("left_out")
    if isinstance(kept, dict):
        yield from left_out_lines({str(why): count(n) for why, n in kept.items()})


def left_out_lines(left_out: Mapping[str, int]) -> Iterator[str]:
    """Anchors that were left out of a training, by reason."""
    for reason, number in sorted(left_out.items()):
        yield f"  left out: {counted(number, 'item')} ({visible(reason)})"


def notes_of(job: "Job") -> list[str]:
    """The notes in the result of a job."""
    notes = job.result.get("notes")
    return [str(one) for one in notes] if isinstance(notes, list) else []


def note_lines(job: "Job") -> Iterator[str]:
    for note in notes_of(job):
        yield from sentence_lines(note, "  ")


def seconds_of(job: "Job") -> float:
    """Seconds that a job took, by its result."""
    return round(fraction(job.result.get("seconds")) or 0.0, 3)


def sentence_lines(text: str, indent: str = "") -> list[str]:
    """A sentence as lines, safe to print."""
    return wrapped(visible(text, 2_000), indent)


def task_words(task: str) -> str:
    """A task as a sentence names it."""
    return "both tasks" if task == "both" else task


RESOLUTION_FIGURES = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
)
IDENTIFICATION_FIGURES = ("precision", "recall", "f1")

SHOWN_WORST = 8


def figure_lines(metrics: Mapping[str, object]) -> Iterator[str]:
    """The held-out figures, with what they were measured on."""
    if not (examples := count(metrics.get("dev_examples"))):
        folds = count(metrics.get("folds"))
        yield f"In {folds} folds, each passage by a model that has not seen it:"
    else:
        on = visible(str(metrics.get("judged_on", "")), 80)
        told = counted(examples, "example")
        yield from sentence_lines(f"On {told} that it did not learn from ({on}):")
    for name in RESOLUTION_FIGURES:
        if (value := fraction(metrics.get(name))) is not None:
            yield f"  {name:19} {percent(value, none='none'):>6}"
    if {"numbers", "f1"} & metrics.keys():
        for name in IDENTIFICATION_FIGURES:
            if (value := fraction(metrics.get(name))) is not None:
                yield f"  {'identification ' + name:24} {percent(value, none='none'):>1}"


def failure_lines(metrics: Mapping[str, object]) -> Iterator[str]:
    """Tables of errors by kind, by mistake and by anchor words."""
    for what, counts, rows in (
        ("kind", ("n", "right"), metrics.get("by_kind")),
        ("mistake", ("n",), metrics.get("mistakes")),
        ("anchor", ("n", "wrong"), metrics.get("worst")),
    ):
        if isinstance(rows, list) and rows:
            yield ""
            yield from count_table(what, {name: name for name in counts}, rows[:SHOWN_WORST])


def count_table(
    what: str, counts: Mapping[str, str], rows: object, *, width: int = 34, digits: int = 7
) -> Iterator[str]:
    """Rows of a model's figures. counts: titles of the columns by key."""
    yield f"  {what:{width}}" + "".join(f" {title:>{digits}}" for title in counts.values())
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            found = (row.get(key) for key in counts)
            shown = (f"{one:,}" if isinstance(one, int) else "?" for one in found)
            cells = "".join(f" {one:>{digits}}" for one in shown)
            yield f"  {visible(str(row.get(what)), width):{width}}{cells}"


def resolution_lines(job: "Job", model: "Model") -> Iterator[str]:
    """Training data and figures of a resolution model."""
    metrics = model.metrics
    examples = count(metrics.get("examples"))
    yield (
        f"{model.name}: learnt from {counted(examples, 'example')} in "
        f"{counted(count(metrics.get('passages')), 'passage')}"
    )
    if numbers := count(metrics.get("numbers")):
        yield (
            f"  and, for identification, from {counted(numbers, 'number')}, "
            f"{count(metrics.get('numbers_nfh')):,} of them fused heads"
        )
    yield from left_out_of(metrics)
    yield from note_lines(job)
    yield ""
    yield from figure_lines(metrics)
    judged = count(metrics.get("dev_examples")) or examples
    if judged < FEW:
        yield f"  Of {counted(judged, 'example')} only, these figures are rough."
