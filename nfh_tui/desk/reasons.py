"""Why an act cannot be done now, in a sentence: for its key, the palette and the help.

Pure: no screen. What only the store knows (is there anything to undo?) is said when it is
tried.
"""

from dataclasses import dataclass

from nfh_db.records import Item
from nfh_tui.actions import BY_ID, Access, Action, Mode
from nfh_tui.actions.act import ADOPT, CURSOR, DECIDE, HEADS, ITEM, LOOK
from nfh_tui.editing import ACTIONS as EDITOR_ACTIONS
from nfh_tui.editing import EditState, act, answer, set_noun
from nfh_tui.editing.adopt import NOT_YOURS
from nfh_tui.editing.describe import KIND_WORDS
from nfh_tui.keymap import Keymap
from nfh_tui.proposed_spans import proposals

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
FIRST, LAST = "That was the first item.", "That was the last item."

OF_AN_ITEM = frozenset({DECIDE, HEADS, CURSOR, ADOPT, ITEM})
"""Groups of acts that need an item, but for those in WITHOUT."""

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
"""What is said of an act of the editor that found nothing to change."""


@dataclass(frozen=True, slots=True)
class Here:
    """What reasons depend on. place: of the item in the queue, from 0; total: its length.

    access: what the person may change at all.
    """

    mode: Mode
    item: Item | None
    edit: EditState
    place: int = 0
    total: int = 0
    beside: bool = False
    access: Access = Access.ADMIN


def denied(access: Access, needed: Access) -> str:
    """Why a person may not do what needs another access; "" where they may."""
    return "" if access >= needed else f"{INVITED[access]}: {BELONGS_TO[needed]}."


def of_person(action: Action, mode: Mode, access: Access) -> str:
    """Why an act is none of this person's, or none of this mode's; "" for one that is."""
    why = denied(access, action.access)
    if why or mode in action.modes:
        return why
    return _of_mode(action, mode) if access >= BY_ID["mode.next"].access else NOT_SEEN


def _of_mode(action: Action, mode: Mode) -> str:
    if mode is not Mode.ANNOTATE:
        return SWITCH
    return OTHERS if action.group == LOOK else NOT_YOURS


def why_not(action: Action, here: Here) -> str:
    """Why an act cannot be done now; "" where nothing is known to be in its way."""
    wrong = of_person(action, here.mode, here.access)
    if wrong:
        return wrong
    if action.id in TO_OTHERS:
        return _of_the_way(action.id, here)
    if action.group not in OF_AN_ITEM or action.id in WITHOUT:
        return ""
    if here.item is None:
        return NOTHING
    return _of_the_answer(action.id, here.edit, here.item)


def _of_the_way(action_id: str, here: Here) -> str:
    if not here.total:
        return EMPTY
    if here.beside:
        return ""
    if action_id in {"queue.next", "queue.last"}:
        return LAST if here.place + 1 >= here.total else ""
    return FIRST if here.place <= 0 else ""


def _of_the_answer(action_id: str, edit: EditState, item: Item) -> str:
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
    """What to say of an act that left the answer and the cursor as they were."""
    if action_id.startswith("kind.") and edit.kind is not None:
        return f"The answer is {KIND_WORDS[edit.kind]} already."
    return UNCHANGED.get(action_id, "That changes nothing here.")


def is_function(key: str) -> bool:
    """True for a key such as F12, by Textual's name."""
    return key[:1] == "f" and key[1:].isdecimal()


def unbound(key: str, character: str | None, keymap: Keymap, where: str = "") -> str:
    """What is said of a key that no act has there."""
    helping = "side.help" if where else "help"
    shown = next((a.shown.split()[0] for a in keymap.actions if a.id == helping), "?")
    typed = character if character is not None and character.isprintable() else ""
    name = typed.strip() or (key.upper() if is_function(key) else key)
    return f"{name} does nothing here; {shown} shows the keys."


def named(action_id: str) -> Action | None:
    """The act of the registry with this id; None for what the editor asks for itself."""
    return BY_ID.get(action_id)
