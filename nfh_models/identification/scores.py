"""Precision, recall, F1 and accuracy of identification, and the figures of the paper (section
4.2, table 3).

Precision, recall and F1 are those of the label NFH.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from operator import add

from nfh_models.statistics import Share, share


@dataclass(frozen=True, slots=True)
class PublishedIdentification:
    """One line of the paper's table: precision, recall and F1, in percent, on `data`."""

    what: str
    data: str
    precision: float
    recall: float
    f1: float


RULES_TEST = PublishedIdentification("rules", "its test set", 97.4, 93.6, 95.5)
SVM_TEST = PublishedIdentification("svm", "its test set", 97.5, 95.6, 96.6)
SVM_DEV = PublishedIdentification("svm", "its dev set", 96.8, 97.5, 97.1)
RESULTS = (RULES_TEST, SVM_TEST, SVM_DEV)

WITHOUT_HEAD_POS = PublishedIdentification(
    "svm without head-pos", "its dev set", 96.7, 97.3, 97.0
)
WITHOUT_WINDOW_POS = PublishedIdentification(
    "svm without window-pos", "its dev set", 96.4, 97.0, 96.7
)
WITHOUT_BOTH = PublishedIdentification("svm without both", "its dev set", 95.6, 96.1, 95.9)


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Decisions by label."""

    hit: int = 0
    """NFHs decided to be NFHs."""
    false: int = 0
    """Other numbers decided to be NFHs."""
    missed: int = 0
    """NFHs decided to be none."""
    passed: int = 0
    """Other numbers decided to be none."""

    def __add__(self, other: "DecisionCounts") -> "DecisionCounts":
        return DecisionCounts(*map(add, astuple(self), astuple(other)))

    @property
    def n(self) -> int:
        return self.hit + self.false + self.missed + self.passed

    @property
    def nfh(self) -> int:
        return self.hit + self.missed

    @property
    def right(self) -> int:
        return self.hit + self.passed

    @property
    def wrong(self) -> int:
        return self.false + self.missed

    @property
    def precision(self) -> float | None:
        """None if nothing was decided to be an NFH."""
        return share(self.hit, self.hit + self.false)

    recall = Share("hit", "nfh")
    """None without NFHs."""

    @property
    def f1(self) -> float | None:
        """None without NFHs and decisions for NFH."""
        return share(2 * self.hit, 2 * self.hit + self.wrong)

    accuracy = Share("right", "n")
    """None without examples."""

    @property
    def rows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The confusion matrix: rows are labels, columns are decisions; NFH first."""
        return (self.hit, self.missed), (self.false, self.passed)


def count(pairs: Iterable[tuple[bool, bool]]) -> DecisionCounts:
    """The counts of pairs of label and decision; True is NFH."""
    found = [0, 0, 0, 0]
    for label, said in pairs:
        found[(0 if said else 2) if label else (1 if said else 3)] += 1
    return DecisionCounts(*found)
