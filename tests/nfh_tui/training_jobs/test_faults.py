"""Trainings that are killed, or that the disk stops: they go on where they were."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nfh_db.jobs import Jobs, JobState
from nfh_db.store import Store
from nfh_models.encoder.training import EncoderLearner
from nfh_models.training import checkpoints
from nfh_models.training.plan import DivergedError
from nfh_tui.jobs import runner
from nfh_tui.jobs.descriptions import jobs_folder
from nfh_tui.jobs.training import MADE, MODEL, SNAPSHOT, WORK, new_job
from nfh_tui.services.models import checked_folder

from .conftest import Train
from .handmade import FAST, Load, quiet, telling


def go_on(store: Store, tell: Callable[[str, int, int], None] = quiet) -> None:
    """What the next runner does."""
    for job in store.jobs.all():
        if job.state is JobState.FAILED:
            assert store.jobs.retry(job.id)
    runner.work(store, tell)


def stopping(at: str) -> Callable[[str, int, int], None]:
    """Ends the process, as far as the job can tell, where a phase begins so."""

    def tell(phase: str, done: int, total: int) -> None:
        if phase.startswith(at):
            raise KeyboardInterrupt

    return tell


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each step that is learnt."""
    made: list[int] = []
    true = EncoderLearner.loss

    def loss(learner: EncoderLearner, *some: Any) -> Any:
        made.append(len(made))
        return true(learner, *some)

    monkeypatch.setattr(EncoderLearner, "loss", loss)
    return made


@pytest.mark.parametrize(
    "at",
    [
        "dealing",
        pytest.param("preparing", marks=pytest.mark.long),
        "training, epoch 2",
        pytest.param("saving, epoch 2", marks=pytest.mark.long),
        "saving",
        "judging resolution",
    ],
)
def test_stopped_anywhere_it_goes_on_with_the_same_labels_and_learns_nothing_twice(
    store: Store, load: Load, training: Train, steps: list[int], at: str, path: Path
) -> None:
    load("a", count=60)
    with pytest.raises(KeyboardInterrupt):
        training(progress=stopping(at))
    job = store.jobs.all()[0]
    assert job.state is JobState.INTERRUPTED
    load("b", count=30, start=100)
    go_on(store)
    job = store.jobs.all()[0]
    assert (job.state, job.error) == (JobState.DONE, None)
    assert job.result["passages"] == (72 if at == "dealing" else 48)
    assert len(steps) == (18 if at == "dealing" else 12)
    model = store.models.named("encoder-1")
    assert model is not None
    assert checked_folder(path, model).is_dir()
    assert [one.name for one in (path.parent / "w-models").iterdir()] == ["encoder-1"]


def test_killed_between_its_place_and_its_row_a_model_is_there_once(
    store: Store, load: Load, training: Train, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("a", count=60)
    remove = shutil.rmtree

    def killed(*_: object, **__: object) -> None:
        # A process that is killed removes nothing any more.
        monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Jobs, "finish_training", killed)
        with pytest.raises(KeyboardInterrupt):
            training()
    monkeypatch.setattr(shutil, "rmtree", remove)
    assert (path.parent / "w-models" / "encoder-1").is_dir()
    assert store.models.named("encoder-1") is None
    go_on(store)
    assert store.models.named("encoder-1") is not None
    assert [one.name for one in (path.parent / "w-models").iterdir()] == ["encoder-1"]


def test_a_full_disk_at_a_checkpoint_is_a_sentence_and_it_goes_on_when_there_is_room(
    store: Store, load: Load, training: Train, steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    load("a", count=60)
    saved: list[bool] = []
    save = checkpoints.save_file

    def full(tensors: Any, place: Path, spelled: Any) -> None:
        saved.append("last" in Path(place).name)
        if sum(saved) > 1:  # after the first epoch
            Path(place).write_bytes(b"half a checkpoint")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))
        save(tensors, place, spelled)

    monkeypatch.setattr(checkpoints, "save_file", full)
    job = training()
    assert job.state is JobState.FAILED
    assert "is full. Make room" in str(job.error)
    assert sum(saved) == 2
    monkeypatch.setattr(checkpoints, "save_file", save)
    before = len(steps)
    seen: list[str] = []
    go_on(store, telling(seen))
    assert store.jobs.all()[0].state is JobState.DONE
    assert len(steps) - before == 6  # the second epoch alone
    assert "training, epoch 1" not in seen


@pytest.mark.parametrize("name", ["last.safetensors", "best.safetensors"])
def test_a_damaged_checkpoint_is_begun_anew(
    store: Store, load: Load, training: Train, steps: list[int], path: Path, name: str
) -> None:
    load("a", count=60)
    with pytest.raises(KeyboardInterrupt):
        training(progress=stopping("training, epoch 2"))
    (jobs_folder(path) / str(store.jobs.all()[0].id) / WORK / name).write_bytes(
        b"no checkpoint"
    )
    before = len(steps)
    go_on(store)
    assert store.jobs.all()[0].state is JobState.DONE
    assert len(steps) - before == 12


@pytest.mark.parametrize("name", [SNAPSHOT, MADE, f"{MODEL}/config.json"])
def test_damaged_files_of_a_job_are_made_anew(
    store: Store, load: Load, training: Train, path: Path, name: str
) -> None:
    load("a", count=60)
    with pytest.raises(KeyboardInterrupt):
        training(progress=stopping("judging resolution"))
    (jobs_folder(path) / str(store.jobs.all()[0].id) / name).write_text("{")
    go_on(store)
    job = store.jobs.all()[0]
    assert (job.state, job.error) == (JobState.DONE, None)


def test_what_goes_astray_leaves_nothing_to_go_astray_from(
    store: Store, load: Load, training: Train, path: Path
) -> None:
    load("a", count=60)

    def astray(phase: str, done: int, total: int) -> None:
        if phase.startswith("training, epoch 2"):
            raise DivergedError("The training diverged")

    job = training(progress=astray)
    assert (job.state, job.error) == (JobState.FAILED, "The training diverged")
    assert not (jobs_folder(path) / str(store.jobs.all()[0].id) / WORK).exists()


@pytest.mark.long
def test_killed_for_good_a_training_is_taken_up_by_the_next_runner(
    store: Store, load: Load, base: Path, path: Path
) -> None:
    load("a", count=60)
    words = (f"base={base}", *FAST[1:], "epochs=400", "patience=1000")
    store.jobs.add(new_job("resolution", "encoder", words=words, promote=False))
    command = [sys.executable, "-P", "-m", "nfh_tui.jobs.runner", "--db", str(path)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    last = jobs_folder(path) / str(store.jobs.all()[0].id) / WORK / "last.safetensors"
    killed = subprocess.Popen(command, env=environment)
    try:
        while not last.exists():
            assert killed.poll() is None, "it ended by itself"
            time.sleep(0.005)  # it steps back after whoever spins
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert store.models.named("encoder-1") is None
    job = store.jobs.all()[0]
    assert job.state is JobState.INTERRUPTED
    seen: list[str] = []

    def enough(phase: str, done: int, total: int) -> None:
        if phase.startswith("training"):
            seen.append(phase)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.work(store, enough)
    assert seen
    assert seen[0] != "training, epoch 1"
