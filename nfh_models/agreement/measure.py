"""What agreement is measured on and what a measure is: anchors with everybody's answers,
kinds as numbers, and a value with its interval or the reason why there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_models.domain import PAPER_CLASSES, Anchor, Answer, Blocking, Kind

CODED: tuple[Kind, ...] = tuple(Kind)
"""Every kind by its code: REFERENCE 0, YEAR 1 … UNKNOWN 7, NOT_NFH 8, BROKEN 9, NFH 10."""

CODE: dict[Kind, int] = {kind: code for code, kind in enumerate(CODED)}

KINDS: tuple[Kind, ...] = CODED[: CODE[Kind.NFH]]
"""What a vote may name, by code. NFH names nothing, and could become any but NOT_NFH."""

CLASSES = PAPER_CLASSES
"""The paper's seven classes; their codes are those of the kinds, and UNKNOWN is OTHER."""

BLOCKING: tuple[Blocking, ...] = tuple(Blocking)
"""Differences by code, strongest first."""

REFERENCE = CODE[Kind.REFERENCE]
OTHER = CODE[Kind.OTHER]
UNKNOWN = CODE[Kind.UNKNOWN]
NOT_NFH = CODE[Kind.NOT_NFH]
BROKEN = CODE[Kind.BROKEN]
NFH = CODE[Kind.NFH]
EQUAL = -1
"""Stands in a column of differences where nothing blocks."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One person's answer, with when and how fast it was given.

    at: UTC, ISO 8601. seconds: of work on it; None where nobody measured.
    """

    answer: Answer
    at: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class AnsweredAnchor:
    """One anchor with the answers of everybody, by name.

    passage: any number that tells passages apart; intervals resample whole passages.
    lemmas: one a token of the passage. votes: annotators'. experts: adjudicators'; never
    mixed with votes. gold: the answer that counts, if there is one; expert_gold: whether an
    expert decided it. nearest: token of the closest noun before the anchor (else after it);
    None where that was not looked for, or there is no noun.
    """

    key: int
    passage: int
    anchor: Anchor
    lemmas: Sequence[str]
    votes: Mapping[str, Timed]
    experts: Mapping[str, Timed]
    gold: Answer | None = None
    expert_gold: bool = False
    nearest: int | None = None


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
