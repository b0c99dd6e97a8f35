"""Dawid-Skene and MACE on simulated people, whose confusions are known."""

import importlib.util
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nfh_models.agreement import competence as agreement_competence
from nfh_models.agreement.competence import Latent, PersonVotes, estimate
from nfh_models.agreement.report import competence
from nfh_models.domain import Kind
from tests.conftest import LONG

ACCURACY = {"ann": 0.95, "bob": 0.85, "cyd": 0.7, "dee": 0.5, "eve": 0.3}
"""A simulation: how often each of these is right."""

ROUNDS = 30 if LONG else 5
"""In the short form no test asks for the figures of MACE."""

Estimate = Callable[[PersonVotes], Latent]


@pytest.fixture(scope="module")
def quick() -> Estimate:
    """Both models with one short start of MACE: the simulated votes need no more."""

    def run(marks: PersonVotes) -> Latent:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(agreement_competence, "SEEDS", 1)
            patch.setattr(agreement_competence, "MACE_ROUNDS", ROUNDS)
            return estimate(marks)

    return run


@pytest.fixture(scope="module")
def found(kit: Any, quick: Estimate) -> Latent:
    return quick(kit.simulated(600, ACCURACY))


@pytest.mark.long
def test_the_order_of_competence_comes_out(found: Latent) -> None:
    by_accuracy = sorted(found.people, key=lambda name: -found.people[name].accuracy.value)
    by_spamming = sorted(found.people, key=lambda name: found.people[name].spamming.value)
    assert by_accuracy == by_spamming == sorted(ACCURACY, key=lambda name: -ACCURACY[name])


@pytest.mark.long
def test_accuracies_are_near_the_simulated_ones(found: Latent) -> None:
    for name, accuracy in ACCURACY.items():
        assert found.people[name].accuracy.value == pytest.approx(accuracy, abs=0.08)
        assert 0 <= found.people[name].spamming.value <= 1


@pytest.mark.long
def test_the_shares_of_kinds_are_near_the_simulated_ones(found: Latent) -> None:
    assert sum(found.priors.values()) == pytest.approx(1)
    assert found.priors[Kind.REFERENCE] == pytest.approx(0.45, abs=0.08)


def test_rows_of_a_confusion_are_probabilities(kit: Any, quick: Estimate) -> None:
    found = quick(kit.simulated(60, ACCURACY))
    assert set(found.people) == set(ACCURACY)
    for person in found.people.values():
        assert person.confusion is not None
        for row in person.confusion.rows:
            assert sum(row) == pytest.approx(1)
        assert sum(person.confusion.weights) == pytest.approx(person.votes)


@pytest.mark.long
def test_the_figures_depend_on_neither_names_nor_order(
    kit: Any, found: Latent, quick: Estimate
) -> None:
    """crowd-kit's MACE mixes up people and labels whose first appearance is not sorted."""
    marks = kit.simulated(600, ACCURACY)
    names = dict(zip(sorted(ACCURACY), ("zoe", "yan", "xia", "wim", "val"), strict=True))
    shuffled = {}
    for name, given in marks.people.items():
        mixed = list(given)
        random.Random(3).shuffle(mixed)
        shuffled[names[name]] = [replace(mark, item=1000 - mark.item) for mark in mixed]
    again = quick(kit.marks(dict(sorted(shuffled.items())), 600))
    for name, new in names.items():
        for what in ("accuracy", "spamming"):
            before = getattr(found.people[name], what).value
            assert getattr(again.people[new], what).value == pytest.approx(before, abs=0.01)


def test_a_known_confusion_is_found(kit: Any, quick: Estimate) -> None:
    """A simulation: dee says OTHER for all people, and is right otherwise."""
    good = dict.fromkeys(("ann", "bob", "cyd"), 0.95)
    marks = kit.simulated(300, good)
    truth = {mark.item: mark.kind for mark in marks.people["ann"]}
    dee = [
        kit.mark(item, Kind.OTHER if kind is Kind.PEOPLE else kind)
        for item, kind in truth.items()
    ]
    found = quick(kit.marks({**marks.people, "dee": dee}, 300))
    confusion = found.people["dee"].confusion
    assert confusion is not None
    row = confusion.rows[confusion.kinds.index(Kind.PEOPLE)]
    assert row[confusion.kinds.index(Kind.OTHER)] > 0.85


@pytest.mark.long
def test_the_same_votes_give_the_same_figures_and_nothing_is_printed(
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    recwarn: pytest.WarningsRecorder,
) -> None:
    monkeypatch.setattr(agreement_competence, "MACE_ROUNDS", 5)
    marks = kit.simulated(60, ACCURACY)
    assert estimate(marks) == estimate(marks)
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


def test_two_people_are_too_few(kit: Any) -> None:
    found = estimate(kit.simulated(60, {"ann": 0.9, "bob": 0.8}, each=2))
    assert found.why == (
        "Dawid\u2013Skene and MACE need 3 people who answered the same items; here there are 2."
    )
    assert not found.people
    assert not found.priors


def test_few_items_are_too_few(kit: Any) -> None:
    found = estimate(kit.simulated(29, ACCURACY))
    assert found.why == (
        "Dawid\u2013Skene and MACE need 30 items with two votes; here there are 29."
    )


def test_one_kind_tells_nobody_apart(kit: Any) -> None:
    given = [kit.mark(item, Kind.AGE) for item in range(40)]
    found = estimate(kit.marks(dict.fromkeys(("ann", "bob", "cyd"), given), 40))
    assert found.why == "All votes are AGE: with one kind, people cannot be compared."


def test_votes_that_nobody_shares_and_nfh_do_not_count(kit: Any) -> None:
    given = [kit.mark(item, Kind.NFH) for item in range(40)]
    alone = [kit.mark(100 + item, Kind.AGE) for item in range(40)]
    found = estimate(kit.marks({"ann": given, "bob": given, "cyd": given, "dee": alone}, 80))
    assert (found.items, found.votes) == (0, 0)


def test_a_person_with_few_shared_votes_gets_a_sentence(kit: Any, quick: Estimate) -> None:
    marks = kit.simulated(60, {"ann": 0.95, "bob": 0.9, "cyd": 0.9})
    few = [kit.mark(item, Kind.AGE) for item in range(4)]
    found = quick(kit.marks({**marks.people, "dee": few}, 60))
    measure = found.people["dee"].accuracy
    assert measure.value is None
    assert measure.why == "Only 4 of their votes are on items that others answered too."
    assert found.people["dee"].confusion is None


@pytest.mark.long
def test_people_without_common_items_are_named_as_groups(kit: Any, quick: Estimate) -> None:
    first = kit.simulated(60, {"ann": 0.95, "bob": 0.9, "cyd": 0.9})
    second = kit.simulated(60, {"dee": 0.9, "eve": 0.8}, each=2)
    apart = {
        name: [replace(mark, item=mark.item + 1000) for mark in given]
        for name, given in second.people.items()
    }
    found = quick(kit.marks({**first.people, **apart}, 120))
    assert found.groups == (("ann", "bob", "cyd"), ("dee", "eve"))


def test_without_crowd_kit_the_rest_of_the_report_still_comes(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement_competence, "find_spec", lambda name: None)
    assert importlib.util.find_spec("crowdkit") is not None
    report = competence(kit.simulated(60, ACCURACY))
    assert report.latent.why is not None
    assert "pip install 'nfh-tui[agreement]'" in report.latent.why
    assert [person.name for person in report.people] == sorted(ACCURACY)
    assert all(person.drift.blocks for person in report.people)
