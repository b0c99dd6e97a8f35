"""Where the number of a task stands in its context.

The fields name it (`Input.target`), quote its sentence (`Input.target_sentence`) and give
two indices. In what these count is not documented: characters or tokens, in the sentence or
in the context, the second one inside or behind the number. All readings are tried; one
counts if the number's text stands where it leads.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nfh_db.formats.amt_marks import occurrences
from nfh_db.formats.amt_text import Letters, Shown, Span, code_point
from nfh_db.formats.amt_trouble import Trouble, UnusableRow
from nfh_db.formats.amt_values import whole_number
from nfh_models.domain import Anchor, Turn

Tokenize = Callable[[str], Sequence[Span]]

LONGEST_TARGET = 200
MOST_PLACES = 1_000
TURNS_BEFORE, TURNS_BEHIND = 2, 1
"""Turns that a context has at most around the one with the number (paper, section 5.2)."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Target:
    """What a row says of its number, each field as the file has it."""

    text: str
    start: str
    end: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Worded:
    """A context with the tokens of its turns: code points [start, end) of its text."""

    context: Shown
    tokens: Sequence[Span]
    turns: Sequence[Turn]

    def turn_of(self, token: int) -> int:
        """The rank of the turn that holds a token."""
        return bisect_right(self.turns, token, key=lambda turn: turn.end)


def find(worded: Worded, target: Target, tokenize: Tokenize) -> tuple[Anchor, bool]:
    """The number's tokens, and whether the file said where it stands.

    What the file says narrows the places where the number's text stands on token bounds,
    in this order: the bold stretch of the page; the sentence; the indices; that at most two
    turns stand before and one behind (where each line names its speaker, and so is a turn).
    What fits none of the places left narrows nothing.
    Raises UnusableRow unless one place is left.
    """
    places = _places(worded, target)
    left = list(places)
    told = False
    for evidence in (
        _in_bold(worded, places),
        _in_sentence(worded, target, places),
        _by_index(worded, target, places, tokenize),
    ):
        narrowed = [place for place in left if place in evidence]
        left, told = narrowed or left, told or bool(narrowed)
    if len(left) > 1 and all(turn.speaker for turn in worded.turns):
        left = [place for place in left if _in_reach(worded, places[place])] or left
    if len(left) > 1:
        raise UnusableRow(Trouble.TARGET_AMBIGUOUS, target.text)
    return places[left[0]], told


def _places(worded: Worded, target: Target) -> dict[Span, Anchor]:
    """Tokens of each place, by its letters. Raises UnusableRow if there is none."""
    words = target.text.strip()
    if not words:
        raise UnusableRow(Trouble.NO_TARGET)
    context = worded.context
    standing = (
        occurrences(context.text, words, MOST_PLACES) if len(words) <= LONGEST_TARGET else []
    )
    if not standing:
        raise UnusableRow(Trouble.TARGET_MISSING, words)
    firsts = {start: token for token, (start, _) in enumerate(worded.tokens)}
    lasts = {end: token for token, (_, end) in enumerate(worded.tokens)}
    places = {
        context.letters.of(start, end): Anchor(firsts[start], lasts[end] + 1)
        for start, end in standing
        if start in firsts and end in lasts
    }
    if not places:
        raise UnusableRow(Trouble.TARGET_IN_WORD, words)
    return places


def _in_bold(worded: Worded, places: dict[Span, Anchor]) -> set[Span]:
    return places.keys() & set(worded.context.bold())


def _in_sentence(worded: Worded, target: Target, places: dict[Span, Anchor]) -> set[Span]:
    sentence = "".join(target.sentence.split())
    spans = [
        (first, first + len(sentence))
        for first in _standing(worded.context.letters.string, sentence)
    ]
    return {
        (first, last)
        for first, last in places
        if any(begin <= first and last <= end for begin, end in spans)
    }


def _standing(text: str, wanted: str) -> Iterator[int]:
    """Where a sentence's letters stand among the context's."""
    place = text.find(wanted) if wanted else -1
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield place
        place = text.find(wanted, place + 1)


def _in_reach(worded: Worded, anchor: Anchor) -> bool:
    rank = worded.turn_of(anchor.start)
    return rank <= TURNS_BEFORE and len(worded.turns) - 1 - rank <= TURNS_BEHIND


# --- indices ------------------------------------------------------------------------------


def _by_index(
    worded: Worded, target: Target, places: dict[Span, Anchor], tokenize: Tokenize
) -> set[Span]:
    """The places to which the indices lead, under any reading."""
    start, end = whole_number(target.start), whole_number(target.end)
    if start is None:
        return set()
    context = worded.context
    wanted = "".join(target.text.split())
    found = set(_led(context.text, worded.tokens, start, end, wanted))
    for text, shifts in ((context.given, [0]), *_sentences(worded, target.sentence)):
        for units in _units(text, tokenize):
            led = list(_led(text, units, start, end, wanted))
            found |= {(a + shift, b + shift) for a, b in led for shift in shifts}
    return found & places.keys()


def _sentences(worded: Worded, given: str) -> Iterator[tuple[str, list[int]]]:
    """What the sentence may be, with the letters of the context before it, wherever it stands.

    Where the file has none, each turn, with its speaker and without.
    """
    context = worded.context
    sentence = "".join(given.split())
    if sentence:
        yield given, list(_standing(context.letters.string, sentence))
        return
    for turn in worded.turns:
        start, end = worded.tokens[turn.start][0], worded.tokens[turn.end - 1][1]
        line = context.text.rfind("\n", 0, start) + 1
        for first in {start, line}:
            yield context.text[first:end], [context.letters.before(first)]


def _units(text: str, tokenize: Tokenize) -> Iterator[Sequence[Span] | None]:
    """What may be counted in a text: characters (None), words, tokens."""
    yield None
    yield [match.span() for match in _WORD.finditer(text)]
    yield tokenize(text)


def _led(
    text: str, units: Sequence[Span] | None, start: int, end: int | None, wanted: str
) -> Iterator[Span]:
    """The letters of the places to which two indices lead in a text, and which hold `wanted`.

    units: the spans that are counted; None for characters, as Python and as browsers count.
    """
    letters = Letters(text)
    for first, last in _code_points(text, units, start, end, len(wanted)):
        here = letters.of(first, last)
        if letters.string[slice(*here)] == wanted and letters.span(*here) == (first, last):
            yield here


def _code_points(
    text: str, units: Sequence[Span] | None, start: int, end: int | None, length: int
) -> Iterator[Span]:
    stops = (start + 1, start + length) if end is None else (end, end + 1)
    for stop in stops:
        if units is not None:
            if start < stop <= len(units):
                yield units[start][0], units[stop - 1][1]
        elif start < stop:
            yield start, stop
            first, last = code_point(text, start), code_point(text, stop)
            if first is not None and last is not None:
                yield first, last
