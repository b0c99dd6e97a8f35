"""Cases out of plain text: every number of it, with its sentence.

Sentences are cut from the characters; only those that may hold a number are tokenized. This
is the way of `identify`, of `scan` and of statistics over text.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nfh_models.identification.case import Case
from nfh_models.parsing.stretch import Stretch
from nfh_models.text.numbers import find_numbers
from nfh_models.text.plain_words import plain_words
from nfh_models.text.prefilter import may_hold_number
from nfh_models.text.sentences import sentence_spans
from nfh_models.text.tokenize import spans

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TextCase:
    """A number of a text: code points [start, end) of it, and the number as a case."""

    case: Case
    start: int
    end: int


def cases_of_text(text: str, *, per_line: bool = False) -> Iterator[TextCase]:
    """The numbers of a text, in order; those of one sentence share a stretch.

    per_line: each line is a text of its own. Otherwise a line break inside a paragraph is
    white space, and an empty line ends a sentence.
    """
    return cases_of_sentences(text, sentences_of_text(text, per_line=per_line))


def sentences_of_text(text: str, *, per_line: bool = False) -> Iterator[Span]:
    """Code points [start, end) of the sentences; see `cases_of_text`."""
    if not per_line:
        yield from sentence_spans(text)
        return
    for start, end in _lines(text):
        yield from sentence_spans(text, start, end)


def cases_of_sentences(text: str, sentences: Iterable[Span]) -> Iterator[TextCase]:
    """The numbers of some sentences of a text, in their order."""
    for start, end in sentences:
        if may_hold_number(text[start:end]):
            yield from _cases(text, start, end)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _cases(text: str, start: int, end: int) -> Iterator[TextCase]:
    tokens = [(start + first, start + last) for first, last in spans(text[start:end])]
    words = [text[first:last] for first, last in tokens]
    glued = [i > 0 and tokens[i - 1][1] == tokens[i][0] for i in range(len(tokens))]
    numbers = find_numbers(words, glued)
    if not numbers:
        return
    stretch = Stretch(
        plain_words(words), [text[last : last + 1].isspace() for _, last in tokens]
    )
    for first, last in numbers:
        yield TextCase(Case(stretch, first, last), tokens[first][0], tokens[last - 1][1])
