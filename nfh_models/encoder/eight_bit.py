"""Weights in 8 bits: a whole number from -127 to 127, times a scale for each row.

Symmetric, by the largest absolute value of the row (Jacob et al. 2018, "Quantization and
Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", section 2, with
a zero point of 0).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

SCALE = ".scale"
"""Behind the name of an array in 8 bits: the name of its scales."""

LARGEST = 127

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]
Array = NDArray[np.generic]


def in_bytes(name: str, shape: tuple[int, ...]) -> bool:
    """Whether a parameter is kept in 8 bits: the encoder's tables and matrices, and the first
    layer of what scores. The rest is small, and kept in 32."""
    return len(shape) == 2 and (name.startswith("encoder.") or name == "up.weight")


def narrowed(values: Floats) -> tuple[Bytes, Floats]:
    """A matrix as whole numbers, and the scale of each row."""
    largest = np.abs(values).max(axis=1) if values.size else np.zeros(len(values))
    scales = np.where(largest > 0, largest / LARGEST, 1.0).astype(np.float32)
    whole = np.rint(values / scales[:, None]).clip(-LARGEST, LARGEST)
    return whole.astype(np.int8), scales


def widened(whole: Bytes, scales: Floats) -> Floats:
    """The matrix again, to within half a scale."""
    return whole.astype(np.float32) * scales[:, None]


def packed(arrays: Mapping[str, Floats]) -> dict[str, Array]:
    """All parameters as they are kept in 8 bits."""
    made: dict[str, Array] = {}
    for name, values in arrays.items():
        if in_bytes(name, values.shape):
            made[name], made[name + SCALE] = narrowed(values)
        else:
            made[name] = values.astype(np.float32)
    return made


def kinds(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, str]:
    """The numpy type of each array that is kept, scales included."""
    made: dict[str, str] = {}
    for name, shape in shapes.items():
        if in_bytes(name, shape):
            made[name], made[name + SCALE] = "int8", "float32"
        else:
            made[name] = "float32"
    return made
