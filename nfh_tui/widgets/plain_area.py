"""A text area in which no character of the text controls the terminal."""

import unicodedata

from rich.text import Text
from textual.widgets import TextArea

PICTURE = "\ufffd"
"""Drawn for a character that cannot be seen and has no picture of its own."""

_CONTROL_PICTURES = 0x2400


class PlainArea(TextArea):
    """Draws each control and format character as one that is seen; the text stays as it is."""

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn, as long as it is."""
        line = super().get_line(line_index)
        if not line.plain.isprintable():
            line.plain = "".join(map(_drawn, line.plain))
        return line


def _drawn(character: str) -> str:
    if character == "\t" or character.isprintable():
        return character
    if ord(character) < 0x20:
        return chr(_CONTROL_PICTURES + ord(character))
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return PICTURE if hidden else character
