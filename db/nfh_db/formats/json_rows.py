"""Objects of a JSON file in parts, be it an object a line or a list of them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.format import First
from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_items import json_items
from nfh_db.formats.json_parts import Parts, decode_parts, parts_of
from nfh_db.formats.reading import Source

T = TypeVar("T")

_first = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Item:
    """An object where it stands. number: of its line, or in a list its own, from 1."""

    line: int
    number: int
    text: str | None
    parts: Parts | None

    def read(self) -> tuple[Parts, str | None]:
        """Its values, and its text where it is a line. Raises MarkError."""
        if self.parts is not None:
            return self.parts, None
        return parts_of(self.text or ""), self.text


def items(source: Source) -> Iterator[Item]:
    """The objects of a file, streaming. Raises FormatError where there are none to be found;
    lines are not looked into yet.
    """
    if not is_list(source):
        for line, text in source.rows():
            yield Item(line, line, text, None)
        return
    for rank, line, parts in json_items(source, decode_parts):
        yield Item(line, rank, None, parts)


def values(source: Source, decode: Callable[[str], T]) -> Iterator[T]:
    """What `decode` makes of each object; those that it refuses are passed over.

    decode: raises msgspec.DecodeError.
    """
    if not is_list(source):
        for _, text in source.lines():
            try:
                yield decode(text)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                continue
        return
    yield from (value for _, _, value in json_items(source, decode))


def is_list(source: Source) -> bool:
    """True for a list of objects, or an object that goes over several lines."""
    return _is_list(source.first_row())


def _is_list(line: str) -> bool:
    return line.lstrip().startswith("[") or line.strip() == "{"


def refused(source: Source, item: Item, error: MarkError) -> FormatError:
    """The refusal of an item that does not hold."""
    message = str(error)
    if message.startswith("is "):
        message = f"the {'line' if item.parts is None else 'object'} {message}"
    where = "" if item.parts is None else f"item {item.number}: "
    return source.error(item.line, where + message)


def first_value(first: First) -> dict[str, object] | None:
    """The first object of a file, as far as its start holds it; None for none."""
    if first.value is not None or not _is_list(first.text):
        return first.value
    begin = first.start.find("{")
    if begin < 0 or first.start[:begin].strip("[ \t\r\n\ufeff"):
        return None
    try:
        value = _first.raw_decode(first.start, begin)[0]
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
