"""Label checks about the number itself: adjacent tokens, pairs such as "six or seven bulbs",
and the kind against the number's form and size.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from nfh_models.domain import Anchor, Answer, Kind, compare
from nfh_models.domain.compare import CLASS_NOUNS
from nfh_models.label_checks.base import (
    NOUNS,
    CheckContext,
    CheckedNumber,
    LabelCheck,
    LabelFinding,
    Severity,
    StatedAnswer,
)
from nfh_models.text.numbers import (
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
"""Adjectives looked across for an anchor's own noun."""

MONEY_SIGNS = frozenset("$\u00a3\u20ac\u00a5")

DAYS = frozenset(
    "today tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december "
    "bc b.c. ad a.d. ce nil home".split()
)
"""Nouns that say when or where, and are no noun of the number before them."""

WHEN = frozenset(
    "second minute hour night day morning evening afternoon week weekend month year spring "
    "summer autumn fall winter season time".split()
)
POINTERS = frozenset({"last", "next", "past", "this", "other"})
"""Before a word of WHEN they make it say when: "I hired one last week"."""


# --- the span --------------------------------------------------------------------------


def cut_numbers(scene: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that are a part of a number, or have digits of it beside them."""
    for case in scene.cases:
        whole = _whole(scene, case.anchor)
        if whole is not None and _is_number(scene, case.anchor):
            part = scene.text(case.anchor.start, case.anchor.end)
            note = f"\u201c{part}\u201d is part of \u201c{scene.text(*whole)}\u201d"
            yield LabelFinding("number-beside", (case.key,), note)


def _whole(scene: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    for start, end in scene.numbers:
        if start <= anchor.start and anchor.end <= end and end - start > _size(anchor):
            return start, end
    return _torn(scene, anchor)


def _size(anchor: Anchor) -> int:
    return anchor.end - anchor.start


def _torn(scene: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    """Tokens around an anchor whose number does not read as one: "1 , 100", "three two"."""
    start, end = anchor.start, anchor.end
    if _behind_a_comma(scene, start):
        start -= 2
    if scene.same_turn(start - 1, start) and parts_of(scene.words[start - 1]):
        start -= 1
    if scene.same_turn(end - 1, end) and parts_of(scene.words[end]):
        end += 1
    return None if (start, end) == (anchor.start, anchor.end) else (start, end)


def _behind_a_comma(scene: CheckContext, place: int) -> bool:
    """The rest of "18 , 000", of "$ 1 , 100", and of "$ 300 , 0" that lost its noughts."""
    if scene.word(place - 1) != "," or not scene.same_turn(place - 2, place):
        return False
    if not (_digits(scene, place) and _digits(scene, place - 2)):
        return False
    return scene.word(place) == "000" or scene.word(place - 3) in MONEY_SIGNS


def _digits(scene: CheckContext, place: int) -> bool:
    return scene.word(place).isdecimal()


def several_numbers(scene: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that hold two numbers, as "five or ten"."""
    for case in scene.cases:
        inside = [
            span
            for span in scene.numbers
            if case.anchor.start <= span[0] and span[1] <= case.anchor.end
        ]
        if len(inside) > 1:
            read = " and ".join(f"\u201c{scene.text(*span)}\u201d" for span in inside)
            yield LabelFinding("two-numbers", (case.key,), f"it holds {read}")


def no_numbers(scene: CheckContext) -> Iterator[LabelFinding]:
    """Anchors none of whose words is a number; and ordinals that are taken for an NFH."""
    for case in scene.cases:
        anchor = case.anchor
        if not _is_number(scene, anchor) and not _is_ordinal(scene, anchor):
            note = f"\u201c{scene.text(anchor.start, anchor.end)}\u201d is no number"
            yield LabelFinding("no-number", (case.key,), note)
    for case, said in scene.said():
        if _is_ordinal(scene, case.anchor):
            suffix = _suffix_behind(scene, case.anchor)
            text = scene.text(case.anchor.start, case.anchor.end + suffix)
            note = f"\u201c{text}\u201d is an ordinal, and {said.answer.kind}"
            yield LabelFinding("no-number", (case.key,), note, said.who)


def _is_number(scene: CheckContext, anchor: Anchor) -> bool:
    words = scene.words[anchor.start : anchor.end]
    return any(parts_of(word) or _has_digit(word) for word in words)


def _is_ordinal(scene: CheckContext, anchor: Anchor) -> bool:
    return is_ordinal(scene.words[anchor.end - 1]) or _suffix_behind(scene, anchor)


def _has_digit(word: str) -> bool:
    return any(map(str.isdecimal, word))


def _suffix_behind(scene: CheckContext, anchor: Anchor) -> bool:
    return _digits(scene, anchor.end - 1) and scene.following(anchor) in {
        "st",
        "nd",
        "rd",
        "th",
    }


# --- a noun of its own -----------------------------------------------------------------


def nouns_after(scene: CheckContext) -> Iterator[LabelFinding]:
    """Anchors with a noun right behind them whose answer says that a noun is missing."""
    for case, said in scene.said():
        place = case.anchor.end
        if scene.tag(place) != "PROPN" and _own_noun(scene, case.anchor, place):
            yield _with_noun("noun-after", scene, case, said, place)


def nouns_near(scene: CheckContext) -> Iterator[LabelFinding]:
    """The same with adjectives between: "three stubborn goats" (guidelines, rule 2)."""
    for case, said in scene.said():
        place = _across_adjectives(scene, case.anchor.end)
        if place is None or scene.tag(place) != "NOUN" or _says_when(scene, case.anchor, place):
            continue
        if _own_noun(scene, case.anchor, place):
            yield _with_noun("noun-near", scene, case, said, place)


def _own_noun(scene: CheckContext, anchor: Anchor, place: int) -> bool:
    if not scene.same_turn(anchor.end - 1, place) or scene.word(place) in CLOCK_WORDS:
        return False
    if scene.word(place) == "%":
        return True
    named = scene.word(place).isalpha() and scene.word(place) not in DAYS
    if scene.word(anchor.start) == "one":  # what looks like a noun behind it is often a verb
        named = named and scene.preceding(anchor) != "no"
        named = named and not scene.word(place).endswith("ing")
    return named and scene.tag(place) in NOUNS


def _says_when(scene: CheckContext, anchor: Anchor, place: int) -> bool:
    return (
        scene.word(anchor.end) in POINTERS
        and place == anchor.end + 1
        and scene.lemma(place) in WHEN
    )


def _across_adjectives(scene: CheckContext, place: int) -> int | None:
    """The place behind adjectives that start at `place`, commas among them; None if none."""
    start = place
    while place - start < 2 * BETWEEN and (
        scene.tag(place) == "ADJ"
        or scene.word(place) == "*"
        or (place > start and scene.word(place) == ",")
    ):
        place += 1
    return place if place > start else None


def _with_noun(
    check: str, scene: CheckContext, case: CheckedNumber, said: StatedAnswer, place: int
) -> LabelFinding:
    shown = scene.text(case.anchor.start, place + 1)
    note = f"\u201c{shown}\u201d has its own noun, and is {said.answer.kind}"
    return LabelFinding(check, (case.key,), note, said.who)


ADJACENT_CHECKS = (
    LabelCheck(
        "number-beside",
        Severity.DOUBT,
        "The anchor is only a part of its number.",
        cut_numbers,
        rule=1,
    ),
    LabelCheck(
        "two-numbers",
        Severity.DOUBT,
        "The anchor holds more than one number.",
        several_numbers,
    ),
    LabelCheck(
        "no-number",
        Severity.DOUBT,
        "The anchor is no number; or it is an ordinal, and taken for an NFH.",
        no_numbers,
        rule=2,
    ),
    LabelCheck(
        "noun-after",
        Severity.DOUBT,
        "A noun stands right behind the anchor, and yet its noun is said to be missing.",
        nouns_after,
        rule=2,
        tagged=True,
    ),
    LabelCheck(
        "noun-near",
        Severity.DOUBT,
        "Adjectives and a noun stand behind the anchor, and its noun is said to be missing.",
        nouns_near,
        rule=2,
        tagged=True,
    ),
)


_DECIMAL = re.compile(r"\d+\.\d+")
_COMPUTED = re.compile(r"\d+\.\d{8,}|\d+(?:\.\d+)?e[-+]?\d+")
_CALIBRE = re.compile(r"0\.(?:22|25|32|38|40|44|45|50|357)")
"""Calibres that are written without the nought."""

_CHAIN = re.compile(r"\d+(?:[-\u2010\u2011\u2013]\d+){2,}")


def value(scene: CheckContext, anchor: Anchor) -> float | None:
    """What an anchor counts, if it is one plain number; None for chains, times and codes."""
    words = scene.words[anchor.start : anchor.end]
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


def _is_hyphen_chain(scene: CheckContext, anchor: Anchor) -> bool:
    """Three numbers and more joined by hyphens: 36-24-36, in one token or in several."""
    words = scene.words[anchor.start : anchor.end]
    if len(words) == 1:
        return _CHAIN.fullmatch(words[0]) is not None
    return _CHAIN.fullmatch("".join(words)) is not None


# --- the ways in which a kind does not fit; each says what it found, or "" ---------------


def _clock(scene: CheckContext, anchor: Anchor, kind: Kind) -> str:
    behind = scene.following(anchor)
    if kind is Kind.TIME or behind not in CLOCK_WORDS:
        return ""
    if behind == "am" and _speaks_of_itself(scene, anchor):
        return ""
    return f"\u201c{scene.text(anchor.start, anchor.end + 1)}\u201d is a time of day"


def _speaks_of_itself(scene: CheckContext, anchor: Anchor) -> bool:
    """Whether *am* is the verb: "I for one am fed up"."""
    before = {scene.word(anchor.start - i) for i in (1, 2, 3, 4)}
    return "i" in before or scene.tag(anchor.end) in ("AUX", "VERB")


def _age_words(scene: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.AGE:
        return ""
    before = (scene.word(anchor.start - 2), scene.preceding(anchor))
    behind = (scene.following(anchor), scene.word(anchor.end + 1))
    aged = before in (("age", "of"), ("ages", "of")) or before[1] in ("aged", "age")
    old = behind[0] in ("years", "year") and behind[1] == "old"
    if not aged and not old:
        return ""
    return f"\u201c{scene.text(anchor.start - 2, anchor.end + 2)}\u201d speaks of an age"


def _money(scene: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.CURRENCY:
        return ""
    before, behind = scene.preceding(anchor), scene.following(anchor)
    inside = scene.word(anchor.start)[:1]
    if not MONEY_SIGNS & {before, behind, inside}:
        return ""
    start = anchor.start - (before in MONEY_SIGNS)
    shown = scene.text(start, anchor.end + (behind in MONEY_SIGNS))
    return f"\u201c{shown}\u201d has a sign for money"


def _no_hour(scene: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is not Kind.TIME:
        return ""
    size = value(scene, anchor)
    if size is None or size <= 24 or 100 <= size <= 2400:
        return ""
    return f"{_figure(size)} is no hour of the day"


def _mangled(scene: CheckContext, anchor: Anchor, kind: Kind) -> str:
    """Digits that no person writes so: 8.3 for 8:30, 0.44 for .44, 4E-05."""
    word = scene.word(anchor.start)
    if anchor.end - anchor.start > 1:
        return ""
    clock = kind is Kind.TIME and _DECIMAL.fullmatch(word)
    gun = _CALIBRE.fullmatch(word) and scene.preceding(anchor) == "a"
    if not (clock or gun or _COMPUTED.fullmatch(word)):
        return ""
    return f"\u201c{word}\u201d reads as if a program had rewritten it"


def _chain(scene: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind in (Kind.OTHER, Kind.NFH) or not _is_hyphen_chain(scene, anchor):
        return ""
    return f"\u201c{scene.text(anchor.start, anchor.end)}\u201d is a chain of numbers"


def _figure(size: float) -> str:
    return f"{size:,.15g}"


Misfit = Callable[[CheckContext, Anchor, Kind], str]


def _looking(name: str, misfit: Misfit) -> Callable[[CheckContext], Iterator[LabelFinding]]:
    def look(scene: CheckContext) -> Iterator[LabelFinding]:
        for case, said in scene.said():
            kind = said.answer.kind
            if kind is Kind.NFH:
                continue
            found = misfit(scene, case.anchor, kind)
            if found:
                yield _finding(name, case, said, found)

    return look


def _finding(name: str, case: CheckedNumber, said: StatedAnswer, found: str) -> LabelFinding:
    return LabelFinding(name, (case.key,), f"{found}, and is {said.answer.kind}", said.who)


def _check(
    name: str, severity: Severity, sentence: str, misfit: Misfit, rule: int
) -> LabelCheck:
    return LabelCheck(name, severity, sentence, _looking(name, misfit), rule)


SHAPE_CHECKS = (
    _check(
        "clock-word",
        Severity.DOUBT,
        "O'clock, a.m. or p.m. follows a number not TIME.",
        _clock,
        5,
    ),
    _check(
        "money-sign",
        Severity.DOUBT,
        "A sign for money beside a number that is an NFH and not CURRENCY.",
        _money,
        3,
    ),
    _check("age-words", Severity.DOUBT, "An age by its words that is not AGE.", _age_words, 5),
    _check("no-hour", Severity.DOUBT, "TIME of a number that is no hour.", _no_hour, 5),
    _check(
        "mangled-digits",
        Severity.DOUBT,
        "The digits read as if a program had rewritten them.",
        _mangled,
        1,
    ),
    _check("chain-kind", Severity.NOTE, "A chain as 36-24-36 that is not OTHER.", _chain, 18),
)


LINKS = frozenset({"or", "to", ",", "-", "\u2013", "nor"})
HEDGES = frozenset({"maybe", "perhaps", "possibly", "even", "about", "like"})
MOST_LINKS = 4
ALIKE = 5.0
"""How many times the smaller of two the larger may be: "in 2015, sixty doctors" is no pair."""

SCALES = (1.0, 1e2, 1e3, 1e6, 1e9)
"""The second number may have the word that both share: "two, three hundred years"."""

CLOCK_NOUNS = frozenset({"midnight", "noon", "night", "morning", "evening", "o'clock"})


def without_the_noun(scene: CheckContext) -> Iterator[LabelFinding]:
    """First numbers of "A or B noun" whose answer is not the noun behind (rule 16)."""
    for case, said in scene.said():
        second = _second(scene, case.anchor)
        if second is None or said.answer.kind is Kind.NFH:
            continue
        noun = _noun_behind(scene, second)
        if noun is None or _is_the_noun(scene, said.answer, noun):
            continue
        shown = scene.text(case.anchor.start, noun + 1)
        note = f"in \u201c{shown}\u201d it is {kind_in_words(scene, said.answer)}"
        yield LabelFinding("pair-noun", (case.key,), note, said.who)


def _second(scene: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    """The span of the number that an anchor is linked to, if it is of the same size."""
    place = _across_links(scene, anchor.end)
    if place is not None and is_ordinal(scene.word(place)):
        return place, place + 1
    for start, end in scene.numbers:
        if start == place and scene.same_turn(anchor.start, start):
            return (start, end) if _alike(scene, anchor, Anchor(start, end)) else None
    return None


def _across_links(scene: CheckContext, place: int) -> int | None:
    """The place behind links and hedges that start at `place`; None if no link is there."""
    end = place
    while end - place < MOST_LINKS and scene.word(end) in LINKS | HEDGES:
        end += 1
    linked = any(scene.word(i) in LINKS for i in range(place, end))
    return end if linked else None


def _alike(scene: CheckContext, left: Anchor, right: Anchor) -> bool:
    one, other = value(scene, left), value(scene, right)
    if not one or not other:
        return True
    sizes = [other / scale for scale in SCALES]
    return one != other and any(max(one, s) <= ALIKE * min(one, s) for s in sizes)


def _noun_behind(scene: CheckContext, number: tuple[int, int]) -> int | None:
    start = place = number[1]
    while place - start < MOST_LINKS and (
        scene.tag(place) in ("ADJ", "NUM") or scene.word(place) in ("-", "*")
    ):
        place += 1
    if not scene.same_turn(number[0], place):
        return None
    return place if scene.tag(place) in NOUNS or scene.word(place) == "%" else None


def _is_the_noun(scene: CheckContext, answer: Answer, noun: int) -> bool:
    """Whether an answer is that noun, or a class that the noun only names."""
    if answer.kind is Kind.REFERENCE:
        lemmas = {scene.lemma(token) for token in answer.head_tokens()}
        return scene.lemma(noun) in lemmas
    if answer.kind is Kind.AGE:
        return scene.word(noun + 1) in ("old", "-") or scene.lemma(noun) != "year"
    if answer.kind is Kind.YEAR:
        return False
    named = CLASS_NOUNS.get(answer.kind, frozenset())
    if scene.lemma(noun) in named | (CLOCK_NOUNS if answer.kind is Kind.TIME else frozenset()):
        return True
    return answer.noun is not None and answer.noun.casefold() == scene.lemma(noun)


def kind_in_words(scene: CheckContext, answer: Answer) -> str:
    """An answer as findings name it: its kind, and the words of its heads."""
    if answer.kind is not Kind.REFERENCE:
        return answer.kind.value
    words = ", ".join(scene.words[token] for token in answer.head_tokens())
    return f"REFERENCE to \u201c{words}\u201d"


def different_answers(scene: CheckContext) -> Iterator[LabelFinding]:
    """Linked anchors with no noun behind whose answers differ (rule 16)."""
    for chain in _chains(scene):
        for who in sorted({said.who for case in chain for said in case.said}, key=str):
            answers = [(case, _of(case, who)) for case in chain]
            given = [(case, answer) for case, answer in answers if answer is not None]
            if len(given) > 1 and _differ(scene, [answer for _, answer in given]):
                yield _chain_finding(scene, given, who)


def _of(case: CheckedNumber, who: str | None) -> Answer | None:
    return next((said.answer for said in case.said if said.who == who), None)


def _differ(scene: CheckContext, answers: Sequence[Answer]) -> bool:
    lemmas = [token.lemma for token in scene.passage.tokens]
    first = answers[0]
    return any(compare(first, other, lemmas).blocking is not None for other in answers[1:])


def _chain_finding(
    scene: CheckContext, given: Sequence[tuple[CheckedNumber, Answer]], who: str | None
) -> LabelFinding:
    first, last = given[0][0].anchor, given[-1][0].anchor
    kinds = ", ".join(kind_in_words(scene, answer) for _, answer in given)
    note = f"\u201c{scene.text(first.start, last.end)}\u201d is {kinds}"
    return LabelFinding("pair-differs", tuple(case.key for case, _ in given), note, who)


def _chains(scene: CheckContext) -> Iterator[list[CheckedNumber]]:
    """Runs of two and more anchors linked one to the next, without a noun behind the last."""
    chain: list[CheckedNumber] = []
    for case in sorted(scene.cases, key=lambda case: case.anchor.start):
        linked = chain and _across_links(scene, chain[-1].anchor.end) == case.anchor.start
        if linked and scene.same_turn(chain[-1].anchor.start, case.anchor.start):
            chain.append(case)
            continue
        if _is_pair_chain(scene, chain):
            yield chain
        chain = [case]
    if _is_pair_chain(scene, chain):
        yield chain


def _is_pair_chain(scene: CheckContext, chain: Sequence[CheckedNumber]) -> bool:
    if len(chain) < 2:
        return False
    last = chain[-1].anchor
    return _noun_behind(scene, (last.start, last.end)) is None


PAIR_CHECKS = (
    LabelCheck(
        "pair-noun",
        Severity.DOUBT,
        "\u201cA or B noun\u201d, and the first number is not that noun.",
        without_the_noun,
        rule=16,
        tagged=True,
    ),
    LabelCheck(
        "pair-differs",
        Severity.DOUBT,
        "Numbers said in one breath, without a noun behind them, have different answers.",
        different_answers,
        rule=16,
    ),
)
