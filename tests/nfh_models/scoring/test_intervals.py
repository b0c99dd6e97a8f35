"""Intervals over groups, and two recipes on the same examples."""

import numpy as np
import pytest

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.domain import Kind
from nfh_models.resolution.base import ResolutionExample
from nfh_models.resolution.evaluation import (
    HEAD_MEASURES,
    MEASURES,
    compare,
    intervals,
    mcnemar_exact,
)
from nfh_models.resolution.scoring import (
    ScoredExample,
    figures,
    head_figures,
    judge,
    judge_heads,
)

from .handmade import answer, choice, example

FEW = Resampling(300, seed=3)
AGES = [example("I am <six>", Kind.AGE, group=str(number)) for number in range(40)]


def ages(
    right: list[bool], examples: list[ResolutionExample] | None = None
) -> tuple[ScoredExample, ...]:
    return judge(examples or AGES, [choice("AGE" if hit else "TIME") for hit in right])


def pattern(share: int) -> list[bool]:
    return [number % 10 < share for number in range(40)]


# --- intervals ------------------------------------------------------------------------------


def test_every_measure_has_its_value_inside_its_interval() -> None:
    made = [
        example("[cups] and [cups] or Cups , <two>", group=str(number)) for number in range(20)
    ]
    said = [choice([0, 2, 4, 5, "OTHER"][number % 5]) for number in range(20)]
    answers = [answer([number % 3]) for number in range(20)]
    judged = judge([*made, *AGES], [*said, *(one.choice for one in ages(pattern(6)))])
    heads = judge_heads(made, answers)
    found = intervals(judged, heads, FEW)
    assert set(found) == {*MEASURES, *HEAD_MEASURES}
    counted, by_heads = figures(judged), head_figures(heads)
    for name in MEASURES:
        assert found[name].value == pytest.approx(getattr(counted, name))
    assert found["heads_exact"].value == pytest.approx(by_heads.exact)
    assert found["heads_f1"].value == pytest.approx(by_heads.f1)
    assert found["mentions_f1"].value == pytest.approx(by_heads.mentions.f1)
    assert (found["accuracy"].n, found["reference"].n, found["implicit"].n) == (60, 20, 40)
    for one in found.values():
        assert one.low is not None
        assert one.high is not None
        assert 0 <= one.low <= one.value <= one.high <= 1


def test_the_interval_is_that_of_resampled_groups() -> None:
    """Against drawing the groups one by one: both ends within what chance leaves."""
    right = pattern(6)
    found = intervals(ages(right), resampling=Resampling(4_000))["accuracy"]
    random = np.random.default_rng(8)
    means = np.array(right)[random.integers(0, 40, (4_000, 40))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    assert found.low == pytest.approx(low, abs=0.026)  # one example is 0.025
    assert found.high == pytest.approx(high, abs=0.026)


def test_examples_of_a_group_are_drawn_together() -> None:
    together = [example("I am <six>", Kind.AGE, group=str(number % 10)) for number in range(40)]
    apart = intervals(ages(pattern(6)), resampling=FEW)["accuracy"]
    wide = intervals(ages(pattern(6), together), resampling=FEW)["accuracy"]
    assert wide.value == apart.value
    assert wide.high - wide.low > 1.5 * (apart.high - apart.low)


def test_what_there_is_none_of_has_no_value() -> None:
    found = intervals(ages(pattern(6)), resampling=FEW)
    assert (found["reference"].value, found["reference"].n) == (None, 0)
    assert found["reference"].why
    assert intervals((), resampling=FEW)["accuracy"].value is None


# --- two recipes ----------------------------------------------------------------------------


def test_two_recipes_are_compared() -> None:
    found = compare(ages(pattern(9)), ages(pattern(5)), FEW)
    assert (found.first, found.second) == (0.9, 0.5)
    assert found.difference.value == pytest.approx(0.4)
    assert (found.both, found.only_first, found.only_second, found.neither) == (20, 16, 0, 4)
    assert found.mcnemar_p == pytest.approx(2 * 0.5**16)
    assert found.sign_flips == 0.0
    assert found.p == pytest.approx(1 / 301)


def test_the_other_way_round() -> None:
    some, others = pattern(6), [number % 7 < 3 for number in range(40)]
    one, other = (compare(ages(a), ages(b), FEW) for a, b in ((some, others), (others, some)))
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert (one.only_first, one.only_second) == (other.only_second, other.only_first)
    assert one.mcnemar_p == other.mcnemar_p
    assert one.sign_flips == pytest.approx(other.sign_flips, abs=0.15)  # other draws
    assert 0.05 < one.sign_flips < 0.95
    assert one.p > 0.05


def test_a_recipe_and_itself() -> None:
    found = compare(ages(pattern(6)), ages(pattern(6)), FEW)
    assert found.difference.value == 0
    assert (found.sign_flips, found.p, found.mcnemar_p) == (1.0, 1.0, 1.0)


def test_only_the_examples_that_count_are_compared() -> None:
    made = [*AGES, example("[cups] , <two>", group="cups")]
    one = judge(made, [choice("AGE")] * 40 + [choice(0)])
    other = judge(made, [choice("AGE")] * 40 + [choice(1)])
    found = compare(one, other, FEW, "implicit")
    assert (found.measure, found.both, found.only_first) == ("implicit", 40, 0)
    assert compare(one, other, FEW, "reference").only_first == 1
    assert compare(one, other, FEW, "reference").sign_flips is None  # a single group
    assert compare(one, other, FEW, "class_accuracy").both == 41
    nothing = compare(ages(pattern(6)), ages(pattern(5)), FEW, "reference")
    assert (nothing.first, nothing.difference.value, nothing.p) == (None, None, None)


@pytest.mark.parametrize("counts", [(0, 0), (3, 0), (5, 5), (2, 9), (30, 14)])
def test_mcnemar_agrees_with_statsmodels(counts: tuple[int, int]) -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    expected = mcnemar([[7, counts[0]], [counts[1], 3]], exact=True).pvalue
    assert mcnemar_exact(*counts) == pytest.approx(min(1.0, expected))


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="not a measure"):
        compare(ages(pattern(6)), ages(pattern(6)), FEW, "f1")
    with pytest.raises(ValueError, match="same examples"):
        compare(ages(pattern(6)), ages(pattern(6))[::-1], FEW)
