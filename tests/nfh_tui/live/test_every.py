"""Retraining after every so many decisions: what counts, from when, and never twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from nfh_db import jobs as db_jobs
from nfh_db import system
from nfh_db.jobs import Job, JobState
from nfh_db.records import FlagName, Role
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import claimable
from nfh_tui.jobs.training import new_job, queue_due, schedule_line, set_every, stop_every

pytestmark = pytest.mark.usefixtures("ticking", "enough")

LINEAR = new_job("resolution", "linear", words=("seed=3",), query="split:dev")


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two things happen in one millisecond, as they do where nobody has to press keys."""
    begun, ticks = datetime.now(UTC), count(1)

    def now() -> str:
        at = begun + timedelta(milliseconds=next(ticks))
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    monkeypatch.setattr(system, "now", now)


@pytest.fixture
def store(database: Path):
    with Store.open(database) as store:
        yield store


def jobs(store: Store) -> list[tuple[int, str, str]]:
    return [(job.id, job.task, job.state.value) for job in reversed(store.jobs.all())]


def only(store: Store) -> Job:
    (job,) = store.jobs.all()
    return job


def test_the_number_is_reached_and_one_job_queued_as_it_was_set(store, ids, decide):
    set_every(store, 3, LINEAR)
    decide(*ids[:2])
    assert queue_due(store) == ()
    assert schedule_line(store.retraining.all()[0]) == (
        "resolution (linear) is retrained after every 3 decisions: 2 so far"
    )
    decide(ids[2])
    assert queue_due(store) == (1,)
    assert queue_due(store) == ()
    job = only(store)
    assert (job.kind, job.task, job.state) == ("train", "resolution", JobState.QUEUED)
    assert job.arguments == LINEAR.arguments
    assert job.version == LINEAR.version
    assert "3 decisions" in job.asked_by


def test_where_none_was_trained_it_counts_from_when_it_was_set(store, ids, decide):
    decide(*ids[:4])
    set_every(store, 2, LINEAR)
    assert store.retraining.all()[0].count == 0
    decide(ids[4])
    assert store.retraining.all()[0].count == 1


def trained(store: Store, number: int = 1) -> None:
    store.jobs.add(new_job("resolution", "linear"))
    store.jobs.claim(claimable())
    store.jobs.end(number, JobState.DONE)


def test_it_counts_from_the_last_training_also_where_it_was_set_later(store, ids, decide):
    decide(ids[0])
    trained(store)
    decide(*ids[1:3])
    set_every(store, 5, LINEAR)
    assert store.retraining.all()[0].count == 2


def test_what_was_counted_stays_when_another_number_is_set(store, ids, decide):
    set_every(store, 5, LINEAR)
    decide(*ids[:2])
    set_every(store, 2, LINEAR)
    assert store.retraining.all()[0].count == 2
    assert queue_due(store) == (1,)
    assert store.jobs.claim(claimable()) is not None
    decide(ids[2])
    stop_every(store, "resolution")
    set_every(store, 9, LINEAR)
    assert store.retraining.all()[0].count == 1


def test_what_holds_it_back_is_said(store, ids, decide):
    set_every(store, 1, LINEAR)
    decide(ids[0])
    assert schedule_line(store.retraining.all()[0]).endswith(": due now")
    queue_due(store)
    store.jobs.claim(claimable())
    decide(ids[1])
    assert schedule_line(store.retraining.all()[0]) == (
        "resolution (linear) is retrained after every decision: due, and queued once job 1 "
        "has ended"
    )
    store.jobs.end(1, JobState.FAILED, "too few")
    assert schedule_line(store.retraining.all()[0]).endswith(": due now")


def test_an_anchor_counts_once_and_votes_and_what_is_taken_back_do_not(store, ids, decide):
    set_every(store, 5, LINEAR)
    decide(ids[1])
    decide(ids[1], by="eva")
    assert store.retraining.all()[0].count == 1
    me = store.people.ensure("ida")
    store.edits.set_flag(ids[2], me, FlagName.AMBIGUOUS, True)
    decided = store.items.read(ids[1], me, Role.ADJUDICATOR).gold.answer
    store.edits.commit_answer(ids[3], me, Role.ANNOTATOR, decided)
    assert store.retraining.all()[0].count == 1
    decide(ids[4], by="eva")
    store.edits.undo(store.people.ensure("eva"))
    assert store.retraining.all()[0].count == 1
    store.edits.redo(store.people.ensure("eva"))
    assert store.retraining.all()[0].count == 2


def test_no_second_one_is_queued_while_one_waits_or_runs(store, ids, decide):
    set_every(store, 1, LINEAR)
    decide(ids[0])
    assert queue_due(store) == (1,)
    decide(ids[1])
    assert store.retraining.schedule().blocked
    assert queue_due(store) == ()
    store.jobs.claim(claimable())
    decide(ids[2])
    assert queue_due(store) == ()
    store.jobs.end(1, JobState.FAILED, "too few")
    assert queue_due(store) == (2,)
    assert jobs(store) == [(1, "resolution", "failed"), (2, "resolution", "queued")]


def test_a_training_that_somebody_asked_for_starts_the_count_again(store, ids, decide):
    set_every(store, 3, LINEAR)
    decide(*ids[:2])
    store.jobs.add(new_job("resolution", "bilstm"))
    store.jobs.claim(claimable())
    assert store.retraining.all()[0].count == 0
    store.jobs.end(1, JobState.DONE)
    decide(*ids[2:4])
    assert queue_due(store) == ()
    assert store.retraining.all()[0].count == 2
    decide(ids[4])
    assert queue_due(store) == (2,)


def test_one_of_another_task_does_not(store, ids, decide):
    set_every(store, 2, LINEAR)
    decide(ids[0])
    store.jobs.add(new_job("identification", "svm"))
    store.jobs.claim(claimable())
    decide(ids[1])
    assert queue_due(store) == (2,)


def test_a_clock_that_is_set_back_keeps_no_training_waiting(store, ids, decide, monkeypatch):
    set_every(store, 2, LINEAR)
    store.jobs.add(new_job("resolution", "linear"))
    store.jobs.claim(claimable())
    queue_due(store)  # as each workbench does every second
    store.jobs.end(1, JobState.DONE)
    monkeypatch.setattr(system, "now", lambda: "2001-01-01T00:00:00.000Z")
    decide(*ids[:2])
    assert queue_due(store) == (2,)


def test_two_who_look_at_one_time_queue_one(database, ids, decide):
    with Store.open(database) as one, Store.open(database) as other:
        set_every(one, 1, LINEAR)
        decide(ids[0])
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(queue_due, [one, other] * 4))
        assert sorted(found) == [()] * 7 + [(1,)]


def test_it_is_set_anew_for_each_task_and_stopped(store):
    set_every(store, 2, LINEAR)
    set_every(store, 5, new_job("identification", "svm"))
    set_every(store, 9, new_job("resolution", "linear"))
    assert {one.task: one.number for one in store.retraining.all()} == {
        "identification": 5,
        "resolution": 9,
    }
    assert stop_every(store, "resolution")
    assert not stop_every(store, "resolution")
    assert [one.task for one in store.retraining.all()] == ["identification"]
    for number in (0, -1, 1_000_001):
        with pytest.raises(ValueError, match="give 1 to 1,000,000"):
            set_every(store, number, LINEAR)


@pytest.mark.parametrize(
    "damaged",
    ["", "[", "{}", "7", '[{"task": 1}]', '[{"task": "resolution", "every": 0}]', "[3]"],
)
def test_a_setting_that_cannot_be_read_is_none(store, damaged):
    store.settings.write(db_jobs.SETTING, damaged)
    assert store.retraining.all() == ()
    assert queue_due(store) == ()
