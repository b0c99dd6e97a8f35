"""Lemmas of single words: simplemma's English tables, loaded when first used."""

from collections.abc import Iterable
from functools import lru_cache

CACHE_SIZE = 1 << 17
LANGUAGE = "en"
LONGEST = 64
"""A word of more characters is its own lemma: it is in no dictionary, and the search for
one by prefixes and suffixes takes long."""


def lemmatizer_name() -> str:
    """What made the lemmas, with its version: "simplemma-en 2.0.0"."""
    from importlib.metadata import version

    return f"simplemma-{LANGUAGE} {version('simplemma')}"


def lemmas(words: Iterable[str]) -> list[str]:
    """The lemma of each word, in lower case: "Tents" gives "tent".

    A word is looked up by itself, whatever its part of speech: "saw" is "see", "left" stays.
    What holds a digit or no letter at all (1960s, 12th, punctuation) stays as it is.
    """
    return list(map(_lemma, words))


@lru_cache(maxsize=CACHE_SIZE)
def _lemma(word: str) -> str:
    if len(word) > LONGEST or not _is_word(word):
        return word.lower()
    from simplemma import lemmatize

    return str(lemmatize(word, lang=LANGUAGE)).lower()


def _is_word(word: str) -> bool:
    return any(map(str.isalpha, word)) and not any(map(str.isdigit, word))
