"""What `linear` sees of an item: the tokens around the anchor, with their parse."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nfh_models.resolution.cue_place import Place, Scene
from nfh_models.resolution.cues import turns_of
from nfh_models.resolution.item import Item
from nfh_models.resolution.parse_of import parse_of

REACH = 200
"""Tokens on either side of the anchor that are candidates. The farthest head that the
releases mark is 151 tokens away."""

SENTENCE_ENDS = frozenset(".!?\u2026")


@dataclass(frozen=True)
class View:
    """Tokens [first, first + len(words)) of a passage, as lists with an entry each.

    words, lemmas: in lower case; pos, tags, relations: the parser's. heads: places in the
    view; None for a token that hangs on nothing, or on one outside. turns: ranks of turns.
    start, end: the anchor's places in the view.
    """

    first: int
    words: Sequence[str]
    lemmas: Sequence[str]
    pos: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int | None]
    relations: Sequence[str]
    turns: Sequence[int]
    speakers: Sequence[str | None]
    start: int
    end: int

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def place(self) -> Place:
        """The same for the cues."""
        return Place(Scene(self.words, self.pos, self.turns), self.start, self.end)

    @cached_property
    def candidates(self) -> list[int]:
        """The places of the tokens that may be the head: all but the anchor's."""
        return [*range(self.start), *range(self.end, len(self))]

    @cached_property
    def top(self) -> int:
        """The anchor's token that hangs on nothing inside the anchor."""
        for at in range(self.end - 1, self.start - 1, -1):
            head = self.heads[at]
            if head is None or not self.start <= head < self.end:
                return at
        return self.end - 1

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """What hangs on each place, in order."""
        found: dict[int, list[int]] = {}
        for at, head in enumerate(self.heads):
            if head is not None:
                found.setdefault(head, []).append(at)
        return found

    @cached_property
    def sentence(self) -> tuple[int, int]:
        """The places [begin, end) of the anchor's sentence, in its turn; its mark included."""
        begin, end = self.start, self.end
        while begin and self._joined(begin - 1, begin):
            begin -= 1
        while end < len(self) and self._joined(end - 1, end):
            end += 1
        return begin, end

    def _joined(self, left: int, right: int) -> bool:
        same = self.turns[left] == self.turns[right]
        return same and self.words[left] not in SENTENCE_ENDS

    def speaker(self, place: int) -> str | None:
        """Who says the token at a place; None where nobody is named."""
        return self.speakers[self.turns[place] - self.turns[0]]


def view_of(item: Item) -> View:
    """The tokens within REACH of the anchor that the item's parse holds.

    Raises ValueError for an item without parts of speech and dependencies.
    """
    parsed, shift = parse_of(item, dependency=True), item.parsed_from
    passage, anchor = item.passage, item.anchor
    first = max(shift, anchor.start - REACH)
    last = min(shift + len(parsed.words), anchor.end + REACH)
    own = slice(first - shift, last - shift)
    turns = turns_of(passage, first, last - first)
    return View(
        first=first,
        words=[passage.word(at).lower() for at in range(first, last)],
        lemmas=[passage.tokens[at].lemma.lower() for at in range(first, last)],
        pos=parsed.pos[own],
        tags=(parsed.tags or parsed.pos)[own],
        heads=_heads(parsed.heads[own], own.start, last - first),
        relations=parsed.relations[own],
        turns=turns,
        speakers=[passage.turns[rank].speaker for rank in range(turns[0], turns[-1] + 1)],
        start=anchor.start - first,
        end=anchor.end - first,
    )


def _heads(heads: Sequence[int], start: int, size: int) -> list[int | None]:
    moved = [head - start for head in heads]
    return [head if head != at and 0 <= head < size else None for at, head in enumerate(moved)]
