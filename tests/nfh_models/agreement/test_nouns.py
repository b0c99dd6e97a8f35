"""Agreement on heads, and its skill over the closest noun before."""

import pytest

from nfh_models.agreement.coefficients import noun_skill
from nfh_models.agreement.pairs import NO_REFERENCES, collect, equal_share, noun_agreement
from nfh_models.domain import Kind, Relation

DOG, CAT, DOG_AGAIN, MAN, TREE = 1, 2, 3, 5, 6


def test_nouns_by_hand(kit) -> None:
    rows = [
        [kit.to(DOG), kit.to(DOG)],
        [kit.to(DOG), kit.to(DOG_AGAIN)],
        [kit.to(DOG), kit.to(CAT)],
        [kit.to(DOG, CAT), kit.to(DOG)],
        [kit.to(DOG, CAT, relation=Relation.AND), kit.to(DOG, CAT, relation=Relation.OR)],
        [kit.to(DOG), Kind.AGE],
    ]
    found = noun_agreement(collect(kit.items(rows)).votes, kit.plain)
    assert (found.exact.value, found.exact.n) == (pytest.approx(2 / 5), 5)
    # Heads matched of both: 2 + 2 + 0 + 2 + 4 of 2 + 2 + 2 + 3 + 4.
    assert (found.f1.value, found.f1.n) == (pytest.approx(10 / 13), 13)
    assert (found.mention.value, found.mention.n) == (0.5, 2)
    assert found.extent.value == 0.0


def test_three_different_nouns_are_no_agreement(kit) -> None:
    votes = collect(kit.items([[kit.to(DOG), kit.to(CAT), kit.to(MAN)]])).votes
    assert noun_agreement(votes, kit.plain).exact.value == 0.0
    assert equal_share(votes, kit.plain, "").value == 0.0


def test_without_references_there_is_a_sentence(kit) -> None:
    found = noun_agreement(collect(kit.items([[Kind.AGE, kit.to(DOG)]])).votes, kit.plain)
    for measure in (found.exact, found.f1):
        assert (measure.value, measure.why) == (None, NO_REFERENCES)
    assert found.mention.value is None


def test_an_nfh_agrees_with_nothing_and_disagrees_with_nothing(kit) -> None:
    votes = collect(kit.items([[Kind.NFH, Kind.AGE], [Kind.AGE, Kind.AGE]])).votes
    share = equal_share(votes, kit.plain, "")
    assert (share.value, share.n) == (1.0, 1)


def test_skill_by_hand(kit) -> None:
    # Four pairs: three agree. The rule (the noun at `nearest`) agrees with the first two
    # answers, with one of the third pair, with none of the fourth: 1, 0, 1/2, 0 by pair in the
    # order below, 1.5 of 4. Skill: (3/4 - 3/8) / (1 - 3/8) = 3/5.
    items = [
        kit.item(0, {"a": kit.to(DOG), "b": kit.to(DOG_AGAIN)}, nearest=DOG),
        kit.item(1, {"a": kit.to(CAT), "b": kit.to(CAT)}, nearest=DOG),
        kit.item(2, {"a": kit.to(CAT), "b": kit.to(MAN)}, nearest=CAT),
        kit.item(3, {"a": kit.to(TREE), "b": kit.to(TREE)}, nearest=MAN),
    ]
    found = noun_skill(items, kit.plain)
    assert found.observed.value == pytest.approx(3 / 4)
    assert found.baseline.value == pytest.approx(3 / 8)
    assert found.skill.value == pytest.approx(3 / 5)
    assert (found.skill.n, found.items, found.no_noun) == (4, 4, 0)


def test_two_people_who_only_follow_the_rule_have_no_skill(kit) -> None:
    """Of each two one is as far from the rule as the two are from each other."""
    items = [
        kit.item(0, {"a": kit.to(DOG), "b": kit.to(CAT)}, nearest=DOG),
        kit.item(1, {"a": kit.to(DOG), "b": kit.to(DOG)}, nearest=DOG),
        kit.item(2, {"a": kit.to(MAN), "b": kit.to(CAT)}, nearest=DOG),
        kit.item(3, {"a": kit.to(TREE), "b": kit.to(CAT)}, nearest=TREE),
    ]
    found = noun_skill(items, kit.plain)
    assert found.observed.value == pytest.approx(1 / 4)
    assert found.baseline.value == pytest.approx(1 / 2)
    assert found.skill.value == pytest.approx(-1 / 2)


def test_skill_where_the_rule_is_always_right_is_not_defined(kit) -> None:
    found = noun_skill(
        [kit.item(0, {"a": kit.to(DOG), "b": kit.to(DOG)}, nearest=DOG)], kit.plain
    )
    assert found.skill.value is None
    assert "closest noun" in (found.skill.why or "")
    assert found.baseline.value == 1.0


def test_items_without_a_noun_and_without_two_references_are_passed_over(kit) -> None:
    items = [
        kit.item(0, {"a": kit.to(DOG), "b": kit.to(DOG)}),
        kit.item(1, {"a": kit.to(DOG), "b": Kind.AGE}, nearest=DOG),
    ]
    found = noun_skill(items, kit.plain)
    assert (found.items, found.no_noun) == (0, 1)
    assert "noun" in (found.skill.why or "")
    found = noun_skill(
        [*items, kit.item(2, {"a": kit.to(DOG), "b": kit.to(CAT)}, nearest=CAT)], kit.plain
    )
    assert (found.items, found.no_noun, found.skill.n) == (1, 1, 1)
    assert noun_skill([], kit.plain).skill.value is None


def test_experts_have_no_part_in_skill(kit) -> None:
    item = kit.item(0, {"a": kit.to(DOG)}, {"eva": kit.to(DOG)}, nearest=DOG)
    assert noun_skill([item], kit.plain).items == 0
