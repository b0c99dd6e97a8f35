"""Whether a text may hold a number at all: a quick search, before any tokenizer.

Only what passes is tokenized, and most sentences do not. The search answers yes too often
(an ordinal in digits, a clock time) and never no where the number grammar finds something:
a token is a number only if it holds a decimal digit, is a number word, or is a chain of those
and *oh* joined by hyphens (see `lexicon`), and the tokenizer never parts two letters of the
English alphabet, but for codes that colour a terminal: they end with a letter.
"""

import re
from functools import lru_cache

_UNITS = "one two three four five six seven eight niner nine".split()
_SMALL = [
    *_UNITS,
    *"ten eleventy eleven twelve thirteen fourteen fifteen sixteen seventeen".split(),
    *"eighteen nineteen twenty thirty fourty forty fifty sixty seventy eighty".split(),
    *"ninety ninty".split(),
]
_SCALES = [
    *"hundred thousand million billion trillion quadrillion quintillion sextillion".split(),
    *"septillion zillion gazillion bazillion gajillion jillion kajillion squillion".split(),
]
_ALONE = [*_SCALES, "zero", "nil", "nought"]
_OH_CHAIN = "[oO][hH]?[-\u2010\u2011\u2013]"
"""What a chain without a number word starts with: "oh-oh" in one token."""

_KELVIN = "\u212a"
"""The only other character whose small letter is an English one: k."""


def may_hold_number(text: str) -> bool:
    """False only where `find_numbers` finds nothing in the tokens of `text`."""
    return _digit().search(text) is not None or _word().search(f" {text}") is not None


@lru_cache(maxsize=1)
def _digit() -> re.Pattern[str]:
    """A digit, or what a code for a terminal starts with."""
    return re.compile(r"[\d\x1b\x9b]")


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """A number word with the character before it, which is no letter.

    It starts with that character rather than a look behind, and each choice with the two
    cases of one letter, since the search skips what is neither several times as fast.
    """
    behind = "|".join([*_UNITS, *_SCALES])  # as in "fortytwo" and "onehundred"
    words = f"(?:{_by_letter(_SMALL)})(?i:{behind})?|{_by_letter(_ALONE)}"
    return re.compile(f"[^a-zA-Z](?:(?:{words})(?![a-zA-Z])|{_OH_CHAIN})")


def _by_letter(words: list[str]) -> str:
    letters = sorted({word[0] for word in words})
    return "|".join(
        f"[{letter}{letter.upper()}{_KELVIN if letter == 'k' else ''}]"
        f"(?i:{'|'.join(word[1:] for word in words if word[0] == letter)})"
        for letter in letters
    )
