"""What becomes of a model that did so and so: the rules alone."""

import pytest

from nfh_tui.jobs.promotion import PromotionTrial, Score, TaskComparison, outcome_of, verdict_of


def score(difference: float | None, p: float | None, n: int = 100, passages: int = 90) -> Score:
    return Score(n, passages, 0.7, 0.6, difference, -0.1, 0.1, p)


def trial(outcome: TaskComparison, difference: float = 0.0, broken: str = "") -> PromotionTrial:
    return PromotionTrial(
        "resolution", outcome, score(difference, 0.5), "old", 1, "old", 1, broken
    )


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (score(0.05, 0.01), TaskComparison.BETTER),
        (score(-0.05, 0.01), TaskComparison.WORSE),
        (score(0.05, 0.05), TaskComparison.EVEN),
        (score(0.0, 1.0), TaskComparison.EVEN),
        (score(0.05, None), TaskComparison.EVEN),
        (score(0.5, 0.001, n=29), TaskComparison.TOO_FEW),
        (score(0.5, 0.001, passages=9), TaskComparison.TOO_FEW),
        (score(-0.5, 0.001, n=29), TaskComparison.TOO_FEW),
        (score(None, None), TaskComparison.NOT_TRIED),
    ],
)
def test_a_difference_counts_where_chance_does_not_explain_it(
    found: Score, outcome: TaskComparison
) -> None:
    assert outcome_of(found, None) is outcome


@pytest.mark.parametrize(
    ("found", "blind", "outcome"),
    [
        # The gold that was given blind says the contrary.
        (score(0.05, 0.01), score(-0.01, 0.9), TaskComparison.EVEN),
        (score(-0.05, 0.01), score(0.01, 0.9), TaskComparison.EVEN),
        (score(0.05, 0.01), score(0.01, 0.9), TaskComparison.BETTER),
        (score(-0.05, 0.01), score(-0.01, 0.9), TaskComparison.WORSE),
        # There is too little of it: the new model is not rejected by the old one's answers.
        (score(-0.05, 0.01), score(-0.5, 0.001, n=29), TaskComparison.EVEN),
        (score(0.05, 0.01), score(-0.5, 0.001, n=29), TaskComparison.BETTER),
    ],
)
def test_gold_given_with_a_model_in_view_is_not_believed_alone(
    found: Score, blind: Score, outcome: TaskComparison
) -> None:
    assert outcome_of(found, blind) is outcome


@pytest.mark.parametrize(
    ("trials", "verdict"),
    [
        ((trial(TaskComparison.BETTER),), "promoted"),
        ((trial(TaskComparison.EVEN),), "candidate"),
        ((trial(TaskComparison.WORSE),), "rejected"),
        ((trial(TaskComparison.TOO_FEW),), "candidate"),
        ((trial(TaskComparison.NOT_TRIED),), "candidate"),
        ((trial(TaskComparison.FIRST),), "first"),
        ((trial(TaskComparison.BETTER), trial(TaskComparison.BETTER)), "promoted"),
        ((trial(TaskComparison.BETTER), trial(TaskComparison.EVEN)), "promoted"),
        ((trial(TaskComparison.BETTER), trial(TaskComparison.EVEN, -0.01)), "promoted"),
        # Better in one task does not make up for the other.
        ((trial(TaskComparison.BETTER), trial(TaskComparison.EVEN, -0.011)), "candidate"),
        ((trial(TaskComparison.BETTER), trial(TaskComparison.WORSE)), "candidate"),
        ((trial(TaskComparison.BETTER), trial(TaskComparison.TOO_FEW)), "candidate"),
        ((trial(TaskComparison.EVEN), trial(TaskComparison.WORSE)), "rejected"),
        ((trial(TaskComparison.EVEN), trial(TaskComparison.EVEN)), "candidate"),
        # What cannot be used is better replaced by what does as well as the built-in one.
        ((trial(TaskComparison.EVEN, broken="gone"),), "promoted"),
        ((trial(TaskComparison.WORSE, broken="gone"),), "rejected"),
        ((trial(TaskComparison.TOO_FEW, broken="gone"),), "candidate"),
        ((trial(TaskComparison.EVEN, -0.02, broken="gone"),), "candidate"),
    ],
)
def test_a_model_must_be_better_and_nowhere_worse(
    trials: tuple[PromotionTrial, ...], verdict: str
) -> None:
    assert verdict_of(trials) == verdict
