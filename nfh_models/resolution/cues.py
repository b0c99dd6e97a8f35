"""Recipe `cues`: the class that a cue in the context indicates, else the best noun before the
number.

It needs words with universal parts of speech and no parse. The classes are those of the paper
(section 3).

The scores are ranks, not probabilities. A class has 1 for the first cue that holds, 1/2 for the
second, and so on. Nouns are scaled to 1 for the best one, halved for each cue that holds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution.base import Choice, Item, choice_of, tag_span, tags_within
from nfh_models.text.numbers import NumberPart, Shape, parts_of, value_of

QUESTION_REACH = 30
"""Words before the number within which a question may still wait for its answer."""

NEAR = 12
"""Words on either side in which a word of money, age or the clock is a cue."""

_SENTENCE_ENDS = frozenset(".!?\u2026")
_OPENERS = frozenset(
    ", - -- ... \" ' well oh uh um about around just maybe only say like".split()
)


class CueContext:
    """Consecutive words of one or more turns, prepared for queries about many numbers.

    tags: universal parts of speech. turns: the turn number of each word; None where all words
    are one turn. Construction is linear in the number of words, queries are not.
    """

    def __init__(
        self, words: Sequence[str], tags: Sequence[str], turns: Sequence[int] | None = None
    ) -> None:
        if len(words) != len(tags) or (turns is not None and len(turns) != len(words)):
            raise ValueError(f"{len(tags)} tags for {len(words)} words")
        self.words = words
        self.low = [word.lower() for word in words]
        self.tags = tags
        self.turns = turns

    def __len__(self) -> int:
        return len(self.words)

    def word(self, place: int) -> str:
        """The word in lower case; "" outside the context."""
        return self.low[place] if 0 <= place < len(self.low) else ""

    def tag(self, place: int) -> str:
        """The tag; "" outside the context."""
        return self.tags[place] if 0 <= place < len(self.tags) else ""

    def same_turn(self, left: int, right: int) -> bool:
        """Whether two places inside the context belong to one turn."""
        return self.turns is None or self.turns[left] == self.turns[right]


@dataclass(frozen=True)
class CueNumber:
    """A number in its context: tokens [start, end)."""

    context: CueContext
    start: int
    end: int

    def before(self, back: int = 1) -> str:
        """The word `back` places before the number, in its turn; "" if there is none."""
        place = self.start - back
        if place < 0 or not self.context.same_turn(place, self.start):
            return ""
        return self.context.low[place]

    def after(self, on: int = 1) -> str:
        """The word `on` places after the number, in its turn; "" if there is none."""
        place = self.end - 1 + on
        if place >= len(self.context) or not self.context.same_turn(place, self.end - 1):
            return ""
        return self.context.low[place]

    def tag_after(self, on: int = 1) -> str:
        """The tag `on` places after the number, in its turn; "" if there is none."""
        return self.context.tags[self.end - 1 + on] if self.after(on) else ""

    def tag_before(self, back: int = 1) -> str:
        """The tag `back` places before the number, in its turn; "" if there is none."""
        return self.context.tags[self.start - back] if self.before(back) else ""

    def words_before(self, reach: int) -> list[str]:
        """Up to `reach` words before the number, in its sentence and turn, nearest last."""
        found = []
        for back in range(1, reach + 1):
            word = self.before(back)
            if not word or word in _SENTENCE_ENDS:
                break
            found.append(word)
        return found[::-1]

    def words_after(self, reach: int) -> list[str]:
        """Up to `reach` words after the number, in its turn."""
        found = []
        for on in range(1, reach + 1):
            word = self.after(on)
            if not word:
                break
            found.append(word)
        return found

    def near(self, words: frozenset[str], on: int = NEAR) -> bool:
        """Whether one of `words` stands within NEAR before or `on` after, in any turn."""
        low = self.context.low
        before = low[max(0, self.start - NEAR) : self.start]
        return not (
            words.isdisjoint(before) and words.isdisjoint(low[self.end : self.end + on])
        )

    def within(self, least: float, most: float) -> bool:
        """Whether the number has a value in [least, most]."""
        return self.value is not None and least <= self.value <= most

    def asked_at(self, first: str, second: str) -> Iterator[int]:
        """Places before the number of the two words in sequence, nearest first, in any turn."""
        low = self.context.low
        for at in range(self.start - 2, max(-1, self.start - QUESTION_REACH), -1):
            if low[at] == first and low[at + 1] == second:
                yield at

    def asked(self, first: str, second: str) -> bool:
        """Whether a question with these two words in sequence stands before."""
        return any(True for _ in self.asked_at(first, second))

    def question(self) -> list[str]:
        """The words of the question that the number answers as its first word; else none."""
        low = self.context.low
        at = self.start - 1
        while at >= 0 and self.start - at < 5 and low[at] in _OPENERS:
            at -= 1
        if at < 0 or low[at] != "?":
            return []
        begin = at
        while (
            begin > 0 and at - begin < QUESTION_REACH and low[begin - 1] not in _SENTENCE_ENDS
        ):
            begin -= 1
        return low[begin:at]

    @cached_property
    def words(self) -> list[str]:
        """The number's own words in lower case."""
        return self.context.low[self.start : self.end]

    @cached_property
    def parts(self) -> list[NumberPart]:
        """The number parts of these words."""
        return [part for word in self.words for part in parts_of(word)]

    @cached_property
    def value(self) -> float | None:
        """The number's value; None if it is not a single number ("seven thirty", "911-4")."""
        return value_of(self.parts)

    @property
    def figures(self) -> str:
        """The digits of a number that is one token of digits; else ""."""
        return self.words[0] if len(self.words) == 1 and self.words[0].isdecimal() else ""

    @property
    def is_one(self) -> bool:
        """Whether it is the word *one*, which is usually a pronoun."""
        return self.words == ["one"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


APOSTROPHES = frozenset("'\u2019")

HEDGES = _words(
    "only just like almost about maybe nearly not n't barely around already still probably "
    "even really roughly approximately exactly precisely perhaps over under say uh um well , "
    "... actually also all so"
)
"""What may stand between a verb and its number."""

BE = _words("was were am 'm is 's are 're be been being wuz \u2019m \u2019s \u2019re")
BE_ADVERBS = _words("not n't n\u2019t always still really clearly maybe probably")
PERSONS = _words("i you he she we they who him her me ya u")
SPEAKERS = _words("i you he she we they")
THINGS = _words("it that this there what which here these those where")
"""Subjects that have no age."""

# --- ages ---------------------------------------------------------------------------------

TURNING = _words("turn turns turned turning")
AGED = _words("aged age ages")
REACHING = _words(
    "reach reached reaches reaching hit hits hitting pushing look looks looked looking feel "
    "feels felt feeling act acts acting"
)
AGE_SIGNS = _words("old older birthday age aged teenager")
AGE_LEADS = _words("at by over under past until between")
MOVING = _words("arrive arrived going drove doing driving")
"""Before "at 60" these indicate a speed or a time."""

COUNTED = _words("of to percent % for - against degrees with by times")
"""After a number these indicate a measure or a share, not an age or hour."""

# --- money --------------------------------------------------------------------------------

PRICE_VERBS = _words(
    "pay pays paid paying cost costs costing worth spend spends spent spending owe owes owed "
    "owing charge charges charged charging earn earns earned earning bid bids insured lend "
    "loan borrow borrowed lent bet wager price priced salary fee rent sum profit tip invoice "
    "raised fined budget"
)
DEAL_VERBS = _words(
    "make makes made making give gives gave giving get gets got getting want wants take takes "
    "offer offers offered offering say said sell sells sold flashed for have 'll do steal "
    "steals stole left"
)
GIVING = _words("give gave giving offer offered")
MONEY = _words(
    "dollar dollars buck bucks $ cent cents pound pounds quid euro euros \u00a3 \u20ac grand "
    "cash money price pesos rupees francs marks reward ransom salary"
)
RATES = _words("a per each apiece")
PERIODS = _words("week month year night day hour head piece ticket cheek shot pop")
NOT_PRICED = _words("time longer further younger older more")
"""After "how much" these show that no price is asked for."""

# --- calendar and clock -------------------------------------------------------------------

DECADE_LEADS = _words("the early late mid - ' so")
ERAS = _words("b.c. bc b.c a.d. ad a.d")
YEAR_LEADS = _words(
    "back spring summer fall autumn winter january february march april may june july august "
    "september october november december class early late ever again"
)
CLOCK = _words("am pm a.m. p.m. a.m p.m o'clock oclock")
HOURS = _words("noon midnight clock alarm appointment curfew bedtime tonight")
"""Words that indicate an hour without naming it."""

DAY_PARTS = _words("morning afternoon evening night")
DAY_PHRASES = frozenset(
    [("at", "night"), ("this", "morning"), ("this", "evening"), ("tomorrow", "morning")]
)
HOUR_LEADS = _words("at by till until @ 'til til")
MINUTES_LEADS = _words("past to after of till before")
MINUTES = _words("half quarter minutes")
RANGES = _words("and to till")

# --- persons ------------------------------------------------------------------------------

POINTING = _words("you us them those these ye")
US = _words("us you ye")
THEM = _words("them 'em em those these")
GROUPS = _words(
    "party family table room dinner team group mum mom mother father dad seats power"
)
CLAUSE_LEADS = _words(
    'if when where as because than and but or , . ; : - -- ... ? ! " so what how before why '
    "then while whether think know imagine suppose oh well yes no"
)
"""Openers of a clause whose subject *one* is generic."""

SUBORDINATORS = _words("if when where as than")
GENERIC_VERBS = _words(
    "must may might could should can would needs does shall cannot never ought will "
    "always gets feels learns wonders thinks ca"
)
BELOVED = _words("loved chosen dear")
ADDRESSED = _words("little young old wise great mighty foolish precious dark holy")
ADDRESS_LEADS = frozenset({"", *", o . oh ! ?".split()})
ADDRESS_ENDS = frozenset({"", *", . ! ?".split()})

# --- numbers for themselves ---------------------------------------------------------------

CODES = _words("911 411 007 747 101 999 9/11 24/7 420 666")
SUMS = _words("plus minus times equals equal divided + = multiplied x")
LABELS = _words("plan number channel level route highway version")
SET_PHRASES = frozenset([("high", "five"), ("in", "two"), ("take", "five")])
ONE_TALK = _words(
    "heard hear know knew write like try tried seen figure get buy told remember think miss "
    "forget got love on in"
)

# --- nouns --------------------------------------------------------------------------------

SELDOM_COUNTED = _words(
    "none time thing day way night today tonight tomorrow yesterday morning hour lot sir guys "
    "reason mine couple thanks hell asshole honey dear sweetheart luck dad mom luv mate boss "
    "kind sort minute second place side ones half help * ma'am lady gentlemen point o'clock "
    "cause gon outta rest end matter course fact stuff bit dude pal darling 'cause"
)
"""Nouns that a number seldom counts: fillers, adverbs of time, forms of address."""

DEFINITE = _words("the my your his her our their this that its 's every of")
"""Openers of a phrase for one known thing: a number seldom asks for more of it."""

PREPOSITIONS = _words("in for on at to with from by like into about")
"""Directly before a noun these indicate place or manner, and the noun is seldom counted."""


_CENTURIES = (17.0, 18.0, 19.0, 20.0)
_BETWEEN = ("between", "from")
_SAID = {Shape.UNIT, Shape.TEEN, Shape.TENS}


def short_year(number: CueNumber) -> bool:
    """ "since '96", the apostrophe in the token or before it."""
    if len(number.words) != 1:
        return False
    word = number.words[0]
    if word[0] in APOSTROPHES:
        return len(word) == 3
    return number.before() in APOSTROPHES and len(number.figures) == 2


def decade(number: CueNumber) -> bool:
    """ "the 80 's" """
    return (
        number.after() in ("'s", "\u2019s")
        and number.figures.endswith("0")
        and number.before() in DECADE_LEADS
    )


def four_digits(number: CueNumber) -> bool:
    """ "1984" """
    return len(number.figures) == 4 and 1000 <= int(number.figures) <= 2199


def spoken_year(number: CueNumber) -> bool:
    """ "nineteen eighty-four" """
    values = [part.value for part in number.parts]
    return (
        len(values) > 1
        and values[0] in _CENTURIES
        and all(part.shape in _SAID for part in number.parts)
        and 10 <= sum(values[1:]) < 100
        and number.value is None
    )


def since_year(number: CueNumber) -> bool:
    """ "since 72", "in the spring of 72", "the year 3", "4000 B.C." """
    if number.before() == "year" or number.after() in ERAS:
        return number.after() not in ("old", "of")
    if not number.within(40, 99) or number.after() in COUNTED:
        return False
    return number.before() == "since" or (
        number.before() in ("in", "of") and number.before(2) in YEAR_LEADS
    )


def is_hour(number: CueNumber) -> bool:
    """An hour by its value, 7.3 included (the releases' files have it for 7:30), or an hour
    with minutes ("seven thirty").
    """
    if number.value is not None:
        return 1 <= number.value < 13
    values = [part.value for part in number.parts]
    return len(values) > 1 and 1 <= values[0] <= 12 and 5 <= sum(values[1:]) < 60


def clock_behind(number: CueNumber) -> bool:
    """ "7 a.m.", "4am", "5 in the morning", "two at night" """
    if number.after() in CLOCK or number.words[-1].endswith(("am", "pm", "a.m.", "p.m.")):
        return True
    behind = number.words_after(3)
    if not is_hour(number) or len(behind) < 2:
        return False
    if behind[:2] == ["in", "the"]:
        return behind[-1] in DAY_PARTS
    return tuple(behind[:2]) in DAY_PHRASES


def past_the_hour(number: CueNumber) -> bool:
    """ "half past nine", "a quarter to six", "five after seven" """
    lead, before = number.before(), number.before(2)
    if not is_hour(number) or lead not in MINUTES_LEADS:
        return False
    if before in MINUTES:
        return True
    return bool(parts_of(before)) and lead not in ("of", "to")


def at_hour(number: CueNumber) -> bool:
    """ "see you at nine", "by ten", "until two"; at one only where a clock is mentioned."""
    if not is_hour(number) or number.after() in COUNTED:
        return False
    lead = number.before()
    if number.is_one:
        return lead in HOUR_LEADS and (_clock_in_sight(number) or number.near(HOURS))
    if lead == "by" and parts_of(number.before(2)):  # "four by eight" is a size
        return False
    if lead in ("around", "about", "exactly") and number.before(2) in HOUR_LEADS:
        return True
    return lead in HOUR_LEADS or lead in ("around", "strikes", "struck")


def between_hours(number: CueNumber) -> bool:
    """ "between nine and eleven", "from eight to six", "between 11 and midnight" """
    if not is_hour(number) or number.is_one:
        return False
    if number.before() in _BETWEEN and number.after() in RANGES:
        other = number.after(2)
    elif number.before() in RANGES and number.before(3) in _BETWEEN:
        other = number.before(2)
    else:
        return False
    parts = parts_of(other)
    return other in CLOCK | HOURS or (bool(parts) and 1 <= parts[0].value <= 12)


def what_time(number: CueNumber) -> bool:
    """ "What time is it? Six." """
    return is_hour(number) and number.asked("what", "time")


def hour_and_minutes(number: CueNumber) -> bool:
    """ "seven thirty" """
    return number.value is None and len(number.parts) == 2 and is_hour(number)


def clock_near(number: CueNumber) -> bool:
    """ "The nine o'clock train? No, the ten." """
    return is_hour(number) and not number.is_one and _clock_in_sight(number)


def _clock_in_sight(number: CueNumber) -> bool:
    """Whether a clock word is near; *am* is one after a number, and otherwise a verb."""
    if number.near(CLOCK - {"am"}):
        return True
    context = number.context
    near = range(max(0, number.start - NEAR), min(len(context), number.end + NEAR))
    return any(context.low[at] == "am" and parts_of(context.word(at - 1)) for at in near)


OLDEST = 120.0
CLAUSE = 5
"""Words before a number within which a verb of paying governs it."""


def _verb(number: CueNumber) -> tuple[str, str]:
    """The nearest word before that is no hedge, and the word before that one."""
    for back in range(1, 6):
        word = number.before(back)
        if word not in HEDGES:
            return word, number.before(back + 1)
    return "", ""


def turned(number: CueNumber) -> bool:
    """ "turned 50", "aged nine", "at the age of six", "pushing forty", "look thirty" """
    verb, before = _verb(number)
    if verb == "of":
        return before in AGED
    if verb in TURNING | AGED:
        return True
    return verb in REACHING and number.within(13, 100)


def is_aged(number: CueNumber) -> bool:
    """ "she 's 42", "when I was ten", "what are you, five", "it is hard being six" """
    if number.is_one or not number.within(1, OLDEST) or number.after() in COUNTED:
        return False
    verb, subject = _verb(number)
    if verb == "being":
        return True
    if subject == "are" and verb == "you":
        return "what" in number.words_before(4)
    if verb in ("she", "he") and subject in BE:
        return True
    if verb not in BE or subject in THINGS or not subject:
        return False
    if subject in PERSONS:
        return True
    if verb == "be":
        return subject in ("to", "na", "'ll") and number.within(13, OLDEST)
    return verb in ("was", "were", "is", "'s") and subject.isalpha()


def how_old(number: CueNumber) -> bool:
    """ "How old are you? Seven." """
    return number.within(0, OLDEST) and (
        number.asked("how", "old") or number.asked("what", "age")
    )


def at_age(number: CueNumber) -> bool:
    """ "at 16", "over forty", from thirteen up: lower numbers are mostly hours."""
    return (
        number.before() in AGE_LEADS
        and number.after() not in ("to", "past", "of")
        and number.within(13, 100)
        and number.before(2) not in MOVING
    )


def named_age(number: CueNumber) -> bool:
    """ "Ilse Brandt, 61, keeps the ferry" """
    return (
        number.before() == ","
        and number.tag_before(2) == "PROPN"
        and number.after() in (",", ".")
        and number.within(2, 110)
        and not number.is_one
    )


def of_age(number: CueNumber) -> bool:
    """ "Do I look twelve years old? Fourteen?" """
    return not number.is_one and number.within(1, 110) and number.near(AGE_SIGNS, on=6)


def _how_much(number: CueNumber) -> bool:
    context = number.context
    for at in number.asked_at("how", "much"):
        return context.word(at + 2) not in NOT_PRICED
    return False


def how_much(number: CueNumber) -> bool:
    """ "How much is the rug? Two hundred.", "What did you pay for it? Ninety." """
    if number.is_one:
        return False
    return _how_much(number) or not PRICE_VERBS.isdisjoint(number.question())


def priced(number: CueNumber) -> bool:
    """ "paid five", "cost me 1.2 million", "worth about two million" """
    return not number.is_one and not PRICE_VERBS.isdisjoint(number.words_before(CLAUSE))


def given(number: CueNumber) -> bool:
    """ "I'll give you four" """
    return (
        not number.is_one
        and number.before() in ("you", "him", "her", "them")
        and number.before(2) in GIVING
    )


def large_sum(number: CueNumber) -> bool:
    """ "made a million", "get three thousand" """
    return _scaled(number) and not DEAL_VERBS.isdisjoint(number.words_before(4))


def bare_sum(number: CueNumber) -> bool:
    """ "That's two hundred and thirty thousand." """
    if not _scaled(number) or number.before() in ("in", "of", "to", "year"):
        return False
    largest = max(part.value for part in number.parts)
    if len(number.words) == 1 and (largest < 1e6 or number.before(2) in ("in", "of")):
        return False
    return number.after() not in ("of", "to", "years") and number.after() not in ERAS


def rated(number: CueNumber) -> bool:
    """ "thirty a week", "five hundred each" """
    if number.is_one or not number.within(5, float("inf")) or number.after() not in RATES:
        return False
    return number.after() in ("each", "apiece") or number.after(2) in PERIODS


def money_near(number: CueNumber) -> bool:
    """ "Ten dollars for the rug? I paid twelve." """
    return not number.is_one and number.near(MONEY)


def _scaled(number: CueNumber) -> bool:
    return any(part.shape is Shape.SCALE for part in number.parts)


# --- the noun that a number counts, where no cue indicates a class ---------------------------
#
# The nearest noun before the number, weighted. A noun is worth less where it is seldom the
# head: a form of address, an adverb of time, a noun after a preposition, one that was
# mentioned before ("the boat", "my boat" against "a boat"), the first part of a compound. The
# weights were tuned one by one on 2,371 Reference examples of the release's training part,
# where they raise the share of correct heads from 54.6 % (the nearest noun before, else after)
# to 62.0 %; on the development part from 60.1 to 65.5 %.

REACH = 1_000
"""Tokens on either side of a number that are considered, as in the recipe nearest-noun."""

DECAY = 0.6
"""The factor from each noun to the next one on its side, nearest first."""

BEHIND = 0.02
"""For a noun after the number, unless it is shared with a second number."""

NAME_SCORE = 0.03
"""For a name, so that it ranks below all nouns."""

FLOOR = 0.04
"""The least worth of a head; below it the number refers to nothing in the text (OTHER): of 367
such numbers of the training part OTHER is correct for 187, the best noun for 53.
"""

SELDOM = 0.05
KNOWN_ALREADY = 0.6
AFTER_PREPOSITION = 0.3
IN_ADJUNCT = 0.5
"""For "in the hall", in addition to KNOWN_ALREADY."""

IN_COMPOUND = 0.3
IN_PHRASE = 0.5
"""For a noun up to three tokens before the number without a mark between: part of its own
clause.
"""

_PHRASE = 3
_STOPS = frozenset(".?!,;")
_MODIFIERS = frozenset({"ADJ", "NOUN", "PROPN"})
_INSIDE = frozenset({"ADJ", "NUM", "DET", "NOUN", "PROPN"})
_EITHER = frozenset({"or", "to", "-", "\u2013"})


def candidates(number: CueNumber, tag: str, step: int) -> Iterator[int]:
    """Tokens with a tag ("NOUN", "PROPN") on one side, nearest first, without numbers.

    step: -1 before the number, 1 after it. At most REACH tokens are examined.
    """
    context = number.context
    first = number.start - 1 if step < 0 else number.end
    for at in range(first, first + step * REACH, step):
        if not 0 <= at < len(context):
            break
        if context.tags[at] == tag and not parts_of(context.words[at]):
            yield at


def head_score(number: CueNumber, token: int, rank: int) -> float:
    """The worth of a noun or name as head, between 0 and 1. rank: 0 for the nearest on its
    side.
    """
    context = number.context
    value = DECAY**rank
    if token >= number.end:
        value *= BEHIND
    if context.tags[token] == "PROPN":
        value *= NAME_SCORE
    if context.low[token] in SELDOM_COUNTED:
        value *= SELDOM
    opener = _opener(context, token)
    if context.word(opener) in DEFINITE:
        value *= KNOWN_ALREADY
        if context.word(opener - 1) in PREPOSITIONS:
            value *= IN_ADJUNCT
    if context.word(token - 1) in PREPOSITIONS:
        value *= AFTER_PREPOSITION
    if context.tag(token + 1) == "NOUN":
        value *= IN_COMPOUND
    if 0 < number.start - token <= _PHRASE and _in_phrase(number, token):
        value *= IN_PHRASE
    return value


def best_head(number: CueNumber) -> int | None:
    """The noun of highest worth, the nearest of equals; None if none is above FLOOR.

    The search stops when no farther noun can have a higher worth. Nouns after the number, and
    names, are always below FLOOR.
    """
    most, found = FLOOR, None
    for rank, token in enumerate(candidates(number, "NOUN", -1)):
        if DECAY**rank <= most:
            break
        value = head_score(number, token, rank)
        if value > most:
            most, found = value, token
    return found


def shared_noun(number: CueNumber) -> int | None:
    """The noun after "2 or 3 apples", "2 or 3 of the apples" or "two, two owls": the head of
    the first number; None without one.

    It ends the phrase that the second number opens; adjectives may stand between.
    """
    again = number.after() == "," and [number.after(2)] == number.words
    if not (again or (number.after() in _EITHER and parts_of(number.after(2)))):
        return None
    first = 4 if not again and number.after(3) == "of" else 3
    last = None
    for on in range(first, first + 6):
        if number.tag_after(on) not in _INSIDE:
            break
        if number.tag_after(on) == "NOUN" and not parts_of(number.after(on)):
            last = on
    if last is None or number.after(last) in SELDOM_COUNTED:
        return None
    return number.end - 1 + last


def _opener(context: CueContext, token: int) -> int:
    """The place before the phrase of a noun; at most three modifiers are skipped."""
    at = token - 1
    while at > max(0, token - 4) and context.tags[at] in _MODIFIERS:
        at -= 1
    return at


def _in_phrase(number: CueNumber, token: int) -> bool:
    context = number.context
    return context.same_turn(token, number.start) and _STOPS.isdisjoint(
        context.low[token : number.start]
    )


_ENDS = (".", "!")
_MARKS = (",", "...", "\u2026", "-", "and", *_ENDS)
_ROUND = {Shape.SCALE, Shape.HUNDRED}


def you_two(number: CueNumber) -> bool:
    """ "you three", "the arrest of those two"; not "give you four" """
    if number.is_one or not number.within(2, 12) or number.before() not in POINTING:
        return False
    return number.before(2) not in DEAL_VERBS | PRICE_VERBS


def of_us(number: CueNumber) -> bool:
    """ "the two of us", "one of you" """
    return number.after() == "of" and number.after(2) in US


def generic_one(number: CueNumber) -> bool:
    """ "one does not ask", "if one sings" """
    lead = number.before()
    if not number.is_one or (lead and lead not in CLAUSE_LEADS):
        return False
    if number.after() in GENERIC_VERBS:
        return True
    return number.tag_after() in ("VERB", "AUX") and lead in SUBORDINATORS


def one_another(number: CueNumber) -> bool:
    """ "they help one another" """
    return number.is_one and number.after() == "another"


def named_one(number: CueNumber) -> bool:
    """ "a loved one", "Come here, little one." """
    if not number.is_one:
        return False
    if number.before() in BELOVED:
        return True
    alone = number.before(2) in ADDRESS_LEADS and number.after() in ADDRESS_ENDS
    return alone and number.before() in ADDRESSED


def person_is_the_one(number: CueNumber) -> bool:
    """ "I am the lucky one", "you're not the only one" """
    words = number.words_before(7)
    if not number.is_one or "the" not in words:
        return False
    lead = words[: len(words) - 1 - words[::-1].index("the")]
    while lead and lead[-1] in BE_ADVERBS:
        lead.pop()
    return len(lead) > 1 and lead[-1] in BE and lead[-2] in SPEAKERS


def company(number: CueNumber) -> bool:
    """ "a table for four", "a family of six" """
    return (
        number.tag_after() != "NOUN"
        and number.within(1, 50)
        and number.before() in ("of", "for", "to")
        and number.before(2) in GROUPS
    )


def code(number: CueNumber) -> bool:
    """ "911", "9/11", "007", "555-0199" """
    if any(part.shape is Shape.CODE for part in number.parts):
        return True
    if any(len(part.plain) > 1 and part.plain.startswith("0") for part in number.parts):
        return True
    return len(number.words) == 1 and number.words[0] in CODES


def counting(number: CueNumber) -> bool:
    """ "one, two, three", "five ... four ... three" """
    value = number.value
    if value is None or number.after() == "of":
        return False
    before = (number.before(), number.before(2), number.before(3))
    after = (number.after(), number.after(2), number.after(3))
    for mark, word, beyond in (before, after):
        parts = parts_of(word)
        alone = mark not in _ENDS or beyond in ("", *_MARKS)
        if mark in _MARKS and alone and [abs(part.value - value) for part in parts] == [1.0]:
            return True
    return False


def digits_in_a_row(number: CueNumber) -> bool:
    """ "five five five oh one" """
    return len(number.parts) > 2 and number.value is None


def summed(number: CueNumber) -> bool:
    """ "plus two equals six", "four by eight" """
    if number.after() == "by" and parts_of(number.after(2)):
        return True
    if number.before() == "by" and parts_of(number.before(2)):
        return True
    return number.before() in SUMS or number.after() in SUMS


def a_ten(number: CueNumber) -> bool:
    """ "a perfect 10", "an eight" """
    if number.is_one or any(part.shape in _ROUND for part in number.parts):
        return False
    back = 1
    while number.tag_before(back) == "ADJ" and back < 4:
        back += 1
    return number.before(back) in ("a", "an")


def set_phrase(number: CueNumber) -> bool:
    """ "high five", "in two", "one by one", "two out of ten", "channel 4" """
    if number.before() in LABELS or (number.before(), *number.words) in SET_PHRASES:
        return True
    behind = (number.after(), number.after(2))
    return behind == ("out", "of") or (number.is_one and behind in (("by", "one"), ("at", "a")))


def pointed_one(number: CueNumber) -> bool:
    """ "I've heard that one", "let me think on this one" """
    return (
        number.is_one
        and number.before() in ("this", "that")
        and number.before(2) in ONE_TALK
        and number.after() != "of"
    )


def counts_persons(number: CueNumber) -> bool:
    """ "the one who", "three of them": persons, where no noun before names the things."""
    if number.after() == "of":
        return number.after(2) in THEM
    return number.is_one and number.after() in ("who", "whom")


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue of an implicit class."""

    name: str
    """The reason that an answer has."""
    kind: Kind
    what: str
    """The cue in words."""
    test: Callable[[CueNumber], bool]
    """Whether it holds for a number."""


_YEAR, _AGE, _MONEY = Kind.YEAR, Kind.AGE, Kind.CURRENCY
_PEOPLE, _TIME, _OTHER = Kind.PEOPLE, Kind.TIME, Kind.OTHER

CUES: tuple[Cue, ...] = (
    Cue("short-year", _YEAR, "Two digits after an apostrophe: '96.", short_year),
    Cue("decade", _YEAR, "A round number before 's: the 80's.", decade),
    Cue(
        "clock-behind",
        _TIME,
        "A.m., o'clock or a part of the day follows: 5 in the morning.",
        clock_behind,
    ),
    Cue("code", _OTHER, "A well-known code: 911, 9/11, 007.", code),
    Cue("past-the-hour", _TIME, "Minutes come before: half past nine.", past_the_hour),
    Cue("spoken-year", _YEAR, "A year as people say it: nineteen eighty-four.", spoken_year),
    Cue("turned", _AGE, "A verb or noun of ageing comes before: turned 50.", turned),
    Cue("priced", _MONEY, "A verb of paying comes before: it cost nine.", priced),
    Cue("four-digits", _YEAR, "Four digits from 1000 to 2199.", four_digits),
    Cue("named-age", _AGE, "After a name, between commas.", named_age),
    Cue("since-year", _YEAR, "Since, a month or a season before: since 72.", since_year),
    Cue("is-aged", _AGE, "Somebody is the number: she's 42.", is_aged),
    Cue("how-old", _AGE, "The answer to how old.", how_old),
    Cue("at-age", _AGE, "Thirteen or more after at, over or under.", at_age),
    Cue("how-much", _MONEY, "The answer to how much or to a price.", how_much),
    Cue("rated", _MONEY, "An amount a week, a head, each.", rated),
    Cue("large-sum", _MONEY, "Thousands got, made or offered.", large_sum),
    Cue("bare-sum", _MONEY, "Thousands without anything counted.", bare_sum),
    Cue("given", _MONEY, "Offered to somebody: I'll give you four.", given),
    Cue("what-time", _TIME, "The answer to what time.", what_time),
    Cue("between-hours", _TIME, "Between two hours: from nine to five.", between_hours),
    Cue("at-hour", _TIME, "At, by or until an hour: see you at nine.", at_hour),
    Cue("money-near", _MONEY, "A word of money nearby.", money_near),
    Cue("of-age", _AGE, "A word of age nearby.", of_age),
    Cue("hour-and-minutes", _TIME, "Hour and minutes: seven thirty.", hour_and_minutes),
    Cue("clock-near", _TIME, "A word of time nearby.", clock_near),
    Cue("of-us", _PEOPLE, "Of us, of you: the two of us.", of_us),
    Cue("you-two", _PEOPLE, "After you, us, them or those: you three.", you_two),
    Cue("generic-one", _PEOPLE, "One for anybody: one does not ask.", generic_one),
    Cue("one-another", _PEOPLE, "One another.", one_another),
    Cue("named-one", _PEOPLE, "A loved one; little one, as an address.", named_one),
    Cue("the-one", _PEOPLE, "Somebody is the one: I'm the lucky one.", person_is_the_one),
    Cue("company", _PEOPLE, "A group of this size: a table for four.", company),
    Cue("counting", _OTHER, "Numbers one apart in a row: three, two, one.", counting),
    Cue("digits", _OTHER, "Digits one by one, as on a telephone.", digits_in_a_row),
    Cue("summed", _OTHER, "Plus, minus, by: a sum or a size.", summed),
    Cue("a-ten", _OTHER, "A score or a card: a perfect 10.", a_ten),
    Cue("set-phrase", _OTHER, "Set phrases: high five, one by one.", set_phrase),
    Cue("pointed-one", _OTHER, "One for a saying: I've heard that one.", pointed_one),
)


NAME = "cues"
TASK = "resolution"
VERSION = "1"

NEAREST = "nearest-noun"
SHARED = "shared-noun"
NOTHING = "nothing-near"


@dataclass(frozen=True, slots=True)
class CueResult:
    """The choice of `resolve`, and why."""

    kind: Kind
    token: int | None
    """The head of a REFERENCE; else None."""
    cue: str
    """The name of a cue; NEAREST for the best noun, SHARED for the noun after "2 or 3 apples",
    NOTHING for a number with neither cue nor noun: OTHER, or PEOPLE for "the one who" and "two
    of them".
    """


def resolve(context: CueContext, start: int, end: int) -> CueResult:
    """The head of the number at tokens [start, end) of a context; equal to the choice of
    `predict`.

    Only words near the number are examined, so that long texts take linear time.
    """
    number = CueNumber(context, start, end)
    shared = shared_noun(number)
    if shared is not None:
        return CueResult(Kind.REFERENCE, shared, SHARED)
    for cue in CUES:
        if cue.test(number):
            return CueResult(cue.kind, None, cue.name)
    token = best_head(number)
    if token is None:
        return CueResult(_without_noun(number), None, NOTHING)
    return CueResult(Kind.REFERENCE, token, NEAREST)


def _without_noun(number: CueNumber) -> Kind:
    """The class of a number with neither cue nor noun."""
    return Kind.PEOPLE if counts_persons(number) else Kind.OTHER


def predict(passage: Passage, anchor: Anchor, tags: Sequence[str]) -> Choice:
    """The recipe. tags: a universal part of speech for each token of `tag_span`.

    Raises ValueError for another number of tags.
    """
    start, end = tag_span(passage, anchor)
    if len(tags) != end - start:
        raise ValueError(f"{len(tags)} tags for the {end - start} tokens around an anchor")
    number = _number(passage, anchor, start, tags)
    cues, ranks = suggest(number)
    classes, heads = score(number, cues, featurise(number, ranks))
    shifted = {token + start: value for token, value in heads.items()}
    return decide(classes, shifted, len(passage.tokens))


def suggest(number: CueNumber) -> tuple[list[Cue], dict[int, int]]:
    """The cues that hold, in the order of CUES, and the ranks of the candidates.

    Candidates are the nouns and names in reach; rank 0 is the nearest on its side.
    """
    ranks = {
        token: rank
        for tag in ("NOUN", "PROPN")
        for step in (-1, 1)
        for rank, token in enumerate(candidates(number, tag, step))
    }
    return [cue for cue in CUES if cue.test(number)], ranks


def featurise(number: CueNumber, ranks: dict[int, int]) -> dict[int, float]:
    """The worth of each candidate by itself."""
    return {token: head_score(number, token, rank) for token, rank in ranks.items()}


def score(
    number: CueNumber, cues: Sequence[Cue], worths: dict[int, float]
) -> tuple[dict[Kind, float], dict[int, float]]:
    """The scores of classes and of tokens.

    The class of a number with neither cue nor noun has the score of a noun worth FLOOR. A noun
    shared with the next number has 1, and all other scores are halved.
    """
    classes: dict[Kind, float] = {}
    for rank, cue in enumerate(cues):
        classes.setdefault(cue.kind, 0.5**rank)
    factor = 0.5 ** len(cues) / max(FLOOR, *worths.values(), 0.0)
    classes.setdefault(_without_noun(number), FLOOR * factor)
    heads = {token: worth * factor for token, worth in worths.items()}
    shared = shared_noun(number)
    if shared is not None:
        classes = {kind: value / 2 for kind, value in classes.items()}
        heads = {token: value / 2 for token, value in heads.items()} | {shared: 1.0}
    return classes, heads


def decide(classes: dict[Kind, float], heads: dict[int, float], tokens: int) -> Choice:
    """The best of classes and heads, the second best, and the scores of all.

    tokens: of the passage. Of equals the first wins: classes in their order, then the nearest
    noun.
    """
    scores = {
        place: classes[kind] for place, kind in enumerate(IMPLICIT_KINDS) if kind in classes
    }
    scores |= {len(IMPLICIT_KINDS) + token: value for token, value in heads.items()}
    return choice_of(scores, tokens)


def _number(passage: Passage, anchor: Anchor, start: int, tags: Sequence[str]) -> CueNumber:
    places = range(start, start + len(tags))
    context = CueContext(
        [passage.word(at) for at in places], tags, turns_of(passage, start, len(tags))
    )
    return CueNumber(context, anchor.start - start, anchor.end - start)


def turns_of(passage: Passage, start: int, size: int) -> list[int]:
    """The rank of the turn of each of `size` tokens from `start` on."""
    turns: list[int] = []
    rank = passage.turn_of(start)
    while len(turns) < size:
        left = passage.turns[rank].end - start - len(turns)
        turns.extend([rank] * min(left, size - len(turns)))
        rank += 1
    return turns


UNTAGGED = ""
"""The tag of a token in reach that the item's parse does not hold: neither noun nor name."""


class CuesResolver:
    recipe = NAME
    version = VERSION
    needs = frozenset({ParseLayer.POS})
    probabilities = False

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice for each item. Raises ValueError for an item without parts of speech."""
        return [predict(item.passage, item.anchor, _tags(item)) for item in items]


def _tags(item: Item) -> list[str]:
    """A tag for each token of `tag_span`."""
    start, end = tag_span(item.passage, item.anchor)
    first, tags = tags_within(item)
    behind = end - first - len(tags)
    return [*[UNTAGGED] * (first - start), *tags, *[UNTAGGED] * behind]
