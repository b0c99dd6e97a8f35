"""Cases out of passages: a number with the sentence of its turn."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from nfh_models.domain import Anchor, Passage, Turn
from nfh_models.identification.case import Case
from nfh_models.parsing.stretch import Stretch
from nfh_models.text.sentences import sentence_spans

Span = tuple[int, int]


def cases_of(passage: Passage, anchors: Iterable[Anchor]) -> Iterator[Case]:
    """A case for each anchor of a passage, in the order given.

    Anchors of one sentence share its stretch. An anchor that reaches over the end of a
    sentence, or of a turn, gets all the sentences that it touches.
    """
    known: dict[Span, Stretch] = {}
    cut: dict[int, list[Span]] = {}
    for anchor in anchors:
        first = passage.turn_of(anchor.start)
        last = passage.turn_of(anchor.end - 1)
        for turn in range(first, last + 1):
            if turn not in cut:
                cut[turn] = _sentences(passage, passage.turns[turn])
        sentences = [span for turn in range(first, last + 1) for span in cut[turn]]
        start, end = _around(sentences, anchor)
        stretch = known.get((start, end))
        if stretch is None:
            stretch = known[start, end] = Stretch.of(passage, start, end)
        yield Case(stretch, anchor.start - start, anchor.end - start)


def _sentences(passage: Passage, turn: Turn) -> list[Span]:
    """Token spans of the sentences of a turn; they cover it."""
    tokens = passage.tokens
    text_end = tokens[turn.end - 1].end
    starts = [token.start for token in tokens[turn.start : turn.end]]
    spans: list[Span] = []
    place = turn.start
    for _, end in sentence_spans(passage.text, tokens[turn.start].start, text_end):
        behind = turn.start + bisect_left(starts, end)
        if behind > place:
            spans.append((place, behind))
            place = behind
    if place < turn.end:
        spans.append((place, turn.end))
    return spans


def _around(sentences: list[Span], anchor: Anchor) -> Span:
    """From the sentence of the anchor's first token to that of its last."""
    starts = [start for start, _ in sentences]
    first = bisect_right(starts, anchor.start) - 1
    last = bisect_right(starts, anchor.end - 1) - 1
    return sentences[first][0], sentences[last][1]
