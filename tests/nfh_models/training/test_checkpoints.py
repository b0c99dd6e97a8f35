"""Checkpoints that are damaged, of another training, or do not fit on the disk."""

import os
import resource
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from nfh_models.training.checkpoints import (
    BEST,
    LAST,
    Checkpoint,
    CheckpointError,
    Identity,
    TrainingProgress,
    read,
    write,
)

from .small_learner import PLAN, Driven, SmallLearner

IDENTITY = Identity({"epochs": "3"}, "digest")


def checkpoint(step: int, size: int = 10) -> Checkpoint:
    return Checkpoint(
        IDENTITY, TrainingProgress(step=step), {"numbers": torch.arange(size).float()}
    )


def test_round_trip(tmp_path):
    shared = torch.randn(4, 4)
    tensors = {
        "one": shared,
        "same": shared,
        "across": shared.t(),
        "half": shared.bfloat16(),
        "none": torch.zeros(0),
        "scalar": torch.tensor(3.0),
        "bytes": torch.get_rng_state(),
    }
    progress = TrainingProgress(step=3, curve=({"score": 0.5},), metrics={"score": 0.5})
    write(tmp_path / LAST, Checkpoint(IDENTITY, progress, tensors))
    found = read(tmp_path / LAST, IDENTITY)
    assert found.progress == progress
    assert set(found.tensors) == set(tensors)
    assert all(torch.equal(found.tensors[name], one) for name, one in tensors.items())
    assert [path.name for path in tmp_path.iterdir()] == [LAST]


@pytest.fixture
def cut_off(tmp_path):
    Driven(SmallLearner(), tmp_path, reports=9).running.close()
    return tmp_path


def test_another_plan_is_refused_and_named(cut_off):
    with pytest.raises(CheckpointError, match=r"another training \(epochs 3 there, 4 here"):
        Driven(SmallLearner(), cut_off, replace(PLAN, epochs=4))
    Driven(SmallLearner(), cut_off, replace(PLAN, checkpoint_every=1))


def test_another_learner_is_refused(cut_off):
    with pytest.raises(CheckpointError, match="other examples"):
        Driven(SmallLearner(fingerprint="other"), cut_off)
    wider = SmallLearner()
    wider.network = torch.nn.Sequential(torch.nn.Linear(6, 3))
    with pytest.raises(CheckpointError, match="another network"):
        Driven(wider, cut_off)


@pytest.mark.parametrize("name", [LAST, BEST])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_cut_short_is_a_sentence(cut_off, name, share):
    path = cut_off / name
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(CheckpointError, match=f"{name}.*is damaged.*Remove the folder"):
        Driven(SmallLearner(), cut_off)


def test_one_changed_byte_is_a_sentence(cut_off):
    path = cut_off / LAST
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="checksum"):
        Driven(SmallLearner(), cut_off)


def test_best_that_is_gone_is_a_sentence_at_the_start(cut_off):
    (cut_off / BEST).unlink()
    with pytest.raises(CheckpointError, match=BEST):
        Driven(SmallLearner(), cut_off, reports=1)


def test_leavings_of_a_kill_are_removed(cut_off):
    left = cut_off / f".{LAST}.123.new"
    left.write_bytes(b"half")
    Driven(SmallLearner(), cut_off, reports=1)
    assert not left.exists()


@contextmanager
def full_disk():
    """Files of more than 20,000 bytes cannot be written, as if the disk were full.

    Not a fixture: pytest writes its own output, to a file perhaps, before fixtures end.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
def test_full_disk_is_a_sentence_and_the_one_before_stays(tmp_path):
    path = tmp_path / LAST
    write(path, checkpoint(1))
    wanted = r"cannot be written: .*The previous one is kept"
    with full_disk(), pytest.raises(CheckpointError, match=wanted):
        write(path, checkpoint(2, size=100_000))
    assert read(path, IDENTITY).progress.step == 1
    assert [one.name for one in tmp_path.iterdir()] == [LAST]


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
def test_full_disk_does_not_hold_up_closing(tmp_path):
    learner = SmallLearner()
    learner.network.register_buffer("large", torch.zeros(100_000))
    with full_disk():
        run = Driven(learner, tmp_path, reports=2)
        run.running.close()
        with pytest.raises(CheckpointError, match="cannot be written"):
            Driven(learner, tmp_path)


def test_folder_that_is_a_file_is_a_sentence(tmp_path):
    folder = tmp_path / "taken"
    folder.write_text("no folder")
    with pytest.raises(CheckpointError, match="cannot be written"):
        Driven(SmallLearner(), folder)
