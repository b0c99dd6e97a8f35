"""The colours of the heat map, made once a theme."""

from rich.style import Style
from textual.color import Color

from nfh_tui.heat import STEPS

FAINTEST, STRONGEST = 0.12, 0.55
"""Shares of the hue in the background of the lowest step and of the highest."""

Hues = tuple[Style, ...]


def hues(hue: Color, background: Color) -> Hues:
    """A style a step: the hue mixed into the background, more of it the higher the score.

    The terminal's own colours cannot be mixed: there the hue colours the word, from the middle
    on in bold, and the two highest steps are reversed.
    """
    if hue.ansi is not None or background.ansi is not None:
        return tuple(_own(hue, step) for step in range(STEPS))
    rise = (STRONGEST - FAINTEST) / (STEPS - 1)
    mixed = [background.blend(hue, FAINTEST + rise * step) for step in range(STEPS)]
    return tuple(Style(bgcolor=colour.rich_color) for colour in mixed)


def _own(hue: Color, step: int) -> Style:
    colour = hue.rich_color if hue.ansi is not None else None
    return Style(color=colour, bold=step >= STEPS // 2, reverse=step >= STEPS - 2)
