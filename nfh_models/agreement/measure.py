"""The records that agreement is computed from, integer codes of kinds, and the type of a
result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_models.domain import PAPER_CLASSES, Anchor, Answer, Blocking, Kind

CODED: tuple[Kind, ...] = tuple(Kind)
"""Every kind by its code: REFERENCE 0, YEAR 1, ..., UNKNOWN 7, NOT_NFH 8, BROKEN 9, NFH 10."""

CODE: dict[Kind, int] = {kind: code for code, kind in enumerate(CODED)}

KINDS: tuple[Kind, ...] = CODED[: CODE[Kind.NFH]]
"""The kinds that name something, by code. NFH is not among them: it could become any but
NOT_NFH.
"""

CLASSES = PAPER_CLASSES
"""The paper's seven classes; their codes are those of the kinds. UNKNOWN counts as OTHER."""

BLOCKING: tuple[Blocking, ...] = tuple(Blocking)
"""Blocking differences by code, strongest first."""

REFERENCE = CODE[Kind.REFERENCE]
OTHER = CODE[Kind.OTHER]
UNKNOWN = CODE[Kind.UNKNOWN]
NOT_NFH = CODE[Kind.NOT_NFH]
BROKEN = CODE[Kind.BROKEN]
NFH = CODE[Kind.NFH]
EQUAL = -1
"""The code of "no blocking difference"."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The answer of one annotator, with its time."""

    answer: Answer
    at: str
    """UTC, ISO 8601."""
    seconds: float | None = None
    """Working time; None where it was not measured."""


@dataclass(frozen=True, slots=True)
class AnsweredAnchor:
    """One anchor with all its answers, by annotator."""

    key: int
    passage: int
    """The number of the passage; bootstrap intervals resample whole passages."""
    anchor: Anchor
    lemmas: Sequence[str]
    """One for each token of the passage."""
    votes: Mapping[str, Timed]
    """Answers of annotators."""
    experts: Mapping[str, Timed]
    """Answers of adjudicators; they are never mixed with votes."""
    gold: Answer | None = None
    """The gold answer, if there is one."""
    expert_gold: bool = False
    """Whether an adjudicator decided the gold."""
    nearest: int | None = None
    """The token of the closest noun before the anchor, else after it; None if there is none or
    it was not determined.
    """


NOT_ASKED = "Intervals were switched off."
"""Why a measure has no interval where no resampling was requested."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: a fraction, or a coefficient of at most 1; never NaN."""

    value: float | None
    """None where it is undefined."""
    low: float | None
    high: float | None
    """`low` and `high` are the 95 % interval; both None where there is none."""
    n: int
    """The number of items, pairs or votes; each function documents which."""
    why: str | None
    """Why there is no value or, where there is one, why there is no interval."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a measure excludes."""

    why: str
    """Begins with a plural noun: "items that", "pairs in which"."""
    n: int


def undefined(why: str, n: int = 0) -> Measure:
    """A measure without a value, and the sentence that says why."""
    return Measure(None, None, None, n, why)


def left_out(reasons: Mapping[str, int]) -> tuple[LeftOut, ...]:
    """The reasons with a count above 0."""
    return tuple(LeftOut(why, int(n)) for why, n in reasons.items() if n)
