"""A teacher's, or several teachers', probabilities: what a smaller model learns from."""

from collections.abc import Sequence

import numpy as np

from nfh_models.encoder.lessons import Soft
from nfh_models.resolution.item import Item, Resolver


def taught(teachers: Sequence[Resolver], items: Sequence[Item]) -> list[Soft]:
    """Of each item the mean of the teachers' probabilities, over the six classes and all
    tokens of its passage; 0 for what is no candidate.

    ValueError without a teacher, and for one whose scores are no probabilities.
    """
    if not teachers or not all(one.probabilities for one in teachers):
        raise ValueError("a teacher has to give probabilities, and there has to be one")
    sums: list[Soft] = []
    for teacher in teachers:
        for place, choice in enumerate(teacher.resolve(items)):
            scores = () if choice is None else choice.scores
            found = np.array([one or 0.0 for one in scores], np.float32)
            if teacher is teachers[0]:
                sums.append(found)
            else:
                sums[place] = sums[place] + found
    return [(one / len(teachers)).astype(np.float32) for one in sums]
