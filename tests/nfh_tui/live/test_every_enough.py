"""Trainings that come round wait until there is something to learn from."""

import pytest

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.jobs import training
from nfh_tui.jobs.descriptions import claimable
from nfh_tui.jobs.training import all_told, new_job, queue_due, replaced, set_every

LINEAR = new_job("resolution", "linear")


@pytest.fixture
def store(database):
    with Store.open(database) as store:
        yield store


def test_it_waits_for_the_minimum_and_says_so(store, ids, decide, monkeypatch):
    monkeypatch.setattr(training, "LEAST", 4)
    set_every(store, 1, LINEAR)
    decide(*ids[:3])
    assert queue_due(store) == ()
    (told,) = all_told(store)
    assert "due once there is enough to learn from: too few examples" in told
    decide(ids[3], kind=Kind.AGE)
    assert queue_due(store) == (1,)


def test_one_that_failed_is_not_repeated_before_others_are_decided(store, ids, decide, enough):
    set_every(store, 1, LINEAR)
    decide(ids[0])
    (job,) = queue_due(store)
    store.jobs.claim(claimable())
    store.jobs.end(job, JobState.FAILED, "too few are left to learn from")
    assert queue_due(store) == ()
    decide(ids[1])
    assert queue_due(store) == (job + 1,)


def test_what_another_recipe_takes_the_place_of_is_given_back(store):
    assert set_every(store, 5, LINEAR) is None
    assert set_every(store, 7, LINEAR) is None
    before = set_every(store, 9, new_job("resolution", "encoder"))
    assert before is not None
    assert replaced(before) == "in place of linear after every 7"
