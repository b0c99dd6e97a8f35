"""A table of vectors in 4 bits: whole numbers from -7 to 7, with a scale for each few of a row.

Small groups, as in Frantar et al. (2023), "GPTQ" (section 4, "Additional Tricks"), for a scale
then suits the numbers near it: a row of 768 with one scale is a third further from what it was.
"""

import numpy as np
from numpy.typing import NDArray

GROUP = 64
"""Numbers of a row that have one scale."""

LARGEST = 7
SHIFT = 8
"""Added to a number, so that it is kept without a sign."""

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Pairs = NDArray[np.uint8]


def fits(shape: tuple[int, ...]) -> bool:
    """Whether a table's rows can be cut into groups."""
    return len(shape) == 2 and shape[1] > 0 and shape[1] % GROUP == 0


def narrowed(values: Floats) -> tuple[Pairs, Halves]:
    """A table, R x D, as R x D/2 pairs, the first number in the lower bits; and its scales,
    R x D/GROUP. Rounding what was rounded changes nothing."""
    rows, width = values.shape
    groups = values.reshape(rows, width // GROUP, GROUP)
    scales = (np.abs(groups).max(axis=-1) / LARGEST).astype(np.float16)
    scales[scales == 0] = 1
    whole = np.rint(groups / scales[..., None].astype(np.float32)).clip(-LARGEST, LARGEST)
    plain = (whole + SHIFT).astype(np.uint8).reshape(rows, width // 2, 2)
    return plain[..., 0] | (plain[..., 1] << 4), scales


def widened(pairs: Pairs, scales: Halves) -> Floats:
    """The table again, to within half a scale."""
    rows, half = pairs.shape
    plain = np.stack([pairs & 15, pairs >> 4], -1).reshape(rows, -1, GROUP)
    whole = plain.astype(np.float32) - SHIFT
    return (whole * scales[..., None].astype(np.float32)).reshape(rows, 2 * half)


def rounded(values: Floats) -> Floats:
    """What is left of a table."""
    return widened(*narrowed(values))
