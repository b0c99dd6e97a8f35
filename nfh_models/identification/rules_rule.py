"""What a rule of the recipe `rules` is."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nfh_models.identification.rules_view import View

Test = Callable[[View], bool]


class Group(StrEnum):
    """Which part of the method a rule belongs to; a group can be left out as a whole."""

    PATTERNS = "patterns"
    NAMES = "names"
    CURRENCY = "currency"
    DEPENDENCY = "dependency"
    PHRASES = "phrases"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: where its test holds, and that of no rule before it, it decides.

    name: stays the same for good, since stored decisions carry it. nfh: what it decides.
    sentence: for a person, why. source: where it is from.
    """

    name: str
    nfh: bool
    group: Group
    sentence: str
    source: str
    test: Test
