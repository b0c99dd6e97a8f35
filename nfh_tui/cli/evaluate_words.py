"""Figures of an evaluation in words, alike for both tasks."""

from nfh_models.agreement.measure import Measure
from nfh_tui.cli.evaluate_json import Asked

NONE = "–"


def percent(value: float | None) -> str:
    """A fraction in percent, to one place."""
    return NONE if value is None else f"{100 * value:.1f}"


def interval(one: Measure) -> str:
    """The ends of an interval in percent."""
    if one.low is None or one.high is None:
        return NONE
    return f"{100 * one.low:.1f}–{100 * one.high:.1f}"


def signed(one: Measure, places: int = 1) -> str:
    """The ends of the interval of a difference, in points."""
    if one.low is None or one.high is None:
        return NONE
    return f"{100 * one.low:+.{places}f} to {100 * one.high:+.{places}f}"


def where(source: str, format_: str | None, asked: Asked) -> str:
    """What was measured on."""
    place = source if format_ is None else f"{source} ({format_})"
    if asked.query:
        place += f", query {asked.query}"
    return place + (f", split {asked.split}" if asked.split else "")
