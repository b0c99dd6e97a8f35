"""What the paper reports of resolution, to stand beside ours.

Elazar and Goldberg 2019, "Where's My Head? Definition, Data Set, and Models for Numeric
Fused-Head Identification and Resolution", Transactions of the ACL 7:519-535
(https://arxiv.org/abs/1905.10886), section 6. Figures are in percent, as printed: cut to one
digit, not rounded. They are of `accuracy_inclusive`, by the authors' code.
"""

from dataclasses import dataclass

from nfh_models.resolution.scoring.judging import COLUMNS, LABELS, REF_WRONG


@dataclass(frozen=True, slots=True)
class Published:
    """One line: what was scored, on which set, the figure's name and its value in percent.

    figure: as a property of `Figures`, with "oracle" before it where candidates are limited
    to the right kind, in training and in test.
    """

    what: str
    data: str
    figure: str
    percent: float
    source: str


PLAIN, ELMO = "the paper's model", "the paper's model with ELMo"
DEV, TEST = "its dev set", "its test set"
REFERENCES = "its References"
TABLE_5, TABLE_6, TEXT = "table 5", "table 6", "section 6"

RESULTS: tuple[Published, ...] = (
    Published(PLAIN, DEV, "accuracy_inclusive", 65.6, TABLE_6),
    Published(PLAIN, TEST, "accuracy_inclusive", 60.8, TABLE_6),
    Published(ELMO, DEV, "accuracy_inclusive", 77.2, TABLE_6),
    Published(ELMO, TEST, "accuracy_inclusive", 74.0, TABLE_6),
)
"""The full model over all examples."""

BY_KIND: tuple[Published, ...] = (
    Published(PLAIN, DEV, "oracle reference", 70.4, TABLE_5),
    Published(PLAIN, DEV, "oracle implicit", 82.8, TABLE_5),
    Published(PLAIN, DEV, "reference_inclusive", 61.4, TABLE_5),
    Published(PLAIN, DEV, "implicit", 69.2, TABLE_5),
    Published(ELMO, DEV, "oracle reference", 81.2, TABLE_5),
    Published(ELMO, DEV, "oracle implicit", 90.6, TABLE_5),
    Published(ELMO, DEV, "reference_inclusive", 73.0, TABLE_5),
    Published(ELMO, DEV, "implicit", 80.7, TABLE_5),
)
"""Reference and implicit apart: with candidates of the right kind only, and with all."""

KINDS_TOLD: tuple[Published, ...] = (
    Published(ELMO, DEV, "binary", 86.1, TEXT),
    Published(ELMO, DEV, "class_accuracy", 81.9, TEXT),
)
"""Reference against implicit, and the seven classes."""

BASELINES: tuple[Published, ...] = (
    Published("first noun", REFERENCES, "reference", 19.1, TEXT),
    Published("last noun", REFERENCES, "reference", 20.3, TEXT),
    Published("closest noun", REFERENCES, "reference", 39.2, TEXT),
)
"""A noun by its place, on References."""

LINEAR_BELOW = Published("linear", DEV, "accuracy_inclusive", 28.0, "appendix")
"""The linear baseline is said to stay below this."""

NOUN_HEADS = 91.8
"""Heads of References that are nouns, in percent."""

ELMO_N = 1_000
"""Examples of the dev set, which the confusion matrix is of."""

_DIAGONAL = {
    "YEAR": 44,
    "AGE": 105,
    "CURRENCY": 32,
    "PEOPLE": 68,
    "TIME": 30,
    "OTHER": 154,
    "REFERENCE": 338,
}
_BESIDE = {
    ("REFERENCE", "OTHER"): 51,
    ("REFERENCE", REF_WRONG): 48,
    ("REFERENCE", "PEOPLE"): 13,
    ("OTHER", "REFERENCE"): 44,
    ("OTHER", "PEOPLE"): 10,
    ("PEOPLE", "OTHER"): 13,
    ("PEOPLE", "REFERENCE"): 11,
    ("CURRENCY", "OTHER"): 6,
}


def elmo_confusion() -> tuple[tuple[int | None, ...], ...]:
    """The known cells of the paper's figure 5 (ELMo, dev), laid out as `Confusion.rows`.

    None where the figure's count is not known here; those counts are small. A token chosen
    for a class is laid out under REFERENCE, as ours are.
    """
    known = {(label, label): count for label, count in _DIAGONAL.items()} | _BESIDE
    known |= {(label, REF_WRONG): 0 for label in LABELS[:-1]}
    return tuple(tuple(known.get((gold, said)) for said in COLUMNS) for gold in LABELS)


ANNOTATORS: tuple[str, ...] = (
    "REFERENCE",
    "YEAR",
    "AGE",
    "CURRENCY",
    "PEOPLE",
    "TIME",
    "OTHER",
)
ANNOTATOR_CONFUSION: tuple[tuple[int, ...], ...] = (
    (3819, 17, 17, 26, 276, 22, 924),
    (15, 437, 3, 0, 0, 7, 21),
    (20, 10, 1030, 1, 1, 0, 11),
    (40, 1, 1, 305, 0, 1, 40),
    (221, 0, 0, 0, 374, 0, 81),
    (8, 0, 0, 0, 0, 157, 13),
    (652, 20, 15, 37, 59, 18, 1360),
)
"""The paper's figure 3: tasks by the majority's label (rows) and the minority's (columns), in
the order of ANNOTATORS; on the diagonal all three agree. OTHER holds Unknown."""
