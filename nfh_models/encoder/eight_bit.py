"""Weights in 8 bits: a whole number from -127 to 127, times a scale for each row.

Symmetric, by the largest absolute value of the row (Jacob et al. 2018, "Quantization and
Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", section 2, with
a zero point of 0).
"""

import numpy as np
from numpy.typing import NDArray

LARGEST = 127

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]


def narrowed(values: Floats) -> tuple[Bytes, Floats]:
    """A matrix as whole numbers, and the scale of each row."""
    largest = np.abs(values).max(axis=1) if values.size else np.zeros(len(values))
    scales = np.where(largest > 0, largest / LARGEST, 1.0).astype(np.float32)
    whole = np.rint(values / scales[:, None]).clip(-LARGEST, LARGEST)
    return whole.astype(np.int8), scales


def widened(whole: Bytes, scales: Floats) -> Floats:
    """The matrix again, to within half a scale."""
    return whole.astype(np.float32) * scales[:, None]
