"""Jobs and models as the store keeps them."""

import subprocess
import sys
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.jobs import JobGoneError, JobProgress, JobState
from nfh_db.models import NewModel
from nfh_db.store import Store


def new(name: str = "svm-1", task: str = "identification") -> NewModel:
    """A trained model."""
    metrics = {"f1": 0.5}
    return NewModel(name, task, "svm", "svm/1", f"models/{name}", "d1", {}, metrics, "s1")


def change(path: Path, statement: str) -> None:
    """What another process does to the database."""
    connection = connect(path, "rw")
    connection.execute(statement)
    connection.close()


def test_a_job_goes_from_queued_to_done_with_its_model(path: Path) -> None:
    with Store.open(path, create=True) as store:
        job_id = store.jobs.begin("identification", {"recipe": "svm"})
        job = store.jobs.read(job_id)
        assert job is not None
        assert (job.state, job.task, job.arguments) == (
            JobState.RUNNING,
            "identification",
            {"recipe": "svm"},
        )
        assert job.pid is not None
        assert job.heartbeat == job.started_at
        store.jobs.update(job_id, JobProgress("fold 2", 2, 5, {"f1": 0.25}))
        job = store.jobs.read(job_id)
        assert job is not None
        assert (job.phase, job.done, job.total, job.metrics) == ("fold 2", 2, 5, {"f1": 0.25})
        model = store.jobs.finish_training(job_id, new())
        job = store.jobs.read(job_id)
        assert job is not None
        assert (job.state, job.model_id, job.metrics) == (
            JobState.DONE,
            model.id,
            {"f1": 0.5},
        )
        assert job.finished_at is not None
        assert store.models.named("svm-1") == model
        assert (model.path, model.digest, model.snapshot) == ("models/svm-1", "d1", "s1")


def test_whoever_cancels_a_job_stops_it_and_nothing_is_registered(path: Path) -> None:
    with Store.open(path, create=True) as store:
        job_id = store.jobs.begin("identification", {})
        change(path, "UPDATE job SET state = 'cancelled'")
        with pytest.raises(JobGoneError, match="cancelled"):
            store.jobs.update(job_id, JobProgress("fitting"))
        with pytest.raises(JobGoneError, match="cancelled"):
            store.jobs.finish_training(job_id, new())
        store.jobs.end(job_id, JobState.FAILED, "too late")
        assert store.models.all() == ()
        job = store.jobs.read(job_id)
        assert job is not None
        assert (job.state, job.error) == (JobState.CANCELLED, None)


def test_a_job_whose_process_is_gone_is_marked_interrupted(path: Path) -> None:
    with Store.open(path, create=True) as store:
        mine = store.jobs.begin("identification", {})
        program = (
            "import sys; from pathlib import Path; from nfh_db.store import Store\n"
            "Store.open(Path(sys.argv[1])).jobs.begin('identification', {})\n"
            "import os; os._exit(1)\n"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=False)
        states = {job.id: job.state for job in store.jobs.all()}
        assert states == {mine: JobState.RUNNING, mine + 1: JobState.INTERRUPTED}
        lost = store.jobs.read(mine + 1)
        assert lost is not None
        assert lost.error is not None
        assert "ended without" in lost.error


def test_a_name_is_taken_once(path: Path) -> None:
    with Store.open(path, create=True) as store:
        store.jobs.finish_training(store.jobs.begin("identification", {}), new())
        second = store.jobs.begin("identification", {})
        with pytest.raises(StoreError, match="svm-1 already"):
            store.jobs.finish_training(second, new())
        job = store.jobs.read(second)
        assert job is not None
        assert job.state is JobState.RUNNING


def test_one_model_of_a_task_is_active(path: Path) -> None:
    with Store.open(path, create=True) as store:
        for name in ("svm-1", "svm-2"):
            store.jobs.finish_training(store.jobs.begin("identification", {}), new(name))
        resolver = store.models.ensure("nearest", "resolution", "nearest-noun", "1")
        states = [model.state for model in store.models.all()]
        assert states == ["active", "candidate", "active"]
        store.models.activate(2)
        assert [model.state for model in store.models.all()] == ["retired", "active", "active"]
        assert store.models.activate(1).state == "active"
        assert [model.state for model in store.models.all()] == ["active", "retired", "active"]
        both = store.models.ensure("small", "both", "small", "1")
        store.models.activate(both)
        assert [model.state for model in store.models.all()][-2:] == ["retired", "active"]
        store.models.activate(resolver)
        assert [model.state for model in store.models.all()][-2:] == ["active", "active"]
        store.models.activate(1)
        assert [model.state for model in store.models.all()][-2:] == ["active", "retired"]
        with pytest.raises(StoreError, match="no model 99"):
            store.models.activate(99)
