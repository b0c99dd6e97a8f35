"""What is marked as a head and can be none, and what is left unmarked."""

from collections.abc import Callable, Iterator, Mapping

from nfh_models.domain import Head
from nfh_models.text.lexicon import parts_of
from nfh_models.trouble.scene import NOUNS, Case, Check, Finding, Scene, Severity

PRONOUNS = frozenset(
    "i me mine myself you yours yourself yourselves he him his himself she her hers herself it "
    "its itself we us ours ourselves they them 'em theirs themselves this that these those who "
    "whom whose what which someone somebody something anyone anybody anything everyone "
    "everybody everything nobody nothing none both all some any each another other others "
    "ones".split()
)
"""A closed list, good without a parser."""


Fault = Callable[[Scene, Head, int], str]
"""What is wrong with a head token, in words; "" for nothing."""


def _looking(name: str, fault: Fault) -> Callable[[Scene], Iterator[Finding]]:
    """Each answer with heads that have the fault, once: the fault of the first is told."""

    def look(scene: Scene) -> Iterator[Finding]:
        for case, said in scene.said():
            found = [
                (token, wrong)
                for head in said.answer.heads
                for token in (mention.head for mention in head.live)
                if (wrong := fault(scene, head, token))
            ]
            if found:
                token, wrong = found[0]
                more = f", and {len(found) - 1} more mentions" if len(found) > 1 else ""
                note = f"its head \u201c{scene.words[token]}\u201d is {wrong}{more}"
                yield Finding(name, (case.key,), note, said.who)

    return look


def _pronoun(scene: Scene, head: Head, token: int) -> str:  # noqa: ARG001
    is_one = scene.word(token) in PRONOUNS and scene.tag(token) not in NOUNS
    return "a pronoun" if is_one else ""


def _number(scene: Scene, head: Head, token: int) -> str:  # noqa: ARG001
    return "a number" if parts_of(scene.words[token]) else ""


def _sign(scene: Scene, head: Head, token: int) -> str:  # noqa: ARG001
    word = scene.words[token]
    if parts_of(word) or scene.word(token) in PRONOUNS:
        return ""
    if not any(map(str.isalpha, word)):
        return "a sign"
    if len(word) == 1:
        return "a single letter"
    return "" if word[0].isalnum() and word[-1].isalnum() else "a word with a sign glued on"


def _verb(scene: Scene, head: Head, token: int) -> str:
    if _after_a_noun_or_so(scene, token) and not scene.word(token).endswith("ed"):
        return ""
    return _by_tag(scene, head, token, {"VERB": "a verb", "AUX": "a verb"})


def _adjective(scene: Scene, head: Head, token: int) -> str:
    unsure = scene.tag(token) in ("ADJ", "ADV", "INTJ") and scene.tag(token + 1) not in NOUNS
    if unsure and _after_a_noun_or_so(scene, token):
        return ""
    return _by_tag(scene, head, token, WORDED)


def _after_a_noun_or_so(scene: Scene, token: int) -> bool:
    """Whether the word before makes a noun likely, whatever the parser takes it for.

    "Deposit slip", "three diamonds", "never met a psychic": most mistakes of small parsers
    are of this kind.
    """
    if not scene.same_turn(token - 1, token):
        return False
    before = scene.tag(token - 1)
    return before in MAKE_A_NOUN or scene.word(token - 1) in POSSESSIVES


def _by_tag(scene: Scene, head: Head, token: int, wrong: Mapping[str, str]) -> str:
    word, tag = scene.words[token], scene.tag(token)
    if tag not in wrong or not word.isalpha() or len(word) == 1:
        return ""
    if scene.word(token) in PRONOUNS or _is_compound(scene, token):
        return ""
    among = any(scene.tag(mention.head) in NOUNS for mention in head.live)
    return wrong[tag] + (" among mentions that are nouns" if among else "")


WORDED = {
    "ADJ": "an adjective",
    "ADV": "an adverb",
    "ADP": "a preposition",
    "INTJ": "an interjection",
    "DET": "a determiner",
    "CCONJ": "a conjunction",
    "SCONJ": "a conjunction",
}


MAKE_A_NOUN = NOUNS | {"DET", "NUM", "ADJ"}
POSSESSIVES = frozenset("my your his her its our their whose 's".split())


def _is_compound(scene: Scene, token: int) -> bool:
    """Whether a hyphen ties the token to another: the release marks one part of a compound."""
    return "-" in (scene.word(token - 1), scene.word(token + 1))


def unmarked(scene: Scene) -> Iterator[Finding]:
    """Mentions of a head's noun left out where the answer marks several of it."""
    for case, said in scene.said():
        for head in said.answer.heads:
            left = list(_left_out(scene, case, head)) if len(head.live) > 1 else []
            if left:
                word = scene.words[head.live[0].head]
                shown = ", ".join(f"\u201c{scene.text(i - 2, i + 2)}\u201d" for i in left[:3])
                note = (
                    f"{len(head.live)} mentions of \u201c{word}\u201d are marked, "
                    f"{len(left)} not: {shown}"
                )
                yield Finding("unmarked-mention", (case.key,), note, said.who)


def _left_out(scene: Scene, case: Case, head: Head) -> Iterator[int]:
    known = {mention.head for mention in head.mentions}
    lemmas = {scene.lemma(mention.head) for mention in head.live}
    for place, token in enumerate(scene.passage.tokens):
        if token.lemma.casefold() not in lemmas or place in known:
            continue
        inside = case.anchor.start <= place < case.anchor.end
        if not inside and (scene.tags is None or scene.tag(place) in NOUNS):
            yield place


def _check(
    name: str,
    severity: Severity,
    what: str,
    fault: Fault,
    rule: int | None = None,
    tagged: bool = False,
) -> Check:
    return Check(name, severity, f"A head is {what}.", _looking(name, fault), rule, tagged)


CHECKS = (
    _check("head-pronoun", Severity.DOUBT, "a pronoun", _pronoun, 10),
    _check("head-number", Severity.DOUBT, "a number", _number, 10),
    _check("head-sign", Severity.NOTE, "a sign or a single letter", _sign),
    _check("head-verb", Severity.NOTE, "a verb, by the parser", _verb, 17, tagged=True),
    _check(
        "head-adjective",
        Severity.NOTE,
        "an adjective, an adverb or the like, by the parser",
        _adjective,
        17,
        tagged=True,
    ),
    Check(
        "unmarked-mention",
        Severity.NOTE,
        "Several mentions of a noun are marked as heads, and others of it are not.",
        unmarked,
        rule=7,
    ),
)
