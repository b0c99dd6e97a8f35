"""The number grammar: where in a row of tokens the candidate anchors are.

A candidate is every number that somebody could judge, with or without a noun of its own:
"one" in "no one", "5" in "$5", "99" in "99%", "two" in "two dozen". What is never judged is
left out: ordinals, clock times with a colon, plural nouns (ones, thousands, 90s), words that
are numbers only in part (B-52, two-bedroom, twenty-year-old), Roman numerals, *dozen*, *half*.

Commas, dots and the words or, to, and (but for the inner *and* of "a hundred and five") part
numbers. The article of "a hundred" stays outside, and so does the half of "two and a half".
"""

from collections.abc import Sequence

from nfh_models.text import lexicon
from nfh_models.text.cardinals import cardinals
from nfh_models.text.lexicon import Shape, parts_of
from nfh_models.text.runs import Atom, Line, read_run
from nfh_models.text.series import Group, series

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
they do not: "one-on-one"."""


def find_numbers(words: Sequence[str], glued: Sequence[bool] | None = None) -> list[Span]:
    """Token spans [start, end) of the candidate anchors, in order, not overlapping.

    words: the tokens of one turn, since a number ends with the turn.
    glued[i]: no white space before token i. None: not known, as in the release's files,
    where every hyphen stands between spaces.
    """
    line = Line(words, glued)
    spans: list[Span] = []
    place = 0
    while place < len(words):
        if parts_of(words[place]):
            place = _read_numbers(line, place, spans)
        else:
            place += 1
    return spans


def _read_numbers(line: Line, place: int, spans: list[Span]) -> int:
    """Add the numbers of the run that starts at `place`; return where to go on."""
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


def _is_height(line: Line, place: int) -> bool:
    """Six foot five as 6 ' 5: feet 1 to 9, inches 0 to 11; not 6 '05."""
    feet, mark, inches = (line.low(place + i) for i in range(3))
    if mark not in _APOSTROPHES or not (feet.isdecimal() and inches.isdecimal()):
        return False
    opens = line.touches(place + 1) is False and line.touches(place + 2) is True
    small = len(inches) == 1 or (len(inches) == 2 and int(inches) in (10, 11))
    return len(feet) == 1 and int(feet) > 0 and small and not opens


def _is_clock(line: Line, place: int) -> bool:
    """10:30 in three tokens: a time that says so itself."""
    hour, colon, minutes = (line.low(place + i) for i in range(3))
    if colon != ":" or not (hour.isdecimal() and minutes.isdecimal()):
        return False
    return len(hour) <= 2 and len(minutes) == 2


def _is_torn_thousand(line: Line, place: int) -> bool:
    """75,000 in three tokens, as a space behind the comma leaves it."""
    first, comma, rest = (line.low(place + i) for i in range(3))
    return comma == "," and rest == "000" and len(first) <= 3 and first.isdecimal()


def _follows_between(line: Line, place: int) -> bool:
    before = line.low(place - 1)
    return before == "between" or (before == "a" and line.low(place - 2) == "between")


def _with_factor(line: Line, run: Sequence[Atom], group: Group) -> Span:
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


def _is_ordinal(line: Line, run: Sequence[Atom], group: Group) -> bool:
    """Whether a group goes on as an ordinal: "40,000 th", "twenty-first", "hundred and first".

    Spaced tens before *second* are left: "a thirty second delay" counts seconds.
    """
    last = run[group[-1].end - 1]
    shape, place = last.part.shape, last.end
    if shape is Shape.DIGITS:
        return line.low(place) in lexicon.ORDINAL_ENDINGS
    hyphen = line.joint(place)
    place += hyphen
    linked = line.low(place) == "and"
    place += linked + (linked and line.joint(place + 1))
    word = line.low(place)
    if not lexicon.is_ordinal(word):
        return False
    if shape is Shape.TENS:
        return hyphen or (not linked and word != "second")
    round_one = word in lexicon.POWER_ORDINALS or lexicon.is_round_ordinal(word)
    if shape in (Shape.HUNDRED, Shape.SCALE):
        return hyphen or linked or round_one
    return word in lexicon.POWER_ORDINALS and not linked


def _is_part_of_word(line: Line, span: Span) -> bool:
    """Whether a hyphen ties a number to a word that is none: "two-bedroom", "no-one"."""
    start, end = span
    if line.joint(start - 1) and line.low(start - 2) == "no" and line.low(start) == "one":
        return True
    behind = line.hyphen(end) and line.tight(end) is True
    before = line.hyphen(start - 1) and line.tight(start - 1) is True
    return (behind and _makes_word(line, end + 1, 1)) or (
        before and _makes_word(line, start - 2, -1)
    )


def _makes_word(line: Line, place: int, step: int) -> bool:
    """Whether the token behind (step 1) or before (-1) a hyphen makes one word of both."""
    word = line.low(place)
    if not word or not word[0].isalnum() or line.parts(place):
        return False
    if step > 0 and [line.low(place + i) for i in range(5)][::2] == ["and", "a", "half"]:
        return False
    if word not in _DASHED:
        return True
    return line.hyphen(place + step) and line.tight(place + step) is True
