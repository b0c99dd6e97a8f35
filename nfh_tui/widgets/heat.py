"""Scores as ten fixed steps: a bar sign for every eye, and colours made once a theme."""

from collections.abc import Sequence
from math import isfinite

from rich.style import Style
from textual.color import Color

STEPS = 10
"""Steps of a heat map, 0 the lowest score and STEPS - 1 the highest."""

SIGNS = "▁▁▂▃▃▄▅▆▇█"
"""The sign of each step: what tells it where no colour does."""

STRONGEST = 0.5
"""Share of the hue in the background of the highest step."""

Hues = tuple[Style, ...]


def steps(scores: Sequence[float | None]) -> tuple[int | None, ...]:
    """The step of each score, None where there is none.

    Steps are even parts from the lowest to the highest score of this item; where no score
    is negative they start at nought, so that probabilities keep their proportion.
    """
    known = [score for score in scores if score is not None and isfinite(score)]
    if not known:
        return (None,) * len(scores)
    low, high = min(0.0, *known), max(known)
    return tuple(_step(score, low, high) for score in scores)


def _step(score: float | None, low: float, high: float) -> int | None:
    if score is None or score != score:  # not a number
        return None
    if score >= high:
        return STEPS - 1 if high > low else 0
    share = (score - low) / (high - low) if score > low else 0.0
    return min(int(share * STEPS), STEPS - 1)


def hues(hue: Color, background: Color) -> Hues:
    """A style a step: the hue mixed into the background, more of it the higher the score.

    Plain where the colours are the terminal's own: those cannot be mixed, the signs remain.
    """
    if hue.ansi is not None or background.ansi is not None:
        return (Style.null(),) * STEPS
    mixed = [background.blend(hue, STRONGEST * step / (STEPS - 1)) for step in range(STEPS)]
    return tuple(Style(bgcolor=colour.rich_color) for colour in mixed)
