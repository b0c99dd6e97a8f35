"""Cases out of passages: a number with the sentence of its turn."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from nfh_models.domain import Anchor, Passage, Turn
from nfh_models.identification.case import Case
from nfh_models.parsing.stretch import Stretch
from nfh_models.text.plain_words import plain_words
from nfh_models.text.sentences import sentence_spans

Span = tuple[int, int]


def cases_of(passage: Passage, anchors: Iterable[Anchor]) -> Iterator[Case]:
    """A case for each anchor of a passage, in the order given.

    Anchors of one sentence share its stretch. An anchor that reaches over the end of a
    sentence, or of a turn, gets all the sentences that it touches. Words are as they stand
    but for the Penn Treebank's stand-ins for quotes and brackets.
    """
    known: dict[Span, Stretch] = {}
    cut: dict[int, list[int]] = {}
    for anchor in anchors:
        start = _around(passage, cut, anchor.start)[0]
        end = _around(passage, cut, anchor.end - 1)[1]
        stretch = known.get((start, end))
        if stretch is None:
            stretch = known[start, end] = _stretch(passage, start, end)
        yield Case(stretch, anchor.start - start, anchor.end - start)


def _around(passage: Passage, cut: dict[int, list[int]], token: int) -> Span:
    """The sentence of a token; `cut` remembers the turns that are cut already."""
    turn = passage.turn_of(token)
    if turn not in cut:
        cut[turn] = _bounds(passage, passage.turns[turn])
    bounds = cut[turn]
    place = bisect_right(bounds, token)
    return bounds[place - 1], bounds[place]


def _bounds(passage: Passage, turn: Turn) -> list[int]:
    """The first token of each sentence of a turn, and the end of the last."""
    tokens = passage.tokens
    starts = [token.start for token in tokens[turn.start : turn.end]]
    bounds = [turn.start]
    for _, end in sentence_spans(passage.text, starts[0], tokens[turn.end - 1].end):
        behind = turn.start + bisect_left(starts, end)
        if behind > bounds[-1]:
            bounds.append(behind)
    if bounds[-1] < turn.end:
        bounds.append(turn.end)
    return bounds


def _stretch(passage: Passage, start: int, end: int) -> Stretch:
    found = Stretch.of(passage, start, end)
    return Stretch(plain_words(found.words), found.spaces)
