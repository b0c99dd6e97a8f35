"""Singular and plural of English nouns, as far as rules and a passage's own words go.

Pure: no screen, no dictionary. What is no plain word (%, km/h, names) stays as it is.
"""

from nfh_models.domain import Passage
from nfh_tui.editing.words import PRONOUNS, fold

IRREGULAR = {
    "calf": "calves", "child": "children", "foot": "feet", "goose": "geese", "half": "halves",
    "knife": "knives", "leaf": "leaves", "life": "lives", "loaf": "loaves", "louse": "lice",
    "mouse": "mice", "ox": "oxen", "penny": "pence", "person": "people",
    "scarf": "scarves", "shelf": "shelves", "thief": "thieves",
    "tooth": "teeth", "wife": "wives", "wolf": "wolves",
}  # fmt: skip
"""Nouns whose plural no rule gives."""

NO_MEN = frozenset("german human norman ottoman roman shaman talisman".split())
"""Nouns in -man that have no plural in -men."""

UNCHANGED = frozenset(
    "aircraft cash craft deer dice fish furniture grand quid luggage means money moose news "
    "percent series sheep species staff swine trout".split()
)
"""Nouns that are written alike in both."""

_SINGULARS = {plural: singular for singular, plural in IRREGULAR.items()}
_WITH_ES = frozenset("echo hero potato tomato veto".split())
_SENTENCE_ENDS = frozenset({".", "!", "?", "…", "...", '"', "“", ":", "-", "–", "—"})


def plural_of(word: str) -> str:
    """The plural of a noun that is written in the singular."""
    low = word.casefold()
    if low in UNCHANGED or low in _SINGULARS or not word.isalpha() or len(word) < 2:
        return word
    if low.endswith("man") and low not in NO_MEN:
        return f"{word[:-3]}men"
    if low in IRREGULAR:
        return word[0] + IRREGULAR[low][1:]
    if low.endswith(("s", "x", "z", "ch", "sh")) or low in _WITH_ES:
        return f"{word}es"
    if low.endswith("y") and low[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def is_plural(word: str, lemma: str) -> bool:
    """True if a word is written in the plural, going by its lemma.

    A dictionary may know a plural no better than as itself; then its ending tells.
    """
    low, base = word.casefold(), lemma.casefold()
    if low in UNCHANGED:
        return False
    if low in _SINGULARS or (low.endswith("men") and base.endswith("man")):
        return True
    return low != base and low.endswith("s") and not low.endswith("ss")


def singular_of(word: str, lemma: str) -> str:
    """The singular of a noun, going by its lemma."""
    if not is_plural(word, lemma):
        return word
    return _SINGULARS.get(word.casefold(), lemma)


def is_name(passage: Passage, token: int) -> bool:
    """True for a word with a capital that is not owed to the start of a sentence.

    At the start of one it is a name if it has its capital elsewhere too, or speaks.
    """
    word = passage.word(token)
    if not word[:1].isupper() or word == "I":
        return False
    if not _begins_a_sentence(passage, token):
        return True
    if any(word in (turn.speaker or "").split() for turn in passage.turns):
        return True
    return any(
        passage.word(place) == word and not _begins_a_sentence(passage, place)
        for place in range(len(passage.tokens))
    )


def _begins_a_sentence(passage: Passage, token: int) -> bool:
    turn = passage.turns[passage.turn_of(token)]
    return token == turn.start or passage.word(token - 1) in _SENTENCE_ENDS


def noun_form(passage: Passage, token: int, *, plural: bool) -> str:
    """The noun at a token in the singular or the plural, in the passage's own words if it has
    them."""
    word, lemma = passage.word(token), passage.tokens[token].lemma
    if fold(word) in PRONOUNS or is_name(passage, token) or not word.isalpha():
        return word
    if not plural:
        return singular_of(word, lemma)
    if is_plural(word, lemma):
        return word
    for place, other in enumerate(passage.tokens):
        if other.lemma == lemma and is_plural(passage.word(place), lemma):
            return passage.word(place).lower()
    return plural_of(word)


def free_form(noun: str, *, plural: bool) -> str:
    """A noun that somebody wrote: its last word in the plural, if that is wanted."""
    *before, last = noun.split() or [noun]
    return " ".join([*before, plural_of(last) if plural and not last.endswith("s") else last])
