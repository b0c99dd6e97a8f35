"""What a browser may say over its socket, read with care: it is the one way in."""

import json
from dataclasses import dataclass

LARGEST = 256 * 1024
"""Bytes of one message. Pasting a page of text is far below."""

LARGEST_PING = 64
WIDTHS = (20, 400)
HEIGHTS = (5, 200)
"""Cells of a screen: what a window of today can show. More would only cost memory."""


class WireError(Exception):
    """A message that no page of ours sends. Says what was wrong with it."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Keys, or the mouse, as a terminal sends them."""

    text: str


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the screen in cells."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Wants the same text back."""

    text: str


@dataclass(frozen=True, slots=True)
class Focus:
    """The page has come to the front, or has gone from it."""

    on: bool


Message = Typed | Size | Ping | Focus


def parse(text: str) -> Message:
    """A message of the page: a JSON list of its type and what belongs to it.

    Raises WireError for anything else.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError("not JSON") from error
    if not isinstance(value, list) or not value:
        raise WireError("not a list")
    match value:
        case ["stdin", str(typed)]:
            return Typed(_encodable(typed))
        case ["resize", dict(size)]:
            return size_of(size.get("width"), size.get("height"))
        case ["ping", str(ping)] if len(ping) <= LARGEST_PING:
            return Ping(ping)
        case ["focus"] | ["blur"]:
            return Focus(value[0] == "focus")
    raise WireError("a message of no known type")


def size_of(width: object, height: object) -> Size:
    """A size, within reason. Raises WireError for what is no whole number."""
    return Size(_within(width, WIDTHS), _within(height, HEIGHTS))


def _within(value: object, bounds: tuple[int, int]) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError("a size that is no number")
    return min(max(value, bounds[0]), bounds[1])


def _encodable(typed: str) -> str:
    """JSON can write half a character, which no terminal can send."""
    try:
        typed.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WireError("half a character") from error
    return typed
