"""Audits: how a sample is allotted and drawn, and what it says of the whole."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.agreement.audit import (
    Advice,
    Stratum,
    advice,
    allocate,
    draw,
    interval,
    upper_bound,
    weighted,
)

SIZE = 150

ALLOCATIONS = [
    # by largest remainder
    ({"a": 50, "b": 30, "c": 20}, 10, {"a": 5, "b": 3, "c": 2}),
    ({"a": 47, "b": 16, "c": 37}, 10, {"a": 5, "b": 1, "c": 4}),
    ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
    # at least one of each that is not empty
    ({"a": 98, "b": 1, "c": 1, "d": 0}, 10, {"a": 8, "b": 1, "c": 1, "d": 0}),
    ({"a": 900, "b": 90, "c": 10}, 3, {"a": 1, "b": 1, "c": 1}),
    # as far as it goes: the largest first
    ({"a": 900, "b": 90, "c": 10}, 2, {"a": 1, "b": 1, "c": 0}),
    ({"a": 900, "b": 90, "c": 10}, 1, {"a": 1, "b": 0, "c": 0}),
    # never more than there are
    ({"a": 3, "b": 2}, 150, {"a": 3, "b": 2}),
    ({"a": 3, "b": 2}, 5, {"a": 3, "b": 2}),
    ({}, 150, {}),
]


@pytest.mark.parametrize(("sizes", "wanted", "found"), ALLOCATIONS)
def test_allocation(sizes: dict[str, int], wanted: int, found: dict[str, int]) -> None:
    assert allocate(sizes, wanted) == found


names = st.text("abcdefgh", min_size=1, max_size=3)
many = st.dictionaries(names, st.integers(0, 500), max_size=12)


@given(many, st.integers(1, 300))
def test_every_allocation_is_whole_fair_and_possible(sizes, wanted) -> None:
    found = allocate(sizes, wanted)
    total = sum(sizes.values())
    assert found.keys() == sizes.keys()
    assert sum(found.values()) == min(wanted, total)
    assert all(0 <= found[name] <= sizes[name] for name in sizes)
    full = [name for name in sizes if sizes[name]]
    if wanted >= len(full):
        assert all(found[name] for name in full)
        lifted = sum(1 for name in full if wanted * sizes[name] < total)
        for name in full:
            share = min(wanted, total) * sizes[name] / total
            assert share - 1 - lifted < found[name] <= max(share + 1, 1)


@given(many, st.integers(1, 300))
def test_a_larger_stratum_never_gets_less(sizes, wanted) -> None:
    found = allocate(sizes, wanted)
    for left in sizes:
        for right in sizes:
            if sizes[left] > sizes[right]:
                assert found[left] >= found[right]


def test_nothing_is_no_audit() -> None:
    with pytest.raises(ValueError, match="at least one item"):
        allocate({"a": 3}, 0)
    with pytest.raises(ValueError, match="not negative"):
        allocate({"a": -3}, 1)


STRATA = {"a": range(100), "b": range(100, 130), "c": range(130, 132)}


def test_a_sample_holds_each_item_once_from_its_own_stratum() -> None:
    drawn = draw(STRATA, 20, seed=1)
    assert len({item for item, _ in drawn}) == 20
    assert all(item in STRATA[name] for item, name in drawn)
    sizes = {name: len(items) for name, items in STRATA.items()}
    assert Counter(name for _, name in drawn) == allocate(sizes, 20)
    # Shuffled: whoever looks at them does not meet one stratum after the other.
    assert [name for _, name in drawn] != sorted(name for _, name in drawn)


def test_a_seed_gives_its_sample() -> None:
    backwards = dict(reversed(STRATA.items()))
    assert draw(STRATA, 20, seed=7) == draw(backwards, 20, seed=7)
    assert draw(STRATA, 20, seed=7) != draw(STRATA, 20, seed=8)


def test_every_item_is_as_likely_as_another_of_its_stratum() -> None:
    drawn = Counter(item for seed in range(2000) for item, _ in draw(STRATA, 13, seed))
    # 9, 3 and 1 of them are drawn each time.
    for name, expected in (("a", 180), ("b", 200), ("c", 1000)):
        assert all(abs(drawn[item] - expected) < 5 * expected**0.5 for item in STRATA[name])


# --- what it says ---------------------------------------------------------------------------


def test_no_error_in_150_bounds_the_rate_by_2_percent() -> None:
    assert upper_bound(0, SIZE) == pytest.approx(1 - 0.05 ** (1 / 150), abs=1e-12)
    assert upper_bound(0, SIZE) == pytest.approx(0.01977, abs=1e-5)
    assert upper_bound(0, 148) > 0.02 > upper_bound(0, 149)
    # The rule of three.
    assert abs(upper_bound(0, SIZE) - 3 / SIZE) < 0.0003


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_that_of_another_library(share: tuple[int, int]) -> None:
    from scipy.stats import binomtest

    wrong, decided = share
    found = binomtest(wrong, decided)
    both = found.proportion_ci(0.95, method="exact")
    assert interval(wrong, decided) == pytest.approx((both.low, both.high), abs=1e-9)
    one = binomtest(wrong, decided, alternative="less").proportion_ci(0.95, method="exact")
    assert upper_bound(wrong, decided) == pytest.approx(one.high, abs=1e-9)


def test_ends_of_the_interval() -> None:
    assert interval(0, 10)[0] == 0.0
    assert interval(10, 10)[1] == 1.0
    assert upper_bound(10, 10) == 1.0


@pytest.mark.parametrize(
    ("wrong", "decided", "expected"),
    [
        (0, 0, Advice.AUDIT),
        (1, 4, Advice.AUDIT),
        (2, 3, Advice.BY_HAND),
        (0, 71, Advice.AUDIT),
        (0, 72, Advice.KEEP),
        (30, 1000, Advice.KEEP),
    ],
)
def test_a_stratum_is_decided_by_hand_where_the_whole_interval_is_too_high(
    wrong: int, decided: int, expected: Advice
) -> None:
    assert advice(wrong, decided) is expected
    assert interval(0, 10)[1] == pytest.approx(1 - 0.025 ** (1 / 10))


@pytest.mark.parametrize(("wrong", "decided"), [(0, 0), (2, 1), (-1, 5)])
def test_no_share_no_interval(wrong: int, decided: int) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        interval(wrong, decided)


def test_strata_count_by_their_size() -> None:
    found = weighted([Stratum(900, 9, 0), Stratum(100, 10, 5)])
    assert (found.rate, found.covered, found.size) == (0.05, 1000, 1000)
    # Drawn in proportion, it is the plain share.
    assert weighted([Stratum(60, 6, 1), Stratum(40, 4, 1)]).rate == pytest.approx(0.2)


def test_strata_that_nobody_looked_at_say_nothing() -> None:
    found = weighted([Stratum(900, 0, 0), Stratum(100, 10, 5)])
    assert (found.rate, found.covered, found.size) == (0.5, 100, 1000)
    assert weighted([Stratum(900, 0, 0)]).rate is None
    assert weighted([]).rate is None
