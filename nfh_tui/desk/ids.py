"""The ids of a queue: hundreds of thousands, in the order of the query, in little memory."""

from array import array
from collections.abc import Collection, Iterable, Sequence

NEAR = 64
"""How far around a guess `find` looks before it searches the whole list."""


class IdList:
    """Anchor ids by place. A snapshot: ids arrive in chunks and do not jump afterwards."""

    def __init__(self) -> None:
        self._ids: array[int] = array("q")
        self.complete = False

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: int) -> int:
        return self._ids[place]

    def extend(self, chunk: Iterable[int]) -> None:
        """Append the ids of a chunk."""
        self._ids.extend(chunk)

    def slice(self, start: int, stop: int) -> Sequence[int]:
        """The ids of places [start, stop), those that are there."""
        return self._ids[max(0, start) : max(0, stop)]

    def find(self, anchor_id: int, near: int = 0) -> int | None:
        """The place of an id, looked for around `near` first; None if it is not there."""
        start = max(0, near - NEAR)
        around = self._ids[start : near + NEAR]
        try:
            return start + around.index(anchor_id)
        except ValueError:
            pass
        try:
            return self._ids.index(anchor_id)
        except ValueError:
            return None

    def replace(self, place: int, anchor_id: int) -> None:
        """Put another id in a place: a corrected anchor stands where the old one stood."""
        self._ids[place] = anchor_id

    def insert(self, place: int, anchor_id: int) -> None:
        """Put an id before a place."""
        self._ids.insert(place, anchor_id)

    def step(self, place: int, wanted: Collection[int], forward: bool) -> int | None:
        """The nearest place after (or before) `place` whose id is wanted, or None."""
        places = range(place + 1, len(self._ids)) if forward else range(place - 1, -1, -1)
        return next((there for there in places if self._ids[there] in wanted), None)
