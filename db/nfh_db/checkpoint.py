"""Carrying the write-ahead log over into the database, beside the writing.

SQLite would do it inside whichever commit fills the log, and that commit, a person's
answer, would take ten times as long as the others.
"""

import threading
from pathlib import Path

from nfh_db.connection import connect, sqlite3
from nfh_db.errors import GoneError

WRITES_BETWEEN = 64
"""Writes of this store between two checkpoints: some 600 pages of log."""

PASSIVE = "PRAGMA wal_checkpoint(PASSIVE)"
"""As much as can be done without making anybody wait."""


class Checkpointer:
    """A thread with a connection of its own; it starts when there is something to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writes = 0
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = False
        self._lock = threading.Lock()

    def wrote(self) -> None:
        """Count a write."""
        with self._lock:
            self._writes += 1
            if self._writes % WRITES_BETWEEN or self._stop:
                return
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="nfh-checkpoint", daemon=True
                )
                self._thread.start()
        self._wanted.set()

    def close(self) -> None:
        """Stop, after the checkpoint that is under way."""
        with self._lock:
            self._stop = True
            thread = self._thread
        self._wanted.set()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._stop:
            self._wanted.wait()
            self._wanted.clear()
            if not self._stop:
                self._carry_over()

    def _carry_over(self) -> None:
        try:
            connection = connect(self._path, "rw")
            try:
                connection.execute(PASSIVE)
            finally:
                connection.close()
        except (sqlite3.Error, GoneError):
            # The log keeps everything: another checkpoint, or closing, carries it over, and
            # where the disk is full, or the log lost, the next write says so to somebody.
            return
