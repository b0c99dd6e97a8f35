"""The table of cues: in this order they are tried, and the first that holds decides."""

from collections.abc import Callable
from dataclasses import dataclass

from nfh_models.domain import Kind
from nfh_models.resolution import cue_dates as dates
from nfh_models.resolution import cue_measures as measures
from nfh_models.resolution import cue_persons as persons
from nfh_models.resolution.cue_place import Place


@dataclass(frozen=True, slots=True)
class Cue:
    """A stated cue of an implicit class.

    name: what an answer carries as its reason. what: the cue in plain words. test: whether a
    number has it.
    """

    name: str
    kind: Kind
    what: str
    test: Callable[[Place], bool]


_YEAR, _AGE, _MONEY = Kind.YEAR, Kind.AGE, Kind.CURRENCY
_PEOPLE, _TIME, _OTHER = Kind.PEOPLE, Kind.TIME, Kind.OTHER

CUES: tuple[Cue, ...] = (
    Cue("short-year", _YEAR, "Two digits behind an apostrophe: '96.", dates.short_year),
    Cue("decade", _YEAR, "A round number before 's: the 80's.", dates.decade),
    Cue(
        "clock-behind",
        _TIME,
        "A.m., o'clock or a part of the day follows: 5 in the morning.",
        dates.clock_behind,
    ),
    Cue("code", _OTHER, "A code that people say as such: 911, 9/11, 007.", persons.code),
    Cue("past-the-hour", _TIME, "Minutes come before: half past nine.", dates.past_the_hour),
    Cue("spoken-year", _YEAR, "A year as it is said: nineteen eighty-four.", dates.spoken_year),
    Cue("turned", _AGE, "A verb or noun of ageing comes before: turned 50.", measures.turned),
    Cue("priced", _MONEY, "A verb of paying comes before: it cost nine.", measures.priced),
    Cue("four-digits", _YEAR, "Four digits from 1000 to 2199.", dates.four_digits),
    Cue("named-age", _AGE, "Behind a name, between commas.", measures.named_age),
    Cue("since-year", _YEAR, "Since, a month or a season before: since 72.", dates.since_year),
    Cue("is-aged", _AGE, "Somebody is the number: she's 42.", measures.is_aged),
    Cue("how-old", _AGE, "The answer to how old.", measures.how_old),
    Cue("at-age", _AGE, "Thirteen or more behind at, over or under.", measures.at_age),
    Cue("how-much", _MONEY, "The answer to how much or to a price.", measures.how_much),
    Cue("rated", _MONEY, "So much a week, a head, each.", measures.rated),
    Cue("large-sum", _MONEY, "Thousands got, made or offered.", measures.large_sum),
    Cue("bare-sum", _MONEY, "Thousands of nothing in particular.", measures.bare_sum),
    Cue("given", _MONEY, "Offered to somebody: I'll give you four.", measures.given),
    Cue("what-time", _TIME, "The answer to what time.", dates.what_time),
    Cue("between-hours", _TIME, "Between two hours: from nine to five.", dates.between_hours),
    Cue("at-hour", _TIME, "At, by or until an hour: see you at nine.", dates.at_hour),
    Cue("money-near", _MONEY, "A word of money close by.", measures.money_near),
    Cue("of-age", _AGE, "A word of age close by.", measures.of_age),
    Cue("hour-and-minutes", _TIME, "Hour and minutes: seven thirty.", dates.hour_and_minutes),
    Cue("clock-near", _TIME, "A word of the clock close by.", dates.clock_near),
    Cue("of-us", _PEOPLE, "Of us, of you: the two of us.", persons.of_us),
    Cue("you-two", _PEOPLE, "Behind you, us, them or those: you three.", persons.you_two),
    Cue("generic-one", _PEOPLE, "One as anybody: one does not ask.", persons.generic_one),
    Cue("one-another", _PEOPLE, "One another.", persons.one_another),
    Cue("named-one", _PEOPLE, "A loved one; little one, as an address.", persons.named_one),
    Cue(
        "the-one", _PEOPLE, "Somebody is the one: I'm the lucky one.", persons.person_is_the_one
    ),
    Cue("company", _PEOPLE, "A group of so many: a table for four.", persons.company),
    Cue("counting", _OTHER, "Numbers one apart in a row: three, two, one.", persons.counting),
    Cue("digits", _OTHER, "Digits one by one, as on a telephone.", persons.digits_in_a_row),
    Cue("summed", _OTHER, "Plus, minus, by: a sum or a size.", persons.summed),
    Cue("a-ten", _OTHER, "A score or a card: a perfect 10.", persons.a_ten),
    Cue("set-phrase", _OTHER, "Set phrases: high five, one by one.", persons.set_phrase),
    Cue(
        "pointed-one", _OTHER, "A saying pointed at: I've heard that one.", persons.pointed_one
    ),
)
