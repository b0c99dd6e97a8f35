"""Every act of the workbench, once: keys, footer, help, palette and tables follow from here.

Standard library only, so that `nfh-tui keys` starts no screen.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """Why the workbench is open: to read, to give one's own answer, or to make gold."""

    BROWSE = "browse"
    ANNOTATE = "annotate"
    ADJUDICATE = "adjudicate"


ALL = frozenset(Mode)
WRITING = frozenset({Mode.ANNOTATE, Mode.ADJUDICATE})
ADJUDICATING = frozenset({Mode.ADJUDICATE})


@dataclass(frozen=True, slots=True)
class Action:
    """One act.

    keys: Textual's names of the default keys; none where only the palette has the act.
    shown: how the keys are printed. title: the act by name. description: a sentence.
    modes: where the act does something; elsewhere it says how to get there.
    foot: rank in the line of keys at the foot, lowest first, None for never.
    short: the title there. listed: acts next to each other with the same `listed` make
    one line of a key table, under that title.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    title: str
    description: str
    group: str
    modes: frozenset[Mode] = ALL
    foot: int | None = None
    short: str = ""
    listed: str | None = None


GROUPS = (
    "Going through the queue",
    "Deciding",
    "Heads",
    "Moving in the passage",
    "Adopting",
    "This item",
    "Looking",
    "The program",
)
QUEUE, DECIDE, HEADS, CURSOR, ADOPT, ITEM, LOOK, PROGRAM = GROUPS


def _kind(name: str, key: str, title: str, description: str) -> Action:
    return Action(f"kind.{name}", (key,), key, title, description, DECIDE, WRITING)


_QUEUE_ACTIONS = (
    Action(
        "queue.next", ("j",), "j", "Next item", "Go to the next item of the queue.", QUEUE,
        foot=60, short="next",
    ),
    Action("queue.previous", ("k",), "k", "Previous item", "Go one item back.", QUEUE),
    Action("queue.first", ("g",), "g", "First item", "Go to the start of the queue.", QUEUE),
    Action("queue.last", ("G",), "G", "Last item", "Go to the end of the queue.", QUEUE),
    Action(
        "queue.next_undecided", ("right_square_bracket",), "]", "Next undecided item",
        "Go to the next item that still waits: for your answer, or for its gold.", QUEUE,
        foot=50, short="next open",
    ),
    Action(
        "queue.previous_undecided", ("left_square_bracket",), "[", "Previous undecided item",
        "Go back to the last item that still waits.", QUEUE,
    ),
)  # fmt: skip

_DECIDE_ACTIONS = (
    _kind("reference", "r", "Reference", "The missing noun stands in the passage."),
    _kind("year", "y", "Year", "A year of the calendar."),
    _kind("age", "a", "Age", "How old someone or something is."),
    _kind("currency", "c", "Currency", "An amount of money."),
    _kind("people", "p", "People", "A person, or a number of people."),
    _kind("time", "t", "Time", "A reading of the clock."),
    _kind("other", "o", "Other", "None of these; then one key for its sort."),
    _kind("unknown", "n", "Unknown", "Something is missing, and readers would differ."),
    _kind("not_nfh", "x", "Not an NFH", "The number has its own noun, or is none."),
    _kind("broken", "d", "Damaged", "The words cannot be read (BROKEN)."),
    Action("noun", ("equals_sign",), "=", "Write the noun", "Of a class.", DECIDE, WRITING),
    Action(
        "accept", ("enter",), "enter", "Accept and go on",
        "Save the answer; once it is on disk, the line below says so. Go on meanwhile.",
        DECIDE, WRITING, foot=10, short="accept",
    ),
    Action(
        "skip", ("s",), "s", "Skip for now", "Mark the item as skipped by you and go on.",
        DECIDE, WRITING, foot=40, short="skip",
    ),
)  # fmt: skip

_HEAD_ACTIONS = (
    Action(
        "hint.start", ("f",), "f", "Letter hints on candidates",
        "Show a letter at each candidate; the letter marks it as a head.", HEADS, WRITING,
        foot=20, short="heads",
    ),
    Action(
        "head.toggle", ("space",), "space", "Take or drop the token",
        "Mark the token under the cursor as a head, or take the mark away.", HEADS, WRITING,
    ),
    Action("span.grow", ("v",), "v", "Grow the span", "At both ends.", HEADS, WRITING),
    Action(
        "mentions.all", ("asterisk",), "*", "All mentions of this noun",
        "Add the other places where this noun stands, reviewed one by one.", HEADS, WRITING,
    ),
    Action(
        "head.join", ("J",), "J", "Two words for one thing",
        "Make one head of the last two: they are two words for the same.", HEADS, WRITING,
    ),
    Action(
        "head.drop_last", ("backspace",), "backspace", "Drop the last head",
        "Take the head marked last away.", HEADS, WRITING,
    ),
    Action(
        "relation.and", ("ampersand",), "&", "All of them (AND)",
        "The number counts all of its heads together.", HEADS, WRITING,
    ),
    Action(
        "relation.or", ("vertical_line",), "|", "One of them (OR)",
        "The number is one of its heads or the other.", HEADS, WRITING,
    ),
)  # fmt: skip

_CURSOR_ACTIONS = (
    Action(
        "cursor.left", ("left", "h"), "← h", "Word to the left",
        "Move the token cursor one word left.", CURSOR,
    ),
    Action(
        "cursor.right", ("right", "l"), "→ l", "Word to the right",
        "Move the token cursor one word right.", CURSOR,
    ),
    Action(
        "cursor.up", ("up",), "↑", "Line up",
        "Move the cursor a line up; in the queue one item, in the evidence one line.", CURSOR,
    ),
    Action(
        "cursor.down", ("down",), "↓", "Line down",
        "Move the cursor a line down; in the queue one item, in the evidence one line.",
        CURSOR,
    ),
    Action(
        "cursor.next_noun", ("w",), "w", "Next noun", "Move to the next noun or name.", CURSOR
    ),
    Action(
        "cursor.previous_noun", ("b",), "b", "Previous noun",
        "Move to the noun or name before.", CURSOR,
    ),
    Action(
        "cursor.next_turn", ("right_curly_bracket",), "}", "Next turn",
        "Move to the start of the next turn.", CURSOR,
    ),
    Action(
        "cursor.previous_turn", ("left_curly_bracket",), "{", "Previous turn",
        "Move to the start of the turn before.", CURSOR,
    ),
    Action(
        "cursor.anchor", ("home",), "home", "Back to the number",
        "Move the cursor back to the number that is asked about.", CURSOR,
    ),
    Action(
        "cursor.next_head", ("end",), "end", "Next marked head",
        "Move the cursor from one marked head to the next.", CURSOR,
    ),
    Action(
        "page.up", ("pageup",), "pgup", "Page up", "One page up in the pane in use.", CURSOR
    ),
    Action("page.down", ("pagedown",), "pgdn", "Page down", "One page down there.", CURSOR),
)  # fmt: skip

_ADOPT_ACTIONS = (
    *(
        Action(
            f"adopt.{n}", (str(n),), "1–9", f"Adopt answer {n}",
            f"Take over answer {n} of the list of answers.", ADOPT, ADJUDICATING,
            listed="Adopt the answer of annotator n",
        )
        for n in range(1, 10)
    ),
    Action(
        "adopt.model", ("m",), "m", "Adopt the model's answer",
        "Take over what the model says.", ADOPT, WRITING,
    ),
    Action(
        "adopt.union", ("u",), "u", "Adopt the union",
        "Take over every head that anybody marked.", ADOPT, ADJUDICATING,
    ),
    Action(
        "adopt.intersection", ("i",), "i", "Adopt the intersection",
        "Take over only the heads that all who answered Reference marked (two at least).",
        ADOPT, ADJUDICATING,
    ),
    Action(
        "adopt.nobody", ("0",), "0", "Nobody is right",
        "Clear what was adopted and answer afresh.", ADOPT, ADJUDICATING,
    ),
)  # fmt: skip

_ITEM_ACTIONS = (
    Action(
        "undo", ("z",), "z", "Undo",
        "Take back the last change of this draft, else your last saved act, on any item.",
        ITEM, WRITING, foot=30, short="undo",
    ),
    Action("redo", ("Z",), "Z", "Redo", "Do again what was taken back.", ITEM, WRITING),
    Action(
        "history", ("L",), "L", "History of this item",
        "Who changed what of this item, and when.", ITEM,
    ),
    Action(
        "anchor.widen", ("plus",), "+", "Widen the number",
        "Take the next word on the right into the number.", ITEM, WRITING,
    ),
    Action(
        "anchor.narrow", ("minus",), "-", "Narrow the number",
        "Leave the last word of the number out.", ITEM, WRITING,
    ),
    Action(
        "anchor.widen_left", ("less_than_sign",), "<", "Widen the number to the left",
        "Take the word before into the number.", ITEM, WRITING,
    ),
    Action(
        "anchor.narrow_left", ("greater_than_sign",), ">", "Narrow the number from the left",
        "Leave the first word of the number out.", ITEM, WRITING,
    ),
    Action(
        "flag", ("exclamation_mark",), "!", "Flag",
        "Then a: the number's span is wrong, m: ambiguous, g: the guidelines are silent.",
        ITEM, WRITING,
    ),
    Action("comment", ("semicolon",), ";", "Comment", "On this answer.", ITEM, WRITING),
    Action("draft.clear", (), "", "Throw the draft away", "Start afresh.", ITEM, WRITING),
    Action(
        "withdraw", (), "", "Withdraw my answer",
        "Take your saved answer to this item back; undo brings it again.", ITEM, WRITING,
    ),
    Action(
        "copy", ("Y",), "Y", "Copy",
        "Then s: the turn, p: the passage, a: the answer, i: the item's id, f: all to a file.",
        ITEM,
    ),
)  # fmt: skip

_LOOK_ACTIONS = (
    Action(
        "search", ("slash",), "/", "Search the text",
        "Keep the items of this query whose passage has these words.", LOOK,
        foot=55, short="search",
    ),
    Action(
        "query", ("colon",), ":", "Query", "Say which items make the queue; tab completes.",
        LOOK, foot=58, short="query",
    ),
    Action("view.open", (), "", "Open a saved view", "Go to a query kept by name.", LOOK),
    Action("view.save", (), "", "Save this view", "Keep this query under a name.", LOOK),
    Action(
        "queue.reload", (), "", "Run the query again",
        "Make the queue anew, with what has changed since.", LOOK,
    ),
    Action("heat", ("H",), "H", "Heat map", "The model's scores on the words.", LOOK),
    Action("blind", ("B",), "B", "Blind", "Hide names and mix the answers.", LOOK),
    Action("pane.next", ("tab",), "tab", "Next pane", "Queue, passage, evidence.", LOOK),
    Action("pane.previous", ("shift+tab",), "shift+tab", "Previous pane", "Go back.", LOOK),
)  # fmt: skip

_PROGRAM_ACTIONS = (
    Action(
        "mode.next", ("M",), "M", "Change the mode",
        "From reading to annotating to adjudicating and round again.", PROGRAM,
        foot=45, short="mode",
    ),
    Action("mode.browse", (), "", "Read only", "Read; nothing can be changed.", PROGRAM),
    Action("mode.annotate", (), "", "Annotate", "Give your own answers.", PROGRAM),
    Action("mode.adjudicate", (), "", "Adjudicate", "Decide what counts.", PROGRAM),
    Action(
        "help", ("question_mark", "f1"), "? F1", "Keys", "The keys, those of this pane first.",
        PROGRAM, foot=80, short="keys",
    ),
    Action(
        "palette", ("ctrl+p",), "ctrl+p", "Palette", "Every act by its name.", PROGRAM
    ),
    Action("theme", (), "", "Change the theme", "Choose colours, dark or light.", PROGRAM),
    Action(
        "out", ("escape",), "esc", "One step out",
        "Close what is open, leave a search, go back to the passage. Never quits.", PROGRAM,
    ),
    Action(
        "quit", ("q",), "q ctrl+q", "Quit",
        "Leave; asks first while something is not saved.", PROGRAM, foot=90, short="quit",
    ),
)  # fmt: skip

ACTIONS: tuple[Action, ...] = (
    *_QUEUE_ACTIONS,
    *_DECIDE_ACTIONS,
    *_HEAD_ACTIONS,
    *_CURSOR_ACTIONS,
    *_ADOPT_ACTIONS,
    *_ITEM_ACTIONS,
    *_LOOK_ACTIONS,
    *_PROGRAM_ACTIONS,
)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

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
    """One line of a key table."""

    keys: str
    title: str
    description: str
    group: str
    modes: frozenset[Mode]


def foot_actions(mode: Mode, actions: Sequence[Action] = ACTIONS) -> tuple[Action, ...]:
    """The acts at the foot in this mode, at most `FOOT_KEYS`, most needed first."""
    ranked = [a for a in actions if a.foot is not None and mode in a.modes]
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
            )


def key_table_text() -> str:
    """The keys as plain text, for `nfh-tui keys`: one group a block, aligned."""
    blocks = []
    for group in GROUPS:
        lines = [f"  {line.keys:<10} {line.title}" for line in table_lines([group])]
        blocks.append("\n".join([group, *lines]))
    return "\n\n".join(blocks) + "\n"


def key_table_markdown() -> str:
    """The keys as one Markdown table, for the README. Ends with a line end."""
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
