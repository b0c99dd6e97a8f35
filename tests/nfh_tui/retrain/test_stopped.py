"""Trainings that were broken off: what they leave, and that they go on where they were."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_models.encoder.training import EncoderLearner
from nfh_models.training.plan import DivergedError
from nfh_tui.cli.main import commands
from nfh_tui.jobs.runner import work

from .handmade import FAST, Add, train


def test_stopped_it_leaves_no_model_and_the_next_runner_goes_on(
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
        with pytest.raises(KeyboardInterrupt):
            train(store, f"base={base}", *FAST, progress=stop)
        assert {one.recipe for one in store.models.all()} == {"cues", "rules"}
        (job,) = store.jobs.all()
        assert job.state is JobState.INTERRUPTED
        assert not list(path.parent.glob("w-models/*"))
        assert list((path.parent / "w-jobs" / "1").rglob("last.safetensors"))
        work(store, note, enough=lambda: True)
        (job,) = (one for one in store.jobs.all() if one.id == job.id)
        assert job.state is JobState.DONE
        assert [one.name for one in store.models.all() if one.path] == ["encoder-1"]
        kept = (path.parent / "w-jobs" / "1").iterdir()
        assert sorted(one.name for one in kept) == ["asked-at", "log.txt"]
        points = [point.done for point in store.jobs.points(job.id)]
        assert points == sorted(points)
    trained = [step for phase, step in seen if phase.startswith("training")]
    assert min(trained) > 0
    assert {phase for phase, _ in seen if phase.startswith("training")} == {"training, epoch 2"}


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
        stopped = call("resolution", "--recipe", "encoder", "--wait", *asked)
    finally:
        signal.signal(signal.SIGINT, before)
    ended = number == signal.SIGTERM
    assert stopped.exit_code == (143 if ended else 1)
    assert stopped.stderr == (
        f"nfh-tui: stopped. Job 1 is interrupted; nfh-tui jobs wait 1 --db {path} continues "
        "it.\n"
    )
    assert len(losses) == 3
    words = ["jobs", "wait", "1", "--json", "--db", str(path)]
    done = CliRunner().invoke(commands, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    examples = json.loads(done.stdout)["metrics"]["examples"]
    assert len(losses) == 2 * -(-examples // 8)  # two epochs in batches of eight, none twice
    with Store.open(path) as store:
        assert [job.state for job in store.jobs.all() if job.kind == "train"] == [JobState.DONE]


def test_what_went_astray_is_not_gone_on_with(path: Path, add: Add, base: Path) -> None:
    add(60)

    def astray(phase: str, done: int, total: int) -> None:
        if phase.startswith("training, epoch 2"):
            raise DivergedError("The training diverged")

    with Store.open(path) as store:
        job = train(store, f"base={base}", *FAST, progress=astray)
        assert (job.state, job.error) == (JobState.FAILED, "The training diverged")
        assert not list((path.parent / "w-jobs" / "1").rglob("*.safetensors"))
        assert not (path.parent / "w-models").exists()
        # Tried again it begins anew, on the same labels.
        assert store.jobs.retry(job.id)
        work(store, lambda *_: None, enough=lambda: True)
        again = store.jobs.read(job.id)
        assert again is not None
        assert (again.state, again.snapshot) == (JobState.DONE, job.snapshot)
