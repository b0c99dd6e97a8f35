"""Which keys there are, by the names that Textual gives them; in the standard library only."""

import unicodedata

NAMES = {
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "low_line": "underscore",
    "plus_sign": "plus",
    "reverse_solidus": "backslash",
    "solidus": "slash",
}
"""Where Textual's names of characters are not Unicode's."""

WITH = frozenset({"ctrl", "alt", "shift", "meta", "super", "hyper"})
"""Keys that are held with another, as in ctrl+shift+up."""

WITHOUT_CHARACTER = frozenset(
    [
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("insert", "delete", "backspace", "enter", "return", "escape", "tab", "space"),
        *(f"f{number}" for number in range(1, 25)),
    ]
)

LAST_NAMED = 0x24F
"""Of the Latin letters and signs, to which a name such as less_than_sign leads back."""


def key_name(typed: str) -> str:
    """Textual's name of a key that is given by its character, or already by name."""
    if len(typed) != 1 or typed.isalnum():
        return "space" if typed == " " else typed
    name = unicodedata.name(typed, typed).lower().replace("-", "_").replace(" ", "_")
    return NAMES.get(name, name)


_SIGNS = frozenset(
    key_name(chr(code)) for code in range(0x21, LAST_NAMED) if chr(code).isprintable()
)


def is_key(typed: str) -> bool:
    """True for a key that there may be: a character, a name, or either held with ctrl."""
    if len(typed) == 1:
        return typed.isprintable()
    *held, key = typed.split("+")
    if len(set(held)) != len(held) or not WITH.issuperset(held):
        return False
    if len(key) == 1:
        return key.isprintable() and key != " "
    return key in WITHOUT_CHARACTER or key in _SIGNS or _is_sign(key)


def _is_sign(name: str) -> bool:
    """True for the name of a character that can be typed and seen."""
    try:
        character = unicodedata.lookup(name.replace("_", " ").upper())
    except KeyError:
        return False
    return len(character) == 1 and character.isprintable() and name == name.lower()


def shown(typed: str) -> str:
    """What was given as a key, so that it can be told of."""
    seen = (c if c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in typed)
    return "".join(seen)[:40]
