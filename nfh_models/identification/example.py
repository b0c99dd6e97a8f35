"""A case whose answer is known: what recipes learn from and are judged on."""

from dataclasses import dataclass

from nfh_models.identification.case import Case


@dataclass(frozen=True, slots=True)
class Example:
    """A number with its label.

    where: its place for a person, "line 12" or "anchor 31". group: examples of one group
    (passage, document) are never on both sides of a split. saw_model: whoever gave the label
    had a model's answer in view, so that models may look better on it than they are.
    """

    case: Case
    nfh: bool
    where: str
    group: str
    saw_model: bool = False
