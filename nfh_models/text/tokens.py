"""Tokens and lemmas of plain text: spaCy's blank English tokenizer and simplemma's tables, both
loaded when first used.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from nfh_models.parsing.spacy_parser import import_spacy

CACHE_SIZE = 1 << 17
LANGUAGE = "en"
LONGEST = 64
"""A longer word is its own lemma: it is in no dictionary, and simplemma's search by affixes is
slow.
"""


def lemmas(words: Iterable[str]) -> list[str]:
    """The lemma of each word, in lower case: "Tents" gives "tent".

    Words are looked up without their part of speech: "saw" gives "see", "left" stays. Words
    with a digit or without a letter (1960s, 12th, punctuation) are only lower-cased.
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


# The identification release was tokenized by CoreNLP, which writes the Penn Treebank's
# stand-ins for quotes and brackets; parsers trained on plain text expect the signs.

STAND_INS = {
    "``": '"',
    "''": '"',
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
"""Stand-ins of the Penn Treebank's tokenization, and the signs they stand for."""


def plain_words(words: Iterable[str]) -> list[str]:
    """The tokens with stand-ins replaced by the signs they stand for."""
    return [STAND_INS.get(word, word) for word in words]


# Before spaCy's tokenizer runs, text is cut at markup ("<i>two</i>", "two[1]") and at invisible
# characters, which it would leave in one token with a word.

Span = tuple[int, int]

WORDS_KEPT = 100_000
"""Distinct words that the tokenizer caches, 300 bytes each; then it is created again, since
endless texts have endlessly many words.
"""

PIECE = 100_000
"""Code points given to the tokenizer at a time; texts are cut at white space."""

LONGEST_RUN = 512
"""The longest run without white space given to the tokenizer: its time is quadratic in the
length, and a line of 40,000 brackets would take minutes.
"""

_RUN = re.compile(r"\S+")

_OPENING, _CLOSING = "[{<", "]}>"
_UNSEEN = (
    r"\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
)
"""Control characters that are no white space, and signs of direction and of no width."""

_MARKUP = re.compile(
    rf"(?:\x1b\[|\x9b)[0-9;?]{{0,32}}[A-Za-z]"  # what colours a terminal
    rf"|[{re.escape(_OPENING + _CLOSING)}{_UNSEEN}]"
)

_OWN_VERSION = 2
"""The version of what this module does besides spaCy."""


def tokenizer_name() -> str:
    """The tokenizer with its versions: "spacy-blank-en 3.8.18 nfh 2"."""
    import_spacy()
    from spacy.about import __version__

    return f"spacy-blank-en {__version__} nfh {_OWN_VERSION}"


def spans(text: str) -> list[Span]:
    """Code points [start, end) of each token of `text`, in order.

    Every character but white space lies in exactly one token. Runs of more than 512 characters
    without white space are tokenized more simply: letters, digits and marks together, every
    other character alone.
    """
    found: list[Span] = []
    for start, end in _pieces(text):
        if end - start > LONGEST_RUN and _RUN.fullmatch(text, start, end):
            found.extend(_simple(text, start, end))
        else:
            found.extend(_tokenized(text[start:end], start))
    return found


@lru_cache(maxsize=1)
def _blank() -> Any:  # noqa: ANN401 - spaCy has no types for its tokenizer
    """The tokenizer of `spacy.blank("en")`, without loading the plugins of pipelines."""
    import_spacy()
    from spacy.lang.en import English
    from spacy.language import create_tokenizer
    from spacy.vocab import create_vocab

    defaults: Any = English.Defaults
    made: Any = SimpleNamespace(vocab=create_vocab(LANGUAGE, defaults), Defaults=defaults)
    return create_tokenizer()(made)


def _pieces(text: str) -> Iterator[Span]:
    """Spans that hold all of `text` but white space; runs longer than LONGEST_RUN are pieces of
    their own.
    """
    if len(text) <= LONGEST_RUN:
        yield 0, len(text)
        return
    start = end = 0
    for run in _RUN.finditer(text):
        long = run.end() - run.start() > LONGEST_RUN
        if end > start and (long or run.end() - start > PIECE):
            yield start, end
            start = run.start()
        if long:
            yield run.span()
            start = run.end()
        end = run.end()
    if end > start:
        yield start, end


def _tokenized(text: str, shift: int) -> Iterator[Span]:
    tokenizer = _blank()
    if len(tokenizer.vocab.strings) > WORDS_KEPT:
        _blank.cache_clear()
    begin = 0
    for end in (*_cuts(text), len(text)):
        for token in tokenizer(text[begin:end]):
            if not token.is_space:
                start = token.idx + begin + shift
                yield start, start + len(token)
        begin = end


def _cuts(text: str) -> Iterator[int]:
    """Forced token boundaries: before opening signs, after closing ones, around invisible
    characters.
    """
    last = 0
    for found in _MARKUP.finditer(text):
        first = found.group()[0]
        for place, cuts in (
            (found.start(), first not in _CLOSING),
            (found.end(), first not in _OPENING),
        ):
            if cuts and place > last:
                yield place
                last = place


def _simple(text: str, start: int, end: int) -> Iterator[Span]:
    word = start
    for place in range(start, end):
        if unicodedata.category(text[place])[0] not in "LMN":
            if place > word:
                yield word, place
            yield place, place + 1
            word = place + 1
    if end > word:
        yield word, end
