"""The registry of all actions of the workbench and of its screens.

Keys, footer, help, palette and documentation are generated from it.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import partial


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
    "Moving through the queue",
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


SHOWN = {
    "left": "←", "right": "→", "up": "↑", "down": "↓",
    "escape": "esc", "pageup": "pgup", "pagedown": "pgdn",
}  # fmt: skip
"""Keys that are printed differently."""

NAMES = {
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "low_line": "underscore",
    "plus_sign": "plus",
    "reverse_solidus": "backslash",
    "solidus": "slash",
}
"""Textual's names of characters that differ from those of Unicode."""


def key_name(typed: str) -> str:
    """Textual's name of a key that is given by its character, or already by name."""
    if len(typed) != 1 or typed.isalnum():
        return "space" if typed == " " else typed
    name = unicodedata.name(typed, typed).lower().replace("-", "_").replace(" ", "_")
    return NAMES.get(name, name)


def is_function(key: str) -> bool:
    """Return True for a function key such as F12, by Textual's name."""
    return key[:1] == "f" and key[1:].isdecimal()


APP_KEYS = frozenset({"ctrl+c", "ctrl+d", "ctrl+q", "ctrl+s", "ctrl+z", "super+c"})
"""Keys that mean the same on every screen, if no act has them."""


def has_name(key: str) -> bool:
    """Return True for a key that a person presses by its name: F12, ctrl+x, alt+up."""
    return is_function(key) or "+" in key


def _printed(key: str) -> str:
    return key.upper() if is_function(key) else SHOWN.get(key, key)


def _action(
    id: str,  # noqa: A002  # as the field
    keys: str,
    title: str,
    description: str,
    *,
    group: str,
    access: Access = READER,
    modes: frozenset[Mode] = ALL,
    foot: tuple[int, str] | None = None,
    shown: str = "",
    listed: str | None = None,
    of: tuple[str, ...] = (),
) -> Action:
    """Make an action.

    keys: by their characters or Textual's names. foot: rank and title in the footer. shown:
    the keys as printed, where that does not follow from `keys`.
    """
    typed = keys.split()
    names, printed = tuple(map(key_name, typed)), shown or " ".join(map(_printed, typed))
    rank, short = foot or (None, "")
    where = "side" if group == SIDE else ""
    return Action(
        id, names, printed, title, description, group, access, modes, rank, short, listed,
        where, of,
    )  # fmt: skip


_queue = partial(_action, group=QUEUE)
_decide = partial(_action, group=DECIDE, access=ANNOTATOR, modes=WRITING)
_head = partial(_action, group=HEADS, access=ANNOTATOR, modes=WRITING)
_cursor = partial(_action, group=CURSOR)
_adopt = partial(_action, group=ADOPT, access=ADJUDICATOR, modes=ADJUDICATING)
_item = partial(_action, group=ITEM, access=ANNOTATOR, modes=WRITING)
_look = partial(_action, group=LOOK)
_program = partial(_action, group=PROGRAM)
_side = partial(_action, group=SIDE)
_of_rules = partial(_action, group=SIDE, of=("screen.guidelines",))
_of_jobs = partial(_action, group=SIDE, of=("screen.jobs",))

ELSEWHERE = "Another of these screens"

# Standard library only, so that `nfh-tui keys` does not load the user interface.

ACTIONS: tuple[Action, ...] = (
    _queue(
        "queue.next", "j", "Next item", "Go to the next item of the queue.", foot=(60, "next"),
    ),
    _queue("queue.previous", "k", "Previous item", "Go one item back."),
    _queue("queue.first", "g", "First item", "Go to the start of the queue."),
    _queue("queue.last", "G", "Last item", "Go to the end of the queue."),
    _queue(
        "queue.next_undecided", "]", "Next undecided item",
        "Go to the next item that still needs your answer, or its gold.",
        foot=(50, "next open"),
    ),
    _queue(
        "queue.previous_undecided", "[", "Previous undecided item",
        "Go back to the previous item that still needs it.",
    ),
    _queue(
        "bulk.menu", "E", "Bulk actions",
        "Flag or decide all items of the query; a preview comes first, undo needs two presses.",
        access=ANNOTATOR, modes=WRITING,
    ),
    _queue(
        "sheet.open", "C", "Review sheet",
        "Read the items from here on as one line each, untick what is wrong, and accept the "
        "rest as one act.", access=ADJUDICATOR, modes=ADJUDICATING,
    ),
    _decide("kind.reference", "r", "Reference", "The missing noun is in the passage."),
    _decide("kind.year", "y", "Year", "A calendar year."),
    _decide("kind.age", "a", "Age", "How old someone or something is."),
    _decide("kind.currency", "c", "Currency", "An amount of money."),
    _decide("kind.people", "p", "People", "A person, or a number of people."),
    _decide("kind.time", "t", "Time", "A time of day."),
    _decide("kind.other", "o", "Other", "None of these; a second key can state its sort."),
    _decide("kind.unknown", "n", "Unknown", "Something is missing, and readers would differ."),
    _decide("kind.not_nfh", "x", "Not an NFH", "It has its own noun, or is not a number."),
    _decide("kind.broken", "d", "Damaged", "The words cannot be read (BROKEN)."),
    _decide("noun", "=", "Write the noun", "Type the noun of a class."),
    _decide(
        "accept", "enter", "Accept and go on",
        "Save the answer and go to the next item; the line below says when it is on disk. An "
        "answer that you did not change is accepted only once you could read it.",
        foot=(10, "accept"),
    ),
    _decide(
        "skip", "s", "Skip for now", "Mark the item as skipped by you and go on.",
        foot=(40, "skip"),
    ),
    _decide(
        "similar.apply", "A", "Apply to similar items",
        "Give the decision of this item, or else your last one, to similar items.",
        access=ADJUDICATOR, modes=ADJUDICATING,
    ),
    _head(
        "hint.start", "f", "Letter hints on candidates",
        "Show letters before possible nouns, the likeliest under the home row; a letter "
        "marks a head: the first replaces the proposal, the next are added. Press f again "
        "for letters at all words.", foot=(20, "heads"),
    ),
    _head(
        "head.toggle", "space", "Mark or unmark the token",
        "Mark the token under the cursor as one more head, or remove the mark.",
    ),
    _head(
        "span.grow", "v", "Grow a span",
        "Start a span and move to grow it; press again to move its other end.",
    ),
    _head(
        "span.shrink", "V", "Shrink the span",
        "Remove the word at the end that moves; on a marked head, the word farthest from its "
        "noun.",
    ),
    _head(
        "mentions.all", "*", "All mentions of this noun",
        "Add the other places of this noun, which you review one by one.",
    ),
    _head(
        "head.join", "J", "Join the last two heads",
        "Make one head of the last two: they are two words for one thing.",
    ),
    _head(
        "head.drop_last", "backspace", "Drop the last head", "Remove the last marked head.",
    ),
    _head(
        "relation.and", "&", "All of them (AND)",
        "The number counts all of its heads together.",
    ),
    _head(
        "relation.or", "|", "One of them (OR)", "The number is one of its heads or the other.",
    ),
    _cursor(
        "cursor.left", "left h", "Word to the left", "Move the cursor one word left.",
    ),
    _cursor(
        "cursor.right", "right l", "Word to the right", "Move the cursor one word right.",
    ),
    _cursor(
        "cursor.up", "up", "Line up",
        "Move the cursor a line up; in the queue one item, in the evidence one line.",
    ),
    _cursor(
        "cursor.down", "down", "Line down",
        "Move the cursor a line down; in the queue one item, in the evidence one line.",
    ),
    _cursor("cursor.next_noun", "w", "Next noun", "Move to the next noun or name."),
    _cursor("cursor.previous_noun", "b", "Previous noun", "Move to the previous noun or name."),
    _cursor("cursor.next_turn", "}", "Next turn", "Move to the start of the next turn."),
    _cursor(
        "cursor.previous_turn", "{", "Previous turn", "Move to the start of the previous turn.",
    ),
    _cursor(
        "cursor.anchor", "home", "Back to the number",
        "Move the cursor back to the item's number.",
    ),
    _cursor(
        "cursor.next_head", "end", "Next marked head",
        "Move the cursor from one marked head to the next.",
    ),
    _cursor("page.up", "pageup", "Page up", "One page up in the pane in use."),
    _cursor("page.down", "pagedown", "Page down", "One page down in the pane in use."),
    *(
        _adopt(
            f"adopt.{n}", f"{n}", f"Adopt answer {n}",
            f"Make answer {n} of the list your answer.",
            shown="1–9", listed="Adopt the answer of annotator n",
        )
        for n in range(1, 10)
    ),
    _adopt(
        "adopt.list", "#", "Adopt from a list",
        "Choose from the list of all answers by j k or a number, as for a tenth annotator.",
    ),
    *(
        _adopt(
            f"adopt.go.{n}", f"alt+{n}", f"Adopt answer {n} and go on",
            f"Make answer {n} of the list yours, save it, and go on.",
            shown="alt+1–9", listed="Adopt the answer of annotator n and go on",
        )
        for n in range(1, 10)
    ),
    _adopt(
        "adopt.go", ",", "Adopt and go on",
        "Then press 1–9, or choose from the list: adopt that answer, save, and go on.",
    ),
    _adopt(
        "adopt.model", "m", "Adopt the model's answer", "Make the model's answer yours.",
        access=ANNOTATOR, modes=WRITING,
    ),
    _adopt("adopt.union", "u", "Adopt the union", "Use every head that anybody marked."),
    _adopt(
        "adopt.intersection", "i", "Adopt the intersection",
        "Use only the heads that all Reference answers share (two at least).",
    ),
    _adopt("adopt.nobody", "0", "Nobody is right", "Clear the adopted answer and start again."),
    _item(
        "undo", "z", "Undo",
        "Undo the last change of this draft, else your last saved act, on any item.",
        foot=(30, "undo"),
    ),
    _item("redo", "Z", "Redo", "Redo what you undid."),
    _item(
        "history", "L", "History of this item", "Show who changed what in this item, and when.",
        access=READER, modes=ALL,
    ),
    _item(
        "anchor.widen", "+", "Widen the number",
        "Add the next word on the right to the number; while you annotate, this is a "
        "proposal to the adjudicator.",
    ),
    _item(
        "anchor.narrow", "-", "Narrow the number",
        "Remove the last word from the number; while you annotate, this is a proposal.",
    ),
    _item(
        "anchor.widen_left", "<", "Widen the number to the left",
        "Add the word before to the number; while you annotate, this is a proposal.",
    ),
    _item(
        "anchor.narrow_left", ">", "Narrow the number from the left",
        "Remove the first word from the number; while you annotate, this is a proposal.",
    ),
    _item(
        "anchor.take", "T", "Use the proposed span",
        "Give the number the span that an annotator proposes; of several, choose one.",
        access=ADJUDICATOR, modes=ADJUDICATING,
    ),
    _item(
        "flag", "!", "Flag",
        "Then press a: the number's span is wrong, m: ambiguous, g: the guidelines are silent.",
    ),
    _item("comment", ";", "Comment", "Write a comment on this answer."),
    _item("draft.clear", "", "Discard the draft", "Start again with an empty answer."),
    _item(
        "withdraw", "", "Withdraw my answer",
        "Withdraw your saved answer to this item; undo restores it.",
    ),
    _item(
        "copy", "Y", "Copy",
        "Then press s: the turn, p: the passage, n: the number and its place, a: the answer, "
        "j: the item as JSON, f: everything to a file, i: its id.", access=READER, modes=ALL,
    ),
    _look(
        "search", "/", "Search the text",
        "Keep only the items of this query whose passage has these words.", foot=(55, "search"),
    ),
    _look(
        "query", ":", "Query", "Type which items are in the queue; tab completes.",
        foot=(58, "query"),
    ),
    _look(
        "view.open", "@", "Views",
        "Open a saved or built-in query; rename or delete your own.",
    ),
    _look("view.save", "", "Save this view", "Save this query under a name.", access=ANNOTATOR),
    _look(
        "queue.sort", "S", "Order of the queue",
        "Choose an order; choose the same again to reverse it.",
    ),
    _look(
        "precedents", "P", "Precedents",
        "Show earlier decisions of similar numbers, with the reason for each.",
        modes=JUDGING,
    ),
    _look(
        "queue.reload", "", "Run the query again",
        "Update the queue with what has changed since.",
    ),
    _look(
        "heat", "H", "Heat map",
        "Show the model's scores; again: how two models differ; again: hide them.",
    ),
    _look(
        "heat.other", "", "Compare with another model",
        "Choose the model that the heat map compares with the active one.",
    ),
    _look(
        "window", "", "What annotators saw",
        "Frame the turns that annotators were shown; press again to hide the frame.",
    ),
    _look(
        "sight.model", "O", "Show or hide the model",
        "While you annotate or decide blind, the model's answers are hidden until you have "
        "answered.",
    ),
    _look(
        "guide", "I", "Guidelines or evidence",
        "Show the guidelines in place of the evidence, or the evidence again.",
    ),
    _look("blind", "B", "Blind", "Hide names and shuffle the answers."),
    _look("pane.next", "tab", "Next pane", "Go to queue, passage, evidence, details."),
    _look("pane.previous", "shift+tab", "Previous pane", "Go back."),
    _program(
        "mode.next", "M", "Switch the mode",
        "Switch from reading to annotating to adjudicating, and back.", access=ADJUDICATOR,
        foot=(45, "mode"),
    ),
    _program(
        "mode.browse", "", "Read only", "You cannot change anything.", access=ADJUDICATOR,
    ),
    _program("mode.annotate", "", "Annotate", "Give your own answers.", access=ADJUDICATOR),
    _program("mode.adjudicate", "", "Adjudicate", "Decide what counts.", access=ADJUDICATOR),
    _program("help", "? f1", "Keys", "Show the keys, this pane's first.", foot=(80, "keys")),
    _program("palette", "ctrl+p", "Command palette", "Find an action by its name."),
    _program("theme", "", "Change the theme", "Choose dark or light colours."),
    _program("tour", "", "Tour", "Take a tour of the workbench, in under a minute."),
    _program(
        "rescue", "", "Rescue",
        "Write the whole database, and what cannot be saved, to another file.", access=ADMIN,
    ),
    _program(
        "out", "escape", "One step back",
        "Close what is open, leave a search, or go back to the passage. It never quits.",
    ),
    _program(
        "quit", "q", "Quit",
        "Quit; you are asked first if something is not saved. The terminal then says how "
        "much you decided, how much is left, and how to go on.",
        shown="q ctrl+q", foot=(90, "quit"),
    ),
    _item(
        "rule.tag", "R", "Tag with a rule",
        "Name the rule of the guidelines that the decision depends on; enter alone lists the "
        "rules.",
    ),
    _look(
        "screen.guidelines", "f5", "Guidelines",
        "Read the rules, how often each was used, and their earlier versions.",
    ),
    _of_rules(
        "side.older", "o", "Items under the old text",
        "Open what was decided under an earlier text of this rule, or of any rule.",
        foot=(30, "old text"),
    ),
    _of_rules("side.search", "/", "Find words", "Find words in the text.", foot=(40, "find")),
    _of_rules("side.search_next", "n", "Next match", "Go to the next match."),
    _of_rules("side.search_back", "N", "Previous match", "Go to the previous match."),
    _of_rules(
        "side.edit", "e", "Edit", "Edit the text; saving makes a new version.",
        access=ADJUDICATOR, foot=(50, "edit"),
    ),
    _of_rules(
        "side.versions", "v", "Versions", "Read an earlier version.", foot=(60, "versions"),
    ),
    _of_rules(
        "side.difference", "d", "Difference",
        "Show what changed between this version and the one in force, or the one before.",
    ),
    _of_jobs(
        "side.train", "t", "Train", "Start a training on the present gold.",
        access=ADMIN, foot=(12, "train"),
    ),
    _of_jobs(
        "side.cancel", "x", "Cancel", "Stop the job, after a question.", access=ADMIN,
        foot=(13, "cancel"),
    ),
    _of_jobs(
        "side.retry", "r", "Try again",
        "Put a job that was interrupted, failed or cancelled back into the queue.",
        access=ADMIN, foot=(14, "again"),
    ),
    _of_jobs("side.log", "L", "Log", "Read the whole log of the job."),
    _of_jobs(
        "side.compare", "c", "Compare with",
        "Choose the model that this one is compared with, item by item.", foot=(15, "compare"),
    ),
    _of_jobs(
        "side.use", "u", "Use", "Make the model the active one of its task.", access=ADMIN,
        foot=(16, "use"),
    ),
    _of_jobs(
        "side.back", "b", "Go back", "Make the previous model of the task active again.",
        access=ADMIN,
    ),
    _of_jobs(
        "side.predict", "p", "Predict",
        "Start a job in which the model answers all items.", access=ADMIN,
    ),
    _of_jobs("side.card", "i", "Card", "Read what the model is, and how good it is."),
    # Actions that open the other screens, and the actions of those screens. A screen supports
    # those of the group SIDE for which it has a handler; its footer and help list only these.
    _look(
        "screen.agreement", "f2", "Agreement",
        "Show how far annotators agree; each figure opens its items.", modes=JUDGING,
    ),
    _look(
        "screen.evaluation", "f3", "Evaluation",
        "Compare models, gold and people; each figure opens its items.",
        modes=JUDGING,
    ),
    _look(
        "screen.jobs", "f4", "Jobs and models",
        "Follow trainings, and see the models that they made.", modes=JUDGING,
    ),
    _side("side.down", "j down", "Down", "One line or cell down."),
    _side("side.up", "k up", "Up", "One line or cell up."),
    _side("side.left", "h left", "Left", "One cell to the left."),
    _side("side.right", "l right", "Right", "One cell to the right."),
    _side("side.first", "g home", "Start", "Go to the start."),
    _side("side.last", "G end", "End", "Go to the end."),
    _side("side.page_up", "pageup", "Page up", "One page up."),
    _side("side.page_down", "pagedown", "Page down", "One page down."),
    _side("side.open", "enter", "Open", "Open what the cursor is on.", foot=(10, "open")),
    _side(
        "side.pane", "tab", "Next pane", "Go to the next pane of the screen.",
        foot=(20, "pane"),
    ),
    _side("side.pane_back", "shift+tab", "Previous pane", "Go back."),
    _side(
        "side.scope", "a", "All, or the query",
        "Count all items, or only those of the queue's query.",
        of=("screen.agreement", "screen.evaluation", "screen.jobs"), foot=(30, "all/query"),
    ),
    _side(
        "side.agreement", "f2", "Agreement", "Open the agreement.", shown="F2 F3 F4 F5",
        listed=ELSEWHERE,
    ),
    _side(
        "side.evaluation", "f3", "Evaluation", "Open the evaluation.", shown=("F2 F3 "
                                                                                    "F4 F5"),
        listed=ELSEWHERE,
    ),
    _side(
        "side.jobs", "f4", "Jobs and models", "Open jobs and models.", shown=("F2 "
                                                                                        "F3 "
                                                                                        "F4 "
                                                                                        "F5"),
        listed=ELSEWHERE,
    ),
    _side(
        "side.guidelines", "f5", "Guidelines", "Open the guidelines.", shown=("F2 F3 "
                                                                                    "F4 F5"),
        listed=ELSEWHERE,
    ),
    _side("side.help", "? f1", "Keys", "Show the keys of this screen.", foot=(80, "keys")),
    _side("side.palette", "ctrl+p", "Command palette", "Find an action by its name."),
    _side("side.close", "escape q", "Back", "Back to the workbench.", foot=(90, "back")),
)  # fmt: skip

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

LEAST_KEYS, MOST_KEYS = 10, 22
"""Minimum and maximum cells of the key column in plain text."""

FOOT_KEYS = 6
"""Maximum number of keys in the footer."""

ALWAYS = frozenset({"help", "quit", "side.help", "side.close"})
"""Actions that are always in the footer."""

PANE_GROUPS: dict[str, tuple[str, ...]] = {
    "queue": (QUEUE, LOOK),
    "passage": (DECIDE, HEADS, CURSOR),
    "evidence": (ADOPT, ITEM),
    "details": (ADOPT, ITEM),
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


def foot_actions(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return those of the actions that are in the footer, by rank, at most FOOT_KEYS."""
    ranked = sorted(
        (action for action in actions if action.foot is not None),
        key=lambda action: action.foot or 0,
    )
    always = [action for action in ranked if action.id in ALWAYS]
    others = [action for action in ranked if action.id not in ALWAYS]
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
