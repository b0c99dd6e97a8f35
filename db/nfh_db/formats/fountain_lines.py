"""The elements of a Fountain screenplay: https://fountain.io/syntax, version 1.1.

What an element is depends on the lines around it, so each line comes with whether an empty
one stands before and behind. Comments (`/* */` and `[[ ]]`) are taken out before; a line that
held nothing else is gone, not empty.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from nfh_db.formats.reading import Source

TITLE_KEYS = frozenset(
    "title credit author authors source notes date draft contact copyright revision format "
    "font header footer".split()
)
HEADING = re.compile(r"(?i)(?:int\.?/ext|int/ext|i/e|int|ext|est)[. ]\s*\S")
EXTENSIONS = re.compile(r"(?:\s*\([^()]*\))+\s*$")
EMPHASIS = re.compile(r"(?<!\\)(\*{1,3}|(?<!\w)_)(?=\S)((?:\\.|(?!\1)[^\\]){1,2000}?)(?<=\S)\1")
NESTED = 3
"""How deep marks of emphasis stand in each other: _, **, and * make three."""

SHORT_FORMS = frozenset(("JR.", "SR.", "ESQ."))
"""Last words of a name whose full stop is theirs."""

LONGEST_CUE = 200
"""Characters that the line of a character's cue may have."""

ESCAPED = re.compile(r"\\([*_\\\[\]~#.!@>=])")
OPENING = re.compile(r"/\*|\[\[")


class Is(Enum):
    """What a line outside a speech is. The value: the word for those that are left out."""

    HEADING = "scene heading"
    TRANSITION = "transition"
    SECTION = "section or synopsis"
    CHARACTER = ""
    ACTION = "action"


class Placed(NamedTuple):
    """A line. after, before: an empty line, or the file's end, stands before and behind it."""

    number: int
    text: str
    after: bool
    before: bool


def element(line: Placed) -> tuple[Is, str]:
    """What a line outside a speech is, and its words without the marks that say so."""
    text = line.text.strip()
    return _forced(line, text) or _told(line, text)


def _forced(line: Placed, text: str) -> tuple[Is, str] | None:
    """An element that its first character makes what it is."""
    first, rest = text[0], text[1:].strip()
    if first == "!":
        return Is.ACTION, rest
    if first == "@" and not line.before and len(text) <= LONGEST_CUE:
        return Is.CHARACTER, name_of(rest)
    if first == "." and text[1:2].isalnum():
        return Is.HEADING, rest
    if first == ">":
        return (Is.ACTION, rest[:-1].strip()) if rest.endswith("<") else (Is.TRANSITION, rest)
    if first in "#=":
        return Is.SECTION, rest
    return (Is.ACTION, rest) if first == "~" else None


def _told(line: Placed, text: str) -> tuple[Is, str]:
    """An element that its letters and the empty lines around it make what it is."""
    if line.after and HEADING.match(text):
        return Is.HEADING, text
    if not line.after or len(text) > LONGEST_CUE:
        return Is.ACTION, text
    name = name_of(text)
    if name.isupper():
        if name.endswith("TO:"):
            return Is.TRANSITION, text
        if not line.before and not name.endswith(":"):
            return Is.CHARACTER, name
    return Is.ACTION, text


def name_of(cue: str) -> str:
    """The name of a character's cue: "ANNA (V.O.) (CONT'D) ^" is ANNA, and so is "ANNA." """
    name = plain(EXTENSIONS.sub("", cue.rstrip().removesuffix("^").rstrip()))
    last = name.rpartition(" ")[2]
    is_short = len(last) < 3 or "." in last[:-1] or last.upper() in SHORT_FORMS
    return name if is_short else name.removesuffix(".")


def plain(text: str) -> str:
    """The words of a line without the marks of emphasis."""
    for _ in range(NESTED):
        text = EMPHASIS.sub(r"\2", text)
    return ESCAPED.sub(r"\1", text)


def placed(lines: Iterable[tuple[int, str]]) -> Iterator[Placed]:
    """Each line, empty ones too, with what is empty around it."""
    after = True
    kept: tuple[int, str] | None = None
    for number, text in lines:
        if kept is not None:
            yield Placed(*kept, after, not text.strip())
            after = not kept[1].strip()
        kept = number, text
    if kept is not None:
        yield Placed(*kept, after, True)


def body(source: Source, left: Counter[str]) -> Iterator[tuple[int, str]]:
    """The lines of a file behind its title page, without comments, which `left` counts.

    Raises FormatError for a comment `/*` that never ends.
    """
    in_title: bool | None = None
    for number, text in _without_comments(source, left):
        if in_title is None and text.strip():
            key = text.partition(":")[0].strip().lower().split(" ")[0]
            in_title = ":" in text and key in TITLE_KEYS
            left["title page"] += in_title
        elif in_title and not text.strip():
            in_title = False
        if not in_title:
            yield number, text


def _without_comments(source: Source, left: Counter[str]) -> Iterator[tuple[int, str]]:
    closing = ""
    opened = 0
    for number, line in source.lines():
        text, kept = line, ""
        if closing == "]]" and not line:
            # An empty line ends a note; one of two blanks would go on with it.
            closing = ""
        inside = bool(closing)
        while text:
            if closing:
                _, found, text = text.partition(closing)
                closing = "" if found else closing
                continue
            start = OPENING.search(text)
            if start is None:
                kept += text
                break
            kept += text[: start.start()]
            text = text[start.end() :]
            closing = "*/" if start.group() == "/*" else "]]"
            left["comment"] += 1
            opened = number
        if kept.strip() or (kept == line and not inside):
            yield number, kept
    if closing == "*/":
        raise source.error(opened, 'a comment "/*" starts here and never ends; wanted "*/"')
