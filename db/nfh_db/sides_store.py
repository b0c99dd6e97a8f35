"""What the store does about the sides of training; a part of `Store`."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nfh_db import sides
from nfh_db.opened import OpenDatabase
from nfh_db.pace import PAUSE_SECONDS, next_stretch
from nfh_db.query import Query
from nfh_db.records import Ballot
from nfh_db.sides import Side
from nfh_models.domain import Kind, Passage

WRITE_SECONDS = 0.012
"""What one write should take: somebody's answer may have to wait for it."""

SMALLEST, FIRST, LARGEST = 5, 50, 500
"""Passages that are dealt at a time."""


class SidesStore(OpenDatabase):
    """Labels to learn from, and which passages are kept out of learning."""

    def labelled(self, query: Query) -> Iterator[Ballot]:
        """What is said of each anchor of a query that has gold, by passage and span, all of
        one moment."""
        with self._readers.lend(one_state=True) as connection:
            yield from sides.labelled(connection, query)

    def gold_kinds(self, query: Query) -> Counter[Kind]:
        """How many anchors of a query have gold of each kind."""
        with self._readers.lend() as connection:
            return sides.gold_kinds(connection, query)

    def sides(self) -> tuple[Side, ...]:
        """All passages that were ever dealt to a side."""
        with self._readers.lend() as connection:
            return sides.dealt(connection)

    def deal_sides(self, new: Sequence[Side], known: int) -> bool:
        """Deal passages that have no side yet; False where somebody else has dealt meanwhile.

        known: how many had been dealt when this was planned. Where it gives False, a part of
        them may be dealt: plan again. In writes of some milliseconds.
        """
        place, size = 0, FIRST
        while place < len(new):
            some = new[place : place + size]
            with self._noting() as connection:
                begun = time.perf_counter()
                if not sides.deal(connection, some, known + place):
                    return False
            seconds = time.perf_counter() - begun
            place += len(some)
            size = next_stretch(
                size, seconds, wanted=WRITE_SECONDS, smallest=SMALLEST, largest=LARGEST
            )
            time.sleep(PAUSE_SECONDS)
        return True

    def side_labels(self) -> Mapping[bool, Counter[str]]:
        """How much gold of each kind there is in what is kept out (True), and in the rest."""
        with self._readers.lend() as connection:
            return sides.labels(connection)

    def passages_of_splits(self, splits: Sequence[str]) -> Mapping[int, str]:
        """The passages in which an imported row of one of these splits stands, with it."""
        with self._readers.lend() as connection:
            return sides.of_splits(connection, splits)

    def documents_of(self, passage_ids: Sequence[int]) -> Mapping[int, int]:
        """The document of each of these passages."""
        with self._readers.lend() as connection:
            return sides.documents(connection, passage_ids)

    def passage_texts(self, passage_ids: Sequence[int]) -> Iterator[tuple[int, Passage]]:
        """Passages by id."""
        with self._readers.lend() as connection:
            yield from sides.texts(connection, passage_ids)
