"""One spaCy pipeline for all tests of identification, and cases out of plain words."""

from collections.abc import Callable

import pytest

from nfh_models.identification.base import Decision, SentenceNumber, decide
from nfh_models.identification.rules import Rules
from nfh_models.parsing.base import Parser, WordSpan, load_parser

Said = Callable[[str], Decision]


@pytest.fixture(scope="session")
def parser() -> Parser:
    """The installed pipeline."""
    return load_parser()


def marked(sentence: str) -> SentenceNumber:
    """A case from tokens with spaces between; the number stands in [ ... ]."""
    words = sentence.split()
    start, end = words.index("["), words.index("]")
    kept = [word for word in words if word not in ("[", "]")]
    return SentenceNumber(WordSpan(kept, [True] * len(kept)), start, end - 1)


@pytest.fixture(scope="session")
def said(parser: Parser) -> Said:
    """What the rules decide of a sentence with its number in [ ... ]."""

    def of(sentence: str) -> Decision:
        [(_, decision)] = decide([marked(sentence)], Rules(), parser)
        return decision

    return of
