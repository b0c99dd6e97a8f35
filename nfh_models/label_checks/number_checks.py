"""Label checks of the number itself: adjacent tokens, pairs such as "six or seven bulbs", and
the kind against the form and size of the number.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from nfh_models.domain import Anchor, Answer, Kind, compare
from nfh_models.domain.compare import CLASS_NOUNS
from nfh_models.label_checks.base import (
    DOUBT,
    NOTE,
    NOUNS,
    CheckContext,
    CheckedNumber,
    LabelCheck,
    LabelFinding,
    Severity,
    StatedAnswer,
)
from nfh_models.text.numbers import (
    ORDINAL_ENDINGS,
    Atom,
    Shape,
    TokenLine,
    cardinals,
    is_ordinal,
    parts_of,
    read_run,
)

CLOCK_WORDS = frozenset({"o'clock", "oclock", "a.m.", "a.m", "am", "p.m.", "p.m", "pm"})

BETWEEN = 3
"""Adjectives that may stand between an anchor and a noun of its own."""

MONEY_SIGNS = frozenset("$\u00a3\u20ac\u00a5")

DAYS = frozenset(
    "today tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december "
    "bc b.c. ad a.d. ce nil home".split()
)
"""Words tagged as nouns that say when or where, and are not what a number before them
counts.
"""

WHEN = frozenset(
    "second minute hour night day morning evening afternoon week weekend month year spring "
    "summer autumn fall winter season time".split()
)
POINTERS = frozenset({"last", "next", "past", "this", "other"})
"""Before a word of WHEN, these make it a time: "I hired one last week"."""


# --- the span --------------------------------------------------------------------------


def cut_numbers(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that are a part of a number, or have digits of it beside them."""
    for number in context.cases:
        whole = _whole(context, number.anchor)
        if whole is not None and _is_number(context, number.anchor):
            part = context.text(number.anchor.start, number.anchor.end)
            note = f"\u201c{part}\u201d is part of \u201c{context.text(*whole)}\u201d"
            yield LabelFinding("number-beside", (number.key,), note)


def _whole(context: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    for start, end in context.numbers:
        if start <= anchor.start and anchor.end <= end and end - start > _size(anchor):
            return start, end
    return _torn(context, anchor)


def _size(anchor: Anchor) -> int:
    return anchor.end - anchor.start


def _torn(context: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    """Tokens around an anchor whose number was split by tokenization: "1 , 100",
    "three two".
    """
    start, end = anchor.start, anchor.end
    if _behind_a_comma(context, start):
        start -= 2
    if context.same_turn(start - 1, start) and parts_of(context.words[start - 1]):
        start -= 1
    if context.same_turn(end - 1, end) and parts_of(context.words[end]):
        end += 1
    return None if (start, end) == (anchor.start, anchor.end) else (start, end)


def _behind_a_comma(context: CheckContext, place: int) -> bool:
    """The rest of "18 , 000", of "$ 1 , 100", and of "$ 300 , 0" that lost its zeros."""
    if context.word(place - 1) != "," or not context.same_turn(place - 2, place):
        return False
    if not (_digits(context, place) and _digits(context, place - 2)):
        return False
    return context.word(place) == "000" or context.word(place - 3) in MONEY_SIGNS


def _digits(context: CheckContext, place: int) -> bool:
    return context.word(place).isdecimal()


def several_numbers(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that hold two numbers, as "five or ten"."""
    for number in context.cases:
        inside = [
            span
            for span in context.numbers
            if number.anchor.start <= span[0] and span[1] <= number.anchor.end
        ]
        if len(inside) > 1:
            read = " and ".join(f"\u201c{context.text(*span)}\u201d" for span in inside)
            yield LabelFinding("two-numbers", (number.key,), f"it holds {read}")


def no_numbers(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors without a number word, and ordinals that are labelled as fused heads."""
    for number in context.cases:
        anchor = number.anchor
        if not _is_number(context, anchor) and not _is_ordinal(context, anchor):
            note = f"\u201c{context.text(anchor.start, anchor.end)}\u201d is no number"
            yield LabelFinding("no-number", (number.key,), note)
    for number, said in context.said():
        if _is_ordinal(context, number.anchor):
            suffix = _suffix_behind(context, number.anchor)
            text = context.text(number.anchor.start, number.anchor.end + suffix)
            note = f"\u201c{text}\u201d is an ordinal, and {said.answer.kind}"
            yield LabelFinding("no-number", (number.key,), note, said.who)


def _is_number(context: CheckContext, anchor: Anchor) -> bool:
    words = context.words[anchor.start : anchor.end]
    return any(parts_of(word) or any(map(str.isdecimal, word)) for word in words)


def _is_ordinal(context: CheckContext, anchor: Anchor) -> bool:
    return is_ordinal(context.words[anchor.end - 1]) or _suffix_behind(context, anchor)


def _suffix_behind(context: CheckContext, anchor: Anchor) -> bool:
    return _digits(context, anchor.end - 1) and context.following(anchor) in ORDINAL_ENDINGS


# --- a noun of its own -----------------------------------------------------------------


def nouns_after(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors directly before a noun whose answer says that a noun is missing."""
    for number, said in context.said():
        place = number.anchor.end
        if context.tag(place) != "PROPN" and _own_noun(context, number.anchor, place):
            yield _with_noun("noun-after", context, number, said, place)


def nouns_near(context: CheckContext) -> Iterator[LabelFinding]:
    """The same with adjectives between: "three stubborn goats" (guidelines, rule 2)."""
    for number, said in context.said():
        place = _across_adjectives(context, number.anchor.end)
        if (
            place is None
            or context.tag(place) != "NOUN"
            or _says_when(context, number.anchor, place)
        ):
            continue
        if _own_noun(context, number.anchor, place):
            yield _with_noun("noun-near", context, number, said, place)


def _own_noun(context: CheckContext, anchor: Anchor, place: int) -> bool:
    if not context.same_turn(anchor.end - 1, place) or context.word(place) in CLOCK_WORDS:
        return False
    if context.word(place) == "%":
        return True
    named = context.word(place).isalpha() and context.word(place) not in DAYS
    if context.word(anchor.start) == "one":  # what looks like a noun behind it is often a verb
        named = named and context.preceding(anchor) != "no"
        named = named and not context.word(place).endswith("ing")
    return named and context.tag(place) in NOUNS


def _says_when(context: CheckContext, anchor: Anchor, place: int) -> bool:
    return (
        context.word(anchor.end) in POINTERS
        and place == anchor.end + 1
        and context.lemma(place) in WHEN
    )


def _across_adjectives(context: CheckContext, place: int) -> int | None:
    """The place behind adjectives that start at `place`, commas among them; None
    without any.
    """
    start = place
    while place - start < 2 * BETWEEN and (
        context.tag(place) == "ADJ"
        or context.word(place) == "*"
        or (place > start and context.word(place) == ",")
    ):
        place += 1
    return place if place > start else None


def _with_noun(
    check: str, context: CheckContext, number: CheckedNumber, said: StatedAnswer, place: int
) -> LabelFinding:
    shown = context.text(number.anchor.start, place + 1)
    note = f"\u201c{shown}\u201d has its own noun, and is {said.answer.kind}"
    return LabelFinding(check, (number.key,), note, said.who)


ADJACENT_CHECKS = (
    LabelCheck(
        "number-beside", DOUBT, "The anchor is only a part of its number.", cut_numbers, 1
    ),
    LabelCheck("two-numbers", DOUBT, "The anchor holds more than one number.", several_numbers),
    LabelCheck(
        "no-number",
        DOUBT,
        "The anchor is no number; or it is an ordinal, and taken for an NFH.",
        no_numbers,
        rule=2,
    ),
    LabelCheck(
        "noun-after",
        DOUBT,
        "A noun stands right behind the anchor, and yet its noun is said to be missing.",
        nouns_after,
        rule=2,
        tagged=True,
    ),
    LabelCheck(
        "noun-near",
        DOUBT,
        "Adjectives and a noun stand behind the anchor, and its noun is said to be missing.",
        nouns_near,
        rule=2,
        tagged=True,
    ),
)


_DECIMAL = re.compile(r"\d+\.\d+")
_COMPUTED = re.compile(r"\d+\.\d{8,}|\d+(?:\.\d+)?e[-+]?\d+")
_CALIBRE = re.compile(r"0\.(?:22|25|32|38|40|44|45|50|357)")
"""Calibres that are written without the zero."""

_CHAIN = re.compile(r"\d+(?:[-\u2010\u2011\u2013]\d+){2,}")


def value(context: CheckContext, anchor: Anchor) -> float | None:
    """The value of an anchor that is one plain number; None for chains, times and codes."""
    words = context.words[anchor.start : anchor.end]
    line = TokenLine(words, None)
    if not line.parts(0):
        return None
    run = read_run(line, 0)
    found = cardinals(run, between=False)
    if len(found) != 1 or run[-1].end != len(words):
        return None
    return _sum(run)


def _sum(run: list[Atom]) -> float | None:
    whole = part = 0.0
    for atom in run:
        shape, size = atom.part.shape, atom.part.value
        if shape is Shape.AND:
            continue
        if shape in (Shape.CODE, Shape.POINT, Shape.FRACTION):
            return None
        if shape is Shape.HUNDRED:
            part = max(part, 1.0) * size
        elif shape is Shape.SCALE:
            whole, part = whole + max(part, 1.0) * size, 0.0
        else:
            part += size
    return whole + part


# --- the ways in which a kind does not fit; each says what it found, or "" ---------------


def _clock(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    behind = context.following(anchor)
    if kind is Kind.TIME or behind not in CLOCK_WORDS:
        return ""
    if behind == "am" and _speaks_of_itself(context, anchor):
        return ""
    return f"\u201c{context.text(anchor.start, anchor.end + 1)}\u201d is a time of day"


def _speaks_of_itself(context: CheckContext, anchor: Anchor) -> bool:
    """Whether *am* is the verb: "I for one am fed up"."""
    before = {context.word(anchor.start - i) for i in (1, 2, 3, 4)}
    return "i" in before or context.tag(anchor.end) in ("AUX", "VERB")


def _age_words(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.AGE:
        return ""
    before = (context.word(anchor.start - 2), context.preceding(anchor))
    behind = (context.following(anchor), context.word(anchor.end + 1))
    aged = before in (("age", "of"), ("ages", "of")) or before[1] in ("aged", "age")
    old = behind[0] in ("years", "year") and behind[1] == "old"
    if not aged and not old:
        return ""
    return f"\u201c{context.text(anchor.start - 2, anchor.end + 2)}\u201d speaks of an age"


def _money(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.CURRENCY:
        return ""
    before, behind = context.preceding(anchor), context.following(anchor)
    inside = context.word(anchor.start)[:1]
    if not MONEY_SIGNS & {before, behind, inside}:
        return ""
    start = anchor.start - (before in MONEY_SIGNS)
    shown = context.text(start, anchor.end + (behind in MONEY_SIGNS))
    return f"\u201c{shown}\u201d has a sign for money"


def _no_hour(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is not Kind.TIME:
        return ""
    size = value(context, anchor)
    if size is None or size <= 24 or 100 <= size <= 2400:
        return ""
    return f"{size:,.15g} is no hour of the day"


def _mangled(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    """Digits that a program has rewritten: 8.3 for 8:30, 0.44 for .44, 4E-05."""
    word = context.word(anchor.start)
    if anchor.end - anchor.start > 1:
        return ""
    clock = kind is Kind.TIME and _DECIMAL.fullmatch(word)
    gun = _CALIBRE.fullmatch(word) and context.preceding(anchor) == "a"
    if not (clock or gun or _COMPUTED.fullmatch(word)):
        return ""
    return f"\u201c{word}\u201d reads as if a program had rewritten it"


def _chain(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    words = context.words[anchor.start : anchor.end]
    if kind in (Kind.OTHER, Kind.NFH) or _CHAIN.fullmatch("".join(words)) is None:
        return ""
    return f"\u201c{context.text(anchor.start, anchor.end)}\u201d is a chain of numbers"


Misfit = Callable[[CheckContext, Anchor, Kind], str]


def _looking(name: str, misfit: Misfit) -> Callable[[CheckContext], Iterator[LabelFinding]]:
    def look(context: CheckContext) -> Iterator[LabelFinding]:
        for number, said in context.said():
            kind = said.answer.kind
            if kind is Kind.NFH:
                continue
            found = misfit(context, number.anchor, kind)
            if found:
                yield LabelFinding(name, (number.key,), f"{found}, and is {kind}", said.who)

    return look


MISFITS: tuple[tuple[str, Severity, str, Misfit, int], ...] = (
    ("clock-word", DOUBT, "O'clock, a.m. or p.m. follows a number not TIME.", _clock, 5),
    (
        "money-sign",
        DOUBT,
        "A sign for money beside a number that is an NFH and not CURRENCY.",
        _money,
        3,
    ),
    ("age-words", DOUBT, "An age by its words that is not AGE.", _age_words, 5),
    ("no-hour", DOUBT, "TIME of a number that is no hour.", _no_hour, 5),
    (
        "mangled-digits",
        DOUBT,
        "The digits read as if a program had rewritten them.",
        _mangled,
        1,
    ),
    ("chain-kind", NOTE, "A chain as 36-24-36 that is not OTHER.", _chain, 18),
)

SHAPE_CHECKS = tuple(
    LabelCheck(name, severity, sentence, _looking(name, misfit), rule)
    for name, severity, sentence, misfit, rule in MISFITS
)


LINKS = frozenset({"or", "to", ",", "-", "\u2013", "nor"})
HEDGES = frozenset({"maybe", "perhaps", "possibly", "even", "about", "like"})
MOST_LINKS = 4
ALIKE = 5.0
"""The largest ratio of the two numbers of a pair: "in 2015, sixty doctors" is none."""

SCALES = (1.0, 1e2, 1e3, 1e6, 1e9)
"""The second number may have the scale word of both: "two, three hundred years"."""

CLOCK_NOUNS = frozenset({"midnight", "noon", "night", "morning", "evening", "o'clock"})


def without_the_noun(context: CheckContext) -> Iterator[LabelFinding]:
    """First numbers of "A or B noun" whose answer is not that noun (guidelines, rule 16)."""
    for number, said in context.said():
        second = _second(context, number.anchor)
        if second is None or said.answer.kind is Kind.NFH:
            continue
        noun = _noun_behind(context, second)
        if noun is None or _is_the_noun(context, said.answer, noun):
            continue
        shown = context.text(number.anchor.start, noun + 1)
        note = f"in \u201c{shown}\u201d it is {kind_in_words(context, said.answer)}"
        yield LabelFinding("pair-noun", (number.key,), note, said.who)


def _second(context: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    """The span of the number that an anchor is linked to, if it is of similar size."""
    place = _across_links(context, anchor.end)
    if place is not None and is_ordinal(context.word(place)):
        return place, place + 1
    for start, end in context.numbers:
        if start == place and context.same_turn(anchor.start, start):
            return (start, end) if _alike(context, anchor, Anchor(start, end)) else None
    return None


def _across_links(context: CheckContext, place: int) -> int | None:
    """The place behind links and hedges that start at `place`; None without a link."""
    end = place
    while end - place < MOST_LINKS and context.word(end) in LINKS | HEDGES:
        end += 1
    linked = any(context.word(i) in LINKS for i in range(place, end))
    return end if linked else None


def _alike(context: CheckContext, left: Anchor, right: Anchor) -> bool:
    one, other = value(context, left), value(context, right)
    if not one or not other:
        return True
    sizes = [other / scale for scale in SCALES]
    return one != other and any(max(one, s) <= ALIKE * min(one, s) for s in sizes)


def _noun_behind(context: CheckContext, number: tuple[int, int]) -> int | None:
    start = place = number[1]
    while place - start < MOST_LINKS and (
        context.tag(place) in ("ADJ", "NUM") or context.word(place) in ("-", "*")
    ):
        place += 1
    if not context.same_turn(number[0], place):
        return None
    return place if context.tag(place) in NOUNS or context.word(place) == "%" else None


def _is_the_noun(context: CheckContext, answer: Answer, noun: int) -> bool:
    """Whether an answer is that noun, or a class that the noun only names."""
    if answer.kind is Kind.REFERENCE:
        lemmas = {context.lemma(token) for token in answer.head_tokens()}
        return context.lemma(noun) in lemmas
    if answer.kind is Kind.AGE:
        return context.word(noun + 1) in ("old", "-") or context.lemma(noun) != "year"
    if answer.kind is Kind.YEAR:
        return False
    named = CLASS_NOUNS.get(answer.kind, frozenset())
    if context.lemma(noun) in named | (
        CLOCK_NOUNS if answer.kind is Kind.TIME else frozenset()
    ):
        return True
    return answer.noun is not None and answer.noun.casefold() == context.lemma(noun)


def kind_in_words(context: CheckContext, answer: Answer) -> str:
    """An answer as findings name it: its kind, and the words of its heads."""
    if answer.kind is not Kind.REFERENCE:
        return answer.kind.value
    words = ", ".join(context.words[token] for token in answer.head_tokens())
    return f"REFERENCE to \u201c{words}\u201d"


def different_answers(context: CheckContext) -> Iterator[LabelFinding]:
    """Linked anchors without a noun behind whose answers differ (guidelines, rule 16)."""
    for chain in _chains(context):
        for who in sorted({said.who for number in chain for said in number.said}, key=str):
            answers = [(number, _of(number, who)) for number in chain]
            given = [(number, answer) for number, answer in answers if answer is not None]
            if len(given) > 1 and _differ(context, [answer for _, answer in given]):
                first, last = given[0][0].anchor, given[-1][0].anchor
                kinds = ", ".join(kind_in_words(context, answer) for _, answer in given)
                note = f"\u201c{context.text(first.start, last.end)}\u201d is {kinds}"
                keys = tuple(number.key for number, _ in given)
                yield LabelFinding("pair-differs", keys, note, who)


def _of(number: CheckedNumber, who: str | None) -> Answer | None:
    return next((said.answer for said in number.said if said.who == who), None)


def _differ(context: CheckContext, answers: Sequence[Answer]) -> bool:
    lemmas = [token.lemma for token in context.passage.tokens]
    first = answers[0]
    return any(compare(first, other, lemmas).blocking is not None for other in answers[1:])


def _chains(context: CheckContext) -> Iterator[list[CheckedNumber]]:
    """Runs of two or more anchors, each linked to the next, without a noun behind the last."""
    chain: list[CheckedNumber] = []
    for number in sorted(context.cases, key=lambda number: number.anchor.start):
        linked = chain and _across_links(context, chain[-1].anchor.end) == number.anchor.start
        if linked and context.same_turn(chain[-1].anchor.start, number.anchor.start):
            chain.append(number)
            continue
        if _is_pair_chain(context, chain):
            yield chain
        chain = [number]
    if _is_pair_chain(context, chain):
        yield chain


def _is_pair_chain(context: CheckContext, chain: Sequence[CheckedNumber]) -> bool:
    if len(chain) < 2:
        return False
    last = chain[-1].anchor
    return _noun_behind(context, (last.start, last.end)) is None


PAIR_CHECKS = (
    LabelCheck(
        "pair-noun",
        DOUBT,
        "\u201cA or B noun\u201d, and the first number is not that noun.",
        without_the_noun,
        rule=16,
        tagged=True,
    ),
    LabelCheck(
        "pair-differs",
        DOUBT,
        "Numbers said in one breath, without a noun behind them, have different answers.",
        different_answers,
        rule=16,
    ),
)
