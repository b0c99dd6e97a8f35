"""The loop: what it reports, when it stops, and what a training that was cut off ends with."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nfh_models.training.loop import SCORE, NothingToLearnError, train
from nfh_models.training.plan import DivergedError, TrainingPlan

from .small_learner import BATCHES, CPU, PLAN, Driven, SmallLearner, same

STEPS = PLAN.epochs * BATCHES


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Driven:
    return Driven(SmallLearner(), tmp_path_factory.mktemp("whole"))


def test_reports(whole):
    reports = whole.reports
    assert [one.step for one in reports if one.phase == "training"] == list(range(STEPS + 1))
    assert {one.steps for one in reports} == {STEPS}
    assert reports[0].loss is None
    assert not reports[0].metrics
    assert [one.epoch for one in reports if one.phase == "judging"] == [1, 2, 3]
    assert set(reports[-1].metrics) == {SCORE}
    seconds = [one.seconds for one in reports]
    assert seconds == sorted(seconds)


def test_outcome_is_of_the_best_judgement(whole):
    outcome = whole.outcome
    scores = [entry[SCORE] for entry in outcome.curve]
    assert outcome.metrics[SCORE] == max(scores)
    assert outcome.epoch == scores.index(max(scores)) + 1
    assert [entry["step"] for entry in outcome.curve] == [BATCHES, 2 * BATCHES, STEPS]
    assert not outcome.stopped_early


def test_averaged_weights_are_judged_and_kept(whole):
    assert same(whole.learner.weights(), whole.learner.judged[whole.outcome.epoch - 1])
    assert not whole.learner.network.training


def test_average_is_not_what_is_trained_on(tmp_path):
    plain = Driven(SmallLearner(), tmp_path / "plain", replace(PLAN, averaging=0.0))
    averaged = Driven(SmallLearner(), tmp_path / "averaged")
    losses = [[one.loss for one in run.reports] for run in (plain, averaged)]
    assert losses[0] == losses[1]
    assert not same(plain.learner.judged[0], averaged.learner.judged[0])


@pytest.mark.parametrize("reports", range(1, STEPS + 8, 2))
def test_killed_anywhere_it_ends_with_the_same_weights(whole, tmp_path, reports):
    closed, kept = tmp_path / "closed", tmp_path / "kept"
    closed.mkdir()
    cut = Driven(SmallLearner(), closed, reports=reports)
    # A kill leaves what is on the disk; closing would save once more, so it comes after.
    shutil.copytree(closed, kept)
    cut.running.close()
    torch.manual_seed(99)
    for folder in (closed, kept):
        after = Driven(SmallLearner(), folder)
        assert same(after.learner.weights(), whole.learner.weights())
        assert [dict(one) for one in after.outcome.curve] == [
            dict(one) for one in whole.outcome.curve
        ]


def test_closing_saves_the_last_step(tmp_path):
    cut = Driven(SmallLearner(), tmp_path, reports=3)
    cut.running.close()
    assert Driven(SmallLearner(), tmp_path, reports=1).reports[0].step == 2


def test_interrupted_within_a_step_goes_on_from_the_checkpoint(whole, tmp_path):
    learner = SmallLearner()
    cut = Driven(learner, tmp_path, reports=12)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    learner.loss = interrupted
    with pytest.raises(KeyboardInterrupt):
        next(cut.running)
    assert same(Driven(SmallLearner(), tmp_path).learner.weights(), whole.learner.weights())


def test_interrupted_while_it_judges_it_keeps_all_steps(whole, tmp_path):
    learner = SmallLearner()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    learner.judge = interrupted
    with pytest.raises(KeyboardInterrupt):
        Driven(learner, tmp_path)
    after = Driven(SmallLearner(), tmp_path)
    assert after.reports[0].step == BATCHES
    assert same(after.learner.weights(), whole.learner.weights())


def test_a_training_that_is_over_gives_its_outcome_again(tmp_path):
    first = Driven(SmallLearner(), tmp_path)
    again = Driven(SmallLearner(), tmp_path)
    assert len(again.reports) == 1
    assert again.outcome == first.outcome
    assert not again.learner.judged
    assert same(again.learner.weights(), first.learner.weights())


def test_stops_early(tmp_path):
    learner = SmallLearner(scores=[0.5, 0.7, 0.7, 0.6, 0.9])
    run = Driven(learner, tmp_path, replace(PLAN, epochs=5, patience=2))
    assert run.outcome.stopped_early
    assert run.outcome.epoch == 2
    assert len(run.outcome.curve) == 4
    assert same(learner.weights(), learner.judged[1])


def test_nothing_to_train_on(tmp_path):
    learner = SmallLearner()
    learner.batches = lambda epoch: []
    with pytest.raises(NothingToLearnError, match="nothing to train on"):
        Driven(learner, tmp_path)


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 1e38])
def test_loss_or_gradient_without_end_is_a_sentence(tmp_path, factor):
    learner = SmallLearner()
    running = train(learner, PLAN, tmp_path, CPU)
    for _ in range(6):
        next(running)
    learner.factor = factor
    with pytest.raises(DivergedError, match=r"diverged at step \d+: .*Try a lower rate"):
        list(running)
    before = torch.cat([one.flatten() for one in learner.weights().values()])
    assert torch.isfinite(before).all()


def test_score_that_is_no_number_is_a_sentence(tmp_path):
    with pytest.raises(DivergedError, match="score on dev is nan"):
        Driven(SmallLearner(scores=[float("nan")]), tmp_path)


def test_rates_rise_and_fall():
    plan = TrainingPlan(epochs=1, warmup=0.1)
    rates = [plan.rate(step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9]
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[99] == pytest.approx(0.02)
    assert {TrainingPlan(warmup=0, floor=1).rate(step, 9) for step in range(9)} == {1.0}


@pytest.mark.parametrize(
    "wrong",
    [{"epochs": 0}, {"averaging": 1.0}, {"warmup": 2.0}, {"precision": "fp8"}, {"clip": -1.0}],
)
def test_plans_that_are_none(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TrainingPlan(**wrong)


CHILD = """
import importlib.util, os, signal, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("small_learner", sys.argv[1])
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
for report in made.train(made.SmallLearner(), made.PLAN, Path(sys.argv[2]), made.CPU):
    if report.step == 8:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_kill_minus_nine(whole, tmp_path):
    helper = Path(__file__).with_name("small_learner.py")
    command = [sys.executable, "-c", CHILD, str(helper), str(tmp_path)]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, timeout=120, check=False, env=one_thread)
    assert ran.returncode == -signal.SIGKILL
    after = Driven(SmallLearner(), tmp_path)
    assert after.reports[0].step == 6
    assert same(after.learner.weights(), whole.learner.weights())
