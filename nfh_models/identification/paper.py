"""What the paper reports of identification, in percent (section 4.2, Table 3)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """One line of the paper's table: precision, recall and F1, in percent, on `data`."""

    what: str
    data: str
    precision: float
    recall: float
    f1: float


RULES_TEST = Published("rules", "its test set", 97.4, 93.6, 95.5)
SVM_TEST = Published("svm", "its test set", 97.5, 95.6, 96.6)
SVM_DEV = Published("svm", "its dev set", 96.8, 97.5, 97.1)
RESULTS = (RULES_TEST, SVM_TEST, SVM_DEV)

WITHOUT_HEAD_POS = Published("svm without head-pos", "its dev set", 96.7, 97.3, 97.0)
WITHOUT_WINDOW_POS = Published("svm without window-pos", "its dev set", 96.4, 97.0, 96.7)
WITHOUT_BOTH = Published("svm without both", "its dev set", 95.6, 96.1, 95.9)
