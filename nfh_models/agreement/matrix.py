"""The paper's matrix: what the majority says against what the one other says.

Rows are the majority's class, columns the minority's; the diagonal holds what is unanimous.
Of three voters, that is the whole of their votes, so vote patterns and Fleiss' kappa follow
from a printed matrix.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nfh_models.agreement.bootstrap import Ints, Resampling
from nfh_models.agreement.coding import CLASSES
from nfh_models.agreement.kappa import fleiss_of, fleiss_rows
from nfh_models.agreement.measure import LeftOut, Measure, left_out, undefined
from nfh_models.agreement.patterns import OUTSIDE
from nfh_models.agreement.tables import Tables

VOTERS = 3
UNANIMOUS, MAJORITY, NONE = "3-0", "2-1", "1-1-1"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Items by majority (rows) and minority (columns), in the order of CLASSES.

    no_majority: items whose three votes are in three classes; they are in no cell.
    not_printed: of a matrix from print, items with a majority and a minority that no cell
    holds; of one made from votes 0.
    """

    rows: tuple[tuple[int, ...], ...]
    no_majority: int
    not_printed: int = 0
    left_out: tuple[LeftOut, ...] = ()

    @property
    def items(self) -> int:
        """How many items there are, in cells and in none."""
        return sum(map(sum, self.rows)) + self.no_majority + self.not_printed


def majority_matrix(tables: Tables) -> Matrix:
    """The matrix of the items with three votes, all in the paper's seven classes."""
    classes = tables.classes
    three = tables.counts.sum(axis=1) == VOTERS
    used = three & (tables.outside == 0)
    table = classes[used]
    most, least = table.argmax(axis=1), np.where(table == 1, 1, 0).argmax(axis=1)
    largest = table.max(axis=1, initial=0)
    column = np.where(largest == VOTERS, most, least)
    decided = largest >= 2
    cells = np.zeros((len(CLASSES), len(CLASSES)), dtype=np.int64)
    np.add.at(cells, (most[decided], column[decided]), 1)
    return Matrix(
        tuple(tuple(row) for row in cells.tolist()),
        int((~decided).sum()),
        left_out=left_out(
            {
                "items with another number of answers than 3": int((~three).sum()),
                OUTSIDE: int((three & ~used).sum()),
            }
        ),
    )


def matrix_patterns(matrix: Matrix) -> Mapping[str, int]:
    """Items by vote pattern: 3-0 on the diagonal, 2-1 off it, 1-1-1 without a majority."""
    cells = np.array(matrix.rows)
    unanimous = int(np.trace(cells))
    return {
        UNANIMOUS: unanimous,
        MAJORITY: int(cells.sum()) - unanimous + matrix.not_printed,
        NONE: matrix.no_majority,
    }


def matrix_counts(rows: Sequence[Sequence[int]]) -> Ints:
    """The votes that the cells stand for, shape (items, classes); no item without majority."""
    votes, times = [], []
    for majority, row in enumerate(rows):
        for minority, items in enumerate(row):
            vote = [0] * len(rows)
            vote[majority] += VOTERS - 1
            vote[minority] += 1
            votes.append(vote)
            times.append(items)
    return np.repeat(np.array(votes, dtype=np.int64), times, axis=0)


def matrix_kappa(matrix: Matrix, resampling: Resampling) -> Measure:
    """Fleiss' kappa of a matrix; n counts items, those that are in no cell included.

    Of these it is known how far they agree (nothing without a majority; of a majority and a
    minority one pair of votes in three), not which classes they name: chance is computed from
    the cells alone. No kept library takes votes that are known that far only. The interval
    resamples items: a printed matrix knows no passages.
    """
    counts = matrix_counts(matrix.rows)
    if not len(counts):
        return undefined("The matrix holds no item.")
    unseen = np.zeros((matrix.no_majority + matrix.not_printed, counts.shape[1] + 2))
    unseen[:, -1] = 1.0
    unseen[matrix.no_majority :, -2] = 1 / VOTERS
    rows = np.vstack((fleiss_rows(counts), unseen))
    value = float(fleiss_of(rows.sum(axis=0)))
    if np.isnan(value):
        return undefined("The matrix holds one class only.", matrix.items)
    return resampling.measure(value, len(rows), rows, np.arange(len(rows)), fleiss_of)
