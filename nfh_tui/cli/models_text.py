"""Models as `nfh-tui models` shows them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_models.errors import ModelsError
from nfh_models.model_files import CARD
from nfh_models.resolution.recipes import SMALL
from nfh_tui.cli.models_back import activation_json, history_lines
from nfh_tui.cli.models_figures import failure_lines, figure_lines
from nfh_tui.cli.retrain_text import in_words, left_out_lines, percent, wrapped
from nfh_tui.model_folders import checked_folder, folder_of
from nfh_tui.packaged import is_packaged, packaged_folder, packaged_metrics

if TYPE_CHECKING:
    from nfh_db.activations import Activation
    from nfh_db.models import Model

MINUTES = 16
"""Characters of a time as far as its minutes."""

MEASURES = (("accuracy_inclusive", "incl"), ("accuracy", "acc"))
"""Accuracies of resolution, the one that counts first, and what they are called in a list."""

NOT_INCLUSIVE = MEASURES[1][1]

FIGURES = ("precision", "recall", "f1", "accuracy")


def summary_json(model: "Model", database: Path) -> dict[str, object]:
    """A model in short. folder: whole; null for one without."""
    return {
        "id": model.id,
        "name": model.name,
        "task": model.task,
        "recipe": model.recipe,
        "version": model.version,
        "state": model.state,
        "f1": _number(metrics_of(model), "f1"),
        "accuracy": _accuracy(model, "accuracy"),
        "accuracy_inclusive": _accuracy(model, "accuracy_inclusive"),
        "folder": _folder(model, database),
        "created_at": model.created_at,
    }


def full_json(
    model: "Model", database: Path, used: "Sequence[Activation]" = ()
) -> dict[str, object]:
    """A model in full. used: each time that it came into use, or went out of it. verdict: null
    where it was not judged. trouble: what is wrong with its folder; null where nothing is."""
    return summary_json(model, database) | {
        "verdict": dict(model.verdict) or None,
        "used": [activation_json(one) for one in used],
        "digest": model.digest,
        "snapshot": model.snapshot,
        "config": dict(model.config),
        "metrics": dict(metrics_of(model)),
        "trouble": trouble(model, database),
    }


def trouble(model: "Model", database: Path) -> str | None:
    """What is wrong with a model's folder, in a sentence; None where nothing is."""
    if model.path is None:
        return None
    try:
        checked_folder(database, model)
    except ModelsError as error:
        return str(error)
    return None


def listed(found: Sequence["Model"], database: Path) -> Iterator[str]:
    """A line a model, under a line that says what stands in it."""
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
        yield "* in folds: without words that are spelled like a head, which acc else counts"
    if gone:
        yield "! gone: its folder is not there; `nfh-tui models show` says which"


def accuracy_of(model: "Model") -> tuple[float | None, str]:
    """How often a model finds the head, and by which measure; None and "" where unknown.

    In folds words of the same form are not told apart, so there is no inclusive accuracy.
    """
    known = ((_accuracy(model, name), word) for name, word in MEASURES)
    return next(((value, word) for value, word in known if value is not None), (None, ""))


def _accuracy(model: "Model", name: str) -> float | None:
    """An accuracy of resolution: one of identification is another thing."""
    return None if model.task == "identification" else _number(metrics_of(model), name)


def metrics_of(model: "Model") -> Mapping[str, object]:
    """The figures of a model; those of the one in the package lie there."""
    packaged = model.recipe == SMALL and model.path is None
    return packaged_metrics() if packaged else model.metrics


def _is_gone(model: "Model", database: Path) -> bool:
    if model.path is None:
        return model.recipe == SMALL and not is_packaged()
    return not _there(model, database)


def full_lines(
    model: "Model", database: Path, used: "Sequence[Activation]" = ()
) -> Iterator[str]:
    """A model in full, for a person. used: as in `full_json`."""
    yield f"{model.name}: {model.recipe} for {in_words(model.task)}, {model.state}"
    yield f"  number    {model.id}"
    yield f"  version   {visible(model.version)}"
    yield f"  made      {visible(model.created_at[:MINUTES]).replace('T', ' ')} UTC"
    folder = _folder(model, database)
    if folder is not None:
        yield f"  folder    {visible(folder, 400)}"
        yield f"  card      {visible(str(Path(folder) / CARD), 400)}"
    for key, value in model.config.items():
        yield f"  {key:9} {visible(_said(value))}"
    yield from _verdict_lines(model)
    if used:
        yield ""
        yield from history_lines(used)
    metrics = metrics_of(model)
    if model.task == "identification":
        yield from _figures(metrics)
    elif metrics:
        yield from _resolution_figures(metrics)
    found = trouble(model, database)
    if found is not None:
        yield ""
        yield f"It cannot be used: {visible(found, 2000)}"


def _verdict_lines(model: "Model") -> Iterator[str]:
    """What became of it when it was made, and why."""
    kind, reason = model.verdict.get("verdict"), model.verdict.get("reason")
    if not isinstance(kind, str) or not isinstance(reason, str):
        return
    yield ""
    yield from wrapped(f"Judged when it was made, {kind}: {reason}")
    on = model.verdict.get("on")
    if isinstance(on, str) and on:
        yield from wrapped(f"(on {on})", "  ")


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
        value = percent(_number(metrics, name))
        yield f"  {name:10} {value:>5}, deviation between folds {percent(deviation)}"
    left_out = metrics.get("left_out")
    if isinstance(left_out, dict):
        counts = {key: number for key, number in left_out.items() if isinstance(number, int)}
        yield from left_out_lines(counts)
    yield from _worst(metrics.get("worst"))


def _resolution_figures(metrics: Mapping[str, object]) -> Iterator[str]:
    yield ""
    examples, passages = metrics.get("examples"), metrics.get("passages")
    if isinstance(examples, int) and isinstance(passages, int):
        told = counted(passages, "passage")
        yield f"Learnt from {counted(examples, 'example')} in {told}."
    yield from figure_lines(metrics)
    left_out = metrics.get("left_out")
    if isinstance(left_out, dict):
        counts = {key: count for key, count in left_out.items() if isinstance(count, int)}
        yield from left_out_lines(counts)
    yield from failure_lines(metrics)


def _worst(worst: object) -> Iterator[str]:
    if not isinstance(worst, list) or not worst:
        return
    yield ""
    yield "Anchors with most errors in the folds:"
    yield f"  {'anchor':20} {'numbers':>8} {'missed':>8} {'false':>8}"
    for one in worst:
        if isinstance(one, dict):
            counts = "".join(f" {_count(one.get(key)):>8}" for key in ("n", "missed", "false"))
            yield f"  {visible(str(one.get('anchor')), 20):20}{counts}"


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


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "?"


def _folder(model: "Model", database: Path) -> str | None:
    if model.path is not None:
        return str(folder_of(database, model.path))
    return str(packaged_folder()) if model.recipe == SMALL else None


def _there(model: "Model", database: Path) -> bool:
    try:
        return model.path is not None and folder_of(database, model.path).is_dir()
    except OSError:  # one that nobody may look into
        return False
