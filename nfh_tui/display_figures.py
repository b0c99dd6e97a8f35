"""Formatting of figures for commands, documents and screens."""

from math import isnan

NONE = "–"
"""Shown for an undefined figure."""

EIGHTHS = " ▏▎▍▌▋▊▉█"
"""Blocks that fill so many eighths of a cell."""


def percent(value: float | None, places: int = 1, *, none: str = NONE) -> str:
    """A fraction as a percentage, without the sign."""
    return none if value is None else f"{100 * value:.{places}f}"


def percentage(value: float | None) -> str:
    """A fraction as a percentage with its sign: "17.8 %"."""
    return NONE if value is None else f"{percent(value)} %"


def interval(low: float | None, high: float | None) -> str:
    """The ends of an interval in percent."""
    return NONE if low is None or high is None else f"{percent(low)}–{percent(high)}"


def difference_interval(low: float | None, high: float | None, places: int = 1) -> str:
    """The ends of the interval of a difference, in points with their signs."""
    if low is None or high is None:
        return NONE
    return f"{100 * low:+.{places}f} to {100 * high:+.{places}f}"


def bar(value: float, width: int) -> str:
    """A bar of at most `width` cells; a share above 0 has at least one eighth."""
    if isnan(value) or value <= 0:
        return ""
    eighths = max(1, min(round(min(value, 1.0) * width * 8), width * 8))
    whole, part = divmod(eighths, 8)
    return EIGHTHS[-1] * whole + (EIGHTHS[part] if part else "")


def clock(seconds: int) -> str:
    """Seconds as m:ss, or as h:mm:ss from one hour on."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
