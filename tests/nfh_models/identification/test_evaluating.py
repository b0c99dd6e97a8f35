"""Figures of identification: counted, measured, compared, broken down."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.identification.base import Decision, Example, SentenceNumber
from nfh_models.identification.evaluation import KINDS, LABELS, LENGTHS, compare, evaluate
from nfh_models.identification.scores import count
from nfh_models.parsing.base import WordSpan

FEW = Resampling(200, seed=3)
PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)


def example(
    words: str, label: bool = True, place: int = 0, end: int = 0, group: str = ""
) -> Example:
    """A number of one sentence; its group is the sentence unless another is named."""
    tokens = words.split()
    word_span = WordSpan(tokens, [True] * len(tokens))
    case = SentenceNumber(word_span, place, end or place + 1)
    return Example(case, label, f"line {len(tokens)}", group or words)


def examples(pairs: Sequence[tuple[bool, bool]], groups: int = 1_000) -> list[Example]:
    return [
        example(f"one of them {number}", label, group=str(number % groups))
        for number, (label, _) in enumerate(pairs)
    ]


def decisions(pairs: Sequence[tuple[bool, bool]]) -> list[Decision]:
    return [Decision(said, "yes-rule" if said else "no-rule") for _, said in pairs]


def said(decided: Sequence[Decision]) -> list[bool]:
    return [one.nfh for one in decided]


# --- figures --------------------------------------------------------------------------------

MIXED = [(True, True)] * 6 + [(True, False)] * 2 + [(False, True)] * 3 + [(False, False)] * 9


def test_figures_are_those_of_the_counts() -> None:
    found = evaluate(examples(MIXED), decisions(MIXED), FEW)
    assert found.counts.n == 20
    assert found.precision.value == pytest.approx(6 / 9)
    assert found.recall.value == pytest.approx(6 / 8)
    assert found.f1.value == pytest.approx(12 / 17)
    assert found.accuracy.value == pytest.approx(15 / 20)
    assert found.counts.rows == ((6, 2), (3, 9))
    assert LABELS == ("NFH", "NOT_NFH")


def test_intervals_hold_their_value_and_follow_the_seed() -> None:
    found = evaluate(examples(MIXED), decisions(MIXED), FEW)
    for one in (found.precision, found.recall, found.f1, found.accuracy):
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.value < one.high
    again = evaluate(examples(MIXED), decisions(MIXED), FEW)
    other = evaluate(examples(MIXED), decisions(MIXED), Resampling(200, seed=4))
    assert again.f1 == found.f1
    assert other.f1 != found.f1


def test_examples_of_one_passage_are_drawn_together() -> None:
    pairs = MIXED * 5
    alone = evaluate(examples(pairs), decisions(pairs), FEW)
    # Twenty passages, in each of which all five examples fare alike.
    together = evaluate(examples(pairs, groups=20), decisions(pairs), FEW)
    assert together.groups == 20
    assert alone.groups == 100
    assert together.f1.value == alone.f1.value
    assert _width(together.f1) > 1.5 * _width(alone.f1)


def _width(measure: object) -> float:
    return measure.high - measure.low  # type: ignore[attr-defined, no-any-return]


def test_nothing_to_measure_gives_sentences_and_no_figure() -> None:
    found = evaluate([], [], FEW)
    assert found.counts.n == 0
    for one in (found.precision, found.recall, found.f1, found.accuracy):
        assert one.value is None
        assert one.why == "There are no examples."
    assert found.errors == found.by_rule == found.by_word == ()


@pytest.mark.parametrize(
    ("pairs", "figures"),
    [
        ([(True, True)] * 3, (1.0, 1.0, 1.0, 1.0)),
        ([(True, False)] * 3, (None, 0.0, 0.0, 0.0)),
        ([(False, True)] * 3, (0.0, None, 0.0, 0.0)),
        ([(False, False)] * 3, (None, None, None, 1.0)),
    ],
)
def test_one_label_only_is_no_division_by_zero(
    pairs: list[tuple[bool, bool]], figures: tuple[float | None, ...]
) -> None:
    found = evaluate(examples(pairs), decisions(pairs), FEW)
    measured = (found.precision, found.recall, found.f1, found.accuracy)
    assert tuple(one.value for one in measured) == figures
    assert all((one.value is None) <= (one.why is not None) for one in measured)
    # What cannot vary has no interval: one of no width would claim too much.
    assert all(one.low is None and one.high is None for one in measured)


@given(PAIRS)
def test_counts_and_figures_hold_together(pairs: list[tuple[bool, bool]]) -> None:
    counts = count(pairs)
    assert counts.n == len(pairs) == counts.right + counts.wrong
    assert counts.nfh == sum(label for label, _ in pairs)
    precision, recall, f1 = counts.precision, counts.recall, counts.f1
    if precision and recall:
        assert f1 is not None
        assert math.isclose(f1, 2 * precision * recall / (precision + recall))
    else:
        assert not f1
    assert (counts.accuracy is None) == (not pairs)


@given(PAIRS)
def test_every_breakdown_adds_up_to_the_whole(pairs: list[tuple[bool, bool]]) -> None:
    found = evaluate(examples(pairs), decisions(pairs), Resampling(0))
    for parts in (found.by_rule, found.by_word, found.by_kind, found.by_length):
        assert sum((part.counts for part in parts), count(())) == found.counts
        assert len({part.name for part in parts}) == len(parts)
    assert len(found.errors) == found.counts.wrong
    assert all(one.example.nfh is not one.decision.nfh for one in found.errors)


def test_decisions_that_are_not_one_an_example_are_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        evaluate(examples(MIXED), decisions(MIXED) + decisions(MIXED[:1]), FEW)


# --- breakdowns -----------------------------------------------------------------------------


def test_numbers_are_told_apart_by_how_they_are_written() -> None:
    some = [
        example("One of you"),
        example("the two of us", place=1),
        example("in '96", place=1),
        example("5 million"),
        example("twenty - five", end=3),
        example("a thing", place=1),
        example("fifty five", end=2),
    ]
    found = evaluate(some, [Decision(True, "any")] * len(some), Resampling(0))
    kinds = {part.name: part.counts.n for part in found.by_kind}
    assert kinds == {"one": 1, "other words": 3, "digits": 2, "no number": 1}
    assert tuple(kinds) == KINDS
    lengths = {part.name: part.counts.n for part in found.by_length}
    assert lengths == {"1 token": 5, "2 tokens": 1, "3 tokens or more": 1}
    assert tuple(lengths) == LENGTHS
    words = [part.name for part in found.by_word]
    assert words == sorted(words)
    assert {"one", "twenty - five", "fifty five"} <= set(words)


def test_the_busiest_come_first() -> None:
    some = [example(f"two or so {n}") for n in range(3)] + [example("nine of us")]
    rules = ["b", "a", "a", "a"]
    found = evaluate(some, [Decision(True, rule) for rule in rules], Resampling(0))
    assert [part.name for part in found.by_word] == ["two", "nine"]
    assert [(part.name, part.counts.n) for part in found.by_rule] == [("a", 3), ("b", 1)]


# --- two models -----------------------------------------------------------------------------


def test_a_model_does_not_differ_from_itself() -> None:
    found = compare(examples(MIXED), [it for _, it in MIXED], [it for _, it in MIXED], FEW)
    assert found.difference.value == 0
    assert found.p == 1
    assert found.only_first == found.only_second == 0


def test_the_better_of_two_is_found_from_either_side() -> None:
    pairs = MIXED * 10
    worse = said(decisions(pairs))
    right = [label for label, _ in pairs]
    forth = compare(examples(pairs), right, worse, FEW)
    back = compare(examples(pairs), worse, right, FEW)
    value = forth.difference.value
    assert value is not None
    assert value == pytest.approx(1 - 12 / 17)
    assert back.difference.value == pytest.approx(-value)
    assert forth.p == back.p == pytest.approx(1 / 201)
    assert forth.difference.low is not None
    assert forth.difference.low > 0
    assert (forth.only_first, forth.only_second) == (50, 0)
    assert (back.only_first, back.only_second) == (0, 50)


def test_a_difference_of_one_example_is_no_proof() -> None:
    pairs = MIXED * 10
    first = said(decisions(pairs))
    second = [not first[0], *first[1:]]
    found = compare(examples(pairs), first, second, FEW)
    assert found.only_first == 1
    assert found.p is not None
    assert found.p > 0.2


@pytest.mark.parametrize("pairs", [[], [(False, False)] * 4])
def test_without_f1_there_is_nothing_to_compare(pairs: list[tuple[bool, bool]]) -> None:
    both = [it for _, it in pairs]
    found = compare(examples(pairs), both, both, FEW)
    assert found.difference.value is None
    assert found.difference.why
    assert found.p is None
