"""Two people at a time."""

import pytest

from nfh_models.agreement.coefficients import people_agreement
from nfh_models.agreement.pairs import collect
from nfh_models.domain import Blocking, Kind

DOG, CAT = 1, 2
AGE, YEAR = Kind.AGE, Kind.YEAR


def test_each_two_have_their_own_figures(kit) -> None:
    tables = collect(
        kit.items(
            [[AGE, AGE, YEAR], [kit.to(DOG), kit.to(CAT), kit.to(DOG)], [YEAR, AGE, None]]
        )
    )
    twos, more = people_agreement(tables.votes, tables.people, tables.people, kit.plain)
    assert [(two.left, two.right, two.items) for two in twos] == [
        ("ann1", "ann2", 3),
        ("ann1", "ann3", 2),
        ("ann2", "ann3", 2),
    ]
    assert more == 0
    first = twos[0]
    assert first.equal.value == pytest.approx(1 / 3)
    assert first.same_kind.value == pytest.approx(2 / 3)
    assert first.nouns.exact.value == 0.0
    assert first.differences == {Blocking.CLASS: 1, Blocking.NOUN: 1}
    assert {(cell.left, cell.right): cell.items for cell in first.cells} == {
        (AGE, AGE): 1,
        (Kind.REFERENCE, Kind.REFERENCE): 1,
        (YEAR, AGE): 1,
    }


def test_of_many_twos_those_who_share_most_are_measured(kit) -> None:
    tables = collect(kit.items([[AGE, AGE, YEAR], [AGE, YEAR, None], [None, AGE, AGE]]))
    twos, more = people_agreement(tables.votes, tables.people, tables.people, kit.plain, most=2)
    assert [(two.left, two.right) for two in twos] == [("ann1", "ann2"), ("ann2", "ann3")]
    assert more == 1


def test_an_annotator_against_experts_and_experts_with_each_other(kit) -> None:
    items = [
        kit.item(0, {"ann": AGE}, {"eva": AGE, "tom": AGE}, gold=AGE),
        kit.item(1, {"ann": YEAR}, {"eva": AGE, "tom": YEAR}, gold=AGE),
        kit.item(2, {"ann": kit.to(DOG, CAT)}, {"eva": kit.to(DOG)}, gold=kit.to(DOG)),
    ]
    tables = collect(items)
    (two,), _ = people_agreement(tables.against, tables.people, ("expert",), kit.plain)
    assert (two.left, two.right, two.items) == ("ann", "expert", 3)
    assert two.equal.value == pytest.approx(1 / 3)
    # Kinds: AGE AGE, YEAR AGE, REFERENCE REFERENCE. By chance 1/3 x 2/3 + 1/3 x 1/3 = 1/3.
    assert two.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert two.nouns.f1.value == pytest.approx(2 / 3)
    (double,), _ = people_agreement(tables.doubles, tables.experts, tables.experts, kit.plain)
    assert (double.left, double.right, double.items) == ("eva", "tom", 2)
    assert double.equal.value == 0.5


def test_two_who_say_one_kind_only_have_a_share_and_no_kappa(kit) -> None:
    tables = collect(kit.items([[AGE, AGE], [AGE, AGE]]))
    (two,), _ = people_agreement(tables.votes, tables.people, tables.people, kit.plain)
    assert two.equal.value == 1.0
    assert two.kappa.value is None
    assert "Only AGE" in (two.kappa.why or "")
