"""Which of the paper's patterns answer in place of another recipe, and where they apply.

The patterns (`deterministic`) are for free text. The paper took their cases out of the
resolution data (section 5.1), so that a recipe that learnt from those data has seen hardly any
of them: there the patterns that are sure go first. Of the cases that are left in our training
file and in the development file, those that the authors' own patterns missed, this is right:

    no one, you two           no case left; PEOPLE wherever a reader judged them
    NUM of a noun or name     7 of 12, and the object is the noun wherever a reader judged it
    NUM of us, you (PEOPLE)   4 of 5, and too few to say: the model has seen *of us*
    X be the one (X)          13 of 48: the labels name what *one* stands for

A recipe that learnt nothing (cues, nearest noun) leaves all of them to the patterns. The small
model has learnt from patterns' cases, too; of 159 unseen ones with NUM of a noun it differs
from the pattern in 19, of which, read one by one, the pattern is right in 11, wrong in 4.
"""

from collections.abc import Sequence

from nfh_models.domain import Kind
from nfh_models.parsing.parsed import Parsed
from nfh_models.resolution import deterministic
from nfh_models.resolution.deterministic import NO_ONE, NUM_OF, YOU_TWO, Pattern
from nfh_models.resolution.recipes import BILSTM, ENCODER, LINEAR, SMALL

LEARNT = frozenset({LINEAR, BILSTM, ENCODER, SMALL})
"""Recipes that learn from resolution data, whose cases of the patterns were taken out."""


def goes_first(pattern: Pattern, recipe: str) -> bool:
    """Whether a pattern answers before a recipe is asked.

    False for one that names no head of its own ("two of them").
    """
    if pattern.kind is None:
        return False
    if recipe not in LEARNT or pattern.name in (NO_ONE, YOU_TWO):
        return True
    return pattern.name == NUM_OF and pattern.kind is Kind.REFERENCE


def may_match(words: Sequence[str], start: int, end: int) -> bool:
    """False only where the number at [start, end) is in no pattern, whatever a parse says."""
    before = words[start - 1].lower() if start else ""
    if end < len(words) and words[end].lower() == "of":
        return True
    if end - start != 1:
        return False
    number = words[start].lower()
    return (number == "one" and before in ("no", "the")) or (number, before) == ("two", "you")


def by_words(words: Sequence[str], start: int, end: int) -> Pattern | None:
    """The pattern that words alone show, of a number whose noun is known to be missing.

    A parse shows more: `deterministic.find`.
    """
    if end - start != 1 or not start:
        return None
    pair = (words[start - 1].lower(), words[start].lower())
    if pair == ("no", "one"):
        return Pattern(NO_ONE, Kind.PEOPLE)
    return Pattern(YOU_TWO, Kind.PEOPLE) if pair == ("you", "two") else None


def find(words: Sequence[str], parsed: Parsed | None, start: int, end: int) -> Pattern | None:
    """The pattern of a number whose noun is known to be missing: tokens [start, end) of words.

    parsed: the same words, with parts of speech and dependencies; without it only the patterns
    are found that are words.
    """
    if not may_match(words, start, end):
        return None
    if parsed is None or not _whole(parsed):
        return by_words(words, start, end)
    return deterministic.find(parsed, start, end)


def _whole(parsed: Parsed) -> bool:
    return len(parsed.heads) == len(parsed.relations) == len(parsed.pos) == len(parsed.words)
