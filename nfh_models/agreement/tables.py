"""Everybody's answers as tables of numbers, collected from a stream in one pass."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from nfh_models.agreement.bootstrap import Ints
from nfh_models.agreement.coding import CLASSES, CODE, CODED, KINDS, OTHER, UNKNOWN
from nfh_models.agreement.judged import Judged
from nfh_models.agreement.pairs import PairList, Pairs
from nfh_models.domain import Answer, Comparison, compare_all

EXPERT = 0
"""The one right side of `Tables.against`: what the expert decided."""

ALIKE = Comparison()

NO_OVERLAP = "No two annotators answered the same item."
ONLY_NFH = "Wherever two annotators answered, one says NFH, which names no kind."


@dataclass(frozen=True, slots=True)
class Tables:
    """What all measures are made from.

    passage: of each item, shape (items,). counts: votes of each item by kind, shape (items,
    kinds), in the order of CODED. pattern: of each item, an index into `patterns`, by noun.
    people, experts: names by number, sorted. answers, decisions: how many each of them gave.
    votes: pairs of annotators, left < right. against: each annotator (left) against what an
    expert decided (right is EXPERT). doubles: pairs of experts, left < right. own: how many
    items of each annotator are not in `against`, since the expert was themselves.
    expert_items: how many items an expert decided.
    """

    passage: Ints
    counts: Ints
    pattern: Ints
    patterns: tuple[str, ...]
    people: tuple[str, ...]
    experts: tuple[str, ...]
    answers: Mapping[str, int]
    decisions: Mapping[str, int]
    votes: Pairs
    against: Pairs
    doubles: Pairs
    own: Mapping[str, int]
    expert_items: int

    @property
    def items(self) -> int:
        """How many items there are, answered or not."""
        return len(self.passage)

    @property
    def lack(self) -> str:
        """What to say where there are no two annotators' answers that can be compared."""
        if not self.items:
            return "The query finds no item."
        if not self.people:
            return "Nobody has answered these items as an annotator."
        if len(self.people) == 1:
            return f"Only {self.people[0]} answered these items; agreement needs two people."
        return ONLY_NFH if len(self.votes) else NO_OVERLAP

    @property
    def passages(self) -> int:
        """How many passages the items stand in."""
        return len(np.unique(self.passage))

    @property
    def kinds(self) -> Ints:
        """Votes of each item that name a kind, shape (items, kinds without NFH)."""
        return self.counts[:, : len(KINDS)]

    @property
    def classes(self) -> Ints:
        """Votes of each item by the paper's seven classes: UNKNOWN is OTHER."""
        classes = self.counts[:, : len(CLASSES)].copy()
        classes[:, OTHER] += self.counts[:, UNKNOWN]
        return classes

    @property
    def outside(self) -> Ints:
        """Votes of each item that none of the seven classes holds."""
        outside: Ints = self.counts[:, UNKNOWN + 1 :].sum(axis=1)
        return outside


def collect(items: Iterable[Judged]) -> Tables:
    """The tables of these items. They are looked at one by one, and none is kept."""
    collected = _Collected()
    for item in items:
        collected.add(item)
    return collected.done()


def decision(item: Judged) -> Answer | None:
    """What an expert decided: the gold that one made, else the answer of the only expert."""
    if item.gold is not None and item.expert_gold:
        return item.gold
    if len(item.experts) == 1:
        return next(iter(item.experts.values())).answer
    return None


@dataclass(slots=True)
class _Collected:
    """Tables in the making; people are numbered as they come."""

    passage: "array[int]" = field(default_factory=lambda: array("q"))
    counts: "array[int]" = field(default_factory=lambda: array("q"))
    pattern: "array[int]" = field(default_factory=lambda: array("q"))
    patterns: dict[str, int] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    experts: dict[str, int] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)
    votes: PairList = field(default_factory=PairList)
    against: PairList = field(default_factory=PairList)
    doubles: PairList = field(default_factory=PairList)
    own: Counter[str] = field(default_factory=Counter)
    expert_items: int = 0

    def add(self, item: Judged) -> None:
        """Take in one item."""
        place = (len(self.passage), item.passage)
        self.passage.append(item.passage)
        names = sorted(item.votes)
        answers = [item.votes[name].answer for name in names]
        counts = [0] * len(CODED)
        for answer in answers:
            counts[CODE[answer.kind]] += 1
        self.counts.extend(counts)
        self.answers.update(names)
        numbers = [self.people.setdefault(name, len(self.people)) for name in names]
        pattern = _add_pairs(self.votes, place, numbers, answers, item.lemmas)
        self.pattern.append(self.patterns.setdefault(pattern, len(self.patterns)))
        self._add_experts(place, item)

    def _add_experts(self, place: tuple[int, int], item: Judged) -> None:
        names = sorted(item.experts)
        self.decisions.update(names)
        numbers = [self.experts.setdefault(name, len(self.experts)) for name in names]
        if len(names) > 1:
            answers = [item.experts[name].answer for name in names]
            _add_pairs(self.doubles, place, numbers, answers, item.lemmas)
        decided = decision(item)
        if decided is None:
            return
        self.expert_items += 1
        for name, vote in sorted(item.votes.items()):
            if name in item.experts:
                self.own[name] += 1
            else:
                people = (self.people[name], EXPERT)
                self.against.add(place, people, (vote.answer, decided), item.lemmas)

    def done(self) -> Tables:
        """The tables, people in the order of their names."""
        people, experts = sorted(self.people), sorted(self.experts)
        return Tables(
            np.array(self.passage, dtype=np.int64),
            np.array(self.counts, dtype=np.int64).reshape(-1, len(CODED)),
            np.array(self.pattern, dtype=np.int64),
            tuple(self.patterns),
            tuple(people),
            tuple(experts),
            dict(self.answers),
            dict(self.decisions),
            _renumbered(self.votes.done(), self.people, self.people),
            _renumbered(self.against.done(), self.people, {"": EXPERT}),
            _renumbered(self.doubles.done(), self.experts, self.experts),
            dict(self.own),
            self.expert_items,
        )


def _add_pairs(
    pairs: PairList,
    place: tuple[int, int],
    people: Sequence[int],
    answers: Sequence[Answer],
    lemmas: Sequence[str],
) -> str:
    """Add each pair of these answers; the pattern of all of them."""
    found = compare_all(answers, lemmas)
    differences = {(one.left, one.right): one for one in found.differences}
    for i, j in combinations(range(len(answers)), 2):
        one = differences.get((i, j))
        how = Comparison(one.blocking, one.notes) if one else ALIKE
        pairs.add(place, (people[i], people[j]), (answers[i], answers[j]), lemmas, how)
    return found.pattern


def _renumbered(pairs: Pairs, left: Mapping[str, int], right: Mapping[str, int]) -> Pairs:
    """The pairs with people numbered in the order of their names."""
    return replace(pairs, left=_ranks(left)[pairs.left], right=_ranks(right)[pairs.right])


def _ranks(people: Mapping[str, int]) -> Ints:
    """The rank of each number's name, shape (people,)."""
    ranks = np.zeros(len(people), dtype=np.int64)
    for rank, name in enumerate(sorted(people)):
        ranks[people[name]] = rank
    return ranks
