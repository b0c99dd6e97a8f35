"""JSON objects in parts: what is known is read, the rest is handed on byte for byte.

A tool's users keep things of their own in its files. Those are carried along as they are
written there, in `GoldRow.labels` under the tool's name, and written back.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import TypeVar

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.wording import shown

Parts = dict[str, msgspec.Raw]
"""An object's values by key, each as it is spelled."""

T = TypeVar("T")

_objects = msgspec.json.Decoder(Parts)
decode_parts = _objects.decode
"""The values of an object. Raises msgspec.DecodeError."""
_carried = msgspec.json.Decoder(dict[str, Parts])
_encoder = msgspec.json.Encoder()
NULL = b"null"
DEEPEST = 200
"""Lists and objects in each other that are carried along; SQLite reads a few more."""
STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')


def parts_of(text: str | bytes) -> Parts:
    """The values of a JSON object. Raises MarkError for all that is none, and for a key that
    stands twice.
    """
    try:
        parts = _objects.decode(text)
    except msgspec.ValidationError as error:
        start = text if isinstance(text, str) else text.decode("utf-8", "replace")
        raise MarkError(f"found {shown(start)}; wanted a JSON object") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MarkError(f"is not JSON: {_reason(error)}") from error
    check_keys(text, parts)
    return parts


def check_keys(text: str | bytes, parts: Parts) -> None:
    """Raise MarkError if a key stands twice in an object: one of its values would be lost.

    The values fill the object, but for the white space that json.dumps puts between them or
    none; only where they do not, it is looked through.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    filled = sum(map(len, parts)) + sum(map(len, parts.values())) + 4 * len(parts) + 1
    if parts and len(raw) - filled in (0, 2 * len(parts) - 1):
        return
    seen: set[str] = set()
    for key in _keys(raw):
        if key in seen:
            raise MarkError(f"the key {shown(key)} stands twice; wanted each key once")
        seen.add(key)


def _keys(raw: bytes) -> list[str]:
    """The keys of an object, as often as they stand there."""
    try:
        pairs = json.loads(raw, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise MarkError("is not JSON: it is nested too deep") from error
    return [key for key, _ in pairs]


def value_of(
    parts: Mapping[str, msgspec.Raw], key: str, decoder: msgspec.json.Decoder[T]
) -> T | None:
    """The value of a key as what a decoder makes; None where it is missing or null.

    Raises MarkError naming the key and what is wrong with it.
    """
    raw = parts.get(key)
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if bytes(raw) == NULL:
            return None
        raise MarkError(f'key "{key}": {_reason(error)}') from error


OURS = "nfh"
"""The key under which a line carries what its tool has no terms for."""


def kept_in(parts: Mapping[str, msgspec.Raw], decoder: msgspec.json.Decoder[T]) -> T | None:
    """What a line carries of our own; None for nothing. Raises MarkError."""
    try:
        return value_of(parts, OURS, decoder) if OURS in parts else None
    except MarkError as error:
        raise MarkError(
            f"{error}; nfh-tui itself writes this key: give a column of yours another name"
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    reason = str(error).removeprefix("JSON is malformed: ")
    return reason[:1].lower() + reason[1:]


def carried_of(
    name: str, parts: Mapping[str, msgspec.Raw], known: Collection[str]
) -> str | None:
    """The JSON object of what a file of `name` holds besides what is known; None for nothing.

    Raises MarkError where it is nested too deep.
    """
    rest = spelled({key: raw for key, raw in parts.items() if key not in known})
    if not rest:
        return None
    if rest.count(b"[") + rest.count(b"{") > DEEPEST and depth(rest) > DEEPEST:
        raise MarkError("holds values nested too deep")
    return f'{{"{name}":{{{rest.decode("utf-8")}}}}}'


def depth(json: bytes) -> int:
    """How deep lists and objects stand in each other."""
    deepest = here = 0
    for sign in STRINGS.sub(b"", json):
        if sign in b"[{":
            here += 1
            deepest = max(deepest, here)
        elif sign in b"]}":
            here -= 1
    return deepest


def carried_in(carried: str | None, name: str) -> Parts:
    """What was carried of a file of `name`; nothing where it came from another one."""
    if carried is None or not carried.startswith(f'{{"{name}":'):
        return {}
    try:
        return _carried.decode(carried).get(name, {})
    except msgspec.DecodeError:
        return {}


def spelled(parts: Mapping[str, msgspec.Raw]) -> bytes:
    """The members of an object, without its braces."""
    return b",".join(_encoder.encode(key) + b":" + bytes(raw) for key, raw in parts.items())


def in_braces(*members: bytes) -> bytes:
    """An object of members, those that are empty left out."""
    return b"{" + b",".join(filter(None, members)) + b"}"
