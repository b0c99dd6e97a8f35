"""Cross-validation: each example decided by a machine that has not seen its group.

Groups are dealt to the folds by chance, those of each label apart, so that every fold has
both labels in about the same shares (stratified grouped k-fold, as in scikit-learn).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from nfh_models.errors import ModelsError
from nfh_models.identification.case import Decision
from nfh_models.identification.example import Example
from nfh_models.identification.scores import Counts
from nfh_models.identification.svm import (
    Rows,
    SvmSettings,
    Table,
    decisions,
    fit,
    table_of,
)

FOLDS = 5
LEAST_GROUPS = 2
"""Of each label: with one, some fold would be decided by what has never seen that label."""


class TooFewError(ModelsError):
    """Too few examples to learn from; the sentence says of what."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a figure over the folds that have it."""

    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Spread":
        """The deviation is that of a sample (n - 1), None of fewer than two."""
        there = [value for value in values if value is not None]
        return cls(fmean(there) if there else None, stdev(there) if len(there) > 1 else None)


@dataclass(frozen=True, slots=True)
class Crossed:
    """What cross-validation found. said: of each example, in order. folds: counts of each."""

    said: tuple[bool, ...]
    folds: tuple[Counts, ...]

    @property
    def counts(self) -> Counts:
        """Those of all folds together."""
        return sum(self.folds, Counts())

    def spread(self, figure: Callable[[Counts], float | None]) -> Spread:
        """How far a figure differs from fold to fold."""
        return Spread.of([figure(counts) for counts in self.folds])


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold: places of its examples, in order, and the decisions on them."""

    number: int
    places: tuple[int, ...]
    decisions: tuple[Decision, ...]


def folds_of(
    labels: Sequence[bool], groups: Sequence[str], folds: int = FOLDS, seed: int = 1
) -> list[int]:
    """The fold of each example, from 0; no group is in two, every fold has both labels.

    There are as many folds as asked, or as groups of the rarer label where those are fewer.
    Raises TooFewError where a label has fewer than two groups.
    """
    seen: dict[str, set[bool]] = {}
    for group, label in zip(groups, labels, strict=True):
        seen.setdefault(group, set()).add(label)
    rarer = min(sum(label in found for found in seen.values()) for label in (True, False))
    if rarer < LEAST_GROUPS:
        raise TooFewError(_too_few(labels, seen))
    shuffled = sorted(seen)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a draw, no secret
    # Groups with both labels stand between the others: so the groups of each label are
    # neighbours, and dealing them in turn gives some of it to every fold.
    shuffled.sort(key=lambda group: (True not in seen[group]) - (False not in seen[group]))
    count = min(folds, rarer)
    dealt = {group: place % count for place, group in enumerate(shuffled)}
    return [dealt[group] for group in groups]


def check_enough(examples: Sequence[Example]) -> None:
    """Raise TooFewError unless each label has two groups: there is something to learn."""
    folds_of([one.nfh for one in examples], [one.group for one in examples])


def _too_few(labels: Sequence[bool], seen: dict[str, set[bool]]) -> str:
    if not labels:
        return (
            "there is nothing to learn from: no number found here has gold that says whether "
            "it is a fused head"
        )
    yes = sum(labels)
    passages = [sum(label in found for found in seen.values()) for label in (True, False)]
    return (
        f"too few labels to learn from: {yes:,} of {len(labels):,} numbers are fused heads, in "
        f"{passages[0]:,} {'passage' if passages[0] == 1 else 'passages'}, and "
        f"{len(labels) - yes:,} are not, in {passages[1]:,}; "
        f"each has to stand in {LEAST_GROUPS} passages at least, so that what is learnt on "
        "some can be tried on others"
    )


def crossed(table: Table, folds: int = FOLDS, seed: int = 1) -> Iterator[Fold]:
    """Fit and decide fold by fold. Raises TooFewError before the first."""
    fold_of = np.array(folds_of(table.labels.tolist(), table.groups, folds, seed), np.int32)
    for number in range(int(fold_of.max()) + 1):
        inside = np.flatnonzero(fold_of == number).astype(np.int32)
        outside = np.flatnonzero(fold_of != number).astype(np.int32)
        svm = fit(table, outside)
        made = decisions(_chosen(table.rows, inside.tolist()), svm)
        yield Fold(number, tuple(inside.tolist()), tuple(made))


def _chosen(rows: Rows, places: Sequence[int]) -> Rows:
    """Some of the rows, in the order given."""
    bounds = rows.starts.tolist()
    spans = [(bounds[place], bounds[place + 1]) for place in places]
    starts = np.cumsum([0, *(end - start for start, end in spans)], dtype=np.int32)
    indices = [rows.indices[start:end] for start, end in spans]
    words = [word for start, end in spans for word in rows.words[start:end]]
    return Rows(starts, np.concatenate(indices), words)


def cross_validate(
    examples: Sequence[Example],
    settings: SvmSettings | None = None,
    folds: int = FOLDS,
    seed: int = 1,
) -> list[Decision]:
    """A decision on each parsed example, in their order, by what has not seen its group.

    Raises TooFewError where a label has fewer than two groups, ValueError for an example
    without the parse that it needs.
    """
    table = table_of(examples, settings or SvmSettings())
    made: dict[int, Decision] = {}
    for fold in crossed(table, folds, seed):
        made.update(zip(fold.places, fold.decisions, strict=True))
    return [made[place] for place in range(len(examples))]
