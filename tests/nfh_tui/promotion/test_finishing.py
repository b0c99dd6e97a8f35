"""What is registered when a training is done: all of it, or nothing."""

import pytest

from nfh_db.jobs import JobGoneError, JobState, NewJob
from nfh_db.models import NewModel
from nfh_db.store import Store

PREDICT = NewJob("predict", 2, "resolution", {"query": "-state:decided"})


def new(name: str = "new-1", task: str = "resolution") -> NewModel:
    return NewModel(name, task, "encoder", "1", f"models/{name}", "d" * 64)


def old(store: Store, name: str = "old-1", task: str = "resolution") -> int:
    """A model in use; its number."""
    number = store.models.ensure(name, task, "encoder", "1")
    store.models.activate(number)
    return number


def verdict(kind: str, active: int | None, task: str = "resolution") -> dict[str, object]:
    trials = [{"task": task, "active_id": active}]
    return {"verdict": kind, "reason": "Ten points more.", "trials": trials}


def job(store: Store) -> int:
    return store.jobs.begin("resolution", {})


def test_a_promoted_model_is_in_use_with_the_reason_and_the_job(store: Store) -> None:
    before, done = old(store), job(store)
    ruling = verdict("promoted", before)
    made = store.jobs.finish_training(
        done, new(), {"model": "new-1"}, verdict=ruling, promote=True, then=PREDICT
    )
    assert (made.state, made.verdict) == ("active", ruling)
    last = store.models.activations()[-1]
    assert (last.task, last.model, last.before) == ("resolution", "new-1", "old-1")
    assert (last.reason, last.job, last.who) == ("Ten points more.", done, "")
    states = {model.name: model.state for model in store.models.all()}
    assert states == {"old-1": "retired", "new-1": "active"}
    queued, ended = store.jobs.all()
    assert (queued.kind, queued.state, queued.arguments) == (
        "predict",
        JobState.QUEUED,
        PREDICT.arguments,
    )
    assert (ended.state, ended.model_id) == (JobState.DONE, made.id)
    assert ended.result == {"model": "new-1", "verdict": ruling}


@pytest.mark.parametrize("kind", ["candidate", "rejected"])
def test_another_verdict_leaves_the_model_in_use(store: Store, kind: str) -> None:
    before = old(store)
    made = store.jobs.finish_training(
        job(store), new(), {}, verdict=verdict(kind, before), promote=True, then=PREDICT
    )
    assert made.state == kind
    active = store.models.active("resolution")
    assert active is not None
    assert active.id == before
    assert [one.kind for one in store.jobs.all()] == ["train"]


def test_a_better_model_that_is_not_to_take_over_stays_a_candidate(store: Store) -> None:
    before = old(store)
    made = store.jobs.finish_training(
        job(store), new(), {}, verdict=verdict("promoted", before), promote=False, then=PREDICT
    )
    assert made.state == "candidate"
    assert made.verdict["verdict"] == "candidate"
    assert made.verdict["reason"] == (
        "Ten points more. You asked that it does not take over by itself."
    )
    assert [one.kind for one in store.jobs.all()] == ["train"]


@pytest.mark.parametrize("kind", ["promoted", "first"])
def test_a_verdict_beside_another_model_than_the_one_in_use_counts_for_nothing(
    store: Store, kind: str
) -> None:
    before = old(store) if kind == "promoted" else None
    ruling = verdict(kind, before)
    old(store, "quicker-1")
    made = store.jobs.finish_training(job(store), new(), {}, verdict=ruling, promote=True)
    assert made.state == "candidate"
    assert made.verdict["reason"] == (
        "Ten points more. Since then quicker-1 came into use, with which it was not compared."
    )
    assert store.jobs.all()[0].result["verdict"] == made.verdict


def test_the_first_model_of_a_task_is_in_use_at_once(store: Store) -> None:
    made = store.jobs.finish_training(
        job(store), new(), {}, verdict=verdict("first", None), promote=True, then=PREDICT
    )
    assert made.state == "active"
    assert [one.kind for one in store.jobs.all()] == ["predict", "train"]


def test_one_of_both_tasks_takes_over_both(store: Store) -> None:
    small, svm = old(store, "small", "both"), old(store, "svm-1", "identification")
    ruling = {
        "verdict": "promoted",
        "reason": "Better.",
        "trials": [
            {"task": "resolution", "active_id": small},
            {"task": "identification", "active_id": svm},
        ],
    }
    store.jobs.finish_training(job(store), new(task="both"), {}, verdict=ruling, promote=True)
    changed = [(one.task, one.before) for one in store.models.activations()[-2:]]
    assert changed == [("identification", "svm-1"), ("resolution", "small")]


def test_a_job_that_somebody_cancelled_leaves_nothing(store: Store) -> None:
    before, done = old(store), job(store)
    told = store.models.activations()
    store.jobs.end(done, JobState.CANCELLED)
    with pytest.raises(JobGoneError):
        store.jobs.finish_training(
            done, new(), {}, verdict=verdict("promoted", before), promote=True, then=PREDICT
        )
    assert [model.name for model in store.models.all()] == ["old-1"]
    assert store.models.activations() == told
    assert [one.kind for one in store.jobs.all()] == ["train"]


def test_without_a_verdict_it_is_as_it_ever_was(store: Store) -> None:
    first = store.jobs.finish_training(job(store), new(), {"model": "new-1"})
    second = store.jobs.finish_training(job(store), new("new-2"))
    assert (first.state, second.state) == ("active", "candidate")
    assert (first.verdict, second.verdict) == ({}, {})
    assert store.jobs.all()[1].result["verdict"] is None


def test_damaged_verdicts_keep_nobody_from_the_models(store: Store) -> None:
    old(store)
    with store.connections.fast_write() as connection:
        connection.execute("UPDATE model SET verdict = '{'")
    assert [model.verdict for model in store.models.all()] == [{}]
