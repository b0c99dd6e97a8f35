"""How a network's numbers are kept in a model directory: in 32, 16, 8 or 4 bits."""

from collections.abc import Mapping
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nfh_models.encoder import eight_bit, four_bit
from nfh_models.encoder.settings import Weights

SCALE = ".scale"
"""Behind the name of an array in 8 or 4 bits: the name of its scales."""

IN_PAIRS = ("word_embeddings.weight", ".intermediate.dense.weight", ".output.dense.weight")
"""How the names of a word table and of the layers behind attention end: most of all numbers,
and the ones that lose least in 4 bits (measured; see docs/experiments.md)."""

ATTENTION = ".attention."
"""In the names of attention's matrices, which stay in 8 bits."""

SMALL = 10_000
"""A matrix with fewer numbers is not worth the loss of keeping it in 8 bits."""

LARGEST_HALF = 65_504.0
"""The largest number of 16 bits (IEEE 754 binary16)."""

Array = NDArray[np.generic]
Floats = NDArray[np.float32]
Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]


class Form(StrEnum):
    """How one array is kept. BYTES: whole numbers of 8 bits with a scale for each row. PAIRS:
    two of 4 bits in a byte, with a scale for each few."""

    FLOAT = "float32"
    HALF = "float16"
    BYTES = "int8"
    PAIRS = "uint8"


def form_of(name: str, shape: Shape, weights: Weights) -> Form:
    """How an array is kept where weights are kept so."""
    if weights is Weights.FULL:
        return Form.FLOAT
    if weights is Weights.HALF:
        return Form.HALF
    if len(shape) != 2:
        return Form.FLOAT
    if weights is Weights.BYTE:
        return Form.BYTES if name.startswith("encoder.") or name == "up.weight" else Form.FLOAT
    if name.endswith(IN_PAIRS) and ATTENTION not in name and four_bit.fits(shape):
        return Form.PAIRS
    return Form.BYTES if shape[0] * shape[1] >= SMALL else Form.FLOAT


def packed(arrays: Mapping[str, Floats], weights: Weights) -> dict[str, Array]:
    """All arrays as they are kept."""
    made: dict[str, Array] = {}
    for name, values in arrays.items():
        form = form_of(name, values.shape, weights)
        if form is Form.BYTES:
            made[name], made[name + SCALE] = eight_bit.narrowed(values)
        elif form is Form.PAIRS:
            made[name], made[name + SCALE] = four_bit.narrowed(values)
        elif form is Form.HALF:
            made[name] = values.clip(-LARGEST_HALF, LARGEST_HALF).astype(np.float16)
        else:
            made[name] = values.astype(np.float32)
    return made


def wanted(shapes: Shapes, weights: Weights) -> dict[str, tuple[str, Shape]]:
    """The numpy type and the shape of each array that is kept, scales included."""
    made: dict[str, tuple[str, Shape]] = {}
    for name, shape in shapes.items():
        form = form_of(name, shape, weights)
        made[name] = form.value, shape
        if form is Form.BYTES:
            made[name + SCALE] = "float32", shape[:1]
        elif form is Form.PAIRS:
            rows, width = shape
            made[name] = form.value, (rows, width // 2)
            made[name + SCALE] = "float16", (rows, width // four_bit.GROUP)
    return made


def widened(name: str, arrays: Mapping[str, Array]) -> Floats:
    """An array in 32 bits again."""
    values, scales = arrays[name], arrays.get(name + SCALE)
    if scales is None:
        return np.ascontiguousarray(values, np.float32)
    if values.dtype == np.uint8:
        return four_bit.widened(values, scales)  # type: ignore[arg-type]
    return eight_bit.widened(values, scales)  # type: ignore[arg-type]
