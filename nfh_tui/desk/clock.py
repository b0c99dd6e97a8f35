"""Time spent on each item, with the breaks left out."""

from collections.abc import Callable
from time import monotonic

IDLE = 60.0
"""Seconds without a key after which the clock stands still until the next one."""

REMEMBERED = 512
"""Items whose time is kept while one works on others; the ones left longest ago go first."""


class ItemClock:
    """Counts seconds of work, on one item at a time.

    Who comes back to an item goes on counting where they left. While `pause` holds (a dialog
    is open, the terminal is not looked at) nothing is counted; a key ends it as well.
    """

    def __init__(self, now: Callable[[], float] = monotonic, idle: float = IDLE) -> None:
        self._now = now
        self._idle = idle
        self._spent = 0.0
        self._last: float | None = now()
        self._item: int | None = None
        self._earlier: dict[int, float] = {}

    def start(self, item: int | None = None) -> None:
        """Begin with another item. item: its id, None for one that is not come back to."""
        spent = self.seconds
        if self._item is not None:
            self._earlier.pop(self._item, None)
            self._earlier[self._item] = spent
            while len(self._earlier) > REMEMBERED:
                del self._earlier[next(iter(self._earlier))]
        self._item = item
        self._spent = 0.0 if item is None else self._earlier.get(item, 0.0)
        self._last = self._now()

    def done(self) -> None:
        """The item is answered: whoever comes back to it begins at nought."""
        if self._item is not None:
            self._earlier.pop(self._item, None)
        self._item = None

    def touch(self) -> None:
        """A key was pressed, or the mouse used."""
        self._spent = self.seconds
        self._last = self._now()

    def pause(self) -> None:
        """Stand still from now on."""
        self._spent = self.seconds
        self._last = None

    def resume(self) -> None:
        """Go on counting after a pause."""
        if self._last is None:
            self._last = self._now()

    def skip(self) -> None:
        """Leave out what passed since the last key: the program was stopped meanwhile."""
        self._last = self._now()

    @property
    def seconds(self) -> float:
        """Seconds of work so far, at most the idle limit of them since the last key."""
        if self._last is None:
            return self._spent
        return self._spent + min(self._now() - self._last, self._idle)
