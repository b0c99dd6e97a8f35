"""Key strokes in figures: what kind of item, how many keys, against which baselines."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import mean, median

from nfh_db.records import AnchorItem
from nfh_models.domain import Answer, Kind, compare, same_head
from strokes.data import ME, Corpus, annotators
from strokes.plan import Keys, Means, Planner, is_right
from strokes.simulated import CLASSES


class Group(Enum):
    """What an item asks of the one who decides it; the value is what is printed."""

    AGREED = "agreed, and right"
    SETTLED = "disagreed, one answer is right"
    COMBINED = "heads of several answers together"
    CLASS = "a class that nobody gave"
    MARKED = "a new head must be marked"


GOALS = {Group.SETTLED: 2.0, Group.MARKED: 4.0}
"""The median of keys that is asked for."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An item, in the queue's order, and its keys by what may be pressed."""

    item: AnchorItem
    gold: Answer
    group: Group
    keys: Keys
    nouns: int
    arrows: int


def group_of(item: AnchorItem, gold: Answer) -> Group:
    """Which of the groups an item belongs to."""
    answers = [vote.answer for vote in annotators(item)]
    right = [is_right(answer, gold, item) for answer in answers]
    if any(right):
        words = item.passage.lemmas
        same = all(compare(answers[0], one, words).blocking is None for one in answers)
        return Group.AGREED if same and all(right) else Group.SETTLED
    if gold.kind is not Kind.REFERENCE:
        return Group.CLASS
    marked = [head for answer in answers for head in answer.heads]
    found = [
        any(same_head(head, other, item.passage.lemmas) for other in marked)
        for head in gold.heads
    ]
    return Group.COMBINED if all(found) else Group.MARKED


def planned(corpus: Corpus) -> list[Planned]:
    """The shortest keys of every item. Raises SystemExit where there are none."""
    return [_planned(item, corpus.gold[item.public_id]) for item in corpus.items()]


def _planned(item: AnchorItem, gold: Answer) -> Planned:
    # The baselines know no model: where one scores every word, each counts as a noun.
    plain = replace(item, prediction=None)
    found = {
        means: Planner(item if means is Means.ALL else plain, gold, ME, means).shortest()
        for means in Means
    }
    if any(keys is None for keys in found.values()):
        raise SystemExit(f"no keys lead to the answer of {item.public_id}")
    keys = found[Means.ALL] or ()
    nouns, arrows = (len(found[means] or ()) for means in (Means.NOUNS, Means.ARROWS))
    return Planned(item, gold, group_of(item, gold), keys, nouns, arrows)


def lines(plans: Sequence[Planned]) -> Iterable[str]:
    """A table: each group, then all."""
    yield (
        f"  {'':<40}{'items':>6}{'median':>8}{'mean':>7}{'p90':>5}"
        f"{'1':>7}{'2':>6}{'3':>6}{'4+':>6}   {'noun by noun':>16}{'word by word':>18}"
    )
    groups: dict[Group, list[Planned]] = defaultdict(list)
    for one in plans:
        groups[one.group].append(one)
    for group in Group:
        if groups[group]:
            goal = f" (goal {GOALS[group]:.0f})" if group in GOALS else ""
            yield _line(group.value + goal, groups[group])
    yield _line("all", plans)


def _line(name: str, plans: Sequence[Planned]) -> str:
    counts = [len(one.keys) for one in plans]
    shares = Counter(min(count, 4) for count in counts)
    share = "".join(
        f"{shares[keys] / len(counts):>{6 + (keys == 1)}.0%}" for keys in (1, 2, 3, 4)
    )
    return (
        f"  {name:<40}{len(counts):>6}{median(counts):>8.1f}{mean(counts):>7.2f}"
        f"{p90(counts):>5}{share}   {_against([one.nouns for one in plans], counts):>16}"
        f"{_against([one.arrows for one in plans], counts):>18}"
    )


def _against(baseline: Sequence[int], counts: Sequence[int]) -> str:
    ratio = mean(baseline) / mean(counts)
    return f"{median(baseline):.1f} {mean(baseline):.2f} {ratio:.1f}x"


def p90(counts: Sequence[int]) -> int:
    """What nine in ten do not exceed."""
    return sorted(counts)[min(len(counts) - 1, int(len(counts) * 0.9))]


def medians(plans: Sequence[Planned]) -> dict[Group, float]:
    """The median of keys of each group that has a goal."""
    return {
        group: median(len(one.keys) for one in plans if one.group is group)
        for group in GOALS
        if any(one.group is group for one in plans)
    }


def agreement(plans: Sequence[Planned]) -> str:
    """How far the three agree on the class: unanimous, two of three, none, and kappa."""
    rows = [_classes(one.item) for one in plans]
    patterns = Counter(len(set(row)) for row in rows)
    each = Counter(kind for row in rows for kind in row)
    votes = sum(each.values())
    chance = sum((count / votes) ** 2 for count in each.values())
    pairs = sum(sum(row.count(kind) - 1 for kind in row) / 6 for row in rows) / len(rows)
    parts = " / ".join(f"{patterns[size] / len(rows):.1%}" for size in (1, 2, 3))
    return f"{parts}, Fleiss kappa {(pairs - chance) / (1 - chance):.2f}"


def _classes(item: AnchorItem) -> tuple[Kind, ...]:
    kinds = [vote.answer.kind for vote in annotators(item)]
    return tuple(kind if kind in CLASSES else Kind.OTHER for kind in kinds)
