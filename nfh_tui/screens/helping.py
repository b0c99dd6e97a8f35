"""The keys as a text: those of the pane in use first."""

from rich.text import Text

from nfh_tui.actions import GROUPS, PANE_GROUPS, Line, Mode, table_lines

KEY_WIDTH = 13


def help_text(pane: str, mode: Mode) -> Text:
    """All keys, group by group; what this mode does not do is told to belong elsewhere."""
    first = PANE_GROUPS[pane]
    order = [*first, *(group for group in GROUPS if group not in first)]
    text = Text()
    for group in order:
        lines = list(table_lines([group]))
        together = {line.modes for line in lines} if mode not in lines[0].modes else set()
        text.append(group, "bold underline")
        if len(together) == 1:
            text.append(f"  (in {_modes(lines[0].modes)})", "italic")
        text.append("\n")
        for line in lines:
            _append(text, line, mode, told=len(together) == 1)
        text.append("\n")
    text.append(
        "Every act is also in the palette, ctrl+p. To select with the mouse, hold shift.\n"
    )
    return text


def _append(text: Text, line: Line, mode: Mode, *, told: bool) -> None:
    """One line. told: in which modes it does something stands over it already."""
    text.append(f"  {line.keys:<{KEY_WIDTH}}", "bold")
    text.append(line.title)
    if mode not in line.modes and not told:
        text.append(f"  (in {_modes(line.modes)})", "italic")
    if line.description:
        text.append(f"  {line.description}", "dim")
    text.append("\n")


def _modes(modes: frozenset[Mode]) -> str:
    return " and ".join(mode.value for mode in Mode if mode in modes)
