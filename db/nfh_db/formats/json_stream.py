"""JSON files read in constant memory: the objects of a list, or of lines, and objects of which
only known keys are decoded.
"""

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.base import First
from nfh_db.formats.files import LINE_LIMIT, Source
from nfh_db.formats.spans import MarkError
from nfh_db.messages import reason_of, shown

# The objects of a JSON file: a list of objects in any layout, one object, or an object on each
# line. One object and a block of the file after it are in memory at a time.

T = TypeVar("T")

CHUNK = 1 << 20
SPACE = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"[ \t\r\n,]*")
STEP = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')

_whole = json.JSONDecoder()


def json_items(source: Source, decode: Callable[[str], T]) -> Iterator[tuple[int, int, T]]:
    """The rank and line of each object, both from 1, and what `decode` makes of it.

    decode: raises msgspec.DecodeError for invalid JSON, ValidationError for invalid objects.
    Raises FormatError for these, for any other content, for an object of more than LINE_LIMIT
    characters, and if the file changes while it is read.
    """
    return _Items(source, decode).run()


class _Items(Generic[T]):
    """A file that is being read."""

    def __init__(self, source: Source, decode: Callable[[str], T]) -> None:
        self.source = source
        self.decode = decode
        self.text = ""
        """The block in memory."""
        self.at = 0
        """The position in the block, and the line there."""
        self.line = 1
        self.ended = False
        self.lined = False
        """The block has a line end."""
        self._hash = hashlib.sha256()
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()

    def run(self) -> Iterator[tuple[int, int, T]]:
        with self.source.reading(), self.source.path.open("rb") as file:
            self._read(file)
            yield from self._items(file)
        if self._hash.hexdigest() != self.source.sha256:
            raise self.source.error(None, "changed while it was read; import it again")

    def _items(self, file: BinaryIO) -> Iterator[tuple[int, int, T]]:
        listed = self._next(file, SPACE) == "["
        if listed:
            self.at += 1
        rank = 0
        while (first := self._next(file, BETWEEN if rank else SPACE)) == "{":
            rank += 1
            line = self.line
            yield rank, line, self._object(file, rank)
        self._check_end(file, first, listed=listed)
        if not rank:
            found = "an empty list" if listed else shown(self.text[:20])
            raise self.source.error(self.line, f"found {found}, wanted at least one object")

    def _check_end(self, file: BinaryIO, first: str, *, listed: bool) -> None:
        """Refuse what follows the last object, unless it is the end of the file."""
        if listed and first == "]":
            self.at += 1
            first = self._next(file, SPACE)
            if first:
                raise self._unfit("nothing after the end of the list")
        elif listed and not first:
            raise self.source.error(
                self.line,
                "ends within its list; wanted its closing bracket: the file is cut off",
            )
        elif first:
            raise self._unfit("an object")

    def _unfit(self, wanted: str) -> FormatError:
        found = shown(self.text[self.at : self.at + 20])
        return self.source.error(self.line, f"found {found}, wanted {wanted}")

    def _next(self, file: BinaryIO, passed: re.Pattern[str]) -> str:
        """Skip what `passed` matches; return the next character, "" at the end of the file."""
        while True:
            match = passed.match(self.text, self.at)
            self._go(match.end() if match else self.at)
            if self.at < len(self.text) or not self._read(file):
                return self.text[self.at : self.at + 1]

    def _go(self, at: int) -> None:
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    # --- one object -----------------------------------------------------------------------

    def _object(self, file: BinaryIO, rank: int) -> T:
        """Decode the object that begins here, and move after it."""
        try:
            found: tuple[T, int] | None = self._by_lines()
            if found is None:
                end = self._end(file, rank)
                found = self.decode(self.text[self.at : end]), end
        except msgspec.ValidationError as error:
            raise self._error(rank, reason_of(error)) from error
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._error(rank, f"is not JSON: {reason_of(error)}") from error
        self._go(found[1])
        return found[0]

    def _by_lines(self) -> tuple[T, int] | None:
        """The object and its end, if the layout of the lines shows the end, which saves a scan:
        it ends with its line, or with a brace that has the indentation of its first line.
        """
        if not self.lined:
            return None
        end = self._line_end()
        if end == self.at or self.text[end - 1] != "}":
            margin = self.text[self.text.rfind("\n", 0, self.at) + 1 : self.at]
            close = f"\n{margin}}}"
            end = -1 if margin.strip() else self.text.find(close, self.at)
            if end < 0:
                return None
            end += len(close)
        try:
            return self.decode(self.text[self.at : end]), end
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            return None  # It goes on, or another one begins on the line.

    def _line_end(self) -> int:
        """The end of the line without commas and white space; the start if the block has no
        line end.
        """
        end = self.text.find("\n", self.at)
        if end < 0:
            return self.at
        return self.at + len(self.text[self.at : end].rstrip(", \t\r"))

    def _end(self, file: BinaryIO, rank: int) -> int:
        """The end of the object that begins here."""
        while True:
            try:
                return _whole.raw_decode(self.text, self.at)[1]
            except RecursionError as error:
                raise self._error(rank, f"is not JSON: {reason_of(error)}") from error
            except ValueError as error:
                if len(self.text) - self.at > LINE_LIMIT:
                    wanted = f"wanted at most {LINE_LIMIT:,} characters"
                    raise self._error(
                        rank, f"is longer than that or broken; {wanted}"
                    ) from None
                if not self._read(file, at_least=len(self.text) - self.at):
                    raise self._broken(rank, error) from error

    def _broken(self, rank: int, error: ValueError) -> FormatError:
        if not isinstance(error, json.JSONDecodeError):
            return self._error(rank, f"is not JSON: {reason_of(error)}")
        line = self.line + self.text.count("\n", self.at, error.pos)
        near = self.text[error.pos : error.pos + 20]
        found = f"found {shown(near)}" if near else "the file ends there"
        message = error.msg.lower().removesuffix(" starting at")
        return self.source.error(line, f"item {rank} is not JSON: {message}; {found}")

    def _error(self, rank: int, message: str) -> FormatError:
        return self.source.error(self.line, f"item {rank}: {message}")

    # --- the file -------------------------------------------------------------------------

    def _read(self, file: BinaryIO, at_least: int = 0) -> bool:
        """Read another block and drop what was passed; False at the end of the file."""
        if self.ended:
            return False
        raw = file.read(max(CHUNK, at_least))
        self._hash.update(raw)
        self.ended = not raw
        try:
            more = self._utf8.decode(raw, final=self.ended)
        except UnicodeDecodeError as error:
            line = self.line + self.text.count("\n", self.at) + raw.count(b"\n", 0, error.start)
            raise self.source.error(
                line,
                f"holds bytes that are not UTF-8 (0x{error.object[error.start]:02X}); save "
                "the file as UTF-8",
            ) from error
        self.text = self.text[self.at :] + more
        self.at = 0
        self.lined = "\n" in self.text
        return not self.ended


def first_keys(start: str) -> tuple[str, ...]:
    """The keys of a file's first object, as far as they are in its start."""
    keys: list[str] = []
    depth = 0
    begin = start.find("{")
    if begin < 0 or start[:begin].strip("[ \t\r\n\ufeff"):
        return ()
    for match in STEP.finditer(start, begin):
        step = match.group()
        if step in "{[":
            depth += 1
        elif step in "}]":
            depth -= 1
            if not depth:
                break
        elif match[2] is not None and depth == 1:
            keys.append(match[1])
    return tuple(keys)


# Objects of which known keys are decoded, and the others are carried unchanged: in
# `GoldRow.labels`, under the name of the tool, until they are written back.

Parts = dict[str, msgspec.Raw]
"""The values of an object by key, undecoded."""

_objects = msgspec.json.Decoder(Parts)
decode_parts = _objects.decode
"""The values of an object. Raises msgspec.DecodeError."""
_carried = msgspec.json.Decoder(dict[str, Parts])
_encoder = msgspec.json.Encoder()
NULL = b"null"
DEEPEST = 200
"""Nesting of values that are carried; SQLite reads slightly more."""
STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')


def parts_of(text: str | bytes) -> Parts:
    """The values of a JSON object. Raises MarkError for anything else, and for a repeated
    key.
    """
    try:
        parts = _objects.decode(text)
    except msgspec.ValidationError as error:
        start = text if isinstance(text, str) else text.decode("utf-8", "replace")
        raise MarkError(f"found {shown(start)}; wanted a JSON object") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MarkError(f"is not JSON: {reason_of(error)}") from error
    check_keys(text, parts)
    return parts


def check_keys(text: str | bytes, parts: Parts) -> None:
    """Raise MarkError if a key is repeated in an object: one of its values would be lost.

    parts: the values of `text`. If keys and values add up to the length of the text, with the
    white space of json.dumps or none, no key is repeated; only otherwise the text is parsed.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    filled = sum(map(len, parts)) + sum(map(len, parts.values())) + 4 * len(parts) + 1
    if parts and len(raw) - filled in (0, 2 * len(parts) - 1):
        return
    try:
        pairs = json.loads(raw, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise MarkError("is not JSON: it is nested too deeply") from error
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise MarkError(f"the key {shown(key)} occurs twice; wanted each key once")
        seen.add(key)


def value_of(
    parts: Mapping[str, msgspec.Raw], key: str, decoder: msgspec.json.Decoder[T]
) -> T | None:
    """The decoded value of a key; None if it is missing or null. Raises MarkError."""
    raw = parts.get(key)
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if bytes(raw) == NULL:
            return None
        raise MarkError(f'key "{key}": {reason_of(error)}') from error


OURS = "nfh"
"""The key of the stored item."""


def kept_in(parts: Mapping[str, msgspec.Raw], decoder: msgspec.json.Decoder[T]) -> T | None:
    """The stored item of a line; None if it has none. Raises MarkError."""
    try:
        return value_of(parts, OURS, decoder) if OURS in parts else None
    except MarkError as error:
        raise MarkError(
            f"{error}; nfh-tui itself writes this key: give a column of yours another name"
        ) from error


def carried_of(
    name: str, parts: Mapping[str, msgspec.Raw], known: Collection[str]
) -> str | None:
    """The JSON in which the values of other keys than `known` are carried; None for nothing.

    Raises MarkError for values that are nested deeper than DEEPEST.
    """
    rest = members_json({key: raw for key, raw in parts.items() if key not in known})
    if not rest:
        return None
    if rest.count(b"[") + rest.count(b"{") > DEEPEST and depth(rest) > DEEPEST:
        raise MarkError("holds values nested too deeply")
    return f'{{"{name}":{{{rest.decode("utf-8")}}}}}'


def depth(json: bytes) -> int:
    """The nesting of lists and objects."""
    deepest = here = 0
    for sign in STRINGS.sub(b"", json):
        if sign in b"[{":
            here += 1
            deepest = max(deepest, here)
        elif sign in b"]}":
            here -= 1
    return deepest


def carried_in(carried: str | None, name: str) -> Parts:
    """What is carried under `name`; empty if it came from a file of another format."""
    if carried is None or not carried.startswith(f'{{"{name}":'):
        return {}
    try:
        return _carried.decode(carried).get(name, {})
    except msgspec.DecodeError:
        return {}


def content_in(carried: str | None, name: str, type_: type[T]) -> T | None:
    """As `carried_in`, of a type; None if nothing of that type is carried."""
    if carried is None or f'"{name}"' not in carried:
        return None
    try:
        return msgspec.convert(json.loads(carried)[name], type_)
    except (TypeError, KeyError, msgspec.ValidationError):
        return None


def members_json(parts: Mapping[str, msgspec.Raw]) -> bytes:
    """The members of an object, without its braces."""
    return b",".join(_encoder.encode(key) + b":" + bytes(raw) for key, raw in parts.items())


def in_braces(*members: bytes) -> bytes:
    """An object of the members that are not empty."""
    return b"{" + b",".join(filter(None, members)) + b"}"


_first = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object of a file."""

    line: int
    number: int
    """Of its line, or its rank in a list, from 1."""
    text: str | None
    """The line; None in a list."""
    parts: Parts | None
    """The values; None for a line, which is not parsed yet."""

    def read(self) -> tuple[Parts, str | None]:
        """Its values, and its text if it is a line. Raises MarkError."""
        if self.parts is not None:
            return self.parts, None
        return parts_of(self.text or ""), self.text


def items(source: Source) -> Iterator[JsonObject]:
    """The objects of a file; lines are not parsed yet. Raises FormatError if there are none."""
    if not is_list(source):
        for line, text in source.rows():
            yield JsonObject(line, line, text, None)
        return
    for rank, line, parts in json_items(source, decode_parts):
        yield JsonObject(line, rank, None, parts)


def values(source: Source, decode: Callable[[str], T]) -> Iterator[T]:
    """What `decode` makes of each object; objects that it refuses are skipped.

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
    """True for a list of objects, and for an object of several lines."""
    return _is_list(source.first_row())


def _is_list(line: str) -> bool:
    return line.lstrip().startswith("[") or line.strip() == "{"


def refused(source: Source, item: JsonObject, error: MarkError) -> FormatError:
    """The refusal of an invalid item."""
    message = str(error)
    if message.startswith("is "):
        message = f"the {'line' if item.parts is None else 'object'} {message}"
    where = "" if item.parts is None else f"item {item.number}: "
    return source.error(item.line, where + message)


def first_value(first: First) -> dict[str, object] | None:
    """The first object of a file, if it is complete in the start of the file; else None."""
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
