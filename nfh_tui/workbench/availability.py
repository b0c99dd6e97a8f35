"""Why an action cannot be done now, in a sentence, and what can be done to all items of a
query.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nfh_db.bulk_plan import BulkOperation, BulkPreview, OperationKind
from nfh_db.records import AnchorItem, FlagName, Role
from nfh_models.domain import IMPLICIT_KINDS, Kind, class_answer
from nfh_tui.actions import (
    ADOPT,
    BY_ID,
    CURSOR,
    DECIDE,
    HEADS,
    ITEM,
    LOOK,
    Access,
    Action,
    Mode,
)
from nfh_tui.config import Keymap
from nfh_tui.editor.commands import ACTIONS as EDITOR_ACTIONS
from nfh_tui.editor.commands import NOT_YOURS, act, set_noun
from nfh_tui.editor.state import EditState, answer
from nfh_tui.editor.votes import KIND_WORDS, proposals

Option = tuple[str, str, str]
"""Words, fainter words, and the name of what is chosen."""

FLAG_WORDS = {
    FlagName.GUIDELINE: "the guidelines are silent",
    FlagName.AMBIGUOUS: "ambiguous",
    FlagName.ANCHOR: "the span is wrong",
}
GOLD_WITH_IT = "and the gold they made; what they replaced stays away"
KINDS = (*IMPLICIT_KINDS, Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN)
"""Kinds that can be given to many at once: a Reference has its own noun in each passage."""


def bulk_operations(role: Role) -> tuple[Option, ...]:
    """What a person may do to many items in a role."""
    adjudicator = role is Role.ADJUDICATOR
    decisions = "decisions" if adjudicator else "answers"
    general = (
        ("Set a flag", "yours, on each", "flag"),
        ("Clear a flag", "yours only", "unflag"),
        ("Skip", "put off what is not decided", "skip"),
        ("Skip no longer", "", "unskip"),
        (f"Withdraw my {decisions}", GOLD_WITH_IT * adjudicator, "withdraw"),
    )
    deciding = (
        ("Adopt what annotators agree on", "all, or a majority as settle finds it", "proposal"),
        ("Adopt the model's answers", "of the active model", "model"),
        ("Give all the same answer", "a class, Unknown, Not an NFH, Damaged", "class"),
    )
    return (*deciding, *general) if adjudicator else general


def flag_options() -> tuple[Option, ...]:
    """The flags to choose from."""
    return tuple((name.value, words, name.value) for name, words in FLAG_WORDS.items())


def kind_options() -> tuple[Option, ...]:
    """The answers to choose from."""
    return tuple((KIND_WORDS[kind], "", kind.value) for kind in KINDS)


def bulk_operation(kind: str, role: Role, what: str | None) -> BulkOperation:
    """What was chosen. what: the flag, or the kind, where one belongs to it."""
    named = OperationKind(kind)
    if named in (OperationKind.FLAG, OperationKind.UNFLAG):
        return BulkOperation(named, role, flag=FlagName(what or ""))
    if named is OperationKind.CLASS:
        return BulkOperation(named, role, answer=class_answer(Kind(what or "")))
    return BulkOperation(named, role)


def preview_lines(preview: BulkPreview) -> Iterator[str]:
    """What a preview says, line by line: how many change, what of these, and what stays."""
    count = len(preview.ids)
    yield f"{_items(count)} of {preview.looked:,} would change."
    if preview.notes:
        yield f"Of these {_listed(preview.notes)}."
    stay = preview.looked - count
    if stay:
        yield f"{_items(stay)} stay{'s' if stay == 1 else ''}: {_listed(preview.kept)}."


def _items(count: int) -> str:
    return f"{count:,} item" + ("" if count == 1 else "s")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


# Why an action cannot be done now, in a sentence: for its key, the palette and the help.
#
# Pure: no screen. What only the store knows (is there anything to undo?) is said when it is
# tried.

SWITCH = "This is for reading. M changes to annotating, M again to adjudicating."
NOTHING = "There is no item here to do that with."
OTHERS = "This shows what others answered, so not while annotating. M changes the mode."
EMPTY = "The queue is empty."
NO_PROPOSAL = "Nobody proposes another span for this number."
INVITED = {
    Access.READER: "You were invited to read",
    Access.ANNOTATOR: "You were invited to annotate",
    Access.ADJUDICATOR: "You were invited to adjudicate",
}
BELONGS_TO = {
    Access.ANNOTATOR: "this is for those who annotate",
    Access.ADJUDICATOR: "this is for those who adjudicate",
    Access.ADMIN: "this is for whoever runs the server",
}
NOT_SEEN = "You were invited to annotate, and this shows what others answered."
"""Of what is shown in other modes only, to somebody who cannot change the mode."""
IN_VIEW = "The model is hidden while you annotate or decide blind; here it is in view."
FIRST, LAST = "That was the first item.", "That was the last item."

OF_AN_ITEM = frozenset({DECIDE, HEADS, CURSOR, ADOPT, ITEM})
"""Groups of actions that need an item, but for those in WITHOUT."""

WITHOUT = frozenset({"undo", "redo", "page.up", "page.down", "cursor.up", "cursor.down"})
TO_OTHERS = frozenset({"queue.next", "queue.previous", "queue.first", "queue.last"})

UNCHANGED = {
    "cursor.left": "This is the first word.",
    "cursor.right": "This is the last word.",
    "cursor.previous_turn": "This is the first turn.",
    "cursor.anchor": "The cursor stands on the number already.",
    "cursor.next_head": "This is the only marked head.",
    "adopt.nobody": "Nothing is chosen that could be cleared.",
}
"""What is said of an action of the editor that found nothing to change."""


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What reasons depend on. place: of the item in the queue, from 0; total: its length.

    access: what the person may change at all.
    """

    mode: Mode
    item: AnchorItem | None
    edit: EditState
    place: int = 0
    total: int = 0
    beside: bool = False
    access: Access = Access.ADMIN
    can_hide_model: bool = True


def denied(access: Access, needed: Access) -> str:
    """Why a person may not do what needs another access; "" where they may."""
    return "" if access >= needed else f"{INVITED[access]}: {BELONGS_TO[needed]}."


def of_person(action: Action, mode: Mode, access: Access) -> str:
    """Why the person's access or the mode does not allow an action; "" where it is allowed."""
    why = denied(access, action.access)
    if why or mode in action.modes:
        return why
    return _of_mode(action, mode) if access >= BY_ID["mode.next"].access else NOT_SEEN


def _of_mode(action: Action, mode: Mode) -> str:
    if mode is not Mode.ANNOTATE:
        return SWITCH
    return OTHERS if action.group == LOOK else NOT_YOURS


def why_not(action: Action, here: ActionContext) -> str:
    """Why an action cannot be done now; "" where nothing is known to be in its way."""
    wrong = of_person(action, here.mode, here.access)
    if wrong:
        return wrong
    if action.id == "sight.model" and not here.can_hide_model:
        return IN_VIEW
    if action.id in TO_OTHERS:
        return _of_the_way(action.id, here)
    if action.group not in OF_AN_ITEM or action.id in WITHOUT:
        return ""
    if here.item is None:
        return NOTHING
    return _of_the_answer(action.id, here.edit, here.item)


def _of_the_way(action_id: str, here: ActionContext) -> str:
    if not here.total:
        return EMPTY
    if here.beside:
        return ""
    if action_id in {"queue.next", "queue.last"}:
        return LAST if here.place + 1 >= here.total else ""
    return FIRST if here.place <= 0 else ""


def _of_the_answer(action_id: str, edit: EditState, item: AnchorItem) -> str:
    """What the editor would say, tried on the answer as it is."""
    if action_id == "accept":
        made = answer(edit, item)
        return made if isinstance(made, str) else ""
    if action_id == "noun":
        tried = set_noun(edit, item, edit.noun or "noun")
        return (tried.say or "") if tried.refused else ""
    if action_id == "anchor.take":
        return "" if proposals(item) else NO_PROPOSAL
    if action_id not in EDITOR_ACTIONS:
        return ""
    outcome = act(edit, item, action_id)
    if outcome.refused:
        return outcome.say or ""
    return unchanged(action_id, edit) if outcome.state == edit and not outcome.say else ""


def unchanged(action_id: str, edit: EditState) -> str:
    """What to say of an action that left the answer and the cursor as they were."""
    if action_id.startswith("kind.") and edit.kind is not None:
        return f"The answer is {KIND_WORDS[edit.kind]} already."
    return UNCHANGED.get(action_id, "That changes nothing here.")


def is_function(key: str) -> bool:
    """True for a key such as F12, by Textual's name."""
    return key[:1] == "f" and key[1:].isdecimal()


def unbound(key: str, character: str | None, keymap: Keymap, where: str = "") -> str:
    """What is said of a key that no action has there."""
    helping = "side.help" if where else "help"
    shown = next((a.shown.split()[0] for a in keymap.actions if a.id == helping), "?")
    typed = character if character is not None and character.isprintable() else ""
    name = typed.strip() or (key.upper() if is_function(key) else key)
    return f"{name} does nothing here; {shown} shows the keys."


def named(action_id: str) -> Action | None:
    """The action of the registry with this id; None for what the editor asks for itself."""
    return BY_ID.get(action_id)
