"""Examples and what was decided of them made an evaluation: figures, breakdowns, errors."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nfh_models.identification.case import Case, Decision
from nfh_models.identification.example import Example
from nfh_models.identification.scores import Counts, count
from nfh_models.text.lexicon import parts_of

if TYPE_CHECKING:
    from nfh_models.agreement.bootstrap import Resampling
    from nfh_models.agreement.measure import Measure

LABELS = ("NFH", "NOT_NFH")
"""The labels of the confusion matrix, in the order of its rows and columns."""

KINDS = ("one", "other words", "digits", "no number")
"""What an anchor is written with. No number: the label stands at a word that is none, as in
some rows of the release."""

LENGTHS = ("1 token", "2 tokens", "3 tokens or more")


@dataclass(frozen=True, slots=True)
class Part:
    """The counts of the examples that have something in common."""

    name: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Error:
    """An example that was called what it is not."""

    example: Example
    decision: Decision


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good decisions are.

    precision, recall, f1, accuracy: fractions, with 95 % intervals. groups: how many groups
    of examples there are; the intervals are drawn over them. by_rule: by the rule, or the
    learned recipe, that decided, the busiest first. by_word: by the anchor's words in lower
    case, the most frequent first. by_kind, by_length: in the order of KINDS and LENGTHS,
    those left out that do not occur. errors: in the order of the examples.
    """

    counts: Counts
    groups: int
    precision: "Measure"
    recall: "Measure"
    f1: "Measure"
    accuracy: "Measure"
    by_rule: tuple[Part, ...]
    by_word: tuple[Part, ...]
    by_kind: tuple[Part, ...]
    by_length: tuple[Part, ...]
    errors: tuple[Error, ...]


def evaluate(
    examples: Sequence[Example],
    decisions: Sequence[Decision],
    resampling: "Resampling | None" = None,
) -> Evaluation:
    """How far the decisions, one an example and in their order, are what the labels say.

    resampling: of whole groups; by default a thousand resamples. ValueError for fewer or
    more decisions than examples.
    """
    from nfh_models.identification.intervals import measures

    outcomes = list(zip(examples, decisions, strict=True))
    said = [decision.nfh for decision in decisions]
    measured = measures(examples, said, resampling)
    return Evaluation(
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


def anchor_words(case: Case) -> str:
    """The words of the number in lower case, a space between two."""
    return " ".join(case.stretch.words[case.start : case.end]).lower()


def kind(case: Case) -> str:
    """What the number is written with, of KINDS."""
    words = case.stretch.words[case.start : case.end]
    if not any(parts_of(word) for word in words):
        return KINDS[3]
    if any(character.isdigit() for word in words for character in word):
        return KINDS[2]
    return KINDS[0] if anchor_words(case) == "one" else KINDS[1]


def length(case: Case) -> str:
    """How many tokens the number has, of LENGTHS."""
    return LENGTHS[min(case.end - case.start, len(LENGTHS)) - 1]


# --- breakdowns -----------------------------------------------------------------------------

Outcome = tuple[Example, Decision]
Name = TypeVar("Name", bound=Hashable)


def _counts(outcomes: Sequence[Outcome]) -> Counts:
    return count((example.nfh, decision.nfh) for example, decision in outcomes)


def _parts(
    outcomes: Sequence[Outcome], name: Callable[[Example, Decision], str]
) -> dict[str, Counts]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for example, decision in outcomes:
        groups[name(example, decision)].append((example, decision))
    return {name: _counts(some) for name, some in groups.items()}


def _busiest(parts: dict[str, Counts]) -> tuple[Part, ...]:
    ranked = sorted(parts.items(), key=lambda one: (-one[1].n, one[0]))
    return tuple(Part(name, counts) for name, counts in ranked)


def _ordered(names: Sequence[str], parts: dict[str, Counts]) -> tuple[Part, ...]:
    return tuple(Part(name, parts[name]) for name in names if name in parts)
