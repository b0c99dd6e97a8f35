"""The registry of all actions of the workbench and of its screens.

Keys, footer, help, palette and documentation are generated from it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Mode(StrEnum):
    """The purpose of a session: reading, annotating, or adjudicating."""

    BROWSE = "browse"
    ANNOTATE = "annotate"
    ADJUDICATE = "adjudicate"


class Access(IntEnum):
    """What a person may change; each level includes the previous ones.

    READER: nothing. ANNOTATOR: their own answers, flags, drafts, position, views and themes.
    ADJUDICATOR: gold, anchors and the guidelines. ADMIN: models, jobs, settings, and whatever
    takes a path. On a terminal everybody is ADMIN.
    """

    READER = 0
    ANNOTATOR = 1
    ADJUDICATOR = 2
    ADMIN = 3


READER, ANNOTATOR, ADJUDICATOR, ADMIN = Access

ALL = frozenset(Mode)
WRITING = frozenset({Mode.ANNOTATE, Mode.ADJUDICATE})
ADJUDICATING = frozenset({Mode.ADJUDICATE})
JUDGING = frozenset({Mode.BROWSE, Mode.ADJUDICATE})
"""Modes in which answers of others are shown."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a key or of the palette."""

    id: str
    keys: tuple[str, ...]
    """Default keys by Textual's names; empty if only the palette has the action."""
    shown: str
    """The keys as printed."""
    title: str
    description: str
    """One sentence."""
    group: str
    access: Access
    """The lowest level of access that the action needs."""
    modes: frozenset[Mode] = ALL
    """Modes in which the action is available; elsewhere it says how to get there."""
    foot: int | None = None
    """Rank in the footer, lowest first; None for never."""
    short: str = ""
    """Title in the footer."""
    listed: str | None = None
    """Adjacent actions with the same value share one line of a key table, with this title."""
    where: str = ""
    """Empty for the workbench, "side" for the other screens; keys may differ between them."""
    of: tuple[str, ...] = ()
    """Ids of the actions that open the screens which have this action; empty for all."""


GROUPS = (
    "Going through the queue",
    "Deciding",
    "Heads",
    "Moving in the passage",
    "Adopting",
    "This item",
    "Looking",
    "The program",
    "The other screens",
)
QUEUE, DECIDE, HEADS, CURSOR, ADOPT, ITEM, LOOK, PROGRAM, SIDE = GROUPS


ADOPT_ACTIONS: tuple[Action, ...] = (
    *(
        Action(
            f"adopt.{n}", (str(n),), "1–9", f"Adopt answer {n}",
            f"Take over answer {n} of the list of answers.", ADOPT, ADJUDICATOR, ADJUDICATING,
            listed="Adopt the answer of annotator n",
        )
        for n in range(1, 10)
    ),
    Action(
        "adopt.model", ("m",), "m", "Adopt the model's answer",
        "Take over what the model says.", ADOPT, ANNOTATOR, WRITING,
    ),
    Action(
        "adopt.union", ("u",), "u", "Adopt the union",
        "Take over every head that anybody marked.", ADOPT, ADJUDICATOR, ADJUDICATING,
    ),
    Action(
        "adopt.intersection", ("i",), "i", "Adopt the intersection",
        "Take over only the heads that all who answered Reference marked (two at least).",
        ADOPT, ADJUDICATOR, ADJUDICATING,
    ),
    Action(
        "adopt.nobody", ("0",), "0", "Nobody is right",
        "Clear what was adopted and answer afresh.", ADOPT, ADJUDICATOR, ADJUDICATING,
    ),
)  # fmt: skip


def _kind(name: str, key: str, title: str, description: str) -> Action:
    return Action(f"kind.{name}", (key,), key, title, description, DECIDE, ANNOTATOR, WRITING)


DECIDE_ACTIONS: tuple[Action, ...] = (
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
    Action(
        "noun", ("equals_sign",), "=", "Write the noun", "Of a class.",
        DECIDE, ANNOTATOR, WRITING,
    ),
    Action(
        "accept", ("enter",), "enter", "Accept and go on",
        "Save the answer; once it is on disk, the line below says so. Go on meanwhile.",
        DECIDE, ANNOTATOR, WRITING, foot=10, short="accept",
    ),
    Action(
        "skip", ("s",), "s", "Skip for now", "Mark the item as skipped by you and go on.",
        DECIDE, ANNOTATOR, WRITING, foot=40, short="skip",
    ),
    Action(
        "similar.apply", ("A",), "A", "Apply to similar items",
        "Give the decision of this item, or else your last one, to others that are like it.",
        DECIDE, ADJUDICATOR, ADJUDICATING,
    ),
)  # fmt: skip


HEAD_ACTIONS: tuple[Action, ...] = (
    Action(
        "hint.start", ("f",), "f", "Letter hints on candidates",
        "Show letters at what may be a noun, the likeliest under the strongest fingers; they "
        "mark a head. Again f: at all words.", HEADS, ANNOTATOR, WRITING,
        foot=20, short="heads",
    ),
    Action(
        "head.toggle", ("space",), "space", "Take or drop the token",
        "Mark the token under the cursor as a head, or take the mark away.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "span.grow", ("v",), "v", "Grow a span",
        "Begin a span and move to grow it; again: move its other end.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "span.shrink", ("V",), "V", "Shrink the span",
        "Leave out the word at the end that moves; on a marked head the word farthest from "
        "its noun.", HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "mentions.all", ("asterisk",), "*", "All mentions of this noun",
        "Add the other places where this noun stands, reviewed one by one.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "head.join", ("J",), "J", "Two words for one thing",
        "Make one head of the last two: they are two words for the same.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "head.drop_last", ("backspace",), "backspace", "Drop the last head",
        "Take the head marked last away.", HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "relation.and", ("ampersand",), "&", "All of them (AND)",
        "The number counts all of its heads together.", HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "relation.or", ("vertical_line",), "|", "One of them (OR)",
        "The number is one of its heads or the other.", HEADS, ANNOTATOR, WRITING,
    ),
)  # fmt: skip


ITEM_ACTIONS: tuple[Action, ...] = (
    Action(
        "undo", ("z",), "z", "Undo",
        "Take back the last change of this draft, else your last saved act, on any item.",
        ITEM, ANNOTATOR, WRITING, foot=30, short="undo",
    ),
    Action(
        "redo", ("Z",), "Z", "Redo", "Do again what was taken back.", ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "history", ("L",), "L", "History of this item",
        "Who changed what of this item, and when.", ITEM, READER,
    ),
    Action(
        "anchor.widen", ("plus",), "+", "Widen the number",
        "Take the next word on the right into the number; annotating, propose that to whoever "
        "adjudicates.", ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.narrow", ("minus",), "-", "Narrow the number",
        "Leave the last word of the number out; annotating, propose that.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.widen_left", ("less_than_sign",), "<", "Widen the number to the left",
        "Take the word before into the number; annotating, propose that.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.narrow_left", ("greater_than_sign",), ">", "Narrow the number from the left",
        "Leave the first word of the number out; annotating, propose that.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.take", ("T",), "T", "Take the proposed span",
        "Give the number the span that an annotator proposes; of several, choose one.",
        ITEM, ADJUDICATOR, ADJUDICATING,
    ),
    Action(
        "flag", ("exclamation_mark",), "!", "Flag",
        "Then a: the number's span is wrong, m: ambiguous, g: the guidelines are silent.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "comment", ("semicolon",), ";", "Comment", "On this answer.", ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "draft.clear", (), "", "Throw the draft away", "Start afresh.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "withdraw", (), "", "Withdraw my answer",
        "Take your saved answer to this item back; undo brings it again.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "copy", ("Y",), "Y", "Copy",
        "Then s: the turn, p: the passage, n: the number and its place, a: the answer, "
        "j: the item as JSON, f: all of it to a file, i: its id.",
        ITEM, READER,
    ),
)  # fmt: skip


VIEW_ACTIONS: tuple[Action, ...] = (
    Action(
        "search", ("slash",), "/", "Search the text",
        "Keep the items of this query whose passage has these words.", LOOK, READER,
        foot=55, short="search",
    ),
    Action(
        "query", ("colon",), ":", "Query", "Say which items make the queue; tab completes.",
        LOOK, READER, foot=58, short="query",
    ),
    Action(
        "view.open", ("at",), "@", "Views",
        "Go to a query that has a name, yours or one always there; rename, delete yours.",
        LOOK, READER,
    ),
    Action(
        "view.save", (), "", "Save this view", "Keep this query under a name.", LOOK, ANNOTATOR,
    ),
    Action(
        "queue.sort", ("S",), "S", "Order of the queue",
        "Choose an order; the one there is once more turns it round.", LOOK, READER,
    ),
    Action(
        "precedents", ("P",), "P", "Precedents",
        "Earlier decisions under the same rule, of the same number, or to the same noun.",
        LOOK, READER, JUDGING,
    ),
    Action(
        "queue.reload", (), "", "Run the query again",
        "Make the queue anew, with what has changed since.", LOOK, READER,
    ),
    Action(
        "heat", ("H",), "H", "Heat map",
        "The model's scores on the words; again: how two models differ; again: off.",
        LOOK, READER,
    ),
    Action(
        "heat.other", (), "", "Compare with another model",
        "Choose the model that the heat map of differences holds against the active one.",
        LOOK, READER,
    ),
    Action(
        "window", (), "", "What voters saw",
        "Lines around the turns that voters of this database were shown; again: none.",
        LOOK, READER,
    ),
    Action(
        "sight.model", ("O",), "O", "Show or hide the model",
        "While you annotate or decide blind, what models say is hidden until you have "
        "answered.", LOOK, READER,
    ),
    Action(
        "guide", ("I",), "I", "Guidelines or evidence",
        "Put the guidelines into the pane of the evidence, or the evidence back.", LOOK, READER,
    ),
    Action("blind", ("B",), "B", "Blind", "Hide names and mix the answers.", LOOK, READER),
    Action(
        "pane.next", ("tab",), "tab", "Next pane", "Queue, passage, evidence.", LOOK, READER,
    ),
    Action(
        "pane.previous", ("shift+tab",), "shift+tab", "Previous pane", "Go back.", LOOK, READER,
    ),
)  # fmt: skip


CURSOR_ACTIONS: tuple[Action, ...] = (
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


PROGRAM_ACTIONS: tuple[Action, ...] = (
    Action(
        "mode.next", ("M",), "M", "Change the mode",
        "From reading to annotating to adjudicating and round again.", PROGRAM, ADJUDICATOR,
        foot=45, short="mode",
    ),
    Action(
        "mode.browse", (), "", "Read only", "Read; nothing can be changed.",
        PROGRAM, ADJUDICATOR,
    ),
    Action("mode.annotate", (), "", "Annotate", "Give your own answers.", PROGRAM, ADJUDICATOR),
    Action(
        "mode.adjudicate", (), "", "Adjudicate", "Decide what counts.", PROGRAM, ADJUDICATOR,
    ),
    Action(
        "help", ("question_mark", "f1"), "? F1", "Keys", "The keys, those of this pane first.",
        PROGRAM, READER, foot=80, short="keys",
    ),
    Action(
        "palette", ("ctrl+p",), "ctrl+p", "Palette", "Every act by its name.", PROGRAM, READER
    ),
    Action(
        "theme", (), "", "Change the theme", "Choose colours, dark or light.", PROGRAM, READER,
    ),
    Action(
        "tour", (), "", "Tour", "Show the workbench round, in under a minute.", PROGRAM, READER,
    ),
    Action(
        "rescue", (), "", "Rescue",
        "Write all there is, and what cannot be saved, to another file.", PROGRAM, ADMIN,
    ),
    Action(
        "out", ("escape",), "esc", "One step out",
        "Close what is open, leave a search, go back to the passage. Never quits.",
        PROGRAM, READER,
    ),
    Action(
        "quit", ("q",), "q ctrl+q", "Quit",
        "Leave; asks first while something is not saved.",
        PROGRAM, READER, foot=90, short="quit",
    ),
)  # fmt: skip


QUEUE_ACTIONS: tuple[Action, ...] = (
    Action(
        "queue.next", ("j",), "j", "Next item", "Go to the next item of the queue.",
        QUEUE, READER, foot=60, short="next",
    ),
    Action("queue.previous", ("k",), "k", "Previous item", "Go one item back.", QUEUE, READER),
    Action(
        "queue.first", ("g",), "g", "First item", "Go to the start of the queue.",
        QUEUE, READER,
    ),
    Action(
        "queue.last", ("G",), "G", "Last item", "Go to the end of the queue.", QUEUE, READER,
    ),
    Action(
        "queue.next_undecided", ("right_square_bracket",), "]", "Next undecided item",
        "Go to the next item that still waits: for your answer, or for its gold.",
        QUEUE, READER, foot=50, short="next open",
    ),
    Action(
        "queue.previous_undecided", ("left_square_bracket",), "[", "Previous undecided item",
        "Go back to the last item that still waits.", QUEUE, READER,
    ),
    Action(
        "bulk.menu", ("E",), "E", "Everything in the queue",
        "One thing for all items of the query: flags, decisions; looked at first, one undo.",
        QUEUE, ANNOTATOR, WRITING,
    ),
)  # fmt: skip


OPENS_GUIDELINES = ("screen.guidelines",)
"""The action that opens the screen of the following actions."""

RULE_ACTIONS: tuple[Action, ...] = (
    Action(
        "rule.tag", ("R",), "R", "Tag with a rule",
        "Name the rule of the guidelines on which the decision turns; enter alone lists them.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "screen.guidelines", ("f5",), "F5", "Guidelines",
        "The rules, how often each was used, and their earlier versions.", LOOK, READER,
    ),
    Action(
        "side.older", ("o",), "o", "Items under the old text",
        "Open what was decided while this rule, or on no rule any of them, read otherwise.",
        SIDE, READER, foot=30, short="old text", where="side", of=OPENS_GUIDELINES,
    ),
    Action(
        "side.search", ("slash",), "/", "Find words", "Find words in the text.", SIDE, READER,
        foot=40, short="find", where="side", of=OPENS_GUIDELINES,
    ),
    Action(
        "side.search_next", ("n",), "n", "Next place", "Where the words stand next.",
        SIDE, READER, where="side", of=OPENS_GUIDELINES,
    ),
    Action(
        "side.search_back", ("N",), "N", "Place before", "Where they stand before.",
        SIDE, READER, where="side", of=OPENS_GUIDELINES,
    ),
    Action(
        "side.edit", ("e",), "e", "Edit", "Change the text; saved, it is a new version.",
        SIDE, ADJUDICATOR, foot=50, short="edit", where="side", of=OPENS_GUIDELINES,
    ),
    Action(
        "side.versions", ("v",), "v", "Versions", "Read an earlier version.", SIDE, READER,
        foot=60, short="versions", where="side", of=OPENS_GUIDELINES,
    ),
    Action(
        "side.difference", ("d",), "d", "Difference",
        "What changed between the version shown and the one that holds, or the one before.",
        SIDE, READER, where="side", of=OPENS_GUIDELINES,
    ),
)  # fmt: skip


OPENS_JOBS = ("screen.jobs",)
"""The action that opens the screen of the following actions."""

TRAINING_ACTIONS: tuple[Action, ...] = (
    Action(
        "side.train", ("t",), "t", "Train", "Start a training on the labels as they are now.",
        SIDE, ADMIN, foot=12, short="train", where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.cancel", ("x",), "x", "Cancel", "Stop the job; asked once.", SIDE, ADMIN,
        foot=13, short="cancel", where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.retry", ("r",), "r", "Try again",
        "Put a job that was interrupted, failed or cancelled back into the queue.", SIDE, ADMIN,
        foot=14, short="again", where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.log", ("L",), "L", "Log", "The log of the job, whole.", SIDE, READER,
        where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.compare", ("c",), "c", "Compare with",
        "Choose the model that this one is compared with, item by item.", SIDE, READER,
        foot=15, short="compare", where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.use", ("u",), "u", "Use", "Make the model the one that its task uses.",
        SIDE, ADMIN, foot=16, short="use", where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.back", ("b",), "b", "Go back",
        "Use the model again that the task used before this one.", SIDE, ADMIN,
        where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.predict", ("p",), "p", "Have it predict",
        "Start a job in which the model answers all items.",
        SIDE, ADMIN, where="side", of=OPENS_JOBS,
    ),
    Action(
        "side.card", ("i",), "i", "Card", "What the model is, and how good.", SIDE, READER,
        where="side", of=OPENS_JOBS,
    ),
)  # fmt: skip


# Actions that open the other screens, and the actions of those screens.
#
# A screen supports those "side" actions for which it has a handler; its footer and help list
# only these.

SEEING = frozenset({Mode.BROWSE}) | ADJUDICATING
"""Modes in which answers of others may be shown."""

ELSEWHERE = "Another of these screens"

SCREEN_ACTIONS: tuple[Action, ...] = (
    Action(
        "screen.agreement", ("f2",), "F2", "Agreement",
        "How far annotators agree; from each figure to its items.", LOOK, READER, SEEING,
    ),
    Action(
        "screen.evaluation", ("f3",), "F3", "Evaluation",
        "Models, gold and people against each other; from each figure to its items.",
        LOOK, READER, SEEING,
    ),
    Action(
        "screen.jobs", ("f4",), "F4", "Jobs and models",
        "Trainings as they go on, and the models that came of them.", LOOK, READER, SEEING,
    ),
    Action(
        "side.down", ("j", "down"), "j ↓", "Down", "One line or cell down.",
        SIDE, READER, where="side",
    ),
    Action(
        "side.up", ("k", "up"), "k ↑", "Up", "One line or cell up.", SIDE, READER, where="side",
    ),
    Action(
        "side.left", ("h", "left"), "h ←", "Left", "One cell to the left.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.right", ("l", "right"), "l →", "Right", "One cell to the right.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.first", ("g", "home"), "g home", "Start", "Go to the start.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.last", ("G", "end"), "G end", "End", "Go to the end.", SIDE, READER, where="side",
    ),
    Action(
        "side.page_up", ("pageup",), "pgup", "Page up", "One page up.",
        SIDE, READER, where="side"
    ),
    Action(
        "side.page_down", ("pagedown",), "pgdn", "Page down", "One page down.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.open", ("enter",), "enter", "Open", "Open what one stands on.", SIDE, READER,
        foot=10, short="open", where="side",
    ),
    Action(
        "side.pane", ("tab",), "tab", "Next pane", "Go to the next pane of the screen.",
        SIDE, READER, foot=20, short="pane", where="side",
    ),
    Action(
        "side.pane_back", ("shift+tab",), "shift+tab", "Previous pane", "Go back.",
        SIDE, READER, where="side",
    ),
    Action(
        "side.scope", ("a",), "a", "All, or the query",
        "All items, or only those of the queue's query.", SIDE, READER,
        foot=30, short="all/query", where="side",
        of=("screen.agreement", "screen.evaluation", "screen.jobs"),
    ),
    Action(
        "side.agreement", ("f2",), "F2 F3 F4 F5", "Agreement", "Go to the agreement.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.evaluation", ("f3",), "F2 F3 F4 F5", "Evaluation", "Go to the evaluation.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.jobs", ("f4",), "F2 F3 F4 F5", "Jobs and models", "Go to the jobs and models.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.guidelines", ("f5",), "F2 F3 F4 F5", "Guidelines", "Go to the guidelines.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.help", ("question_mark", "f1"), "? F1", "Keys", "The keys of this screen.",
        SIDE, READER, foot=80, short="keys", where="side",
    ),
    Action(
        "side.palette", ("ctrl+p",), "ctrl+p", "Palette", "Every act by its name.",
        SIDE, READER, where="side",
    ),
    Action(
        "side.close", ("escape", "q"), "esc q", "Back", "Back to the workbench.", SIDE, READER,
        foot=90, short="back", where="side",
    ),
)  # fmt: skip


# Standard library only, so that `nfh-tui keys` does not load the user interface.

ACTIONS: tuple[Action, ...] = (
    *QUEUE_ACTIONS,
    *DECIDE_ACTIONS,
    *HEAD_ACTIONS,
    *CURSOR_ACTIONS,
    *ADOPT_ACTIONS,
    *ITEM_ACTIONS,
    *VIEW_ACTIONS,
    *PROGRAM_ACTIONS,
    *RULE_ACTIONS,
    *TRAINING_ACTIONS,
    *SCREEN_ACTIONS,
)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

LEAST_KEYS, MOST_KEYS = 10, 22
"""Minimum and maximum cells of the key column in plain text."""

FOOT_KEYS = 6
"""Maximum number of keys in the footer."""

PANE_GROUPS: dict[str, tuple[str, ...]] = {
    "queue": (QUEUE, LOOK),
    "passage": (DECIDE, HEADS, CURSOR),
    "evidence": (ADOPT, ITEM),
}
"""Groups of keys that belong to a pane; the help lists these first."""


@dataclass(frozen=True, slots=True)
class KeyTableLine:
    """One line of a key table."""

    keys: str
    title: str
    description: str
    group: str
    modes: frozenset[Mode]
    ids: tuple[str, ...] = ()
    """Ids of the actions of the line."""


def foot_actions(mode: Mode, actions: Sequence[Action] = ACTIONS) -> tuple[Action, ...]:
    """Return the footer actions of a mode by rank, at most FOOT_KEYS."""
    ranked = [a for a in actions if a.foot is not None and mode in a.modes and not a.where]
    ranked.sort(key=lambda action: action.foot or 0)
    always = [a for a in ranked if a.id in {"help", "quit"}]
    others = [a for a in ranked if a not in always]
    return (*others[: FOOT_KEYS - len(always)], *always)


def table_lines(
    groups: Iterable[str] = GROUPS, actions: Sequence[Action] = ACTIONS
) -> Iterator[KeyTableLine]:
    """Yield the lines of the key table by group; actions with the same `listed` share a
    line.
    """
    for group in groups:
        last: str | None = None
        for action in actions:
            if action.group != group or not action.keys:
                continue
            if action.listed is not None and action.listed == last:
                continue
            last = action.listed
            yield KeyTableLine(
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
    """Return the keys as plain text for `nfh-tui keys`: aligned, one block per group."""
    blocks = []
    for group in GROUPS:
        lines = [
            key_line(line.keys, line.title, actions) for line in table_lines([group], actions)
        ]
        blocks.append("\n".join([group, *lines]))
    return "\n\n".join(blocks) + "\n"


def key_line(keys: str, title: str, actions: Sequence[Action]) -> str:
    """Return keys and title as one line; keys that are too long stand on a line of their
    own.
    """
    fitting = (len(action.shown) for action in actions if len(action.shown) <= MOST_KEYS)
    width = max(LEAST_KEYS, *fitting)
    if len(keys) > width:
        return f"  {keys}\n  {'':{width}} {title}"
    return f"  {keys:{width}} {title}"


def key_table_markdown() -> str:
    """Return the keys as one Markdown table for the documentation; ends with a line end."""
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
