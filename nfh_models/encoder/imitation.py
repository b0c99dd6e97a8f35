"""Learning the states of a teacher's words, and not only what it chooses.

As in Jiao et al. (2020), "TinyBERT: Distilling BERT for Natural Language Understanding"
(section 3), of the last layer alone: a projection of the student's state of each word is to
be near the teacher's. The teacher's dimensions are standardised first, since a few of them are
many times as large as the others. The projection is of use in training alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from nfh_models.encoder.lessons import Lesson
from nfh_models.encoder.network import Network

SAMPLE = 2_000
"""Lessons from which the mean and the spread of the teacher's dimensions are taken."""

LEAST = 1e-6
"""The least spread of a dimension: one that never changes is not divided by 0."""


class Student(nn.Module):
    """A network with the projection to its teacher's states. mean, spread: of the teacher's
    dimensions, D each."""

    mean: Tensor
    spread: Tensor

    def __init__(self, network: Network, width: int, mean: Tensor, spread: Tensor) -> None:
        super().__init__()
        self.network = network
        self.projection = nn.Linear(width, len(mean))
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    def distance(self, words: Tensor, wanted: "Wanted") -> Tensor:
        """The mean squared difference of words that a teacher knows, in standard deviations
        of its dimensions: 1 says nothing. words: B x W x D of the network's own width."""
        own = self.projection(words[wanted.known]).float()
        theirs = (wanted.states.float() - self.mean) / self.spread
        return cast("Tensor", (own - theirs).square().mean())


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of B lessons with W words: known, B x W, where a teacher's state is; states, N x D, of
    those words in their order."""

    known: Tensor
    states: Tensor

    @classmethod
    def of(cls, lessons: Sequence[Lesson], on: torch.device) -> "Wanted | None":
        """Of some lessons, on a device; None where no teacher knows any."""
        found = [one.states for one in lessons if one.states is not None]
        if not found:
            return None
        known = np.zeros((len(lessons), max(one.row.words for one in lessons)), np.bool_)
        for place, one in enumerate(lessons):
            if one.states is not None:
                known[place, : one.row.words] = True
        states = torch.from_numpy(np.concatenate(found))
        return cls(torch.from_numpy(known).to(on), states.to(on))


def student_of(network: Network, lessons: Sequence[Lesson]) -> Student | None:
    """The network with a projection to the states that lessons have; None where none has."""
    found = [one.states for one in lessons if one.states is not None]
    if not found:
        return None
    step = max(1, len(found) // SAMPLE)
    some = np.concatenate(found[::step]).astype(np.float32)
    mean = torch.from_numpy(some.mean(0))
    spread = torch.from_numpy(some.std(0)).clamp(min=LEAST)
    return Student(network, network.up.in_features // 3, mean, spread)
