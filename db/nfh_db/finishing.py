"""What a failed write left behind, tried again until it is cleared away or finished.

A disk that is full lets a bulk act neither be shown nor be cleared away. Nobody should have
to do anything about that but make room.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path

EVERY_SECONDS = 2.0


class _Attempts:
    """A thread that tries until it succeeds, or for a last time when it is stopped."""

    def __init__(self, attempt: Callable[[], bool], over: Callable[[], None]) -> None:
        self._attempt = attempt
        self._over = over
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nfh-finishing", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Try once more, and wait for that."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            stopped = False
            while not stopped:
                stopped = self._stopped.wait(EVERY_SECONDS)
                if self._attempt():
                    return
        finally:
            self._over()


_under_way: dict[str, _Attempts] = {}
_lock = threading.Lock()


def later(path: Path, attempt: Callable[[], bool]) -> None:
    """Call `attempt` in a thread, again and again, until it says that nothing is left."""
    key = os.path.realpath(path)
    with _lock:
        if key not in _under_way:
            _under_way[key] = _Attempts(attempt, lambda: _forget(key))


def stop(path: Path) -> None:
    """Try a last time what waits for a database, which is being closed."""
    with _lock:
        attempts = _under_way.get(os.path.realpath(path))
    if attempts is not None:
        attempts.stop()


def _forget(key: str) -> None:
    with _lock:
        _under_way.pop(key, None)
