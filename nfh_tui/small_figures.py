"""The figures of the small model: its temperature, its threshold, how good it is in the end."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nfh_models.identification.example import Example
from nfh_models.identification.scores import Counts, count
from nfh_models.resolution.item import ResolutionExample, Resolver
from nfh_models.resolution.scoring.evaluating import Evaluation, evaluate

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel, Whole


AS_GOOD = 0.006
"""F1s that differ by no more are taken to be alike: the standard deviation of an F1 of 0.965
with some 30 mistakes on a thousand rows, 420 of them fused heads."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Of a model in the form in which it ships. dev: resolution. held: identification on rows
    that were kept out. apart: on the package's own passages about several heads, those kept
    out; None where there are none."""

    dev: Evaluation
    held: Counts
    apart: Evaluation | None


def measured(
    model: "EncoderModel",
    dev: Sequence[ResolutionExample],
    held: Sequence[Example],
    apart: Sequence[ResolutionExample] = (),
) -> Measured:
    """Run it on all of them."""
    decisions = model.decide([one.case for one in held])
    pairs = ((one.nfh, said.nfh) for one, said in zip(held, decisions, strict=True))
    return Measured(
        evaluated(model, dev), count(pairs), evaluated(model, apart) if apart else None
    )


def evaluated(model: Resolver, examples: Sequence[ResolutionExample]) -> Evaluation:
    """All figures of resolution, those of calibration and of heads among them."""
    from nfh_models.resolution.several import decode

    items = [example.item for example in examples]
    choices = model.resolve(items)
    answers = [
        None if choice is None else decode(item, choice)
        for item, choice in zip(items, choices, strict=True)
    ]
    return evaluate(examples, choices, answers=answers, probabilities=True)


def with_temperature(whole: "Whole", recipe: str, dev: Sequence[ResolutionExample]) -> "Whole":
    """The model with the temperature under which dev is likeliest."""
    from nfh_models.encoder.model import EncoderModel

    found = evaluated(EncoderModel(replace(whole, temperature=1.0), recipe), dev).calibration
    if found is None or found.temperature is None:
        return whole
    return replace(whole, temperature=round(found.temperature, 4))


def with_threshold(whole: "Whole", recipe: str, tuning: Sequence[Example]) -> "Whole":
    """The model with the threshold that has the best F1 on rows that it did not learn from."""
    from nfh_models.encoder.model import EncoderModel

    model = EncoderModel(replace(whole, threshold=0.0), recipe)
    said = model.decide([one.case for one in tuning])
    scores = [one.score or 0.0 for one in said]
    return replace(whole, threshold=best_threshold(scores, [one.nfh for one in tuning]))


def best_threshold(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The threshold, halfway between two scores, with the best F1; of several as good, to
    within AS_GOOD, the one nearest to 0. It is 0 without a label that says yes."""
    ranked = sorted(zip(scores, labels, strict=True), reverse=True)
    wanted = sum(labels)
    found: list[tuple[float, float]] = []
    hit = 0
    for place, (score, label) in enumerate(ranked):
        hit += label
        below = ranked[place + 1][0] if place + 1 < len(ranked) else score - 1
        if below == score or not wanted:
            continue
        found.append((2 * hit / (place + 1 + wanted), (score + below) / 2))
    best = max((f1 for f1, _ in found), default=0.0)
    good = [middle for f1, middle in found if f1 >= best - AS_GOOD]
    nearest = min(good, key=math.fabs, default=0.0)
    return round(nearest, 4)


def wrong_by_kind(found: Evaluation) -> list[tuple[str, str, int]]:
    """What was gold, what was said, and how often: the mistakes on dev, the most frequent
    first."""
    counted = Counter(
        (one.gold, one.predicted or "nothing") for one in found.judged if not one.inclusive
    )
    return [(gold, said, n) for (gold, said), n in counted.most_common()]


def wrong_by_word(found: Evaluation) -> list[tuple[str, int, int]]:
    """The anchors with most mistakes on dev: word, mistakes, examples."""
    words = [
        one.example.item.passage.words(
            one.example.item.anchor.start, one.example.item.anchor.end
        ).lower()
        for one in found.judged
    ]
    every = Counter(words)
    wrong = Counter(
        word for word, one in zip(words, found.judged, strict=True) if not one.inclusive
    )
    return [(word, n, every[word]) for word, n in wrong.most_common(10)]
