"""The heartbeat of a running job, and the ear for whoever cancels it."""

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from nfh_db.connection import sqlite3
from nfh_db.errors import StoreError
from nfh_db.training_store import CANCELLED, JobGoneError
from nfh_tui.ending import EndedError
from nfh_tui.jobs.job_files import give_room
from nfh_tui.jobs.starting import start_runner

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store

Handler = Callable[[int, FrameType | None], object] | int | None

BETWEEN = 1.0
"""Seconds between two beats."""

GRACE = 20.0
"""Seconds for a cancelled job to come to a place where it can be left. Some computations of
libraries cannot be left at all: the process ends then, and the next runner goes on."""

NUDGE = 0.05
"""Seconds between two tries to interrupt a job that is loading a module."""

LOADING = "<frozen importlib._bootstrap"
"""How the places in the program begin that load modules."""

KILLED = 75
"""Exit status of a process that was ended so."""

CUT_OFF = "it could not be left where it was: its process ends"


class Heart:
    """Beats in a thread while a job runs in the main one.

    Where the job is ended by somebody else, or another process has it, its work is interrupted,
    and leaving the block raises JobGoneError in place of the KeyboardInterrupt. It is not
    interrupted while it loads a module: half a one would stay, for whatever comes after in this
    process. say: told what belongs into the job's log.
    """

    def __init__(
        self,
        store: "Store",
        job: "Job",
        say: Callable[[str], None] = lambda _words: None,
        between: float = BETWEEN,
        grace: float = GRACE,
    ) -> None:
        self._store = store
        self._job = job
        self._say = say
        self._between = between
        self._grace = grace
        self._stop = threading.Event()
        self._gone = False
        self._interrupted = False
        self._before: Handler = None
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heart")

    @property
    def interrupted(self) -> bool:
        """Whether the work was interrupted: what libraries had begun may be half done."""
        return self._interrupted

    def caused(self, error: BaseException | None) -> bool:
        """Whether an error is the interruption of a job that was ended by somebody else.

        What a signal to the process raised is not.
        """
        return (
            self._gone
            and isinstance(error, KeyboardInterrupt)
            and not isinstance(error, EndedError)
        )

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if callable(self._before) and _in_main():
            signal.signal(signal.SIGINT, self._heard)
        self._thread.start()
        return self

    def _heard(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C, or our own signal: that one waits while a module is being loaded."""
        if self._gone and (self._interrupted or _loading(frame)):
            return
        self._interrupted = True
        if callable(self._before):
            self._before(number, frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._stop.set()
            self._thread.join()
        except KeyboardInterrupt as interrupt:
            if not self.caused(interrupt):
                raise
        finally:
            if callable(self._before) and _in_main():
                signal.signal(signal.SIGINT, self._before)
        if self._gone and (error is None or self.caused(error)):
            raise JobGoneError(CANCELLED) from error

    def _beat(self) -> None:
        while not self._stop.wait(self._between):
            try:
                if self._store.beat_job(self._job.id):
                    continue
            except (StoreError, sqlite3.Error):
                continue  # a full disk, a locked file: the work itself will meet it
            if self._stop.is_set():
                return
            self._gone = True
            if not self._ended():
                self._cut_off()
            return

    def _ended(self) -> bool:
        """Interrupt the work, as soon as that can be done; whether it came to an end."""
        until = time.monotonic() + self._grace
        while not self._interrupted and time.monotonic() < until:
            _interrupt()
            if self._stop.wait(NUDGE):
                return True
            if signal.getsignal(signal.SIGINT) != self._heard:
                self._interrupted = True  # somebody else hears it, and was told once
        return self._stop.wait(max(0.0, until - time.monotonic()))

    def _cut_off(self) -> None:
        """End the process on the spot; a new one works what else is in the queue."""
        self._say(CUT_OFF)
        with suppress(OSError):
            give_room(self._store.path, self._job)
        with suppress(OSError):
            start_runner(self._store.path)
        os._exit(KILLED)


def _in_main() -> bool:
    """Whether this is the thread that hears signals."""
    return threading.current_thread() is threading.main_thread()


def _loading(frame: FrameType | None) -> bool:
    """Whether a place in the program is within the loading of a module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(LOADING):
            return True
        frame = frame.f_back
    return False


def _interrupt() -> None:
    """Have KeyboardInterrupt raised in the main thread.

    By a real signal where there are such: only that ends a wait for a child, a lock, a socket.
    """
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main and callable(signal.getsignal(signal.SIGINT)):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()
