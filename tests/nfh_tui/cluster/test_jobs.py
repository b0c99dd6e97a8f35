"""Jobs with a scheduler: the same models and predictions as without one, into the database."""

import os
import signal
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from nfh_db.jobs import Job, JobState, NewJob
from nfh_db.models import NewModel
from nfh_db.query import parse
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models.model_files import digest_of
from nfh_tui.jobs import cluster_work, tasks, training
from nfh_tui.jobs.cluster_work import resolving_at
from nfh_tui.jobs.runner import work
from nfh_tui.services.examples import ResolutionExamples
from nfh_tui.services.models import resolver_for
from tests.nfh_models.parsing.tiny_small import write_small
from tests.nfh_tui.retrain.handmade import Add, quiet

from .conftest import Told, pid_at_work

ME = Annotator(0, "me")


def done(store: Store, new: NewJob, progress: object = quiet) -> Job:
    """A job that was queued and run in this process."""
    number = store.jobs.add(new)
    work(store, progress)  # type: ignore[arg-type]
    found = store.jobs.read(number)
    assert found is not None
    return found


def predictions(store: Store) -> list[object]:
    """What the items show, in the order of their numbers."""
    ids = sorted(id_ for chunk in store.queue.ids(parse(""), ME) for id_ in chunk)
    items = [store.items.read(id_, ME, Role.ANNOTATOR) for id_ in ids]
    return [
        (one.prediction.choice, tuple(s and round(s, 4) for s in one.prediction.scores))
        for one in items
        if one is not None and one.prediction is not None
    ]


@pytest.mark.long
def test_a_network_whose_worker_is_killed_ends_as_a_model_in_use(
    cluster: LocalCluster,
    path: Path,
    add: Add,
    base: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_work, "LEAST_SECONDS", 0.1)
    monkeypatch.setattr(cluster_work, "SHARE", 1.0)
    add(60)
    address = cluster.scheduler_address
    words = (f"base={base}", "epochs=20", "patience=20", "batch=8", "window=40", "dev=0.2")
    killed: list[int] = []

    def kill_once(phase: str, step: int, total: int) -> None:
        told.note(phase)
        at_home = next(path.parent.glob("w-jobs/*/work/last.safetensors"), None)
        if at_home and not killed:
            killed.append(pid_at_work(cluster, told))
            os.kill(killed[0], signal.SIGKILL)

    with Store.open(path) as store:
        asked = training.new_job("resolution", "encoder", words=words, scheduler=address)
        job = done(store, asked, kill_once)
        assert (job.state, job.error) == (JobState.DONE, None)
        assert killed
        assert any("continuing from its last checkpoint" in phase for phase in told.phases)
        (model,) = [one for one in store.models.all() if one.recipe == "encoder"]
        assert job.model_id == model.id
        assert job.snapshot == model.snapshot
        curve = model.metrics["curve"]
        assert isinstance(curve, list)
        assert [entry["epoch"] for entry in curve][-20:] == list(range(1, 21))
        steps = [point.done for point in store.jobs.points(job.id)]
        assert steps == sorted(steps)


@pytest.mark.long
def test_what_a_cluster_predicts_is_what_is_predicted_here_though_a_worker_is_killed(
    cluster: LocalCluster, path: Path, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfh_models.resolution.base.BATCH", 8)
    monkeypatch.setattr("nfh_tui.services.predict.PREDICTION_BATCH", 8)
    add(400)
    killed: list[int] = []

    def kill_once(phase: str, *_: int) -> None:
        if not killed and phase.startswith("numbers predicted"):
            with Client(cluster.scheduler_address, set_as_default=False) as client:
                killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    with Store.open(path) as store:
        here = done(store, tasks.prediction_asked(model="cues"))
        expected = predictions(store)
        assert len(expected) == 400
        address = cluster.scheduler_address
        asked = tasks.prediction_asked(model="cues", force=True, scheduler=address)
        there = done(store, asked, kill_once)
        assert killed
        assert (there.state, there.error) == (JobState.DONE, None)
        same = ("anchors", "predicted", "kinds", "model", "parser")
        assert [there.result[one] for one in same] == [here.result[one] for one in same]
        assert predictions(store) == expected


def test_a_trained_model_goes_to_the_workers(
    cluster: LocalCluster, path: Path, add: Add, tmp_path: Path
) -> None:
    """Its folder is nowhere that they could look."""
    add(30)
    folder = write_small(tmp_path / "w-models" / "enc-1", recipe="encoder")
    with Store.open(path) as store:
        new = NewModel(
            "enc-1", "resolution", "encoder", "1", "w-models/enc-1", digest_of(folder)
        )
        store.jobs.finish_training(store.jobs.begin("resolution", {}), new)
        chosen = resolver_for(store, "enc-1")
        items = [example.item for example in ResolutionExamples.of_store(store, None, None)]
        with resolving_at(cluster.scheduler_address, store, chosen, None) as elsewhere:
            folder.rename(tmp_path / "gone")
            found = [choice for _, choice in elsewhere.resolved(items)]
            assert elsewhere.parser_name == ""
    expected = chosen.model.resolve(items)
    assert [one and one.choice for one in found] == [one and one.choice for one in expected]
    assert len(found) == 30


def test_a_scheduler_that_is_not_there_fails_the_job(
    path: Path, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfh_tui.scanning.cluster.CONNECT_SECONDS", 0.2)
    add(60)
    with Store.open(path) as store:
        nowhere = "tcp://127.0.0.1:9"
        one = done(store, training.new_job("resolution", "encoder", scheduler=nowhere))
        assert (one.state, one.model_id) == (JobState.FAILED, None)
        assert "no scheduler answers at tcp://127.0.0.1:9" in str(one.error)
        other = done(store, tasks.prediction_asked(model="cues", scheduler=nowhere))
        assert other.state is JobState.FAILED
        assert "no scheduler answers" in str(other.error)
