"""A person's own keys: a part of their settings that gives acts other keys.

    [keys]
    "queue.next" = "n, f8"
    "kind.unknown" = "N"

Acts go by the ids of the registry, keys by their character or by Textual's name. ctrl+q
quits whatever the file says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nfh_tui.actions import ACTIONS, BY_ID, Action
from nfh_tui.key_names import is_key, key_name, shown

FILE_NAME = "keys.toml"
"""An older file that holds nothing but keys; it is still read."""

ALWAYS = frozenset({"ctrl+q", "ctrl+c"})
"""Keys that cannot be given to an act: they quit, and tell how to quit."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """The registry with a person's keys in it.

    own: those keys, by act, as Textual's keymaps have them. troubles: sentences on what of
    the file cannot be used.
    """

    actions: tuple[Action, ...] = ACTIONS
    own: Mapping[str, str] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()

    def action_of(self, key: str, where: str = "") -> str | None:
        """The id of the act that a key stands for there, by Textual's name of the key."""
        there = (action for action in self.actions if action.where == where)
        return next((action.id for action in there if key in action.keys), None)


def apply(wanted: Mapping[str, object], files: Mapping[str, Path] | None = None) -> Keymap:
    """The registry with these keys; an entry that cannot be is left out and told.

    files: where each entry stands, to begin what is told of it with.
    """
    troubles: list[str] = []
    own: dict[str, tuple[str, ...]] = {}
    for action_id, typed in wanted.items():
        trouble = _trouble(action_id, typed)
        if trouble is None:
            own[action_id] = tuple(key.strip() for key in str(typed).split(",") if key.strip())
        else:
            troubles.append(_placed(action_id, trouble, files))
    while clash := _clash(_with(own)):
        key, one, other = clash
        loser, keeper = (other, one) if other.id in own else (one, other)
        del own[loser.id]
        trouble = (
            f"{loser.id}: the key {key} is that of {keeper.id} ({keeper.title}); "
            "give that one another key as well"
        )
        troubles.append(_placed(loser.id, trouble, files))
    names = {action_id: ",".join(map(key_name, keys)) for action_id, keys in own.items()}
    return Keymap(_with(own) if own else ACTIONS, names, tuple(troubles))


def _placed(action_id: str, trouble: str, files: Mapping[str, Path] | None) -> str:
    return trouble if files is None else f"{files[action_id]}: {trouble}"


def _trouble(action_id: str, typed: object) -> str | None:
    if action_id not in BY_ID:
        return f"{action_id}: there is no such act; nfh-tui keys lists them"
    if not isinstance(typed, str) or not typed.strip(" ,"):
        return f"{action_id}: wanted are one or more keys with commas between, as a text"
    unknown = [key for key in map(str.strip, typed.split(",")) if key and not is_key(key)]
    if unknown:
        return (
            f"{action_id}: “{shown(unknown[0])}” is no key; wanted is a character, or a name "
            "such as f8, ctrl+w or pagedown"
        )
    taken = {key_name(key.strip()) for key in typed.split(",")} & ALWAYS
    return f"{action_id}: {min(taken)} cannot be given away" if taken else None


def _with(own: Mapping[str, Sequence[str]]) -> tuple[Action, ...]:
    return tuple(
        replace(
            action,
            keys=tuple(map(key_name, own[action.id])),
            shown=" ".join(own[action.id]),
            listed=None,
        )
        if action.id in own
        else action
        for action in ACTIONS
    )


def _clash(actions: Sequence[Action]) -> tuple[str, Action, Action] | None:
    """A key that does two things in one mode and place, and the two."""
    for place, one in enumerate(actions):
        for other in actions[place + 1 :]:
            shared = set(one.keys) & set(other.keys)
            if shared and one.modes & other.modes and one.where == other.where:
                return min(shared), one, other
    return None
