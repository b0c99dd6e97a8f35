"""What a measure is: a value with its interval, or a sentence that says why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass

NOT_ASKED = "No intervals were asked for."
"""Why a measure has no interval where nobody wanted one."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure. Fractions, and coefficients that are at most 1; never NaN.

    value: None where it is not defined. low, high: of the 95 % interval; both None where
    there is none. n: how many items, pairs or votes it rests on (each function says which).
    why: why there is no value or, where there is one, why it has no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a measure does not look at, and how many of them.

    why: begins with what they are, in the plural: "items that", "pairs in which".
    """

    why: str
    n: int


def undefined(why: str, n: int = 0) -> Measure:
    """A measure that has no value, and the sentence that says why."""
    return Measure(None, None, None, n, why)


def left_out(reasons: Mapping[str, int]) -> tuple[LeftOut, ...]:
    """The reasons that hold for anything."""
    return tuple(LeftOut(why, int(n)) for why, n in reasons.items() if n)
