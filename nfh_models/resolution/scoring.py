"""Scores of resolution: figures from examples with gold and their choices, by class, distance
and kind of mistake, and the figures that the paper prints.

Fractions throughout, None for a share of nothing; the paper's own figures are in percent.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from enum import StrEnum
from operator import add

import numpy as np
import numpy.typing as npt

from nfh_models.agreement.bootstrap import Floats, Ints
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Head,
    Kind,
    Passage,
    Relation,
    paper_class,
    same_head,
)
from nfh_models.resolution.base import Choice, ResolutionExample, choice_of, name_of
from nfh_models.statistics import HeadSide, Share, distance, share, side
from nfh_models.text.numbers import parts_of

LABELS: tuple[str, ...] = (*(kind.value for kind in IMPLICIT_KINDS), Kind.REFERENCE.value)
"""The seven gold labels, in the order of the paper's figure 5: the classes, then REFERENCE."""

REF_WRONG = "REF-WRONG"
"""A token was chosen for a Reference, and it is no gold mention (paper section 6.4)."""

COLUMNS: tuple[str, ...] = (*LABELS, REF_WRONG)
"""The predictions, in the order of the columns of the confusion matrix."""


@dataclass(frozen=True, slots=True)
class ScoredExample:
    """An example with its choice, scored."""

    example: ResolutionExample
    choice: Choice | None
    """None where the recipe abstained; then nothing is correct."""
    gold: str
    """One of LABELS."""
    predicted: str | None
    """One of COLUMNS, None without a choice. A token chosen for an implicit gold is REFERENCE:
    there is no gold token that it could miss.
    """
    token: int | None
    """The chosen token, None for a class."""
    right: bool
    """The class is correct, or the token is the head token of any gold mention."""
    inclusive: bool
    """Also for any token whose lower-case form is that of a gold head token."""
    nearest: bool
    """Of the mentions, only the one nearest to the anchor."""
    class_right: bool
    """Over seven classes, where any token is REFERENCE."""
    binary_right: bool
    """A token for a Reference, a class for an implicit gold."""
    head: int | None = None
    """The gold head token nearest to the anchor, the earlier of two. None for implicit gold,
    like the fields below.
    """
    distance: int | None = None
    """From the anchor to `head` in tokens; 1 is adjacent."""
    turns: int | None = None
    """Turns, by rank, between the anchor and the gold head whose turn is nearest (which may be
    another head); 0 is the same turn.
    """
    side: HeadSide | None = None
    """Where all gold heads stand."""

    @property
    def reference(self) -> bool:
        return self.gold == Kind.REFERENCE


def judge(
    examples: Sequence[ResolutionExample], choices: Sequence[Choice | None]
) -> tuple[ScoredExample, ...]:
    """Score each choice. Raises ValueError if the numbers of examples and choices differ."""
    return tuple(
        judge_one(example, choice) for example, choice in zip(examples, choices, strict=True)
    )


def judge_one(example: ResolutionExample, choice: Choice | None) -> ScoredExample:
    """Score a choice.

    Raises ValueError for gold without a class (NOT_NFH, BROKEN, NFH), and for a choice that is
    neither one of the six classes nor a token of the passage outside the anchor.
    """
    gold = gold_label(example.gold)
    token = None if choice is None else chosen_token(example, choice)
    if gold == Kind.REFERENCE:
        return _judge_reference(example, choice, token)
    predicted = None
    if choice is not None:
        predicted = choice.choice if token is None else Kind.REFERENCE.value
    right = predicted == gold
    binary = choice is not None and token is None
    return ScoredExample(
        example, choice, gold, predicted, token, right, right, right, right, binary
    )


def _judge_reference(
    example: ResolutionExample, choice: Choice | None, token: int | None
) -> ScoredExample:
    passage, anchor = example.item.passage, example.item.anchor
    heads, here = example.gold.head_tokens(), passage.turn_of(anchor.start)
    nearest = min(heads, key=lambda head: (distance(anchor, head), head))
    right = token in heads
    inclusive = token is not None and passage.word(token).lower() in {
        passage.word(head).lower() for head in heads
    }
    predicted = None
    if choice is not None:
        predicted = choice.choice if token is None else REF_WRONG
    return ScoredExample(
        example,
        choice,
        gold=Kind.REFERENCE.value,
        predicted=Kind.REFERENCE.value if right else predicted,
        token=token,
        right=right,
        inclusive=inclusive,
        nearest=token == nearest,
        class_right=token is not None,
        binary_right=token is not None,
        head=nearest,
        distance=distance(anchor, nearest),
        turns=min(abs(passage.turn_of(head) - here) for head in heads),
        side=side(anchor, heads),
    )


def gold_label(answer: Answer) -> str:
    """The label of an answer, one of LABELS; UNKNOWN is OTHER, as in the release's form.

    Raises ValueError for NOT_NFH, BROKEN and NFH, on which resolution is not scored.
    """
    kind = paper_class(answer.kind)
    if kind is None:
        raise ValueError(f"gold of kind {answer.kind} names no class and is not scored")
    return kind.value


def chosen_token(example: ResolutionExample, choice: Choice) -> int | None:
    """The chosen token; None for a class.

    Raises ValueError for what is neither a class nor a token outside the anchor.
    """
    said = choice.choice
    if not said.isdecimal():
        if said not in LABELS[:-1]:
            raise ValueError(f"{example.where}: {said!r} is neither a class nor a token")
        return None
    token, anchor = int(said), example.item.anchor
    if token >= len(example.item.passage.tokens):
        raise ValueError(f"{example.where}: token {token} is outside the passage")
    if anchor.start <= token < anchor.end:
        raise ValueError(f"{example.where}: token {token} is part of the anchor")
    return token


def score_of(choice: Choice, said: str) -> float | None:
    """The score of a candidate, named as in `Choice.choice`; None where it has none."""
    place = len(IMPLICIT_KINDS) + int(said) if said.isdecimal() else LABELS.index(said)
    return choice.scores[place] if place < len(choice.scores) else None


Bools = npt.NDArray[np.bool_]

SMALLEST = 1e-30
"""Replaces a probability of 0, which networks give where it is too small for 32 bits, in
logarithms.
"""
SLACK = 0.02
"""How far the probabilities of one example may deviate from the sum 1 by rounding."""


@dataclass(frozen=True, slots=True)
class CandidateScores:
    """The candidates of examples, as ragged rows."""

    logs: Floats
    """Log probabilities, shape (candidates,)."""
    starts: Ints
    """The first candidate of each example, shape (n,)."""
    chosen: Bools
    gold: Bools
    """`chosen` and `gold`: which candidates were chosen, and which are correct; shape
    (candidates,).
    """
    right: Floats
    """1.0 or 0.0 for each example, shape (n,)."""
    groups: tuple[str, ...]
    """The name of each example's group."""

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.starts)

    def confidences(self, temperature: float) -> Floats:
        """The probability of each choice, shape (n,)."""
        return self._sums(self._probabilities(temperature) * self.chosen)

    def losses(self, temperature: float) -> Floats:
        """-log of the probability of the correct candidates, of the examples that have any."""
        told = self._sums(self._probabilities(temperature) * self.gold)
        known = self._sums(self.gold.astype(np.float64)) > 0
        return -np.log(np.maximum(told[known], SMALLEST))

    def only(self, kept: Bools) -> "CandidateScores":
        """The examples for which `kept`, shape (n,), is true."""
        sizes = np.diff(np.append(self.starts, len(self.logs)))
        inside = np.repeat(kept, sizes)
        ends = np.cumsum(sizes[kept])
        return CandidateScores(
            self.logs[inside],
            ends - sizes[kept],
            self.chosen[inside],
            self.gold[inside],
            self.right[kept],
            tuple(name for name, take in zip(self.groups, kept, strict=True) if take),
        )

    def _probabilities(self, temperature: float) -> Floats:
        scaled = self.logs / temperature
        sizes = np.diff(np.append(self.starts, len(self.logs)))
        if not len(sizes):
            return scaled
        powers = np.exp(scaled - np.repeat(np.maximum.reduceat(scaled, self.starts), sizes))
        return np.asarray(powers / np.repeat(np.add.reduceat(powers, self.starts), sizes))

    def _sums(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self.starts) if self.n else np.zeros(0)


def candidates(judged: Sequence[ScoredExample], *, by_noun: bool = False) -> CandidateScores:
    """The candidates of the examples whose choice has a score.

    by_noun: all tokens of the chosen token's lemma count as chosen, and all of a gold token's
    as correct. Raises ValueError for scores that are negative or do not sum to 1.
    """
    kept = [
        (one, one.choice)
        for one in judged
        if one.choice is not None and score_of(one.choice, one.choice.choice) is not None
    ]
    rows = [_row(one, choice, by_noun=by_noun) for one, choice in kept]
    sizes = np.array([len(row.logs) for row in rows], dtype=np.int64)
    nothing = np.zeros(0, dtype=bool)
    return CandidateScores(
        np.concatenate([np.zeros(0), *(row.logs for row in rows)]),
        np.cumsum(sizes) - sizes,
        np.concatenate([nothing, *(row.chosen for row in rows)]),
        np.concatenate([nothing, *(row.gold for row in rows)]),
        np.array([row.right for row in rows], dtype=np.float64),
        tuple(one.example.group for one, _ in kept),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """The candidates of one example, as in CandidateScores."""

    logs: Floats
    chosen: Bools
    gold: Bools
    right: bool


def _row(one: ScoredExample, choice: Choice, *, by_noun: bool) -> _Row:
    places = [place for place, score in enumerate(choice.scores) if score is not None]
    values = np.array([score for score in choice.scores if score is not None], np.float64)
    total = values.sum()
    if values.min() < 0 or abs(total - 1) > SLACK:
        raise ValueError(
            f"{one.example.where}: scores from {values.min():.3g} to {values.max():.3g} that "
            f"sum to {total:.3g} are not probabilities"
        )
    gold = {LABELS.index(one.gold)}
    if one.reference:
        gold = _places(one, set(one.example.gold.head_tokens()), by_noun=by_noun)
    chosen = (
        {LABELS.index(choice.choice)}
        if one.token is None
        else _places(one, {one.token}, by_noun=by_noun)
    )
    return _Row(
        np.log(np.maximum(values, SMALLEST)),
        np.isin(places, list(chosen)),
        np.isin(places, list(gold)),
        bool(chosen & gold),
    )


def _places(one: ScoredExample, tokens: set[int], *, by_noun: bool) -> set[int]:
    if by_noun:
        every = one.example.item.passage.tokens
        lemmas = {every[token].lemma.lower() for token in tokens}
        tokens = {at for at, token in enumerate(every) if token.lemma.lower() in lemmas}
    return {len(IMPLICIT_KINDS) + token for token in tokens}


# --- the confusion matrix of the paper's figure 5: seven gold labels, eight columns ----------
#
# In the REFERENCE row, the column REFERENCE counts tokens that are gold mentions, and REF-WRONG
# the others. In the rows of the six classes it counts all tokens: none could be correct, so
# that REF-WRONG is empty. Accuracy is then the sum of the diagonal, class accuracy that sum
# plus the REFERENCE row's REF-WRONG, and binary accuracy the sum of the two blocks of classes
# and of tokens. The authors' matrix of their ELMo model on dev agrees with this: its diagonal
# is 44, 105, 32, 68, 30, 154, 338 (771 of 1,000), and with the 48 REF-WRONG it is 819, the
# printed class accuracy of 81.9.


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix: rows are gold labels, columns are predictions."""

    rows: tuple[tuple[int, ...], ...]
    """One for each of LABELS, as long as COLUMNS."""
    unanswered: tuple[int, ...]
    """Examples of each label without a choice; they are in no column."""


def confusion(judged: Iterable[ScoredExample]) -> Confusion:
    cells = Counter((one.gold, one.predicted) for one in judged)
    return Confusion(
        rows=tuple(tuple(cells[gold, said] for said in COLUMNS) for gold in LABELS),
        unanswered=tuple(cells[gold, None] for gold in LABELS),
    )


@dataclass(frozen=True, slots=True)
class ResolutionFigures:
    """Counts over examples, and their shares; None for a share of nothing."""

    n: int = 0
    """All examples."""
    answered_n: int = 0
    """Examples with a choice; those without one count as wrong everywhere else."""
    right: int = 0
    right_inclusive: int = 0
    right_nearest: int = 0
    right_class: int = 0
    right_binary: int = 0
    """`right` and `right_*`: see `ScoredExample`."""
    reference_n: int = 0
    """Examples whose gold is a Reference; `reference_right*` are the correct ones of them."""
    reference_right: int = 0
    reference_right_inclusive: int = 0
    reference_right_nearest: int = 0
    implicit_n: int = 0
    """Examples whose gold is one of the six classes."""
    implicit_right: int = 0

    accuracy = Share("right", "n")
    """By any gold mention, or the class."""
    accuracy_inclusive = Share("right_inclusive", "n")
    """Also by any token with the form of a gold head: the figure that the paper prints."""
    accuracy_nearest = Share("right_nearest", "n")
    """By the nearest gold mention only, or the class."""
    class_accuracy = Share("right_class", "n")
    """Over seven classes, where any token is REFERENCE."""
    binary = Share("right_binary", "n")
    """Reference against implicit."""
    reference = Share("reference_right", "reference_n")
    """Accuracy on gold References."""
    reference_inclusive = Share("reference_right_inclusive", "reference_n")
    """Inclusive accuracy on gold References."""
    reference_nearest = Share("reference_right_nearest", "reference_n")
    """Accuracy by the nearest mention on gold References."""
    implicit = Share("implicit_right", "implicit_n")
    """Accuracy on implicit gold."""
    answered = Share("answered_n", "n")
    """The share of examples with a choice."""
    accuracy_answered = Share("right", "answered_n")
    """Accuracy on the examples with a choice."""


def figures(judged: Iterable[ScoredExample]) -> ResolutionFigures:
    """The counts of scored examples."""
    some = list(judged)
    references = [one for one in some if one.reference]
    implicit = [one for one in some if not one.reference]
    return ResolutionFigures(
        n=len(some),
        answered_n=sum(one.choice is not None for one in some),
        right=sum(one.right for one in some),
        right_inclusive=sum(one.inclusive for one in some),
        right_nearest=sum(one.nearest for one in some),
        right_class=sum(one.class_right for one in some),
        right_binary=sum(one.binary_right for one in some),
        reference_n=len(references),
        reference_right=sum(one.right for one in references),
        reference_right_inclusive=sum(one.inclusive for one in references),
        reference_right_nearest=sum(one.nearest for one in references),
        implicit_n=len(implicit),
        implicit_right=sum(one.right for one in implicit),
    )


# --- several recipes side by side -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """A recipe, by its printed name, and its figures."""

    name: str
    figures: ResolutionFigures


def on_references(
    examples: Sequence[ResolutionExample], by_name: Mapping[str, Sequence[Choice | None]]
) -> tuple[ScoredSystem, ...]:
    """The figures of several recipes on gold References, as noun baselines are scored.

    by_name: the choices of each recipe, one for each example; their order is kept. Raises
    ValueError for another number of choices.
    """
    return tuple(
        ScoredSystem(name, figures(one for one in judge(examples, choices) if one.reference))
        for name, choices in by_name.items()
    )


# --- heads of References: as sets of nouns, and as mentions
# ------------------------------------
#
# Over the examples whose gold is a Reference. A predicted head is correct if a gold head is the
# same (`same_head`), each gold head used at most once; heads of one answer that are the same
# are joined. Figures are pooled over examples.


@dataclass(frozen=True, slots=True)
class HeadCounts:
    """Predicted, gold and common heads."""

    predicted: int = 0
    gold: int = 0
    hit: int = 0

    def __add__(self, other: "HeadCounts") -> "HeadCounts":
        return HeadCounts(*map(add, astuple(self), astuple(other)))

    precision = Share("hit", "predicted")
    """None if nothing was predicted."""
    recall = Share("hit", "gold")
    """None without gold."""

    @property
    def f1(self) -> float | None:
        """None with neither gold nor prediction."""
        return share(2 * self.hit, self.predicted + self.gold)


@dataclass(frozen=True, slots=True)
class HeadsJudged:
    """A gold Reference with the answer to it, scored."""

    example: ResolutionExample
    answer: Answer | None
    """None where the recipe abstained."""
    heads: HeadCounts
    """Counts by noun."""
    mentions: HeadCounts
    """Counts by head token."""
    exact: bool
    """The predicted heads are exactly the gold heads; the relation is ignored."""
    exact_mentions: bool
    """The head tokens are exactly those of gold."""
    several: bool
    """Gold has two or more distinct nouns."""
    relation: bool | None
    """Whether the relation is gold's; None where gold states none."""


@dataclass(frozen=True, slots=True)
class HeadFigures:
    """Figures over gold References."""

    n: int
    exact_right: int
    heads: HeadCounts
    exact_mentions_right: int
    mentions: HeadCounts
    relation_n: int
    """References whose gold states AND or OR."""
    relation_right: int

    exact = Share("exact_right", "n")
    """The share whose set of heads is gold's."""
    exact_mentions = Share("exact_mentions_right", "n")
    """The share whose set of head tokens is gold's."""

    precision = Share("heads.hit", "heads.predicted")
    """Over heads."""
    recall = Share("heads.hit", "heads.gold")
    """Over heads."""

    @property
    def f1(self) -> float | None:
        """Over heads."""
        return self.heads.f1

    relation = Share("relation_right", "relation_n")
    """Where gold states AND or OR, the share with the same relation."""


def judge_heads(
    examples: Sequence[ResolutionExample], answers: Sequence[Answer | None]
) -> tuple[HeadsJudged, ...]:
    """Score the answers to examples whose gold is a Reference.

    Raises ValueError if the numbers of answers and examples differ.
    """
    return tuple(
        judge_heads_one(example, answer)
        for example, answer in zip(examples, answers, strict=True)
        if example.gold.kind is Kind.REFERENCE
    )


def judge_heads_one(example: ResolutionExample, answer: Answer | None) -> HeadsJudged:
    """Score an answer. Raises ValueError unless the gold is a Reference."""
    gold = example.gold
    if gold.kind is not Kind.REFERENCE:
        raise ValueError(f"{example.where}: gold {gold.kind} has no heads")
    lemmas = [token.lemma for token in example.item.passage.tokens]
    wanted = merged(gold.heads, lemmas)
    given = merged(answer.heads if answer else (), lemmas)
    heads = HeadCounts(len(given), len(wanted), _matched(given, wanted, lemmas))
    tokens, said = set(gold.head_tokens()), set(answer.head_tokens() if answer else ())
    return HeadsJudged(
        example,
        answer,
        heads=heads,
        mentions=HeadCounts(len(said), len(tokens), len(said & tokens)),
        exact=heads.hit == heads.predicted == heads.gold,
        exact_mentions=said == tokens,
        several=len(wanted) > 1,
        relation=_relation(gold, answer, len(wanted)),
    )


def head_figures(judged: Iterable[HeadsJudged]) -> HeadFigures:
    some = list(judged)
    return HeadFigures(
        n=len(some),
        exact_right=sum(one.exact for one in some),
        heads=sum((one.heads for one in some), HeadCounts()),
        exact_mentions_right=sum(one.exact_mentions for one in some),
        mentions=sum((one.mentions for one in some), HeadCounts()),
        relation_n=sum(one.relation is not None for one in some),
        relation_right=sum(one.relation is True for one in some),
    )


# --- heads of one answer, and of two --------------------------------------------------------


def merged(heads: Iterable[Head], lemmas: Sequence[str]) -> tuple[Head, ...]:
    """The distinct heads: heads that are the same are joined."""
    kept: list[Head] = []
    for head in heads:
        same = [other for other in kept if same_head(other, head, lemmas)]
        kept = [other for other in kept if other not in same]
        kept.append(Head(tuple(m for one in (*same, head) for m in one.mentions)))
    return tuple(kept)


def _matched(given: Sequence[Head], wanted: Sequence[Head], lemmas: Sequence[str]) -> int:
    """The largest number of pairs of the same head, each head in one pair."""
    same = [[same_head(mine, gold, lemmas) for gold in wanted] for mine in given]
    if len(given) < 2 or len(wanted) < 2:
        return int(any(map(any, same)))
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(same, maximize=True)
    return sum(same[row][column] for row, column in zip(rows, columns, strict=True))


def _relation(gold: Answer, answer: Answer | None, nouns: int) -> bool | None:
    if nouns < 2 or gold.relation not in (Relation.AND, Relation.OR):
        return None
    return answer is not None and answer.relation is gold.relation


class Mistake(StrEnum):
    """The kinds of wrong choices. The first one that holds applies, in this order."""

    NOTHING = "nothing said"
    CLASS_FOR_CLASS = "another class"
    WORD_FOR_CLASS = "a word for a class"
    OUT_OF_REACH = "no gold head among the candidates"
    CLASS_FOR_WORD = "a class for a word"
    SAME_FORM = "the same word where it is not marked"
    SAME_LEMMA = "another form of the word, not marked"
    NUMBER = "a number word"
    PRONOUN = "a pronoun"
    BESIDE = "a word beside a gold head"
    NEARER = "a word nearer than the gold head"
    FARTHER = "a word as far as the gold head, or farther"


PRONOUNS = frozenset(
    (
        "he her hers herself him himself his i it its itself me mine my myself she that their "
        "theirs them themselves these they this those us we what which who whom you your "
        "yours yourself our ours ourselves yourselves someone something anyone anything "
        "everyone everything nobody nothing somebody anybody everybody"
    ).split()
)
"""Words that stand for a noun, in lower case."""

REACH = 3
"""Tokens within which a token is beside a gold head: usually it is a word of its phrase."""


@dataclass(frozen=True, slots=True)
class WrongExample:
    """A wrong example (no gold mention was chosen), and its kind of mistake."""

    judged: ScoredExample
    mistake: Mistake


@dataclass(frozen=True, slots=True)
class MistakeCount:
    """The number of mistakes of a kind, and their share of all mistakes."""

    mistake: Mistake
    n: int
    share: float


def mistakes(judged: Iterable[ScoredExample]) -> tuple[WrongExample, ...]:
    """The wrong examples, in order."""
    return tuple(WrongExample(one, mistake(one)) for one in judged if not one.right)


def by_mistake(mistaken: Sequence[WrongExample]) -> tuple[MistakeCount, ...]:
    """The kinds that occur, most frequent first, ties in the order of Mistake."""
    counts = Counter(one.mistake for one in mistaken)
    ranked = sorted(counts, key=lambda kind: (-counts[kind], list(Mistake).index(kind)))
    return tuple(
        MistakeCount(kind, counts[kind], share(counts[kind], len(mistaken)) or 0.0)
        for kind in ranked
    )


def mistake(one: ScoredExample) -> Mistake:
    """The kind of mistake of a wrong choice. Raises ValueError for a correct one."""
    if one.right:
        raise ValueError(f"{one.example.where}: the choice is right")
    if one.choice is None:
        return Mistake.NOTHING
    if not one.reference:
        return Mistake.CLASS_FOR_CLASS if one.token is None else Mistake.WORD_FOR_CLASS
    if one.choice.scores and is_lost(one):
        return Mistake.OUT_OF_REACH
    if one.token is None:
        return Mistake.CLASS_FOR_WORD
    return _wrong_token(one, one.token)


def is_lost(one: ScoredExample) -> bool:
    """Whether no gold head is a candidate, for example because all stand outside a recipe's
    window.

    Then the choice could not be correct. False for classes and without a choice.
    """
    if one.choice is None or not one.reference:
        return False
    heads = one.example.gold.head_tokens()
    return all(score_of(one.choice, str(head)) is None for head in heads)


def _wrong_token(one: ScoredExample, token: int) -> Mistake:
    passage, heads = one.example.item.passage, one.example.gold.head_tokens()
    word = passage.word(token).lower()
    if one.inclusive:
        return Mistake.SAME_FORM
    if _lemma(passage, token) in {_lemma(passage, head) for head in heads}:
        return Mistake.SAME_LEMMA
    if parts_of(word):
        return Mistake.NUMBER
    if word in PRONOUNS:
        return Mistake.PRONOUN
    if min(abs(token - head) for head in heads) <= REACH:
        return Mistake.BESIDE
    away = distance(one.example.item.anchor, token)
    return (
        Mistake.NEARER if one.distance is not None and away < one.distance else Mistake.FARTHER
    )


def _lemma(passage: Passage, token: int) -> str:
    return passage.tokens[token].lemma.strip().casefold()


# --- oracle: the choice if it were known whether the head is in the text ---------------------
#
# The paper's oracle experiments (section 6.3, table 5) keep only candidates of the correct
# kind, in training and in test. Here they are restricted in test; trained recipes have a
# setting that restricts training, too, and such a model is scored in the same way.

CLASSES = len(IMPLICIT_KINDS)


def oracle(
    examples: Sequence[ResolutionExample], choices: Sequence[Choice | None]
) -> ResolutionFigures:
    """The figures with candidates of the correct kind only.

    `reference` and `implicit` are the paper's two oracle figures. Raises ValueError if the
    numbers of examples and choices differ.
    """
    restricted = [
        None
        if choice is None
        else restricted_choice(choice, reference=one.gold.kind is Kind.REFERENCE)
        for one, choice in zip(examples, choices, strict=True)
    ]
    return figures(judge(examples, restricted))


def restricted_choice(choice: Choice, *, reference: bool) -> Choice | None:
    """The best among the tokens (reference) or among the classes; None where none has a score.

    Of equals the original choice wins, then the first.
    """
    kept = {
        place: score
        for place, score in enumerate(choice.scores)
        if score is not None and (place >= CLASSES) == reference
    }
    if not kept:
        return None
    ranked = sorted(kept, key=lambda place: name_of(place) != choice.choice)
    found = choice_of({place: kept[place] for place in ranked}, len(choice.scores) - CLASSES)
    return replace(found, several=choice.several, nfh=choice.nfh)


# --- the paper's figures of resolution
# ---------------------------------------------------------
#
# Elazar and Goldberg 2019, "Where's My Head? Definition, Data Set, and Models for Numeric
# Fused-Head Identification and Resolution", Transactions of the ACL 7:519-535
# (https://arxiv.org/abs/1905.10886), section 6. Figures are in percent, as printed: cut to one
# digit, not rounded. They are of `accuracy_inclusive`, by the authors' code.


@dataclass(frozen=True, slots=True)
class PublishedResolution:
    """A figure of the paper: what was scored, on which data, and its value in percent."""

    what: str
    data: str
    figure: str
    """A property of `ResolutionFigures`, with "oracle" before it where candidates are limited
    to the correct kind, in training and in test.
    """
    percent: float
    source: str


PLAIN, ELMO = "the paper's model", "the paper's model with ELMo"
DEV, TEST = "its dev set", "its test set"
REFERENCES = "its References"
TABLE_5, TABLE_6, TEXT = "table 5", "table 6", "section 6"

RESULTS: tuple[PublishedResolution, ...] = (
    PublishedResolution(PLAIN, DEV, "accuracy_inclusive", 65.6, TABLE_6),
    PublishedResolution(PLAIN, TEST, "accuracy_inclusive", 60.8, TABLE_6),
    PublishedResolution(ELMO, DEV, "accuracy_inclusive", 77.2, TABLE_6),
    PublishedResolution(ELMO, TEST, "accuracy_inclusive", 74.0, TABLE_6),
)
"""The full model over all examples."""

BY_KIND: tuple[PublishedResolution, ...] = (
    PublishedResolution(PLAIN, DEV, "oracle reference", 70.4, TABLE_5),
    PublishedResolution(PLAIN, DEV, "oracle implicit", 82.8, TABLE_5),
    PublishedResolution(PLAIN, DEV, "reference_inclusive", 61.4, TABLE_5),
    PublishedResolution(PLAIN, DEV, "implicit", 69.2, TABLE_5),
    PublishedResolution(ELMO, DEV, "oracle reference", 81.2, TABLE_5),
    PublishedResolution(ELMO, DEV, "oracle implicit", 90.6, TABLE_5),
    PublishedResolution(ELMO, DEV, "reference_inclusive", 73.0, TABLE_5),
    PublishedResolution(ELMO, DEV, "implicit", 80.7, TABLE_5),
)
"""Reference and implicit separately: with candidates of the correct kind only, and with all."""

KINDS_TOLD: tuple[PublishedResolution, ...] = (
    PublishedResolution(ELMO, DEV, "binary", 86.1, TEXT),
    PublishedResolution(ELMO, DEV, "class_accuracy", 81.9, TEXT),
)
"""Reference against implicit, and the seven classes."""

BASELINES: tuple[PublishedResolution, ...] = (
    PublishedResolution("first noun", REFERENCES, "reference", 19.1, TEXT),
    PublishedResolution("last noun", REFERENCES, "reference", 20.3, TEXT),
    PublishedResolution("closest noun", REFERENCES, "reference", 39.2, TEXT),
)
"""A noun by its position, on References."""

LINEAR_BELOW = PublishedResolution("linear", DEV, "accuracy_inclusive", 28.0, "appendix")
"""The paper says that the linear baseline stays below this."""

ELMO_N = 1_000
"""Examples of the dev set, on which the confusion matrix is computed."""

_DIAGONAL = dict(zip(LABELS, (44, 105, 32, 68, 30, 154, 338), strict=True))
_BESIDE = {
    ("REFERENCE", "OTHER"): 51,
    ("REFERENCE", REF_WRONG): 48,
    ("REFERENCE", "PEOPLE"): 13,
    ("OTHER", "REFERENCE"): 44,
    ("OTHER", "PEOPLE"): 10,
    ("PEOPLE", "OTHER"): 13,
    ("PEOPLE", "REFERENCE"): 11,
    ("CURRENCY", "OTHER"): 6,
}


def elmo_confusion() -> tuple[tuple[int | None, ...], ...]:
    """The known cells of the paper's figure 5 (ELMo, dev), in the layout of `Confusion.rows`.

    None where the count is not known here; those counts are small. A token chosen for a class
    is under REFERENCE, as in ours.
    """
    known = {(label, label): count for label, count in _DIAGONAL.items()} | _BESIDE
    known |= {(label, REF_WRONG): 0 for label in LABELS[:-1]}
    return tuple(tuple(known.get((gold, said)) for said in COLUMNS) for gold in LABELS)


DISTANCES: tuple[str, ...] = (
    "1 to 5 tokens",
    "6 to 10 tokens",
    "11 to 20 tokens",
    "21 to 40 tokens",
    "over 40 tokens",
)
_DISTANCE_ENDS = (5, 10, 20, 40)

TURNS: tuple[str, ...] = ("same turn", "1 turn away", "2 turns away", "3 turns away or more")

SIDES: tuple[str, ...] = tuple(side.value for side in HeadSide)
"""Where all gold heads stand: before the anchor, after it, on both sides."""

SHAPES: tuple[str, ...] = (
    "one",
    "another word",
    "several words",
    "1 digit",
    "2 digits",
    "3 digits",
    "4 digits",
    "5 digits or more",
    "digits and more",
)
"""How an anchor is written. "digits and more": with commas, points, letters or words."""

FREQUENT = 5
"""Occurrences from which on an anchor's words are listed."""


@dataclass(frozen=True, slots=True)
class PartFigures:
    """The figures of a group of examples."""

    name: str
    figures: ResolutionFigures


@dataclass(frozen=True, slots=True)
class ClassPart:
    """How well one of the seven labels is predicted; any token is REFERENCE."""

    label: str
    n: int
    """Examples with this gold label."""
    predicted: int
    """Examples with this prediction."""
    hit: int
    """Both."""
    right: int
    """As `hit`, but for REFERENCE the token is a gold mention."""

    precision = Share("hit", "predicted")
    """None without predictions."""
    recall = Share("hit", "n")
    """None without gold."""

    @property
    def f1(self) -> float | None:
        """None with neither label nor prediction."""
        return share(2 * self.hit, self.n + self.predicted)

    accuracy = Share("right", "n")
    """None without gold."""


def by_class(judged: Iterable[ScoredExample]) -> tuple[ClassPart, ...]:
    """Each of the seven labels, in the order of LABELS, those without examples included."""
    some = list(judged)
    seven = {REF_WRONG: Kind.REFERENCE.value}
    cells = Counter((one.gold, seven.get(one.predicted or "", one.predicted)) for one in some)
    right = Counter(one.gold for one in some if one.right)
    return tuple(
        ClassPart(
            label,
            n=sum(count for (gold, _), count in cells.items() if gold == label),
            predicted=sum(count for (_, said), count in cells.items() if said == label),
            hit=cells[label, label],
            right=right[label],
        )
        for label in LABELS
    )


def by_word(judged: Iterable[ScoredExample], least: int = FREQUENT) -> tuple[PartFigures, ...]:
    """By the anchor's words in lower case, if they occur `least` times; most frequent first."""
    parts = _parts(judged, lambda one: anchor_words(one.example))
    frequent = [part for part in parts.values() if part.figures.n >= least]
    return tuple(sorted(frequent, key=lambda part: (-part.figures.n, part.name)))


def by_shape(judged: Iterable[ScoredExample]) -> tuple[PartFigures, ...]:
    """By how the anchor is written, in the order of SHAPES, without empty parts."""
    return _ordered(SHAPES, judged, lambda one: shape(one.example))


def by_distance(judged: Iterable[ScoredExample]) -> tuple[PartFigures, ...]:
    """References by the distance of the nearest head, in the order of DISTANCES."""
    return _ordered(DISTANCES, judged, _distance)


def by_turns(judged: Iterable[ScoredExample]) -> tuple[PartFigures, ...]:
    """References by the turns to the head whose turn is nearest, in the order of TURNS."""
    return _ordered(TURNS, judged, _turns)


def by_side(judged: Iterable[ScoredExample]) -> tuple[PartFigures, ...]:
    """References by where their heads stand, in the order of SIDES."""
    return _ordered(SIDES, judged, lambda one: one.side)


# --- what an example is ---------------------------------------------------------------------


def anchor_words(example: ResolutionExample) -> str:
    """The words of the anchor in lower case, separated by spaces."""
    passage, anchor = example.item.passage, example.item.anchor
    return " ".join(passage.word(at) for at in range(anchor.start, anchor.end)).lower()


def shape(example: ResolutionExample) -> str:
    """How the anchor is written, one of SHAPES."""
    words = anchor_words(example)
    if re.fullmatch(r"\d+", words):
        return SHAPES[2 + min(len(words), 5)]
    if any(map(str.isdigit, words)):
        return SHAPES[8]
    if words == "one":
        return SHAPES[0]
    return SHAPES[2] if " " in words else SHAPES[1]


def _distance(one: ScoredExample) -> str | None:
    if one.distance is None:
        return None
    return DISTANCES[sum(one.distance > end for end in _DISTANCE_ENDS)]


def _turns(one: ScoredExample) -> str | None:
    return None if one.turns is None else TURNS[min(one.turns, len(TURNS) - 1)]


Name = Callable[[ScoredExample], str | None]


def _parts(judged: Iterable[ScoredExample], name: Name) -> dict[str, PartFigures]:
    """By name; examples without a name are left out."""
    groups: dict[str, list[ScoredExample]] = defaultdict(list)
    for one in judged:
        called = name(one)
        if called is not None:
            groups[called].append(one)
    return {called: PartFigures(called, figures(some)) for called, some in groups.items()}


def _ordered(
    names: Sequence[str], judged: Iterable[ScoredExample], name: Name
) -> tuple[PartFigures, ...]:
    parts = _parts(judged, name)
    return tuple(parts[called] for called in names if called in parts)
