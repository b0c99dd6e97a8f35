"""Models over time: a small chart of blocks, and the same as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_tui.sheets.line import Cell, Line, Stop, heading, left, percent, right, row, sentence

EIGHTHS = " ▁▂▃▄▅▆▇█"
HEIGHT = 5
"""Rows of the chart."""

MODEL_STOP = "model"
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

    accuracy: of resolution, inclusive where it is known. f1: of identification. labels: how
    many it learnt from. at: when it was made, UTC.
    """

    id: int
    name: str
    recipe: str
    state: str
    at: str
    accuracy: float | None = None
    f1: float | None = None
    labels: int | None = None


def judged_of(
    listed: Sequence[Mapping[str, object]], labels: Mapping[int, int]
) -> list[Judged]:
    """The models of `nfh-tui models --json`, oldest first. labels: by the model's id."""
    made = [
        Judged(
            _int(one.get("id")),
            str(one.get("name")),
            str(one.get("recipe")),
            str(one.get("state")),
            str(one.get("created_at")),
            _fraction(one.get("accuracy_inclusive")),
            _fraction(one.get("f1")),
            labels.get(_int(one.get("id"))),
        )
        for one in listed
    ]
    return sorted(made, key=lambda one: (one.at, one.id))


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
    elif models:
        lines += sentence(ONE_MODEL if known else NO_MODEL, width)
    if not models:
        return lines + sentence("There is no model yet.", width)
    name = max(8, min(18, width - 42))
    titles = "".join(right(one, 7) for one in ("acc %", "F1 %", "labels"))
    lines.append((Cell(f" {left('made', 17)}{left('', name)}{titles}", ("faint",)),))
    for one in models:
        sign = "● " if one.state == "active" else "  "
        labels = "–" if one.labels is None else f"{one.labels:,}"
        figures = (percent(one.accuracy), percent(one.f1), labels)
        told = f"{one.name}: {one.recipe}, {one.state}"
        lines.append(
            row(
                Stop(f"{MODEL_STOP} {one.id}", None, told, act=MODEL_STOP),
                Cell(f" {one.at[:16].replace('T', ' ')} ", ("faint",)),
                Cell(left(sign + one.name, name), ("bold",) if sign.strip() else ()),
                *(Cell(right(figure, 7)) for figure in figures),
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
    words = "accuracy in %, inclusive, on examples kept out of training; oldest first"
    return [*lines, *sentence(words, width)]


def model_of(stop: Stop) -> int:
    """The id of the model that a stop stands for."""
    return int(stop.name.removeprefix(f"{MODEL_STOP} "))
