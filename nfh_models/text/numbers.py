"""The number grammar: which tokens are candidate anchors, and what each says as a number.

A candidate is every number that an annotator could judge, with or without a noun of its own:
"one" in "no one", "5" in "$5", "99" in "99%", "two" in "two dozen". Excluded are ordinals,
clock times with a colon, plural nouns (ones, thousands, 90s), words that are numbers only in
part (B-52, two-bedroom, twenty-year-old), Roman numerals, *dozen* and *half*.

Commas, dots and the words or, to, and (but for the inner *and* of "a hundred and five")
separate numbers. The article of "a hundred" is not part of the anchor, nor is the half of "two
and a half".

A token is read into parts (`NumberPart`), adjacent parts form a run of `Atom`s, a run is cut
into grammatical numbers (`Cardinal`), and cardinals that belong together (a telephone number, a
year) form one anchor.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import groupby

# --- the parts of one token -------------------------------------------------------------------
#
# "three" is one part, "twenty-four" and "fortytwo" are two, and "apple" is none. The parts of
# one token are joined by hyphens, written or left out.
#
# Digits are Unicode decimal digits of any script (Arabic-Indic, Devanagari, full-width): Python
# reads their value. Characters that stand for a number without being decimal digits (Roman
# numerals, circled and superscript digits, Chinese numerals, a lone fraction sign) are not
# read, as in the release.

CACHE_SIZE = 1 << 16
LONGEST = 256
"""Longer tokens are not read as numbers."""


class Shape(StrEnum):
    """How a part combines with its neighbours."""

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
class NumberPart:
    """A part of a number."""

    shape: Shape
    value: float = 0.0
    """0 where there is none, as in a code."""
    plain: str = ""
    """The digits of a token that is nothing else, as in a telephone number."""


SAID = frozenset({Shape.ZERO, Shape.UNIT, Shape.TEEN, Shape.TENS})
"""Words below a hundred: spoken digits, clock times and years consist of them."""

HYPHENS = frozenset("-\u2010\u2011\u2013")
"""Hyphen-minus, hyphen, non-breaking hyphen and en dash: they join the parts of a number."""

AND = NumberPart(Shape.AND)
POINT = NumberPart(Shape.POINT)
OH = NumberPart(Shape.ZERO)
OH_WORDS = frozenset({"oh", "o"})

_ZEROS = ("zero", "nil", "nought")
_UNIT_WORDS = "one two three four five six seven eight nine".split()
_TEENS = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALE_VALUES = {
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
    "niner": NumberPart(Shape.UNIT, 9.0),
    "fourty": NumberPart(Shape.TENS, 40.0),
    "ninty": NumberPart(Shape.TENS, 90.0),
    "eleventy": NumberPart(Shape.TENS, 110.0),
}


def _number_words() -> dict[str, tuple[NumberPart, ...]]:
    words = {name: NumberPart(Shape.ZERO) for name in _ZEROS}
    words |= {name: NumberPart(Shape.UNIT, float(i)) for i, name in enumerate(_UNIT_WORDS, 1)}
    words |= {name: NumberPart(Shape.TEEN, float(i)) for i, name in enumerate(_TEENS, 10)}
    words |= {name: NumberPart(Shape.TENS, 10.0 * i) for i, name in enumerate(_TENS, 2)}
    words |= {name: NumberPart(Shape.SCALE, value) for name, value in _SCALE_VALUES.items()}
    words |= {name: NumberPart(Shape.SCALE, 1e30) for name in _UNBOUNDED}
    words |= _SPELLINGS
    words["hundred"] = NumberPart(Shape.HUNDRED, 100.0)
    read = {name: (part,) for name, part in words.items()}
    return read | _run_together(words)


def _run_together(words: dict[str, NumberPart]) -> dict[str, tuple[NumberPart, ...]]:
    """Numbers written without space or hyphen: "fortytwo", "onehundred"."""
    small = [*_UNIT_WORDS, *_TEENS, *_TENS]
    pairs = [(tens, unit) for tens in (*_TENS, "fourty") for unit in _UNIT_WORDS]
    pairs += [(name, scale) for name in small for scale in ("hundred", *_SCALE_VALUES)]
    return {left + right: (words[left], words[right]) for left, right in pairs}


_WORDS = _number_words()

_ORDINAL_UNITS = "first second third fourth fifth sixth seventh eighth ninth".split()
_ORDINAL_ROUND = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
    "nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
).split()
POWER_ORDINALS = frozenset({"hundredth", *(name + "th" for name in _SCALE_VALUES)})
ORDINALS = frozenset({*_ORDINAL_UNITS, *_ORDINAL_ROUND}) | POWER_ORDINALS
ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})

_ORDINAL_DIGITS = re.compile(r"\d[\d,.]*(?:st|nd|rd|th)")
_AMOUNT = re.compile(
    r"(?P<sign>[+\-\u2212~\u00b1]?[$\u00a3\u20ac\u00a5]?)"
    r"(?P<number>\d+(?:,\d+)*(?:\.\d+)?|\.\d+)"
    r"(?P<tail>[%$\u00a3\u20ac\u00a5]|k|m|mm|mn|bn)?"
    r"\.?"  # left on the token where the tokenizer does not know the character before it
)
_SUFFIX_FACTORS = {"k": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "bn": 1e9}
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
_PLAIN_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2032": "'"})


def value_of(parts: Sequence[NumberPart]) -> float | None:
    """The value of consecutive number parts: 205.0 for two, hundred, and, five.

    None where they are no single number: "seven thirty", codes, no parts at all.
    """
    total = current = 0.0
    room = float("inf")
    for part in parts:
        if part.shape is Shape.AND:
            continue
        if part.shape in (Shape.CODE, Shape.POINT):
            return None
        if part.shape is Shape.SCALE:
            total += max(current, 1.0) * part.value
            current, room = 0.0, part.value
        elif part.shape is Shape.HUNDRED:
            current = max(current, 1.0) * part.value
            room = 100.0
        elif part.value < room:
            current += part.value
            room = 10.0 if part.shape is Shape.TENS else 1.0
            if part.shape is Shape.FRACTION:
                room = 0.0
        else:
            return None
    return total + current if parts else None


def is_ordinal(word: str) -> bool:
    """Whether a token is an ordinal: "4th", "third", "twenty-first"."""
    low = word.lower()
    if low in ORDINALS or _ORDINAL_DIGITS.fullmatch(low) is not None:
        return True
    pieces = _hyphen_pieces(low)
    return len(pieces) > 1 and pieces[-1] in ORDINALS


def is_round_ordinal(word: str) -> bool:
    """Whether an ordinal can end a larger one: "(one hundred) twentieth"."""
    return is_ordinal(word) and word.lower() not in _ORDINAL_UNITS


def parts_of(word: str) -> tuple[NumberPart, ...]:
    """The number parts of a token, in order; empty if the token is no number."""
    return _read(word) if len(word) <= LONGEST else ()


@lru_cache(maxsize=CACHE_SIZE)
def _read(word: str) -> tuple[NumberPart, ...]:
    low = word.lower().translate(_PLAIN_APOSTROPHES)
    known = _WORDS.get(low)
    if known is not None:
        return known
    part = _digits(low)
    if part is not None:
        return (part,)
    return _hyphened(low)


def _digits(low: str) -> NumberPart | None:
    if not any(letter.isdecimal() for letter in low):
        return None
    amount = _AMOUNT.fullmatch(low)
    if amount is None:
        return _fraction(low) or _code(low)
    value = float(amount["number"].replace(",", ""))
    factor = _SUFFIX_FACTORS.get(amount["tail"] or "", 1.0)
    return NumberPart(Shape.DIGITS, value * factor, low if low.isdecimal() else "")


def _fraction(low: str) -> NumberPart | None:
    fraction = _FRACTION.fullmatch(low)
    if fraction is not None and int(fraction[2][:3]) in _DENOMINATORS:
        return NumberPart(Shape.FRACTION)
    mixed = _MIXED.fullmatch(low)
    if mixed is not None:
        return NumberPart(Shape.DIGITS, float(mixed[1] or mixed[2]) + 0.5)
    return None


def _code(low: str) -> NumberPart | None:
    if _GROUPED.fullmatch(low) is not None:
        return NumberPart(Shape.DIGITS, plain="".join(low.split()))
    if _CODES.fullmatch(low) is None and _HEIGHT.fullmatch(low) is None:
        return None
    return NumberPart(Shape.CODE)


def _hyphen_pieces(low: str) -> list[str]:
    for hyphen in HYPHENS - {"-"}:
        low = low.replace(hyphen, "-")
    return low.split("-")


def _hyphened(low: str) -> tuple[NumberPart, ...]:
    """The parts of "twenty-four", "7-7-3", "one-hundred-and-five"; none if any piece is no
    number.
    """
    pieces = _hyphen_pieces(low)
    if len(pieces) < 2:
        return ()
    if pieces[-3:] == ["and", "a", "half"]:  # the half is in the token: it cannot stay outside
        del pieces[-3:]
    parts: list[NumberPart] = []
    for piece in pieces:
        found = _piece(piece)
        if not found:
            return ()
        parts.extend(found)
    return tuple(parts) if _is_number(parts[0]) and _is_number(parts[-1]) else ()


def _piece(piece: str) -> tuple[NumberPart, ...]:
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


def _is_number(part: NumberPart) -> bool:
    return part.shape not in (Shape.AND, Shape.POINT)


# --- prefilter --------------------------------------------------------------------------------
#
# A quick search for text that may hold a number, so that most sentences are never tokenized. It
# may pass text without a number (an ordinal in digits, a clock time) but never rejects text in
# which the number grammar finds something: a token is a number only if it has a decimal digit,
# is a number word, or is a chain of those and *oh* joined by hyphens, and the tokenizer never
# separates two letters of the English alphabet, except at terminal escape sequences, which end
# with a letter.

_SMALL = [*_UNIT_WORDS, *_TEENS, *_TENS, *_SPELLINGS]
_SCALES = ["hundred", *_SCALE_VALUES, *_UNBOUNDED]
_OH_CHAIN = "[oO][hH]?[-\u2010\u2011\u2013]"
"""How a chain without a number word begins: "oh-oh" in one token."""

_KELVIN = "\u212a"
"""The only character besides K whose lower-case letter is k."""


def may_hold_number(text: str) -> bool:
    """False only where `find_numbers` finds nothing in the tokens of `text`."""
    return _DIGIT.search(text) is not None or _word().search(f" {text}") is not None


_DIGIT = re.compile(r"[\d\x1b\x9b]")
"""A digit, or the begin of a terminal escape sequence."""


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """A number word with the character before it, which is no letter.

    The pattern begins with that character in place of a look-behind, and each alternative with
    the two cases of a letter: the search then skips other text several times as fast.
    """
    behind = "|".join([*_UNIT_WORDS, *_SCALES])  # as in "fortytwo" and "onehundred"
    words = f"(?:{_by_letter(_SMALL)})(?i:{behind})?|{_by_letter([*_SCALES, *_ZEROS])}"
    return re.compile(f"[^a-zA-Z](?:(?:{words})(?![a-zA-Z])|{_OH_CHAIN})")


def _by_letter(words: list[str]) -> str:
    letters = sorted({word[0] for word in words})
    return "|".join(
        f"[{letter}{letter.upper()}{_KELVIN if letter == 'k' else ''}]"
        f"(?i:{'|'.join(word[1:] for word in words if word[0] == letter)})"
        for letter in letters
    )


_BEFORE_AND = frozenset({Shape.HUNDRED, Shape.SCALE, Shape.DIGITS})
_BEFORE_POINT = SAID | {Shape.HUNDRED, Shape.SCALE}
_AFTER_OH = frozenset({Shape.ZERO, Shape.UNIT})


@dataclass(frozen=True, slots=True)
class TokenLine:
    """Tokens, and whether white space stands between them. Places outside the line hold no
    word.
    """

    words: Sequence[str]
    glued: Sequence[bool] | None

    def low(self, place: int) -> str:
        return self.words[place].lower() if self._has(place) else ""

    def parts(self, place: int) -> tuple[NumberPart, ...]:
        return parts_of(self.words[place]) if self._has(place) else ()

    def hyphen(self, place: int) -> bool:
        return self._has(place) and self.words[place] in HYPHENS

    def touches(self, place: int) -> bool | None:
        """Whether token `place` has no white space before it; None if unknown."""
        if self.glued is None:
            return None
        return 0 < place < len(self.words) and bool(self.glued[place])

    def tight(self, place: int) -> bool | None:
        """Whether no white space stands on either side of token `place`; None if unknown."""
        if self.glued is None:
            return None
        return bool(self.touches(place) and self.touches(place + 1))

    def joint(self, place: int) -> bool:
        """Whether token `place` is a hyphen that may join: not known to be a dash."""
        return self.hyphen(place) and self.tight(place) is not False

    def _has(self, place: int) -> bool:
        return 0 <= place < len(self.words)


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a number, or a link word between two of them, at tokens [start, end)."""

    part: NumberPart
    start: int
    end: int
    hyphen: bool
    """Joined by a hyphen to the atom before."""


def read_run(line: TokenLine, place: int) -> list[Atom]:
    """The run that begins with the number at token `place`; it ends with a number."""
    run = _atoms(line, place, hyphen=False)
    while following := (
        _behind_hyphen(line, run[-1])
        or _behind_link(line, run[-1])
        or _atoms(line, run[-1].end, hyphen=False)
    ):
        run.extend(following)
    return run


def _atoms(line: TokenLine, place: int, *, hyphen: bool) -> list[Atom]:
    return [
        Atom(part, place, place + 1, hyphen or i > 0)
        for i, part in enumerate(line.parts(place))
    ]


def _behind_hyphen(line: TokenLine, last: Atom) -> list[Atom]:
    """The number after a hyphen. A hyphen with a space beside it joins only tens and units."""
    if not line.hyphen(last.end):
        return []
    atoms = _atoms(line, last.end + 1, hyphen=True)
    if not atoms or line.joint(last.end):
        return atoms
    compound = last.part.shape is Shape.TENS and atoms[0].part.shape is Shape.UNIT
    return atoms if compound else []


def _behind_link(line: TokenLine, last: Atom) -> list[Atom]:
    """ "and", "point" or "oh" with the number after it, all with hyphens between or all
    without.
    """
    place = last.end
    hyphen = line.joint(place)
    link = place + hyphen
    part = _link(line.low(link), last.part.shape)
    after = link + 1
    if part is None or line.joint(after) is not hyphen:
        return []
    atoms = _atoms(line, after + hyphen, hyphen=hyphen)
    if not atoms or not _may_join(last.part.shape, part, atoms[0].part.shape):
        return []
    return [Atom(part, link, link + 1, hyphen), *atoms]


def _link(word: str, before: Shape) -> NumberPart | None:
    if word in ("and", "&") and before in _BEFORE_AND:
        return AND
    if word == "point" and before in _BEFORE_POINT:
        return POINT
    if word in OH_WORDS and before in SAID:
        return OH
    return None


def _may_join(before: Shape, link: NumberPart, after: Shape) -> bool:
    if link is AND:
        return before is not Shape.DIGITS or after is Shape.FRACTION
    return after in (_AFTER_OH if link is OH else SAID)


# --- cardinals: what English grammar allows as one number -------------------------------------
#
# "two hundred and five" is one, "two, five" is two.

_LINKS = frozenset({Shape.AND, Shape.POINT})


@dataclass(frozen=True, slots=True)
class Cardinal:
    """Atoms [start, end) that form one number."""

    start: int
    end: int
    link: Shape | None
    """AND or POINT before it, if any."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A number up to its scales: "two hundred", "five million", "forty"."""

    end: int
    value: float
    limit: float
    """What may follow is smaller; 0.0 if nothing may."""
    bare: bool


def cardinals(atoms: Sequence[Atom], between: bool) -> list[Cardinal]:
    """Cut a run of atoms into numbers, each as long as grammar allows.

    between: the run stands after the word *between*, so that the first *and* separates two
    numbers and is not the inner one of a number.
    """
    found: list[Cardinal] = []
    place = 0
    while place < len(atoms):
        link = None
        if atoms[place].part.shape in _LINKS:
            link = atoms[place].part.shape
            place += 1
        end = _cardinal(atoms, place, with_and=True)
        if between and not found and _shape(atoms, end) is not Shape.AND:
            end = _cardinal(atoms, place, with_and=False)
        found.append(Cardinal(place, end, link))
        place = end
    return found


def _shape(atoms: Sequence[Atom], place: int) -> Shape | None:
    return atoms[place].part.shape if place < len(atoms) else None


def _cardinal(atoms: Sequence[Atom], place: int, *, with_and: bool) -> int:
    term = _term(atoms, place, with_and)
    if term is None:  # a code or a fraction: a number by itself
        return place + 1
    limit, end = term.limit, term.end
    while limit:
        start = end
        if with_and and _shape(atoms, start) is Shape.AND:
            start += 1
        following = _term(atoms, start, with_and)
        if following is None or following.bare or not 0 < following.value < limit:
            break
        limit, end = following.limit, following.end
    return end


def _term(atoms: Sequence[Atom], place: int, with_and: bool) -> _Term | None:
    shape = _shape(atoms, place)
    if shape in (Shape.SCALE, Shape.HUNDRED):
        end, value, bare = place, 1.0, True
    else:
        head = _below_hundred(atoms, place) or _figures(atoms, place)
        if head is None:
            return None
        (end, value), bare = head, False
    if value > 0 and _shape(atoms, end) is Shape.HUNDRED:
        end, value = _hundreds(atoms, end + 1, value * 100, with_and)
    return _scaled(atoms, end, value, bare)


def _scaled(atoms: Sequence[Atom], end: int, value: float, bare: bool) -> _Term:
    limit = 0.0
    while value > 0 and _shape(atoms, end) is Shape.SCALE:
        limit = atoms[end].part.value
        value *= limit
        end += 1
    return _Term(end, value, limit, bare)


def _hundreds(
    atoms: Sequence[Atom], place: int, value: float, with_and: bool
) -> tuple[int, float]:
    """What follows *hundred*: "five", "and five"; but not "and two" of "and two hundred"."""
    start = place
    if with_and and _shape(atoms, start) is Shape.AND:
        start += 1
    tail = _below_hundred(atoms, start) or _figures(atoms, start)
    if tail is None or not 0 < tail[1] < 100 or _shape(atoms, tail[0]) is Shape.HUNDRED:
        return place, value
    return tail[0], value + tail[1]


def _below_hundred(atoms: Sequence[Atom], place: int) -> tuple[int, float] | None:
    """End and value of a number in words below a hundred."""
    shape = _shape(atoms, place)
    if shape not in SAID:
        return None
    value = atoms[place].part.value
    if shape is Shape.TENS and _shape(atoms, place + 1) is Shape.UNIT:
        return place + 2, value + atoms[place + 1].part.value
    return place + 1, value


def _figures(atoms: Sequence[Atom], place: int) -> tuple[int, float] | None:
    """End and value of a number in digits, with its fraction: "2 1/2", "3 and 1/2"."""
    if _shape(atoms, place) is not Shape.DIGITS:
        return None
    value = atoms[place].part.value
    end = place + 1
    after = end + (_shape(atoms, end) is Shape.AND)
    if _shape(atoms, after) is Shape.FRACTION and not atoms[after].hyphen:
        return after + 1, value + 0.5
    return end, value


# --- series: several cardinals that are one anchor --------------------------------------------
#
# Digit by digit ("nine one one"), a time ("ten thirty"), a year ("nineteen ninety-five"), a
# decimal ("two point five"), a chain with hyphens ("7-7-3", "ten-four"), digits in groups
# ("18 000", "0118 999 881").

_POINTERS = frozenset(
    "the this that these those which no any every each another other last next first only new "
    "right wrong same".split()
)
"""Before "one": it stands for a noun, and a number after it is another one."""

_PRONOUNS = frozenset("you us them we these those".split())
"""Before any number: "you two" is complete, and a number after it is another one."""

_BEHIND_ONE = frozenset("of at who that more another".split())
"""After a second number "one" these begin a new phrase: "you marry seven | one at a time"."""

Group = list[Cardinal]


def series(line: TokenLine, atoms: Sequence[Atom], numbers: Sequence[Cardinal]) -> list[Group]:
    """The cardinals of a run in groups, each group one anchor."""
    groups: list[Group] = []
    for number in numbers:
        if groups and _joins(line, atoms, groups[-1], number):
            groups[-1].append(number)
        else:
            groups.append([number])
    return _join_figures(atoms, groups)


def _joins(line: TokenLine, atoms: Sequence[Atom], group: Group, number: Cardinal) -> bool:
    last, first = atoms[group[-1].end - 1], atoms[number.start]
    if last.start == first.start:  # parts of one token are never torn apart
        return True
    if number.link is not None:  # "at one point" is a time
        return number.link is Shape.POINT and line.low(atoms[group[0].start].start - 1) != "at"
    if first.hyphen:
        return True
    spoken = _is_said(atoms, group[-1]) and _is_said(atoms, number)
    alone = _stands_alone(line, atoms, group) or _begins_anew(line, atoms, group, number)
    return spoken and not alone


def _is_said(atoms: Sequence[Atom], number: Cardinal) -> bool:
    return all(atom.part.shape in SAID for atom in atoms[number.start : number.end])


def _stands_alone(line: TokenLine, atoms: Sequence[Atom], group: Group) -> bool:
    """Whether a group is a pronoun and no digit: "the one | two weeks ago"."""
    if len(group) > 1 or group[0].end - group[0].start > 1:
        return False
    atom = atoms[group[0].start]
    before = line.low(atom.start - 1)
    return before in _PRONOUNS or (before in _POINTERS and line.low(atom.start) == "one")


def _begins_anew(
    line: TokenLine, atoms: Sequence[Atom], group: Group, number: Cardinal
) -> bool:
    if len(group) > 1 or number.end - number.start > 1:
        return False
    atom = atoms[number.start]
    return line.low(atom.start) == "one" and line.low(atom.end) in _BEHIND_ONE


def _join_figures(atoms: Sequence[Atom], groups: list[Group]) -> list[Group]:
    """Join neighbours that are plain digits and form one number in groups."""
    joined: list[Group] = []
    for plain, neighbours in groupby(groups, key=lambda group: bool(_plain(atoms, group))):
        members = list(neighbours)
        if plain and _is_grouped([_plain(atoms, group) for group in members]):
            joined.append([number for group in members for number in group])
        else:
            joined.extend(members)
    return joined


def _plain(atoms: Sequence[Atom], group: Group) -> str:
    if len(group) > 1 or group[0].end - group[0].start > 1:
        return ""
    return atoms[group[0].start].part.plain


def _is_grouped(figures: Sequence[str]) -> bool:
    """Thousands ("18 000"), a telephone number ("555 1234"), or three or more groups."""
    if len(figures) == 2:
        left, right = figures
        return (len(left) <= 3 and right == "000") or (len(left), len(right)) == (3, 4)
    return len(figures) > 2


Span = tuple[int, int]

_APOSTROPHES = frozenset("'\u2019\u2032")
_FACTORS = frozenset({"k", "bn"})
_GLUED_FACTORS = frozenset({"m", "mm", "mn"})
_DASHED = frozenset(
    "i you he she it we they me him us them my your his her its our their the that this these "
    "those there here and or but so if because since while though not yes yeah well is are was "
    "were do did does can could will would have has had what who when where why how which as "
    "at in on of for to from with by".split()
)
"""Words beside a hyphen that show it to be a dash: "that one-you know". Between two hyphens
they do not: "one-on-one".
"""


def find_numbers(words: Sequence[str], glued: Sequence[bool] | None = None) -> list[Span]:
    """Token spans [start, end) of the candidate anchors, in order, not overlapping.

    words: the tokens of one turn, since no number goes beyond a turn. glued[i]: no white space
    before token i; None if unknown, as in the release's files, where all tokens stand between
    spaces.
    """
    line = TokenLine(words, glued)
    spans: list[Span] = []
    place = 0
    while place < len(words):
        if parts_of(words[place]):
            place = _read_numbers(line, place, spans)
        else:
            place += 1
    return spans


def _read_numbers(line: TokenLine, place: int, spans: list[Span]) -> int:
    """Append the numbers of the run that begins at `place`; returns the place after it."""
    if _is_height(line, place) or _is_torn_thousand(line, place):
        spans.append((place, place + 3))
        return place + 3
    if _is_clock(line, place):
        return place + 3
    run = read_run(line, place)
    end = run[-1].end
    between = _follows_between(line, place) and line.low(end) != "and"
    numbers = cardinals(run, between=between)
    for group in series(line, run, numbers):
        span = _with_factor(line, run, group)
        end = max(end, span[1])
        if not _is_ordinal(line, run, group) and not _is_part_of_word(line, span):
            spans.append(span)
    return end


def _is_height(line: TokenLine, place: int) -> bool:
    """Feet and inches in three tokens, 6 ' 5: feet 1 to 9, inches 0 to 11; not 6 '05."""
    feet, mark, inches = (line.low(place + i) for i in range(3))
    if mark not in _APOSTROPHES or not (feet.isdecimal() and inches.isdecimal()):
        return False
    opens = line.touches(place + 1) is False and line.touches(place + 2) is True
    small = len(inches) == 1 or (len(inches) == 2 and int(inches) in (10, 11))
    return len(feet) == 1 and int(feet) > 0 and small and not opens


def _is_clock(line: TokenLine, place: int) -> bool:
    """A clock time in three tokens, 10:30; it needs no noun."""
    hour, colon, minutes = (line.low(place + i) for i in range(3))
    if colon != ":" or not (hour.isdecimal() and minutes.isdecimal()):
        return False
    return len(hour) <= 2 and len(minutes) == 2


def _is_torn_thousand(line: TokenLine, place: int) -> bool:
    """75,000 in three tokens, split by a space after the comma."""
    first, comma, rest = (line.low(place + i) for i in range(3))
    return comma == "," and rest == "000" and len(first) <= 3 and first.isdecimal()


def _follows_between(line: TokenLine, place: int) -> bool:
    before = line.low(place - 1)
    return before == "between" or (before == "a" and line.low(place - 2) == "between")


def _with_factor(line: TokenLine, run: Sequence[Atom], group: Group) -> Span:
    """The span of a group, with the K of "10 K" or the m of "1.5m" in a token of its own."""
    last = run[group[-1].end - 1]
    start, end = run[group[0].start].start, last.end
    factor = line.low(end)
    if factor in _FACTORS:
        known = last.part.shape is not Shape.CODE
    else:
        digits = last.part.shape is Shape.DIGITS
        known = factor in _GLUED_FACTORS and digits and line.touches(end) is True
    if known and not line.joint(end + 1) and line.low(end + 1) not in ("'s", "\u2019s"):
        end += 1
    return start, end


# --- what looks like a number and is none ------------------------------------------------


def _is_ordinal(line: TokenLine, run: Sequence[Atom], group: Group) -> bool:
    """Whether a group continues as an ordinal: "40,000 th", "twenty-first", "hundred and
    first".

    Tens before a separate *second* stay: "a thirty second delay" counts seconds.
    """
    last = run[group[-1].end - 1]
    shape, place = last.part.shape, last.end
    if shape is Shape.DIGITS:
        return line.low(place) in ORDINAL_ENDINGS
    hyphen = line.joint(place)
    place += hyphen
    linked = line.low(place) == "and"
    place += linked + (linked and line.joint(place + 1))
    word = line.low(place)
    if not is_ordinal(word):
        return False
    if shape is Shape.TENS:
        return hyphen or (not linked and word != "second")
    round_one = word in POWER_ORDINALS or is_round_ordinal(word)
    if shape in (Shape.HUNDRED, Shape.SCALE):
        return hyphen or linked or round_one
    return word in POWER_ORDINALS and not linked


def _is_part_of_word(line: TokenLine, span: Span) -> bool:
    """Whether a hyphen joins a number to a word that is none: "two-bedroom", "no-one"."""
    start, end = span
    if line.joint(start - 1) and line.low(start - 2) == "no" and line.low(start) == "one":
        return True
    behind = line.hyphen(end) and line.tight(end) is True
    before = line.hyphen(start - 1) and line.tight(start - 1) is True
    return (behind and _makes_word(line, end + 1, 1)) or (
        before and _makes_word(line, start - 2, -1)
    )


def _makes_word(line: TokenLine, place: int, step: int) -> bool:
    """Whether the token after (step 1) or before (-1) a hyphen forms one word with
    the number.
    """
    word = line.low(place)
    if not word or not word[0].isalnum() or line.parts(place):
        return False
    if step > 0 and [line.low(place + i) for i in range(5)][::2] == ["and", "a", "half"]:
        return False
    if word not in _DASHED:
        return True
    return line.hyphen(place + step) and line.tight(place + step) is True
