"""Blocks, seconds and trends of one person's answers in the order of their times."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from statsmodels.stats.multitest import multipletests

from nfh_models.agreement.drift import Trend, corrected, drift, kind_trends
from nfh_models.agreement.report import competence
from nfh_models.domain import Kind


def test_tenths_hold_all_answers_in_order(kit: Any) -> None:
    marks = [kit.mark(item) for item in range(205)]
    random.Random(1).shuffle(marks)
    blocks = drift(marks).blocks
    assert len(blocks) == 10
    assert sum(block.answers for block in blocks) == 205
    assert {block.answers for block in blocks} <= {20, 21}
    times = [time for block in blocks for time in (block.first, block.last)]
    assert times == sorted(times)


@pytest.mark.parametrize(("answers", "blocks"), [(1, 1), (19, 1), (20, 2), (99, 9), (100, 10)])
def test_few_answers_make_few_blocks(kit: Any, answers: int, blocks: int) -> None:
    assert len(drift([kit.mark(item) for item in range(answers)]).blocks) == blocks


@given(st.integers(1, 400))
@settings(max_examples=30, deadline=None)
def test_blocks_lose_nothing(kit: Any, answers: int) -> None:
    marks = [kit.mark(item, Kind.AGE if item % 3 else Kind.TIME) for item in range(answers)]
    blocks = drift(marks).blocks
    assert sum(sum(block.kinds.values()) for block in blocks) == answers


def test_weeks_and_days(kit: Any) -> None:
    days = ("2026-01-04", "2026-01-05", "2026-01-05", "2026-01-12")
    marks = [kit.mark(i, at=f"{day}T10:0{i}:00.000Z") for i, day in enumerate(days)]
    assert [block.answers for block in drift(marks, "weeks").blocks] == [1, 2, 1]
    assert [block.answers for block in drift(marks, "days").blocks] == [1, 2, 1]


def test_answers_a_day_count_whole_days(kit: Any) -> None:
    """Two blocks of one day: on that day forty answers were given, not twenty."""
    assert [block.a_day for block in drift([kit.mark(i) for i in range(40)]).blocks] == [40] * 4


def test_right_and_agreeing_by_block(kit: Any) -> None:
    marks = [kit.mark(i, right=i < 10, agreeing=0.5) for i in range(20)]
    first, second = drift(marks).blocks
    assert (first.right.value, second.right.value) == (1.0, 0.0)
    assert (first.agreeing.value, first.agreeing.n) == (0.5, 10)
    bare = drift([kit.mark(i) for i in range(20)]).blocks[0]
    assert (bare.right.value, bare.right.why) == (None, "No adjudicator decided these.")
    assert (bare.agreeing.value, bare.agreeing.why) == (None, "Nobody else answered these.")


def test_answers_of_one_time_have_no_order(kit: Any) -> None:
    marks = [kit.mark(i, at="2026-01-01T00:00:00.000Z", seconds=5) for i in range(30)]
    found = drift(marks)
    assert found.why == (
        "30 of 30 answers have the same time (2026-01-01T00:00:00.000Z), as in a file "
        "without times, so they have no order."
    )
    assert (found.blocks, found.trends) == ((), ())
    assert found.seconds is not None


def test_seconds_are_quartiles_without_breaks(kit: Any) -> None:
    seconds = [float(value) for value in range(1, 41)] + [5000.0]
    found = drift([kit.mark(i, seconds=value) for i, value in enumerate(seconds)]).seconds
    assert found is not None
    assert (found.n, found.breaks, found.limit) == (40, 1, 120.0)
    wanted = np.percentile(seconds[:-1], [25, 50, 75])
    assert [found.lower, found.median, found.upper] == pytest.approx(list(wanted))


def test_slow_people_have_a_longer_break(kit: Any) -> None:
    seconds = [100.0, 200.0] * 20 + [450.0, 600.0]
    found = drift([kit.mark(i, seconds=value) for i, value in enumerate(seconds)]).seconds
    assert found is not None
    assert (found.limit, found.breaks) == (500.0, 1)


def test_no_seconds_at_all(kit: Any) -> None:
    found = drift([kit.mark(i) for i in range(20)])
    assert found.seconds is None
    assert found.blocks[0].seconds is None


def test_a_steady_fall_is_told_and_chance_is_not(kit: Any) -> None:
    """A simulation: ann is right less and less often, and slower; bob is always the same."""
    source = random.Random(2)
    ann = [
        kit.mark(i, right=source.random() < 0.95 - i / 350, seconds=5 + i / 20)
        for i in range(300)
    ]
    bob = [kit.mark(i, right=source.random() < 0.8) for i in range(300)]
    report = competence(kit.marks({"ann": ann, "bob": bob}))
    by_name = {person.name: person.drift.trends for person in report.people}
    told = {trend.what: trend.rho > 0 for trend in by_name["ann"] if trend.holds}
    assert told == {"right by the adjudicator": False, "seconds": True}
    assert not any(trend.holds for trend in by_name["bob"])
    assert report.tests == sum(map(len, by_name.values())) == 3


def test_a_trend_of_right_and_wrong_is_the_rank_sum_test(kit: Any) -> None:
    source = random.Random(4)
    right = [source.random() < 0.6 + i / 1000 for i in range(200)]
    marks = [kit.mark(i, right=one) for i, one in enumerate(right)]
    (trend,) = drift(marks).trends
    early = [i for i, one in enumerate(right) if not one]
    late = [i for i, one in enumerate(right) if one]
    assert trend.p == pytest.approx(mannwhitneyu(early, late).pvalue, abs=0.005)


def test_kinds_are_tested_one_by_one_and_rare_ones_are_not() -> None:
    kinds = [Kind.AGE] * 40 + [Kind.TIME] * 40 + [Kind.YEAR] * 4
    assert {trend.what for trend in kind_trends(kinds)} == {"AGE", "TIME"}
    assert not list(kind_trends([Kind.AGE] * 200))
    assert not list(kind_trends([Kind.AGE, Kind.TIME] * 10))


def test_q_is_that_of_another_library() -> None:
    values = [0.001, 0.2, 0.03, 0.04, 0.9, 0.0004]
    trends = [Trend("x", 50, 0.1, p) for p in values]
    wanted = multipletests(values, method="fdr_bh")[1]
    assert [trend.q for trend in corrected(trends)] == pytest.approx(list(wanted))
    assert corrected([]) == []
    assert not replace(trends[0], q=None).holds
