"""Intervals over passages: what they must do, and that grouping changes nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.agreement.bootstrap import (
    Resampling,
    by_passage,
    distinct,
    grouped,
    ratio,
)
from nfh_models.agreement.measure import NOT_ASKED


def share(values: list[int]) -> np.ndarray:
    return np.column_stack((values, np.ones(len(values)))).astype(float)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), min_size=1, max_size=40))
def test_sums_by_passage_are_sums(rows: list[tuple[int, int]]) -> None:
    passages = np.array([passage for passage, _ in rows])
    sums = by_passage(share([value for _, value in rows]), passages)
    for place, passage in enumerate(sorted(set(passages.tolist()))):
        own = [value for number, value in rows if number == passage]
        assert sums[place].tolist() == [sum(own), len(own)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_distinct_rows_with_their_numbers_are_all_rows(rows: list[tuple[int, int]]) -> None:
    groups, sizes = distinct(np.array(rows, dtype=float))
    found = {
        tuple(group): int(size) for group, size in zip(groups.tolist(), sizes, strict=True)
    }
    assert found == {row: rows.count(row) for row in set(rows)}


@pytest.mark.parametrize("order", [sorted, list])
def test_rows_a_few_at_a_time_give_the_same_groups(
    monkeypatch: pytest.MonkeyPatch, order
) -> None:
    random = np.random.default_rng(4)
    passages = np.array(order(random.integers(0, 40, 300).tolist()))
    rows = random.integers(0, 2, (300, 3)) / 3
    groups, sizes = distinct(by_passage(rows, passages))
    monkeypatch.setattr("nfh_models.agreement.bootstrap.ROWS_AT_ONCE", 5)
    for made in (rows, rows.__getitem__):
        found = grouped(made, passages)
        assert found[0].tolist() == groups.tolist()
        assert found[1].tolist() == sizes.tolist()


def test_minus_zero_is_zero() -> None:
    assert len(distinct(np.array([[0.0], [-0.0]]))[0]) == 1


def test_resampling_groups_is_resampling_passages() -> None:
    """The interval of a share over single items is that of a binomial; ours is near it."""
    random = np.random.default_rng(5)
    values = (random.random(400) < 0.3).astype(int)
    found = Resampling(4_000, 1).measure(
        float(values.mean()), 400, share(values.tolist()), np.arange(400), ratio
    )
    drawn = random.choice(values, size=(4_000, 400)).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert found.low == pytest.approx(low, abs=0.006)
    assert found.high == pytest.approx(high, abs=0.006)


def test_items_of_one_passage_count_as_one_draw() -> None:
    values = [1] * 50 + [0] * 50
    apart = Resampling(500, 1).measure(0.5, 100, share(values), np.arange(100), ratio)
    together = Resampling(500, 1).measure(0.5, 100, share(values), np.arange(100) // 10, ratio)
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_the_same_seed_gives_the_same_interval() -> None:
    random = np.random.default_rng(2)
    values = np.column_stack((random.random(30), np.ones(30)))
    passages = np.arange(30)
    found = [
        Resampling(100, seed).measure(0.5, 30, values, passages, ratio) for seed in (1, 1, 2)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_chunks_of_draws_give_as_many_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfh_models.agreement.bootstrap.CELLS_AT_ONCE", 7)
    drawn = Resampling(50, 3).draw(*distinct(share([1, 0, 1, 1])), ratio)
    assert len(drawn) == 50
    assert not np.isnan(drawn).any()


def test_where_there_is_no_interval_it_is_said() -> None:
    rows, one = share([1, 0]), np.zeros(2, dtype=int)
    assert Resampling(0).measure(0.5, 2, rows, one, ratio).why == NOT_ASKED
    found = Resampling(10).measure(0.5, 2, rows, one, ratio)
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert "in one" in (found.why or "")


def test_passages_that_are_all_alike_give_no_interval_of_no_width() -> None:
    rows, passages = np.array([[1.0, 1.0]] * 40), np.arange(40)
    found = Resampling(50).measure(1.0, 40, rows, passages, ratio)
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert "do not differ" in (found.why or "")
    rows[0, 0] = 0.0
    found = Resampling(50).measure(39 / 40, 40, rows, passages, ratio)
    assert found.low is not None
    assert found.low < 39 / 40


def test_a_measure_that_is_often_undefined_has_no_interval() -> None:
    """All there is stands in one passage of two: in a fourth of the draws it is missing."""
    rows = np.array([[1.0, 1.0], [0.0, 0.0]])
    found = Resampling(400, 1).measure(1.0, 1, rows, np.arange(2), ratio)
    assert (found.low, found.high) == (None, None)
    assert "not defined" in (found.why or "")
