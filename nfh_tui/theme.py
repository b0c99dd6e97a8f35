"""The two built-in themes, those of the user, and all colours in a palette of 256."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from nfh_tui.config import OwnTheme

DARK = Theme(
    name="nfh-dark",
    primary="#7aa7d9",
    secondary="#8fb8a8",
    accent="#e0b070",
    warning="#e0a458",
    error="#e07a7a",
    success="#8fbf86",
    foreground="#d4d7dc",
    background="#15181d",
    surface="#1a1e24",
    panel="#232830",
    boost="#2a313b",
    dark=True,
    variables={
        "input-selection-background": "#7aa7d9 35%",
        "scrollbar": "#39424e",
        "scrollbar-hover": "#7aa7d9",
        "scrollbar-active": "#7aa7d9",
        "scrollbar-background": "#1a1e24",
        "scrollbar-background-hover": "#1a1e24",
        "scrollbar-background-active": "#1a1e24",
    },
)
LIGHT = Theme(
    name="nfh-light",
    primary="#1f5f99",
    secondary="#3b7563",
    accent="#8a5a00",
    warning="#8f5200",
    error="#a52a2a",
    success="#2f6b2f",
    foreground="#24282e",
    background="#f6f5f1",
    surface="#efede7",
    panel="#e4e1d9",
    boost="#dcd8cd",
    dark=False,
    variables={
        "input-selection-background": "#1f5f99 30%",
        "scrollbar": "#bdb8ab",
        "scrollbar-hover": "#1f5f99",
        "scrollbar-active": "#1f5f99",
        "scrollbar-background": "#efede7",
        "scrollbar-background-hover": "#efede7",
        "scrollbar-background-active": "#efede7",
    },
)
THEMES = (DARK, LIGHT)
DEFAULT = DARK.name
SETTING = "theme"
"""Prefix of the setting that keeps a person's choice; the name of the person follows."""


FEW_COLOURS = "256"
"""Rich's name of the palette of terminals that do not say that they show more."""

GREYISH = 24
"""Greatest difference between the parts of a colour that is drawn as a grey."""

FIRST_GREY, GREYS = 232, 24
"""The greys of the palette: their first number, and how many there are."""


class PaletteFilter(LineFilter):
    """Draws the colours of a line in the palette of 256, a grey as one of its greys.

    Rich takes a tinted grey such as #1a1e24 for a colour: the nearest one is a dark blue.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with colours of the palette."""
        del background
        return [
            segment if segment.style is None else Segment(segment.text, _few(segment.style))
            for segment in segments
        ]


@lru_cache(maxsize=1024)
def _few(style: Style) -> Style:
    fore, back = style.color, style.bgcolor
    colours = Style(
        color=None if fore is None else in_palette(fore),
        bgcolor=None if back is None else in_palette(back),
    )
    return style + colours


def in_palette(colour: RichColor) -> RichColor:
    """The colour of the palette that stands for another one."""
    rgb = colour.triplet
    if rgb is None:
        return colour
    if max(rgb) - min(rgb) > GREYISH:
        return colour.downgrade(ColorSystem.EIGHT_BIT)
    # Rounded down, so that the four grounds of each theme are four greys.
    step = (round(0.2126 * rgb.red + 0.7152 * rgb.green + 0.0722 * rgb.blue) - 8) // 10
    return RichColor.from_ansi(FIRST_GREY + max(0, min(step, GREYS - 1)))


def made(own: OwnTheme) -> Theme:
    """A theme of the user; colours that it lacks come from the built-in dark or light theme."""
    base = DARK if own.dark else LIGHT
    colours: dict[str, Any] = dict(own.colours)
    theme = replace(base, name=own.name, **colours)
    bars = {
        name: theme.surface or value if "background" in name else theme.primary
        for name, value in base.variables.items()
        if name.startswith("scrollbar-")
    }
    share = base.variables["input-selection-background"].split()[-1]
    selection = {"input-selection-background": f"{theme.primary} {share}"}
    return replace(theme, variables={**base.variables, **bars, **selection})
