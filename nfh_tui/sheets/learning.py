"""Models over time: a small chart of blocks, and the same as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_tui.sheets.line import Cell, Line, Stop, heading, left, percent, right, row, sentence

EIGHTHS = " ▁▂▃▄▅▆▇█"
HEIGHT = 5
"""Rows of the chart."""

MODEL_STOP = "model"
INCLUSIVE, PLAIN = "incl", "acc"
NAMES = (("accuracy_inclusive", INCLUSIVE), ("accuracy", PLAIN))
"""The measures, the one that counts first: what a listing calls it, and what it is here."""

MEASURES = {
    INCLUSIVE: "inclusive accuracy",
    PLAIN: "accuracy, which does not count other words of the same form",
}
ONE_MODEL = (
    "One model has been judged so far; there is no curve before the second. `nfh-tui retrain` "
    "makes one of the labels that are here now."
)
NO_MODEL = (
    "No model here has been judged on examples that it did not learn from. `nfh-tui retrain "
    "resolution` makes one."
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A model with its figures as fractions; None where it has none.

    accuracy: of resolution. measure: which accuracy that is, one of MEASURES, "" for none.
    f1: of identification. labels: how many it learnt from. at: when it was made, UTC.
    """

    id: int
    name: str
    recipe: str
    state: str
    at: str
    accuracy: float | None = None
    f1: float | None = None
    labels: int | None = None
    measure: str = ""


def judged_of(
    listed: Sequence[Mapping[str, object]], labels: Mapping[int, int]
) -> list[Judged]:
    """The models of `nfh-tui models --json`, oldest first. labels: by the model's id."""
    made = [_judged(one, labels) for one in listed]
    return sorted(made, key=lambda one: (one.at, one.id))


def _judged(one: Mapping[str, object], labels: Mapping[int, int]) -> Judged:
    known = ((_fraction(one.get(name)), measure) for name, measure in NAMES)
    accuracy, measure = next((pair for pair in known if pair[0] is not None), (None, ""))
    return Judged(
        _int(one.get("id")),
        str(one.get("name")),
        str(one.get("recipe")),
        str(one.get("state")),
        str(one.get("created_at")),
        accuracy,
        _fraction(one.get("f1")),
        labels.get(_int(one.get("id"))),
        measure,
    )


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _fraction(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def learning_lines(models: Sequence[Judged], width: int) -> list[Line]:
    """Chart and table; a sentence where there are too few for a curve."""
    lines = [heading("Models over time", "enter shows a model's card")]
    known = [one.accuracy for one in models if one.accuracy is not None]
    if len(known) > 1:
        lines += chart_lines(known, width)
        lines += sentence(_chart_words(models), width)
    elif models:
        lines += sentence(ONE_MODEL if known else NO_MODEL, width)
    if not models:
        return lines + sentence("There is no model yet.", width)
    name = max(8, min(18, width - 47))
    titles = f"{right('acc %', 7)}{left('', 5)}{right('F1 %', 7)}{right('labels', 7)}"
    lines.append((Cell(f" {left('made', 17)}{left('', name)}{titles}", ("faint",)),))
    for one in models:
        sign = "● " if one.state == "active" else "  "
        labels = "–" if one.labels is None else f"{one.labels:,}"
        told = f"{one.name}: {one.recipe}, {one.state}"
        if one.measure:
            told += f"; {percent(one.accuracy)} is {MEASURES[one.measure]}"
        lines.append(
            row(
                Stop(f"{MODEL_STOP} {one.id}", None, told, act=MODEL_STOP),
                Cell(f" {one.at[:16].replace('T', ' ')} ", ("faint",)),
                Cell(left(sign + one.name, name), ("bold",) if sign.strip() else ()),
                Cell(right(percent(one.accuracy), 7)),
                Cell(left(f" {one.measure}", 5), ("faint",)),
                Cell(right(percent(one.f1), 7)),
                Cell(right(labels, 7)),
            )
        )
    return lines


def chart_lines(values: Sequence[float], width: int) -> list[Line]:
    """A column a value, in time's order; the scale at the left, in percent.

    The scale goes from a little below the lowest value to the highest, so that steps are
    seen; it does not begin at nought, and says so by its numbers.
    """
    label = 6
    room = max(4, width - label - 3)
    kept = values[-(room // 2) :]
    each = max(2, min(6, room // len(kept)))
    low, high = min(kept), max(kept)
    low = max(0.0, low - max(0.01, (high - low) * 0.15))
    span = max(high - low, 0.001)
    heights = [max(1, round((one - low) / span * HEIGHT * 8)) for one in kept]
    lines: list[Line] = []
    for rank in range(HEIGHT - 1, -1, -1):
        shown = {HEIGHT - 1: high, 0: low}.get(rank)
        scale = right("" if shown is None else percent(shown), label)
        bars = "".join(
            EIGHTHS[max(0, min(8, height - rank * 8))] * (each - 1) + " " for height in heights
        )
        lines.append((Cell(f" {scale} ", ("faint",)), Cell("│", ("faint",)), Cell(bars)))
    return lines


def _chart_words(models: Sequence[Judged]) -> str:
    """What the columns measure: columns of two measures cannot be compared to the point."""
    found = {one.measure for one in models if one.measure}
    which = f", inclusive where the table says {INCLUSIVE}"
    if len(found) == 1:
        which = ", inclusive" if found == {INCLUSIVE} else ""
    return f"accuracy in %{which}, on examples kept out of training; oldest first"


def model_of(stop: Stop) -> int:
    """The id of the model that a stop stands for."""
    return int(stop.name.removeprefix(f"{MODEL_STOP} "))
