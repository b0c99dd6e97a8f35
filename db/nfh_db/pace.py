"""How much of a long piece of work one write holds, so that nobody waits long for it."""

PAUSE_SECONDS = 0.003
"""Between two writes of a long run: whoever waits looks every half a millisecond, and is to
find a gap."""

SHORTEST = 1e-6
"""Seconds: a clock that has not moved is no division by zero."""


def next_stretch(
    size: int, seconds: float, *, wanted: float, smallest: int, largest: int
) -> int:
    """How many rows the next write should have, where one of `size` took `seconds`.

    As many as take `wanted` seconds, but at most twice as many as before: one lucky write
    says little.
    """
    fitting = int(size * wanted / max(seconds, SHORTEST))
    return max(smallest, min(fitting, 2 * size, largest))
