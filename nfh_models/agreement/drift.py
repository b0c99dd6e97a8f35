"""How one person's answers change in the course of the work.

Answers are put in the order of their times and cut into blocks. Whether something rises or
falls is tested on the answers, not on the blocks: by Spearman's rank correlation of the
order of answering with the outcome (right or wrong, this kind or another, seconds). For an
outcome of two values that is the trend test on ranks; it asks for a steady rise or fall.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Literal

from nfh_models.agreement.competence import Mark
from nfh_models.agreement.competence_known import exact_share
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.domain import Kind

Cut = Literal["tenths", "weeks", "days"]

MOST_BLOCKS = 10
LEAST_IN_BLOCK = 10
"""Answers in a block of equal size; with fewer than twice that there is one block only."""

BREAK = 120.0
"""Seconds that are never taken for a break."""
FAR_OUT = 3.0
"""Interquartile ranges above the third quartile beyond which an answer holds a break: the
outer fence of Tukey 1977, Exploratory Data Analysis, section 2D."""

LEAST_TESTED = 30
"""Answers for which a trend is tested."""
LEAST_OF_EITHER = 5
"""Answers of the rarer outcome: right or wrong, this kind or another."""
ALPHA = 0.05

TIES = 0.5
"""Share of answers with one and the same time from which on there is no order."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Working time on one answer. n: answers with a time; breaks: how many more were left
    out as breaks; limit: the seconds above which they were."""

    n: int
    lower: float
    median: float
    upper: float
    breaks: int
    limit: float


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of one person's work.

    first, last: times of its first and last answer. a_day: how many answers they gave on a
    day (UTC) of this stretch, those of other stretches on that day included.
    right: nothing blocks against the expert; n counts what an expert decided.
    agreeing: mean share of the others that agree; n counts answers with others.
    """

    first: str
    last: str
    answers: int
    a_day: float
    right: Measure
    agreeing: Measure
    kinds: Mapping[Kind, int]
    seconds: Seconds | None


@dataclass(frozen=True, slots=True)
class Trend:
    """One test. what: of what. rho: Spearman's, above nought for a rise. p: of that test
    alone. q: after Benjamini and Hochberg 1995 (JRSS B 57:289-300) over all tests of the
    report; None until these are known."""

    what: str
    n: int
    rho: float
    p: float
    q: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it is told as a trend: q below 5 %."""
        return self.q is not None and self.q < ALPHA


@dataclass(frozen=True, slots=True)
class Drift:
    """One person's work over time. why: why there is no order in it; then no blocks."""

    why: str | None
    blocks: tuple[Block, ...]
    trends: tuple[Trend, ...]
    seconds: Seconds | None


def drift(marks: Sequence[Mark], cut: Cut = "tenths") -> Drift:
    """Blocks and trends of one person's votes; `q` of the trends is left open."""
    limit = _break_limit(marks)
    whole = _seconds(marks, limit)
    why = no_order(marks)
    if why is not None:
        return Drift(why, (), (), whole)
    ordered = in_order(marks)
    a_day = Counter(map(_day, ordered))
    blocks = tuple(_block(some, limit, a_day) for some in _cut(ordered, cut))
    return Drift(None, blocks, tuple(_trends(ordered, limit)), whole)


def no_order(marks: Sequence[Mark]) -> str | None:
    """Why answers cannot be put in the order in which they were given; None if they can."""
    if not marks:
        return "There are no answers."
    time, times = Counter(mark.at for mark in marks).most_common(1)[0]
    if len(marks) > 1 and times > TIES * len(marks):
        return (
            f"{times:,} of {len(marks):,} answers have one and the same time ({time}), as "
            "those of a file without times have: there is no order in them."
        )
    return None


def in_order(marks: Sequence[Mark]) -> list[Mark]:
    """The answers by time."""
    return sorted(marks, key=lambda mark: (mark.at, mark.item))


# --- blocks ------------------------------------------------------------------------------


def _cut(ordered: Sequence[Mark], cut: Cut) -> Iterator[Sequence[Mark]]:
    if cut == "tenths":
        number = max(1, min(MOST_BLOCKS, len(ordered) // LEAST_IN_BLOCK))
        for i in range(number):
            yield ordered[len(ordered) * i // number : len(ordered) * (i + 1) // number]
        return
    for _, some in groupby(ordered, key=_week if cut == "weeks" else _day):
        yield list(some)


def _day(mark: Mark) -> str:
    return mark.at[:10]


def _week(mark: Mark) -> str:
    try:
        year, week, _ = date.fromisoformat(mark.at[:10]).isocalendar()
    except ValueError:
        return mark.at[:10]
    return f"{year} {week}"


def _block(marks: Sequence[Mark], limit: float | None, a_day: Mapping[str, int]) -> Block:
    days = {_day(mark) for mark in marks}
    decided = [mark.expert for mark in marks if mark.expert is not None]
    agreeing = [mark.agreeing for mark in marks if mark.agreeing is not None]
    return Block(
        marks[0].at,
        marks[-1].at,
        len(marks),
        sum(a_day[day] for day in days) / len(days),
        exact_share(sum(a.equal for a in decided), len(decided), "No expert decided these."),
        _mean(agreeing),
        dict(Counter(mark.kind for mark in marks)),
        _seconds(marks, limit),
    )


def _mean(shares: Sequence[float]) -> Measure:
    if not shares:
        return undefined("Nobody else answered these.")
    why = "A mean of shares: no exact interval."
    return Measure(sum(shares) / len(shares), None, None, len(shares), why)


# --- seconds -----------------------------------------------------------------------------


def _break_limit(marks: Sequence[Mark]) -> float | None:
    known = sorted(mark.seconds for mark in marks if mark.seconds is not None)
    if not known:
        return None
    lower, _, upper = _quartiles(known)
    return max(BREAK, upper + FAR_OUT * (upper - lower))


def _seconds(marks: Sequence[Mark], limit: float | None) -> Seconds | None:
    known = sorted(mark.seconds for mark in marks if mark.seconds is not None)
    if limit is None or not known:
        return None
    kept = [seconds for seconds in known if seconds <= limit]
    if not kept:
        return None
    return Seconds(len(kept), *_quartiles(kept), len(known) - len(kept), limit)


def _quartiles(ordered: Sequence[float]) -> tuple[float, float, float]:
    """By linear interpolation between the values on either side."""
    return _quantile(ordered, 0.25), _quantile(ordered, 0.5), _quantile(ordered, 0.75)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


# --- trends ------------------------------------------------------------------------------


def _trends(ordered: Sequence[Mark], limit: float | None) -> Iterator[Trend]:
    tried = [
        _trend("right by the expert", [float(m.expert.equal) for m in ordered if m.expert]),
        _trend(
            "agreeing with the others", [m.agreeing for m in ordered if m.agreeing is not None]
        ),
        _trend(
            "seconds",
            [
                m.seconds
                for m in ordered
                if m.seconds is not None and m.seconds <= (limit or 0.0)
            ],
        ),
        *kind_trends([mark.kind for mark in ordered]),
    ]
    yield from (trend for trend in tried if trend is not None)


def kind_trends(kinds: Sequence[Kind]) -> Iterator[Trend]:
    """A test for each kind that is neither rare nor all. kinds: in order of answering."""
    for kind in Kind:
        found = _trend(kind.value, [float(one is kind) for one in kinds])
        if found is not None:
            yield found


def _trend(what: str, outcomes: Sequence[float]) -> Trend | None:
    """A test of outcomes in order; None where there are too few, or hardly two values."""
    commonest = Counter(outcomes).most_common(1)
    if len(outcomes) < LEAST_TESTED or len(outcomes) - commonest[0][1] < LEAST_OF_EITHER:
        return None
    if set(outcomes) <= {0.0, 1.0} and commonest[0][1] < LEAST_OF_EITHER:
        return None
    from scipy.stats import spearmanr

    found = spearmanr(range(len(outcomes)), outcomes)
    return Trend(what, len(outcomes), float(found.statistic), float(found.pvalue))


def corrected(trends: Sequence[Trend]) -> list[Trend]:
    """The trends with `q`, over all of them."""
    if not trends:
        return []
    from scipy.stats import false_discovery_control

    adjusted = false_discovery_control([trend.p for trend in trends])
    return [replace(trend, q=float(q)) for trend, q in zip(trends, adjusted, strict=True)]
