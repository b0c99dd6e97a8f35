"""The objects of a JSON file, one after another, in constant memory.

The file is a list of objects, laid out in whatever way, or one object, or an object a line.
No more of it is held than one object and a stretch of the file behind it.
"""

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, Generic, TypeVar

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.reading import LINE_LIMIT, Source
from nfh_db.formats.wording import shown

T = TypeVar("T")

CHUNK = 1 << 20
SPACE = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"[ \t\r\n,]*")
STEP = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')

_whole = json.JSONDecoder()


def json_items(source: Source, decode: Callable[[str], T]) -> Iterator[tuple[int, int, T]]:
    """Each object of a file as `decode` makes it, with its rank and its line, both from 1.

    decode: raises msgspec.DecodeError for text that is no JSON, and ValidationError for what
    is not as it should be. Raises FormatError for all that is no such file, for an object of
    more than LINE_LIMIT characters, and where the file changes while it is read.
    """
    return _Items(source, decode).run()


class _Items(Generic[T]):
    """A file on its way. text: the stretch that is held; at: where in it; line: which there.

    lined: that stretch has a line's end.
    """

    def __init__(self, source: Source, decode: Callable[[str], T]) -> None:
        self.source = source
        self.decode = decode
        self.text = ""
        self.at = 0
        self.line = 1
        self.ended = False
        self.lined = False
        self._hash = hashlib.sha256()
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()

    def run(self) -> Iterator[tuple[int, int, T]]:
        try:
            with self.source.path.open("rb") as file:
                self._read(file)
                yield from self._items(file)
        except OSError as error:
            raise self.source.unreadable(error) from error
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
        """Refuse what stands where no further object does, unless it is the file's end."""
        if listed and first == "]":
            self.at += 1
            first = self._next(file, SPACE)
            if first:
                raise self._unfit("nothing behind the end of the list")
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
        """The next character behind what is passed over; "" at the end of the file."""
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
        """The object that begins here, decoded; what was read of it is passed over."""
        try:
            found: tuple[T, int] | None = self._by_lines()
            if found is None:
                end = self._end(file, rank)
                found = self.decode(self.text[self.at : end]), end
        except msgspec.ValidationError as error:
            raise self._error(rank, str(error)) from error
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._error(rank, _reason(error)) from error
        self._go(found[1])
        return found[0]

    def _by_lines(self) -> tuple[T, int] | None:
        """The object, with its end, if the lines show where that is: nothing is scanned then.

        It ends with its line, or with a brace that stands as far from the margin as its first.
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
        """Where the line ends, commas and white space left out; the start where it does not."""
        end = self.text.find("\n", self.at)
        if end < 0:
            return self.at
        return self.at + len(self.text[self.at : end].rstrip(", \t\r"))

    def _end(self, file: BinaryIO, rank: int) -> int:
        """Where the object that begins here ends, however many lines that takes."""
        while True:
            try:
                return _whole.raw_decode(self.text, self.at)[1]
            except RecursionError as error:
                raise self._error(rank, _reason(error)) from error
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
            return self._error(rank, f"is not JSON: {error}")
        line = self.line + self.text.count("\n", self.at, error.pos)
        near = self.text[error.pos : error.pos + 20]
        found = f"found {shown(near)}" if near else "the file ends there"
        message = error.msg.lower().removesuffix(" starting at")
        return self.source.error(line, f"item {rank} is not JSON: {message}; {found}")

    def _error(self, rank: int, message: str) -> FormatError:
        return self.source.error(self.line, f"item {rank}: {message}")

    # --- the file -------------------------------------------------------------------------

    def _read(self, file: BinaryIO, at_least: int = 0) -> bool:
        """Read on, and let go of what is passed; False at the end of the file."""
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
                f"holds bytes that are no UTF-8 (0x{error.object[error.start]:02X}); "
                "save the file as UTF-8",
            ) from error
        self.text = self.text[self.at :] + more
        self.at = 0
        self.lined = "\n" in self.text
        return not self.ended


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is not read: its JSON is nested too deep"
    return f"is not JSON: {error}"


def first_keys(start: str) -> tuple[str, ...]:
    """The keys of a file's first object, as far as its start tells."""
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
