"""What others marked in a passage: each annotator's lane, what differs, what they were shown.

Pure: no screen. A lane is the number of the key that adopts the annotator's answer, so that
sign, colour and key go together; in blind mode the item comes with its lanes mixed.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nfh_db.records import Item, Role, Sibling, State
from nfh_models.domain import Head, Kind, Mention, Origin
from nfh_tui.editing import EditState, annotators_votes
from nfh_tui.editing.state import live
from nfh_tui.editing.words import fold
from nfh_tui.passage_layout import Rooms, Window

KEYS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""Numbers of annotators: the keys that adopt their answers."""

MOST_LANES = len(KEYS) - 1
FURTHER = "⁺"
"""The sign of all annotators for whom there is no key."""

TURNS_BEFORE, TURNS_AFTER = 2, 1
"""Turns around the number's own that voters were shown."""

VOTERS_SAW, ON, OFF = "voters-saw", "on", "off"
"""The setting of a database that says whether its votes were collected so, and its values."""

LETTERS = {
    Kind.REFERENCE: "r",
    Kind.YEAR: "y",
    Kind.AGE: "a",
    Kind.CURRENCY: "c",
    Kind.PEOPLE: "p",
    Kind.TIME: "t",
    Kind.OTHER: "o",
    Kind.UNKNOWN: "n",
    Kind.NOT_NFH: "x",
    Kind.BROKEN: "d",
}
"""The letter of a kind, behind the sign of a decided number: the key that chooses it."""


class Laned(NamedTuple):
    """A mention that an annotator marked. lane: 1 to MOST_LANES, 0 for the ones after."""

    lane: int
    mention: Mention


def judging(state: EditState | None) -> bool:
    """True where others' answers may be seen: by whoever reads, and by an adjudicator."""
    return state is None or state.role is Role.ADJUDICATOR


def laned(item: Item) -> Iterator[Laned]:
    """All that annotators marked, lane by lane; each word of a lane once."""
    seen: set[tuple[int, int]] = set()
    for number, vote in enumerate(annotators_votes(item), 1):
        lane = number if number <= MOST_LANES else 0
        for mention in (m for head in vote.answer.heads for m in head.live):
            if (lane, mention.end) not in seen:
                seen.add((lane, mention.end))
                yield Laned(lane, mention)


def sign_of(lane: int) -> str:
    """The sign of a lane."""
    return KEYS[lane] if lane else FURTHER


class Ground:
    """The answer that lanes are held against: the one edited, else the gold.

    nothing: there is none, so nothing differs from it.
    """

    def __init__(self, item: Item, state: EditState | None) -> None:
        self._item = item
        edited = state is not None and state.kind is not None
        self.nothing = not edited and item.gold is None
        self.tokens: frozenset[int] = frozenset()
        if edited and state is not None:
            self.tokens = frozenset(m.head for head in state.heads for m in live(head))
        elif item.gold is not None:
            self.tokens = _tokens(item.gold.answer.heads)
        self._lemmas = {self._lemma(token) for token in self.tokens}

    def _lemma(self, token: int) -> str:
        return fold(self._item.passage.tokens[token].lemma)

    def differs(self, mention: Mention) -> bool:
        """True for a noun that this answer has not: another mention of one it has is none."""
        if self.nothing:
            return False
        return mention.head not in self.tokens and self._lemma(mention.head) not in self._lemmas


def _tokens(heads: Iterable[Head]) -> frozenset[int]:
    return frozenset(m.head for head in heads for m in head.live)


def sibling_sign(sibling: Sibling) -> str:
    """Behind another number of the passage: that it is decided, and how."""
    if sibling.state is not State.DECIDED:
        return ""
    return "✓" if sibling.kind is None else "✓" + LETTERS.get(sibling.kind, "")


def rooms(
    item: Item,
    *,
    votes: bool,
    heat: Iterable[int] = (),
    cells: int = 1,
    begun: Iterable[Iterable[Mention]] = (),
) -> Rooms:
    """Cells for the signs beside words, whatever the answer that is edited.

    votes: those of annotators and of the gold are shown. heat: tokens with a sign of the heat
    map, of so many cells. begun: heads of the answer that the editor opened with.
    """
    behind: dict[int, int] = dict.fromkeys(heat, cells)

    def need(token: int, more: int = 1) -> None:
        behind[token] = behind.get(token, 0) + more

    heads = [*begun]
    if votes:
        further: set[int] = set()
        for lane, mention in laned(item):
            if lane or mention.end not in further:
                need(mention.end - 1)
            if not lane:
                further.add(mention.end)
        heads += [head.live for head in item.gold.answer.heads] if item.gold else []
    for sibling in item.siblings:
        sign = sibling_sign(sibling)
        if sign and sibling.anchor != item.anchor:
            need(sibling.anchor.end - 1, len(sign))
    need(item.anchor.end - 1)
    before = {mention.start: 1 for mentions in heads for mention in mentions}
    return Rooms({**before, item.anchor.start: 1}, behind)


def window(item: Item) -> Window | None:
    """The turns that voters were shown; None where they were shown the whole passage.

    None, too, where what is known of the votes denies it: none of them came with a file, one
    was given here, where people see the whole passage, or one has a head that they cannot
    have seen.
    """
    here, last = item.passage.turn_of(item.anchor.start), len(item.passage.turns) - 1
    first, end = max(0, here - TURNS_BEFORE), min(last, here + TURNS_AFTER)
    votes = [vote for vote in item.votes if vote.counts]
    if (first == 0 and end == last) or not votes or not all(one.imported for one in votes):
        return None
    # What the tool added stands anywhere.
    marked = (m for one in votes for m in one.answer.mentions() if m.origin is Origin.MARKED)
    if not all(first <= item.passage.turn_of(mention.head) <= end for mention in marked):
        return None
    return Window(first, end, "voters saw from here", "voters saw to here")
