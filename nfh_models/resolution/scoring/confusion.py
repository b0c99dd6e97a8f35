"""The confusion matrix of the paper's figure 5: seven gold labels, eight columns.

The REFERENCE column holds two things. In the REFERENCE row it is a token that is a gold
mention; a token that is none stands beside it, under REF-WRONG. In the rows of the six
classes it is any token at all: there no token could be right, so REF-WRONG stays empty.
Accuracy is then the sum of the diagonal, class accuracy that sum and the REFERENCE row's
REF-WRONG, and binary accuracy the two squares of classes and of tokens. The authors' matrix
of their ELMo model on dev agrees with it: its diagonal is 44, 105, 32, 68, 30, 154, 338
(771 of 1,000), with the 48 REF-WRONG it comes to 819, the printed class accuracy of 81.9.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nfh_models.resolution.scoring.judging import COLUMNS, LABELS, Judged


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts: a row a gold label, a column a prediction.

    labels: of the rows. columns: the same and REF-WRONG. rows: one a label, each as long as
    columns. unanswered: of each label, the examples of which nothing was said; they are in
    no column.
    """

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    unanswered: tuple[int, ...]


def confusion(judged: Iterable[Judged]) -> Confusion:
    """Gold labels against predictions."""
    cells = Counter((one.gold, one.predicted) for one in judged)
    return Confusion(
        LABELS,
        COLUMNS,
        rows=tuple(tuple(cells[gold, said] for said in COLUMNS) for gold in LABELS),
        unanswered=tuple(cells[gold, None] for gold in LABELS),
    )
