"""The two built-in themes, and those of the user; all of Textual's can be chosen as well."""

from dataclasses import replace
from typing import Any

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
