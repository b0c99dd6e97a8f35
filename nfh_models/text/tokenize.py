"""Tokens of plain text: spaCy's blank English tokenizer, loaded when first used."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from nfh_models.lean_spacy import import_spacy

if TYPE_CHECKING:
    from spacy.tokens import Doc

Span = tuple[int, int]

PIECE = 100_000
"""Code points given to the tokenizer at a time; white space is where texts are cut."""

LONGEST_RUN = 512
"""The longest stretch without white space that the tokenizer gets to see: its time grows
with the square of the length, and a line of 40,000 brackets would take minutes."""

_RUN = re.compile(r"\S+")


def tokenizer_name() -> str:
    """What made the tokens, with its version: "spacy-blank-en 3.8.18"."""
    import_spacy()
    from spacy.about import __version__

    return f"spacy-blank-en {__version__}"


def spans(text: str) -> list[Span]:
    """Code points [start, end) of each token of `text`, in order.

    Every character that is no white space lies in exactly one token, and white space in
    none. A stretch of more than 512 characters without white space is cut more simply:
    letters, digits and marks together, every other character by itself.
    """
    found: list[Span] = []
    for start, end in _pieces(text):
        if end - start > LONGEST_RUN and _RUN.fullmatch(text, start, end):
            found.extend(_simple(text, start, end))
        else:
            found.extend(_tokenized(text[start:end], start))
    return found


@lru_cache(maxsize=1)
def _tokenizer() -> "Callable[[str], Doc]":
    import_spacy()
    import spacy

    return spacy.blank("en").tokenizer


def _pieces(text: str) -> Iterator[Span]:
    """Stretches of `text` that hold all of it but white space; long runs stand alone."""
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
    for token in _tokenizer()(text):
        if not token.is_space:
            start = token.idx + shift
            yield start, start + len(token)


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
