"""Cues of PEOPLE, and of OTHER: numbers that count nothing in the text."""

from nfh_models.resolution import cue_words as known
from nfh_models.resolution.cue_place import Place
from nfh_models.text.lexicon import Shape, parts_of

_ENDS = (".", "!")
_MARKS = (",", "...", "\u2026", "-", "and", *_ENDS)
_ROUND = {Shape.SCALE, Shape.HUNDRED}


def you_two(place: Place) -> bool:
    """ "you three", "the arrest of those two"; not "give you four" """
    if place.is_one or not place.within(2, 12) or place.before() not in known.POINTING:
        return False
    return place.before(2) not in known.DEAL_VERBS | known.PRICE_VERBS


def of_us(place: Place) -> bool:
    """ "the two of us", "one of you" """
    return place.after() == "of" and place.after(2) in known.US


def generic_one(place: Place) -> bool:
    """ "one does not ask", "if one sings" """
    lead = place.before()
    if not place.is_one or (lead and lead not in known.CLAUSE_LEADS):
        return False
    if place.after() in known.GENERIC_VERBS:
        return True
    return place.tag_after() in ("VERB", "AUX") and lead in known.SUBORDINATORS


def one_another(place: Place) -> bool:
    """ "they help one another" """
    return place.is_one and place.after() == "another"


def named_one(place: Place) -> bool:
    """ "a loved one", "Come here, little one." """
    if not place.is_one:
        return False
    if place.before() in known.BELOVED:
        return True
    alone = place.before(2) in known.ADDRESS_LEADS and place.after() in known.ADDRESS_ENDS
    return alone and place.before() in known.ADDRESSED


def person_is_the_one(place: Place) -> bool:
    """ "I am the lucky one", "you're not the only one" """
    words = place.words_before(7)
    if not place.is_one or "the" not in words:
        return False
    lead = words[: len(words) - 1 - words[::-1].index("the")]
    while lead and lead[-1] in known.BE_ADVERBS:
        lead.pop()
    return len(lead) > 1 and lead[-1] in known.BE and lead[-2] in known.SPEAKERS


def company(place: Place) -> bool:
    """ "a table for four", "a family of six" """
    return (
        place.tag_after() != "NOUN"
        and place.within(1, 50)
        and place.before() in ("of", "for", "to")
        and place.before(2) in known.GROUPS
    )


def code(place: Place) -> bool:
    """ "911", "9/11", "007", "555-0199" """
    if any(part.shape is Shape.CODE for part in place.parts):
        return True
    if any(len(part.plain) > 1 and part.plain.startswith("0") for part in place.parts):
        return True
    return len(place.words) == 1 and place.words[0] in known.CODES


def counting(place: Place) -> bool:
    """ "one, two, three", "five ... four ... three" """
    value = place.value
    if value is None or place.after() == "of":
        return False
    before = (place.before(), place.before(2), place.before(3))
    after = (place.after(), place.after(2), place.after(3))
    for mark, word, beyond in (before, after):
        parts = parts_of(word)
        alone = mark not in _ENDS or beyond in ("", *_MARKS)
        if mark in _MARKS and alone and [abs(part.value - value) for part in parts] == [1.0]:
            return True
    return False


def digits_in_a_row(place: Place) -> bool:
    """ "five five five oh one" """
    return len(place.parts) > 2 and place.value is None


def summed(place: Place) -> bool:
    """ "plus two equals six", "four by eight" """
    if place.after() == "by" and parts_of(place.after(2)):
        return True
    if place.before() == "by" and parts_of(place.before(2)):
        return True
    return place.before() in known.SUMS or place.after() in known.SUMS


def a_ten(place: Place) -> bool:
    """ "a perfect 10", "an eight" """
    if place.is_one or any(part.shape in _ROUND for part in place.parts):
        return False
    back = 1
    while place.tag_before(back) == "ADJ" and back < 4:
        back += 1
    return place.before(back) in ("a", "an")


def set_phrase(place: Place) -> bool:
    """ "high five", "in two", "one by one", "two out of ten", "channel 4" """
    if place.before() in known.LABELS or (place.before(), *place.words) in known.SET_PHRASES:
        return True
    behind = (place.after(), place.after(2))
    return behind == ("out", "of") or (place.is_one and behind in (("by", "one"), ("at", "a")))


def pointed_one(place: Place) -> bool:
    """ "I've heard that one", "let me think on this one" """
    return (
        place.is_one
        and place.before() in ("this", "that")
        and place.before(2) in known.ONE_TALK
        and place.after() != "of"
    )


def counts_persons(place: Place) -> bool:
    """ "the one who", "three of them": persons, where no noun before says which things."""
    if place.after() == "of":
        return place.after(2) in known.THEM
    return place.is_one and place.after() in ("who", "whom")
