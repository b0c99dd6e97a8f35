"""What one token says as a number: the words, the digits, and nothing about its neighbours.

A token is read into parts: "three" is one part, "twenty-four" and "fortytwo" are two, and
"apple" is none. The parts of one token are joined by hyphens, written or left out.

Digits are Unicode decimal digits of any script (Arabic-Indic, Devanagari, full-width):
Python reads their value. Characters that stand for a number without being decimal digits
(Roman numerals, circled and superscript digits, Chinese numerals, a lone fraction sign) are
none, as in the release.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

CACHE_SIZE = 1 << 16
LONGEST = 256
"""A token of more characters is nobody's number, and is not looked into."""


class Shape(StrEnum):
    """How a part may combine with the parts beside it."""

    ZERO = "zero"
    UNIT = "unit"
    TEEN = "teen"
    TENS = "tens"
    HUNDRED = "hundred"
    SCALE = "scale"
    DIGITS = "digits"
    FRACTION = "fraction"
    CODE = "code"
    AND = "and"
    POINT = "point"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a number. value: 0 where there is none, as in a code.

    plain: the digits, where the token was nothing else, as in a telephone number.
    """

    shape: Shape
    value: float = 0.0
    plain: str = ""


SAID = frozenset({Shape.ZERO, Shape.UNIT, Shape.TEEN, Shape.TENS})
"""Words below a hundred: what digits, clock times and years are said with."""

HYPHENS = frozenset("-\u2010\u2011\u2013")
"""Hyphen-minus, hyphen, non-breaking hyphen and en dash: what joins the parts of a number."""

AND = Part(Shape.AND)
POINT = Part(Shape.POINT)
OH = Part(Shape.ZERO)
OH_WORDS = frozenset({"oh", "o"})

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "quadrillion": 1e15,
    "quintillion": 1e18,
    "sextillion": 1e21,
    "septillion": 1e24,
}
_UNBOUNDED = "zillion gazillion bazillion gajillion jillion kajillion squillion".split()
_SPELLINGS = {
    "niner": Part(Shape.UNIT, 9.0),
    "fourty": Part(Shape.TENS, 40.0),
    "ninty": Part(Shape.TENS, 90.0),
    "eleventy": Part(Shape.TENS, 110.0),
}


def _number_words() -> dict[str, tuple[Part, ...]]:
    words = {name: Part(Shape.ZERO) for name in ("zero", "nil", "nought")}
    words |= {name: Part(Shape.UNIT, float(i)) for i, name in enumerate(_UNITS, 1)}
    words |= {name: Part(Shape.TEEN, float(i)) for i, name in enumerate(_TEENS, 10)}
    words |= {name: Part(Shape.TENS, 10.0 * i) for i, name in enumerate(_TENS, 2)}
    words |= {name: Part(Shape.SCALE, value) for name, value in _SCALES.items()}
    words |= {name: Part(Shape.SCALE, 1e30) for name in _UNBOUNDED}
    words |= _SPELLINGS
    words["hundred"] = Part(Shape.HUNDRED, 100.0)
    read = {name: (part,) for name, part in words.items()}
    return read | _run_together(words)


def _run_together(words: dict[str, Part]) -> dict[str, tuple[Part, ...]]:
    """Numbers written without the space or hyphen: "fortytwo", "onehundred"."""
    small = [*_UNITS, *_TEENS, *_TENS]
    pairs = [(tens, unit) for tens in (*_TENS, "fourty") for unit in _UNITS]
    pairs += [(name, scale) for name in small for scale in ("hundred", *_SCALES)]
    return {left + right: (words[left], words[right]) for left, right in pairs}


_WORDS = _number_words()

_ORDINAL_UNITS = "first second third fourth fifth sixth seventh eighth ninth".split()
_ORDINAL_ROUND = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
    "nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
).split()
POWER_ORDINALS = frozenset({"hundredth", *(name + "th" for name in _SCALES)})
ORDINALS = frozenset({*_ORDINAL_UNITS, *_ORDINAL_ROUND}) | POWER_ORDINALS
ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})

_ORDINAL_DIGITS = re.compile(r"\d[\d,.]*(?:st|nd|rd|th)")
_AMOUNT = re.compile(
    r"(?P<sign>[+\-\u2212~\u00b1]?[$\u00a3\u20ac\u00a5]?)"
    r"(?P<number>\d+(?:,\d+)*(?:\.\d+)?|\.\d+)"
    r"(?P<tail>[%$\u00a3\u20ac\u00a5]|k|m|mm|mn|bn)?"
    r"\.?"  # left on the token where the tokenizer does not know the character before it
)
_FACTORS = {"k": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "bn": 1e9}
_FRACTION = re.compile(r"(\d+)/(\d+)")
_MIXED = re.compile(r"(\d+)[ \u00a0]\d+/\d+|(\d+)[\u00bc-\u00be\u2150-\u215e]")
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 16})
_GROUPED = re.compile(r"\d+(?:[ \u00a0]\d+)+")
_CODES = re.compile(
    r"\d+(?:[./,]\d+)+"  # 9/11, 24/7, 13.2.74, 1,2,4,7,11
    r"|\d{1,2}(?:[ap]m|[ap]\.m\.?)"  # 7AM as one token
    r"|'\d\d"  # '64 as one token
)
_HEIGHT = re.compile(r"[1-9]'(?:\d|1[01])(?:\"|''|\u2033)?")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2032": "'"})


def is_hyphen(word: str) -> bool:
    """Whether a token is a single hyphen that can join numbers."""
    return word in HYPHENS


def is_ordinal(word: str) -> bool:
    """Whether a token is an ordinal: "4th", "third", "twenty-first"."""
    low = word.lower()
    if low in ORDINALS or _ORDINAL_DIGITS.fullmatch(low) is not None:
        return True
    pieces = _hyphen_pieces(low)
    return len(pieces) > 1 and pieces[-1] in ORDINALS


def is_round_ordinal(word: str) -> bool:
    """Whether an ordinal stands at the end of a larger one: "(one hundred) twentieth"."""
    return is_ordinal(word) and word.lower() not in _ORDINAL_UNITS


def parts_of(word: str) -> tuple[Part, ...]:
    """The number parts of one token, in order; empty if the token is no number."""
    return _read(word) if len(word) <= LONGEST else ()


@lru_cache(maxsize=CACHE_SIZE)
def _read(word: str) -> tuple[Part, ...]:
    low = word.lower().translate(_APOSTROPHES)
    known = _WORDS.get(low)
    if known is not None:
        return known
    part = _digits(low)
    if part is not None:
        return (part,)
    return _hyphened(low)


def _digits(low: str) -> Part | None:
    if not any(letter.isdecimal() for letter in low):
        return None
    amount = _AMOUNT.fullmatch(low)
    if amount is not None:
        return _amount(low, amount)
    return _fraction(low) or _code(low)


def _amount(low: str, amount: re.Match[str]) -> Part:
    value = float(amount["number"].replace(",", ""))
    factor = _FACTORS.get(amount["tail"] or "", 1.0)
    return Part(Shape.DIGITS, value * factor, low if low.isdecimal() else "")


def _fraction(low: str) -> Part | None:
    fraction = _FRACTION.fullmatch(low)
    if fraction is not None and int(fraction[2][:3]) in _DENOMINATORS:
        return Part(Shape.FRACTION)
    mixed = _MIXED.fullmatch(low)
    if mixed is not None:
        return Part(Shape.DIGITS, float(mixed[1] or mixed[2]) + 0.5)
    return None


def _code(low: str) -> Part | None:
    if _GROUPED.fullmatch(low) is not None:
        return Part(Shape.DIGITS, plain="".join(low.split()))
    if _CODES.fullmatch(low) is None and _HEIGHT.fullmatch(low) is None:
        return None
    return Part(Shape.CODE)


def _hyphen_pieces(low: str) -> list[str]:
    for hyphen in HYPHENS - {"-"}:
        low = low.replace(hyphen, "-")
    return low.split("-")


def _hyphened(low: str) -> tuple[Part, ...]:
    """Parts of "twenty-four", "7-7-3", "one-hundred-and-five"; none if one piece is none."""
    pieces = _hyphen_pieces(low)
    if len(pieces) < 2:
        return ()
    if pieces[-3:] == ["and", "a", "half"]:  # the half is in the token: it cannot stay outside
        del pieces[-3:]
    parts: list[Part] = []
    for piece in pieces:
        found = _piece(piece)
        if not found:
            return ()
        parts.extend(found)
    return tuple(parts) if _is_number(parts[0]) and _is_number(parts[-1]) else ()


def _piece(piece: str) -> tuple[Part, ...]:
    if piece == "and":
        return (AND,)
    if piece == "point":
        return (POINT,)
    if piece in OH_WORDS:
        return (OH,)
    known = _WORDS.get(piece)
    if known is not None:
        return known
    part = _digits(piece)
    return () if part is None else (part,)


def _is_number(part: Part) -> bool:
    return part.shape not in (Shape.AND, Shape.POINT)
