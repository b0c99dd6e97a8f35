"""Completion of a query while it is typed: each tab takes the next offer."""

from collections.abc import Callable, Sequence

from nfh_db.query import Completion, Completions, complete
from nfh_db.records import Role
from nfh_tui.visible import clip, visible, width_of

Values = Callable[[str], Sequence[str]]


LEAST_MEANING = 16
"""Cells that a meaning must have to be shown."""


def offered(offers: Sequence[Completion], room: int) -> tuple[tuple[str, str], ...]:
    """Offers for a line of keys of `room` cells: the first one with what it means.

    The meaning is cut to what the others leave, and left out where that is too little.
    """
    labels = [visible(offer.label) for offer in offers]
    left = room - sum(width_of(label) + 2 for label in labels)
    return tuple(
        (label, clip(visible(offer.detail), left) if not n and left >= LEAST_MEANING else "")
        for n, (label, offer) in enumerate(zip(labels, offers, strict=True))
    )


class Completer:
    """Remembers which offers the last tab came from, so that the next one goes on."""

    def __init__(self, values: Values, role: Role = Role.ADJUDICATOR) -> None:
        self._values = values
        self._role = role
        self._offers = Completions(0, 0)
        self._source = ""
        self._made: tuple[str, int] | None = None
        self._next = 0

    def offers(self, text: str, cursor: int) -> tuple[Completion, ...]:
        """What could stand at the cursor, the best first."""
        if (text, cursor) != self._made:
            self._offers = complete(text, cursor, self._values, self._role)
            self._source, self._made, self._next = text, None, 0
        options = self._offers.options
        return options[self._next :] + options[: self._next]

    def tab(self, text: str, cursor: int) -> tuple[str, int] | None:
        """Text and cursor with the next offer taken; None where nothing fits."""
        offers = self.offers(text, cursor)
        if not offers:
            return None
        self._made = self._offers.apply(self._source, offers[0])
        self._next = (self._next + 1) % len(offers)
        return self._made
