"""Short writes, one after the other, between which others get in."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from nfh_db.checkpoint import PASSIVE, WRITES_BETWEEN
from nfh_db.connection import Connection, transaction
from nfh_db.pace import next_stretch

WRITE_SECONDS = 0.02
"""What one write should take: a person's answer may have to wait for it."""

FIRST_STRETCH = 50
SMALLEST_STRETCH = 5
LARGEST_STRETCH = 1_000
PAUSE_SECONDS = 0.001
"""Between two writes, so that somebody who waits gets in."""

NO_CHECKPOINTS = "PRAGMA wal_autocheckpoint = 0"


class Writes:
    """The writes of a merge. size: how many rows the next one can hold."""

    def __init__(self, connection: Connection) -> None:
        self.size = FIRST_STRETCH
        self._connection = connection
        self._count = 0
        # Carrying the log over into the database takes longer than a write may.
        connection.execute(NO_CHECKPOINTS)

    @contextmanager
    def one(self) -> Iterator[None]:
        """One write, of `size` rows or fewer; it finds out how many the next one can hold."""
        with transaction(self._connection):
            begun = time.perf_counter()
            yield
        self.size = next_stretch(
            self.size,
            time.perf_counter() - begun,
            wanted=WRITE_SECONDS,
            smallest=SMALLEST_STRETCH,
            largest=LARGEST_STRETCH,
        )
        self._count += 1
        if self._count % WRITES_BETWEEN == 0:
            self._connection.execute(PASSIVE)
        time.sleep(PAUSE_SECONDS)

    def begin_small(self) -> None:
        """Rows of another kind come: find out anew how many fit."""
        self.size = FIRST_STRETCH
