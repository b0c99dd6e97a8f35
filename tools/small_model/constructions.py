"""Numbers without a noun whose head is known, because the text was made so.

A sentence of a dialog is changed, or gets a sentence or another speaker's turn after or before
it, so that a number without a noun can only mean a noun of the sentence (CONSTRUCTIONS); or so
that it is one of the six implicit classes. `padded` puts turns of other dialogs around an
example, so that training passages are as long as those of dev.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, cycle

from nfh_models.domain import (
    Anchor,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.parsing.base import Parsed, Parser, WordSpan
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.text.numbers import may_hold_number
from nfh_models.text.sentences import sentence_spans
from nfh_models.text.tokens import lemmas, plain_words


class Construction(StrEnum):
    """How an example is made; the first word of its `where`."""

    LEFT_OUT = "left-out"
    """The noun that a number counts is left out where it stands before the number, too."""

    BEHIND = "behind"
    """The head stands after the number: "two or three dogs", or in a later turn."""

    INDEFINITE = "indefinite"
    """ "a dog" becomes "one" where a dog was spoken of before."""

    REPLY = "reply"
    """Another speaker answers a counted noun with another number."""

    DISTRACTOR = "distractor"
    """The same, with a noun nearer to the number that cannot be its head."""

    DISTANT = "distant"
    """The same as a reply, several turns without a noun that can be counted later."""

    LIST = "list"
    """ "One … one …" after a counted noun."""

    CLASS = "class"
    """A sentence whose number is of one of the six implicit classes."""


# --- dialogs --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """The words of a turn."""

    speaker: str | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dialog:
    """Turns in their order. name: of the source, for `where` and `group` of examples."""

    lines: tuple[Line, ...]
    name: str

    @classmethod
    def of(cls, passage: Passage, name: str) -> "Dialog":
        """The turns of a passage."""
        words = [passage.word(place) for place in range(len(passage.tokens))]
        lines = (
            Line(turn.speaker, tuple(words[turn.start : turn.end])) for turn in passage.turns
        )
        return cls(tuple(lines), name)


Place = tuple[int, int]
"""A word: the rank of its turn, and its place in the turn."""


def passage_of(lines: Sequence[Line]) -> Passage:
    """The words parted by one space."""
    words = [word for line in lines for word in line.words]
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    tokens = tuple(
        Token(start, start + len(word), lemma)
        for start, word, lemma in zip(starts, words, lemmas(words), strict=False)
    )
    bounds = [0, *accumulate(len(line.words) for line in lines)]
    turns = tuple(
        Turn(number, line.speaker, bounds[number], bounds[number + 1])
        for number, line in enumerate(lines)
    )
    return Passage(" ".join(words), tokens, turns)


def example_of(
    lines: Sequence[Line],
    anchor: Place,
    answer: Sequence[Place] | Kind,
    how: Construction,
    name: str,
) -> ResolutionExample:
    """An example with an anchor of one word. answer: mentions of one head, or a class."""
    passage = passage_of(lines)
    if isinstance(answer, Kind):
        gold = class_answer(answer)
    else:
        heads = sorted(passage.turns[turn].start + place for turn, place in answer)
        gold = reference_answer([[Mention(one, one + 1, one) for one in heads]])
    start = passage.turns[anchor[0]].start + anchor[1]
    item = Item(passage, Anchor(start, start + 1))
    return ResolutionExample(item, gold, f"{how} {name}", name)


# --- nouns, and what is counted -------------------------------------------------------------

MONEY = frozenset(
    "dollar buck pound cent penny euro quid grand dime nickel quarter coin credit".split()
)
"""What is money keeps its noun: the release labels it CURRENCY although the noun is there."""

UNITS = frozenset(
    "century decade year month week day hour minute second night morning time weekend mile "
    "foot inch yard meter metre kilometer pace step block gallon ton ounce franc mark peso yen "
    "ruble".split()
)
"""What a short reply alone can count once more: "Three weeks." "Only two?\""""

UNFIT = MONEY | frozenset(
    "percent degree o'clock hundred thousand million billion dozen number one way thing lot "
    "bit couple moment point hand kind sort part half piece while reason chance step matter "
    "word favor favour other minute second place case sense idea problem question".split()
)
"""Nouns of set phrases ("one way", "two bits"), and parts of numbers."""

PERSONS = frozenset(
    "man woman person people child kid boy girl guy son daughter brother sister friend wife "
    "husband baby soldier doctor cop nurse student teacher lady fellow gentleman agent player "
    "officer victim suspect patient witness cousin twin parent uncle aunt".split()
)

SMALL = "two three four five six seven eight nine ten eleven twelve".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()

FARTHEST = 3
"""Words from a number to the noun that it counts, at most."""


@dataclass(frozen=True, slots=True)
class CountedNoun:
    """A number of one word and the noun that it counts, in a turn. more: it is more than one.
    start, end: of the sentence."""

    turn: int
    number: int
    noun: int
    lemma: str
    more: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in a turn. first: the first word of its phrase, `determiner` in lower case. alone:
    it is no part of a longer name or compound."""

    turn: int
    place: int
    first: int
    determiner: str
    lemma: str
    plural: bool
    alone: bool


@dataclass(slots=True)
class ParsedDialog:
    """A dialog with its nouns. ends: of each turn where its sentences end."""

    dialog: Dialog
    counted: list[CountedNoun]
    nouns: list[Noun]
    ends: dict[int, list[int]]

    @property
    def lines(self) -> tuple[Line, ...]:
        """The turns."""
        return self.dialog.lines


def parsed_dialogs(dialogs: Sequence[Dialog], parser: Parser) -> list[ParsedDialog]:
    """Dialogs parsed sentence by sentence."""
    made = [ParsedDialog(dialog, [], [], {}) for dialog in dialogs]
    spans = [
        (one, turn, start, end)
        for one in made
        for turn, line in enumerate(one.lines)
        for start, end in _sentences(line.words)
    ]
    parses = parser.parse(
        WordSpan(plain_words(one.lines[turn].words[start:end]), [True] * (end - start))
        for one, turn, start, end in spans
    )
    for (one, turn, start, end), parsed in zip(spans, parses, strict=True):
        one.ends.setdefault(turn, []).append(end)
        known = lemmas(parsed.words)
        one.nouns.extend(_nouns(parsed, known, turn, start))
        one.counted.extend(_counted(parsed, known, turn, start, end))
    return made


def _sentences(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    start = 0
    for _, stop in sentence_spans(" ".join(words), 0, starts[-1] - 1):
        end = start
        while end < len(words) and starts[end] < stop:
            end += 1
        if end > start:
            yield start, end
            start = end
    if start < len(words):
        yield start, len(words)


def _nouns(parsed: Parsed, known: Sequence[str], turn: int, offset: int) -> Iterator[Noun]:
    words = parsed.words
    for place, pos in enumerate(parsed.pos):
        if pos != "NOUN" or not words[place].isalpha():
            continue
        first = place
        while first > 0 and parsed.heads[first - 1] == place and place - first <= FARTHEST:
            first -= 1
        yield Noun(
            turn,
            offset + place,
            offset + first,
            words[first].lower(),
            known[place],
            plural=parsed.tags[place] == "NNS",
            alone=parsed.relations[place] != "compound" and not _goes_on(parsed, place),
        )


def _counted(
    parsed: Parsed, known: Sequence[str], turn: int, offset: int, end: int
) -> Iterator[CountedNoun]:
    words = parsed.words
    for place, relation in enumerate(parsed.relations):
        noun = parsed.heads[place]
        if relation != "nummod" or parsed.pos[place] != "NUM" or parsed.pos[noun] != "NOUN":
            continue
        between = parsed.pos[place + 1 : noun]
        before = words[place - 1] if place else ""
        behind = words[noun + 1].lower() if noun + 1 < len(words) else ""
        if (
            place < noun <= place + FARTHEST
            and words[noun].isalpha()
            and set(between) <= {"ADJ", "NOUN"}
            and not _goes_on(parsed, noun)
            and not (place and parsed.pos[place - 1] == "NUM")
            and before not in ("$", "#", "'", "/", ":", "-")
            and behind not in ("old", "-", "'s", "%", "ago", "of", "and", "or")
        ):
            more = parsed.tags[noun] == "NNS" and words[place].lower() not in ("one", "1")
            yield CountedNoun(
                turn, offset + place, offset + noun, known[noun], more, offset, end
            )


def _goes_on(parsed: Parsed, noun: int) -> bool:
    """Whether a name or number follows, of which the noun may be a part."""
    return noun + 1 < len(parsed.pos) and parsed.pos[noun + 1] in ("NOUN", "PROPN", "NUM")


def countable(dialogs: Iterable[ParsedDialog]) -> frozenset[str]:
    """Lemmas of nouns that stand with "a" or in the plural twice or more, and in a quarter of
    all cases: no "water"."""
    every: Counter[str] = Counter()
    some: Counter[str] = Counter()
    for one in dialogs:
        for noun in one.nouns:
            every[noun.lemma] += 1
            some[noun.lemma] += noun.plural or noun.determiner in ("a", "an", "another", "one")
    return frozenset(lemma for lemma, n in some.items() if n > 1 and 4 * n >= every[lemma])


# --- changes of a dialog --------------------------------------------------------------------


def _put(
    lines: Sequence[Line], turn: int, start: int, end: int, words: Sequence[str]
) -> list[Line]:
    """Words in place of words [start, end) of a turn."""
    own = lines[turn]
    changed = replace(own, words=(*own.words[:start], *words, *own.words[end:]))
    return [*lines[:turn], changed, *lines[turn + 1 :]]


def _moved(places: Iterable[Place], turn: int, end: int, by: int) -> list[Place]:
    """Places in a dialog in which the words from `end` on of a turn have moved."""
    return [(at, one + by if at == turn and one >= end else one) for at, one in places]


def _distances(lines: Sequence[Line], anchor: Place, places: Iterable[Place]) -> list[int]:
    """Words from the anchor to each place, below 0 before it."""
    first = [0, *accumulate(len(line.words) for line in lines)]
    here = first[anchor[0]] + anchor[1]
    return [first[turn] + place - here for turn, place in places]


def _cased(word: str, like: str) -> str:
    return word.capitalize() if like[:1].isupper() else word


def _filled(form: str, number: str) -> tuple[tuple[str, ...], int]:
    """The words of a form with a number in it, and the place of the number."""
    words = form.split()
    at = next(place for place, word in enumerate(words) if word in ("{n}", "{N}"))
    if number == "one":
        words = [{"are": "is", "were": "was"}.get(word, word) for word in words]
    words[at] = number.capitalize() if words[at] == "{N}" else number
    return tuple(words), at


def _other_speaker(lines: Sequence[Line], turn: int) -> str | None:
    """The speaker of the nearest turn of somebody else, or a name of nobody."""
    own = lines[turn].speaker
    around = (*lines[turn + 1 :], *reversed(lines[:turn]))
    others = (line.speaker for line in around if line.speaker != own)
    return next(others, "Other" if own != "Other" else "Another")


def _another_number(word: str, choices: Sequence[str], rng: random.Random) -> str:
    return rng.choice([one for one in choices if one != word.lower()])


# --- heads in the text ----------------------------------------------------------------------

AWAY = 60
"""Words from a number to the nearest mention of a noun that was left out, at most."""


def left_out(one: ParsedDialog) -> Iterator[ResolutionExample]:
    """Counted nouns left out, with what stands before them, where they stand elsewhere."""
    for counted in one.counted:
        word = one.lines[counted.turn].words[counted.number].lower()
        if counted.lemma in UNFIT or (word in ("one", "1") and counted.lemma in UNITS):
            continue
        start, end = counted.number + 1, counted.noun + 1
        others = [
            (noun.turn, noun.place)
            for noun in one.nouns
            if noun.lemma == counted.lemma
            and (noun.turn, noun.place) != (counted.turn, counted.noun)
        ]
        made = _put(one.lines, counted.turn, start, end, ())
        heads = _moved(others, counted.turn, end, start - end)
        anchor = counted.turn, counted.number
        away = _distances(made, anchor, heads)
        if away and min(map(abs, away)) <= AWAY:
            how = Construction.BEHIND if min(away) > 0 else Construction.LEFT_OUT
            yield example_of(made, anchor, heads, how, one.dialog.name)


JOINTS = (("or",), ("or",), ("or",), ("to",), (",", "maybe"), (",",), (",", "or"))


def alternatives(one: ParsedDialog, rng: random.Random) -> Iterator[ResolutionExample]:
    """ "three dogs" as "two or three dogs", where the first number is the anchor."""
    for counted in one.counted:
        word = one.lines[counted.turn].words[counted.number]
        less = _less(word.lower(), rng)
        if less is None or not counted.more or counted.lemma in MONEY:
            continue
        put = (_cased(less, word), *rng.choice(JOINTS), word.lower())
        at = counted.number
        made = _put(one.lines, counted.turn, at, at + 1, put)
        heads = [(counted.turn, counted.noun + len(put) - 1)]
        yield example_of(made, (counted.turn, at), heads, Construction.BEHIND, one.dialog.name)


def _less(number: str, rng: random.Random) -> str | None:
    """The number that is said before another in "two or three"; None where there is none."""
    for names in (["one", *SMALL], TENS):
        if number in names[1:]:
            return names[names.index(number) - 1]
    if not (number.isascii() and number.isdigit() and 1 < int(number) < 1_000):
        return None
    value = int(number)
    return str(value - (1 if value % 10 else rng.choice((5, 10)) if value > 10 else 1))


AHEAD = (
    "I see {n} .",
    "There are {n} over there .",
    "Look , I found {n} !",
    "I could only get {n} .",
    "I thought you had {n} .",
    "Can you see {n} ?",
    "I have {n} .",
    "We still need {n} .",
    "They sent {n} .",
)
"""What another speaker says before the noun is named."""


def announced(one: ParsedDialog, rng: random.Random) -> Iterator[ResolutionExample]:
    """A turn with a number before the turn in which somebody else names the noun."""
    for counted in one.counted:
        known = any(
            noun.lemma == counted.lemma and noun.turn < counted.turn for noun in one.nouns
        )
        if known or not counted.more or counted.lemma in UNFIT | UNITS:
            continue
        turn, own = counted.turn, one.lines[counted.turn]
        number = _another_number(own.words[counted.number], ["one", *SMALL], rng)
        words, at = _filled(rng.choice(AHEAD), number)
        answer = replace(own, words=own.words[counted.start :])
        made = [
            *one.lines[:turn],
            Line(_other_speaker(one.lines, turn), words),
            answer,
            *one.lines[turn + 1 :],
        ]
        heads = [(turn + 1, counted.noun - counted.start)]
        yield example_of(made, (turn, at), heads, Construction.BEHIND, one.dialog.name)


ARTICLES = frozenset(("a", "an"))
SINGULAR = frozenset(("another", "this", "that", "every", "each", "any"))
"""What stays before "one": "another one"."""

PLURAL = frozenset(("these", "those", "my", "his", "her", "their"))
"""What stays before a number: "these two"."""

SOME = frozenset(("some", "many", "several"))


def indefinites(
    one: ParsedDialog, fit: frozenset[str], rng: random.Random
) -> Iterator[ResolutionExample]:
    """Nouns that stood before, as "one" or as a number. fit: see `countable`."""
    for noun in one.nouns:
        here = noun.turn, noun.place
        heads = [
            (other.turn, other.place)
            for other in one.nouns
            if other.lemma == noun.lemma and (other.turn, other.place) < here
        ]
        words = one.lines[noun.turn].words
        behind = words[noun.place + 1].lower() if noun.place + 1 < len(words) else ""
        change = _number_for(noun, words, rng)
        if (
            not heads
            or change is None
            or not noun.alone
            or noun.lemma not in fit - UNFIT - UNITS
            or behind in ("of", "-", "'s", "and", "or")
        ):
            continue
        start, word = change
        made = _put(one.lines, noun.turn, start, noun.place + 1, (word,))
        anchor = noun.turn, start
        if max(_distances(made, anchor, heads)) >= -AWAY // 2:
            yield example_of(made, anchor, heads, Construction.INDEFINITE, one.dialog.name)


def _number_for(noun: Noun, words: Sequence[str], rng: random.Random) -> tuple[int, str] | None:
    """What stands for a noun, and from which word of its phrase on: "a dog" becomes "one", "a
    red dog" "a red one", "my dogs" "my two". None for a phrase of another form."""
    adjectives = noun.place - noun.first > 1
    said = noun.determiner
    first = words[noun.first]
    if noun.plural:
        if adjectives or said not in PLURAL | SOME:
            return None
        number = rng.choice(SMALL[:4])
        return (noun.first, _cased(number, first)) if said in SOME else (noun.place, number)
    if said in ARTICLES and not adjectives:
        return noun.first, _cased("one", first)
    kept = said in SINGULAR or (adjectives and said in ARTICLES | {"the"})
    return (noun.place, "one") if kept else None


REPLIES = (
    "{N} ?",
    "Only {n} ?",
    "Just {n} .",
    "No , {n} .",
    "I thought it was {n} .",
    "Make it {n} .",
    "You said {n} .",
    "{N} , at least .",
    "More like {n} .",
    "Did you say {n} ?",
    "{N} .",
    "Not {n} ?",
    "{N} , I think .",
    "Well , {n} would be better .",
)
"""To whatever is counted."""

ON_THINGS = (
    "I only have {n} .",
    "I need {n} .",
    "I 'll take {n} .",
    "Give me {n} .",
    "I want {n} too .",
    "Can I have {n} ?",
    "We lost {n} .",
    "I saw {n} .",
    "You can keep {n} .",
    "I already had {n} .",
    "There were {n} yesterday .",
    "Then get me {n} , will you ?",
    "Oh , I love those . I used to have {n} .",
    "We could use {n} .",
    "I 've never even seen {n} .",
    "I 'd be happy with {n} .",
    "Great , now all I need is {n} .",
    "And you did n't save me {n} ?",
    "The last {n} were mine .",
    "I counted {n} .",
    "What happened to the other {n} ?",
)

ON_PERSONS = (
    "I only saw {n} .",
    "I know {n} .",
    "We lost {n} .",
    "There were {n} yesterday .",
    "I counted {n} .",
    "I have {n} .",
    "I met {n} last night .",
    "You only need {n} .",
    "The other {n} are gone .",
    "What happened to the other {n} ?",
    "I never had {n} .",
    "We could use {n} .",
)

NEARER = (
    "My sister has {n} .",
    "My mother always wanted {n} .",
    "In this house we have {n} .",
    "The man at the door said {n} .",
    "There are {n} in the kitchen .",
    "I left {n} in the car .",
    "The boss wants {n} by tomorrow .",
    "My father bought {n} when I was a kid .",
    "According to the paper there were {n} .",
    "Look on the table , I put {n} there .",
    "After the war we only had {n} .",
    "The guy down the street sells them . I got {n} .",
    "Yeah , well , my lawyer says {n} .",
    "At the office they gave me {n} .",
    "That 's a nice story , but I remember {n} .",
    "Come on , man , I only asked for {n} .",
    "You know what the doctor said , only {n} .",
    "Last week your brother took {n} .",
    "For my birthday I got {n} .",
    "My wife would kill me if I brought home {n} .",
    "Is this a joke ? I ordered {n} .",
    "On the phone you told me {n} .",
    "Under the bed I found {n} more .",
    "By the time I got to the store , there were only {n} left .",
)
"""With nouns that can be no head."""

NEARER_SHARE = 0.45
OWN_SHARE = 0.3


def replies(one: ParsedDialog, rng: random.Random) -> Iterator[ResolutionExample]:
    """Another speaker's turn after a sentence in which a noun is counted; what followed the
    sentence is left out in half of them."""
    for counted in one.counted:
        if not counted.more or counted.lemma in UNFIT or not _only_counted(counted, one):
            continue
        turn, own = counted.turn, one.lines[counted.turn]
        persons, drawn = counted.lemma in PERSONS, rng.random()
        how = Construction.REPLY
        forms: Sequence[str] = REPLIES
        if counted.lemma not in UNITS and drawn < NEARER_SHARE + OWN_SHARE:
            forms = ON_PERSONS if persons else ON_THINGS
            if drawn < NEARER_SHARE and not persons:
                how, forms = Construction.DISTRACTOR, NEARER
        number = _another_number(own.words[counted.number], ["one"] * 6 + SMALL[:6], rng)
        words, at = _filled(rng.choice(forms), number)
        made = [
            *one.lines[:turn],
            replace(own, words=own.words[: counted.end]),
            Line(_other_speaker(one.lines, turn), words),
        ]
        if rng.random() < 0.5:
            made += one.lines[turn + 1 :]
        yield example_of(made, (turn + 1, at), [(turn, counted.noun)], how, one.dialog.name)


BETWEEN = 3, 7
"""Turns between a noun and a number that counts it, at least and at most."""

TURN_WORDS = 2, 14
"""Words of such a turn."""


def empty_turns(dialogs: Iterable[ParsedDialog], fit: frozenset[str]) -> list[Line]:
    """Short turns that no number can count anything of: without nouns that can be counted,
    names and numbers. fit: see `countable`."""
    found = []
    for one in dialogs:
        full = {noun.turn for noun in one.nouns if noun.lemma in fit - UNFIT}
        full |= {counted.turn for counted in one.counted}
        for turn, line in enumerate(one.lines):
            words = line.words
            first = {0, *one.ends.get(turn, ())}
            if (
                turn not in full
                and TURN_WORDS[0] <= len(words) <= TURN_WORDS[1]
                and not any(map(may_hold_number, words))
                and all(
                    word.islower() or place in first or word == "I" or not word.isalpha()
                    for place, word in enumerate(words)
                )
            ):
                found.append(line)
    return found


def distant(
    one: ParsedDialog, empty: Sequence[Line], rng: random.Random
) -> Iterator[ResolutionExample]:
    """A number that counts a noun of several turns before. empty: see `empty_turns`."""
    for counted in _alone(one):
        turn, own = counted.turn, one.lines[counted.turn]
        forms = ON_PERSONS if counted.lemma in PERSONS else ON_THINGS
        number = _another_number(own.words[counted.number], ["one"] * 6 + SMALL[:6], rng)
        words, at = _filled(rng.choice(forms), number)
        between = rng.sample(empty, min(rng.randint(*BETWEEN), len(empty)))
        made = [*one.lines[:turn], replace(own, words=own.words[: counted.end])]
        speakers = cycle((_other_speaker(one.lines, turn), own.speaker))
        later = (*between, Line(None, words))
        made += [replace(line, speaker=next(speakers)) for line in later]
        anchor = len(made) - 1, at
        heads = [(turn, counted.noun)]
        yield example_of(made, anchor, heads, Construction.DISTANT, one.dialog.name)


def _alone(one: ParsedDialog) -> Iterator[CountedNoun]:
    """Nouns that are counted as more than one, and that a number after their sentence can only
    mean."""
    for counted in one.counted:
        fit = counted.more and counted.lemma not in UNFIT | UNITS
        if fit and _only_counted(counted, one):
            yield counted


def _only_counted(counted: CountedNoun, one: ParsedDialog) -> bool:
    """Whether its turn counts nothing else up to the end of its sentence: then a number after
    the sentence could count either."""
    return not any(
        other.turn == counted.turn and other.lemma != counted.lemma and other.end <= counted.end
        for other in one.counted
    )


LISTS = (
    "One for you , one for me .",
    "One is mine , the other one is his .",
    "One here and one over there .",
    "One was old , one was new .",
    "I took one and she took one .",
    "One is broken , and one is missing .",
    "You get one and I get one .",
    "One left , and the other one stayed .",
    "One big one and one small one .",
    "First I saw one , then I saw the other one .",
    "I want this one , not that one .",
    "If you take one , leave one .",
    "One went left , one went right .",
)


def lists(one: ParsedDialog, rng: random.Random) -> Iterator[ResolutionExample]:
    """A sentence with several "one" after a counted noun; any of them is the anchor."""
    for counted in _alone(one):
        words = rng.choice(LISTS).split()
        at = rng.choice([place for place, word in enumerate(words) if word.lower() == "one"])
        made = _put(one.lines, counted.turn, counted.end, counted.end, words)
        anchor, heads = (counted.turn, counted.end + at), [(counted.turn, counted.noun)]
        yield example_of(made, anchor, heads, Construction.LIST, one.dialog.name)


# --- implicit classes -----------------------------------------------------------------------

SENTENCES: Mapping[Kind, tuple[str, ...]] = {
    Kind.AGE: (
        "My {person} is only {age} .",
        "My {person} just turned {age} .",
        "I was {age} when I met my {person} .",
        "How old is your {person} ? {age} .",
        "Her {person} looks about {age} .",
        "He left home at {age} .",
        "By the time I was {age} I had my own {thing} .",
        "You 're {age} , and you still ca n't cook .",
        "A {person} of {age} should know better .",
        "My {person} died at {age} .",
        "At {age} she already had her own {thing} .",
        "{age} is too young to drive a {thing} .",
    ),
    Kind.CURRENCY: (
        "How much for the {thing} ? {sum} .",
        "I 'll give you {sum} for the {thing} .",
        "That {thing} cost me {sum} .",
        "Can you break a {sum} ?",
        "I paid {sum} for this {thing} .",
        "My {person} owes me {sum} .",
        "The {thing} is worth at least {sum} .",
        "The {thing} ? {sum} , and not a cent less .",
        "They take {sum} a night for that {thing} .",
        "My {person} got the {thing} for {sum} .",
        "Seats are {sum} each .",
        "I bet {sum} on your {person} .",
        "She makes {sum} an hour .",
        "You could sell the {thing} for {sum} , easily .",
    ),
    Kind.TIME: (
        "Meet me at {hour} .",
        "The {thing} opens at {hour} .",
        "It 's already {hour} , where is your {person} ?",
        "My {person} gets home around {hour} .",
        "Wake me at {hour} .",
        "What time does the {thing} close ? {hour} .",
        "Be there by {hour} , or we leave without you .",
    ),
    Kind.YEAR: (
        "I bought this {thing} back in {year} .",
        "We have lived here since {year} .",
        "My {person} was born in {year} .",
        "That was in {year} , before the war .",
        "Nobody has seen that {thing} since {year} .",
    ),
    Kind.PEOPLE: (
        "One gets used to the {thing} .",
        "This {thing} is big enough for {few} .",
        "Dinner for {few} at the new place .",
        "My {person} is the one who took the {thing} .",
        "One never knows what the {person} is up to .",
        "One must not leave a {thing} in the rain .",
        "How is one supposed to sleep next to that {thing} ?",
        "One does what one can .",
        "All {few} of you , into the {thing} !",
        "{few} of us stayed with the {thing} .",
        "{few} of them wore masks , and my {person} saw it all .",
        "You {few} , stay away from the {thing} .",
        "I booked the {thing} for {few} .",
        "Lunch for {few} , and the check goes to my {person} .",
    ),
    Kind.OTHER: (
        "{few} , and this is the last time I say it .",
        "Hand me that {thing} on the count of {few} .",
        "Ready ? {few} , go !",
        "Multiply that by {few} .",
        "It was minus {few} outside .",
        "They beat us by {few} .",
        "The {thing} is doing {sum} on the highway .",
        "Have you heard the one about the {thing} ?",
        "That 's a good one .",
        "I owe you one .",
        "Hear me out . One , the {thing} is not yours . Two , I was here first .",
        "One , find the {thing} . Two , bring it to me .",
        "Five , four , three , two , one , and the {thing} is on !",
        "{few} , three , two , now pull the {thing} !",
        "And a one , and a two , and off goes the {thing} .",
        "My {person} is six foot {few} .",
        "He was five foot {few} , and he lifted the {thing} .",
        "She is five feet {few} in her shoes .",
        "From one to ten , how much do you like the {thing} ?",
        "The {thing} got a {few} from the judges .",
        "I give your {person} a {few} .",
        "There were {few} of them in the box next to the {thing} .",
        "You ca n't win them all , but you won that one .",
        "My {person} told me a good one yesterday .",
        "He took one on the chin from my {person} .",
    ),
}
"""Sentences whose number is of a class. The first {number}, else the first "one", is meant."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "age": tuple(
        "four five six nine twelve sixteen eighteen twenty forty 5 7 16 19 30".split()
    ),
    "sum": tuple("ten twenty fifty forty eighty 20 50 100 200 500 1,000".split()),
    "hour": tuple("four five six seven eight nine ten eleven 5 6 7 8 9 10".split()),
    "year": tuple("1945 1962 1969 1974 1986 1991 1998 2001".split()),
    "few": tuple("two three four five six seven eight ten 2 3 4 5".split()),
    "person": tuple("brother sister son daughter boss friend cousin neighbor wife".split()),
    "thing": tuple("car house bike watch boat guitar dress store bar phone coat truck".split()),
}

OWN_NOUN_SHARE = 0.6


def classed(
    one: ParsedDialog, fit: frozenset[str], rng: random.Random
) -> Iterator[ResolutionExample]:
    """A sentence of a class after a sentence of the dialog, or as the next speaker's turn; it
    speaks of a thing that the dialog has, where there is one. fit: see `countable`."""
    kind = rng.choice(tuple(SENTENCES))
    own = sorted({noun.lemma for noun in one.nouns} & (fit - UNFIT - UNITS - PERSONS))
    words: list[str] = []
    number = None
    for word in rng.choice(SENTENCES[kind]).split():
        slot = word.strip("{}")
        if slot == word:
            words.append(word)
            continue
        choices = own if slot == "thing" and rng.random() < OWN_NOUN_SHARE else WORDS[slot]
        found = rng.choice(choices or WORDS[slot])
        begins = not words or words[-1] in ("?", ".")
        words.append(found.capitalize() if begins else found)
        if slot not in ("person", "thing") and number is None:
            number = len(words) - 1
    at = number if number is not None else [word.lower() for word in words].index("one")
    turn = rng.randrange(len(one.lines))
    if rng.random() < 0.5:
        end = rng.choice(one.ends[turn])
        made = _put(one.lines, turn, end, end, words)
        anchor = turn, end + at
    else:
        reply = Line(_other_speaker(one.lines, turn), tuple(words))
        made = [*one.lines[: turn + 1], reply, *one.lines[turn + 1 :]]
        anchor = turn + 1, at
    yield example_of(made, anchor, kind, Construction.CLASS, one.dialog.name)


# --- all of them ----------------------------------------------------------------------------


def constructed(
    dialogs: Sequence[Dialog], parser: Parser, seed: int = 5
) -> dict[Construction, list[ResolutionExample]]:
    """All examples that can be made of some dialogs, by how they are made."""
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    parsed = parsed_dialogs(dialogs, parser)
    fit = countable(parsed)
    empty = empty_turns(parsed, fit)
    found: dict[Construction, list[ResolutionExample]] = {how: [] for how in Construction}
    for one in parsed:
        for made in (
            left_out(one),
            alternatives(one, rng),
            announced(one, rng),
            indefinites(one, fit, rng),
            replies(one, rng),
            distant(one, empty, rng),
            lists(one, rng),
            classed(one, fit, rng),
        ):
            for example in made:
                found[Construction(example.where.split()[0])].append(example)
    return found


# --- padding --------------------------------------------------------------------------------

MOST = 165
"""Words of a padded passage: nearly what a window of 170 words holds, the longest that models
of the package have.
"""

TRIES = 20
LEAST_ROOM = 8


def padded(
    example: ResolutionExample, others: Sequence[Dialog], words: int, rng: random.Random
) -> ResolutionExample:
    """The example with turns of other dialogs before and after it, up to so many words.

    No turn is taken that has a word with the lemma of a head, for that would be a mention.
    """
    item, gold = example.item, example.gold
    tokens = item.passage.tokens
    taken = {tokens[head].lemma for head in gold.head_tokens()}
    before: list[Line] = []
    behind: list[Line] = []
    room = min(words, MOST) - len(tokens)
    for _ in range(TRIES):
        if room < LEAST_ROOM:
            break
        lines = rng.choice(others).lines
        count = rng.randint(1, min(3, len(lines)))
        start = rng.randrange(len(lines) - count + 1)
        some = lines[start : start + count]
        flat = [word for line in some for word in line.words]
        if len(flat) > room or not taken.isdisjoint(lemmas(flat)):
            continue
        room -= len(flat)
        if rng.random() < 0.5:
            before[:0] = some
        else:
            behind += some
    passage = passage_of([*before, *Dialog.of(item.passage, "").lines, *behind])
    by = sum(len(line.words) for line in before)
    heads = tuple(
        replace(
            head,
            mentions=tuple(
                replace(one, start=one.start + by, end=one.end + by, head=one.head + by)
                for one in head.mentions
            ),
        )
        for head in gold.heads
    )
    anchor = Anchor(item.anchor.start + by, item.anchor.end + by)
    return replace(example, item=Item(passage, anchor), gold=replace(gold, heads=heads))
