"""How much more often a class is met in use than in what was learnt from.

A network learns the shares of its examples. Where others are met, the logits of the classes
are shifted by the logarithm of the ratio of shares, relative to that of the words (Saerens et
al. 2002, "Adjusting the Outputs of a Classifier to New a Priori Probabilities").
"""

import math
from collections import Counter
from collections.abc import Iterable

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.domain.classes import paper_class
from nfh_models.resolution.item import ResolutionExample

PAPER = {
    Kind.REFERENCE: 4_237,
    Kind.YEAR: 485,
    Kind.AGE: 1_081,
    Kind.CURRENCY: 386,
    Kind.PEOPLE: 799,
    Kind.TIME: 216,
    Kind.OTHER: 2_208,
}
"""Examples of each class in all of the paper's annotated corpus (section 5, 9,412)."""


Shift = tuple[float, float, float, float, float, float]
"""What is added to the logits of the six classes, in the order of IMPLICIT_KINDS."""

NO_SHIFT: Shift = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def shift_to_paper(examples: Iterable[ResolutionExample]) -> Shift:
    """For a network that learnt from these examples; 0 for a class that none of them has, and
    for all of them where no example is a Reference."""
    counted = Counter(paper_class(example.gold.kind) for example in examples)
    words = counted[Kind.REFERENCE]
    if not words:
        return NO_SHIFT
    base = math.log(PAPER[Kind.REFERENCE] / words)

    def of(kind: Kind) -> float:
        return round(math.log(PAPER[kind] / counted[kind]) - base, 4) if counted[kind] else 0.0

    year, age, currency, people, time, other = map(of, IMPLICIT_KINDS)
    return year, age, currency, people, time, other
