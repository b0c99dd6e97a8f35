"""Votes against an expert's decisions, check items, and the others."""

from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from nfh_models.agreement.competence import HeadPairCounts, collect, exact_share
from nfh_models.agreement.report import NO_CHECKS, NO_EXPERT, competence
from nfh_models.domain import Kind, class_answer


def person(report: Any, name: str) -> Any:
    return next(one for one in report.people if one.name == name)


def test_kinds_and_whole_answers_against_the_expert(kit: Any) -> None:
    items = [
        kit.item(0, {"ann": Kind.AGE, "bob": Kind.AGE}, Kind.AGE),
        kit.item(1, {"ann": Kind.AGE, "bob": Kind.YEAR}, Kind.AGE),
        kit.item(2, {"ann": kit.to(1), "bob": kit.to(2)}, kit.to(1)),
        kit.item(3, {"ann": Kind.OTHER, "bob": Kind.OTHER}),
    ]
    report = competence(collect(items))
    bob = person(report, "bob").expert
    assert (bob.votes, bob.equal.value, bob.kind.value) == (3, 1 / 3, 2 / 3)
    assert person(report, "ann").expert.equal.value == 1.0
    assert (report.items, report.decided, report.unanimous) == (4, 3, 1)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (5, 5), (3, 7), (45, 174), (1, 1)])
def test_exact_intervals_are_those_of_another_library(right: int, n: int) -> None:
    found = exact_share(right, n, "")
    low, high = proportion_confint(right, n, method="beta")
    assert (found.value, found.n) == (right / n, n)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_heads_are_compared_by_noun(kit: Any) -> None:
    items = [
        kit.item(0, {"ann": kit.to(3)}, kit.to(1)),  # another mention of the same noun
        kit.item(1, {"ann": kit.to(2, 4)}, kit.to(2)),  # one head too many
        kit.item(2, {"ann": kit.to(5)}, kit.to(6, 7)),  # none of two
        kit.item(3, {"ann": Kind.OTHER}, kit.to(8)),  # no Reference at all
    ]
    heads = person(competence(collect(items)), "ann").expert.heads
    assert (heads.exact.value, heads.exact.n) == (1 / 3, 3)
    assert (heads.overall.value, heads.overall.n) == (1 / 4, 4)
    assert (heads.precision.value, heads.precision.n) == (2 / 4, 4)
    assert (heads.recall.value, heads.recall.n) == (2 / 4, 4)
    assert (heads.f1.value, heads.f1.n) == (4 / 8, 8)


def test_two_heads_of_the_vote_that_are_one_noun_of_the_decision(kit: Any) -> None:
    marks = collect([kit.item(0, {"ann": kit.to(1, 2)}, kit.to([1, 3], 2))])
    against = marks.people["ann"][0].expert
    assert against is not None
    assert against.heads == HeadPairCounts(2, 2, 2, 2)


def test_what_somebody_decided_themselves_is_left_out(kit: Any) -> None:
    items = [
        kit.item(0, {"ann": Kind.AGE, "bob": Kind.AGE}, Kind.AGE, {"ann": Kind.AGE}),
        kit.item(1, {"ann": Kind.AGE, "bob": Kind.AGE}, Kind.YEAR, {"eve": Kind.YEAR}),
    ]
    report = competence(collect(items))
    ann, bob = person(report, "ann"), person(report, "bob")
    assert (ann.own, ann.expert.votes, ann.expert.kind.value) == (1, 1, 0.0)
    assert (bob.own, bob.expert.votes, bob.expert.kind.value) == (0, 2, 0.5)


def test_nfh_names_no_kind_and_is_not_counted(kit: Any) -> None:
    items = [
        kit.item(0, {"ann": Kind.NFH}, Kind.AGE),
        kit.item(1, {"ann": Kind.AGE}, Kind.NFH),
    ]
    found = person(competence(collect(items)), "ann").expert
    assert found.votes == 0
    assert (found.kind.value, found.kind.why) == (None, NO_EXPERT)


def test_confusion_against_the_expert_and_against_most_of_the_others(kit: Any) -> None:
    items = [
        kit.item(0, {"ann": Kind.YEAR, "bob": Kind.AGE, "cyd": Kind.AGE}, Kind.AGE),
        kit.item(1, {"ann": Kind.TIME, "bob": Kind.AGE, "cyd": Kind.AGE}),
        kit.item(2, {"ann": Kind.TIME, "bob": Kind.AGE, "cyd": Kind.YEAR}),
    ]
    ann = person(competence(collect(items)), "ann")
    expert, others = ann.expert.confusion, ann.others
    assert (expert.kinds, expert.rows) == ((Kind.YEAR, Kind.AGE), ((0, 0), (1, 0)))
    assert (others.kinds, others.rows) == ((Kind.AGE, Kind.TIME), ((0, 1), (0, 0)))


def test_one_other_is_no_majority(kit: Any) -> None:
    report = competence(collect([kit.item(0, {"ann": Kind.AGE, "bob": Kind.AGE})]))
    assert person(report, "ann").others is None


def test_check_items_are_apart_from_what_experts_decided(kit: Any) -> None:
    items = [kit.item(key, {"ann": Kind.AGE, "bob": Kind.AGE}) for key in range(3)]
    known = {(0, "ann"): class_answer(Kind.AGE), (1, "ann"): class_answer(Kind.YEAR)}
    report = competence(collect(items, known))
    ann, bob = person(report, "ann"), person(report, "bob")
    assert (ann.checks.votes, ann.checks.kind.value) == (2, 0.5)
    assert ann.expert.votes == 0
    assert (bob.checks.kind.value, bob.checks.kind.why) == (None, NO_CHECKS)
