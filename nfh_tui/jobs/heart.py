"""The heartbeat of a running job, and the ear for whoever cancels it."""

import _thread
import os
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nfh_db.errors import StoreError
from nfh_db.training_store import CANCELLED, JobGoneError

if TYPE_CHECKING:
    from nfh_db.store import Store

BETWEEN = 1.0
"""Seconds between two beats."""

GRACE = 20.0
"""Seconds for a cancelled job to come to a place where it can be left. Some computations of
libraries cannot be left at all: the process ends then, and the next runner goes on."""

KILLED = 75
"""Exit status of a process that was ended so."""


class Heart:
    """Beats in a thread while a job runs in the main one.

    Where the job is ended by somebody else, its work is interrupted, and leaving the block
    raises JobGoneError in place of the KeyboardInterrupt.
    """

    def __init__(self, store: "Store", job_id: int, between: float = BETWEEN) -> None:
        self._store = store
        self._job_id = job_id
        self._between = between
        self._stop = threading.Event()
        self._gone = False
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heart")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._stop.set()
            self._thread.join()
        except KeyboardInterrupt:
            if not self._gone:
                raise
        if self._gone and (kind is None or issubclass(kind, KeyboardInterrupt)):
            raise JobGoneError(CANCELLED) from error

    def _beat(self) -> None:
        while not self._stop.wait(self._between):
            try:
                if self._store.beat_job(self._job_id):
                    continue
            except StoreError:
                continue  # a full disk, a locked file: the work itself will meet it
            if self._stop.is_set():
                return
            self._gone = True
            _thread.interrupt_main()
            if not self._stop.wait(GRACE):
                os._exit(KILLED)
            return
