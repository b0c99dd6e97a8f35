"""Collects answers into arrays in one pass: pairs of answers to one anchor, agreement on heads,
and vote patterns.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from nfh_models.domain.compare import pattern_of

BLOCKING_CODE: dict[Blocking | None, int] = {
    None: EQUAL,
    **{kind: code for code, kind in enumerate(BLOCKING)},
}


Column = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of answers to one anchor, as columns of shape (pairs,)."""

    item: Column
    """Numbers of items."""
    left: Column
    right: Column
    """`left` and `right` are numbers of annotators."""
    found: Column
    """What the comparison found, as a row of `rows`: there are few different ones."""
    rows: npt.NDArray[np.int16]
    """The columns of the properties below."""
    passages: Ints
    """The passage number of each item."""

    def __len__(self) -> int:
        return len(self.item)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Self:
        """The rows for which `chosen` is true."""
        of_each = {name: getattr(self, name)[chosen] for name in PAIR_COLUMNS}
        return replace(self, **of_each)

    def _column(self, number: int) -> Column:
        column: Column = self.rows[self.found, number]
        return column

    @property
    def passage(self) -> Ints:
        """Numbers of passages."""
        return self.passages[self.item]

    @property
    def left_kind(self) -> Column:
        """The code of the left answer's kind."""
        return self._column(0)

    @property
    def right_kind(self) -> Column:
        """The code of the right answer's kind."""
        return self._column(1)

    @property
    def blocking(self) -> Column:
        """The code of the blocking difference."""
        return self._column(2)

    @property
    def heads(self) -> Column:
        """Heads of both answers together; 0 unless both are REFERENCE."""
        return self._column(3)

    @property
    def matched(self) -> Column:
        """Of these, the heads that the other answer has, too."""
        return self._column(4)

    @property
    def mention(self) -> Column:
        """1 where the comparison has that note."""
        return self._column(5)

    @property
    def extent(self) -> Column:
        """1 where the comparison has that note."""
        return self._column(6)

    @property
    def named(self) -> Self:
        """The pairs in which both answers name a kind: neither is NFH."""
        return self.where((self.left_kind != NFH) & (self.right_kind != NFH))

    @property
    def references(self) -> Self:
        """The pairs in which both answers are REFERENCE."""
        return self.where((self.left_kind == REFERENCE) & (self.right_kind == REFERENCE))

    def between(self, left: int, right: int) -> Self:
        """The pairs of these two annotators."""
        return self.where((self.left == left) & (self.right == right))


PAIR_COLUMNS = ("item", "left", "right", "found")


class PairList:
    """Collects pairs at 16 bytes each, so that millions of them fit into memory."""

    def __init__(self) -> None:
        self._columns = [array("I") for _ in PAIR_COLUMNS]
        self._found: dict[tuple[int, ...], int] = {}

    def add(
        self,
        item: int,
        people: tuple[int, int],
        answers: tuple[Answer, Answer],
        lemmas: Sequence[str],
        found: Comparison | None = None,
    ) -> None:
        """Compare two answers and append the pair.

        item: its number. people: numbers of the left and the right annotator. found: the
        comparison, if it is known.
        """
        left, right = answers
        found = found or compare(left, right, lemmas)
        heads = matched = 0
        if left.kind is Kind.REFERENCE and right.kind is Kind.REFERENCE:
            heads = len(left.heads) + len(right.heads)
            matched = match_heads(left, right, lemmas)
        row = (
            CODE[left.kind],
            CODE[right.kind],
            BLOCKING_CODE[found.blocking],
            heads,
            matched,
            DifferenceNote.MENTION in found.notes,
            DifferenceNote.EXTENT in found.notes,
        )
        code = self._found.setdefault(row, len(self._found))
        for column, value in zip(self._columns, (item, *people, code), strict=True):
            column.append(value)

    def done(self, passages: Ints) -> Pairs:
        rows = np.array([*self._found], dtype=np.int16).reshape(-1, 7)
        item, left, right, found = map(np.asarray, self._columns)
        return Pairs(item, left, right, found, rows, passages)


def blocking_counts(pairs: Pairs) -> list[int]:
    """The pairs with each blocking difference, by code."""
    counts = np.bincount(pairs.blocking + 1, minlength=len(BLOCKING) + 1)
    return [int(count) for count in counts[1:]]


def match_heads(left: Answer, right: Answer, lemmas: Sequence[str]) -> int:
    """The heads of both answers, counted together, that the other answer has, too."""
    same = [[same_head(one, other, lemmas) for other in right.heads] for one in left.heads]
    return sum(map(any, same)) + sum(map(any, zip(*same, strict=True)))


NO_REFERENCES = "There is no pair of answers that both say REFERENCE."


@dataclass(frozen=True, slots=True)
class NounAgreement:
    """Agreement on the heads of pairs in which both answers are REFERENCE."""

    exact: Measure
    """Share without a blocking difference (same nouns, same relation); n counts pairs."""
    f1: Measure
    """Over heads; n counts heads."""
    mention: Measure
    extent: Measure
    """Of the exact pairs, the share that marks other mentions of a noun (`mention`), or the
    same mention with another span (`extent`); n counts pairs.
    """


def noun_agreement(pairs: Pairs, resampling: Resampling) -> NounAgreement:
    """Agreement by noun of the pairs in which both answers are REFERENCE."""
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
    """Heads that the other answer has, too, as a share of all heads of both; n counts heads.

    This is the F1 of either annotator against the other (Hripcsak and Rothschild 2005, JAMIA
    12:296-298: for two people it equals positive agreement), pooled over pairs. A head is found
    if the other answer has one that is the same by `same_head`.
    """
    both = pairs.references
    if not len(both):
        return undefined(NO_REFERENCES)
    rows = np.column_stack((both.matched, both.heads))
    value = float(both.matched.sum() / both.heads.sum())
    return resampling.measure(value, int(both.heads.sum()), rows, both.passage, ratio)


def share(
    pairs: Pairs, true: npt.NDArray[np.bool_], resampling: Resampling, why: str
) -> Measure:
    """The share of pairs for which `true` holds; n counts pairs."""
    if not len(pairs):
        return undefined(why)
    rows = np.column_stack((true, np.ones_like(true)))
    return resampling.measure(float(true.mean()), len(pairs), rows, pairs.passage, ratio)


def equal_share(pairs: Pairs, resampling: Resampling, nothing: str) -> Measure:
    """Of the pairs that name a kind, the share without a blocking difference; n counts
    pairs.
    """
    named = pairs.named
    return share(named, named.blocking == EQUAL, resampling, nothing)


def same_kind_share(pairs: Pairs, resampling: Resampling, nothing: str) -> Measure:
    """Of the pairs that name a kind, the share with equal kinds; n counts pairs."""
    named = pairs.named
    return share(named, named.left_kind == named.right_kind, resampling, nothing)


EXPERT = 0
"""The number of the only right side of `Tables.against`: the adjudicators' decision."""

ALIKE = Comparison()

NO_OVERLAP = "No two annotators answered the same item."
ONLY_NFH = "On each item with two answers, one is NFH, which names no kind."


@dataclass(frozen=True, slots=True)
class Tables:
    """The arrays that all measures are computed from.

    They take 34 bytes an item and 16 a pair: 82 for an item that three people answered.
    """

    passage: Ints
    """The passage number of each item, shape (items,)."""
    counts: Column
    """Votes of each item by kind, shape (items, kinds), in the order of CODED."""
    pattern: Column
    """The vote pattern of each item by noun, an index into `patterns`, shape (items,)."""
    patterns: tuple[str, ...]
    people: tuple[str, ...]
    experts: tuple[str, ...]
    """`people` and `experts` are names by number, sorted."""
    answers: Mapping[str, int]
    decisions: Mapping[str, int]
    """`answers` and `decisions` are the numbers of answers, by name."""
    votes: Pairs
    """Pairs of annotators, left < right."""
    against: Pairs
    """Each annotator (left) against the adjudicators' decision (right is EXPERT)."""
    doubles: Pairs
    """Pairs of adjudicators, left < right."""
    own: Mapping[str, int]
    """Items of each annotator that are not in `against`, since they decided them as
    adjudicator.
    """
    expert_items: int
    """Items that an adjudicator decided."""

    @property
    def items(self) -> int:
        """All items, answered or not."""
        return len(self.passage)

    @property
    def problem(self) -> str:
        """The sentence for tables that hold no two comparable answers of annotators."""
        if not self.items:
            return "The query finds no item."
        if not self.people:
            return "Nobody has answered these items as an annotator."
        if len(self.people) == 1:
            return f"Only {self.people[0]} answered these items; agreement needs two people."
        return ONLY_NFH if len(self.votes) else NO_OVERLAP

    @property
    def passages(self) -> int:
        return len(np.unique(self.passage))

    @property
    def kinds(self) -> Column:
        """Votes of each item that name a kind, shape (items, kinds without NFH)."""
        return self.counts[:, : len(KINDS)]

    @property
    def classes(self) -> Column:
        """Votes of each item by the paper's seven classes, shape (items, 7); UNKNOWN counts as
        OTHER.
        """
        classes = self.counts[:, : len(CLASSES)].copy()
        classes[:, OTHER] += self.counts[:, UNKNOWN]
        return classes

    @property
    def outside(self) -> Ints:
        """Votes of each item in none of the seven classes, shape (items,)."""
        outside: Ints = self.counts[:, UNKNOWN + 1 :].sum(axis=1)
        return outside


def collect(items: Iterable[AnsweredAnchor]) -> Tables:
    """The tables of the items, which are read once and not kept."""
    collected = _Collected()
    for item in items:
        collected.add(item)
    return collected.done()


def decision(item: AnsweredAnchor) -> Answer | None:
    """The adjudicators' decision: gold that one of them decided, else the answer of the only
    one.
    """
    if item.gold is not None and item.expert_gold:
        return item.gold
    if len(item.experts) == 1:
        return next(iter(item.experts.values())).answer
    return None


@dataclass(slots=True)
class _Collected:
    """People are numbered in the order of first occurrence."""

    passage: "array[int]" = field(default_factory=lambda: array("q"))
    counts: "array[int]" = field(default_factory=lambda: array("H"))
    pattern: "array[int]" = field(default_factory=lambda: array("I"))
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
        place = len(self.passage)
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

    def _add_experts(self, place: int, item: AnsweredAnchor) -> None:
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
        """The tables, with people renumbered in the order of their names."""
        people, experts = sorted(self.people), sorted(self.experts)
        passage = np.asarray(self.passage)
        return Tables(
            passage,
            np.asarray(self.counts).reshape(-1, len(CODED)),
            np.asarray(self.pattern),
            tuple(self.patterns),
            tuple(people),
            tuple(experts),
            dict(self.answers),
            dict(self.decisions),
            _renumbered(self.votes.done(passage), self.people, self.people),
            _renumbered(self.against.done(passage), self.people, {"": EXPERT}),
            _renumbered(self.doubles.done(passage), self.experts, self.experts),
            dict(self.own),
            self.expert_items,
        )


def _add_pairs(
    pairs: PairList,
    place: int,
    people: Sequence[int],
    answers: Sequence[Answer],
    lemmas: Sequence[str],
) -> str:
    """Append each pair of these answers; returns the vote pattern of all of them."""
    found = compare_all(answers, lemmas)
    differences = {(one.left, one.right): one for one in found.differences}
    for i, j in combinations(range(len(answers)), 2):
        one = differences.get((i, j))
        how = Comparison(one.blocking, one.notes) if one else ALIKE
        pairs.add(place, (people[i], people[j]), (answers[i], answers[j]), lemmas, how)
    return found.pattern


def _renumbered(pairs: Pairs, left: Mapping[str, int], right: Mapping[str, int]) -> Pairs:
    """The pairs with people numbered in the order of their names."""
    # argsort inverts the permutation from ranks to numbers.
    ranks = [
        np.argsort([people[name] for name in sorted(people)]).astype(np.uint32)
        for people in (left, right)
    ]
    return replace(pairs, left=ranks[0][pairs.left], right=ranks[1][pairs.right])


TOO_FEW = "items with fewer than two answers"
OUTSIDE = "items with an answer NOT_NFH, BROKEN or NFH, which the paper does not have"


@dataclass(frozen=True, slots=True)
class PatternShare:
    """One vote pattern."""

    pattern: str
    voters: int
    """The number of votes."""
    items: int
    share: Measure
    """Of the items with as many votes; n is their number."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """The vote patterns: most frequent number of votes first, then most agreement first."""

    shares: tuple[PatternShare, ...]
    items: int
    """Items that have a pattern."""
    left_out: tuple[LeftOut, ...]


def class_patterns(tables: Tables, resampling: Resampling) -> Patterns:
    """Vote patterns by the paper's seven classes (paper section 5.3); heads are ignored.

    An item with a vote outside the seven classes is left out as a whole: without that vote it
    would look more unanimous than it is.
    """
    classes = tables.classes
    enough = tables.counts.sum(axis=1) >= 2
    used = enough & (tables.outside == 0)
    rows, which = np.unique(classes[used], axis=0, return_inverse=True)
    names = [pattern_of(row) for row in rows.tolist()]
    omitted = {TOO_FEW: int((~enough).sum()), OUTSIDE: int((enough & ~used).sum())}
    return _patterns(names, which, tables.passage[used], resampling, left_out(omitted))


def noun_patterns(tables: Tables, resampling: Resampling) -> Patterns:
    """Vote patterns by whole answers, compared by noun; the query key `pattern:` finds
    these.
    """
    used = tables.counts.sum(axis=1) >= 2
    omitted = left_out({TOO_FEW: int((~used).sum())})
    which, passages = tables.pattern[used], tables.passage[used]
    return _patterns(tables.patterns, which, passages, resampling, omitted)


def _patterns(
    names: Sequence[str],
    which: Column,
    passages: Ints,
    resampling: Resampling,
    omitted: tuple[LeftOut, ...],
) -> Patterns:
    """The shares of patterns. which: the pattern of each item, an index into `names`."""
    labels, codes = np.unique(np.array(names, dtype=np.str_), return_inverse=True)
    which = codes.astype(np.uint16)[which]
    times = np.bincount(which, minlength=len(labels)).tolist()
    found = {label: n for label, n in zip(labels.tolist(), times, strict=True) if n}
    voters = {label: sum(_sizes(label)) for label in found}
    of_voters = Counter[int]()
    for label, items in found.items():
        of_voters[voters[label]] += items
    places = {label: place for place, label in enumerate(labels.tolist())}
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
        among = np.isin(which, [places[one] for one in found if voters[one] == number])
        true = which[among] == places[label]
        share = resampling.measure(
            found[label] / of_voters[number],
            of_voters[number],
            np.column_stack((true, np.ones_like(true))),
            passages[among],
            ratio,
        )
        shares.append(PatternShare(label, number, found[label], share))
    return Patterns(tuple(shares), len(which), omitted)


def _sizes(label: str) -> list[int]:
    return [int(size) for size in label.split("-")]
