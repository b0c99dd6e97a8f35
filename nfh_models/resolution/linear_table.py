"""Examples as sparse matrices, for the fitting of `linear`.

Features are numbered as they come, so that no string is held twice; memory grows with the
number of features that all candidates have together, eight bytes each.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, Passage
from nfh_models.domain.classes import paper_class
from nfh_models.resolution.item import Item
from nfh_models.resolution.linear import CLASSES, LinearSettings, Places, Told, tell
from nfh_models.resolution.linear_view import View

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LEAST = 2
"""Examples that a feature must be told of: what stands in one only is learnt by heart."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """Examples with their features and answers.

    anchors: a row an example, a column an anchor feature. tokens: a row a candidate token of
    all examples in order, a column a token feature. example_of: the example of each such row.
    right_classes: [examples, 6]. right_tokens: one a row of tokens.
    """

    settings: LinearSettings
    anchor_names: tuple[str, ...]
    token_names: tuple[str, ...]
    anchors: "csr_matrix"
    tokens: "csr_matrix"
    example_of: Places
    right_classes: Flags
    right_tokens: Flags

    def __len__(self) -> int:
        return len(self.right_classes)

    def part(self, chosen: Places) -> "Table":
        """The chosen examples alone, with all columns. chosen: ascending, each once."""
        kept = np.isin(self.example_of, chosen)
        return Table(
            self.settings,
            self.anchor_names,
            self.token_names,
            self.anchors[chosen],
            self.tokens[kept],
            np.searchsorted(chosen, self.example_of[kept]),
            self.right_classes[chosen],
            self.right_tokens[kept],
        )


class _Matrix:
    """Rows of named features that grow one by one."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._indices = array("i")
        self._starts = array("q", [0])

    def add(self, names: Sequence[str]) -> None:
        places = self._places
        self._indices.extend([places.setdefault(name, len(places)) for name in names])
        self._starts.append(len(self._indices))

    def frozen(self, example_of: Places, examples: int) -> "tuple[tuple[str, ...], csr_matrix]":
        """The names of the features told of LEAST examples or more, and the matrix of ones.

        example_of: the example of each row.
        """
        from scipy.sparse import csr_matrix

        starts = np.array(self._starts, np.int64)
        indices = np.array(self._indices, np.int64)
        owners = np.repeat(example_of, np.diff(starts))
        pairs = np.unique(indices * max(1, examples) + owners)
        told = np.bincount(pairs // max(1, examples), minlength=len(self._places))
        kept = told >= min(LEAST, examples)
        shape = (len(starts) - 1, len(self._places))
        matrix = csr_matrix((np.ones(len(indices)), indices, starts), shape)
        names = tuple(name for name, keep in zip(self._places, kept, strict=True) if keep)
        return names, matrix[:, np.flatnonzero(kept)]


class Collector:
    """Tells the features of parsed examples, one after the other."""

    def __init__(self, settings: LinearSettings) -> None:
        self._settings = settings
        self._anchors = _Matrix()
        self._tokens = _Matrix()
        self._sizes: list[int] = []
        self._classes: list[list[bool]] = []
        self._heads = array("b")

    def add(self, item: Item, gold: Answer) -> bool:
        """Take an example in; False where none of its candidates is right.

        ValueError for an item without the parse that it needs.
        """
        told = tell(item, self._settings.features)
        classes = [kind is paper_class(gold.kind) for kind in IMPLICIT_KINDS]
        heads = right_tokens(told.view, gold, item.passage)
        if not any(classes) and not any(heads):
            return False
        self._take(told)
        self._classes.append(classes)
        self._heads.extend(heads)
        return True

    def _take(self, told: Told) -> None:
        self._anchors.add(told.anchor)
        for names in told.tokens:
            self._tokens.add(names)
        self._sizes.append(len(told.tokens))

    def table(self) -> Table:
        """All that was taken in."""
        count = len(self._sizes)
        own = np.arange(count)
        example_of = np.repeat(own, self._sizes)
        anchor_names, anchors = self._anchors.frozen(own, count)
        token_names, tokens = self._tokens.frozen(example_of, count)
        return Table(
            self._settings,
            anchor_names,
            token_names,
            anchors,
            tokens,
            example_of,
            np.array(self._classes, np.bool_).reshape(count, CLASSES),
            np.array(self._heads, np.bool_),
        )


def right_tokens(view: View, gold: Answer, passage: Passage) -> list[bool]:
    """Whether each candidate is right: it has the lemma of a head token, or is one."""
    if gold.kind is not Kind.REFERENCE:
        return [False] * len(view.candidates)
    heads = set(gold.head_tokens())
    lemmas = {passage.tokens[head].lemma.lower() for head in heads}
    return [view.first + at in heads or view.lemmas[at] in lemmas for at in view.candidates]
