"""Acts that move the cursor, and the page."""

from nfh_tui.actions.act import CURSOR, READER, Action

ACTS: tuple[Action, ...] = (
    Action(
        "cursor.left", ("left", "h"), "← h", "Word to the left",
        "Move the token cursor one word left.", CURSOR, READER,
    ),
    Action(
        "cursor.right", ("right", "l"), "→ l", "Word to the right",
        "Move the token cursor one word right.", CURSOR, READER,
    ),
    Action(
        "cursor.up", ("up",), "↑", "Line up",
        "Move the cursor a line up; in the queue one item, in the evidence one line.",
        CURSOR, READER,
    ),
    Action(
        "cursor.down", ("down",), "↓", "Line down",
        "Move the cursor a line down; in the queue one item, in the evidence one line.",
        CURSOR, READER,
    ),
    Action(
        "cursor.next_noun", ("w",), "w", "Next noun", "Move to the next noun or name.",
        CURSOR, READER
    ),
    Action(
        "cursor.previous_noun", ("b",), "b", "Previous noun",
        "Move to the noun or name before.", CURSOR, READER,
    ),
    Action(
        "cursor.next_turn", ("right_curly_bracket",), "}", "Next turn",
        "Move to the start of the next turn.", CURSOR, READER,
    ),
    Action(
        "cursor.previous_turn", ("left_curly_bracket",), "{", "Previous turn",
        "Move to the start of the turn before.", CURSOR, READER,
    ),
    Action(
        "cursor.anchor", ("home",), "home", "Back to the number",
        "Move the cursor back to the number that is asked about.", CURSOR, READER,
    ),
    Action(
        "cursor.next_head", ("end",), "end", "Next marked head",
        "Move the cursor from one marked head to the next.", CURSOR, READER,
    ),
    Action(
        "page.up", ("pageup",), "pgup", "Page up", "One page up in the pane in use.",
        CURSOR, READER
    ),
    Action(
        "page.down", ("pagedown",), "pgdn", "Page down", "One page down there.", CURSOR, READER,
    ),
)  # fmt: skip
