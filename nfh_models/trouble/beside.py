"""What stands beside an anchor: the rest of its number, a noun of its own, a sign."""

from collections.abc import Iterator

from nfh_models.domain import Anchor
from nfh_models.text.lexicon import is_ordinal, parts_of
from nfh_models.trouble.scene import NOUNS, Case, Check, Finding, Said, Scene, Severity

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


def cut_numbers(scene: Scene) -> Iterator[Finding]:
    """Anchors that are a part of a number, or have digits of it beside them."""
    for case in scene.cases:
        whole = _whole(scene, case.anchor)
        if whole is not None and _is_number(scene, case.anchor):
            part = scene.text(case.anchor.start, case.anchor.end)
            note = f"\u201c{part}\u201d is part of \u201c{scene.text(*whole)}\u201d"
            yield Finding("number-beside", (case.key,), note)


def _whole(scene: Scene, anchor: Anchor) -> tuple[int, int] | None:
    for start, end in scene.numbers:
        if start <= anchor.start and anchor.end <= end and end - start > _size(anchor):
            return start, end
    return _torn(scene, anchor)


def _size(anchor: Anchor) -> int:
    return anchor.end - anchor.start


def _torn(scene: Scene, anchor: Anchor) -> tuple[int, int] | None:
    """Tokens around an anchor whose number does not read as one: "1 , 100", "three two"."""
    start, end = anchor.start, anchor.end
    if _behind_a_comma(scene, start):
        start -= 2
    if scene.same_turn(start - 1, start) and parts_of(scene.words[start - 1]):
        start -= 1
    if scene.same_turn(end - 1, end) and parts_of(scene.words[end]):
        end += 1
    return None if (start, end) == (anchor.start, anchor.end) else (start, end)


def _behind_a_comma(scene: Scene, place: int) -> bool:
    """The rest of "18 , 000", of "$ 1 , 100", and of "$ 300 , 0" that lost its noughts."""
    if scene.word(place - 1) != "," or not scene.same_turn(place - 2, place):
        return False
    if not (_digits(scene, place) and _digits(scene, place - 2)):
        return False
    return scene.word(place) == "000" or scene.word(place - 3) in MONEY_SIGNS


def _digits(scene: Scene, place: int) -> bool:
    return scene.word(place).isdecimal()


def several_numbers(scene: Scene) -> Iterator[Finding]:
    """Anchors that hold two numbers, as "five or ten"."""
    for case in scene.cases:
        inside = [
            span
            for span in scene.numbers
            if case.anchor.start <= span[0] and span[1] <= case.anchor.end
        ]
        if len(inside) > 1:
            read = " and ".join(f"\u201c{scene.text(*span)}\u201d" for span in inside)
            yield Finding("two-numbers", (case.key,), f"it holds {read}")


def no_numbers(scene: Scene) -> Iterator[Finding]:
    """Anchors none of whose words is a number; and ordinals that are taken for an NFH."""
    for case in scene.cases:
        anchor = case.anchor
        if not _is_number(scene, anchor) and not _is_ordinal(scene, anchor):
            note = f"\u201c{scene.text(anchor.start, anchor.end)}\u201d is no number"
            yield Finding("no-number", (case.key,), note)
    for case, said in scene.said():
        if _is_ordinal(scene, case.anchor):
            suffix = _suffix_behind(scene, case.anchor)
            text = scene.text(case.anchor.start, case.anchor.end + suffix)
            note = f"\u201c{text}\u201d is an ordinal, and {said.answer.kind}"
            yield Finding("no-number", (case.key,), note, said.who)


def _is_number(scene: Scene, anchor: Anchor) -> bool:
    words = scene.words[anchor.start : anchor.end]
    return any(parts_of(word) or _has_digit(word) for word in words)


def _is_ordinal(scene: Scene, anchor: Anchor) -> bool:
    return is_ordinal(scene.words[anchor.end - 1]) or _suffix_behind(scene, anchor)


def _has_digit(word: str) -> bool:
    return any(map(str.isdecimal, word))


def _suffix_behind(scene: Scene, anchor: Anchor) -> bool:
    return _digits(scene, anchor.end - 1) and scene.following(anchor) in {
        "st",
        "nd",
        "rd",
        "th",
    }


# --- a noun of its own -----------------------------------------------------------------


def nouns_after(scene: Scene) -> Iterator[Finding]:
    """Anchors with a noun right behind them whose answer says that a noun is missing."""
    for case, said in scene.said():
        place = case.anchor.end
        if scene.tag(place) != "PROPN" and _own_noun(scene, case.anchor, place):
            yield _with_noun("noun-after", scene, case, said, place)


def nouns_near(scene: Scene) -> Iterator[Finding]:
    """The same with adjectives between: "three stubborn goats" (guidelines, rule 2)."""
    for case, said in scene.said():
        place = _across_adjectives(scene, case.anchor.end)
        if place is None or scene.tag(place) != "NOUN" or _says_when(scene, case.anchor, place):
            continue
        if _own_noun(scene, case.anchor, place):
            yield _with_noun("noun-near", scene, case, said, place)


def _own_noun(scene: Scene, anchor: Anchor, place: int) -> bool:
    if not scene.same_turn(anchor.end - 1, place) or scene.word(place) in CLOCK_WORDS:
        return False
    if scene.word(place) == "%":
        return True
    named = scene.word(place).isalpha() and scene.word(place) not in DAYS
    if scene.word(anchor.start) == "one":  # what looks like a noun behind it is often a verb
        named = named and scene.preceding(anchor) != "no"
        named = named and not scene.word(place).endswith("ing")
    return named and scene.tag(place) in NOUNS


def _says_when(scene: Scene, anchor: Anchor, place: int) -> bool:
    return (
        scene.word(anchor.end) in POINTERS
        and place == anchor.end + 1
        and scene.lemma(place) in WHEN
    )


def _across_adjectives(scene: Scene, place: int) -> int | None:
    """The place behind adjectives that start at `place`, commas among them; None if none."""
    start = place
    while place - start < 2 * BETWEEN and (
        scene.tag(place) == "ADJ"
        or scene.word(place) == "*"
        or (place > start and scene.word(place) == ",")
    ):
        place += 1
    return place if place > start else None


def _with_noun(check: str, scene: Scene, case: Case, said: Said, place: int) -> Finding:
    shown = scene.text(case.anchor.start, place + 1)
    note = f"\u201c{shown}\u201d has its own noun, and is {said.answer.kind}"
    return Finding(check, (case.key,), note, said.who)


CHECKS = (
    Check(
        "number-beside",
        Severity.DOUBT,
        "The anchor is only a part of its number.",
        cut_numbers,
        rule=1,
    ),
    Check(
        "two-numbers",
        Severity.DOUBT,
        "The anchor holds more than one number.",
        several_numbers,
    ),
    Check(
        "no-number",
        Severity.DOUBT,
        "The anchor is no number; or it is an ordinal, and taken for an NFH.",
        no_numbers,
        rule=2,
    ),
    Check(
        "noun-after",
        Severity.DOUBT,
        "A noun stands right behind the anchor, and yet its noun is said to be missing.",
        nouns_after,
        rule=2,
        tagged=True,
    ),
    Check(
        "noun-near",
        Severity.DOUBT,
        "Adjectives and a noun stand behind the anchor, and its noun is said to be missing.",
        nouns_near,
        rule=2,
        tagged=True,
    ),
)
