"""The sentence around a number: where it ends, what of it fits, and how it is written.

Pure: no screen. Files of tokens part what is written together: "do n't .", "$ 5", "gon na".
"""

import re

from nfh_models.domain import Anchor, Passage
from nfh_tui.visible import visible, width_of

ENDS = frozenset({".", "!", "?", "…", "..."})
"""Words that end a sentence."""

ABBREVIATED = frozenset(
    "capt col dr fr gen gov hon jr lt mr mrs ms mt prof rep rev sen sgt sr st vs".split()
)
"""Words behind which a full stop ends no sentence."""

CLOSING = frozenset({"”", "’", "»", ")", "]"})
QUOTES = frozenset({'"', "''"})
"""Marks that open as well as close: the second of two closes."""

LEAST_BEFORE = 26
"""Cells that the words before a number have at any rate: about five words."""

LEAST_BEHIND = 8

_CONTRACTED = r"n't|n’t|['’](?:s|re|ll|d|m|ve)"
_PARTED = re.compile(rf"[ \n]+([.,!?;:…%)\]”]|(?:{_CONTRACTED})\b)")
_OPENED = re.compile(r"([(\[“]|[$£€¥#](?=[ \n]+\d))[ \n]+")
_SPOKEN = re.compile(r"(?i)\b(?:(gon|wan)[ \n]+(na)|(got)[ \n]+(ta)|(gim|lem)[ \n]+(me))\b")


def flat(text: str) -> str:
    """A text in one line, as one writes it."""
    return tidy(" ".join(text.split()))


def tidy(text: str) -> str:
    """Without the blanks that files of tokens have: "do n't ." is "don't."."""
    text = _OPENED.sub(r"\1", _PARTED.sub(r"\1", text))
    return _SPOKEN.sub(lambda found: "".join(filter(None, found.groups())), text)


def sentence_of(passage: Passage, span: Anchor) -> tuple[int, int]:
    """The tokens [start, end) of a span's sentence, inside its turn.

    A closing quote behind its end is in it; the full stop of "Mr ." ends none.
    """
    turn = passage.turns[passage.turn_of(span.start)]
    start, end = span.start, span.end
    while start > turn.start and not _ends(passage, start - 1, turn.start):
        start -= 1
    while end < turn.end and not _ends(passage, end, turn.start):
        end += 1
    end = min(end + 1, max(turn.end, span.end))
    while start < span.start and _closes(passage, start, turn.start):
        start += 1
    while end < turn.end and _closes(passage, end, turn.start):
        end += 1
    return start, end


def _ends(passage: Passage, token: int, first: int) -> bool:
    word = passage.word(token)
    if word != "." or token == first:
        return word in ENDS
    before = passage.word(token - 1)
    initial = len(before) == 1 and before.isupper() and before != "I"
    return before.casefold() not in ABBREVIATED and not initial


def _closes(passage: Passage, token: int, first: int) -> bool:
    """True for a quote or bracket, right behind the end of a sentence, that closes."""
    word = passage.word(token)
    if word in CLOSING:
        return True
    if word not in QUOTES:
        return False
    return sum(passage.word(place) in QUOTES for place in range(first, token)) % 2 == 1


def around(passage: Passage, span: Anchor, room: int) -> tuple[str, str]:
    """The sentence before and behind a span, in `room` cells, the nearest words kept.

    Each side may take half of the room, and what the other one leaves; the words before the
    number, which tell most of it, have some room at any rate.
    """
    start, end = sentence_of(passage, span)
    before = list(range(span.start - 1, start - 1, -1))
    behind = list(range(span.end, end))
    widths = [_widths(passage, before), _widths(passage, behind)]
    wanted = [sum(widths[0]), sum(widths[1])]
    first = max(room // 2, room - wanted[1], LEAST_BEFORE)
    kept = [_fitting(widths[0], first), 0]
    taken = sum(widths[0][: kept[0]])
    kept[1] = _fitting(widths[1], max(LEAST_BEHIND, room - taken))
    while 0 < kept[0] < len(before) and not _may_begin(passage, before[kept[0] - 1]):
        kept[0] -= 1
    while 0 < kept[1] < len(behind) and _is_glued(passage, behind[kept[1]]):
        kept[1] -= 1
    return (
        _before(passage, span.start, kept[0], len(before)),
        _behind(passage, span.end, kept[1], len(behind)),
    )


def _may_begin(passage: Passage, token: int) -> bool:
    """True for a word at which a clipped sentence may begin."""
    word = passage.word(token)
    whole = word[:1].isalnum() and not _PARTED.match(f" {word}")
    return whole and not _is_glued(passage, token)


def _is_glued(passage: Passage, token: int) -> bool:
    tokens = passage.tokens
    return token > 0 and tokens[token].start == tokens[token - 1].end


def _widths(passage: Passage, tokens: list[int]) -> list[int]:
    return [
        width_of(visible(passage.word(token))) + (not _is_glued(passage, token))
        for token in tokens
    ]


def _fitting(widths: list[int], room: int) -> int:
    """How many of these words stand in `room` cells."""
    taken = 0
    for count, width in enumerate(widths):
        taken += width
        if taken > room:
            return count
    return len(widths)


def _before(passage: Passage, start: int, kept: int, count: int) -> str:
    """The last `kept` of `count` words that stand before a token."""
    words = " ".join(_written(passage, start - kept, start).split())
    return words if kept == count else f"… {words}".rstrip()


def _behind(passage: Passage, end: int, kept: int, count: int) -> str:
    """The first `kept` of `count` words from a token on, with the blanks as they are: a full
    stop stays where it stands."""
    if not count:
        return ""
    text = _written(passage, end - 1, end + kept)[len(passage.word(end - 1)) :]
    return text if kept == count else f"{text} …"


def _written(passage: Passage, start: int, end: int) -> str:
    """The tokens [start, end) as one writes them; straight quotes stand at what they quote."""
    turn = passage.turns[passage.turn_of(start)] if start < end else None
    if turn is None:
        return ""
    quotes = [place for place in range(turn.start, turn.end) if passage.word(place) in QUOTES]
    paired = len(quotes) % 2 == 0
    opening, closing = (set(quotes[0::2]), set(quotes[1::2])) if paired else (set(), set())
    pieces = [passage.word(start)]
    for place in range(start + 1, end):
        before, token = passage.tokens[place - 1], passage.tokens[place]
        stuck = place in closing or place - 1 in opening
        pieces.append("" if stuck else passage.text[before.end : token.start])
        pieces.append(passage.word(place))
    return tidy("".join(pieces))
