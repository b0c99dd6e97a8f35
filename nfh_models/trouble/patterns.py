"""Fixed patterns whose answer is nearly always the same, where it is another."""

from collections.abc import Callable, Iterator

from nfh_models.domain import Anchor, Answer, Kind
from nfh_models.text.lexicon import parts_of
from nfh_models.trouble.heads import PRONOUNS
from nfh_models.trouble.pairs import kind_in_words
from nfh_models.trouble.scene import NOUNS, Check, Finding, Scene, Severity

GIVING = frozenset(
    "give gave given gives giving owe owed owes pay paid cost costs took taken take offer "
    "offered lend lent raise bet show tell told buy bought send sent get got go win won left "
    "leave make made find catch".split()
)
"""Before "you" they show that it is no part of the pattern: "I gave you three"."""

SPEAKERS = frozenset({"us", "you", "y'all"})
OTHERS = frozenset({"them", "'em", "these", "those"})
BE = frozenset("be is are was were am been being 's 're 'm".split())
PASSED_OVER = frozenset({"DET", "ADJ", "NUM", "PRON", "ADV"})
MOST_PASSED = 4

MEANT = frozenset({Kind.PEOPLE, Kind.REFERENCE, Kind.NFH})


def _is_one(scene: Scene, anchor: Anchor) -> bool:
    return anchor.end - anchor.start == 1 and scene.word(anchor.start) == "one"


# --- the patterns; each says what is usual where an answer is something else, or "" -------


def _no_one(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(scene, anchor) and scene.preceding(anchor) == "no"
    return "" if not hit or answer.kind in (Kind.PEOPLE, Kind.NFH) else "PEOPLE"


def _you_two(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    single = anchor.end - anchor.start == 1 and scene.word(anchor.start).isalpha()
    if not single or _is_one(scene, anchor) or scene.preceding(anchor) != "you":
        return ""
    before = {scene.word(anchor.start - 2), scene.word(anchor.start - 3)}
    return "" if answer.kind in MEANT or before & GIVING else "PEOPLE"


def _number_of(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    """ "Three of us", "two of them": PEOPLE, or what the pronoun stands for."""
    if scene.following(anchor) != "of":
        return ""
    object_ = scene.word(anchor.end + 1)
    if object_ in SPEAKERS:
        kept = answer.kind in (Kind.PEOPLE, Kind.NFH) or _names_a_noun(scene, answer)
        return "" if kept else "PEOPLE"
    if object_ in OTHERS and scene.tag(anchor.end + 2) not in NOUNS:
        return "" if answer.kind in MEANT else "REFERENCE to what the pronoun stands for"
    return ""


def _names_a_noun(scene: Scene, answer: Answer) -> bool:
    return any(scene.word(token) not in PRONOUNS for token in answer.head_tokens())


def _number_of_noun(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    """ "Two of the boys": the noun behind *of*."""
    if scene.following(anchor) != "of" or answer.kind is Kind.NFH:
        return ""
    place = _object(scene, anchor.end + 1)
    if place is None or not scene.same_turn(anchor.start, place):
        return ""
    meant = {scene.lemma(token) for token in answer.head_tokens()}
    return "" if scene.lemma(place) in meant else f"\u201c{scene.words[place]}\u201d"


def _object(scene: Scene, place: int) -> int | None:
    """The last noun of the phrase that starts at `place`: "the young card players"."""
    start = place
    while place - start < MOST_PASSED and scene.tag(place) in PASSED_OVER:
        if scene.word(place) in PRONOUNS or parts_of(scene.words[place]):
            return None
        place += 1
    if scene.tag(place) != "NOUN":
        return None
    while scene.tag(place + 1) == "NOUN":
        place += 1
    return None if scene.word(place + 1) in ("-", "'s", "'") else place


def _be_the_one(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    hit = (
        _is_one(scene, anchor)
        and scene.preceding(anchor) == "the"
        and scene.word(anchor.start - 2) in BE
    )
    return "" if not hit or answer.kind in MEANT else "who or what the sentence speaks of"


def _one_another(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(scene, anchor) and scene.following(anchor) == "another"
    return "" if not hit or answer.kind in MEANT else "PEOPLE"


def _one_and_only(scene: Scene, anchor: Anchor, answer: Answer) -> str:  # noqa: ARG001
    behind = (scene.following(anchor), scene.word(anchor.end + 1))
    return "NOT_NFH" if _is_one(scene, anchor) and behind == ("and", "only") else ""


def _i_for_one(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    if not _is_one(scene, anchor) or scene.preceding(anchor) != "for":
        return ""
    speaker = [scene.word(anchor.start - i) for i in (2, 3) if scene.word(anchor.start - i)]
    hit = speaker[:1] == ["i"] or speaker == [",", "i"]
    return "" if not hit or answer.kind in MEANT else "PEOPLE"


Usual = Callable[[Scene, Anchor, Answer], str]


def _looking(name: str, usual: Usual) -> Callable[[Scene], Iterator[Finding]]:
    def look(scene: Scene) -> Iterator[Finding]:
        for case, said in scene.said():
            wanted = usual(scene, case.anchor, said.answer)
            if wanted:
                note = f"it is {kind_in_words(scene, said.answer)}, usual is {wanted}"
                yield Finding(name, (case.key,), note, said.who)

    return look


def _check(
    name: str, severity: Severity, pattern: str, usual: Usual, rule: int, tagged: bool = False
) -> Check:
    sentence = f"The pattern {pattern} has an answer that it seldom has."
    return Check(name, severity, sentence, _looking(name, usual), rule, tagged)


CHECKS = (
    _check("no-one", Severity.DOUBT, "\u201cno one\u201d", _no_one, 15),
    _check("you-two", Severity.DOUBT, "\u201cyou two\u201d", _you_two, 15),
    _check(
        "number-of-us",
        Severity.DOUBT,
        "\u201cthree of us\u201d, \u201ctwo of them\u201d",
        _number_of,
        10,
    ),
    _check(
        "number-of-noun",
        Severity.DOUBT,
        "\u201ctwo of the boys\u201d",
        _number_of_noun,
        6,
        tagged=True,
    ),
    _check("be-the-one", Severity.NOTE, "\u201cshe is the one\u201d", _be_the_one, 14),
    _check("one-another", Severity.DOUBT, "\u201cone another\u201d", _one_another, 15),
    _check("one-and-only", Severity.DOUBT, "\u201cone and only\u201d", _one_and_only, 2),
    _check("i-for-one", Severity.NOTE, "\u201cI for one\u201d", _i_for_one, 15),
)
