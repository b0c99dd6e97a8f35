"""Confidences against what is right, and temperatures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.resolution.base import Choice, ResolutionExample
from nfh_models.resolution.evaluation import BINS, calibrate, in_second_half, reliability
from nfh_models.resolution.scoring import judge

from .handmade import CLASSES, choice, example

UNITS = st.floats(0, 1)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def drawn(n: int, sharpness: float) -> tuple[list[ResolutionExample], list[Choice]]:
    """Examples whose class is drawn from a softmax, and a recipe whose logits are that
    softmax's times `sharpness`: its best temperature is `sharpness`."""
    random = np.random.default_rng(5)
    logits = random.normal(0, 2, (n, CLASSES))
    fair, said = softmax(logits), softmax(logits * sharpness)
    kinds = [IMPLICIT_KINDS[random.choice(CLASSES, p=row)] for row in fair]
    examples = [
        example("in <six> days", kind, group=str(number)) for number, kind in enumerate(kinds)
    ]
    choices = [choice(IMPLICIT_KINDS[row.argmax()], [*row, 0.0, None, 0.0]) for row in said]
    return examples, choices


# --- bins -----------------------------------------------------------------------------------


def test_bins_by_hand() -> None:
    found = reliability(np.array([0.0, 0.5, 0.45, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]), bins=2)
    first, second = found.bins
    assert (first.low, first.high, first.n, first.accuracy) == (0.0, 0.5, 3, 1 / 3)
    assert first.confidence == pytest.approx(0.95 / 3)
    assert (second.low, second.high, second.n, second.confidence) == (0.5, 1.0, 1, 1.0)
    assert found.ece == pytest.approx(3 / 4 * abs(0.95 / 3 - 1 / 3))


@pytest.mark.parametrize("n", [50, 1_000])
def test_exact_probabilities_seem_off_by_chance(n: int) -> None:
    random = np.random.default_rng(3)
    confidences = random.beta(3, 1, n)
    draws = (random.random((2_000, n)) < confidences).astype(float)
    errors = [reliability(confidences, right).ece for right in draws]
    found = reliability(confidences, draws[0])
    assert found.chance == pytest.approx(np.mean(errors), rel=0.1)
    assert reliability(np.array([1.0, 1.0 + 1e-12]), np.ones(2)).chance == 0
    assert reliability(np.zeros(0), np.zeros(0)).chance == 0


def test_an_empty_bin_has_no_means() -> None:
    found = reliability(np.array([0.9]), np.array([1.0]))
    assert len(found.bins) == BINS
    assert (found.bins[0].n, found.bins[0].confidence, found.bins[0].accuracy) == (
        0,
        None,
        None,
    )


def test_bins_agree_with_scikit_learn() -> None:
    from sklearn.calibration import calibration_curve

    random = np.random.default_rng(1)
    confidences = random.random(300)
    right = (random.random(300) < confidences**2).astype(float)
    filled = [one for one in reliability(confidences, right).bins if one.n]
    accuracy, confidence = calibration_curve(right, confidences, n_bins=BINS)
    assert [one.accuracy for one in filled] == pytest.approx(accuracy)
    assert [one.confidence for one in filled] == pytest.approx(confidence)


@given(st.lists(st.tuples(UNITS, st.booleans()), min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_the_error_is_bounded(pairs: list[tuple[float, bool]]) -> None:
    confidences = np.array([confidence for confidence, _ in pairs])
    right = np.array([hit for _, hit in pairs], dtype=float)
    found = reliability(confidences, right)
    assert abs(confidences.mean() - right.mean()) - 1e-9 <= found.ece <= 1
    assert sum(one.n for one in found.bins) == len(pairs)
    for one in found.bins:
        if one.confidence is not None:
            assert one.low - 1e-9 <= one.confidence <= one.high + 1e-9


# --- temperatures ---------------------------------------------------------------------------


@pytest.mark.parametrize("sharpness", [0.5, 3.0])
def test_the_temperature_is_found_and_mends(sharpness: float) -> None:
    examples, choices = drawn(600, sharpness)
    found = calibrate(judge(examples, choices))
    assert found is not None
    assert found.n == 600
    assert found.temperature == pytest.approx(sharpness, rel=0.15)
    assert found.halves == pytest.approx((sharpness, sharpness), rel=0.25)
    assert found.after is not None
    assert found.after.ece < found.before.ece / 2
    assert found.after.nll < found.before.nll
    assert sum(one.n for one in found.after.bins) == 600


def test_before_is_the_mean_of_the_recipes_own_probabilities() -> None:
    examples, choices = drawn(50, 1.0)
    found = calibrate(judge(examples, choices))
    assert found is not None
    said = [max(score for score in one.scores if score is not None) for one in choices]
    binned = sum(one.n * (one.confidence or 0.0) for one in found.before.bins)
    assert binned == pytest.approx(sum(said))
    right = [
        one.scores[list(IMPLICIT_KINDS).index(made.gold.kind)]
        for made, one in zip(examples, choices, strict=True)
    ]
    assert found.before.nll == pytest.approx(-np.log(right).mean())


def test_halves_go_by_group() -> None:
    groups = [str(number % 40) for number in range(400)]
    side = dict(zip(groups, in_second_half(groups), strict=True))
    assert list(in_second_half(groups)) == [side[group] for group in groups]
    assert 10 < sum(side.values()) < 30


def test_one_group_cannot_be_fitted_on_another() -> None:
    made = [example("in <six> days", Kind.TIME, group="a")] * 3
    scores = [0.1, 0.1, 0.1, 0.1, 0.6, 0.0, 0.0, None, 0.0]
    found = calibrate(judge(made, [choice("TIME", scores)] * 3))
    assert found is not None
    assert found.before.ece == pytest.approx(0.4)
    assert (found.temperature, found.halves, found.after) == (None, None, None)


# --- candidates -----------------------------------------------------------------------------

CUPS = "[cup] or cups , then <two>"
SPLIT = [0.0] * 5 + [0.1] + [0.5, 0.0, 0.4, 0.0, 0.0, None]


def test_mentions_of_a_noun_are_summed_on_request() -> None:
    judged = judge([example(CUPS)], [choice(0, SPLIT)])
    one, summed = calibrate(judged), calibrate(judged, by_noun=True)
    assert one is not None
    assert summed is not None
    assert one.before.ece == pytest.approx(0.5)
    assert summed.before.ece == pytest.approx(0.1)
    assert one.before.nll == pytest.approx(-np.log(0.5))
    assert summed.before.nll == pytest.approx(-np.log(0.9))


def test_another_form_of_the_noun_is_right_only_by_noun() -> None:
    judged = judge([example(CUPS)], [choice(2, SPLIT)])
    one, summed = calibrate(judged), calibrate(judged, by_noun=True)
    assert one is not None
    assert summed is not None
    assert [part.accuracy for part in one.before.bins if part.n] == [0.0]
    assert [part.accuracy for part in summed.before.bins if part.n] == [1.0]


def test_gold_outside_the_candidates_has_no_loss() -> None:
    scores = [0.0] * 5 + [0.5] + [None, 0.0, 0.5, 0.0, 0.0, None]
    found = calibrate(judge([example(CUPS)], [choice(2, scores)]))
    assert found is not None
    assert found.before.nll is None
    assert found.temperature is None


def test_a_probability_of_nothing_has_a_finite_loss() -> None:
    scores = [0.0] * 5 + [1.0] + [0.0] * 5 + [None]
    found = calibrate(judge([example(CUPS)], [choice("OTHER", scores)]))
    assert found is not None
    assert found.before.nll == pytest.approx(-np.log(1e-30))


def test_what_has_no_probability_is_left_out() -> None:
    made = [example(CUPS)] * 2
    assert calibrate(judge(made, [None, choice(0)])) is None
    found = calibrate(judge(made, [None, choice(0, SPLIT)]))
    assert found is not None
    assert found.n == 1


@pytest.mark.parametrize("first", [-0.1, 0.9])
def test_scores_that_are_no_probabilities_are_refused(first: float) -> None:
    with pytest.raises(ValueError, match="not probabilities"):
        calibrate(judge([example(CUPS)], [choice(0, [first, *SPLIT[1:]])]))
