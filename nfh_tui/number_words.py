"""Number words beside a number: what stands there, and whether it may be a part of it.

Pure: no screen. An anchor is sometimes cut: "twenty" of "twenty-two", "two" of "two hundred".
"""

from typing import NamedTuple

from nfh_models.domain import Anchor, Passage
from nfh_tui.editing.words import fold

HYPHENS = frozenset("-‐‑–")
BETWEEN = frozenset({"or", "to", "and", ","})
"""Words that stand between two numbers, which mostly are two items."""

LARGE = frozenset({"hundred", "thousand", "million", "billion"})
"""Words behind which *and* goes on with the same number."""

MOST = 4
"""Words that a number is widened by, at most."""


class Beside(NamedTuple):
    """A number word beside a span. words: with what stands between. token: its place.

    whole: nothing but a hyphen, or the *and* of "a hundred and five", stands between, so that
    both may be one number. "two or three" are two.
    """

    words: str
    token: int
    whole: bool


def beside(passage: Passage, span: Anchor, *, left: bool) -> Beside | None:
    """The number word on one side of a span, in its turn; None where there is none."""
    between, number = _neighbours(passage, span, left=left)
    if number is None:
        return None
    told = (number, span.start) if left else (span.end, number + 1)
    words = " ".join(passage.words(*told).split())
    glue = "" if between is None else fold(passage.word(between))
    first = fold(passage.word(number if left else span.end - 1))
    whole = glue == "" or glue in HYPHENS or (glue == "and" and first in LARGE)
    return Beside(words, number, whole)


def whole_number(passage: Passage, anchor: Anchor) -> Anchor:
    """The span widened by the number words that may belong to it."""
    start, end = anchor.start, anchor.end
    for _ in range(MOST):
        before = beside(passage, Anchor(start, end), left=True)
        behind = beside(passage, Anchor(start, end), left=False)
        start = before.token if before is not None and before.whole else start
        end = behind.token + 1 if behind is not None and behind.whole else end
    return Anchor(start, end)


def _neighbours(passage: Passage, span: Anchor, *, left: bool) -> tuple[int | None, int | None]:
    """The word between and the number beside; each None where there is none."""
    turn = passage.turns[passage.turn_of(span.start)]
    step = -1 if left else 1
    at = span.start - 1 if left else span.end
    if not turn.start <= at < turn.end:
        return None, None
    if _is_number(passage.word(at)):
        return None, at
    word, further = fold(passage.word(at)), at + step
    joins = word in BETWEEN or word in HYPHENS
    if joins and turn.start <= further < turn.end and _is_number(passage.word(further)):
        return at, further
    return None, None


def _is_number(word: str) -> bool:
    # Imported here: the screen starts without the grammar.
    from nfh_models.text.lexicon import parts_of

    return bool(parts_of(word))
