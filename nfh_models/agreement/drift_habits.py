"""What looks like answering without reading, said in plain words.

A habit is told, never proved: the person may be quick, or their items may be alike.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from nfh_models.agreement.competence import Mark, Together
from nfh_models.agreement.drift import in_order, no_order
from nfh_models.agreement.judged import Judged
from nfh_models.domain import Kind

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


def closest_nouns(items: Iterable[Judged]) -> dict[str, tuple[int, int]]:
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
