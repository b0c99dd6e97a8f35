"""What stands in the lines of a CoNLL-U file: forms, texts, and our own comments.

Files are in NFC and end their lines with a line feed only
(https://universaldependencies.org/format.html). A passage's text is kept as it is, so the
forms of its tokens may be other characters than its own; where they are, or where white space
is other than single spaces, the text stands in a comment with the tokens' offsets.
"""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nfh_db.formats.rows import RawPassage

VERSION = "nfh-conllu/1"
PASSAGE = "nfh_passage"
ITEM = "nfh_item_"
BLANK = "\u2423"
"""Stands in a form for white space and for what nobody sees: an open box."""
CARRIER = "\u25cc"
"""Stands before a form that would join the one before it: a dotted circle."""


def form_of(surface: str) -> str:
    """The form of a token: composed, on one line, white space inside it but single."""
    composed = unicodedata.normalize("NFC", surface)
    if composed.isprintable() and " " not in composed:
        return composed
    signs = [
        sign if sign.isprintable() and (sign != " " or _inside(composed, place)) else BLANK
        for place, sign in enumerate(composed)
    ]
    return "".join(signs)


def is_form_of(form: str, surface: str) -> bool:
    """True if a token may have this form, whatever stands before it."""
    return form in (surface, form_of(surface), CARRIER + form_of(surface))


def kept_apart(forms: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Forms, each with whether white space follows, that stay in NFC when they are joined."""
    found: list[tuple[str, bool]] = []
    before = ""
    for form, space in forms:
        joined = not form.isascii() and not unicodedata.is_normalized("NFC", before + form)
        found.append((CARRIER + form if joined else form, space))
        before = "" if space else found[-1][0][-1:]
    return found


def _inside(text: str, place: int) -> bool:
    """True for a space between two other characters: words with spaces may have one."""
    around = text[max(place - 1, 0) : place + 2]
    return len(around) == 3 and around[0] != " " and around[2] != " "


def on_one_line(words: str) -> str:
    """Words as the value of a comment."""
    return " ".join(unicodedata.normalize("NFC", words).split())


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence: its speaker, and its tokens' forms, each with whether white space follows."""

    speaker: str | None
    forms: Sequence[tuple[str, bool]]

    @property
    def text(self) -> str:
        """What `# text` says: the forms, single spaces between them."""
        return "".join(f + (" " if space else "") for f, space in self.forms).rstrip(" ")


def rebuilt(said: Sequence[Said], *, named: bool) -> tuple[str, list[tuple[int, int]]]:
    """A text of sentences, one on each line, and its tokens' offsets.

    named: each line begins with its speaker and a colon.
    """
    lines, offsets, place = [], [], 0
    for one in said:
        name = f"{one.speaker}: " if named and one.speaker else ""
        at = place + len(name)
        for form, space in one.forms:
            offsets.append((at, at + len(form)))
            at += len(form) + space
        lines.append(name + one.text)
        place += len(lines[-1]) + 1
    return "\n".join(lines), offsets


def same(text: str, offsets: Sequence[tuple[int, int]], raw: RawPassage) -> bool:
    """True if a text with its tokens is a passage's own."""
    return text == raw.text and [*offsets] == [*zip(raw.starts, raw.ends, strict=True)]


def to_json(value: Any) -> str:  # noqa: ANN401 - plain data
    """JSON on one line, in NFC as the whole file has to be; read back, it is as it was."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isprintable() and unicodedata.is_normalized("NFC", text):
        return text
    return json.dumps(value, separators=(",", ":"))
