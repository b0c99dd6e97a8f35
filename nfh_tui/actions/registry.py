"""Every act of the workbench, once: keys, footer, help, palette and tables follow from here.

Each group of acts has a file of its own. Standard library only, so that `nfh-tui keys` starts
no screen.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfh_tui.actions import (
    adopting,
    deciding,
    heads,
    item,
    looking,
    moving,
    program,
    queue,
    ruling,
    training,
    visiting,
)
from nfh_tui.actions.act import (
    ADOPT,
    CURSOR,
    DECIDE,
    GROUPS,
    HEADS,
    ITEM,
    LOOK,
    QUEUE,
    Action,
    Mode,
)

ACTIONS: tuple[Action, ...] = (
    *queue.ACTS,
    *deciding.ACTS,
    *heads.ACTS,
    *moving.ACTS,
    *adopting.ACTS,
    *item.ACTS,
    *looking.ACTS,
    *program.ACTS,
    *ruling.ACTS,
    *training.ACTS,
    *visiting.ACTS,
)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

LEAST_KEYS, MOST_KEYS = 10, 22
"""Cells of the column of keys in a plain text."""

FOOT_KEYS = 6
"""The most keys that stand at the foot."""

PANE_GROUPS: dict[str, tuple[str, ...]] = {
    "queue": (QUEUE, LOOK),
    "passage": (DECIDE, HEADS, CURSOR),
    "evidence": (ADOPT, ITEM),
}
"""Which groups of keys belong to a pane: help lists these first."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a key table. ids: of the acts that it stands for."""

    keys: str
    title: str
    description: str
    group: str
    modes: frozenset[Mode]
    ids: tuple[str, ...] = ()


def foot_actions(mode: Mode, actions: Sequence[Action] = ACTIONS) -> tuple[Action, ...]:
    """The workbench's acts at the foot in this mode, at most `FOOT_KEYS`, most needed first."""
    ranked = [a for a in actions if a.foot is not None and mode in a.modes and not a.where]
    ranked.sort(key=lambda action: action.foot or 0)
    always = [a for a in ranked if a.id in {"help", "quit"}]
    others = [a for a in ranked if a not in always]
    return (*others[: FOOT_KEYS - len(always)], *always)


def table_lines(
    groups: Iterable[str] = GROUPS, actions: Sequence[Action] = ACTIONS
) -> Iterator[Line]:
    """The key table, group by group; acts that are listed together make one line."""
    for group in groups:
        last: str | None = None
        for action in actions:
            if action.group != group or not action.keys:
                continue
            if action.listed is not None and action.listed == last:
                continue
            last = action.listed
            yield Line(
                action.shown,
                action.listed or action.title,
                action.description if action.listed is None else "",
                group,
                action.modes,
                _listed_with(action, actions),
            )


def _listed_with(action: Action, actions: Sequence[Action]) -> tuple[str, ...]:
    if action.listed is None:
        return (action.id,)
    return tuple(other.id for other in actions if other.listed == action.listed)


def key_table_text(actions: Sequence[Action] = ACTIONS) -> str:
    """The keys as plain text, for `nfh-tui keys`: one group a block, aligned."""
    blocks = []
    for group in GROUPS:
        lines = [
            key_line(line.keys, line.title, actions) for line in table_lines([group], actions)
        ]
        blocks.append("\n".join([group, *lines]))
    return "\n\n".join(blocks) + "\n"


def key_line(keys: str, title: str, actions: Sequence[Action]) -> str:
    """Keys and a title as one line of a column; keys that are too long for it stand above."""
    fitting = (len(action.shown) for action in actions if len(action.shown) <= MOST_KEYS)
    width = max(LEAST_KEYS, *fitting)
    if len(keys) > width:
        return f"  {keys}\n  {'':{width}} {title}"
    return f"  {keys:{width}} {title}"


def key_table_markdown() -> str:
    """The keys as one Markdown table, for the page of keys. Ends with a line end."""
    rows = ["| keys | act | what it does |", "|---|---|---|"]
    for group in GROUPS:
        rows.append(f"| | **{group}** | |")
        rows.extend(
            f"| {_markdown_keys(line.keys)} | {line.title} | {line.description} |"
            for line in table_lines([group])
        )
    return "\n".join(rows) + "\n"


def _markdown_keys(shown: str) -> str:
    return " ".join(f"`{key}`" for key in shown.replace("|", "\\|").split())
