"""The two themes of our own; all of Textual's can be chosen as well."""

from textual.theme import Theme

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
"""Name of the setting that keeps a person's choice; the person's name follows it."""
