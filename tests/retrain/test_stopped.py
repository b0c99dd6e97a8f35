"""Trainings that were broken off: what they leave, and that they go on where they were."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_models.encoder.learner import EncoderLearner
from nfh_models.training.plan import DivergedError
from nfh_tui.training_resolution import retrain
from nfh_tui.training_work import GOES_ON

from .handmade import FAST, Add, wanted


def test_stopped_it_leaves_no_model_and_goes_on_when_asked_again(
    path: Path, add: Add, base: Path
) -> None:
    add(60)
    seen: list[tuple[str, int]] = []

    def stop(phase: str, done: int, total: int) -> None:
        if phase.startswith("training, epoch 2"):
            raise KeyboardInterrupt

    def note(phase: str, done: int, total: int) -> None:
        seen.append((phase, done))

    with Store.open(path) as store:
        asked = wanted(store, f"base={base}", *FAST)
        with pytest.raises(KeyboardInterrupt):
            retrain(store, asked, stop)
        assert {one.recipe for one in store.models()} == {"cues", "rules"}
        assert [job.state for job in store.jobs()] == [JobState.CANCELLED]
        (work,) = path.parent.glob("w-models/.work-*")
        assert (work / "last.safetensors").is_file()
        done = retrain(store, asked, note)
        assert done.model.name == "encoder-1"
    assert not work.exists()
    trained = [step for phase, step in seen if phase.startswith("training")]
    assert min(trained) > 0
    assert {phase for phase, _ in seen if phase.startswith("training")} == {
        "training, epoch 2:"
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_a_step_waits_for_its_end_and_says_how_to_go_on(
    path: Path, add: Add, base: Path, call: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals,
) -> None:  # fmt: skip
    add(60)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    asked = [part for word in (f"base={base}", *FAST) for part in ("--set", word)]
    losses = []

    def loss(learner: EncoderLearner, *some: Any) -> Any:
        losses.append(true(learner, *some))
        if len(losses) == 3:
            signal.raise_signal(number)
        return losses[-1]

    true = EncoderLearner.loss
    monkeypatch.setattr(EncoderLearner, "loss", loss)
    try:
        stopped = call("resolution", "--recipe", "encoder", *asked)
    finally:
        signal.signal(signal.SIGINT, before)
    ended = number == signal.SIGTERM
    assert stopped.exit_code == (143 if ended else 1)
    assert stopped.stderr == f"nfh-tui: stopped. {GOES_ON}\n"
    assert len(losses) == 3
    done = call("resolution", "--recipe", "encoder", "--wait", *asked)
    assert done.exit_code == 0, done.output
    assert len(losses) == 14  # two epochs of seven batches, none of them twice
    with Store.open(path) as store:
        state = JobState.INTERRUPTED if ended else JobState.CANCELLED
        assert [job.state for job in store.jobs()] == [JobState.DONE, state]


def test_what_nobody_could_go_on_with_is_removed(path: Path, add: Add, base: Path) -> None:
    add(60)
    models = path.parent / "w-models"
    old, at_work, new = (models / f".work-{name}" for name in ("old", "at-work", "new"))
    for folder in (old, at_work, new):
        folder.mkdir(parents=True)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (old / "running").write_text(str(ended.pid))
    (at_work / "running").write_text(str(os.getpid()))

    def stop(phase: str, done: int, total: int) -> None:
        if phase == "preparing":
            raise KeyboardInterrupt

    with Store.open(path) as store:
        with pytest.raises(KeyboardInterrupt) as stopped:
            retrain(store, wanted(store, f"base={base}", *FAST), stop)
        assert not getattr(stopped.value, "__notes__", [])
        assert sorted(models.iterdir()) == [at_work, new]
        with pytest.raises(DivergedError, match="went astray"):
            retrain(store, wanted(store, f"base={base}", *FAST, "seed=3"), astray)
        assert sorted(models.iterdir()) == [at_work, new]


def astray(phase: str, done: int, total: int) -> None:
    """A training goes astray behind its first checkpoint."""
    if phase.startswith("training, epoch 2"):
        raise DivergedError("The training went astray")
