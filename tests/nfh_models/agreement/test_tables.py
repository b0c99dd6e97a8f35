"""Everybody's answers as tables: who is compared with whom, and who is not."""

import pytest

from nfh_models.agreement.measure import BLOCKING, CODE, EQUAL
from nfh_models.agreement.pairs import NO_OVERLAP, ONLY_NFH, collect, decision, match_heads
from nfh_models.domain import Blocking, Kind, class_answer

DOG, CAT, DOG_AGAIN, MAN = 1, 2, 3, 5


def test_each_two_annotators_are_a_pair_in_the_order_of_their_names(kit) -> None:
    tables = collect([kit.item(8, {"bob": Kind.AGE, "ann": Kind.YEAR, "cyd": Kind.AGE})])
    assert tables.people == ("ann", "bob", "cyd")
    votes = tables.votes
    assert list(zip(votes.left.tolist(), votes.right.tolist(), strict=True)) == [
        (0, 1),
        (0, 2),
        (1, 2),
    ]
    assert votes.left_kind.tolist() == [CODE[Kind.YEAR], CODE[Kind.YEAR], CODE[Kind.AGE]]
    by_class = BLOCKING.index(Blocking.CLASS)
    assert votes.blocking.tolist() == [by_class, by_class, EQUAL]
    assert tables.patterns[tables.pattern[0]] == "2-1"


def test_people_who_come_later_are_numbered_by_name_too(kit) -> None:
    tables = collect(
        [
            kit.item(0, {"zoe": Kind.AGE, "max": Kind.AGE}),
            kit.item(1, {"ann": Kind.YEAR, "zoe": Kind.AGE}),
        ]
    )
    assert tables.people == ("ann", "max", "zoe")
    assert tables.votes.left.tolist() == [1, 0]
    assert tables.votes.right.tolist() == [2, 2]
    assert tables.answers == {"zoe": 2, "max": 1, "ann": 1}


def test_experts_are_never_among_the_votes(kit) -> None:
    tables = collect([kit.item(0, {"ann": Kind.AGE}, {"eva": Kind.YEAR, "tom": Kind.YEAR})])
    assert len(tables.votes) == 0
    assert tables.counts.sum() == 1
    assert tables.experts == ("eva", "tom")
    assert len(tables.doubles) == 1


def test_an_annotator_is_set_against_what_an_expert_decided(kit) -> None:
    item = kit.item(0, {"ann": Kind.AGE}, {"eva": Kind.YEAR, "tom": Kind.AGE}, gold=Kind.AGE)
    assert collect([item]).against.blocking.tolist() == [EQUAL]


def test_two_experts_without_gold_decide_nothing(kit) -> None:
    assert decision(kit.item(0, {}, {"eva": Kind.YEAR, "tom": Kind.AGE})) is None
    assert decision(kit.item(0, {}, {"eva": Kind.YEAR})) == class_answer(Kind.YEAR)
    assert decision(kit.item(0, {"ann": Kind.YEAR})) is None


def test_nobody_is_set_against_their_own_decision(kit) -> None:
    item = kit.item(0, {"ann": Kind.AGE, "eva": Kind.AGE}, {"eva": Kind.AGE}, gold=Kind.AGE)
    tables = collect([item])
    assert tables.against.left.tolist() == [tables.people.index("ann")]
    assert tables.own == {"eva": 1}


def test_unknown_is_other_among_the_seven_classes_and_ways_out_are_outside(kit) -> None:
    tables = collect(
        [kit.item(0, {"a": Kind.UNKNOWN, "b": Kind.OTHER, "c": Kind.BROKEN, "d": Kind.NFH})]
    )
    assert tables.classes.tolist() == [[0, 0, 0, 0, 0, 0, 2]]
    assert tables.outside.tolist() == [2]
    assert tables.kinds.sum() == 3


@pytest.mark.parametrize(
    ("left", "right", "matched"),
    [
        ([DOG], [DOG], 2),
        ([DOG], [DOG_AGAIN], 2),
        ([DOG], [CAT], 0),
        ([DOG, CAT], [DOG], 2),
        ([DOG, CAT], [CAT, MAN], 2),
        ([DOG, CAT], [CAT, DOG_AGAIN], 4),
    ],
)
def test_heads_are_matched_by_noun(
    kit, left: list[int], right: list[int], matched: int
) -> None:
    assert match_heads(kit.to(*left), kit.to(*right), kit.item().lemmas) == matched


def test_what_is_lacking_is_said(kit) -> None:
    assert "no item" in collect([]).problem
    assert "Nobody" in collect([kit.item(0)]).problem
    assert "Only ann" in collect([kit.item(0, {"ann": Kind.AGE})]).problem
    apart = [kit.item(0, {"ann": Kind.AGE}), kit.item(1, {"bob": Kind.AGE})]
    assert collect(apart).problem == NO_OVERLAP
    assert collect([kit.item(0, {"ann": Kind.AGE, "bob": Kind.NFH})]).problem == ONLY_NFH
