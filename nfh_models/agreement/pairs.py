"""Everybody's answers as tables of numbers, collected in one pass: pairs of answers to one
anchor, heads compared by noun and by mention, and vote patterns.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from typing import Self

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import Ints, Resampling, ratio
from nfh_models.agreement.measure import (
    BLOCKING,
    CLASSES,
    CODE,
    CODED,
    EQUAL,
    KINDS,
    NFH,
    OTHER,
    REFERENCE,
    UNKNOWN,
    AnsweredAnchor,
    LeftOut,
    Measure,
    left_out,
    undefined,
)
from nfh_models.domain import (
    Answer,
    Blocking,
    Comparison,
    DifferenceNote,
    Kind,
    compare,
    compare_all,
    same_head,
)

BLOCKING_CODE: dict[Blocking | None, int] = {
    None: EQUAL,
    **{kind: code for code, kind in enumerate(BLOCKING)},
}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of answers, one a row; every field is a column, shape (pairs,).

    item, passage: numbers that tell them apart. left, right: who, by number. left_kind,
    right_kind, blocking: codes of `measure`. heads: of both together; matched: how many of
    them are the same as one of the other's (both 0 unless both say REFERENCE). mention,
    extent: 1 where that is noted of heads that are the same.
    """

    item: Ints
    passage: Ints
    left: Ints
    right: Ints
    left_kind: Ints
    right_kind: Ints
    blocking: Ints
    heads: Ints
    matched: Ints
    mention: Ints
    extent: Ints

    def __len__(self) -> int:
        return len(self.item)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Self:
        """The rows for which `chosen` is true."""
        return replace(
            self, **{field.name: getattr(self, field.name)[chosen] for field in fields(self)}
        )

    @property
    def named(self) -> Self:
        """The pairs in which both name something: NFH could become any kind."""
        return self.where((self.left_kind != NFH) & (self.right_kind != NFH))

    @property
    def references(self) -> Self:
        """The pairs in which both say REFERENCE."""
        return self.where((self.left_kind == REFERENCE) & (self.right_kind == REFERENCE))

    def between(self, left: int, right: int) -> Self:
        """The pairs of these two."""
        return self.where((self.left == left) & (self.right == right))


class PairList:
    """Pairs being collected. A row takes 88 bytes, so that millions of them fit."""

    def __init__(self) -> None:
        self._columns = [array("q") for _ in fields(Pairs)]

    def add(
        self,
        place: tuple[int, int],
        people: tuple[int, int],
        answers: tuple[Answer, Answer],
        lemmas: Sequence[str],
        found: Comparison | None = None,
    ) -> None:
        """Compare two answers. place: item and passage. people: numbers of left and right.

        found: how they differ, where that is known.
        """
        left, right = answers
        found = found or compare(left, right, lemmas)
        heads = matched = 0
        if left.kind is Kind.REFERENCE and right.kind is Kind.REFERENCE:
            heads = len(left.heads) + len(right.heads)
            matched = match_heads(left, right, lemmas)
        row = (
            *place,
            *people,
            CODE[left.kind],
            CODE[right.kind],
            BLOCKING_CODE[found.blocking],
            heads,
            matched,
            DifferenceNote.MENTION in found.notes,
            DifferenceNote.EXTENT in found.notes,
        )
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)

    def done(self) -> Pairs:
        """The pairs as columns."""
        return Pairs(*(np.array(column, dtype=np.int64) for column in self._columns))


def match_heads(left: Answer, right: Answer, lemmas: Sequence[str]) -> int:
    """How many heads of both, counted together, are the same as one of the other's."""
    same = [[same_head(one, other, lemmas) for other in right.heads] for one in left.heads]
    return sum(map(any, same)) + sum(map(any, zip(*same, strict=True)))


NO_REFERENCES = "There is no pair of answers that both say REFERENCE."


@dataclass(frozen=True, slots=True)
class NounAgreement:
    """How two answers that both say REFERENCE agree.

    exact: the same nouns in the same relation (nothing blocks); n counts pairs. f1: over
    heads; n counts heads. mention, extent: of the pairs that agree exactly, how many mark
    other mentions of a noun, or the same mention with another span.
    """

    exact: Measure
    f1: Measure
    mention: Measure
    extent: Measure


def noun_agreement(pairs: Pairs, resampling: Resampling) -> NounAgreement:
    """Agreement by noun of the pairs in which both say REFERENCE."""
    both = pairs.references
    exact = both.where(both.blocking == EQUAL)
    none = "There is no pair of answers that name the same nouns."
    return NounAgreement(
        share(both, both.blocking == EQUAL, resampling, NO_REFERENCES),
        head_f1(both, resampling),
        share(exact, exact.mention == 1, resampling, none),
        share(exact, exact.extent == 1, resampling, none),
    )


def head_f1(pairs: Pairs, resampling: Resampling) -> Measure:
    """Heads that the other one names too, as a share of all heads of both; n counts heads.

    The F1 of either against the other (Hripcsak and Rothschild 2005, JAMIA 12:296-298: for
    two people it is positive agreement), pooled over pairs: a head counts as found if the
    other answer has one that is the same, by `same_head`.
    """
    both = pairs.references
    if not len(both):
        return undefined(NO_REFERENCES)
    rows = np.column_stack((both.matched, both.heads)).astype(np.float64)
    value = float(both.matched.sum() / both.heads.sum())
    return resampling.measure(value, int(both.heads.sum()), rows, both.passage, ratio)


def share(
    pairs: Pairs,
    true: npt.NDArray[np.bool_],
    resampling: Resampling,
    why: str,
) -> Measure:
    """Of these pairs, the share for which something is true; n counts pairs."""
    if not len(pairs):
        return undefined(why)
    rows = np.column_stack((true, np.ones(len(pairs)))).astype(np.float64)
    return resampling.measure(float(true.mean()), len(pairs), rows, pairs.passage, ratio)


def equal_share(pairs: Pairs, resampling: Resampling, nothing: str) -> Measure:
    """Of the pairs that name a kind, the share in which nothing blocks; n counts pairs."""
    named = pairs.named
    return share(named, named.blocking == EQUAL, resampling, nothing)


def same_kind_share(pairs: Pairs, resampling: Resampling, nothing: str) -> Measure:
    """Of the pairs that name a kind, the share with the same one; n counts pairs."""
    named = pairs.named
    return share(named, named.left_kind == named.right_kind, resampling, nothing)


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


def collect(items: Iterable[AnsweredAnchor]) -> Tables:
    """The tables of these items. They are looked at one by one, and none is kept."""
    collected = _Collected()
    for item in items:
        collected.add(item)
    return collected.done()


def decision(item: AnsweredAnchor) -> Answer | None:
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

    def add(self, item: AnsweredAnchor) -> None:
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

    def _add_experts(self, place: tuple[int, int], item: AnsweredAnchor) -> None:
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


TOO_FEW = "items with fewer than two answers"
OUTSIDE = "items that somebody called NOT_NFH, BROKEN or NFH, which the paper's form lacks"


@dataclass(frozen=True, slots=True)
class PatternShare:
    """A pattern of votes. share: of the items with as many voters (n is their number)."""

    pattern: str
    voters: int
    items: int
    share: Measure


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns there are: most frequent number of voters first, most agreement first.

    items: how many have a pattern.
    """

    shares: tuple[PatternShare, ...]
    items: int
    left_out: tuple[LeftOut, ...]


def class_patterns(tables: Tables, resampling: Resampling) -> Patterns:
    """Votes grouped by the paper's seven classes (paper section 5.3): heads do not matter.

    An item with a vote outside the seven is left out whole: without that vote it would
    look more unanimous than it is.
    """
    classes = tables.classes
    enough = tables.counts.sum(axis=1) >= 2
    used = enough & (tables.outside == 0)
    labels = [pattern_of(row) for row in classes[used].tolist()]
    omitted = {TOO_FEW: int((~enough).sum()), OUTSIDE: int((enough & ~used).sum())}
    return _patterns(labels, tables.passage[used], resampling, left_out(omitted))


def noun_patterns(tables: Tables, resampling: Resampling) -> Patterns:
    """Votes grouped by whole answers, compared by noun: what `pattern:` finds."""
    used = tables.counts.sum(axis=1) >= 2
    labels = [tables.patterns[index] for index in tables.pattern[used].tolist()]
    omitted = left_out({TOO_FEW: int((~used).sum())})
    return _patterns(labels, tables.passage[used], resampling, omitted)


def pattern_of(groups: Iterable[int]) -> str:
    """The pattern of groups of these sizes, as "2-1"; of one group "3-0"."""
    sizes = sorted((size for size in groups if size), reverse=True)
    return f"{sizes[0]}-0" if len(sizes) == 1 else "-".join(map(str, sizes))


def _patterns(
    labels: Sequence[str], passages: Ints, resampling: Resampling, omitted: tuple[LeftOut, ...]
) -> Patterns:
    found = Counter(labels)
    voters = {label: sum(_sizes(label)) for label in found}
    of_voters = Counter[int]()
    for label, items in found.items():
        of_voters[voters[label]] += items
    each = np.array([voters[label] for label in labels], dtype=np.int64)
    texts = np.array(labels, dtype=np.str_)
    order = sorted(
        found,
        key=lambda label: (
            -of_voters[voters[label]],
            -voters[label],
            [-size for size in _sizes(label)],
        ),
    )
    shares = []
    for label in order:
        number = voters[label]
        rows = np.column_stack((texts == label, each == number)).astype(np.float64)
        among = each == number
        share = resampling.measure(
            found[label] / of_voters[number],
            of_voters[number],
            rows[among],
            passages[among],
            ratio,
        )
        shares.append(PatternShare(label, number, found[label], share))
    return Patterns(tuple(shares), len(labels), omitted)


def _sizes(label: str) -> list[int]:
    return [int(size) for size in label.split("-")]
