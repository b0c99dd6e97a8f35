"""How votes group, by the paper's classes and by whole answers."""

import pytest

from nfh_models.agreement.pairs import (
    OUTSIDE,
    TOO_FEW,
    class_patterns,
    collect,
    noun_patterns,
)
from nfh_models.domain import Kind
from nfh_models.domain.compare import pattern_of

DOG, CAT, MAN = 1, 2, 5
AGE, YEAR, OTHER, UNKNOWN = Kind.AGE, Kind.YEAR, Kind.OTHER, Kind.UNKNOWN


@pytest.mark.parametrize(
    ("groups", "pattern"),
    [([3], "3-0"), ([1, 0, 2], "2-1"), ([1, 1, 1], "1-1-1"), ([2], "2-0"), ([1, 3, 0], "3-1")],
)
def test_the_name_of_a_pattern(groups: list[int], pattern: str) -> None:
    assert pattern_of(groups) == pattern


def test_three_nouns_are_one_class_and_three_answers(kit) -> None:
    tables = collect(kit.items([[kit.to(DOG), kit.to(CAT), kit.to(MAN)]]))
    assert [one.pattern for one in class_patterns(tables, kit.plain).shares] == ["3-0"]
    assert [one.pattern for one in noun_patterns(tables, kit.plain).shares] == ["1-1-1"]


def test_other_and_unknown_are_one_class(kit) -> None:
    tables = collect(kit.items([[OTHER, UNKNOWN, OTHER]]))
    assert class_patterns(tables, kit.plain).shares[0].pattern == "3-0"
    assert noun_patterns(tables, kit.plain).shares[0].pattern == "2-1"


def test_shares_are_among_items_with_as_many_voters(kit) -> None:
    tables = collect(
        kit.items(
            [
                [AGE, AGE, AGE],
                [AGE, AGE, YEAR],
                [AGE, AGE, AGE],
                [YEAR, AGE, OTHER],
                [AGE, AGE],
                [AGE],
                [],
                [AGE, AGE, Kind.NOT_NFH],
            ]
        )
    )
    found = class_patterns(tables, kit.plain)
    assert [(one.pattern, one.items, one.share.value, one.share.n) for one in found.shares] == [
        ("3-0", 2, 0.5, 4),
        ("2-1", 1, 0.25, 4),
        ("1-1-1", 1, 0.25, 4),
        ("2-0", 1, 1.0, 1),
    ]
    assert found.items == 5
    assert {one.why: one.n for one in found.left_out} == {TOO_FEW: 2, OUTSIDE: 1}


def test_whole_answers_leave_out_only_what_has_no_second_answer(kit) -> None:
    tables = collect(kit.items([[AGE, Kind.NOT_NFH, AGE], [AGE, Kind.NFH], [AGE]]))
    found = noun_patterns(tables, kit.plain)
    assert [(one.pattern, one.items) for one in found.shares] == [("2-1", 1), ("2-0", 1)]
    assert {one.why: one.n for one in found.left_out} == {TOO_FEW: 1}
