"""Fixed patterns whose answer is nearly always the same, where it is another."""

from collections.abc import Callable, Iterator

from nfh_models.domain import Anchor, Answer, Kind
from nfh_models.trouble.heads import PRONOUNS
from nfh_models.trouble.pairs import kind_in_words
from nfh_models.trouble.scene import NOUNS, Check, Finding, Scene, Severity

SPEAKERS = frozenset({"us", "you", "y'all"})
OTHERS = frozenset({"them", "'em", "these", "those"})

MEANT = frozenset({Kind.PEOPLE, Kind.REFERENCE, Kind.NFH})


def _is_one(scene: Scene, anchor: Anchor) -> bool:
    return anchor.end - anchor.start == 1 and scene.word(anchor.start) == "one"


# --- the patterns; each says what is usual where an answer is something else, or "" -------


def _no_one(scene: Scene, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(scene, anchor) and scene.preceding(anchor) == "no"
    return "" if not hit or answer.kind in (Kind.PEOPLE, Kind.NFH) else "PEOPLE"


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
    _check(
        "number-of-us",
        Severity.DOUBT,
        "\u201cthree of us\u201d, \u201ctwo of them\u201d",
        _number_of,
        10,
    ),
    _check("one-another", Severity.DOUBT, "\u201cone another\u201d", _one_another, 15),
    _check("one-and-only", Severity.DOUBT, "\u201cone and only\u201d", _one_and_only, 2),
    _check("i-for-one", Severity.NOTE, "\u201cI for one\u201d", _i_for_one, 15),
)
