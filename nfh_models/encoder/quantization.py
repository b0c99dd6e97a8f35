"""Weights stored in 16, 8 or 4 bits, and layers that compute with 8 bits."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nfh_models.encoder.backbone import AttentionHeads
from nfh_models.encoder.settings import Weights

# --- 8 bits: whole numbers from -127 to 127, with a scale for each row -----------------------
#
# Symmetric, by the largest absolute value of the row (Jacob et al. 2018, "Quantization and
# Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", section 2, with
# a zero point of 0).

LARGEST_EIGHT_BIT = 127

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]


def narrowed_to_bytes(values: Floats) -> tuple[Bytes, Floats]:
    """A matrix as whole numbers, and the scale of each row."""
    largest = np.abs(values).max(axis=1) if values.size else np.zeros(len(values))
    scales = np.where(largest > 0, largest / LARGEST_EIGHT_BIT, 1.0).astype(np.float32)
    whole = np.rint(values / scales[:, None]).clip(-LARGEST_EIGHT_BIT, LARGEST_EIGHT_BIT)
    return whole.astype(np.int8), scales


def widened_bytes(whole: Bytes, scales: Floats) -> Floats:
    """The matrix again, to within half a scale."""
    return whole.astype(np.float32) * scales[:, None]


# --- 4 bits: whole numbers from -7 to 7, with a scale for each group of a row ----------------
#
# Small groups as in Frantar et al. (2023), "GPTQ" (section 4, "Additional Tricks"): with one
# scale for a row of 384, its error is an eighth larger.

GROUP = 64
"""Numbers of a row that share a scale."""

SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
"""Candidates for the scale, as shares of the one that maps a group's largest number to
LARGEST_FOUR_BIT.
"""

LARGEST_FOUR_BIT = 7
SHIFT = 8
"""Added to a number, so that it is stored without a sign."""
Halves = NDArray[np.float16]
Pairs = NDArray[np.uint8]


def fits(shape: tuple[int, ...]) -> bool:
    """Whether the rows of a table can be split into groups."""
    return len(shape) == 2 and shape[1] > 0 and shape[1] % GROUP == 0


def narrowed_to_pairs(values: Floats) -> tuple[Pairs, Halves]:
    """A table, R x D, as R x D/2 pairs, the first number in the lower bits; and its scales, R x
    D/GROUP.

    Rounding a rounded table changes nothing.
    """
    rows, width = values.shape
    groups = values.reshape(rows, width // GROUP, GROUP)
    scales = _scales(groups)
    plain = (_whole(groups, scales) + SHIFT).astype(np.uint8).reshape(rows, width // 2, 2)
    return (plain[..., 0] | (plain[..., 1] << 4)).astype(np.uint8), scales


def _scales(groups: Floats) -> Halves:
    """The scale of each group with the least squared error: clipping its largest numbers a
    little pays for finer steps.
    """
    largest = np.abs(groups).max(axis=-1) / LARGEST_FOUR_BIT
    best = np.ones(largest.shape, np.float16)
    least = np.full(largest.shape, np.inf, np.float32)
    for share in SHARES:
        scales = (largest * share).astype(np.float16)
        scales[scales == 0] = 1
        again = _whole(groups, scales) * scales[..., None].astype(np.float32)
        error = np.square(again - groups).sum(axis=-1)
        best = np.where(error < least, scales, best)
        least = np.minimum(error, least)
    return best


def _whole(groups: Floats, scales: Halves) -> Floats:
    steps = groups / scales[..., None].astype(np.float32)
    return np.rint(steps).clip(-LARGEST_FOUR_BIT, LARGEST_FOUR_BIT)


def widened_pairs(pairs: Pairs, scales: Halves) -> Floats:
    """The table again, to within half a scale."""
    rows, half = pairs.shape
    plain = np.stack([pairs & 15, pairs >> 4], -1).reshape(rows, -1, GROUP)
    whole = plain.astype(np.float32) - SHIFT
    return (whole * scales[..., None].astype(np.float32)).reshape(rows, 2 * half)


def rounded(values: Floats) -> Floats:
    """A table rounded to 4 bits."""
    return widened_pairs(*narrowed_to_pairs(values))


SCALE = ".scale"
"""The suffix of the array with an array's scales."""

IN_PAIRS = ("word_embeddings.weight", ".intermediate.dense.weight", ".output.dense.weight")
"""How the names of a word table and of the layers after attention end: most of all numbers,
and those that lose least in 4 bits (measured; see docs/experiments.md).
"""

ATTENTION = ".attention."
"""In the names of attention's matrices, which stay in 8 bits."""

SMALL = 10_000
"""Numbers below which a matrix is not worth storing in 8 bits."""

LARGEST_HALF = 65_504.0
"""The largest number of 16 bits (IEEE 754 binary16)."""

Array = NDArray[np.generic]
Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]


class ArrayEncoding(StrEnum):
    """How one array is stored, as its numpy type.

    BYTES: whole numbers of 8 bits with a scale for each row. PAIRS: two numbers of 4 bits in a
    byte, with a scale for each group.
    """

    FLOAT = "float32"
    HALF = "float16"
    BYTES = "int8"
    PAIRS = "uint8"


def form_of(name: str, shape: Shape, weights: Weights) -> ArrayEncoding:
    """How an array is stored."""
    if weights is Weights.FULL:
        return ArrayEncoding.FLOAT
    if weights is Weights.HALF:
        return ArrayEncoding.HALF
    if len(shape) != 2:
        return ArrayEncoding.FLOAT
    if weights is Weights.BYTE:
        return (
            ArrayEncoding.BYTES
            if name.startswith("encoder.") or name == "up.weight"
            else ArrayEncoding.FLOAT
        )
    if name.endswith(IN_PAIRS) and ATTENTION not in name and fits(shape):
        return ArrayEncoding.PAIRS
    return ArrayEncoding.BYTES if shape[0] * shape[1] >= SMALL else ArrayEncoding.FLOAT


def pack_arrays(arrays: Mapping[str, Floats], weights: Weights) -> dict[str, Array]:
    """All arrays as they are stored."""
    made: dict[str, Array] = {}
    for name, values in arrays.items():
        form = form_of(name, values.shape, weights)
        if form is ArrayEncoding.BYTES:
            made[name], made[name + SCALE] = narrowed_to_bytes(values)
        elif form is ArrayEncoding.PAIRS:
            made[name], made[name + SCALE] = narrowed_to_pairs(values)
        elif form is ArrayEncoding.HALF:
            made[name] = values.clip(-LARGEST_HALF, LARGEST_HALF).astype(np.float16)
        else:
            made[name] = values.astype(np.float32)
    return made


def packed_shapes(shapes: Shapes, weights: Weights) -> dict[str, tuple[str, Shape]]:
    """The numpy type and the shape of each stored array, scales included."""
    made: dict[str, tuple[str, Shape]] = {}
    for name, shape in shapes.items():
        form = form_of(name, shape, weights)
        made[name] = form.value, shape
        if form is ArrayEncoding.BYTES:
            made[name + SCALE] = "float32", shape[:1]
        elif form is ArrayEncoding.PAIRS:
            rows, width = shape
            made[name] = form.value, (rows, width // 2)
            made[name + SCALE] = "float16", (rows, width // GROUP)
    return made


def widened_array(name: str, arrays: Mapping[str, Array]) -> Floats:
    """An array in 32 bits again."""
    values, scales = arrays[name], arrays.get(name + SCALE)
    if scales is None:
        return np.ascontiguousarray(values, np.float32)
    if values.dtype == np.uint8:
        return widened_pairs(values, scales)  # type: ignore[arg-type]
    return widened_bytes(values, scales)  # type: ignore[arg-type]


# --- layers that compute with 8 bits ----------------------------------------------------------
#
# Products of 8-bit integers are several times as fast as those of 32-bit floats where the CPU
# has instructions for them. Inputs are rounded to 8 bits dynamically, each piece by its own
# largest number, so that other rows of a batch change nothing. Torch's own dynamic kernels
# round a whole batch by one number: with three times the error, and the answer for an anchor
# depends on the batch.

FAST = ("avx512_vnni", "avx_vnni", "amx_int8")
"""CPU instructions for dot products of 8-bit integers, as torch.cpu names them."""

LEAST = 1e-8
"""Lower bound of a piece's largest number, so that nothing is divided by 0."""

ZERO_POINT = 128
"""Added to whole numbers from -127 to 127, so that they have no sign."""

ROWS = 16
"""Products have a multiple of so many rows: oneDNN plans a product for each number of rows, and
keeps the plans.
"""


def has_fast_int8() -> bool:
    """Whether products of 8-bit integers are fast here; elsewhere weights are widened."""
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
    """A linear layer whose weights are 8-bit integers, with a scale for each output.

    oneDNN multiplies weights that it has arranged for this CPU once, by inputs without a sign:
    only those are taken by all releases of torch that are supported. The sums are whole numbers
    of 32 bits, so the order of adding does not matter.
    """

    def __init__(self, whole: Array, scales: Array, bias: Array) -> None:
        super().__init__()
        rows = torch.from_numpy(np.ascontiguousarray(whole))
        self._packed = torch.ops.onednn.qlinear_prepack(rows, None)
        self._scales = torch.from_numpy(scales)
        self._zeros = torch.zeros(len(whole), dtype=torch.int32)
        self._bias = torch.from_numpy(bias)

    def forward(self, values: Tensor) -> Tensor:
        """values: P x inputs, in 32 bits."""
        largest = values.abs().amax(-1, keepdim=True)
        steps = largest.clamp_(min=LEAST).mul_(1 / LARGEST_EIGHT_BIT)
        count, inputs = values.shape
        # What the rows after the last piece hold does not matter.
        rounded = torch.empty(count + -count % ROWS, inputs, dtype=torch.uint8)
        rounded[:count] = (values / steps).round_().add_(ZERO_POINT)
        weights = (self._packed, self._scales, self._zeros)
        sums = torch.ops.onednn.qlinear_pointwise(
            rounded, 1.0, ZERO_POINT, *weights, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return torch.addcmul(self._bias, sums[:count], steps)


class ByteTable(nn.Module):
    """A table of vectors that are widened on lookup."""

    def __init__(self, whole: Array, scales: Array) -> None:
        super().__init__()
        self.register_buffer("whole", torch.from_numpy(whole), persistent=False)
        self.register_buffer("scales", torch.from_numpy(scales), persistent=False)

    def forward(self, places: Tensor) -> Tensor:
        """places: integers of any shape."""
        whole, scales = cast("Tensor", self.whole), cast("Tensor", self.scales)
        return whole[places].float() * scales[places].unsqueeze(-1)


class PairTable(nn.Module):
    """The same for a table in 4 bits."""

    def __init__(self, pairs: Array, scales: Array) -> None:
        super().__init__()
        self.register_buffer("pairs", torch.from_numpy(pairs), persistent=False)
        self.register_buffer("scales", torch.from_numpy(scales), persistent=False)

    def forward(self, places: Tensor) -> Tensor:
        """places: integers of any shape."""
        pairs, scales = cast("Tensor", self.pairs)[places], cast("Tensor", self.scales)[places]
        plain = torch.stack([pairs & 15, pairs >> 4], -1).float() - SHIFT
        groups = plain.reshape(*scales.shape, -1) * scales.float().unsqueeze(-1)
        return groups.flatten(-2)


def kept_in_bytes(network: nn.Module, arrays: Mapping[str, Array]) -> frozenset[str]:
    """Replace layers of a network's encoder by such layers; returns the names of the arrays
    used.

    The scorer is widened: it takes little time, and its products need more precision.
    """
    taken: set[str] = set()
    for name, module in list(network.named_modules()):
        if isinstance(module, AttentionHeads):
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
        return narrowed_to_bytes(widened_array(name, arrays))
    return arrays[name], arrays[name + SCALE]


def _joined(name: str, heads: AttentionHeads, arrays: Mapping[str, Array]) -> set[str]:
    """Query, key and value as one layer: they share their input, which is rounded once."""
    parts = [f"{name}.{part}" for part in heads.projections]
    if not all(f"{part}.weight{SCALE}" in arrays for part in parts):
        return set()
    whole, scales, bias = (
        np.concatenate([arrays[part + end] for part in parts])
        for end in (".weight", f".weight{SCALE}", ".bias")
    )
    heads.join(ByteLinear(whole, scales, bias))
    return {part + end for part in parts for end in (".weight", ".bias")}
