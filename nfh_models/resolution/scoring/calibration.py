"""Whether a recipe is right as often as its probabilities say, and what mends it.

Expected calibration error over bins of equal width, and temperature scaling: Guo, Pleiss,
Sun and Weinberger 2017, On Calibration of Modern Neural Networks, sections 2 and 4.2
(https://arxiv.org/abs/1706.04599). Scores are probabilities here, so that their logarithms
serve as logits: they differ from the network's own by a constant, which softmax ignores.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from nfh_models.agreement.bootstrap import Floats
from nfh_models.resolution.scoring.candidates import Bools, Candidates, candidates
from nfh_models.resolution.scoring.judging import Judged

BINS = 15
"""As in the paper's tables."""

COLDEST, HOTTEST = 0.05, 20.0
"""Temperatures are looked for between these."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The examples whose confidence is in (low, high]; the first bin holds 0, too.

    confidence, accuracy: their means; None where n is 0.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Confidences against what is right. ece: the mean gap between the two, each bin
    weighted by its examples. nll: the mean of -log of the probability of what is right, in
    nats; over the examples that have a right candidate, None if none has."""

    ece: float
    nll: float | None
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """n: examples with a choice that has a probability. before: as the recipe says it.

    temperature: the best over all examples. halves: the best of either half of the groups.
    after: each half by the temperature of the other, so that none is judged on what it was
    fitted on. These three are None where a half has no example to fit on.
    """

    n: int
    before: Reliability
    temperature: float | None
    halves: tuple[float, float] | None
    after: Reliability | None


def calibrate(judged: Iterable[Judged], *, by_noun: bool = False) -> Calibration | None:
    """How well the probabilities of choices fit; None if there is no choice with one.

    A confidence is the probability of the candidate chosen and, by_noun, that of all tokens
    of its lemma together: with several mentions of a noun a recipe need not settle which it
    means. Right is any gold mention and, by_noun, any token of its lemma. ValueError for
    scores that are no probabilities.
    """
    some = [one for one in judged if one.choice is not None]
    laid_out = candidates(some, by_noun=by_noun)
    if not laid_out.n:
        return None
    before = reliability(laid_out.confidences(1.0), laid_out.right, nll(laid_out, 1.0))
    second = in_second_half(laid_out.groups)
    halves = laid_out.only(~second), laid_out.only(second)
    first_best, second_best = map(best_temperature, halves)
    if first_best is None or second_best is None:
        return Calibration(laid_out.n, before, None, None, None)
    return Calibration(
        laid_out.n,
        before,
        best_temperature(laid_out),
        (first_best, second_best),
        _crossed(halves, (second_best, first_best)),
    )


def _crossed(halves: tuple[Candidates, Candidates], by: tuple[float, float]) -> Reliability:
    pairs = list(zip(halves, by, strict=True))
    confidences = np.concatenate([half.confidences(warmth) for half, warmth in pairs])
    right = np.concatenate([half.right for half, _ in pairs])
    losses = np.concatenate([half.losses(warmth) for half, warmth in pairs])
    return reliability(confidences, right, float(losses.mean()))


def nll(laid_out: Candidates, temperature: float) -> float | None:
    """The mean of -log of the probability of what is right; None if nothing has a right
    candidate."""
    losses = laid_out.losses(temperature)
    return float(losses.mean()) if len(losses) else None


def best_temperature(laid_out: Candidates) -> float | None:
    """The temperature with the least `nll`; None if nothing has a right candidate."""
    from scipy.optimize import minimize_scalar

    if nll(laid_out, 1.0) is None:
        return None
    found = minimize_scalar(
        lambda log: float(laid_out.losses(float(np.exp(log))).mean()),
        bounds=(np.log(COLDEST), np.log(HOTTEST)),
        method="bounded",
    )
    return float(np.exp(found.x))


def in_second_half(groups: Sequence[str]) -> Bools:
    """Of each group, by a hash of its name, on which side of the split it is."""
    return np.array([sha256(group.encode()).digest()[0] % 2 == 1 for group in groups], bool)


def reliability(
    confidences: Floats, right: Floats, loss: float | None = None, bins: int = BINS
) -> Reliability:
    """Confidences in [0, 1] against what is right (0 or 1), in bins of equal width."""
    places = np.clip(np.ceil(confidences * bins).astype(int) - 1, 0, bins - 1)
    filled = []
    gap = 0.0
    for place in range(bins):
        inside = places == place
        n = int(np.count_nonzero(inside))
        low, high = place / bins, (place + 1) / bins
        if not n:
            filled.append(Bin(low, high, 0, None, None))
            continue
        mean, hit = float(confidences[inside].mean()), float(right[inside].mean())
        gap += n * abs(mean - hit)
        filled.append(Bin(low, high, n, mean, hit))
    return Reliability(gap / len(confidences) if len(confidences) else 0.0, loss, tuple(filled))
