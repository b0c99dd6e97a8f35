"""Precision, recall, F1 and accuracy from counts, and what the paper reports of
identification (section 4.2, table 3).

Precision, recall and F1 are those of "is an NFH" (paper section 4.2, Table 3).
"""

from collections.abc import Iterable
from dataclasses import dataclass


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
    """How many were called what: hit, an NFH called one; false, another number called one;
    missed, an NFH called none; passed, another number called none."""

    hit: int = 0
    false: int = 0
    missed: int = 0
    passed: int = 0

    def __add__(self, other: "DecisionCounts") -> "DecisionCounts":
        return DecisionCounts(
            self.hit + other.hit,
            self.false + other.false,
            self.missed + other.missed,
            self.passed + other.passed,
        )

    @property
    def n(self) -> int:
        """All of them."""
        return self.hit + self.false + self.missed + self.passed

    @property
    def nfh(self) -> int:
        """Those that are NFHs."""
        return self.hit + self.missed

    @property
    def right(self) -> int:
        """Those called what they are."""
        return self.hit + self.passed

    @property
    def wrong(self) -> int:
        """Those called what they are not."""
        return self.false + self.missed

    @property
    def precision(self) -> float | None:
        """Of those called an NFH, the share that is one; None if none was called so."""
        return share(self.hit, self.hit + self.false)

    @property
    def recall(self) -> float | None:
        """Of the NFHs, the share called so; None if there is none."""
        return share(self.hit, self.nfh)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None if nothing is an NFH and nothing was called one."""
        return share(2 * self.hit, 2 * self.hit + self.wrong)

    @property
    def accuracy(self) -> float | None:
        """The share called what they are; None if there are none."""
        return share(self.right, self.n)

    @property
    def rows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The confusion matrix: a row a label, a column a decision; NFH first, then not."""
        return (self.hit, self.missed), (self.false, self.passed)


def share(part: int, whole: int) -> float | None:
    """part / whole; None where there is no whole."""
    return part / whole if whole else None


def count(pairs: Iterable[tuple[bool, bool]]) -> DecisionCounts:
    """The counts of pairs of label and decision, both: is it an NFH?"""
    found = [0, 0, 0, 0]
    for label, said in pairs:
        found[(0 if said else 2) if label else (1 if said else 3)] += 1
    return DecisionCounts(*found)
