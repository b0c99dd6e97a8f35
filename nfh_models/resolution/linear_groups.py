"""The groups of features of `linear`, and which of them are used."""

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """A group of features: the paper's five (table 8 and section 6.3), and four of our own."""

    LABELS = "labels"
    STRUCTURE = "structure"
    MATCH = "match"
    OTHER = "other"
    CLOSEST = "closest"
    PLACE = "place"
    NOUN = "noun"
    CUES = "cues"
    WORDS = "words"


PAPER = (Group.LABELS, Group.STRUCTURE, Group.MATCH, Group.OTHER, Group.CLOSEST)
OWN = (Group.PLACE, Group.NOUN, Group.CUES, Group.WORDS)


@dataclass(frozen=True, slots=True)
class LinearFeatures:
    """Which groups, at least one, in the order of Group; and whether they are crossed.

    crossed: features of the anchor have a weight for each class. Without it a feature is told
    once for the pair; then features of the anchor are the same for all of its candidates, so
    that they cannot tell them apart, and are left out.
    """

    groups: tuple[Group, ...] = tuple(Group)
    crossed: bool = True

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("no feature is left to choose by")
