"""Numbers counted as they pass by."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from nfh_models.domain import Kind
from nfh_models.statistics.anchors import Anchors
from nfh_models.statistics.heads import Heads
from nfh_models.statistics.number import Number
from nfh_models.statistics.size import Size

GroupOf = Callable[[Number], str | None]
"""The name of the group that a number is in; None for those that are in none."""


@dataclass(slots=True)
class Statistics:
    """All the figures. unsaid: numbers of which nothing is said; they are in no other figure.

    groups: sizes by group, None for the numbers in none; empty where none were asked for.
    """

    unsaid: int = 0
    size: Size = field(default_factory=Size)
    anchors: Anchors = field(default_factory=Anchors)
    heads: Heads = field(default_factory=Heads)
    groups: dict[str | None, Size] = field(default_factory=dict)

    @property
    def found(self) -> int:
        """How many numbers passed by."""
        return self.unsaid + self.size.numbers


def count(numbers: Iterable[Number], group_of: GroupOf | None = None) -> Statistics:
    """The figures of numbers, those of one passage one behind the other.

    Memory grows with the number of different texts, lengths and groups, not of numbers.
    """
    found = Statistics()
    for number in numbers:
        if number.nfh is None and not number.broken:
            found.unsaid += 1
            continue
        found.size.add(number)
        if group_of is not None:
            group = group_of(number)
            if group not in found.groups:
                found.groups[group] = Size()
            found.groups[group].add(number)
        if number.nfh is not None:
            found.anchors.add(number)
        if number.answer is not None and number.answer.kind is Kind.REFERENCE:
            found.heads.add(number)
    return found
