"""What a resolver is asked, what it says, and what it is.

An item is one fused head in its passage. Recipes that need parts of speech or a dependency
parse name the layers in `needs`; whatever they name is parsed for them, once a passage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nfh_models.domain import Anchor, Answer, Passage
from nfh_models.parsing.parsed import Layer, Parsed


@dataclass(frozen=True, slots=True)
class Item:
    """An anchor in its passage.

    parsed: the tokens [parsed_from, parsed_from + len(parsed.words)) of the passage with the
    layers that were asked for; None while it has none.
    """

    passage: Passage
    anchor: Anchor
    parsed: Parsed | None = None
    parsed_from: int = 0


@dataclass(frozen=True, slots=True)
class Several:
    """How surely a number has one head or several: probabilities, their sum is 1.

    both: several heads joined by AND, the sum of them. either: joined by OR.
    """

    one: float
    both: float
    either: float


@dataclass(frozen=True, slots=True)
class Choice:
    """What a recipe says of an anchor.

    choice, second: a token index in digits, or a class name. margin: score of the choice
    less that of the second; None without a second. scores: the six classes in the order of
    IMPLICIT_KINDS, then one a token of the passage; None for what is no candidate: the
    anchor itself, and tokens outside the window of a recipe that has one. several: where the
    recipe says how many heads there are. nfh: the probability that the number's noun is
    missing at all, where the recipe says that, too.
    """

    choice: str
    second: str | None
    margin: float | None
    scores: tuple[float | None, ...]
    several: Several | None = None
    nfh: float | None = None


@dataclass(frozen=True, slots=True)
class ResolutionExample:
    """An item whose answer is known: what recipes learn from and are judged on.

    gold: of kind REFERENCE or one of the six implicit classes. where: its place for a person,
    "line 12" or "anchor 31". group: examples of one group (passage, document) are never on
    both sides of a split. saw_model: whoever gave the label had a model's answer in view.
    """

    item: Item
    gold: Answer
    where: str
    group: str
    saw_model: bool = False


class Resolver(Protocol):
    """A recipe of resolution, ready to answer."""

    @property
    def recipe(self) -> str:
        """What it was made by: "nearest-noun", "linear", "bilstm", "encoder", "small"."""
        ...

    @property
    def version(self) -> str:
        """Changes when its answers may."""
        ...

    @property
    def needs(self) -> frozenset[Layer]:
        """The layers that items must have; empty for one that needs no parser."""
        ...

    @property
    def probabilities(self) -> bool:
        """Whether the scores are probabilities over all candidates, and sum to 1."""
        ...

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item, in their order; None where the recipe has nothing to say.

        Only `deterministic` ever has nothing to say. ValueError for an item without what it
        needs.
        """
        ...
