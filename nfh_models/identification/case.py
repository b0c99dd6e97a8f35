"""What an identifier is asked, what it says, and what it is.

A case is one number in its sentence. The recipes `rules` and `svm` need a parse of the
sentence; an encoder needs none: whatever an identifier names in `needs` is parsed for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nfh_models.parsing.parsed import Layer, Parsed
from nfh_models.parsing.stretch import Stretch


@dataclass(frozen=True, slots=True)
class Case:
    """A number in a sentence: tokens [start, end) of the stretch.

    parsed: the sentence with the layers that were asked for; None while it has none.
    """

    stretch: Stretch
    start: int
    end: int
    parsed: Parsed | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a number is a fused head, and why.

    rule: the name of the rule that decided, as RULES of `rules` lists them; of a learned
    recipe its own name. score: above 0 for an NFH, the further from 0 the surer; None where a
    rule decided. weights: what weighed most in a learned decision, strongest first, as
    feature and weight; their sum with all others and the bias is the score.
    """

    nfh: bool
    rule: str
    score: float | None = None
    weights: tuple[tuple[str, float], ...] = ()


class Identifier(Protocol):
    """A recipe of identification, ready to decide."""

    @property
    def recipe(self) -> str:
        """What it was made by: "rules", "svm", "encoder", "small"."""
        ...

    @property
    def version(self) -> str:
        """Changes when its decisions may."""
        ...

    @property
    def needs(self) -> frozenset[Layer]:
        """The layers that cases must have; empty for one that needs no parser."""
        ...

    @property
    def uses(self) -> frozenset[Layer]:
        """Layers that it looks at where the parser gives them; holds those of `needs`."""
        ...

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """A decision a case, in their order. ValueError for a case without what it needs."""
        ...
