"""Time spent on an item, with the breaks left out."""

from collections.abc import Callable
from time import monotonic

IDLE = 60.0
"""Seconds without a key after which the clock stands still until the next one."""


class ItemClock:
    """Counts seconds of work on one item at a time."""

    def __init__(self, now: Callable[[], float] = monotonic, idle: float = IDLE) -> None:
        self._now = now
        self._idle = idle
        self._spent = 0.0
        self._last = now()

    def start(self) -> None:
        """Begin with another item."""
        self._spent = 0.0
        self._last = self._now()

    def touch(self) -> None:
        """A key was pressed."""
        now = self._now()
        self._spent += min(now - self._last, self._idle)
        self._last = now

    @property
    def seconds(self) -> float:
        """Seconds of work so far, at most `IDLE` of them since the last key."""
        return self._spent + min(self._now() - self._last, self._idle)
