"""The figures of a model of resolution, as `retrain` and `models` show them."""

from collections.abc import Iterator, Mapping

from nfh_db.formats.wording import counted, visible
from nfh_tui.cli.retrain_text import percent, wrapped

RESOLUTION = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
)
IDENTIFICATION = ("precision", "recall", "f1")

SHOWN_WORST = 8


def number(metrics: Mapping[str, object], name: str) -> float | None:
    """A figure; None where there is none of that name."""
    value = metrics.get(name)
    return float(value) if isinstance(value, int | float) else None


def figure_lines(metrics: Mapping[str, object]) -> Iterator[str]:
    """On what it was judged, and how well it did."""
    count = number(metrics, "dev_examples")
    if count is None:
        folds = number(metrics, "folds") or 0
        yield f"In {int(folds)} folds, each passage by a model that has not seen it:"
    else:
        on = visible(str(metrics.get("judged_on", "")), 80)
        told = counted(int(count), "example")
        yield from wrapped(f"On {told} that it did not learn from ({on}):")
    for name in RESOLUTION:
        value = number(metrics, name)
        if value is not None:
            yield f"  {name:19} {percent(value):>6}"
    if number(metrics, "numbers") is not None or number(metrics, "f1") is not None:
        for name in IDENTIFICATION:
            value = number(metrics, name)
            if value is not None:
                yield f"  {'identification ' + name:24} {percent(value):>1}"


def failure_lines(metrics: Mapping[str, object]) -> Iterator[str]:
    """Where it fails: by kind, by mistake, by the anchor's words."""
    yield from _table("kind", ("n", "right"), metrics.get("by_kind"))
    yield from _table("mistake", ("n",), metrics.get("mistakes"))
    yield from _table("anchor", ("n", "wrong"), metrics.get("worst"))


def _table(what: str, counts: tuple[str, ...], rows: object) -> Iterator[str]:
    if not isinstance(rows, list) or not rows:
        return
    yield ""
    yield f"  {what:34}" + "".join(f" {name:>7}" for name in counts)
    for row in rows[:SHOWN_WORST]:
        if isinstance(row, dict):
            cells = "".join(f" {_count(row.get(name)):>7}" for name in counts)
            yield f"  {visible(str(row.get(what)), 34):34}{cells}"


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "?"
