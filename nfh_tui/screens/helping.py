"""The keys to read: those of the pane in use first."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from nfh_tui.actions import (
    ACTIONS,
    GROUPS,
    PANE_GROUPS,
    Action,
    Line,
    Mode,
    table_lines,
)
from nfh_tui.signs import LEGEND

CLOSING = "Every act is also in the palette, ctrl+p. To select text with the mouse, hold shift."

Why = Callable[[Action], str]
"""Why an act cannot be done now; "" for one that can."""


def help_table(
    pane: str, mode: Mode, actions: Sequence[Action] = ACTIONS, why: Why | None = None
) -> Table:
    """All keys in two columns. why: tells of each act what is in its way now."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for keys, words in help_rows(pane, mode, actions, why):
        table.add_row(keys, words)
    return table


def help_rows(
    pane: str, mode: Mode, actions: Sequence[Action] = ACTIONS, why: Why | None = None
) -> Iterator[tuple[Text, Text]]:
    """Keys and what they do, group by group; what this mode does not do says where it is."""
    reasons = {} if why is None else {action.id: why(action) for action in actions}
    first = PANE_GROUPS[pane]
    for group in (*first, *(group for group in GROUPS if group not in first)):
        lines = list(table_lines([group], actions))
        elsewhere = all(mode not in line.modes for line in lines)
        heading = Text(group, "bold underline")
        if elsewhere:
            heading = Text.assemble(heading, (f"  in {_modes(lines[0].modes)}", "italic"))
        now = [""] * len(lines) if elsewhere else [_now(line, mode, reasons) for line in lines]
        if len(set(now)) == 1 and now[0]:
            heading = Text.assemble(heading, (f"  not now: {now[0]}", "italic"))
            now = [""] * len(lines)
        yield Text(), heading
        for line, reason in zip(lines, now, strict=True):
            yield Text(line.keys, "bold"), _words(line, mode, reason, told=elsewhere)
        yield Text(), Text()
    yield Text(), Text("Signs", "bold underline")
    for sign, meaning in LEGEND:
        yield Text(sign, "bold"), Text(meaning)
    yield Text(), Text()
    yield Text(), Text(CLOSING)


def side_table(pane: str, first: Sequence[str], acts: Sequence[Action], why: Why) -> Table:
    """The keys of a screen beside the workbench, in two columns.

    pane: what the pane in use is called. first: ids of the acts that are about a pane. acts:
    those of the screen. why: tells of each what is in its way now.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    by_id = {act.id: act for act in acts}
    here = [by_id[one] for one in first if one in by_id]
    # What the pane cannot do stands below what it can.
    here.sort(key=lambda act: bool(why(act)))
    rest = [act for act in acts if act.id not in first]
    for heading, group in ((pane, here), ("This screen", rest)):
        table.add_row(Text(), Text(heading, "bold underline"))
        for keys, words in _side_rows(group, why):
            table.add_row(keys, words)
        table.add_row(Text(), Text())
    table.add_row(Text(), Text(CLOSING))
    return table


def _side_rows(acts: Sequence[Action], why: Why) -> Iterator[tuple[Text, Text]]:
    """A row an act; acts that are listed together make one."""
    told: set[str] = set()
    for act in acts:
        if act.listed in told:
            continue
        words = Text(act.listed or act.title)
        reason = "" if act.listed else why(act)
        if act.listed:
            told.add(act.listed)
        if reason:
            words.append(f"  not now: {reason}", "italic")
        if act.description and not act.listed:
            words.append(f"  {act.description}", "dim")
        yield Text(act.shown, "bold"), words


def _now(line: Line, mode: Mode, reasons: Mapping[str, str]) -> str:
    """Why none of a line's acts can be done now; in other modes its modes say it."""
    told = [reasons.get(action_id, "") for action_id in line.ids]
    return told[0] if mode in line.modes and all(told) else ""


def _words(line: Line, mode: Mode, now: str, *, told: bool) -> Text:
    """Title and description. told: the group has said already in which modes it works."""
    text = Text(line.title)
    if mode not in line.modes and not told:
        text.append(f"  in {_modes(line.modes)}", "italic")
    if now:
        text.append(f"  not now: {now}", "italic")
    if line.description:
        text.append(f"  {line.description}", "dim")
    return text


def _modes(modes: frozenset[Mode]) -> str:
    return " and ".join(mode.value for mode in Mode if mode in modes)
