"""Cues of AGE and CURRENCY."""

from nfh_models.resolution import cue_words as known
from nfh_models.resolution.cue_place import Place
from nfh_models.text.lexicon import Shape

OLDEST = 120.0
CLAUSE = 5
"""Words back in which a verb of paying still governs its number."""


def _verb(place: Place) -> tuple[str, str]:
    """The nearest word before that is no hedge, and the word before that one."""
    for back in range(1, 6):
        word = place.before(back)
        if word not in known.HEDGES:
            return word, place.before(back + 1)
    return "", ""


def turned(place: Place) -> bool:
    """ "turned 50", "aged nine", "at the age of six", "pushing forty", "look thirty" """
    verb, before = _verb(place)
    if verb == "of":
        return before in known.AGED
    if verb in known.TURNING | known.AGED:
        return True
    return verb in known.REACHING and place.within(13, 100)


def is_aged(place: Place) -> bool:
    """ "she 's 42", "when I was ten", "what are you, five", "it is hard being six" """
    if place.is_one or not place.within(1, OLDEST) or place.after() in known.COUNTED:
        return False
    verb, subject = _verb(place)
    if verb == "being":
        return True
    if subject == "are" and verb == "you":
        return "what" in place.words_before(4)
    if verb in ("she", "he") and subject in known.BE:
        return True
    if verb not in known.BE or subject in known.THINGS or not subject:
        return False
    if subject in known.PERSONS:
        return True
    if verb == "be":
        return subject in ("to", "na", "'ll") and place.within(13, OLDEST)
    return verb in ("was", "were", "is", "'s") and subject.isalpha()


def how_old(place: Place) -> bool:
    """ "How old are you? Seven." """
    return place.within(0, OLDEST) and (place.asked("how", "old") or place.asked("what", "age"))


def at_age(place: Place) -> bool:
    """ "at 16", "over forty", from thirteen up: below that it is mostly an hour."""
    return (
        place.before() in known.AGE_LEADS
        and place.after() not in ("to", "past", "of")
        and place.within(13, 100)
        and place.before(2) not in known.MOVING
    )


def named_age(place: Place) -> bool:
    """ "Ilse Brandt, 61, keeps the ferry" """
    return (
        place.before() == ","
        and place.tag_before(2) == "PROPN"
        and place.after() in (",", ".")
        and place.within(2, 110)
        and not place.is_one
    )


def of_age(place: Place) -> bool:
    """ "Do I look twelve years old? Fourteen?" """
    return not place.is_one and place.within(1, 110) and place.near(known.AGE_SIGNS, on=6)


def _how_much(place: Place) -> bool:
    scene = place.scene
    for at in place.asked_at("how", "much"):
        return scene.word(at + 2) not in known.NOT_PRICED
    return False


def how_much(place: Place) -> bool:
    """ "How much is the rug? Two hundred.", "What did you pay for it? Ninety." """
    if place.is_one:
        return False
    return _how_much(place) or not known.PRICE_VERBS.isdisjoint(place.question())


def priced(place: Place) -> bool:
    """ "paid five", "cost me 1.2 million", "worth about two million" """
    return not place.is_one and not known.PRICE_VERBS.isdisjoint(place.words_before(CLAUSE))


def given(place: Place) -> bool:
    """ "I'll give you four" """
    return (
        not place.is_one
        and place.before() in ("you", "him", "her", "them")
        and place.before(2) in known.GIVING
    )


def large_sum(place: Place) -> bool:
    """ "made a million", "get three thousand" """
    return _scaled(place) and not known.DEAL_VERBS.isdisjoint(place.words_before(4))


def bare_sum(place: Place) -> bool:
    """ "That's two hundred and thirty thousand." """
    if not _scaled(place) or place.before() in ("in", "of", "to", "year"):
        return False
    largest = max(part.value for part in place.parts)
    if len(place.words) == 1 and (largest < 1e6 or place.before(2) in ("in", "of")):
        return False
    return place.after() not in ("of", "to", "years") and place.after() not in known.ERAS


def rated(place: Place) -> bool:
    """ "thirty a week", "five hundred each" """
    if place.is_one or not place.within(5, float("inf")) or place.after() not in known.RATES:
        return False
    return place.after() in ("each", "apiece") or place.after(2) in known.PERIODS


def money_near(place: Place) -> bool:
    """ "Ten dollars for the rug? I paid twelve." """
    return not place.is_one and place.near(known.MONEY)


def _scaled(place: Place) -> bool:
    return any(part.shape is Shape.SCALE for part in place.parts)
