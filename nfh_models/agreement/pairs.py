"""Pairs of answers to one anchor, compared once and kept as columns of numbers."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import Ints
from nfh_models.agreement.coding import BLOCKING, CODE, EQUAL, NFH, REFERENCE
from nfh_models.domain import Answer, Blocking, Comparison, Kind, Note, compare
from nfh_models.domain.compare import same_head

BLOCKING_CODE: dict[Blocking | None, int] = {
    None: EQUAL,
    **{kind: code for code, kind in enumerate(BLOCKING)},
}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of answers, one a row; every field is a column, shape (pairs,).

    item, passage: numbers that tell them apart. left, right: who, by number. left_kind,
    right_kind, blocking: codes of `coding`. heads: of both together; matched: how many of
    them are the same as one of the other's (both 0 unless both say REFERENCE). mention,
    extent: 1 where that is noted of heads that are the same.
    """

    item: Ints
    passage: Ints
    left: Ints
    right: Ints
    left_kind: Ints
    right_kind: Ints
    blocking: Ints
    heads: Ints
    matched: Ints
    mention: Ints
    extent: Ints

    def __len__(self) -> int:
        return len(self.item)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Self:
        """The rows for which `chosen` is true."""
        return replace(
            self, **{field.name: getattr(self, field.name)[chosen] for field in fields(self)}
        )

    @property
    def named(self) -> Self:
        """The pairs in which both name something: NFH could become any kind."""
        return self.where((self.left_kind != NFH) & (self.right_kind != NFH))

    @property
    def references(self) -> Self:
        """The pairs in which both say REFERENCE."""
        return self.where((self.left_kind == REFERENCE) & (self.right_kind == REFERENCE))

    def between(self, left: int, right: int) -> Self:
        """The pairs of these two."""
        return self.where((self.left == left) & (self.right == right))


class PairList:
    """Pairs being collected. A row takes 88 bytes, so that millions of them fit."""

    def __init__(self) -> None:
        self._columns = [array("q") for _ in fields(Pairs)]

    def add(
        self,
        place: tuple[int, int],
        people: tuple[int, int],
        answers: tuple[Answer, Answer],
        lemmas: Sequence[str],
        found: Comparison | None = None,
    ) -> None:
        """Compare two answers. place: item and passage. people: numbers of left and right.

        found: how they differ, where that is known.
        """
        left, right = answers
        found = found or compare(left, right, lemmas)
        heads = matched = 0
        if left.kind is Kind.REFERENCE and right.kind is Kind.REFERENCE:
            heads = len(left.heads) + len(right.heads)
            matched = match_heads(left, right, lemmas)
        row = (
            *place,
            *people,
            CODE[left.kind],
            CODE[right.kind],
            BLOCKING_CODE[found.blocking],
            heads,
            matched,
            Note.MENTION in found.notes,
            Note.EXTENT in found.notes,
        )
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)

    def done(self) -> Pairs:
        """The pairs as columns."""
        return Pairs(*(np.array(column, dtype=np.int64) for column in self._columns))


def match_heads(left: Answer, right: Answer, lemmas: Sequence[str]) -> int:
    """How many heads of both, counted together, are the same as one of the other's."""
    same = [[same_head(one, other, lemmas) for other in right.heads] for one in left.heads]
    return sum(map(any, same)) + sum(map(any, zip(*same, strict=True)))
