"""What becomes of a model that did so and so: the rules alone."""

import pytest

from nfh_tui.jobs.promotion import Outcome, Score, Trial, outcome_of, verdict_of


def score(difference: float | None, p: float | None, n: int = 100, passages: int = 90) -> Score:
    return Score(n, passages, 0.7, 0.6, difference, -0.1, 0.1, p)


def trial(outcome: Outcome, difference: float = 0.0, broken: str = "") -> Trial:
    return Trial("resolution", outcome, score(difference, 0.5), "old", 1, "old", 1, broken)


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (score(0.05, 0.01), Outcome.BETTER),
        (score(-0.05, 0.01), Outcome.WORSE),
        (score(0.05, 0.05), Outcome.EVEN),
        (score(0.0, 1.0), Outcome.EVEN),
        (score(0.05, None), Outcome.EVEN),
        (score(0.5, 0.001, n=29), Outcome.TOO_FEW),
        (score(0.5, 0.001, passages=9), Outcome.TOO_FEW),
        (score(-0.5, 0.001, n=29), Outcome.TOO_FEW),
        (score(None, None), Outcome.NOT_TRIED),
    ],
)
def test_a_difference_counts_where_chance_does_not_explain_it(
    found: Score, outcome: Outcome
) -> None:
    assert outcome_of(found, None) is outcome


@pytest.mark.parametrize(
    ("found", "blind", "outcome"),
    [
        # The gold that was given blind says the contrary.
        (score(0.05, 0.01), score(-0.01, 0.9), Outcome.EVEN),
        (score(-0.05, 0.01), score(0.01, 0.9), Outcome.EVEN),
        (score(0.05, 0.01), score(0.01, 0.9), Outcome.BETTER),
        (score(-0.05, 0.01), score(-0.01, 0.9), Outcome.WORSE),
        # There is too little of it: the new model is not rejected by the old one's answers.
        (score(-0.05, 0.01), score(-0.5, 0.001, n=29), Outcome.EVEN),
        (score(0.05, 0.01), score(-0.5, 0.001, n=29), Outcome.BETTER),
    ],
)
def test_gold_given_with_a_model_in_view_is_not_believed_alone(
    found: Score, blind: Score, outcome: Outcome
) -> None:
    assert outcome_of(found, blind) is outcome


@pytest.mark.parametrize(
    ("trials", "verdict"),
    [
        ((trial(Outcome.BETTER),), "promoted"),
        ((trial(Outcome.EVEN),), "candidate"),
        ((trial(Outcome.WORSE),), "rejected"),
        ((trial(Outcome.TOO_FEW),), "candidate"),
        ((trial(Outcome.NOT_TRIED),), "candidate"),
        ((trial(Outcome.FIRST),), "first"),
        ((trial(Outcome.BETTER), trial(Outcome.BETTER)), "promoted"),
        ((trial(Outcome.BETTER), trial(Outcome.EVEN)), "promoted"),
        ((trial(Outcome.BETTER), trial(Outcome.EVEN, -0.01)), "promoted"),
        # Better in one task does not make up for the other.
        ((trial(Outcome.BETTER), trial(Outcome.EVEN, -0.011)), "candidate"),
        ((trial(Outcome.BETTER), trial(Outcome.WORSE)), "candidate"),
        ((trial(Outcome.BETTER), trial(Outcome.TOO_FEW)), "candidate"),
        ((trial(Outcome.EVEN), trial(Outcome.WORSE)), "rejected"),
        ((trial(Outcome.EVEN), trial(Outcome.EVEN)), "candidate"),
        # What cannot be used is better replaced by what does as well as the built-in one.
        ((trial(Outcome.EVEN, broken="gone"),), "promoted"),
        ((trial(Outcome.WORSE, broken="gone"),), "rejected"),
        ((trial(Outcome.TOO_FEW, broken="gone"),), "candidate"),
        ((trial(Outcome.EVEN, -0.02, broken="gone"),), "candidate"),
    ],
)
def test_a_model_must_be_better_and_nowhere_worse(
    trials: tuple[Trial, ...], verdict: str
) -> None:
    assert verdict_of(trials) == verdict
