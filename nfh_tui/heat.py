"""The heat map as numbers: scores in fixed steps, and how two models differ.

Pure, standard library only. Every recipe gives scores between 0 and 1: probabilities over all
candidates whose sum is 1, or, of a recipe without probabilities, ranks made visible (1, 1/2,
1/3 …). So a step means the same on every item.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import exp, isfinite

from nfh_db.records import Item, Prediction
from nfh_models.domain import IMPLICIT_KINDS

LEAST = (0.01, 0.05, 0.10, 0.20, 0.35, 0.50, 0.70, 0.90)
"""The least score of each step. What has less is left as it is: it is not worth a look."""

STEPS = len(LEAST)
"""Steps of a heat map, 0 the lowest score shown and STEPS - 1 the highest."""

SIGNS = "▁▂▃▄▅▆▇█"
"""The sign of each step: what tells it where no colour does."""

PLUS, MINUS = "+", "−"
"""Before the step of a difference: which of two models has the higher score."""


class Heat(StrEnum):
    """What lies on the words: nothing, the active model's scores, or how two models differ."""

    OFF = ""
    SCORES = "scores"
    DIFFERENCE = "difference"

    @property
    def after(self) -> "Heat":
        """What the key goes on to."""
        every = list(Heat)
        return every[(every.index(self) + 1) % len(every)]


Scores = tuple[float | None, ...]
Steps = tuple[int | None, ...]


def shares(scores: Sequence[float | None]) -> Scores:
    """Scores between 0 and 1, None where there is none.

    Where some score lies outside, all of them are taken for logits, and become the
    probabilities that they stand for. What is no finite number counts as none.
    """
    known = [s for s in scores if s is not None and isfinite(s)]
    if all(0.0 <= s <= 1.0 for s in known):
        return tuple(s if s is not None and isfinite(s) else None for s in scores)
    top = max(known)
    total = sum(exp(s - top) for s in known)
    return tuple(
        exp(s - top) / total if s is not None and isfinite(s) else None for s in scores
    )


def step(share: float | None) -> int | None:
    """The step of one score, None below the first."""
    if share is None or share < LEAST[0]:
        return None
    return max(place for place, least in enumerate(LEAST) if share >= least)


def steps(scores: Sequence[float | None]) -> Steps:
    """The step of each score, None where there is none worth showing."""
    return tuple(step(share) for share in shares(scores))


def other_of(item: Item, name: str | None) -> Prediction | None:
    """What the model of that name says of the item, else the newest of the others."""
    for said in item.others:
        if said.model == name:
            return said
    return item.others[0] if item.others else None


def differences(one: Prediction, other: Prediction) -> Scores:
    """By how much the first model's scores are higher than the second's, for each candidate.

    A candidate that only one of them scored counts as 0 for the other. () where the two are
    not of one passage.
    """
    if len(one.scores) != len(other.scores):
        return ()
    return tuple(
        None if a is None and b is None else (a or 0.0) - (b or 0.0)
        for a, b in zip(shares(one.scores), shares(other.scores), strict=True)
    )


def candidates_of(item: Item, heat: Heat, other: str | None = None) -> Scores:
    """What the heat map shows of each candidate: the classes, then the tokens; () for nothing.

    A score, or with two models by how much the active one's is higher.
    """
    prediction = item.prediction
    wanted = len(IMPLICIT_KINDS) + len(item.passage.tokens)
    if heat is Heat.OFF or prediction is None or len(prediction.scores) != wanted:
        return ()
    if heat is Heat.SCORES:
        return shares(prediction.scores)
    second = other_of(item, other)
    return () if second is None else differences(prediction, second)


def token_shares(item: Item, heat: Heat, other: str | None = None) -> Scores:
    """What the heat map shows of each token; () for nothing."""
    return candidates_of(item, heat, other)[len(IMPLICIT_KINDS) :]
