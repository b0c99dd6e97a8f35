"""Numbers said in one breath, "six or seven bulbs": what one means, the other does."""

from collections.abc import Iterator, Sequence

from nfh_models.domain import Anchor, Answer, Kind, compare
from nfh_models.domain.compare import CLASS_NOUNS
from nfh_models.text.lexicon import is_ordinal
from nfh_models.trouble.scene import NOUNS, Case, Check, Finding, Scene, Severity
from nfh_models.trouble.shape import value

LINKS = frozenset({"or", "to", ",", "-", "\u2013", "nor"})
HEDGES = frozenset({"maybe", "perhaps", "possibly", "even", "about", "like"})
MOST_LINKS = 4
ALIKE = 5.0
"""How many times the smaller of two the larger may be: "in 2015, sixty doctors" is no pair."""

SCALES = (1.0, 1e2, 1e3, 1e6, 1e9)
"""The second number may have the word that both share: "two, three hundred years"."""

CLOCK_NOUNS = frozenset({"midnight", "noon", "night", "morning", "evening", "o'clock"})


def without_the_noun(scene: Scene) -> Iterator[Finding]:
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
        yield Finding("pair-noun", (case.key,), note, said.who)


def _second(scene: Scene, anchor: Anchor) -> tuple[int, int] | None:
    """The span of the number that an anchor is linked to, if it is of the same size."""
    place = _across_links(scene, anchor.end)
    if place is not None and is_ordinal(scene.word(place)):
        return place, place + 1
    for start, end in scene.numbers:
        if start == place and scene.same_turn(anchor.start, start):
            return (start, end) if _alike(scene, anchor, Anchor(start, end)) else None
    return None


def _across_links(scene: Scene, place: int) -> int | None:
    """The place behind links and hedges that start at `place`; None if no link is there."""
    end = place
    while end - place < MOST_LINKS and scene.word(end) in LINKS | HEDGES:
        end += 1
    linked = any(scene.word(i) in LINKS for i in range(place, end))
    return end if linked else None


def _alike(scene: Scene, left: Anchor, right: Anchor) -> bool:
    one, other = value(scene, left), value(scene, right)
    if not one or not other:
        return True
    sizes = [other / scale for scale in SCALES]
    return one != other and any(max(one, s) <= ALIKE * min(one, s) for s in sizes)


def _noun_behind(scene: Scene, number: tuple[int, int]) -> int | None:
    start = place = number[1]
    while place - start < MOST_LINKS and (
        scene.tag(place) in ("ADJ", "NUM") or scene.word(place) in ("-", "*")
    ):
        place += 1
    if not scene.same_turn(number[0], place):
        return None
    return place if scene.tag(place) in NOUNS or scene.word(place) == "%" else None


def _is_the_noun(scene: Scene, answer: Answer, noun: int) -> bool:
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


def kind_in_words(scene: Scene, answer: Answer) -> str:
    """An answer as findings name it: its kind, and the words of its heads."""
    if answer.kind is not Kind.REFERENCE:
        return answer.kind.value
    words = ", ".join(scene.words[token] for token in answer.head_tokens())
    return f"REFERENCE to \u201c{words}\u201d"


def different_answers(scene: Scene) -> Iterator[Finding]:
    """Linked anchors with no noun behind whose answers differ (rule 16)."""
    for chain in _chains(scene):
        for who in sorted({said.who for case in chain for said in case.said}, key=str):
            answers = [(case, _of(case, who)) for case in chain]
            given = [(case, answer) for case, answer in answers if answer is not None]
            if len(given) > 1 and _differ(scene, [answer for _, answer in given]):
                yield _chain_finding(scene, given, who)


def _of(case: Case, who: str | None) -> Answer | None:
    return next((said.answer for said in case.said if said.who == who), None)


def _differ(scene: Scene, answers: Sequence[Answer]) -> bool:
    lemmas = [token.lemma for token in scene.passage.tokens]
    first = answers[0]
    return any(compare(first, other, lemmas).blocking is not None for other in answers[1:])


def _chain_finding(
    scene: Scene, given: Sequence[tuple[Case, Answer]], who: str | None
) -> Finding:
    first, last = given[0][0].anchor, given[-1][0].anchor
    kinds = ", ".join(kind_in_words(scene, answer) for _, answer in given)
    note = f"\u201c{scene.text(first.start, last.end)}\u201d is {kinds}"
    return Finding("pair-differs", tuple(case.key for case, _ in given), note, who)


def _chains(scene: Scene) -> Iterator[list[Case]]:
    """Runs of two and more anchors linked one to the next, without a noun behind the last."""
    chain: list[Case] = []
    for case in sorted(scene.cases, key=lambda case: case.anchor.start):
        linked = chain and _across_links(scene, chain[-1].anchor.end) == case.anchor.start
        if linked and scene.same_turn(chain[-1].anchor.start, case.anchor.start):
            chain.append(case)
            continue
        if _is_chain(scene, chain):
            yield chain
        chain = [case]
    if _is_chain(scene, chain):
        yield chain


def _is_chain(scene: Scene, chain: Sequence[Case]) -> bool:
    if len(chain) < 2:
        return False
    last = chain[-1].anchor
    return _noun_behind(scene, (last.start, last.end)) is None


CHECKS = (
    Check(
        "pair-noun",
        Severity.DOUBT,
        "\u201cA or B noun\u201d, and the first number is not that noun.",
        without_the_noun,
        rule=16,
        tagged=True,
    ),
    Check(
        "pair-differs",
        Severity.DOUBT,
        "Numbers said in one breath, without a noun behind them, have different answers.",
        different_answers,
        rule=16,
    ),
)
