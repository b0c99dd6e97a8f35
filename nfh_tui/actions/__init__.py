"""The registry of acts; see `registry`."""

from nfh_tui.actions.act import GROUPS, Access, Action, Mode
from nfh_tui.actions.registry import (
    ACTIONS,
    BY_ID,
    FOOT_KEYS,
    PANE_GROUPS,
    Line,
    foot_actions,
    key_table_markdown,
    key_table_text,
    table_lines,
)

__all__ = [
    "ACTIONS",
    "BY_ID",
    "FOOT_KEYS",
    "GROUPS",
    "PANE_GROUPS",
    "Access",
    "Action",
    "Line",
    "Mode",
    "foot_actions",
    "key_table_markdown",
    "key_table_text",
    "table_lines",
]
