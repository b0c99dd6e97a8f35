"""The numbers of a passage, turn by turn: what the number grammar finds in stored words."""

from collections.abc import Iterator
from itertools import pairwise

from nfh_models.domain import Anchor, Passage
from nfh_models.text.numbers import find_numbers


def numbers_of(passage: Passage, *, spaced_out: bool) -> Iterator[Anchor]:
    """Every number that somebody could judge, in order, not overlapping; token spans.

    spaced_out: the tokens are those of a file, which may have put white space around every
    token; where no two of the passage touch, it is not known which hyphens join.
    """
    tokens = passage.tokens
    touching = [False, *(left.end == right.start for left, right in pairwise(tokens))]
    known = not spaced_out or any(touching)
    for turn in passage.turns:
        words = [passage.word(place) for place in range(turn.start, turn.end)]
        glued = [False, *touching[turn.start + 1 : turn.end]] if known else None
        for start, end in find_numbers(words, glued):
            yield Anchor(turn.start + start, turn.start + end)
