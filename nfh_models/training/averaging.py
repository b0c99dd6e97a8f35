"""A moving average of a network's weights, which is what is judged and kept."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """The averaged floating-point parameters and buffers of a network.

    keep: how much of itself the average keeps at a step, at most; while few steps are made it
    keeps less, (1 + step) / (10 + step), so that the first weights are soon forgotten (as in
    torch.optim.swa_utils' and TensorFlow's moving averages). 0: no average is held, and the
    network's own weights stand for it. away: the network does not have its own weights now.
    """

    def __init__(self, network: nn.Module, keep: float) -> None:
        self.keep = keep
        self._own = {
            name: tensor
            for name, tensor in network.state_dict(keep_vars=True).items()
            if tensor.is_floating_point()
        }
        self.tensors: dict[str, Tensor] = {}
        self.away = False
        if keep:
            self.tensors = {name: one.detach().clone() for name, one in self._own.items()}

    @torch.no_grad()
    def move(self, step: int) -> None:
        """Take in the network's weights after a step, counted from 1."""
        if self.tensors:
            kept = min(self.keep, (1 + step) / (10 + step))
            own = [self._own[name] for name in self.tensors]
            torch._foreach_lerp_(list(self.tensors.values()), own, 1 - kept)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The network with the averaged weights, and with its own again afterwards."""
        own = {name: self._own[name].detach().clone() for name in self.tensors}
        self.away = True
        try:
            self._put(self.tensors)
            yield
        finally:
            self._put(own)
            self.away = False

    @torch.no_grad()
    def _put(self, tensors: dict[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            self._own[name].copy_(tensor)
