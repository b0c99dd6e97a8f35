"""How one person's answers change in the course of the work, and response patterns that look
like answering without reading.

Answers are put in the order of their times and cut into blocks. Whether something rises or
falls is tested on the answers, not on the blocks: by Spearman's rank correlation of the
order of answering with the outcome (right or wrong, this kind or another, seconds). For an
outcome of two values that is the trend test on ranks; it asks for a steady rise or fall.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby, pairwise
from math import log
from typing import Literal

from nfh_models.agreement.competence import Mark, Together, exact_share
from nfh_models.agreement.measure import AnsweredAnchor, Measure, undefined
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
class WorkPeriod:
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
    blocks: tuple[WorkPeriod, ...]
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


def _block(marks: Sequence[Mark], limit: float | None, a_day: Mapping[str, int]) -> WorkPeriod:
    days = {_day(mark) for mark in marks}
    decided = [mark.expert for mark in marks if mark.expert is not None]
    agreeing = [mark.agreeing for mark in marks if mark.agreeing is not None]
    return WorkPeriod(
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


# What looks like answering without reading, said in plain words.
#
# A habit is told, never proved: the person may be quick, or their items may be alike.

LEAST = 20
"""Answers, or items in common, by which a habit is told of."""

FAST = 2.0
"""Seconds in which nobody reads a passage: at 250 words a minute eight words."""
FAST_SHARE = 0.05

ONE_KIND = 0.95
"""Share of one kind from which on it is all that somebody says."""
OTHERS_AT_MOST = 0.8
"""Share of that kind among the others' majorities on the same items, else it is the items."""

IMPROBABLE = 0.001
"""Probability of a run of one kind, given how often the person says that kind."""

NEAREST = 0.95
"""Share of the closest noun from which on it looks like a rule; of the release's development
split, 59 % of the heads are that noun."""

SAME = 0.98
LEAST_UNLIKE = 5
"""Two people's answers are told to be the same if all but a few are, and some are neither
what a third says nor the expert: on easy items everybody is the same."""


@dataclass(frozen=True, slots=True)
class Habit:
    """name: fast, one-kind, run, closest-noun or copies. sentence: what was found."""

    name: str
    sentence: str


def habits(
    name: str,
    marks: Sequence[Mark],
    together: Mapping[tuple[str, str], Together],
    closest: tuple[int, int] = (0, 0),
) -> tuple[Habit, ...]:
    """What looks odd in one person's votes. closest: as `closest_nouns` gives it."""
    found = (*_fast(marks), *_one_kind(marks), *_run(marks), *_closest(*closest))
    return (*found, *_copies(name, together))


def closest_nouns(items: Iterable[AnsweredAnchor]) -> dict[str, tuple[int, int]]:
    """By person: how many votes REFERENCE name the closest noun, and of how many; looked at
    are the items whose closest noun is known."""
    counts: dict[str, tuple[int, int]] = {}
    for item in items:
        if item.nearest is None:
            continue
        noun = item.lemmas[item.nearest].casefold()
        for name, vote in item.votes.items():
            if vote.answer.kind is Kind.REFERENCE:
                lemmas = {item.lemmas[t].casefold() for t in vote.answer.head_tokens()}
                named, looked = counts.get(name, (0, 0))
                counts[name] = named + (noun in lemmas), looked + 1
    return counts


def _fast(marks: Sequence[Mark]) -> Iterator[Habit]:
    timed = [mark for mark in marks if mark.seconds is not None]
    fast = [mark for mark in timed if mark.seconds is not None and mark.seconds < FAST]
    if len(timed) < LEAST or len(fast) < FAST_SHARE * len(timed):
        return
    sentence = f"{len(fast):,} of {len(timed):,} answers took less than {FAST:g} seconds"
    slow = [mark for mark in timed if mark.seconds is not None and mark.seconds >= FAST]
    quick, careful = _right(fast), _right(slow)
    if quick[1] and careful[1]:
        sentence += (
            f"; the expert agrees with {quick[0]:,} of {quick[1]:,} of these, and with "
            f"{careful[0]:,} of {careful[1]:,} others"
        )
    yield Habit("fast", sentence + ".")


def _right(marks: Sequence[Mark]) -> tuple[int, int]:
    decided = [mark.expert for mark in marks if mark.expert is not None]
    return sum(answer.equal for answer in decided), len(decided)


def _one_kind(marks: Sequence[Mark]) -> Iterator[Habit]:
    if len(marks) < LEAST:
        return
    kind, times = Counter(mark.kind for mark in marks).most_common(1)[0]
    if times < ONE_KIND * len(marks):
        return
    sentence = f"{times:,} of {len(marks):,} answers are {kind}"
    others = [mark.majority for mark in marks if mark.majority is not None]
    same = sum(other is kind for other in others)
    if others and same > OTHERS_AT_MOST * len(others):
        return
    if others:
        sentence += (
            f"; the others' majority says so on {same:,} of {len(others):,} of the same items"
        )
    yield Habit("one-kind", sentence + ".")


def _run(marks: Sequence[Mark]) -> Iterator[Habit]:
    """A run that chance gives less than once in a thousand such lists of answers."""
    if len(marks) < LEAST or no_order(marks) is not None:
        return
    kinds = [mark.kind for mark in in_order(marks)]
    length, kind = _longest(kinds)
    share = kinds.count(kind) / len(kinds)
    if share == 1 or log(len(kinds)) + length * log(share) > log(IMPROBABLE):
        return
    yield Habit(
        "run",
        f"{length:,} answers one after the other are {kind}, which is {share:.0%} of all "
        f"{len(kinds):,}; chance would hardly do that, equal items in a row would.",
    )


def _longest(kinds: Sequence[Kind]) -> tuple[int, Kind]:
    best, length = (1, kinds[0]), 1
    for before, kind in pairwise(kinds):
        length = length + 1 if kind is before else 1
        best = max(best, (length, kind), key=lambda run: run[0])
    return best


def _closest(named: int, looked: int) -> Iterator[Habit]:
    if looked < LEAST or named < NEAREST * looked:
        return
    yield Habit(
        "closest-noun",
        f"{named:,} of {looked:,} answers REFERENCE that were looked at name the closest noun.",
    )


def _copies(name: str, together: Mapping[tuple[str, str], Together]) -> Iterator[Habit]:
    for pair, both in together.items():
        if name not in pair or both.items < LEAST or both.unlike < LEAST_UNLIKE:
            continue
        if both.same >= SAME * both.items:
            other = pair[pair[0] == name]
            yield Habit(
                "copies",
                f"{both.same:,} of {both.items:,} answers are the same as {other}'s in every "
                f"mention, {both.unlike:,} of them where somebody else says another thing.",
            )
