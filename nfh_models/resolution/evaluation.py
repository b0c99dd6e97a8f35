"""Evaluation of resolution: all figures of one recipe, bootstrap intervals, calibration, and
the comparison of two recipes.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

import numpy as np

from nfh_models.agreement.bootstrap import Floats, Ints, Resampling, divided, numbered, ratio
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.domain import Answer
from nfh_models.resolution.base import Choice, ResolutionExample
from nfh_models.resolution.scoring import (
    Bools,
    CandidateScores,
    ClassPart,
    Confusion,
    HeadCounts,
    HeadFigures,
    HeadsJudged,
    MistakeCount,
    PartFigures,
    ResolutionFigures,
    ScoredExample,
    WrongExample,
    by_class,
    by_distance,
    by_mistake,
    by_shape,
    by_side,
    by_turns,
    by_word,
    candidates,
    confusion,
    figures,
    head_figures,
    is_lost,
    judge,
    judge_heads,
    mistakes,
    oracle,
)

# --- calibration ------------------------------------------------------------------------------
#
# Expected calibration error over bins of equal width, and temperature scaling: Guo, Pleiss,
# Sun and Weinberger 2017, On Calibration of Modern Neural Networks, sections 2 and 4.2
# (https://arxiv.org/abs/1706.04599). Scores are probabilities here, so that their logarithms
# serve as logits: they differ from the network's own by a constant, which softmax ignores.

BINS = 15
"""As in the tables of Guo et al."""

COLDEST, HOTTEST = 0.05, 20.0
"""Bounds of the search for the temperature."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The examples whose confidence is in (low, high]; the first bin includes 0."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None
    """`confidence` and `accuracy` are means; None where n is 0."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Confidences compared with correctness."""

    ece: float
    """Expected calibration error: the mean gap of confidence and accuracy, weighted by
    examples.
    """
    chance: float
    """The error that exact probabilities show on so few examples, on average: the mean absolute
    deviation of the normal distribution with the variance of each bin's sum.
    """
    nll: float | None
    """The mean of -log of the probability of the correct candidates, in nats, over the examples
    that have any; None if none has.
    """
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration before and after temperature scaling."""

    n: int
    """Examples whose choice has a probability."""
    before: Reliability
    """With the recipe's own probabilities."""
    temperature: float | None
    """The best over all examples. It and the next two fields are None where a half has no
    example to fit on.
    """
    halves: tuple[float, float] | None
    """The best of either half of the groups."""
    after: Reliability | None
    """Each half with the temperature of the other one, so that none is evaluated on its own
    fit.
    """


def calibrate(judged: Iterable[ScoredExample], *, by_noun: bool = False) -> Calibration | None:
    """Calibration of the choices' probabilities; None if no choice has one.

    The confidence is the probability of the chosen candidate and, by_noun, that of all tokens
    of its lemma together: a recipe need not decide between the mentions of a noun. Correct is
    any gold mention and, by_noun, any token of its lemma. Raises ValueError for scores that are
    no probabilities.
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


def _crossed(
    halves: tuple[CandidateScores, CandidateScores], by: tuple[float, float]
) -> Reliability:
    pairs = list(zip(halves, by, strict=True))
    confidences = np.concatenate([half.confidences(warmth) for half, warmth in pairs])
    right = np.concatenate([half.right for half, _ in pairs])
    losses = np.concatenate([half.losses(warmth) for half, warmth in pairs])
    return reliability(confidences, right, float(losses.mean()))


def nll(laid_out: CandidateScores, temperature: float) -> float | None:
    """The mean of -log of the probability of the correct candidates; None if no example has
    any.
    """
    losses = laid_out.losses(temperature)
    return float(losses.mean()) if len(losses) else None


def best_temperature(laid_out: CandidateScores) -> float | None:
    """The temperature with the least `nll`; None if no example has a correct candidate."""
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
    """For each group, whether the hash of its name puts it into the second half."""
    return np.array([sha256(group.encode()).digest()[0] % 2 == 1 for group in groups], bool)


def reliability(
    confidences: Floats, right: Floats, loss: float | None = None, bins: int = BINS
) -> Reliability:
    """Confidences in [0, 1] compared with correctness (0 or 1), in bins of equal width."""
    places = np.clip(np.ceil(confidences * bins).astype(int) - 1, 0, bins - 1)
    filled = []
    gap = chance = 0.0
    for place in range(bins):
        inside = places == place
        n = int(np.count_nonzero(inside))
        low, high = place / bins, (place + 1) / bins
        if not n:
            filled.append(Bin(low, high, 0, None, None))
            continue
        mean, hit = float(confidences[inside].mean()), float(right[inside].mean())
        gap += n * abs(mean - hit)
        variance = float((confidences[inside] * (1 - confidences[inside])).sum())
        chance += math.sqrt(2 / math.pi * max(variance, 0.0))
        filled.append(Bin(low, high, n, mean, hit))
    n = max(len(confidences), 1)
    return Reliability(gap / n, chance / n, loss, tuple(filled))


# --- intervals --------------------------------------------------------------------------------
#
# Percentiles of the bootstrap over groups (`nfh_models.agreement.bootstrap`), since examples of
# one passage are not independent.

Part = Callable[[ScoredExample], bool]


def _every(_: ScoredExample) -> bool:
    return True


MEASURES: Mapping[str, tuple[Part, Part]] = MappingProxyType(
    {
        "accuracy": (lambda one: one.right, _every),
        "accuracy_inclusive": (lambda one: one.inclusive, _every),
        "accuracy_nearest": (lambda one: one.nearest, _every),
        "binary": (lambda one: one.binary_right, _every),
        "class_accuracy": (lambda one: one.class_right, _every),
        "reference": (lambda one: one.right, lambda one: one.reference),
        "implicit": (lambda one: one.right, lambda one: not one.reference),
    }
)
"""By the name of a figure: what counts as correct, and among which examples."""

HEAD_MEASURES: tuple[str, ...] = ("heads_exact", "heads_f1", "mentions_f1")
NOTHING = "There are no such examples."


def intervals(
    judged: Sequence[ScoredExample],
    heads: Sequence[HeadsJudged] = (),
    resampling: Resampling | None = None,
) -> dict[str, Measure]:
    """Each of MEASURES with its 95 % interval and, with heads, HEAD_MEASURES; n counts
    examples.

    resampling: by default 1,000 resamples of groups.
    """
    drawing = resampling or Resampling()
    found = {name: _share(judged, *parts, drawing) for name, parts in MEASURES.items()}
    if heads:
        found |= _of_heads(heads, drawing)
    return found


def _share(
    judged: Sequence[ScoredExample], right: Part, among: Part, drawing: Resampling
) -> Measure:
    rows = [(among(one) and right(one), among(one)) for one in judged]
    return _measure(rows, groups_of(judged), drawing)


def _of_heads(heads: Sequence[HeadsJudged], drawing: Resampling) -> dict[str, Measure]:
    groups = groups_of(heads)
    return {
        "heads_exact": _measure([(one.exact, 1) for one in heads], groups, drawing),
        "heads_f1": _measure([_f1(one.heads) for one in heads], groups, drawing),
        "mentions_f1": _measure([_f1(one.mentions) for one in heads], groups, drawing),
    }


def _f1(found: HeadCounts) -> tuple[int, int]:
    return 2 * found.hit, found.predicted + found.gold


def _measure(rows: Sequence[tuple[int, int]], groups: Ints, drawing: Resampling) -> Measure:
    n = sum(whole > 0 for _, whole in rows)
    if not n:
        return undefined(NOTHING)
    counted = np.array(rows, dtype=np.float64)
    part, whole = counted.sum(axis=0)
    return drawing.measure(float(part / whole), n, counted, groups, ratio)


def groups_of(judged: Sequence[ScoredExample] | Sequence[HeadsJudged]) -> Ints:
    """The group number of each example, in the order of first occurrence."""
    return numbered(one.example.group for one in judged)


# --- comparison of two recipes on the same examples ------------------------------------------
#
# The paired bootstrap resamples groups of examples and evaluates both recipes on the same
# resamples (Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation,
# section 3.3). McNemar's exact test uses only the examples on which exactly one recipe is
# correct (McNemar 1947, Psychometrika 12:153-157; exact as in Dietterich 1998, Neural
# Computation 10:1895-1923), and assumes independent examples, which those of one passage are
# not.


@dataclass(frozen=True, slots=True)
class Paired:
    """Two recipes on the same examples, by one measure."""

    measure: str
    """Its name in MEASURES."""
    first: float | None
    second: float | None
    """`first` and `second`: the value of each recipe."""
    difference: Measure
    """The first minus the second, with its interval."""
    sign_flips: float | None
    """The share of resamples in which the difference does not have the sign that it has over
    all examples; 1 where it is 0. None, like `p`, where nothing can be resampled.
    """
    p: float | None
    """Two-sided p-value of "no difference"."""
    both: int
    only_first: int
    only_second: int
    neither: int
    """Examples by which recipes are correct, among those that the measure counts."""
    mcnemar_p: float
    """Two-sided and exact; 1 where the recipes differ on no example."""


def compare(
    first: Sequence[ScoredExample],
    second: Sequence[ScoredExample],
    resampling: Resampling | None = None,
    measure: str = "accuracy",
) -> Paired:
    """The difference of two recipes, with its interval and p-values.

    Raises ValueError for a measure that is not in MEASURES, and if the examples differ.
    """
    if measure not in MEASURES:
        raise ValueError(f"{measure!r} is not a measure; there are {', '.join(MEASURES)}")
    if [one.example for one in first] != [one.example for one in second]:
        raise ValueError("two recipes are compared on the same examples in the same order")
    right, among = MEASURES[measure]
    kept = [(one, other) for one, other in zip(first, second, strict=True) if among(one)]
    pairs = np.array([(right(one), right(other)) for one, other in kept], dtype=bool)
    cells = pairs.reshape(-1, 2)
    both, only_first, only_second, neither = (
        int(np.count_nonzero((cells == pattern).all(axis=1)))
        for pattern in ((True, True), (True, False), (False, True), (False, False))
    )
    drawing = resampling or Resampling()
    rows = np.concatenate([cells, np.ones((len(cells), 1))], axis=1)
    difference, flips, p = _difference(rows, [one for one, _ in kept], drawing)
    mine, theirs = cells.mean(axis=0) if len(cells) else (None, None)
    return Paired(
        measure,
        None if mine is None else float(mine),
        None if theirs is None else float(theirs),
        difference,
        flips,
        p,
        both,
        only_first,
        only_second,
        neither,
        mcnemar_exact(only_first, only_second),
    )


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """The two-sided exact p-value of McNemar's test."""
    from scipy.stats import binomtest

    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def _difference(
    rows: Floats, judged: Sequence[ScoredExample], drawing: Resampling
) -> tuple[Measure, float | None, float | None]:
    if not len(rows):
        return undefined(NOTHING), None, None
    value = float(_statistic(rows.sum(axis=0)))
    groups = groups_of(judged)
    difference = drawing.measure(value, len(rows), rows, groups, _statistic)
    drawn = drawing.drawn(rows, groups, _statistic)
    if drawn is None:
        return difference, None, None
    flips = float(np.mean(drawn * np.sign(value) <= 0))
    return difference, flips, drawing.p_value(value, rows, groups, _statistic)


def _statistic(sums: Floats) -> Floats:
    return divided(sums[..., 0] - sums[..., 1], sums[..., 2])


@dataclass(frozen=True, slots=True)
class ResolutionEvaluation:
    """The quality of the choices of one recipe."""

    judged: tuple[ScoredExample, ...]
    """All examples, in order."""
    groups: int
    """Groups of examples, over which the intervals are resampled."""
    saw_model: int
    """Examples whose label was given with a model's answer in view."""
    lost: int
    """References without a head among the candidates."""
    figures: ResolutionFigures
    ci95: Mapping[str, Measure]
    """By name of figure (MEASURES and HEAD_MEASURES)."""
    confusion: Confusion
    by_class: tuple[ClassPart, ...]
    by_word: tuple[PartFigures, ...]
    by_shape: tuple[PartFigures, ...]
    by_distance: tuple[PartFigures, ...]
    by_turns: tuple[PartFigures, ...]
    by_side: tuple[PartFigures, ...]
    mistakes: tuple[WrongExample, ...]
    by_mistake: tuple[MistakeCount, ...]
    heads: HeadFigures | None
    heads_several: HeadFigures | None
    """`heads` are over all gold References, `heads_several` over those with two or more
    distinct nouns; None without answers.
    """
    oracle: ResolutionFigures | None
    """None where no choice has scores."""
    calibration: Calibration | None
    noun_calibration: Calibration | None
    """`calibration` is by the chosen candidate, `noun_calibration` by all its mentions
    together; None where scores are no probabilities.
    """


def evaluate(
    examples: Sequence[ResolutionExample],
    choices: Sequence[Choice | None],
    *,
    answers: Sequence[Answer | None] | None = None,
    probabilities: bool = False,
    resampling: Resampling | None = None,
) -> ResolutionEvaluation:
    """All figures of the choices, one for each example, in their order.

    answers: the decoded answers, one for each example, for the figures of heads. probabilities:
    whether scores are (`Resolver.probabilities`), for calibration. resampling: of groups, by
    default 1,000 resamples. Raises ValueError for another number of choices or answers than
    examples, and for gold or choices that `judge_one` refuses.
    """
    judged = judge(examples, choices)
    heads = () if answers is None else judge_heads(examples, answers)
    wrong = mistakes(judged)
    scored = any(choice is not None and choice.scores for choice in choices)
    return ResolutionEvaluation(
        judged=judged,
        groups=len({example.group for example in examples}),
        saw_model=sum(example.saw_model for example in examples),
        lost=sum(is_lost(one) for one in judged if one.choice and one.choice.scores),
        figures=figures(judged),
        ci95=intervals(judged, heads, resampling),
        confusion=confusion(judged),
        by_class=by_class(judged),
        by_word=by_word(judged),
        by_shape=by_shape(judged),
        by_distance=by_distance(judged),
        by_turns=by_turns(judged),
        by_side=by_side(judged),
        mistakes=wrong,
        by_mistake=by_mistake(wrong),
        heads=None if answers is None else head_figures(heads),
        heads_several=(
            None if answers is None else head_figures(one for one in heads if one.several)
        ),
        oracle=oracle(examples, choices) if scored else None,
        calibration=calibrate(judged) if probabilities else None,
        noun_calibration=calibrate(judged, by_noun=True) if probabilities else None,
    )
