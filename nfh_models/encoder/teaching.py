"""What a teacher says and shows of anchors: what a smaller model learns from."""

from collections.abc import Sequence

import numpy as np

from nfh_models.encoder.lessons import Soft
from nfh_models.encoder.model import EncoderModel
from nfh_models.encoder.reading import Shown
from nfh_models.resolution.item import Choice, Item, Resolver


def taught(teacher: Resolver, items: Sequence[Item]) -> list[Soft]:
    """Of each item the teacher's probabilities, over the six classes and all tokens of its
    passage; 0 for what is no candidate.

    ValueError for a teacher whose scores are no probabilities.
    """
    if not teacher.probabilities:
        raise ValueError("a teacher has to give probabilities")
    return [_soft(choice) for choice in teacher.resolve(items)]


def shown(teacher: EncoderModel, items: Sequence[Item]) -> tuple[list[Soft], list[Shown]]:
    """The same, and the teacher's states of the words that it read."""
    choices, states = teacher.read(items)
    return [_soft(choice) for choice in choices], states


def _soft(choice: Choice | None) -> Soft:
    scores = () if choice is None else choice.scores
    return np.array([one or 0.0 for one in scores], np.float32)
