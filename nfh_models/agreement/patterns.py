"""How the votes of an item group: 3-0, 2-1, 1-1-1, and other numbers of voters."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nfh_models.agreement.bootstrap import Ints, Resampling, ratio
from nfh_models.agreement.measure import LeftOut, Measure, left_out
from nfh_models.agreement.tables import Tables

TOO_FEW = "items with fewer than two answers"
OUTSIDE = "items that somebody called NOT_NFH, BROKEN or NFH, which the paper's form lacks"


@dataclass(frozen=True, slots=True)
class PatternShare:
    """A pattern of votes. share: of the items with as many voters (n is their number)."""

    pattern: str
    voters: int
    items: int
    share: Measure


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns there are: most frequent number of voters first, most agreement first.

    items: how many have a pattern.
    """

    shares: tuple[PatternShare, ...]
    items: int
    left_out: tuple[LeftOut, ...]


def class_patterns(tables: Tables, resampling: Resampling) -> Patterns:
    """Votes grouped by the paper's seven classes (paper section 5.3): heads do not matter.

    An item with a vote outside the seven is left out whole: without that vote it would
    look more unanimous than it is.
    """
    classes = tables.classes
    enough = tables.counts.sum(axis=1) >= 2
    used = enough & (tables.outside == 0)
    labels = [pattern_of(row) for row in classes[used].tolist()]
    omitted = {TOO_FEW: int((~enough).sum()), OUTSIDE: int((enough & ~used).sum())}
    return _patterns(labels, tables.passage[used], resampling, left_out(omitted))


def noun_patterns(tables: Tables, resampling: Resampling) -> Patterns:
    """Votes grouped by whole answers, compared by noun: what `pattern:` finds."""
    used = tables.counts.sum(axis=1) >= 2
    labels = [tables.patterns[index] for index in tables.pattern[used].tolist()]
    omitted = left_out({TOO_FEW: int((~used).sum())})
    return _patterns(labels, tables.passage[used], resampling, omitted)


def pattern_of(groups: Iterable[int]) -> str:
    """The pattern of groups of these sizes, as "2-1"; of one group "3-0"."""
    sizes = sorted((size for size in groups if size), reverse=True)
    return f"{sizes[0]}-0" if len(sizes) == 1 else "-".join(map(str, sizes))


def _patterns(
    labels: Sequence[str], passages: Ints, resampling: Resampling, omitted: tuple[LeftOut, ...]
) -> Patterns:
    found = Counter(labels)
    voters = {label: sum(_sizes(label)) for label in found}
    of_voters = Counter[int]()
    for label, items in found.items():
        of_voters[voters[label]] += items
    each = np.array([voters[label] for label in labels], dtype=np.int64)
    texts = np.array(labels, dtype=np.str_)
    order = sorted(
        found,
        key=lambda label: (
            -of_voters[voters[label]],
            -voters[label],
            [-size for size in _sizes(label)],
        ),
    )
    shares = []
    for label in order:
        number = voters[label]
        rows = np.column_stack((texts == label, each == number)).astype(np.float64)
        among = each == number
        share = resampling.measure(
            found[label] / of_voters[number],
            of_voters[number],
            rows[among],
            passages[among],
            ratio,
        )
        shares.append(PatternShare(label, number, found[label], share))
    return Patterns(tuple(shares), len(labels), omitted)


def _sizes(label: str) -> list[int]:
    return [int(size) for size in label.split("-")]
