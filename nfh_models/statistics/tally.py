"""How often each whole number came up: mean, median and shares without keeping the values."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Counts by value. Memory grows with the number of different values only."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, value: int) -> None:
        """Count one value."""
        self.counts[value] += 1

    @property
    def n(self) -> int:
        """How many values were counted."""
        return self.counts.total()

    @property
    def total(self) -> int:
        """Their sum."""
        return sum(value * times for value, times in self.counts.items())

    @property
    def mean(self) -> float | None:
        """None where nothing was counted."""
        n = self.n
        return self.total / n if n else None

    @property
    def most(self) -> int | None:
        """The greatest value; None where nothing was counted."""
        return max(self.counts, default=None)

    @property
    def median(self) -> float | None:
        """The middle value, or the mean of the two in the middle; None without any."""
        n = self.n
        if not n:
            return None
        return (self._ranked((n - 1) // 2) + self._ranked(n // 2)) / 2

    def _ranked(self, place: int) -> int:
        """The value at a place, from 0, of all of them in ascending order."""
        passed = 0
        for value in sorted(self.counts):
            passed += self.counts[value]
            if passed > place:
                return value
        raise IndexError(place)

    def within(self, limit: int) -> int:
        """How many values are at most `limit`."""
        return sum(times for value, times in self.counts.items() if value <= limit)

    def between(self, low: int, high: int) -> int:
        """How many values are in [low, high], both ends included."""
        return sum(times for value, times in self.counts.items() if low <= value <= high)
