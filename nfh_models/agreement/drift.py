"""Change of one annotator's answers over time, and response patterns that suggest answering
without reading.

Answers are sorted by time and cut into blocks. Trends are tested on the answers, not on the
blocks: Spearman's rank correlation of the order of answering with the outcome (right or wrong,
one kind or another, seconds). For a binary outcome this is a rank test for a monotonic trend.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby, pairwise
from math import log
from typing import Literal

from nfh_models.agreement.competence import JudgedVote, PairOverlap, exact_share
from nfh_models.agreement.measure import AnsweredAnchor, Measure, undefined
from nfh_models.domain import Kind

Cut = Literal["tenths", "weeks", "days"]

MOST_BLOCKS = 10
LEAST_IN_BLOCK = 10
"""Answers in a block of equal size; with fewer than twice that, there is one block."""

BREAK = 120.0
"""Seconds; shorter times are never taken for a break."""
FAR_OUT = 3.0
"""Interquartile ranges above the third quartile beyond which a time contains a break: the outer
fence of Tukey 1977, Exploratory Data Analysis, section 2D.
"""

LEAST_TESTED = 30
"""Answers that a trend is tested on."""
LEAST_OF_EITHER = 5
"""Answers of the rarer outcome: right or wrong, one kind or another."""
ALPHA = 0.05

TIES = 0.5
"""Share of answers with one and the same time above which the order is unknown."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Working time for one answer: quartiles."""

    n: int
    """Answers with a time, without breaks."""
    lower: float
    median: float
    upper: float
    breaks: int
    """Answers left out since their time contains a break."""
    limit: float
    """Seconds above which a time contains a break."""


@dataclass(frozen=True, slots=True)
class WorkPeriod:
    """A block of one annotator's answers."""

    first: str
    last: str
    """Times of the first and the last answer."""
    answers: int
    a_day: float
    """Answers per day (UTC) on the days of this block, those of other blocks included."""
    right: Measure
    """Share without a blocking difference to the adjudicators; n counts decided items."""
    agreeing: Measure
    """Mean share of the other votes that agree; n counts items with other votes."""
    kinds: Mapping[Kind, int]
    seconds: Seconds | None


@dataclass(frozen=True, slots=True)
class Trend:
    """One test of a trend."""

    what: str
    """The name of the outcome."""
    n: int
    rho: float
    """Spearman's rho, above 0 for a rise."""
    p: float
    """Of this test alone."""
    q: float | None = None
    """After Benjamini and Hochberg 1995 (JRSS B 57:289-300) over all tests of the report; None
    before.
    """

    @property
    def holds(self) -> bool:
        """Whether it is reported: q below ALPHA."""
        return self.q is not None and self.q < ALPHA


@dataclass(frozen=True, slots=True)
class Drift:
    """One annotator's answers over time."""

    why: str | None
    """Why the order of the answers is unknown; then there are no blocks."""
    blocks: tuple[WorkPeriod, ...]
    trends: tuple[Trend, ...]
    seconds: Seconds | None


def drift(votes: Sequence[JudgedVote], cut: Cut = "tenths") -> Drift:
    """Blocks and trends of one annotator's votes; `q` of the trends is not computed yet."""
    limit = _break_limit(votes)
    seconds = _seconds(votes, limit)
    why = no_order(votes)
    if why is not None:
        return Drift(why, (), (), seconds)
    ordered = in_order(votes)
    a_day = Counter(map(_day, ordered))
    blocks = tuple(_block(some, limit, a_day) for some in _cut(ordered, cut))
    return Drift(None, blocks, tuple(_trends(ordered, limit)), seconds)


def no_order(votes: Sequence[JudgedVote]) -> str | None:
    """Why the order of the answers is unknown; None if it is known."""
    if not votes:
        return "There are no answers."
    time, times = Counter(mark.at for mark in votes).most_common(1)[0]
    if len(votes) > 1 and times > TIES * len(votes):
        return (
            f"{times:,} of {len(votes):,} answers have the same time ({time}), as in a file "
            "without times, so they have no order."
        )
    return None


def in_order(votes: Sequence[JudgedVote]) -> list[JudgedVote]:
    return sorted(votes, key=lambda mark: (mark.at, mark.item))


# --- blocks ------------------------------------------------------------------------------


def _cut(ordered: Sequence[JudgedVote], cut: Cut) -> Iterator[Sequence[JudgedVote]]:
    if cut == "tenths":
        number = max(1, min(MOST_BLOCKS, len(ordered) // LEAST_IN_BLOCK))
        for i in range(number):
            yield ordered[len(ordered) * i // number : len(ordered) * (i + 1) // number]
        return
    for _, some in groupby(ordered, key=_week if cut == "weeks" else _day):
        yield list(some)


def _day(mark: JudgedVote) -> str:
    return mark.at[:10]


def _week(mark: JudgedVote) -> str:
    try:
        year, week, _ = date.fromisoformat(mark.at[:10]).isocalendar()
    except ValueError:
        return mark.at[:10]
    return f"{year} {week}"


def _block(
    votes: Sequence[JudgedVote], limit: float | None, a_day: Mapping[str, int]
) -> WorkPeriod:
    days = {_day(mark) for mark in votes}
    decided = [mark.expert for mark in votes if mark.expert is not None]
    agreeing = [mark.agreeing for mark in votes if mark.agreeing is not None]
    return WorkPeriod(
        votes[0].at,
        votes[-1].at,
        len(votes),
        sum(a_day[day] for day in days) / len(days),
        exact_share(
            sum(a.equal for a in decided), len(decided), "No adjudicator decided these."
        ),
        _mean(agreeing),
        dict(Counter(mark.kind for mark in votes)),
        _seconds(votes, limit),
    )


def _mean(shares: Sequence[float]) -> Measure:
    if not shares:
        return undefined("Nobody else answered these.")
    why = "This is a mean of shares, so there is no exact interval."
    return Measure(sum(shares) / len(shares), None, None, len(shares), why)


# --- seconds -----------------------------------------------------------------------------


def _break_limit(votes: Sequence[JudgedVote]) -> float | None:
    known = sorted(mark.seconds for mark in votes if mark.seconds is not None)
    if not known:
        return None
    lower, _, upper = _quartiles(known)
    return max(BREAK, upper + FAR_OUT * (upper - lower))


def _seconds(votes: Sequence[JudgedVote], limit: float | None) -> Seconds | None:
    known = sorted(mark.seconds for mark in votes if mark.seconds is not None)
    if limit is None or not known:
        return None
    kept = [seconds for seconds in known if seconds <= limit]
    if not kept:
        return None
    return Seconds(len(kept), *_quartiles(kept), len(known) - len(kept), limit)


def _quartiles(ordered: Sequence[float]) -> tuple[float, float, float]:
    """With linear interpolation."""
    return _quantile(ordered, 0.25), _quantile(ordered, 0.5), _quantile(ordered, 0.75)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


# --- trends ------------------------------------------------------------------------------


def _trends(ordered: Sequence[JudgedVote], limit: float | None) -> Iterator[Trend]:
    given = [mark.seconds for mark in ordered if mark.seconds is not None]
    tried = [
        _trend(
            "right by the adjudicator", [float(m.expert.equal) for m in ordered if m.expert]
        ),
        _trend(
            "agreeing with the others", [m.agreeing for m in ordered if m.agreeing is not None]
        ),
        _trend("seconds", [seconds for seconds in given if seconds <= (limit or 0.0)]),
        *kind_trends([mark.kind for mark in ordered]),
    ]
    yield from (trend for trend in tried if trend is not None)


def kind_trends(kinds: Sequence[Kind]) -> Iterator[Trend]:
    """A test for each kind that is neither rare nor constant. kinds: in the order of
    answering.
    """
    for kind in Kind:
        found = _trend(kind.value, [float(one is kind) for one in kinds])
        if found is not None:
            yield found


def _trend(what: str, outcomes: Sequence[float]) -> Trend | None:
    """None where there are too few outcomes, or too few of the rarer value."""
    commonest = Counter(outcomes).most_common(1)
    if len(outcomes) < LEAST_TESTED or len(outcomes) - commonest[0][1] < LEAST_OF_EITHER:
        return None
    if set(outcomes) <= {0.0, 1.0} and commonest[0][1] < LEAST_OF_EITHER:
        return None
    from scipy.stats import spearmanr

    found = spearmanr(range(len(outcomes)), outcomes)
    return Trend(what, len(outcomes), float(found.statistic), float(found.pvalue))


def corrected(trends: Sequence[Trend]) -> list[Trend]:
    """The trends with `q`, computed over all of them."""
    if not trends:
        return []
    from scipy.stats import false_discovery_control

    adjusted = false_discovery_control([trend.p for trend in trends])
    return [replace(trend, q=float(q)) for trend, q in zip(trends, adjusted, strict=True)]


# --- response patterns that suggest answering without reading ---------------------------------
#
# They are reported, and are no proof: the person may be quick, or their items may be alike.

LEAST = 20
"""Answers, or items in common, that a pattern must rest on."""

FAST = 2.0
"""Seconds in which nobody reads a passage: eight words at 250 words a minute."""
FAST_SHARE = 0.05

ONE_KIND = 0.95
"""Share of one kind above which it is nearly all that a person answers."""
OTHERS_AT_MOST = 0.8
"""If more of the others' majorities have that kind on the same items, the items explain it."""

IMPROBABLE = 0.001
"""Probability of a run of one kind, given how often the person answers that kind."""

NEAREST = 0.95
"""Share of the closest noun above which it looks like a rule; in the release's development
split, 59 % of the heads are that noun.
"""

SAME = 0.98
LEAST_UNLIKE = 5
"""Identical answers of two people are reported if nearly all are, and at least this many differ
from a third person or the adjudicator: on easy items everybody agrees.
"""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A suspicious response pattern."""

    name: str
    """fast, one-kind, run, closest-noun or copies."""
    sentence: str
    """For the report."""


def habits(
    name: str,
    votes: Sequence[JudgedVote],
    together: Mapping[tuple[str, str], PairOverlap],
    closest: tuple[int, int] = (0, 0),
) -> tuple[Suspicion, ...]:
    """The suspicious patterns in one annotator's votes. closest: from `closest_nouns`."""
    found = (*_fast(votes), *_one_kind(votes), *_run(votes), *_closest(*closest))
    return (*found, *_copies(name, together))


def closest_nouns(items: Iterable[AnsweredAnchor]) -> dict[str, tuple[int, int]]:
    """By annotator: votes REFERENCE that name the closest noun, and votes REFERENCE on items
    whose closest noun is known.
    """
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


def _fast(votes: Sequence[JudgedVote]) -> Iterator[Suspicion]:
    timed = [mark for mark in votes if mark.seconds is not None]
    fast = [mark for mark in timed if mark.seconds is not None and mark.seconds < FAST]
    if len(timed) < LEAST or len(fast) < FAST_SHARE * len(timed):
        return
    sentence = f"{len(fast):,} of {len(timed):,} answers took less than {FAST:g} seconds"
    slow = [mark for mark in timed if mark.seconds is not None and mark.seconds >= FAST]
    quick, careful = _right(fast), _right(slow)
    if quick[1] and careful[1]:
        sentence += (
            f"; the adjudicator agrees with {quick[0]:,} of {quick[1]:,} of these, and with "
            f"{careful[0]:,} of {careful[1]:,} others"
        )
    yield Suspicion("fast", sentence + ".")


def _right(votes: Sequence[JudgedVote]) -> tuple[int, int]:
    decided = [mark.expert for mark in votes if mark.expert is not None]
    return sum(answer.equal for answer in decided), len(decided)


def _one_kind(votes: Sequence[JudgedVote]) -> Iterator[Suspicion]:
    if len(votes) < LEAST:
        return
    kind, times = Counter(mark.kind for mark in votes).most_common(1)[0]
    if times < ONE_KIND * len(votes):
        return
    sentence = f"{times:,} of {len(votes):,} answers are {kind}"
    others = [mark.majority for mark in votes if mark.majority is not None]
    same = sum(other is kind for other in others)
    if others and same > OTHERS_AT_MOST * len(others):
        return
    if others:
        sentence += (
            f"; the others' majority says so on {same:,} of {len(others):,} of the same items"
        )
    yield Suspicion("one-kind", sentence + ".")


def _run(votes: Sequence[JudgedVote]) -> Iterator[Suspicion]:
    """A run with a chance probability of less than IMPROBABLE."""
    if len(votes) < LEAST or no_order(votes) is not None:
        return
    kinds = [mark.kind for mark in in_order(votes)]
    length, kind = _longest(kinds)
    share = kinds.count(kind) / len(kinds)
    if share == 1 or log(len(kinds)) + length * log(share) > log(IMPROBABLE):
        return
    yield Suspicion(
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


def _closest(named: int, looked: int) -> Iterator[Suspicion]:
    if looked < LEAST or named < NEAREST * looked:
        return
    yield Suspicion(
        "closest-noun",
        f"{named:,} of {looked:,} examined answers REFERENCE name the closest noun.",
    )


def _copies(name: str, together: Mapping[tuple[str, str], PairOverlap]) -> Iterator[Suspicion]:
    for pair, both in together.items():
        if name not in pair or both.items < LEAST or both.unlike < LEAST_UNLIKE:
            continue
        if both.same >= SAME * both.items:
            other = pair[pair[0] == name]
            yield Suspicion(
                "copies",
                f"{both.same:,} of {both.items:,} answers are the same as {other}'s in every "
                f"mention, {both.unlike:,} of them where somebody else says another thing.",
            )
