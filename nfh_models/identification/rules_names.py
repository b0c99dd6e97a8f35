"""Numbers that name something: "chapter five", "Apollo 11", "the Chosen One", "June 6"."""

from nfh_models.identification.rules_view import NOUNS, View
from nfh_models.identification.rules_words import (
    GROUPS,
    LABELS,
    LOOSE_LABELS,
    MONTHS,
    NO_LABELS,
)
from nfh_models.text.lexicon import is_ordinal

_OBJECTS = frozenset({"dobj", "obj", "attr", "pobj", "obl"})
_GIVEN = frozenset({"dative", "iobj", "dobj", "obj"})
_NUMBERED = frozenset({"No", "Nos"})
_DAY_DIGITS = 2
_WORDS_TOO = frozenset({"may", "march", "mar", "dec", "sep"})
_IN_NAMES = NOUNS | {"ADJ", "VERB"}


def no_number(view: View) -> bool:
    """No token of the anchor is a number, or part of one."""
    return not any(view.number(place) for place in range(view.start, view.end))


def date(view: View) -> bool:
    """The day beside the name of a month, or the year right behind it: "June 6", "6 June"."""
    if any(_month(view, place) for place in range(view.start, view.end)):
        return True
    if not view.lows[view.start][0].isdecimal():
        return False
    day = len(view.lows[view.start]) <= _DAY_DIGITS
    return _month(view, view.start - 1) or (day and _month(view, view.end))


def _month(view: View, place: int) -> bool:
    """Whether a token names a month; *may* and *march* do with a capital only."""
    month = view.low(place)
    return month in MONTHS and (month not in _WORDS_TOO or view.word(place)[0].isupper())


def one_and_only(view: View) -> bool:
    """The words "one and only" before a noun."""
    behind = [view.low(view.end), view.low(view.end + 1)]
    return view.is_one and behind == ["and", "only"] and view.counted(view.end + 2)


def labelled(view: View) -> bool:
    """A noun stands before the number that numbers name, in any company: "volume one of"."""
    if view.low(view.start - 1) not in LABELS and not _abbreviated(view):
        return False
    return view.low(view.behind) != "of" or view.low(view.behind + 1) not in GROUPS


def _abbreviated(view: View) -> bool:
    """Whether "No." or "Nos." stands before figures, in two tokens and not as an answer."""
    place = view.start - 2
    named = place > 0 and view.word(place) in _NUMBERED and view.low(place + 1) == "."
    return named and view.lows[view.start][0].isdecimal()


def title(view: View) -> bool:
    """A number written as part of a name: "the Chosen One", "the Furious Five"."""
    word, before = view.words[view.start], view.word(view.start - 1)
    capitals = word[0].isupper() and word[1:].islower() and before[:1].isupper()
    kinds = _IN_NAMES if view.start > 1 else NOUNS
    return capitals and not view.number(view.start - 1) and view.pos(view.start - 1) in kinds


def name(view: View) -> bool:
    """A noun or a name stands right before the number, which numbers it: "Apollo 11"."""
    place = view.start - 1
    before = view.low(place)
    if before in LOOSE_LABELS:
        return before != "point" or not view.number(place - 1)
    if not view.noun(place) or view.plural(place) or before in NO_LABELS:
        return False
    if not before[-1].isalnum() or is_ordinal(before):
        return False
    relation, head = view.relation(view.end - 1), view.head(view.end - 1)
    if relation in _OBJECTS and (head == place or view.relation(place) in _GIVEN):
        return False
    if view.lows[view.start] == view.words[view.start] == "one" and relation in _GIVEN:
        return False
    return not (view.is_one and relation.startswith("nsubj"))
