"""A class where a noun of the passage would do."""

from collections.abc import Iterator

from nfh_models.domain import Kind
from nfh_models.domain.compare import CLASS_NOUNS, PLURALS
from nfh_models.text.lexicon import parts_of
from nfh_models.trouble.scene import Case, Check, Finding, Said, Scene, Severity

UNITS: dict[Kind, frozenset[str]] = {
    Kind.AGE: frozenset({"year"}),
    Kind.CURRENCY: CLASS_NOUNS[Kind.CURRENCY] - {"money", "cash", "grand", "mark"},
    Kind.TIME: frozenset({"o'clock"}),
}
"""What could stand behind the number in place of the class: "ten *dollars*"."""

COUNTED = frozenset("many any every each all some those these other few several both".split())
"""Before a noun for people they show that people are counted: "five people ... only one"."""

NEAR = 40
"""Tokens within which people are looked for."""


def class_nouns(scene: Scene) -> Iterator[Finding]:
    """AGE, CURRENCY or TIME although its unit stands in the passage."""
    for case, said in scene.said():
        units = UNITS.get(said.answer.kind)
        token = _nearest(scene, case, units) if units else None
        if token is not None:
            yield _there("class-noun-there", scene, case, said, token)


def people_nouns(scene: Scene) -> Iterator[Finding]:
    """PEOPLE although people are counted in the passage, close by (rule 6)."""
    nouns = CLASS_NOUNS[Kind.PEOPLE]
    for case, said in scene.said():
        if said.answer.kind is not Kind.PEOPLE:
            continue
        token = _nearest(scene, case, nouns)
        if token is not None and _counted(scene, token, case):
            yield _there("people-noun-there", scene, case, said, token)


def _counted(scene: Scene, token: int, case: Case) -> bool:
    before = [scene.word(token - i) for i in (1, 2) if token - i >= 0]
    counted = any(word in COUNTED or parts_of(word) for word in before)
    return counted and abs(token - case.anchor.start) <= NEAR


def _there(name: str, scene: Scene, case: Case, said: Said, token: int) -> Finding:
    note = f"it is {said.answer.kind}, and \u201c{scene.words[token]}\u201d stands there"
    return Finding(name, (case.key,), note, said.who)


def other_nouns(scene: Scene) -> Iterator[Finding]:
    """A free noun that stands in the passage: that would be its head (rule 6)."""
    for case, said in scene.said():
        noun = (said.answer.noun or "").strip().casefold()
        if said.answer.kind is not Kind.OTHER or not noun:
            continue
        token = _nearest(scene, case, _forms(noun))
        if token is not None:
            found = scene.words[token]
            note = f"it is OTHER \u201c{noun}\u201d, and \u201c{found}\u201d stands there"
            yield Finding("other-noun-there", (case.key,), note, said.who)


def _forms(noun: str) -> frozenset[str]:
    singulars = {
        noun.removesuffix(ending) + singular
        for ending, singular in PLURALS
        if noun.endswith(ending) and len(noun) > len(ending) + 1
    }
    return frozenset({noun, *singulars})


def _nearest(scene: Scene, case: Case, lemmas: frozenset[str]) -> int | None:
    """The noun of these lemmas that is closest to the anchor."""
    anchor = case.anchor
    found = [
        place
        for place in range(len(scene.low))
        if scene.lemma(place) in lemmas
        and not anchor.start <= place < anchor.end
        and (scene.tags is None or scene.tag(place) == "NOUN")
    ]
    return min(found, key=lambda place: abs(place - anchor.start), default=None)


CHECKS = (
    Check(
        "class-noun-there",
        Severity.NOTE,
        "AGE, CURRENCY or TIME, and its unit stands in the passage.",
        class_nouns,
        rule=3,
    ),
    Check(
        "people-noun-there",
        Severity.NOTE,
        "PEOPLE, and people are counted close by.",
        people_nouns,
        rule=6,
    ),
    Check(
        "other-noun-there",
        Severity.DOUBT,
        "OTHER with a noun of its own words, and that noun stands in the passage.",
        other_nouns,
        rule=6,
    ),
)
