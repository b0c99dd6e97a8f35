"""Cuts a query into terms without judging them: the parser and the completion both read it.

Positions are code points into the query, ends exclusive.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfh_db.query.registry import KEYS, Takes

SPACES = " \t\r\n\u00a0\u3000"
"""What separates terms: no other control or space character does, those are searched for."""

KEY = re.compile(r"([^\W\d_][\w-]*)(:|!=|<=|>=|<|>|=)")
"""A term that begins so has a key: a letter, then letters, digits, `_` or `-`, an operator."""


ABOUT_PEOPLE = frozenset(key.name for key in KEYS if key.takes is Takes.PEOPLE)
"""Keys whose values have parts: NAME~NAME/WHAT, each of which may stand in quotes."""

JOINTS = "~/"
"""What separates the parts of such a value."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a value about people. joint: what stands before it, "" for the first."""

    joint: str
    text: str
    start: int
    end: int
    quoted: bool = False
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """One value, unescaped. start and end include its quotes; closed is False if one lacks.

    parts: of a value about people, whose text is as typed; else none.
    """

    text: str
    start: int
    end: int
    quoted: bool = False
    closed: bool = True
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class RawTerm:
    """One term as it stands. key and operator are empty for words of the text.

    start: of the minus sign, if there is one. head: of the key or the word.
    source: the term from head to end, as typed.
    glued: where something follows a closing quote with no space between, else None.
    """

    start: int
    head: int
    end: int
    negated: bool
    source: str
    key: str
    operator: str
    items: tuple[Item, ...]
    glued: int | None = None


def scan(text: str) -> Iterator[RawTerm]:
    """The terms of a query, in order; never fails."""
    place = _skip_spaces(text, 0)
    while place < len(text):
        term = _term(text, place)
        yield term
        place = _skip_spaces(text, term.end)


def _skip_spaces(text: str, place: int) -> int:
    while place < len(text) and text[place] in SPACES:
        place += 1
    return place


def _term(text: str, start: int) -> RawTerm:
    negated = text[start] == "-" and start + 1 < len(text) and text[start + 1] not in SPACES
    head = start + 1 if negated else start
    match = KEY.match(text, head)
    items: tuple[Item, ...]
    if match is None:
        key, operator = "", ""
        items = (_item(text, head, stops=SPACES),)
    else:
        key, operator = match.group(1), match.group(2)
        items = tuple(_items(text, match.end(), of=key.casefold()))
    end = items[-1].end
    glued = end if end < len(text) and text[end] not in SPACES else None
    source = text[head:end]
    return RawTerm(start, head, end, negated, source, key, operator, items, glued)


def _items(text: str, place: int, of: str) -> Iterator[Item]:
    """Values with commas between; an empty one where a comma or the end comes at once."""
    while True:
        if of in ABOUT_PEOPLE:
            item = _in_parts(text, place)
        else:
            item = _item(text, place, stops=SPACES + ",")
        yield item
        if not text.startswith(",", item.end):
            return
        place = item.end + 1


def _item(text: str, start: int, stops: str) -> Item:
    if text.startswith('"', start):
        return _quoted(text, start)
    end = start
    while end < len(text) and text[end] not in stops:
        end += 1
    return Item(text[start:end], start, end)


def _in_parts(text: str, start: int) -> Item:
    """A value about people: at least one part."""
    parts: list[Part] = []
    place, joint = start, ""
    while True:
        piece = _item(text, place, stops=SPACES + "," + JOINTS)
        parts.append(Part(joint, piece.text, place, piece.end, piece.quoted, piece.closed))
        joint = text[piece.end : piece.end + 1]
        if not joint or joint not in JOINTS:
            break
        place = piece.end + 1
    end = parts[-1].end
    closed = all(part.closed for part in parts)
    return Item(text[start:end], start, end, closed=closed, parts=tuple(parts))


def _quoted(text: str, start: int) -> Item:
    """Inside quotes a backslash makes a quote or a backslash plain, and else is itself."""
    value: list[str] = []
    place = start + 1
    while place < len(text):
        character = text[place]
        if character == '"':
            return Item("".join(value), start, place + 1, quoted=True)
        if character == "\\" and text[place + 1 : place + 2] in ('"', "\\"):
            place += 1
            character = text[place]
        value.append(character)
        place += 1
    return Item("".join(value), start, place, quoted=True, closed=False)


def quote(value: str) -> str:
    """`value` as a query has to write it, in quotes only where it needs them."""
    special = any(character in SPACES or character == "," for character in value)
    if value and not special and not value.startswith('"'):
        return value
    return quoted(value)


def quote_name(name: str, words: Sequence[str] = ()) -> str:
    """Somebody's name as a key about people has to write it.

    words: what would be understood otherwise at that place, as "me".
    """
    split = any(joint in name for joint in JOINTS)
    taken = name.casefold() in {word.casefold() for word in words}
    return quoted(name) if split or taken else quote(name)


def quoted(value: str) -> str:
    """`value` in quotes."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
