"""Singular and plural of English nouns, by the rules of a library and a passage's own words.

Pure: no screen. What is no plain word (%, km/h), no English one, and names stay as they are.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nfh_models.domain import Passage
from nfh_tui.editing.words import BEFORE_NOUNS, PRONOUNS, fold

if TYPE_CHECKING:
    from pluralizer import Pluralizer

UNCHANGED = (
    "aircraft", "arithmetic", "baht", "blood", "cash", "clothes", "craft", "deer", "dice",
    "fish", "furniture", "goggles", "grand", "luggage", "macaroni", "math", "maths", "means",
    "money", "moose", "news", "odds", "pants", "percent", "quid", "series", "sheep", "shorts",
    "spinach", "species", "staff", "swine", "thanks", "tights", "trousers", "trout", "yen",
)  # fmt: skip
"""Nouns that are written alike in both, or have but one."""

SCIENCES = re.compile(r"(?i)(econom|gymnast|mathemat|phys|polit|athlet|electron|eth|genet)ics$")

PLURALS = {
    # ch is spoken as k.
    r"(?i)((?:mon|olig|matri|patri)arch|stomach|epoch|eunuch|loch|czech)$": "$1s",
    r"(?i)^((?:ger|nor|otto|ro|sha|talis|cai)man|human)$": "$1s",
    r"(?i)^(golf|gulf|turf|surf|serf|smurf)$": "$1s",
}
"""What the library's rules miss: those of nouns that are written in the singular."""

SINGULARS = {
    r"(?i)^(th)(?:ie|ei)ves$": "$1ief",
    r"(?i)^pence$": "penny",
    r"(?i)^(lens|rhinoceros)(?:es)?$": "$1",
}

_SENTENCE_ENDS = frozenset({".", "!", "?", "…", "...", '"', "“", ":", "-", "–", "—"})
_ACRONYM = re.compile(r"((?:[A-Z]\.?){2,})s$")
_LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]{2,}$")
_OF_GRAMMAR = (BEFORE_NOUNS | PRONOUNS) - {"half", "self"}
CACHE_SIZE = 1 << 12
TITLED = 4
"""Words with a capital among those of a line, of which most have one, that make it a title."""


@lru_cache(maxsize=1)
def _rules() -> "Pluralizer":
    # Imported at the first noun: the screen starts without it.
    from pluralizer import Pluralizer

    made = Pluralizer()  # type: ignore[no-untyped-call]
    for word in UNCHANGED:
        made.add_uncountable_rule(word)
    made.add_uncountable_rule(SCIENCES)
    for pattern, replacement in PLURALS.items():
        made.add_plural_rule(re.compile(pattern), replacement)
    for pattern, replacement in SINGULARS.items():
        made.add_singular_rule(re.compile(pattern), replacement)
    return made


def _stays(word: str) -> bool:
    """True for what has no other form: no English letters, or a word of grammar."""
    return not _LATIN.match(word) or fold(word) in _OF_GRAMMAR


@lru_cache(maxsize=CACHE_SIZE)
def plural_of(word: str) -> str:
    """The plural of a noun that is written in either number."""
    if _stays(word) or is_plural(word):
        return word
    return _rules().plural(word)


@lru_cache(maxsize=CACHE_SIZE)
def singular_of(word: str) -> str:
    """The singular of a noun that is written in either number."""
    acronym = _ACRONYM.match(word)
    if acronym:
        return acronym[1]
    return word if _stays(word) else _rules().singular(word)


def is_plural(word: str) -> bool:
    """True if a word is written in the plural and has a singular besides."""
    return singular_of(word) != word


# --- names ----------------------------------------------------------------------------------


def is_name(passage: Passage, token: int) -> bool:
    """True for a word with a capital that is owed neither to its place nor to emphasis.

    At the start of a sentence it is a name if it has its capital elsewhere too. What speaks
    is a name; what is written in capitals, or small elsewhere, or in a title, is none.
    """
    word = passage.word(token)
    if not word[:1].isupper() or word == "I":
        return False
    if _speaks(passage, word):
        return True
    if (len(word) > 1 and word.isupper()) or _in_title(passage, token):
        return False
    small = word.lower()
    within = False
    for place in range(len(passage.tokens)):
        other = passage.word(place)
        if other == small:
            return False
        within |= other == word and not _begins_a_sentence(passage, place)
    return within


def _speaks(passage: Passage, word: str) -> bool:
    return any(word in (turn.speaker or "").split() for turn in passage.turns)


def _begins_a_sentence(passage: Passage, token: int) -> bool:
    turn = passage.turns[passage.turn_of(token)]
    return token == turn.start or passage.word(token - 1) in _SENTENCE_ENDS


def _in_title(passage: Passage, token: int) -> bool:
    """True if nearly all words of a token's turn have capitals."""
    words = _plain_words(passage, token)
    capital = sum(word[0].isupper() for word in words)
    return capital >= TITLED and capital > 0.8 * len(words)


def _shouted(passage: Passage, token: int) -> bool:
    """True if most of what is said in a token's turn is written in capitals."""
    words = _plain_words(passage, token)
    return sum(word.isupper() for word in words) > len(words) / 2


def _plain_words(passage: Passage, token: int) -> list[str]:
    turn = passage.turns[passage.turn_of(token)]
    words = (passage.word(place) for place in range(turn.start, turn.end))
    return [word for word in words if len(word) > 1 and word.isalpha()]


# --- the form that a number asks for --------------------------------------------------------


def noun_form(passage: Passage, token: int, *, plural: bool) -> str:
    """The noun at a token in the singular or the plural, in the passage's own words if it has
    them."""
    word, lemma = passage.word(token), passage.tokens[token].lemma
    if is_name(passage, token):
        kept = plural or _speaks(passage, word)
        return word if kept else _one_of(word, lemma)
    if len(word) > 1 and word.isupper() and not _shouted(passage, token):
        return f"{word}s" if plural and word.isalpha() and _LATIN.match(word) else word
    if is_plural(word) == plural or _stays(word):
        return singular_of(word) if _ACRONYM.match(word) and not plural else word
    if not _may_be_noun(word, lemma):
        return word
    made = plural_of(word) if plural else singular_of(word)
    if made == word:
        return word
    for place, other in enumerate(passage.tokens):
        found = passage.word(place)
        if (
            other.lemma == lemma
            and found[1:].islower()
            and is_plural(found) == plural
            and _may_be_noun(found, lemma)
        ):
            return found.lower()
    return made


def _may_be_noun(word: str, lemma: str) -> bool:
    """False for a form that no noun of this lemma has: "called" of call, "fought" of fight."""
    lemma = lemma.casefold()
    return not lemma or lemma in (word.casefold(), singular_of(word).casefold())


def _one_of(name: str, lemma: str) -> str:
    """One of those that a name in the plural means: one of the Germans is a German."""
    one = singular_of(name)
    return one if one.casefold() == lemma.casefold() else name


def free_form(noun: str, *, plural: bool) -> str:
    """A noun that somebody wrote: its last word in the plural, if that is wanted."""
    *before, last = noun.split() or [noun]
    return " ".join([*before, plural_of(last) if plural and not last.endswith("s") else last])
