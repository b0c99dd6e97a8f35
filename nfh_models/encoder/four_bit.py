"""A table of vectors in 4 bits: whole numbers from -7 to 7, with a scale for each few of a row.

Small groups, as in Frantar et al. (2023), "GPTQ" (section 4, "Additional Tricks"), for a scale
then suits the numbers near it: with one for a row of 384, the row is an eighth further from
what it was.
"""

import numpy as np
from numpy.typing import NDArray

GROUP = 64
"""Numbers of a row that have one scale."""

SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
"""Of a group's largest number, what LARGEST may stand for."""

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
    scales = _scales(groups)
    plain = (_whole(groups, scales) + SHIFT).astype(np.uint8).reshape(rows, width // 2, 2)
    return (plain[..., 0] | (plain[..., 1] << 4)).astype(np.uint8), scales


def _scales(groups: Floats) -> Halves:
    """Of each group the scale with the least squared error: to cut off its largest numbers a
    little is worth finer steps for all others."""
    largest = np.abs(groups).max(axis=-1) / LARGEST
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
    return np.rint(steps).clip(-LARGEST, LARGEST)


def widened(pairs: Pairs, scales: Halves) -> Floats:
    """The table again, to within half a scale."""
    rows, half = pairs.shape
    plain = np.stack([pairs & 15, pairs >> 4], -1).reshape(rows, -1, GROUP)
    whole = plain.astype(np.float32) - SHIFT
    return (whole * scales[..., None].astype(np.float32)).reshape(rows, 2 * half)


def rounded(values: Floats) -> Floats:
    """What is left of a table."""
    return widened(*narrowed(values))
