"""How well a linear model does on a part of a table, from its scores alone."""

from dataclasses import astuple, dataclass

import numpy as np

from nfh_models.resolution.linear import Weights
from nfh_models.resolution.linear_table import Table


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over examples; tallies can be added.

    right: the choice is a right candidate. binary: token or class as it should be.
    """

    references: int = 0
    right_references: int = 0
    implicits: int = 0
    right_implicits: int = 0
    binary: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Tally(*(one + two for one, two in pairs))

    @property
    def n(self) -> int:
        """All examples."""
        return self.references + self.implicits

    def figures(self) -> dict[str, float]:
        """Fractions; those that have no examples are left out."""
        right = self.right_references + self.right_implicits
        parts = {
            "accuracy": (right, self.n),
            "reference": (self.right_references, self.references),
            "implicit": (self.right_implicits, self.implicits),
            "binary": (self.binary, self.n),
        }
        return {name: hit / of for name, (hit, of) in parts.items() if of}


def tally(table: Table, weights: Weights) -> Tally:
    """What a model of the same features chooses for the examples of a table.

    A token is right where the training would have it so: with the lemma of a gold head.
    """
    classes = table.anchors @ weights.classes
    heads = table.tokens @ weights.heads
    best = np.full(len(table), -np.inf)
    np.maximum.at(best, table.example_of, heads)
    implicit = table.right_classes.any(axis=1)
    said_class = classes.max(axis=1, initial=-np.inf) >= best
    right_class = table.right_classes[np.arange(len(table)), classes.argmax(axis=1)]
    winners = table.right_tokens & (heads == best[table.example_of])
    right_token = np.bincount(table.example_of[winners], minlength=len(table)) > 0
    return Tally(
        references=int((~implicit).sum()),
        right_references=int((~implicit & ~said_class & right_token).sum()),
        implicits=int(implicit.sum()),
        right_implicits=int((implicit & said_class & right_class).sum()),
        binary=int((implicit == said_class).sum()),
    )
