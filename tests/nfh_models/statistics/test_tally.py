"""A tally knows what the list of its values would say."""

import statistics

from hypothesis import given
from hypothesis import strategies as st

from nfh_models.statistics import ValueCounts


def tallied(values: list[int]) -> ValueCounts:
    tally = ValueCounts()
    for value in values:
        tally.add(value)
    return tally


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(0, 30))
def test_it_agrees_with_the_list_of_values(values: list[int], limit: int) -> None:
    tally = tallied(values)
    assert tally.n == len(values)
    assert tally.total == sum(values)
    assert tally.mean == statistics.fmean(values)
    assert tally.median == statistics.median(values)
    assert tally.most == max(values)
    assert tally.within(limit) == sum(value <= limit for value in values)
    assert tally.between(3, limit) == sum(3 <= value <= limit for value in values)


def test_of_nothing_there_is_no_figure() -> None:
    tally = ValueCounts()
    assert (tally.n, tally.total, tally.within(5)) == (0, 0, 0)
    assert tally.mean is None
    assert tally.median is None
    assert tally.most is None
