"""`nfh-tui models`: the registered models, one in full, two compared, which one is used, and
the way back to the model before.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from nfh_db.messages import counted, quoted, visible
from nfh_models import ModelsError
from nfh_models.model_files import CARD, PACKAGED, read_metrics, read_seen
from nfh_tui.cli import options
from nfh_tui.cli.report import WIDTH, Steps
from nfh_tui.cli.retrain import (
    count_table,
    failure_lines,
    figure_lines,
    left_out_of,
    sentence_lines,
    task_words,
)
from nfh_tui.display_figures import percent
from nfh_tui.jobs.promotion import signed
from nfh_tui.services import reports
from nfh_tui.services.models import (
    checked_folder,
    files_of,
    folder_of,
    is_packaged,
    packaged_metrics,
)
from nfh_tui.services.reports import filled, to_json

if TYPE_CHECKING:
    from nfh_db.models import Activation, Model
    from nfh_db.store import Store
    from nfh_tui.services.compare_models import (
        ComparedFigures,
        ComparedItem,
        FigureDifference,
        ModelComparison,
    )
    from nfh_tui.services.models import Rollback


NAME = 12
AROUND = 36
"""Code points shown of the text before and after a number."""

GROUPS = {
    "both": (True, True),
    "only_first": (True, False),
    "only_second": (False, True),
    "neither": (False, False),
}
"""Groups of items, and whether the first and the second model has those right."""


# --- JSON -----------------------------------------------------------------------------------


def comparison_report(found: "ModelComparison") -> reports.ModelComparisonReport:
    """The comparison. difference: of the first figure, the first model's less the second's."""
    main = _difference_report(found.figures.differences[0])
    return filled(
        reports.ModelComparisonReport,
        found,
        query=found.query.text,
        **structs.asdict(main),
        **_on(found.figures),
        unseen=None
        if found.unseen is None
        else reports.ComparedFiguresReport(**_on(found.unseen)),
        counts={name: len(found.of(right)) for name, right in GROUPS.items()},
        queries={name: found.query_of(right) or None for name, right in GROUPS.items()},
        items=[
            filled(
                reports.ComparedItemReport,
                one,
                id=one.anchor_id,
                document=one.ballot.document,
            )
            for one in found.items
            if one.right[0] != one.right[1]
        ],
    )


def _on(figures: "ComparedFigures") -> dict[str, Any]:
    return {
        "n": figures.n,
        "passages": figures.passages,
        "figures": [_difference_report(one) for one in figures.differences],
    }


def _difference_report(one: "FigureDifference") -> reports.FigureDifferenceReport:
    found = one.difference
    return reports.FigureDifferenceReport(
        one.figure, one.first, one.second, found.value, found.low, found.high, one.p, found.why
    )


# --- for a person ---------------------------------------------------------------------------


def lines(found: "ModelComparison", items: int, db: "Path | None" = None) -> Iterator[str]:
    """The comparison, and some of the items that one model alone has right.

    items: so many of each model. db: the value of --db.
    """
    first, second = (_short(model.name) for model in (found.first, found.second))
    if not found.items:
        yield "Both models have answered none of these items with gold."
        yield from _missing(found, db)
        return
    of = counted(found.figures.passages, "passage")
    yield f"{found.task.capitalize()}, {counted(found.figures.n, 'item')} in {of}:"
    yield from _table(found.figures, first, second)
    if found.unseen is not None:
        yield ""
        yield f"On {counted(found.unseen.n, 'item')} of passages that neither has seen:"
        yield from _table(found.unseen, first, second)
    yield ""
    yield from _groups(found, first, second, db)
    yield from _notes(found, db)
    for right in ((True, False), (False, True)):
        yield from _items(found, right, items)


def _table(figures: "ComparedFigures", first: str, second: str) -> Iterator[str]:
    yield f"  {'':18} {first:>{NAME}} {second:>{NAME}}   difference"
    for one in figures.differences:
        values = (percent(value, none="none") for value in (one.first, one.second))
        yield f"  {one.figure:18} {' '.join(f'{it:>{NAME}}' for it in values)}   {_told(one)}"


def _told(one: "FigureDifference") -> str:
    found = one.difference
    if found.value is None:
        return ""
    told = signed(found.value)
    if found.low is not None and found.high is not None:
        told += f" [{signed(found.low)}, {signed(found.high)}]"
    return told if one.p is None else f"{told} p {one.p:.3f}"


def _groups(
    found: "ModelComparison", first: str, second: str, db: "Path | None"
) -> Iterator[str]:
    names = {
        "both": "both right",
        "only_first": f"only {first}",
        "only_second": f"only {second}",
        "neither": "neither",
    }
    for name, right in GROUPS.items():
        yield f"  {names[name]:22} {len(found.of(right)):>7,}"
        query = found.query_of(right)
        if query and found.of(right):
            yield f"      {options.command(f'browse {quoted(query)}', db)}"


def _notes(found: "ModelComparison", db: "Path | None") -> Iterator[str]:
    notes = [
        f"{_short(model.name)} has seen the {'passage' if number == 1 else 'passages'} of "
        f"{number:,} of these items, and may do worse on others."
        for model, number in zip((found.first, found.second), found.learnt, strict=True)
        if number
    ]
    if found.saw_model:
        have = "has" if found.saw_model == 1 else "have"
        notes.append(
            f"{found.saw_model:,} {have} gold that was given with a model's answer in view, "
            "which favours that model."
        )
    if notes:
        yield ""
    for note in notes:
        yield from sentence_lines(note, "  ")
    if any(found.missing):
        yield ""
        yield from _missing(found, db)


def _missing(found: "ModelComparison", db: "Path | None") -> Iterator[str]:
    for model, number in zip((found.first, found.second), found.missing, strict=True):
        if number:
            how = (
                "--predict has it answer"
                if found.task == "resolution"
                else options.command(f"identify --model {model.id}", db)
            )
            yield from sentence_lines(
                f"{_short(model.name)} has not answered {counted(number, 'item')} with gold: "
                f"{how}.",
                "  ",
            )


def _items(found: "ModelComparison", right: tuple[bool, bool], most: int) -> Iterator[str]:
    # Items of passages that neither was trained on tell more, so they come first.
    some = sorted(found.of(right), key=lambda one: one.seen)
    if not some or not most:
        return
    model = found.first if right[0] else found.second
    yield ""
    shown = "" if len(some) <= most else f", the first {most} of {len(some):,}"
    yield f"Only {_short(model.name)} is right{shown}:"
    for one in some[:most]:
        yield from _item(found, one)


def _item(found: "ModelComparison", one: "ComparedItem") -> Iterator[str]:
    passage, anchor = one.ballot.passage, one.ballot.anchor
    start, end = passage.code_points(anchor)
    number = visible(passage.text[start:end], AROUND)
    frame = f"  {one.anchor_id}  … [{number}] …"
    side = min(AROUND, max(0, WIDTH - len(frame)) // 2)
    before = _line(passage.text[:start][-AROUND:])
    before = before[max(0, len(before) - side) :]
    after = _line(passage.text[end:][:AROUND])[:side]
    yield f"  {one.anchor_id}  …{before} [{number}] {after}…"
    answers = ((found.first, one.first), (found.second, one.second))
    said = [f"gold {_words(one, one.gold)}"]
    if one.seen:
        said[0] += " (its passage was seen)"
    said += [f"{_short(model.name)} {_words(one, answer)}" for model, answer in answers]
    yield from sentence_lines("; ".join(said), "      ")


def _words(one: "ComparedItem", said: str) -> str:
    """A class, or the words at some tokens."""
    if not said[:1].isdigit():
        return said
    passage = one.ballot.passage
    places = [int(it) for it in said.split(",")]
    return ", ".join(
        f"“{visible(passage.word(it), AROUND)}”" for it in places if it < len(passage.tokens)
    )


def _line(text: str) -> str:
    return visible(" ".join(text.split()), 2 * AROUND)


def _short(name: str) -> str:
    return visible(name, NAME)


def all_models(store: "Store") -> tuple["Model", ...]:
    """All models; those that need no training are registered, where that can be written."""
    from nfh_tui.services.models import ensure_built_in

    ensure_built_in(store)
    return store.models.all()


def one_model(store: "Store", wanted: str) -> "Model":
    """A model by its number or name. Raises Failure for one that is not there."""
    from nfh_db.messages import shown

    found = all_models(store)
    for model in found:
        if wanted in (str(model.id), model.name):
            return model
    names = ", ".join(f"{model.id} ({model.name})" for model in found) or "none yet"
    raise options.Failure(f"there is no model {shown(wanted)}; there are: {names}")


TASKS = ("identification", "resolution")
SHOWN = 400
MINUTES = 16
"""Characters of a time as far as its minutes."""


@click.command(short_help="Go back to the previous model.")
@click.argument("task", required=False, type=click.Choice(TASKS))
@options.as_option
@options.on_database
def back(task: str | None, me: str | None, db: Path | None, as_json: bool) -> None:
    """Activate the previous model of TASK again; by default undo the last change of model.

    Nothing is lost: the model that is left is kept, and can be activated again. One that
    cannot be used any more is skipped. Going back again goes back further.
    """
    from nfh_tui.services.models import roll_back

    with options.open_database(db, writes=True) as store:
        done = roll_back(store, task, who=me or options.user())
    for name, why in done.passed_over.items():
        options.say(f"warning: {visible(name)} is skipped: {visible(why, SHOWN)}")
    if as_json:
        options.emit(done)
        return
    options.tell_lines(_lines(done))


def _lines(done: "Rollback") -> Iterator[str]:
    for task, name in done.after.items():
        before = done.before.get(task)
        instead = "" if before is None else f", in place of {visible(before)}"
        yield f"{visible(name)} is again the active model of {task}{instead}"


@click.command(short_help="Which models were used, since when, and why.")
@options.on_database
def history(db: Path | None, as_json: bool) -> None:
    """List each change of a task's model, newest first."""

    with options.open_database(db) as store:
        told = tuple(reversed(store.models.activations()))
    if as_json:
        options.emit({"activations": [activation_report(one) for one in told]})
        return
    if not told:
        options.echo("No change of model has been noted yet.")
    options.tell_lines(history_lines(told))


def activation_report(one: "Activation") -> dict[str, Any]:
    """A change of model. before: null where there was none. job: null where a person did it."""
    return {
        **options.picked(one, "at task model model_id before"),
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
            yield from sentence_lines(one.reason, "    ")


ITEMS = 10


@click.command(
    cls=options.QueryCommand, short_help=("Compare two models item by item, on the gold.")
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("query", nargs=-1)
@click.option(
    "--task",
    type=click.Choice(("identification", "resolution")),
    help="The task; resolution where both models do both.",
)
@click.option(
    "--predict",
    is_flag=True,
    help=("First have both models answer what they have not answered."),
)
@click.option(
    "--parser",
    metavar="SPEC",
    help="With --predict: spacy, spacy:NAME or stanza:FOLDER.",
)
@click.option(
    "--items",
    type=click.IntRange(min=0),
    default=ITEMS,
    help="Show this many of the items that only one model has right.",
)
@options.as_option
@options.on_database
def compare(
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

    Stored answers of both are compared, as made by `nfh-tui predict --model A`; an
    item is right as in `hit:` and `miss:` of the query language. The difference is tested as
    `nfh-tui evaluate` does. What you still have to decide blind is left out.
    """
    from nfh_tui.services.compare_models import compare_models, task_of

    wanted = options.parse_query(query)
    with options.open_database(db) as store:
        models = one_model(store, first), one_model(store, second)
        if models[0].id == models[1].id:
            raise click.UsageError(f"{models[0].name} is compared with itself: name another")
        chosen = task_of(*models, task)
        if predict:
            if chosen != "resolution":
                raise click.UsageError(
                    "--predict is for resolution; for identification, nfh-tui identify "
                    "--model M stores decisions"
                )
            from nfh_tui.services.predict import PredictAllRequest, predict_all

            words = f"{wanted.text} state:decided".strip()
            with Steps("predict") as steps:
                for model in models:
                    request = PredictAllRequest(
                        query=words, model=str(model.id), parser=parser, who=options.user()
                    )
                    predict_all(store, request, steps.step)
        found = compare_models(
            store, chosen, *models, wanted, _hidden(store, me or options.user())
        )
    if as_json:
        options.emit(comparison_report(found))
        return
    options.tell_lines(lines(found, items, db))


def _hidden(store: "Store", me: str) -> frozenset[int]:
    """Items that somebody has still to decide blind: their gold is not shown."""
    found = options.known(store, me)
    return frozenset() if found is None else store.answers.to_decide_blind(found)


DOES = {"identification": "identifies", "resolution": "resolves"}
"""Each task that uses a model, and what a model does for it."""


@click.group(invoke_without_command=True)
@options.on_database
def models(db: Path | None, as_json: bool) -> None:
    """List the models of the database; with a command: show one, or activate one.

    Models are made by `nfh-tui retrain`; those in the package are listed, too, and so are
    the recipes that need no training.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return

    with options.open_database(db) as store:
        found = all_models(store)
        database = store.path
    if as_json:
        options.emit(reports.ModelsReport([summary_of(model, database) for model in found]))
        return
    options.tell_lines(listed(found, database))


@models.command(short_help="Show a model in full.")
@click.argument("model", metavar="ID")
@options.on_database
def show(model: str, db: Path | None, as_json: bool) -> None:
    """Show a model: what it is, how it was made, how good it was, and if it is complete."""

    with options.open_database(db) as store:
        found = one_model(store, model)
        used = [
            one
            for one in store.models.activations()
            if found.id in (one.model_id, one.before_id)
        ]
        database = store.path
    if as_json:
        options.emit(model_report(found, database, used))
        return
    options.tell_lines(full_lines(found, database, used))


@models.command(short_help="Activate a model.")
@click.argument("model", metavar="ID")
@options.as_option
@options.on_database
def activate(model: str, me: str | None, db: Path | None, as_json: bool) -> None:
    """Make a model the active one of its task; `nfh-tui models back` goes back.

    It is refused where its folder is missing, its files have changed since it was made, or
    this program cannot use it.
    """
    from nfh_db.models import ActivationReason
    from nfh_tui.services.models import check_usable, in_use

    with options.open_database(db, writes=True) as store:
        found = one_model(store, model)
        before = in_use(store)
        check_usable(store, found)
        active = store.models.activate(found.id, ActivationReason(me or options.user()))
        replaced = _replaced(before, in_use(store))
        database = store.path
    if as_json:
        still = {name: task for name, task in replaced.items() if task is not None}
        summary = to_json(summary_of(active, database))
        options.emit(summary | {"before": [*replaced], "still": still})
        return
    instead = " and ".join(_instead(name, task) for name, task in replaced.items())
    ending = f", in place of {instead}" if instead else ""
    told = f"{active.name} is now the active model of {task_words(active.task)}{ending}"
    options.echo("\n".join(sentence_lines(told)))


def _replaced(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Each model that a task uses no more, with the task that still uses it."""
    still = {name: task for task, name in after.items()}
    return {name: still.get(name) for task, name in before.items() if after.get(task) != name}


def _instead(name: str, task: str | None) -> str:
    return name if task is None else f"{name}, which now only {DOES[task]}"


models.add_command(back)
models.add_command(compare)
models.add_command(history)


MEASURES = (("accuracy_inclusive", "incl"), ("accuracy", "acc"))
"""Accuracies of resolution, the one that counts first, and what they are called in a list."""

NOT_INCLUSIVE = MEASURES[1][1]

FIGURES = ("precision", "recall", "f1", "accuracy")


def summary_of(model: "Model", database: Path) -> reports.ModelSummary:
    return filled(
        reports.ModelSummary,
        model,
        f1=_number(metrics_of(model), "f1"),
        accuracy=_accuracy(model, "accuracy"),
        accuracy_inclusive=_accuracy(model, "accuracy_inclusive"),
        folder=None if (folder := files_of(database, model)) is None else str(folder),
    )


def model_report(
    model: "Model", database: Path, used: "Sequence[Activation]" = ()
) -> dict[str, Any]:
    """A model in full.

    used: each time that it came into use, or went out of it. verdict: how it did beside the
    model that was active; null where it was not judged.
    """
    return to_json(summary_of(model, database)) | {
        "verdict": model.verdict or None,
        "used": [activation_report(one) for one in used],
        **options.picked(model, "digest snapshot config"),
        "metrics": metrics_of(model),
        "trouble": find_problem(model, database),
    }


def find_problem(model: "Model", database: Path) -> str | None:
    """What is wrong with a model's folder, in a sentence; None where nothing is."""
    try:
        if model.path is not None:
            checked_folder(database, model)
        elif (folder := files_of(database, model)) is not None:
            read_metrics(folder)
            read_seen(folder)
    except ModelsError as error:
        return str(error)
    return None


def listed(found: Sequence["Model"], database: Path) -> Iterator[str]:
    """A heading and a line a model."""
    yield (
        f"{'id':>4}  {'name':12} {'task':14} {'recipe':12} {'state':9} {'F1':>5} {'acc':>5}"
        "   made"
    )
    marked = gone = False
    for model in found:
        metrics = metrics_of(model)
        f1, (right, measure) = _number(metrics, "f1"), accuracy_of(model)
        mark = "*" if measure == NOT_INCLUSIVE else " "
        marked = marked or mark == "*"
        lost = _is_gone(model, database)
        gone = gone or lost
        yield (
            f"{model.id:>4} {'!' if lost else ' '}{visible(model.name, 12):12} {model.task:14} "
            f"{visible(model.recipe, 12):12} {model.state:9} "
            f"{'' if f1 is None else percent(f1):>5} "
            f"{'' if right is None else percent(right):>5}{mark} "
            f"{visible(model.created_at[:10])}"
        )
    if marked:
        yield "* in folds: without words spelled like a head, which acc counts elsewhere"
    if gone:
        yield "! missing folder; `nfh-tui models show` says which"


def accuracy_of(model: "Model") -> tuple[float | None, str]:
    """How often a model finds the head, and by which measure; None and "" where unknown.

    In folds words of the same form are not told apart, so there is no inclusive accuracy.
    """
    known = ((_accuracy(model, name), word) for name, word in MEASURES)
    return next(((value, word) for value, word in known if value is not None), (None, ""))


def _accuracy(model: "Model", name: str) -> float | None:
    """An accuracy of resolution; None for a model of identification."""
    return None if model.task == "identification" else _number(metrics_of(model), name)


def metrics_of(model: "Model") -> Mapping[str, object]:
    """The figures of a model; those of one in the package lie there."""
    packaged = model.recipe in PACKAGED and model.path is None
    return packaged_metrics(model.recipe) if packaged else model.metrics


def _is_gone(model: "Model", database: Path) -> bool:
    if model.path is None:
        return model.recipe in PACKAGED and not is_packaged(model.recipe)
    try:
        return not folder_of(database, model).is_dir()
    except OSError:  # a folder without permission
        return True


def full_lines(
    model: "Model", database: Path, used: "Sequence[Activation]" = ()
) -> Iterator[str]:
    """A model in full, for a person. used: as in `model_report`."""
    yield f"{model.name}: {model.recipe} for {task_words(model.task)}, {model.state}"
    yield f"  number    {model.id}"
    yield f"  version   {visible(model.version)}"
    yield f"  made      {visible(model.created_at[:MINUTES]).replace('T', ' ')} UTC"
    if (folder := files_of(database, model)) is not None:
        yield f"  folder    {visible(str(folder), 400)}"
        yield f"  card      {visible(str(folder / CARD), 400)}"
    metrics = metrics_of(model)
    texts = metrics.get("texts_seen")
    if isinstance(texts, int):
        yield f"  seen      {counted(texts, 'text')}: passages, and long turns by themselves"
    for key, value in model.config.items():
        yield f"  {key:9} {visible(_said(value))}"
    yield from _verdict_lines(model)
    if used:
        yield ""
        yield from history_lines(used)
    if model.task == "identification":
        yield from _figures(metrics)
    elif metrics:
        yield from _resolution_figures(metrics)
    if (found := find_problem(model, database)) is not None:
        yield ""
        what = "It cannot be used" if model.path else "Its figures cannot be read"
        yield f"{what}: {visible(found, 2000)}"


def _verdict_lines(model: "Model") -> Iterator[str]:
    kind, reason = model.verdict.get("verdict"), model.verdict.get("reason")
    if not isinstance(kind, str) or not isinstance(reason, str):
        return
    yield ""
    yield from sentence_lines(f"Judged when it was made, {kind}: {reason}")
    on = model.verdict.get("on")
    if isinstance(on, str) and on:
        yield from sentence_lines(f"(on {on})", "  ")


def _figures(metrics: Mapping[str, object]) -> Iterator[str]:
    examples, folds = metrics.get("examples"), metrics.get("folds")
    if not isinstance(examples, int) or not isinstance(folds, int):
        return
    yield ""
    yield f"Learnt from {counted(examples, 'number')}. In {folds} folds:"
    per_fold = metrics.get("per_fold")
    spreads = per_fold if isinstance(per_fold, dict) else {}
    for name in FIGURES:
        own = spreads.get(name)
        deviation = _number(own, "deviation") if isinstance(own, dict) else None
        value = percent(_number(metrics, name), none="none")
        between = percent(deviation, none="none")
        yield f"  {name:10} {value:>5}, deviation between folds {between}"
    yield from left_out_of(metrics)
    worst = metrics.get("worst")
    if isinstance(worst, list) and worst:
        yield ""
        yield "Anchors with most errors in the folds:"
        titles = {"n": "numbers", "missed": "missed", "false": "false"}
        yield from count_table("anchor", titles, worst, width=20, digits=8)


def _resolution_figures(metrics: Mapping[str, object]) -> Iterator[str]:
    yield ""
    examples, passages = metrics.get("examples"), metrics.get("passages")
    if isinstance(examples, int) and isinstance(passages, int):
        told = counted(passages, "passage")
        yield f"Learnt from {counted(examples, 'example')} in {told}."
    yield from figure_lines(metrics)
    yield from left_out_of(metrics)
    yield from failure_lines(metrics)


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(metrics: Mapping[str, object], name: str) -> float | None:
    value = metrics.get(name)
    if isinstance(value, int) and abs(value) > 1:  # no share of anything
        return None
    return float(value) if isinstance(value, int | float) else None
