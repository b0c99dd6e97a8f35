"""Reasons why an action is unavailable, and the bulk operations on a query."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nfh_db.bulk_plan import BulkOperation, BulkPreview, OperationKind
from nfh_db.messages import counted
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
    is_function,
)
from nfh_tui.config import Keymap
from nfh_tui.editor.commands import ACTIONS as EDITOR_ACTIONS
from nfh_tui.editor.commands import NOT_YOURS, act, set_noun
from nfh_tui.editor.state import EditState, answer
from nfh_tui.editor.votes import KIND_WORDS, proposals

if TYPE_CHECKING:
    from nfh_tui.workbench.state import WorkbenchState

Option = tuple[str, str, str]
"""Label, secondary text, and the value that is returned."""

FLAG_WORDS = {
    FlagName.GUIDELINE: "the guidelines are silent",
    FlagName.AMBIGUOUS: "ambiguous",
    FlagName.ANCHOR: "the span is wrong",
}
GOLD_WITH_IT = "and the gold they made; what they replaced is not restored"
KINDS = (*IMPLICIT_KINDS, Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN)
"""Kinds for bulk operations; not Reference, whose heads differ in each passage."""


def bulk_operations(role: Role) -> tuple[Option, ...]:
    """Return the bulk operations of a role."""
    adjudicator = role is Role.ADJUDICATOR
    decisions = "decisions" if adjudicator else "answers"
    general = (
        ("Set a flag", "your flag, on each item", "flag"),
        ("Clear a flag", "only your flag", "unflag"),
        ("Skip", "put off undecided items", "skip"),
        ("Stop skipping", "", "unskip"),
        (f"Withdraw my {decisions}", GOLD_WITH_IT * adjudicator, "withdraw"),
    )
    deciding = (
        ("Adopt agreed answers", "of all, or of a majority by the rules of settle", "proposal"),
        ("Adopt the model's answers", "of the active model", "model"),
        ("Give all items one answer", "a class, Unknown, Not an NFH, Damaged", "class"),
    )
    return (*deciding, *general) if adjudicator else general


def flag_options() -> tuple[Option, ...]:
    return tuple((name.value, words, name.value) for name, words in FLAG_WORDS.items())


def kind_options() -> tuple[Option, ...]:
    return tuple((KIND_WORDS[kind], "", kind.value) for kind in KINDS)


def bulk_operation(kind: str, role: Role, what: str | None) -> BulkOperation:
    """Build the operation that was chosen. what: the flag or the kind, if it needs one."""
    named = OperationKind(kind)
    if named in (OperationKind.FLAG, OperationKind.UNFLAG):
        return BulkOperation(named, role, flag=FlagName(what or ""))
    if named is OperationKind.CLASS:
        return BulkOperation(named, role, answer=class_answer(Kind(what or "")))
    return BulkOperation(named, role)


def preview_lines(preview: BulkPreview) -> Iterator[str]:
    """Describe a preview: how many items change, details of these, and how many do not."""
    count = len(preview.ids)
    yield f"{counted(count, 'item')} of {preview.looked:,} would change."
    if preview.notes:
        yield f"Of these {_listed(preview.notes)}."
    stay = preview.looked - count
    if stay:
        is_one = "s" if stay == 1 else ""
        yield f"{counted(stay, 'item')} stay{is_one}: {_listed(preview.kept)}."


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


# Reasons why an action is unavailable, for its key, the palette and the help.
#
# No screen is needed. Reasons that only the store knows, such as an empty undo log, are
# reported when the action is tried.

SWITCH = "You are reading. M switches to annotating, M again to adjudicating."
NOTHING = "There is no item here."
OTHERS = "This shows others' answers, so not while annotating. M switches the mode."
EMPTY = "The queue is empty."
NO_PROPOSAL = "Nobody proposes another span for this number."
INVITED = {
    Access.READER: "You were invited to read",
    Access.ANNOTATOR: "You were invited to annotate",
    Access.ADJUDICATOR: "You were invited to adjudicate",
}
BELONGS_TO = {
    Access.ANNOTATOR: "this is for annotators",
    Access.ADJUDICATOR: "this is for adjudicators",
    Access.ADMIN: "this is for the person who runs the server",
}
NOT_SEEN = "You were invited to annotate, and this shows others' answers."
"""For an action that needs another mode, if the person cannot change the mode."""
IN_VIEW = "The model is hidden only while you annotate or decide blind; here it is visible."
FIRST, LAST = "That was the first item.", "That was the last item."

OF_AN_ITEM = frozenset({DECIDE, HEADS, CURSOR, ADOPT, ITEM})
"""Groups whose actions need an item, except those in WITHOUT."""

WITHOUT = frozenset({"undo", "redo", "page.up", "page.down", "cursor.up", "cursor.down"})
TO_OTHERS = frozenset({"queue.next", "queue.previous", "queue.first", "queue.last"})

UNCHANGED = {
    "cursor.left": "This is the first word.",
    "cursor.right": "This is the last word.",
    "cursor.previous_turn": "This is the first turn.",
    "cursor.anchor": "The cursor is already on the number.",
    "cursor.next_head": "This is the only marked head.",
    "adopt.nobody": "There is nothing to clear.",
}
"""Messages for actions of the editor that change nothing."""


def no_access(access: Access, needed: Access) -> str:
    """Return why a person's access does not suffice; empty if it does."""
    return "" if access >= needed else f"{INVITED[access]}: {BELONGS_TO[needed]}."


def of_person(action: Action, mode: Mode, access: Access) -> str:
    """Return why the access or the mode forbids an action; empty if they allow it."""
    why = no_access(access, action.access)
    if why or mode in action.modes:
        return why
    return _of_mode(action, mode) if access >= BY_ID["mode.next"].access else NOT_SEEN


def _of_mode(action: Action, mode: Mode) -> str:
    if mode is not Mode.ANNOTATE:
        return SWITCH
    return OTHERS if action.group == LOOK else NOT_YOURS


def why_not(action: Action, state: "WorkbenchState") -> str:
    """Return why an action is unavailable; empty if no reason is known."""
    if wrong := of_person(action, state.mode, state.access):
        return wrong
    if action.id == "sight.model" and not state.blinding.can_hide_model(state.stored_item):
        return IN_VIEW
    if action.id in TO_OTHERS:
        return _of_the_way(action.id, state)
    if action.group not in OF_AN_ITEM or action.id in WITHOUT:
        return ""
    if state.visible_item is None:
        return NOTHING
    return _of_the_answer(action.id, state.edit, state.visible_item)


def _of_the_way(action_id: str, state: "WorkbenchState") -> str:
    if not len(state.ids):
        return EMPTY
    if state.position.is_detached:
        return ""
    if action_id in {"queue.next", "queue.last"}:
        return LAST if state.position.index + 1 >= len(state.ids) else ""
    return FIRST if state.position.index <= 0 else ""


def _of_the_answer(action_id: str, edit: EditState, item: AnchorItem) -> str:
    """Return what the editor would report; tried on the current answer."""
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
    return no_change(action_id, edit) if outcome.state == edit and not outcome.say else ""


def no_change(action_id: str, edit: EditState) -> str:
    """Return the message for an action that changed neither the answer nor the cursor."""
    if action_id.startswith("kind.") and edit.kind is not None:
        return f"The answer is {KIND_WORDS[edit.kind]} already."
    return UNCHANGED.get(action_id, "That changes nothing here.")


def no_action(key: str, character: str | None, keymap: Keymap, where: str = "") -> str:
    """Return the message for a key without an action."""
    helping = "side.help" if where else "help"
    shown = next((a.shown.split()[0] for a in keymap.actions if a.id == helping), "?")
    typed = character if character is not None and character.isprintable() else ""
    name = typed.strip() or (key.upper() if is_function(key) else key)
    return f"{name} does nothing here; {shown} shows the keys."
