"""Items out of a spaCy Doc: its numbers in passages, as resolvers want them.

A Doc may be a whole book: passages are cut out of it around its numbers, so that no number
costs more than its neighbourhood, wherever it stands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from nfh_models.component.reading import layers_of, turns_of_doc
from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.resolution.item import Item
from nfh_models.text.lemmas import lemmas

Span = tuple[int, int]

REACH = 400
"""Tokens on either side of a number that its passage holds, more than any window of a network
and any head's distance that the release marks (151)."""

TOGETHER = 1_000
"""Tokens over which numbers share a passage."""


@dataclass(frozen=True, slots=True)
class DocItem:
    """A number in its passage. tokens: the Doc's token behind each of the passage's."""

    item: Item
    tokens: Sequence[int]


def items_of_doc(doc: Doc, spans: Sequence[Span], *, tagged: bool) -> list[DocItem]:
    """An item for each of a Doc's numbers: token spans [start, end) of the Doc, ascending.

    The Doc is one speaker's; white space is left out, and begins a turn as
    `reading.turns_of_doc` says. tagged: with the Doc's own tags and arcs as the item's parse.
    """
    if not spans:
        return []
    tokens, turns = turns_of_doc(doc)
    places = {token: place for place, token in enumerate(tokens)}
    anchors = [Anchor(places[start], places[end - 1] + 1) for start, end in spans]
    text = doc.text
    found: list[DocItem] = []
    for group in _groups(anchors):
        first = max(0, group[0].start - REACH)
        last = min(len(tokens), group[-1].end + REACH)
        passage = _passage(doc, text, tokens[first:last], turns[first:last])
        behind = tokens[first:last]
        parsed = layers_of(doc, behind) if tagged else None
        for anchor in group:
            shifted = Anchor(anchor.start - first, anchor.end - first)
            found.append(DocItem(Item(passage, shifted, parsed), behind))
    return found


def _groups(anchors: Sequence[Anchor]) -> Iterator[list[Anchor]]:
    group: list[Anchor] = []
    for anchor in anchors:
        if group and anchor.end - group[0].start > TOGETHER:
            yield group
            group = []
        group.append(anchor)
    if group:
        yield group


def _passage(doc: Doc, text: str, tokens: Sequence[int], turns: Sequence[int]) -> Passage:
    start = doc[tokens[0]].idx
    end = doc[tokens[-1]].idx + len(doc[tokens[-1]])
    words = [doc[token].text for token in tokens]
    starts = [doc[token].idx - start for token in tokens]
    ends = [begin + len(word) for begin, word in zip(starts, words, strict=True)]
    return Passage(
        text[start:end],
        tuple(map(Token, starts, ends, lemmas(words))),
        tuple(_runs(turns)),
    )


def _runs(turns: Sequence[int]) -> Iterator[Turn]:
    start = 0
    for place in range(1, len(turns) + 1):
        if place == len(turns) or turns[place] != turns[start]:
            yield Turn(turns[start], None, start, place)
            start = place
