"""Dealing out: everybody the same number where that can be, nobody twice."""

from collections import Counter
from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.assignment_plan import AssignmentShortfall, assign


def loads(dealt: list[list[int]], people: int) -> list[int]:
    """How many items each person got."""
    counted = Counter(person for one in dealt for person in one)
    return [counted[person] for person in range(people)]


def in_all(dealt: list[list[int]], before: list[int]) -> list[int]:
    """How many items each person has then."""
    return [a + b for a, b in zip(loads(dealt, len(before)), before, strict=True)]


def lacking(need: int, *may: int) -> AssignmentShortfall:
    return AssignmentShortfall(need, frozenset(may))


PEOPLE = 4
items = st.lists(
    st.builds(
        AssignmentShortfall, st.integers(0, 3), st.frozensets(st.integers(0, PEOPLE - 1))
    ),
    max_size=40,
)


@given(items)
@settings(max_examples=300, deadline=None)
def test_each_item_gets_what_it_lacks_and_nobody_gets_it_twice(
    wanted: list[AssignmentShortfall],
) -> None:
    dealt = assign(wanted, [0] * PEOPLE)
    for one, people in zip(wanted, dealt, strict=True):
        assert len(people) == len(set(people)) == min(one.need, len(one.may))
        assert set(people) <= one.may


def spread_at_best(wanted: list[AssignmentShortfall], before: list[int]) -> list[int]:
    """The most even loads that there are, by trying everything: the largest first."""
    from itertools import combinations

    choices = [
        list(combinations(sorted(one.may), min(one.need, len(one.may)))) for one in wanted
    ]
    return min(
        sorted(in_all([list(one) for one in chosen], before), reverse=True)
        for chosen in product(*choices)
    )


few = st.lists(
    st.builds(AssignmentShortfall, st.integers(0, 2), st.frozensets(st.integers(0, 2))),
    max_size=6,
)


@given(few, st.lists(st.integers(0, 4), min_size=3, max_size=3))
@settings(max_examples=200, deadline=None)
def test_the_loads_are_as_even_as_they_can_be(
    wanted: list[AssignmentShortfall], before: list[int]
) -> None:
    found = sorted(in_all(assign(wanted, before), before), reverse=True)
    assert found == spread_at_best(wanted, before)


def test_who_comes_new_catches_up() -> None:
    assert loads(assign([lacking(1, 0, 1, 2)] * 30, [20, 20, 0]), 3) == [3, 4, 23]
    assert loads(assign([lacking(1, 0, 1, 2)] * 10, [20, 20, 0]), 3) == [0, 0, 10]
    assert loads(assign([lacking(2, 0, 1, 2)] * 30, [20, 20, 0]), 3) == [15, 15, 30]


def test_those_who_cannot_answer_the_one_half_get_the_other() -> None:
    """Person 0 answered the first half: those go to person 1, the others to person 0."""
    wanted = [lacking(1, 1)] * 50 + [lacking(1, 0, 1)] * 50
    assert loads(assign(wanted, [0, 0]), 2) == [50, 50]


def test_a_chain_of_people_is_gone_through() -> None:
    wanted = [lacking(1, 0, 1)] * 9 + [lacking(1, 1, 2)] * 3 + [lacking(1, 0)] * 3
    assert loads(assign(wanted, [0, 0, 0]), 3) == [6, 6, 3]
    wanted = [lacking(1, 0, 1)] * 8 + [lacking(1, 1, 2)] * 7
    assert loads(assign(wanted, [0, 0, 0]), 3) == [5, 5, 5]


def test_neighbours_are_parted_only_where_a_share_ends() -> None:
    dealt = assign([lacking(2, 0, 1, 2)] * 900, [0, 0, 0])
    assert loads(dealt, 3) == [600, 600, 600]
    seams = sum(before != after for before, after in pairwise(dealt))
    assert seams == 2


def test_everybody_meets_everybody() -> None:
    pairs = Counter(map(tuple, assign([lacking(2, 0, 1, 2)] * 900, [0, 0, 0])))
    assert pairs == {(0, 1): 300, (0, 2): 300, (1, 2): 300}


def test_nothing_to_deal_and_nobody_to_deal_to() -> None:
    assert assign([], [0, 0, 0]) == []
    assert assign([lacking(0, 0, 1), AssignmentShortfall(2, frozenset())], [0, 0]) == [
        [],
        [],
    ]
