"""Strict access to the values of JSON objects (`Fields`): every refusal states line, key, what
was found and what was wanted. Also fast checks of the tokens and turns of a passage.
"""

import json
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, repeat
from operator import le, lt

from nfh_db.errors import FormatError
from nfh_db.formats.files import FileOrigin, check_json
from nfh_db.formats.rows import RawPassage
from nfh_db.messages import shown, visible
from nfh_db.records import normal_name
from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.domain.passage import passage_digest

INTEGER_LIMIT = 2**53
"""The largest integer that all JSON readers represent exactly."""


NO_HALVES = "text without unpaired surrogates"
NAME_LENGTH = 100
"""Characters of an annotator's name."""


class NotANumber:
    """The value of a bare NaN, which is not JSON but occurs in `nfh` files."""

    def __repr__(self) -> str:
        return "NaN"


NAN = NotANumber()


class _RepeatedKeyError(ValueError):
    """An object names one key twice."""


class _InfinityError(ValueError):
    """A bare Infinity."""


def _constant(name: str) -> NotANumber:
    if name == "NaN":
        return NAN
    raise _InfinityError(f"holds {name}, which is not JSON")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RepeatedKeyError(f"holds the key {shown(twice)} twice in one object")
    return values


_DECODER = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_object)


def decode(text: str) -> object:
    """The JSON value of `text`; a bare NaN becomes NAN.

    Raises ValueError, with a message for users, for invalid JSON, Infinity, a repeated key,
    values that are nested too deep or too long, and more lists and objects than OBJECTS.
    """
    check_json(text)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        near = shown(text[error.colno - 1 : error.colno + 20]) if text else "nothing"
        message = error.msg.lower().removesuffix(" starting at")
        raise ValueError(
            f"is not JSON: {message} at column {error.colno}, found {near}"
        ) from error
    except RecursionError as error:
        raise ValueError("is not read: its JSON is nested too deeply") from error


def unpaired_surrogate(text: str) -> bool:
    """True if `text` has an unpaired surrogate, which cannot be encoded in UTF-8."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def whole_number(found: object) -> str:
    """What is wanted in place of `found`, which is no integer, or one that is too large."""
    if type(found) is int:
        return f"a whole number from -{INTEGER_LIMIT:,} to {INTEGER_LIMIT:,}"
    return "a whole number"


A_NAME = f"a name of 1 to {NAME_LENGTH} printable characters"


def is_a_name(text: str) -> bool:
    """True for a name that the store accepts, without white space at its ends: one line."""
    name = text.strip()
    return 0 < len(name) <= NAME_LENGTH and name.isprintable()


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object of a line. path: of the object in that of the line, with a dot at its
    end.
    """

    source: FileOrigin
    line: int
    values: Mapping[str, object]
    path: str = ""

    @classmethod
    def of_line(cls, source: FileOrigin, line: int, text: str) -> "Fields":
        """The object of a line. Raises FormatError for anything else."""
        try:
            value = decode(text)
        except ValueError as error:
            reason = str(error)
            if "integer string conversion" in reason:
                reason = "holds a whole number with too many digits"
            raise source.error(line, f"the line {reason}; wanted a JSON object") from error
        if not isinstance(value, dict):
            raise source.error(line, f"found {shown(value)}; wanted a JSON object")
        return cls(source, line, value)

    def refuse(self, key: str, wanted: str, found: object = None) -> FormatError:
        """The refusal of the value of `key`, or of `found`, a part of it."""
        value = self.values[key] if found is None else found
        return self.source.error(
            self.line, f'key "{self.path}{key}": found {shown(value)}, wanted {wanted}'
        )

    def expect_keys(self, wanted: Sequence[str], hint: str = "") -> None:
        """Raise FormatError unless the keys are exactly those of `wanted`, in any order."""
        present = self.values.keys()
        every = f"wanted exactly {', '.join(wanted)}{hint}"
        for key in wanted:
            if key not in present:
                raise self.source.error(
                    self.line, f'key "{self.path}{key}" is missing; {every}'
                )
        for key in present:
            if key not in wanted:
                raise self.source.error(
                    self.line, f'key "{self.path}{visible(key)}" is not known; {every}'
                )

    def text(self, key: str) -> str:
        """A string. Raises FormatError."""
        value = self.values[key]
        if not isinstance(value, str):
            raise self.refuse(key, "a string")
        if unpaired_surrogate(value):
            raise self.refuse(key, NO_HALVES)
        return value

    def optional_text(self, key: str) -> str | None:
        """A string or null. Raises FormatError."""
        return None if self.values[key] is None else self.text(key)

    def name(self, key: str) -> str:
        """An annotator's name, as the store has it. Raises FormatError."""
        value = self.text(key)
        if not is_a_name(value):
            raise self.refuse(key, A_NAME)
        return normal_name(value)

    def choice(self, key: str, allowed: Sequence[str], other: str = "") -> str:
        """One of the strings `allowed`. other: what is accepted besides. Raises FormatError."""
        value = self.values[key]
        if not isinstance(value, str) or value not in allowed:
            raise self.refuse(key, f"{other}one of {', '.join(allowed)}")
        return value

    def optional_choice(self, key: str, allowed: Sequence[str]) -> str | None:
        """One of the strings `allowed`, or null. Raises FormatError."""
        return None if self.values[key] is None else self.choice(key, allowed, "null or ")

    def boolean(self, key: str) -> bool:
        """true or false. Raises FormatError."""
        value = self.values[key]
        if not isinstance(value, bool):
            raise self.refuse(key, "true or false")
        return value

    def integer(self, key: str) -> int:
        """An integer up to INTEGER_LIMIT. Raises FormatError."""
        value = self.values[key]
        if type(value) is not int or abs(value) > INTEGER_LIMIT:
            raise self.refuse(key, whole_number(value))
        return value

    def optional_integer(self, key: str) -> int | None:
        """A whole number or null. Raises FormatError."""
        return None if self.values[key] is None else self.integer(key)

    def optional_seconds(self, key: str) -> float | None:
        """A finite number, zero or more, or null. Raises FormatError."""
        value = self.values[key]
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(key, "a number of seconds, or null")
        # Infinity fails this too; a whole number may be too large for isfinite().
        if not 0 <= value <= INTEGER_LIMIT:
            raise self.refuse(key, "a number of seconds, zero or more")
        return float(value)

    def items(self, key: str) -> list[object]:
        """A list of anything. Raises FormatError."""
        value = self.values[key]
        if not isinstance(value, list):
            raise self.refuse(key, "a list")
        return value

    def strings(self, key: str) -> list[str]:
        """A list of strings, none empty. Raises FormatError."""
        strings: list[str] = []
        for index, value in enumerate(self.items(key)):
            if not isinstance(value, str) or not value:
                raise self._item(key, index, value, "a string that is not empty")
            if unpaired_surrogate(value):
                raise self._item(key, index, value, NO_HALVES)
            strings.append(value)
        return strings

    def integers(self, key: str) -> list[int]:
        """A list of whole numbers; true and false are none. Raises FormatError."""
        integers: list[int] = []
        for index, value in enumerate(self.items(key)):
            if type(value) is not int or abs(value) > INTEGER_LIMIT:
                raise self._item(key, index, value, whole_number(value))
            integers.append(value)
        return integers

    def objects(self, key: str, wanted: Sequence[str], *optional: str) -> list["Fields"]:
        """A list of objects with exactly the keys `wanted`, and others that some may have.

        Raises FormatError.
        """
        objects = []
        for index, value in enumerate(self.items(key)):
            if not isinstance(value, dict):
                raise self._item(key, index, value, "an object")
            inner = Fields(self.source, self.line, value, f"{self.path}{key}[{index}].")
            inner.expect_keys((*wanted, *(one for one in optional if one in value)))
            objects.append(inner)
        return objects

    def _item(self, key: str, index: int, value: object, wanted: str) -> FormatError:
        return self.source.error(
            self.line,
            f'key "{self.path}{key}": item {index} is {shown(value)}, wanted {wanted}',
        )

    # --- what `nfh` and `gold` share ------------------------------------------------------

    def speakers(self, key: str = "speakers") -> tuple[list[str | None], bool]:
        """One speaker or null a token, and whether a NaN stood for a null.

        Raises FormatError for anything else.
        """
        speakers: list[str | None] = []
        had_nan = False
        for index, value in enumerate(self.items(key)):
            if value is None or value is NAN:
                had_nan = had_nan or value is NAN
                speakers.append(None)
            elif not isinstance(value, str):
                raise self._item(key, index, value, "a string or null")
            elif unpaired_surrogate(value):
                raise self._item(key, index, value, NO_HALVES)
            else:
                speakers.append(value)
        return speakers, had_nan

    def same_length(self, key: str, count: int) -> None:
        """Raise FormatError unless the list has one item for each of `count` tokens."""
        length = len(self.items(key))
        if length != count:
            raise self.source.error(
                self.line,
                f'key "{key}": found {length} items, wanted {count}, as many as tokens',
            )

    def turn_numbers(self) -> list[int]:
        """Turn numbers that never fall. Raises FormatError."""
        key = "line_indices"
        numbers = self.integers(key)
        for index, (before, number) in enumerate(pairwise(numbers), 1):
            if number < before:
                raise self._item(key, index, number, f"at least {before}, as before it")
        return numbers

    def anchor(self, token_count: int, key: str = "anchors_indices") -> Anchor:
        """The anchor of a list of all its token indices. Raises FormatError."""
        indices = self.integers(key)
        if not indices:
            raise self.refuse(key, "at least one token index")
        if not (min(indices) >= 0 and max(indices) < token_count):
            raise self.refuse(key, f"token indices from 0 to {token_count - 1}")
        if indices != list(range(indices[0], indices[0] + len(indices))):
            raise self.refuse(key, "ascending indices without a gap")
        return Anchor(indices[0], indices[-1] + 1)


# The checks of `nfh_models.domain.Passage`, without an object for each token. If they fail,
# Passage raises the error.


def sound_digest(raw: RawPassage) -> str:
    """The digest of the passage that `raw` makes. Raises PassageError if it makes none."""
    if not (tokens_fit(raw.text, raw.starts, raw.ends) and turns_fit(raw.turns, raw.starts)):
        tokens = tuple(map(Token, raw.starts, raw.ends, repeat("")))
        return Passage(raw.text, tokens, raw.turns).digest
    packed = array("I", bytes(8 * len(raw.starts)))
    packed[::2] = array("I", raw.starts)
    packed[1::2] = array("I", raw.ends)
    if sys.byteorder == "big":
        packed.byteswap()
    return passage_digest(raw.text, packed.tobytes(), raw.turns)


def tokens_fit(text: str, starts: Sequence[int], ends: Sequence[int]) -> bool:
    """True if tokens are not empty, do not overlap, and are in the order of the text, inside
    it.
    """
    if not starts or len(starts) != len(ends):
        return not starts and not ends
    return (
        starts[0] >= 0
        and ends[-1] <= len(text)
        and all(map(lt, starts, ends))
        and all(map(le, ends, islice(starts, 1, None)))
    )


def turns_fit(turns: Sequence[Turn], tokens: Sequence[object]) -> bool:
    """True if turns contain all tokens in order, none is empty, and their numbers never
    fall.
    """
    place = 0
    number: int | None = None
    for turn in turns:
        if turn.start != place or turn.end <= place:
            return False
        if number is not None and turn.number < number:
            return False
        place, number = turn.end, turn.number
    return place == len(tokens)
