"""Majority against minority, from votes and from what the paper prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
import pytest

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.coefficients import (
    fleiss,
    fleiss_kappa,
    fleiss_of,
    fleiss_rows,
    majority_matrix,
)
from nfh_models.agreement.measure import CLASSES, Measure, undefined
from nfh_models.agreement.pairs import collect
from nfh_models.domain import Kind

# The paper's figure of majority (rows) against minority (columns), in the order of CLASSES.
# 115 items have no majority. 48 more are in no cell, though 10,223 items were answered.
PRINTED = (
    (3819, 17, 17, 26, 276, 22, 924),
    (15, 437, 3, 0, 0, 7, 21),
    (20, 10, 1030, 1, 1, 0, 11),
    (40, 1, 1, 305, 0, 1, 40),
    (221, 0, 0, 0, 374, 0, 81),
    (8, 0, 0, 0, 0, 157, 13),
    (652, 20, 15, 37, 59, 18, 1360),
)
PLAIN = Resampling(0)
NAMES = tuple(kind.value for kind in CLASSES)
DOG = 1
AGE, YEAR, OTHER, UNKNOWN = Kind.AGE, Kind.YEAR, Kind.OTHER, Kind.UNKNOWN


@dataclass(frozen=True)
class Printed:
    """A matrix taken from print."""

    rows: tuple[tuple[int, ...], ...]
    no_majority: int
    not_printed: int = 0
    """Items with a majority that no cell holds."""

    @property
    def items(self) -> int:
        """All items, in cells or not."""
        return sum(map(sum, self.rows)) + self.no_majority + self.not_printed


PAPER = Printed(PRINTED, no_majority=115, not_printed=48)


def matrix_patterns(matrix: Printed) -> dict[str, int]:
    """Items by vote pattern: 3-0 on the diagonal, 2-1 off it, 1-1-1 without a majority."""
    cells = np.array(matrix.rows)
    unanimous = int(np.trace(cells))
    return {
        "3-0": unanimous,
        "2-1": int(cells.sum()) - unanimous + matrix.not_printed,
        "1-1-1": matrix.no_majority,
    }


def matrix_counts(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """The votes that the cells stand for, shape (items, classes); items without majority have
    none.
    """
    votes, times = [], []
    for majority, row in enumerate(rows):
        for minority, items in enumerate(row):
            vote = [0] * len(rows)
            vote[majority] += 3 - 1
            vote[minority] += 1
            votes.append(vote)
            times.append(items)
    return np.repeat(np.array(votes, dtype=np.int64), times, axis=0)


def matrix_kappa(matrix: Printed, resampling: Resampling) -> Measure:
    """Fleiss' kappa of a matrix; n counts all items, those in no cell included.

    Of items in no cell only the agreement is known (0 without a majority, one pair of three
    with one), not the classes: chance agreement is computed from the cells. The interval
    resamples items, since a printed matrix does not tell passages.
    """
    counts = matrix_counts(matrix.rows)
    if not len(counts):
        return undefined("The matrix has no items.")
    unseen = np.zeros((matrix.no_majority + matrix.not_printed, counts.shape[1] + 2))
    unseen[:, -1] = 1.0
    unseen[matrix.no_majority :, -2] = 1 / 3
    rows = np.vstack((fleiss_rows(counts), unseen))
    value = float(fleiss_of(rows.sum(axis=0)))
    if np.isnan(value):
        return undefined("The matrix has only one class.", matrix.items)
    return resampling.measure(value, len(rows), rows, np.arange(len(rows)), fleiss_of)


def test_the_papers_matrix_gives_its_patterns() -> None:
    assert PAPER.items == 10_223
    found = matrix_patterns(PAPER)
    assert found == {"3-0": 7_482, "2-1": 2_626, "1-1-1": 115}
    assert [round(100 * items / PAPER.items) for items in found.values()] == [73, 26, 1]


def test_the_papers_matrix_gives_its_kappa() -> None:
    kappa = matrix_kappa(PAPER, Resampling(200, 1))
    assert round(kappa.value or 0, 2) == 0.73
    assert kappa.value == pytest.approx(0.733, abs=5e-4)
    assert kappa.n == 10_223
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < 0.733 < kappa.high


def test_what_is_printed_alone_has_the_kappa_of_the_library() -> None:
    counts = matrix_counts(PRINTED)
    assert len(counts) == 10_060
    by_library = fleiss_kappa(counts, np.arange(len(counts)), PLAIN, NAMES)
    assert matrix_kappa(Printed(PRINTED, 0), PLAIN).value == pytest.approx(by_library.value)


def test_classes_that_are_not_printed_could_not_have_changed_kappa_much() -> None:
    """Whatever one class triple the 115 had, and whatever one cell the 48 were in."""
    counts = matrix_counts(PRINTED)
    by_class, equal = counts.sum(axis=0), _equal_pairs(counts)
    found = []
    for triple in combinations(range(7), 3):
        for majority, minority in permutations(range(7), 2):
            votes = by_class.copy()
            votes[list(triple)] += 115
            votes[[majority, minority]] += [96, 48]
            shares = votes / votes.sum()
            chance = float((shares**2).sum())
            observed = (equal + 48 / 3) / 10_223
            found.append((observed - chance) / (1 - chance))
    assert min(found) == pytest.approx(0.733, abs=5e-4)
    assert max(found) == pytest.approx(0.736, abs=5e-4)


def _equal_pairs(counts: np.ndarray) -> float:
    return float((counts * (counts - 1)).sum() / 6)


def test_the_matrix_of_votes(kit) -> None:
    rows = [
        [AGE, AGE, AGE],
        [AGE, YEAR, AGE],
        [OTHER, UNKNOWN, AGE],
        [AGE, YEAR, OTHER],
        [kit.to(DOG), AGE, AGE],
        [AGE, AGE],
        [AGE, AGE, Kind.BROKEN],
    ]
    found = majority_matrix(collect(kit.items(rows)))
    cells = {
        (majority, minority): items
        for majority, row in zip(CLASSES, found.rows, strict=True)
        for minority, items in zip(CLASSES, row, strict=True)
        if items
    }
    assert cells == {
        (AGE, AGE): 1,
        (AGE, YEAR): 1,
        (OTHER, AGE): 1,
        (AGE, Kind.REFERENCE): 1,
    }
    assert found.no_majority == 1
    assert sorted(one.n for one in found.left_out) == [1, 1]


def test_matrix_and_votes_give_the_same_kappa_where_all_have_a_majority(kit) -> None:
    rows = [[AGE, AGE, YEAR]] * 3 + [[YEAR, YEAR, YEAR]] * 4 + [[OTHER, AGE, OTHER]] * 2
    tables = collect(kit.items(rows))
    found = majority_matrix(tables)
    assert matrix_kappa(Printed(found.rows, found.no_majority), PLAIN).value == pytest.approx(
        fleiss(tables, PLAIN).kappa.value
    )
    assert matrix_patterns(Printed(found.rows, found.no_majority)) == {
        "3-0": 4,
        "2-1": 5,
        "1-1-1": 0,
    }


def test_a_matrix_that_holds_nothing_or_one_class_says_so() -> None:
    nothing, one = Printed(((0, 0), (0, 0)), 0), Printed(((5, 0), (0, 0)), 0)
    assert "no item" in (matrix_kappa(nothing, PLAIN).why or "")
    assert "one class" in (matrix_kappa(one, PLAIN).why or "")
