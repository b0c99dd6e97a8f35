"""Scenes cut to a window: of each number only the turns around its own.

The paper's annotators saw two turns before a number's and one after it. Turns that hold no
words do not count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from nfh_db.formats.rows import DialogBlock
from nfh_db.records import IncomingAnchor
from nfh_models.domain import Anchor
from nfh_tui.incoming_text import Spoken


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a block that makes a passage of its own, with the numbers that it is for."""

    text: str
    turns: list[Spoken]
    anchors: tuple[IncomingAnchor, ...]


def windows(
    block: DialogBlock,
    turns: Sequence[Spoken],
    anchors: Sequence[Sequence[IncomingAnchor]],
    window: tuple[int, int],
) -> Iterator[Cut]:
    """A cut for each turn with numbers, of so many turns before and after it.

    turns: those of the block that hold words; anchors: the numbers of each. Turns whose
    windows are the same, as in a short scene, have one cut together.
    """
    before, after = window
    ranges = [
        (max(0, rank - before), min(len(turns), rank + after + 1), rank)
        for rank, numbers in enumerate(anchors)
        if numbers
    ]
    lines = _line_starts(block)
    for (first, last), some in groupby(ranges, key=lambda one: one[:2]):
        numbers = [number for *_, rank in some for number in anchors[rank]]
        place = lines[turns[first].turn.end]
        yield _cut(block, place, turns[first:last], numbers)


def _cut(
    block: DialogBlock, place: int, turns: Sequence[Spoken], numbers: Sequence[IncomingAnchor]
) -> Cut:
    """The text of the turns from code point `place`, where the line of the first begins."""
    tokens = turns[0].start
    return Cut(
        block.text[place : turns[-1].turn.end],
        [_moved(one, place, tokens) for one in turns],
        tuple(
            replace(one, anchor=Anchor(one.anchor.start - tokens, one.anchor.end - tokens))
            for one in numbers
        ),
    )


def _line_starts(block: DialogBlock) -> dict[int, int]:
    """Where the line of each turn begins, the speaker's name in it and all, by its end.

    That is behind the turn before it and the line feeds between them.
    """
    starts: dict[int, int] = {}
    last = 0
    for turn in block.turns:
        place = last
        while place < turn.start and block.text[place] == "\n":
            place += 1
        starts.setdefault(turn.end, place)
        last = turn.end
    return starts


def _moved(one: Spoken, place: int, tokens: int) -> Spoken:
    """A turn as it stands in a text that begins at code point `place`, token `tokens`."""
    turn = replace(one.turn, start=one.turn.start - place, end=one.turn.end - place)
    spans = [(start - place, end - place) for start, end in one.tokens]
    return Spoken(turn, one.start - tokens, spans)
