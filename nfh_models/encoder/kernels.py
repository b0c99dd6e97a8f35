"""Weights that stay in 8 bits while they run.

Products of whole numbers are several times as fast as those of 32-bit floats where the
processor has instructions for them. What goes into a product is rounded to 8 bits as it
comes, each piece by its own largest number (dynamic quantisation, token by token), so that
what stands beside it in a batch changes nothing. Torch's own dynamic kernels round a whole
batch by one number: about a tenth faster, but three times as far from 32 bits, and an anchor
alone gets other answers than among others.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nfh_models.encoder.bert import Heads
from nfh_models.encoder.eight_bit import LARGEST, narrowed
from nfh_models.encoder.four_bit import SHIFT
from nfh_models.encoder.packing import SCALE, widened

Array = NDArray[np.generic]

FAST = ("avx512_vnni", "avx_vnni", "amx_int8")
"""Instructions that sum products of whole numbers of 8 bits, as torch.cpu names them."""

LEAST = 1e-8
"""A piece's largest number is taken to be no less, so that none is divided by 0."""


def fast() -> bool:
    """Whether products of whole numbers are fast here; elsewhere weights are widened."""
    backend: Any = torch.backends.mkldnn
    if not backend.is_available():
        return False
    told = getattr(torch.cpu, "get_capabilities", None)
    if told is not None:
        return any(told().get(name) for name in FAST)
    # Older releases of torch can be asked for one of them only.
    ask = getattr(torch.cpu, "_is_vnni_supported", None)
    return ask is not None and bool(ask())


class ByteLinear(nn.Module):
    """A linear layer whose weights are whole numbers, with a scale for each output."""

    def __init__(self, whole: Array, scales: Array, bias: Array) -> None:
        super().__init__()
        self._whole = torch.from_numpy(np.ascontiguousarray(whole)).t()
        self._scales = torch.from_numpy(scales)
        self._bias = torch.from_numpy(bias)

    def forward(self, values: Tensor) -> Tensor:
        """values: B x L x inputs, in 32 bits."""
        flat = values.reshape(-1, values.shape[-1])
        steps = flat.abs().amax(-1, keepdim=True).clamp_(min=LEAST).mul_(1 / LARGEST)
        rounded = (flat / steps).round_().to(torch.int8)
        sums = torch._int_mm(rounded, self._whole)  # noqa: SLF001 - there is no other
        made = torch.addcmul(self._bias, sums * self._scales, steps)
        return made.view(*values.shape[:-1], -1)


class ByteTable(nn.Module):
    """A table of vectors that are widened as they are looked up."""

    def __init__(self, whole: Array, scales: Array) -> None:
        super().__init__()
        self.register_buffer("whole", torch.from_numpy(whole), persistent=False)
        self.register_buffer("scales", torch.from_numpy(scales), persistent=False)

    def forward(self, places: Tensor) -> Tensor:
        """places: whole numbers of any shape."""
        whole, scales = cast("Tensor", self.whole), cast("Tensor", self.scales)
        return whole[places].float() * scales[places].unsqueeze(-1)


class PairTable(nn.Module):
    """The same of a table in 4 bits."""

    def __init__(self, pairs: Array, scales: Array) -> None:
        super().__init__()
        self.register_buffer("pairs", torch.from_numpy(pairs), persistent=False)
        self.register_buffer("scales", torch.from_numpy(scales), persistent=False)

    def forward(self, places: Tensor) -> Tensor:
        """places: whole numbers of any shape."""
        pairs, scales = cast("Tensor", self.pairs)[places], cast("Tensor", self.scales)[places]
        plain = torch.stack([pairs & 15, pairs >> 4], -1).float() - SHIFT
        groups = plain.reshape(*scales.shape, -1) * scales.float().unsqueeze(-1)
        return groups.flatten(-2)


def kept_in_bytes(network: nn.Module, arrays: Mapping[str, Array]) -> frozenset[str]:
    """Put such layers into a network's encoder in place of its own; the names that they took.

    What scores is widened: it takes little time, and its products spread too far for 8 bits.
    """
    taken: set[str] = set()
    for name, module in list(network.named_modules()):
        if isinstance(module, Heads):
            taken |= _joined(name, module, arrays)
    for name, module in list(network.named_modules()):
        weights = f"{name}.weight"
        if not name.startswith("encoder.") or weights + SCALE not in arrays:
            continue
        if weights in taken:
            continue
        made: nn.Module
        if isinstance(module, nn.Linear):
            bias = f"{name}.bias"
            made = ByteLinear(*_in_bytes(weights, arrays), arrays[bias])
            taken |= {weights, bias}
        elif isinstance(module, nn.Embedding) and name.endswith("word_embeddings"):
            kind = PairTable if arrays[weights].dtype == np.uint8 else ByteTable
            made = kind(arrays[weights], arrays[weights + SCALE])
            taken.add(weights)
        else:
            continue
        parent, _, last = name.rpartition(".")
        setattr(network.get_submodule(parent), last, made)
    return frozenset(taken)


def _in_bytes(name: str, arrays: Mapping[str, Array]) -> tuple[Array, Array]:
    """A matrix in 8 bits with its scales; one in 4 is widened first, which loses next to
    nothing more."""
    if arrays[name].dtype == np.uint8:
        return narrowed(widened(name, arrays))
    return arrays[name], arrays[name + SCALE]


def _joined(name: str, heads: Heads, arrays: Mapping[str, Array]) -> set[str]:
    """Query, key and value as one layer: their input is one, and is rounded once."""
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    if not all(f"{part}.weight{SCALE}" in arrays for part in parts):
        return set()
    whole, scales, bias = (
        np.concatenate([arrays[part + end] for part in parts])
        for end in (".weight", f".weight{SCALE}", ".bias")
    )
    heads.join(ByteLinear(whole, scales, bias))
    return {part + end for part in parts for end in (".weight", ".bias")}
