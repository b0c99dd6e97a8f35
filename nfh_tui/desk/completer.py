"""Completion of a query while it is typed: each tab takes the next offer."""

from collections.abc import Callable, Sequence

from nfh_db.query import Completion, Completions, complete

Values = Callable[[str], Sequence[str]]


class Completer:
    """Remembers which offers the last tab came from, so that the next one goes on."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._offers = Completions(0, 0)
        self._source = ""
        self._made: tuple[str, int] | None = None
        self._next = 0

    def offers(self, text: str, cursor: int) -> tuple[Completion, ...]:
        """What could stand at the cursor, the best first."""
        if (text, cursor) != self._made:
            self._offers = complete(text, cursor, self._values)
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
