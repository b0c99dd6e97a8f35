"""How much one socket may say."""

from dataclasses import dataclass


@dataclass(slots=True)
class Meter:
    """So many a second in the long run, so many at once.

    A mouse that is moved fast says a hundred things a second; a held key thirty.
    """

    rate: float
    burst: float
    _left: float = -1.0
    _at: float = 0.0

    def allows(self, now: float) -> bool:
        """True if one more may come. now: seconds of a clock that never goes back."""
        if self._left < 0:
            self._left, self._at = self.burst, now
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
