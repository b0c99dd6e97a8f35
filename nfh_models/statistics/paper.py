"""What the paper reports of its own data, to stand beside ours.

Elazar and Goldberg 2019, "Where's My Head? Definition, Data Set, and Models for Numeric
Fused-Head Identification and Resolution", Transactions of the ACL 7:519-535
(https://arxiv.org/abs/1905.10886), sections 2, 4.3 and 5.4 and table 2. Where the paper's
own figures contradict each other, the docstring says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from nfh_models.domain import Kind


@dataclass(frozen=True, slots=True)
class Part:
    """A figure: how many of how many. printed: the share that the paper prints, where that
    is not what its counts come to, or where it prints no counts."""

    count: int | None
    of: int | None
    printed: float | None = None

    @property
    def share(self) -> float:
        """The share that the paper prints, else what its counts come to."""
        if self.printed is not None:
            return self.printed
        if self.count is None or not self.of:
            raise ValueError("a published share needs counts or its printed value")
        return self.count / self.of


NUMBERS: Mapping[str, Part] = {
    "train": Part(71_821, 165_606),
    "dev": Part(7_865, 18_401),
    "test": Part(206, 500),
}
"""NFHs among the labelled numbers of the identification files (table 2)."""

ELSEWHERE: Mapping[str, float] = {
    "TED talks": 0.355,
    "WikiText-2": 0.332,
    "WikiText-103": 0.329,
    "Penn Treebank": 0.222,
    "Amazon reviews": 0.375,
}
"""Share of numbers that are NFHs by the identifier, in other texts (section 2)."""

IDENTIFICATION_WORDS: Mapping[str, Part] = {
    "one": Part(48_788, None, 0.610),
    "two": Part(6_263, None, 0.084),
}
"""The most common anchors of identification (section 4.3). 6,263 of the paper's 79,884 NFHs
would be 7.8 %; it prints 8.4 %."""

DISTINCT = Part(1_803, None, 0.022)
"""Different anchors of identification (section 4.3)."""

LENGTHS: Mapping[int, Part] = {1: Part(None, None, 0.974), 2: Part(None, None, 0.013)}
"""Anchors by length in tokens (section 4.3)."""

LONGEST = 8
WORDS = Part(None, None, 0.867)
DIGITS = Part(None, None, 0.133)
"""Longest anchor in tokens; anchors in words and in digits (section 4.3)."""

EXAMPLES = 9_412
TOKENS = 900_777
"""Examples of resolution, and the tokens of their passages, each once an example
(section 5.4)."""

RESOLUTION_WORDS: Mapping[str, Part] = {"one": Part(None, None, 0.490)}
"""The most common anchor of resolution (section 5.4)."""

ONCE = Part(377, None, 0.039)
"""Anchors of resolution that occur once (section 5.4)."""

CLASSES: Mapping[Kind, Part] = {
    Kind.REFERENCE: Part(4_237, EXAMPLES),
    Kind.YEAR: Part(485, EXAMPLES),
    Kind.AGE: Part(1_081, EXAMPLES),
    Kind.CURRENCY: Part(386, EXAMPLES),
    Kind.PEOPLE: Part(799, EXAMPLES),
    Kind.TIME: Part(216, EXAMPLES),
    Kind.OTHER: Part(2_208, EXAMPLES),
}
"""Counts from the authors' notebook; the paper draws them as a chart (figure 4)."""

HEADS: Mapping[int, Part] = {1: Part(3_983, 4_237), 2: Part(238, 4_237), 3: Part(16, 4_237)}
"""References by number of different head words; 3 stands for three or more (section 5.4).
The paper prints 3,938 for one head, which leaves 45 out: the notebook has 3,983."""

SAME_SENTENCE = Part(2_019, 4_237)
NEXT_SENTENCE = Part(1_747, 4_237)
"""Heads in the anchor's sentence, and in the one before or after it (section 5.4)."""

BEFORE = Part(None, None, 0.827)
AFTER = Part(None, None, 0.051)
BOTH = Part(None, None, 0.122)
"""Heads before the anchor, after it, and on both sides (section 5.4)."""
