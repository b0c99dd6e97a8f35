"""What the training of any network tells, as jobs report it."""

from collections.abc import Generator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from nfh_tui.ending import when_done
from nfh_tui.training_jobs import Phase, Step

if TYPE_CHECKING:
    from torch import device

    from nfh_models.training.learner import Outcome, StepReport

HELD_OUT_SHARE = 0.1
"""Of the passages, kept out to choose the best weights by."""

CHECKPOINTS = "*.safetensors"
"""The files in a work folder that a training goes on from."""

SOON_OVER = ("training", "saving")
"""Phases that take no longer than a step; judging may take minutes, and can be broken off."""


def steps_of(
    training: "Generator[StepReport, None, Outcome]",
) -> "Generator[Step, None, Outcome]":
    """The loop's reports as a job's steps; closing this closes the training, which saves.

    Ctrl-C waits for the end of a step, so that nothing that was learnt is lost.
    """
    within_a_step = False
    while True:
        try:
            with when_done() if within_a_step else nullcontext():
                report = next(training)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        except BaseException:
            training.close()
            raise
        within_a_step = report.phase in SOON_OVER
        told = {} if report.loss is None else {"loss": report.loss}
        step = Phase(
            f"{report.phase}, epoch {report.epoch}",
            report.step,
            report.steps,
            told | dict(report.metrics),
        )
        try:
            yield step
        except BaseException:
            training.close()
            raise


def outcome_metrics(outcome: "Outcome", on: "device") -> dict[str, object]:
    """What metrics.json keeps of a training: the curve, and where the best was."""
    return {
        "curve": [dict(entry) for entry in outcome.curve],
        "epoch": outcome.epoch,
        "step": outcome.step,
        "stopped_early": outcome.stopped_early,
        "training_seconds": round(outcome.seconds, 3),
        "device": str(on),
    }
