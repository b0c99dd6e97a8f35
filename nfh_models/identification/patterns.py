"""Text patterns: what the words around a number say, whatever the parser makes of them.

The ten patterns of the paper (section 4.1), as its authors' repository has them and as we tell
them here, make nine of these functions: "you two" is two of theirs, by what follows. "One
another" and the first of two numbers are ours, after section 3 of the paper.
"""

from nfh_models.identification.rules_names import labelled
from nfh_models.identification.rules_view import View
from nfh_models.identification.rules_words import CLOCK, LOOSE_LABELS, YOU_AND_US

FARTHEST = 8
"""Adjectives that are looked past on the way to a noun."""
_BETWEEN = frozenset({"ADJ", "NUM"})
_BETWEEN_WORDS = frozenset({"*", "more", "most"})
_RANGE_WORDS = frozenset({"to", "-", "\u2013", ",", "but"})


def no_one(view: View) -> bool:
    """The words "no one"."""
    return view.is_one and view.low(view.start - 1) == "no"


def one_another(view: View) -> bool:
    """The words "one another", with no noun behind."""
    return view.is_one and view.low(view.end) == "another" and not view.noun(view.end + 1)


def num_of(view: View) -> bool:
    """A number before "of": "three of them"."""
    return view.low(view.behind) == "of" and not labelled(view)


def before_or(view: View) -> bool:
    """A number before "or": "eight or nine clubs" lacks the clubs at the eight."""
    return view.low(view.behind) == "or" and not labelled(view)


def after_or(view: View) -> bool:
    """A number behind "or" with no noun of its own: "a week or two"."""
    if view.low(view.start - 1) != "or" or not (view.noun(view.start - 2)):
        return False
    return not has_noun_behind(view)


def before_s(view: View) -> bool:
    """A number before 's, with no noun before the number: "one's own", "the 50's"."""
    if view.low(view.end) != "'s":
        return False
    return not view.noun(view.start - 1)


def the_one_who(view: View) -> bool:
    """The words "the one who", or another number in it."""
    return view.low(view.start - 1) == "the" and view.low(view.end) in ("who", "whom")


def clock(view: View) -> bool:
    """A number before a.m. or p.m., with or without dots."""
    return view.low(view.end) in CLOCK


def height(view: View) -> bool:
    """Feet and inches: 6 ' 2."""
    return view.end - view.start == 3 and view.low(view.start + 1) in ("'", "\u2032")


def you_two(view: View) -> bool:
    """A pronoun before the number, and no noun of its own behind: "you two", "us three"."""
    if view.low(view.start - 1) not in YOU_AND_US or view.is_one:
        return False
    return not has_noun_behind(view)


def first_of_two(view: View) -> bool:
    """The first of two numbers before one noun: "two, three hundred miles", "9 to 5"."""
    if view.low(view.start - 1) in LOOSE_LABELS:
        return False
    return view.low(view.behind) in _RANGE_WORDS and view.number(view.behind + 1)


def has_noun_behind(view: View) -> bool:
    """Whether a noun follows at once or behind adjectives."""
    place = view.behind
    limit = place + FARTHEST
    while place < limit and (view.pos(place) in _BETWEEN or view.low(place) in _BETWEEN_WORDS):
        place += 1
    return view.counted(place) or view.quantity(place)
