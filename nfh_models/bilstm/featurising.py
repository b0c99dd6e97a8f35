"""featurise: items and examples as the numbers that the network reads, and those as batches.

A candidate's place is that of the six classes in the order of IMPLICIT_KINDS, then one a word
of the row. A row is a stretch of the passage, as a rule all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nfh_models.bilstm.settings import Target
from nfh_models.bilstm.words import Vectors
from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_models.training.targets import nearest_token, right_class, right_tokens

CLASSES = len(IMPLICIT_KINDS)

REACH = 1_000
"""Words on either side of the anchor that are read. A passage may be a whole film, and the
farthest head that the releases mark is 151 tokens away."""

LONGEST_WORD = 40
"""Characters of a word that are read: the last LSTM state tells of its end, so the first
ones are left out of a longer word."""

UNKNOWN_WORD = -1
NO_LETTER, UNKNOWN_LETTER = 0, 1
FIRST_LETTER = 2
"""The number of the first character of the alphabet."""


@dataclass(frozen=True, slots=True)
class Row:
    """An item for the network. words: as they stand. start, end: the anchor among them.
    offset: of the first word in the passage."""

    words: tuple[str, ...]
    start: int
    end: int
    offset: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A row with what is right: for each different head, or the class, the places of
    candidates of which any will do."""

    row: Row
    right: tuple[tuple[int, ...], ...]


def row_of(item: Item) -> Row:
    """The words around an anchor. Raises PassageError for an anchor outside its passage."""
    passage, anchor = item.passage, item.anchor
    anchor.check(passage)
    low = max(0, anchor.start - REACH)
    high = min(len(passage.tokens), anchor.end + REACH)
    words = tuple(passage.word(place) for place in range(low, high))
    return Row(words, anchor.start - low, anchor.end - low, low)


def answered(example: ResolutionExample, target: Target) -> Answered | None:
    """An example for training; None where no head lies in reach of its anchor."""
    row = row_of(example.item)
    place = right_class(example)
    if place is not None:
        return Answered(row, ((place,),))
    heads = right_tokens(example)
    if target is Target.NEAREST:
        nearest = nearest_token(example)
        heads = [] if nearest is None else [[nearest]]
    reached = [
        tuple(
            CLASSES + token - row.offset
            for token in head
            if row.offset <= token < row.offset + len(row.words)
        )
        for head in heads
    ]
    right = tuple(head for head in reached if head)
    return Answered(row, right) if right else None


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows side by side; B rows of at most W words, U different words.

    words: (B, W), places among the different ones, 0 where there is no word. vectors: (U,),
    rows of the table, UNKNOWN_WORD of a word that has none. letters: (U, L), the characters of
    each word, and letter_counts: (U,). counts: (B,), words of each row. anchors: (B, W), 1
    over the anchor's size at its words, else 0. candidates: (B, 6 + W), true for a class and
    a word outside the anchor.
    """

    words: Tensor
    vectors: Tensor
    letters: Tensor
    letter_counts: Tensor
    counts: Tensor
    anchors: Tensor
    candidates: Tensor

    def to(self, on: torch.device) -> "Batch":
        """The same on a device, but for the counts, which packing wants in main memory."""
        return Batch(
            self.words.to(on),
            self.vectors.to(on),
            self.letters.to(on),
            self.letter_counts,
            self.counts,
            self.anchors.to(on),
            self.candidates.to(on),
        )


class Featuriser:
    """Makes batches. alphabet: the characters that have a vector, each once."""

    def __init__(self, vectors: Vectors, alphabet: str) -> None:
        self.vectors = vectors
        self.alphabet = alphabet
        self._letters = {one: place for place, one in enumerate(alphabet, FIRST_LETTER)}

    def batch(self, rows: Sequence[Row]) -> Batch:
        """Rows as tensors. ValueError for none."""
        if not rows:
            raise ValueError("no rows")
        different = {
            word: place
            for place, word in enumerate(
                dict.fromkeys(word for row in rows for word in row.words)
            )
        }
        width = max(len(row.words) for row in rows)
        words = torch.zeros(len(rows), width, dtype=torch.long)
        anchors = torch.zeros(len(rows), width)
        candidates = torch.zeros(len(rows), CLASSES + width, dtype=torch.bool)
        for place, row in enumerate(rows):
            size = len(row.words)
            words[place, :size] = torch.tensor([different[word] for word in row.words])
            anchors[place, row.start : row.end] = 1 / (row.end - row.start)
            candidates[place, : CLASSES + size] = True
            candidates[place, CLASSES + row.start : CLASSES + row.end] = False
        spelled = [self._spelled(word) for word in different]
        letters = torch.zeros(len(spelled), max(map(len, spelled)), dtype=torch.long)
        for place, own in enumerate(spelled):
            letters[place, : len(own)] = torch.tensor(own)
        places = (self.vectors.place(word) for word in different)
        return Batch(
            words=words,
            vectors=torch.tensor([UNKNOWN_WORD if one is None else one for one in places]),
            letters=letters,
            letter_counts=torch.tensor([len(own) for own in spelled]),
            counts=torch.tensor([len(row.words) for row in rows]),
            anchors=anchors,
            candidates=candidates,
        )

    def _spelled(self, word: str) -> list[int]:
        return [self._letters.get(one, UNKNOWN_LETTER) for one in word[-LONGEST_WORD:]]


def right_of(rows: Sequence[Answered], width: int) -> tuple[Tensor, Tensor, Tensor]:
    """What is right in a batch of `width` candidates a row.

    (H, width) masks, one a head; (H,) the row of each; (H,) its weight, so that the heads of a
    row weigh 1 together.
    """
    flat = [(place, head) for place, one in enumerate(rows) for head in one.right]
    masks = torch.zeros(len(flat), width, dtype=torch.bool)
    for number, (_, head) in enumerate(flat):
        masks[number, list(head)] = True
    owners = torch.tensor([place for place, _ in flat])
    weights = torch.tensor([1 / len(rows[place].right) for place, _ in flat])
    return masks, owners, weights
