"""Cues of the calendar and the clock: YEAR and TIME."""

from nfh_models.resolution import cue_words as known
from nfh_models.resolution.cue_place import NEAR, Place
from nfh_models.text.lexicon import Shape, parts_of

_CENTURIES = (17.0, 18.0, 19.0, 20.0)
_BETWEEN = ("between", "from")
_SAID = {Shape.UNIT, Shape.TEEN, Shape.TENS}


def short_year(place: Place) -> bool:
    """ "since '96", the apostrophe in the token or before it."""
    if len(place.words) != 1:
        return False
    word = place.words[0]
    if word[0] in known.APOSTROPHES:
        return len(word) == 3
    return place.before() in known.APOSTROPHES and len(place.figures) == 2


def decade(place: Place) -> bool:
    """ "the 80 's" """
    return (
        place.after() in ("'s", "\u2019s")
        and place.figures.endswith("0")
        and place.before() in known.DECADE_LEADS
    )


def four_digits(place: Place) -> bool:
    """ "1984" """
    return len(place.figures) == 4 and 1000 <= int(place.figures) <= 2199


def spoken_year(place: Place) -> bool:
    """ "nineteen eighty-four" """
    values = [part.value for part in place.parts]
    return (
        len(values) > 1
        and values[0] in _CENTURIES
        and all(part.shape in _SAID for part in place.parts)
        and 10 <= sum(values[1:]) < 100
        and place.value is None
    )


def since_year(place: Place) -> bool:
    """ "since 72", "in the spring of 72", "the year 3", "4000 B.C." """
    if place.before() == "year" or place.after() in known.ERAS:
        return place.after() not in ("old", "of")
    if not place.within(40, 99) or place.after() in known.COUNTED:
        return False
    return place.before() == "since" or (
        place.before() in ("in", "of") and place.before(2) in known.YEAR_LEADS
    )


def is_hour(place: Place) -> bool:
    """An hour by its value, 7.3 among them (as the releases' files have 7:30), or an hour with
    minutes ("seven thirty")."""
    if place.value is not None:
        return 1 <= place.value < 13
    values = [part.value for part in place.parts]
    return len(values) > 1 and 1 <= values[0] <= 12 and 5 <= sum(values[1:]) < 60


def clock_behind(place: Place) -> bool:
    """ "7 a.m.", "4am", "5 in the morning", "two at night" """
    if place.after() in known.CLOCK or place.words[-1].endswith(("am", "pm", "a.m.", "p.m.")):
        return True
    behind = place.words_after(3)
    if not is_hour(place) or len(behind) < 2:
        return False
    if behind[:2] == ["in", "the"]:
        return behind[-1] in known.DAY_PARTS
    return tuple(behind[:2]) in known.DAY_PHRASES


def past_the_hour(place: Place) -> bool:
    """ "half past nine", "a quarter to six", "five after seven" """
    lead, before = place.before(), place.before(2)
    if not is_hour(place) or lead not in known.MINUTES_LEADS:
        return False
    if before in known.MINUTES:
        return True
    return bool(parts_of(before)) and lead not in ("of", "to")


def at_hour(place: Place) -> bool:
    """ "see you at nine", "by ten", "until two"; at one only where a clock is spoken of."""
    if not is_hour(place) or place.after() in known.COUNTED:
        return False
    lead = place.before()
    if place.is_one:
        return lead in known.HOUR_LEADS and (_clock_in_sight(place) or place.near(known.HOURS))
    if lead == "by" and parts_of(place.before(2)):  # "four by eight" is a size
        return False
    if lead in ("around", "about", "exactly") and place.before(2) in known.HOUR_LEADS:
        return True
    return lead in known.HOUR_LEADS or lead in ("around", "strikes", "struck")


def between_hours(place: Place) -> bool:
    """ "between nine and eleven", "from eight to six", "between 11 and midnight" """
    if not is_hour(place) or place.is_one:
        return False
    if place.before() in _BETWEEN and place.after() in known.RANGES:
        other = place.after(2)
    elif place.before() in known.RANGES and place.before(3) in _BETWEEN:
        other = place.before(2)
    else:
        return False
    parts = parts_of(other)
    return other in known.CLOCK | known.HOURS or (bool(parts) and 1 <= parts[0].value <= 12)


def what_time(place: Place) -> bool:
    """ "What time is it? Six." """
    return is_hour(place) and place.asked("what", "time")


def hour_and_minutes(place: Place) -> bool:
    """ "seven thirty" """
    return place.value is None and len(place.parts) == 2 and is_hour(place)


def clock_near(place: Place) -> bool:
    """ "The nine o'clock train? No, the ten." """
    return is_hour(place) and not place.is_one and _clock_in_sight(place)


def _clock_in_sight(place: Place) -> bool:
    """Whether a sign of the clock is near; *am* is one behind a number, and else a verb."""
    if place.near(known.CLOCK - {"am"}):
        return True
    scene = place.scene
    near = range(max(0, place.start - NEAR), min(len(scene), place.end + NEAR))
    return any(scene.low[at] == "am" and parts_of(scene.word(at - 1)) for at in near)
