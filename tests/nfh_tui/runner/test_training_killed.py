"""A real training in a real runner, killed now and then: one model comes of it, whole."""

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import jobs_folder, log_of
from nfh_tui.jobs.training import new_job
from nfh_tui.services.models import checked_folder, models_folder
from tests.nfh_models.parsing.tiny_small import write_small
from tests.nfh_tui.retrain.conftest import add, path

__all__ = ["add", "path"]

MOMENTS = ("reading", "training, epoch 2", "judging resolution")
"""What it is at when it is killed: fewer than the times that a job may die without a word."""


@pytest.mark.long
def test_killed_again_and_again_one_model_comes_of_it(
    path: Path, add: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    add(60)
    base = write_small(tmp_path / "base", recipe="encoder")
    words = (f"base={base}", "epochs=4", "batch=8", "window=40")
    source = random.Random(7)
    command = [sys.executable, "-m", "nfh_tui.jobs.runner", "--db", str(path)]
    with Store.open(path) as store:
        job_id = store.jobs.add(new_job("resolution", "encoder", words=words))
        queued = store.jobs.read(job_id)
        assert queued is not None
        log = log_of(path, queued)
        seen: set[str | None] = {None}
        for moment in MOMENTS:
            runner = subprocess.Popen(command)
            while not (log.exists() and f" {moment}" in log.read_text("utf-8")):
                assert runner.poll() is None, moment
                time.sleep(0.005)
            time.sleep(source.random() * 0.1)
            runner.kill()
            runner.wait()
            job = store.jobs.read(job_id)
            assert job is not None
            if job.state is JobState.DONE:
                break  # it was quicker than the kill
            assert job.state is JobState.INTERRUPTED
            seen.add(job.snapshot)
            assert not [model for model in store.models.all() if model.recipe == "encoder"]
        subprocess.run(command, check=True)
        job = store.jobs.read(job_id)
        assert job is not None
        assert (job.state, job.error) == (JobState.DONE, None)
        (made,) = [model for model in store.models.all() if model.recipe == "encoder"]
        assert job.model_id == made.id
        seen.add(job.snapshot)
        assert seen == {None, made.snapshot}
        folder = checked_folder(store.path, made)
        points = [point.done for point in store.jobs.points(job_id)]
        assert points == sorted(points)
    assert [one.name for one in models_folder(path).iterdir()] == [folder.name]
    kept = (jobs_folder(path) / str(job_id)).iterdir()
    assert sorted(one.name for one in kept) == ["asked-at", "log.txt"]
