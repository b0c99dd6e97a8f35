"""The keys to read: those of the pane in use first."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from nfh_tui.actions import ACTIONS, GROUPS, PANE_GROUPS, Action, Line, Mode, table_lines
from nfh_tui.signs import LEGEND

CLOSING = "Every act is also in the palette, ctrl+p. To select text with the mouse, hold shift."


def help_table(pane: str, mode: Mode, actions: Sequence[Action] = ACTIONS) -> Table:
    """All keys in two columns."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for keys, words in help_rows(pane, mode, actions):
        table.add_row(keys, words)
    return table


def help_rows(
    pane: str, mode: Mode, actions: Sequence[Action] = ACTIONS
) -> Iterator[tuple[Text, Text]]:
    """Keys and what they do, group by group; what this mode does not do says where it is."""
    first = PANE_GROUPS[pane]
    for group in (*first, *(group for group in GROUPS if group not in first)):
        lines = list(table_lines([group], actions))
        elsewhere = all(mode not in line.modes for line in lines)
        heading = Text(group, "bold underline")
        if elsewhere:
            heading = Text.assemble(heading, (f"  in {_modes(lines[0].modes)}", "italic"))
        yield Text(), heading
        for line in lines:
            yield Text(line.keys, "bold"), _words(line, mode, told=elsewhere)
        yield Text(), Text()
    yield Text(), Text("Signs", "bold underline")
    for sign, meaning in LEGEND:
        yield Text(sign, "bold"), Text(meaning)
    yield Text(), Text()
    yield Text(), Text(CLOSING)


def _words(line: Line, mode: Mode, *, told: bool) -> Text:
    """Title and description. told: the group has said already in which modes it works."""
    text = Text(line.title)
    if mode not in line.modes and not told:
        text.append(f"  in {_modes(line.modes)}", "italic")
    if line.description:
        text.append(f"  {line.description}", "dim")
    return text


def _modes(modes: frozenset[Mode]) -> str:
    return " and ".join(mode.value for mode in Mode if mode in modes)
