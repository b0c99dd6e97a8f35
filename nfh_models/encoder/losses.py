"""What a batch of lessons costs.

Of the choice of a head: -log of the summed probability of the right candidates (marginal over
mentions), the mean over different heads; a teacher's probabilities by their divergence
(Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", at temperature 1). R-Drop
is of Liang et al. (2021), "R-Drop: Regularized Dropout for Neural Networks".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nfh_models.encoder.lessons import Lesson
from nfh_models.encoder.network import SHUT, Scored
from nfh_models.encoder.rows import CLASSES
from nfh_models.encoder.settings import EncoderSettings


@dataclass(frozen=True, slots=True)
class Targets:
    """What B lessons want; H: the most heads of one.

    heads: B x H x C, True at what is right. headed: B x H, which heads there are. weight: B.
    soft: B x C. taught: B, 1 where there is a teacher. nfh, nfh_known: B. several, B, with
    several_weight.
    """

    heads: Tensor
    headed: Tensor
    weight: Tensor
    soft: Tensor
    taught: Tensor
    nfh: Tensor
    nfh_known: Tensor
    several: Tensor
    several_weight: Tensor

    @classmethod
    def of(cls, lessons: Sequence[Lesson], on: torch.device) -> "Targets":
        """Of some lessons, in their order, on a device."""
        count = len(lessons)
        wide = CLASSES + max(one.row.words for one in lessons)
        most = max(1, *(len(one.heads) for one in lessons))
        heads = np.zeros((count, most, wide), np.bool_)
        soft = np.zeros((count, wide), np.float32)
        for place, one in enumerate(lessons):
            for number, right in enumerate(one.heads):
                heads[place, number, list(right)] = True
            if one.soft is not None:
                soft[place, : len(one.soft)] = one.soft
        floats = np.array(
            [
                [
                    one.weight,
                    one.soft is not None,
                    one.nfh is True,
                    one.nfh is not None,
                    one.several_weight,
                ]
                for one in lessons
            ],
            np.float32,
        ).T
        weight, taught, nfh, known, several_weight = (
            torch.from_numpy(part.copy()).to(on) for part in floats
        )
        several = torch.tensor([one.several or 0 for one in lessons], device=on)
        marks = torch.from_numpy(heads).to(on)
        return cls(
            marks,
            marks.any(-1).float(),
            weight,
            torch.from_numpy(soft).to(on),
            taught,
            nfh,
            known,
            several,
            several_weight,
        )


def loss_of(scored: Scored, targets: Targets, settings: EncoderSettings) -> Tensor:
    """The mean loss of a batch. What a lesson does not say costs nothing."""
    logs = torch.log_softmax(scored.logits.float(), -1)
    count = len(logs)
    total = resolution(logs, targets, settings.soft).sum() / count
    if settings.identification:
        cost = functional.binary_cross_entropy_with_logits(
            scored.nfh.float(), targets.nfh, reduction="none"
        )
        total = total + settings.identification * (cost * targets.nfh_known).sum() / count
    if settings.several:
        cost = functional.cross_entropy(
            scored.several.float(), targets.several, reduction="none"
        )
        total = total + settings.several * (cost * targets.several_weight).sum() / count
    return total


def resolution(logs: Tensor, targets: Targets, share: float) -> Tensor:
    """The cost of each choice, B. share: the teacher's part where there is gold, too."""
    hidden = logs.unsqueeze(1).masked_fill(~targets.heads, SHUT)
    each = -torch.logsumexp(hidden, -1) * targets.headed
    heads = targets.headed.sum(-1)
    hard = each.sum(-1) / heads.clamp(min=1)
    known = (heads > 0).float()
    apart = (targets.soft * ((targets.soft + 1e-9).log() - logs)).sum(-1)
    own = known * (1 - share * targets.taught)
    teacher = targets.taught * torch.where(known > 0, share, 1.0)
    return targets.weight * (own * hard + teacher * apart)


def difference(one: Scored, other: Scored) -> Tensor:
    """How far two readings of a batch are apart: the mean divergence both ways, halved."""
    first = torch.log_softmax(one.logits.float(), -1)
    second = torch.log_softmax(other.logits.float(), -1)
    forth = functional.kl_div(first, second, log_target=True, reduction="batchmean")
    back = functional.kl_div(second, first, log_target=True, reduction="batchmean")
    return (forth + back) / 2
