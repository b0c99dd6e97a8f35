"""Agreement on one kind at a time, and on what is an NFH at all."""

import pytest

from nfh_models.agreement.coefficients import kind_agreement, scope_agreement
from nfh_models.agreement.measure import KINDS
from nfh_models.agreement.pairs import NO_OVERLAP, collect
from nfh_models.domain import Kind

AGE, YEAR, NOT_NFH, BROKEN, NFH = Kind.AGE, Kind.YEAR, Kind.NOT_NFH, Kind.BROKEN, Kind.NFH


def test_positive_agreement_by_hand(kit) -> None:
    # Three people, two items. AGE AGE YEAR: of three pairs one is both AGE, two only one.
    # AGE AGE AGE: three pairs, both. So a is 4 and b + c is 2: 8 / 10. YEAR: 0 / 2.
    votes = collect(kit.items([[AGE, AGE, YEAR], [AGE, AGE, AGE]])).votes
    found = dict(zip(KINDS, kind_agreement(votes, kit.plain), strict=True))
    assert found[AGE].agreement.value == pytest.approx(0.8)
    assert (found[AGE].both, found[AGE].one, found[AGE].agreement.n) == (4, 2, 6)
    assert found[YEAR].agreement.value == 0.0
    assert found[Kind.TIME].agreement.value is None
    assert "Nobody says TIME" in (found[Kind.TIME].agreement.why or "")


def test_an_nfh_is_of_no_kind_but_denies_not_nfh(kit) -> None:
    votes = collect(kit.items([[NFH, AGE], [NFH, NOT_NFH]])).votes
    assert all(one.agreement.why == NO_OVERLAP for one in kind_agreement(votes, kit.plain))
    scope = scope_agreement(votes, kit.plain)
    assert (scope.both, scope.one, scope.neither) == (0, 1, 1)


def test_scope_has_a_positive_and_a_negative_side(kit) -> None:
    rows = [[NOT_NFH, NOT_NFH], [NOT_NFH, AGE], [AGE, YEAR], [AGE, AGE], [BROKEN, NOT_NFH]]
    scope = scope_agreement(collect(kit.items(rows)).votes, kit.plain)
    assert scope.positive.value == pytest.approx(2 / 3)
    assert scope.negative.value == pytest.approx(4 / 5)
    assert (scope.both, scope.one, scope.neither) == (1, 1, 2)
    assert [one.n for one in scope.left_out] == [1]


def test_scope_that_nobody_denies_or_everybody_does(kit) -> None:
    scope = scope_agreement(collect(kit.items([[AGE, AGE]])).votes, kit.plain)
    assert "Nobody says NOT_NFH" in (scope.positive.why or "")
    assert scope.negative.value == 1.0
    scope = scope_agreement(collect(kit.items([[NOT_NFH, NOT_NFH]])).votes, kit.plain)
    assert scope.positive.value == 1.0
    assert scope.negative.value is None
    scope = scope_agreement(collect(kit.items([[BROKEN, AGE]])).votes, kit.plain)
    assert "BROKEN" in (scope.positive.why or "")
    assert "BROKEN" in (scope.negative.why or "")
