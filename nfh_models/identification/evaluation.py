"""Evaluation of identification: figures with bootstrap intervals, breakdowns, errors, the
comparison of two models, and the ablation of a recipe's parts.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec
import numpy as np

from nfh_models.agreement.bootstrap import Floats, Ints, Resampling, divided, numbered, ratio
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.identification import scores
from nfh_models.identification.base import Decision, Example, SentenceNumber
from nfh_models.identification.rules import RULES, IdentificationRule, SentenceView
from nfh_models.identification.scores import DecisionCounts, PublishedIdentification, count
from nfh_models.identification.svm import Feature, SvmSettings
from nfh_models.text.numbers import parts_of

LABELS = ("NFH", "NOT_NFH")
"""The labels of the confusion matrix, in the order of its rows and columns."""

KINDS = ("one", "other words", "digits", "no number")
"""How an anchor is written. "no number": the labelled word is no number, as in some rows of the
release.
"""

LENGTHS = ("1 token", "2 tokens", "3 tokens or more")


@dataclass(frozen=True, slots=True)
class PartCounts:
    """The counts of a group of examples."""

    name: str
    counts: DecisionCounts


@dataclass(frozen=True, slots=True)
class Error:
    """An example with a wrong decision."""

    example: Example
    decision: Decision


@dataclass(frozen=True, slots=True)
class IdentificationEvaluation:
    """The quality of the decisions of one model."""

    counts: DecisionCounts
    groups: int
    """Groups of examples, over which the intervals are resampled."""
    precision: Measure
    recall: Measure
    f1: Measure
    accuracy: Measure
    """`precision`, `recall`, `f1` and `accuracy` are fractions with 95 % intervals."""
    by_rule: tuple[PartCounts, ...]
    """By the rule, or learned recipe, that decided; most frequent first."""
    by_word: tuple[PartCounts, ...]
    """By the anchor's words in lower case; most frequent first."""
    by_kind: tuple[PartCounts, ...]
    by_length: tuple[PartCounts, ...]
    """`by_kind` and `by_length` are in the order of KINDS and LENGTHS, without empty parts."""
    errors: tuple[Error, ...]
    """In the order of the examples."""


def evaluate(
    examples: Sequence[Example],
    decisions: Sequence[Decision],
    resampling: Resampling | None = None,
) -> IdentificationEvaluation:
    """Evaluate the decisions, one for each example, in their order.

    resampling: of groups; by default 1,000 resamples. Raises ValueError for another number of
    decisions than examples.
    """
    outcomes = list(zip(examples, decisions, strict=True))
    said = [decision.nfh for decision in decisions]
    measured = measures(examples, said, resampling)
    return IdentificationEvaluation(
        counts=_counts(outcomes),
        groups=len({example.group for example in examples}),
        precision=measured["precision"],
        recall=measured["recall"],
        f1=measured["f1"],
        accuracy=measured["accuracy"],
        by_rule=_busiest(_parts(outcomes, lambda _, decision: decision.rule)),
        by_word=_busiest(_parts(outcomes, lambda example, _: anchor_words(example.case))),
        by_kind=_ordered(KINDS, _parts(outcomes, lambda example, _: kind(example.case))),
        by_length=_ordered(LENGTHS, _parts(outcomes, lambda example, _: length(example.case))),
        errors=tuple(
            Error(example, decision)
            for example, decision in outcomes
            if example.nfh is not decision.nfh
        ),
    )


# --- what an anchor is ----------------------------------------------------------------------


def anchor_words(case: SentenceNumber) -> str:
    """The words of the number in lower case, separated by spaces."""
    return " ".join(case.word_span.words[case.start : case.end]).lower()


def kind(case: SentenceNumber) -> str:
    """How the number is written, one of KINDS."""
    words = case.word_span.words[case.start : case.end]
    if not any(parts_of(word) for word in words):
        return KINDS[3]
    if any(character.isdigit() for word in words for character in word):
        return KINDS[2]
    return KINDS[0] if anchor_words(case) == "one" else KINDS[1]


def length(case: SentenceNumber) -> str:
    """How many tokens the number has, one of LENGTHS."""
    return LENGTHS[min(case.end - case.start, len(LENGTHS)) - 1]


# --- breakdowns -----------------------------------------------------------------------------

Outcome = tuple[Example, Decision]
Name = TypeVar("Name", bound=Hashable)


def _counts(outcomes: Sequence[Outcome]) -> DecisionCounts:
    return count((example.nfh, decision.nfh) for example, decision in outcomes)


def _parts(
    outcomes: Sequence[Outcome], name: Callable[[Example, Decision], str]
) -> dict[str, DecisionCounts]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for example, decision in outcomes:
        groups[name(example, decision)].append((example, decision))
    return {name: _counts(some) for name, some in groups.items()}


def _busiest(parts: dict[str, DecisionCounts]) -> tuple[PartCounts, ...]:
    ranked = sorted(parts.items(), key=lambda one: (-one[1].n, one[0]))
    return tuple(PartCounts(name, counts) for name, counts in ranked)


def _ordered(names: Sequence[str], parts: dict[str, DecisionCounts]) -> tuple[PartCounts, ...]:
    return tuple(PartCounts(name, parts[name]) for name in names if name in parts)


# --- intervals --------------------------------------------------------------------------------
#
# Percentiles of the bootstrap over groups of examples (see `nfh_models.agreement.bootstrap`).
# Two models are compared on the same resamples (Koehn 2004, Statistical Significance Tests for
# Machine Translation Evaluation, section 3.3; Davison and Hinkley 1997, section 4.4.1).

NOTHING = "There are no examples."
NONE_SAID = "Nothing was called an NFH."
NONE_THERE = "No example is an NFH."
NEITHER = "No example is an NFH, and none was called one."


def measures(
    examples: Sequence[Example], said: Sequence[bool], resampling: Resampling | None = None
) -> dict[str, Measure]:
    """Precision, recall, f1 and accuracy, each with its interval.

    said: for each example, whether it was decided to be an NFH.
    """
    drawing = resampling or Resampling()
    counts = count((one.nfh, it) for one, it in zip(examples, said, strict=True))
    found, groups = outcomes(examples, said), group_numbers(examples)
    hit, false, missed, passed = (found[:, place] for place in range(4))
    called, there, right = hit + false, hit + missed, hit + passed
    features = {
        "precision": (counts.precision, hit, called, NONE_SAID),
        "recall": (counts.recall, hit, there, NONE_THERE),
        "f1": (counts.f1, 2 * hit, called + there, NEITHER),
        "accuracy": (counts.accuracy, right, np.ones(len(found)), NOTHING),
    }
    return {
        name: _measure(counts, value, np.stack([part, whole], axis=1), groups, why, drawing)
        for name, (value, part, whole, why) in features.items()
    }


def _measure(
    counts: DecisionCounts,
    value: float | None,
    rows: Floats,
    groups: Ints,
    why: str,
    drawing: Resampling,
) -> Measure:
    if value is None:
        return undefined(why if counts.n else NOTHING, counts.n)
    return drawing.measure(value, counts.n, rows, groups, ratio)


def outcomes(examples: Sequence[Example], said: Sequence[bool]) -> Floats:
    """One-hot rows (hit, false, missed, passed) as in DecisionCounts, shape (examples, 4)."""
    label = np.array([one.nfh for one in examples], dtype=bool)
    called = np.array(said, dtype=bool)
    columns = (label & called, ~label & called, label & ~called, ~label & ~called)
    return np.stack(columns, axis=1).astype(np.float64)


def group_numbers(examples: Sequence[Example]) -> Ints:
    """The group number of each example, in the order of first occurrence."""
    return numbered(one.group for one in examples)


# --- two models on the same examples --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IdentifierComparison:
    """Two models on the same examples."""

    difference: Measure
    """F1 of the first minus F1 of the second, with its interval."""
    p: float | None
    """Two-sided p-value of "no difference"; None where nothing can be resampled."""
    only_first: int
    only_second: int
    """`only_first` and `only_second`: examples that only this model decided correctly."""


def compare(
    examples: Sequence[Example],
    first: Sequence[bool],
    second: Sequence[bool],
    resampling: Resampling | None = None,
) -> IdentifierComparison:
    """The difference of two models' F1, with its interval and p-value.

    The test resamples groups of examples, evaluates both models on the same resamples, and
    counts how often differences deviate from the observed one by at least its size.
    """
    drawing = resampling or Resampling()
    rows = np.concatenate([outcomes(examples, first), outcomes(examples, second)], axis=1)
    right = np.stack([rows[:, 0] + rows[:, 3], rows[:, 4] + rows[:, 7]], axis=1) > 0
    only_first = int(np.count_nonzero(right[:, 0] & ~right[:, 1]))
    only_second = int(np.count_nonzero(right[:, 1] & ~right[:, 0]))
    value = float(_difference(rows.sum(axis=0)))
    if np.isnan(value):
        why = "One of them has no F1." if len(rows) else NOTHING
        return IdentifierComparison(undefined(why, len(rows)), None, only_first, only_second)
    groups = group_numbers(examples)
    difference = drawing.measure(value, len(rows), rows, groups, _difference)
    p = drawing.p_value(value, rows, groups, _difference)
    return IdentifierComparison(difference, p, only_first, only_second)


def _difference(sums: Floats) -> Floats:
    return _f1(sums[..., :4]) - _f1(sums[..., 4:])


def _f1(sums: Floats) -> Floats:
    hit, false, missed = sums[..., 0], sums[..., 1], sums[..., 2]
    return divided(2 * hit, 2 * hit + false + missed)


# Ablation: the effect of each part of a recipe, measured by leaving it out. For `svm`, the rows
# of the paper's table (section 4.2, table 3) are those without head-pos, without window-pos and
# without both; the others are ours. For `rules`, each group and each rule but the last is left
# out, and the next rule that holds decides.


@dataclass(frozen=True, slots=True)
class Removal:
    """A row of the table of `svm`."""

    name: str
    without: frozenset[Feature]
    """The features left out."""
    published: PublishedIdentification | None = None
    """The paper's figures."""

    def settings(self, settings: SvmSettings) -> SvmSettings:
        """The settings without these features."""
        kept = tuple(one for one in settings.features if one not in self.without)
        return msgspec.structs.replace(settings, features=kept)


REMOVALS = (
    Removal("all four features", frozenset(), scores.SVM_DEV),
    Removal("without head-pos", frozenset({Feature.HEAD_POS}), scores.WITHOUT_HEAD_POS),
    Removal("without window-pos", frozenset({Feature.WINDOW_POS}), scores.WITHOUT_WINDOW_POS),
    Removal(
        "without both", frozenset({Feature.HEAD_POS, Feature.WINDOW_POS}), scores.WITHOUT_BOTH
    ),
    Removal("without window", frozenset({Feature.WINDOW})),
    Removal("without anchor", frozenset({Feature.ANCHOR})),
    Removal("anchor alone", frozenset(Feature) - {Feature.ANCHOR}),
)
"""The rows of the table of `svm`, the complete recipe first."""


@dataclass(frozen=True, slots=True)
class RuleRemoval:
    """A row of the table of `rules`. rules: names of the rules left out; none for the complete
    recipe.
    """

    name: str
    rules: frozenset[str]


WHOLE = RuleRemoval("all rules", frozenset())


def rule_removals() -> list[RuleRemoval]:
    """The complete recipe, then without each group, then without each rule.

    The last rule is never left out, since it always holds.
    """
    groups: dict[str, set[str]] = {}
    for rule in RULES[:-1]:
        groups.setdefault(rule.group.value, set()).add(rule.name)
    return [
        WHOLE,
        *(RuleRemoval(f"without group {name}", frozenset(of)) for name, of in groups.items()),
        *(RuleRemoval(f"without {rule.name}", frozenset({rule.name})) for rule in RULES[:-1]),
    ]


def holding(cases: Iterable[SentenceNumber]) -> list[list[IdentificationRule]]:
    """The rules that hold for each parsed case, in order. Raises ValueError for a case without
    a parse.
    """
    views = map(SentenceView.of, cases)
    return [[rule for rule in RULES if rule.test(view)] for view in views]


def without(
    held: Sequence[Sequence[IdentificationRule]], removal: RuleRemoval
) -> list[Decision]:
    """The decisions with some rules left out. held: the rules that hold, case by case."""
    deciding = (next(one for one in some if one.name not in removal.rules) for some in held)
    return [Decision(rule.nfh, rule.name) for rule in deciding]
