"""SIGTERM and SIGHUP: a command that is asked to end cleans up behind itself, as at Ctrl-C.

By default both end a process on the spot, and what it was writing stays half written.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Windows has no SIGHUP."""

Handler = Callable[[int, FrameType | None], object] | signal.Handlers

BY_SIGNAL = 128
"""What shells add to a signal's number to make the exit status of what it ended."""


class EndedError(KeyboardInterrupt):
    """A signal asks the process to end: whoever takes back its work at Ctrl-C does so now."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number

    @property
    def status(self) -> int:
        """The exit status of a process that the signal ended."""
        return BY_SIGNAL + self.number


@contextmanager
def tidily() -> Iterator[None]:
    """Raise EndedError inside the block when one of SIGNALS comes; a second one ends at once.

    Signals that somebody ignores or handles (nohup ignores SIGHUP) stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers, and only it is interrupted
        return
    before = {one: signal.SIG_DFL for one in SIGNALS if signal.getsignal(one) is signal.SIG_DFL}

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        _set(before)
        raise EndedError(number)

    _set(dict.fromkeys(before, end))
    try:
        yield
    finally:
        _set(before)


@contextmanager
def when_done() -> Iterator[None]:
    """Put what Ctrl-C and SIGNALS raise off to the end of the block; a second one not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {one: signal.getsignal(one) for one in (signal.SIGINT, *SIGNALS)}
    before = {one: handler for one, handler in found.items() if callable(handler)}
    waiting: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if waiting:
            _set(before)
            before[number](number, frame)
        waiting.append(number)

    _set(dict.fromkeys(before, note))
    try:
        yield
    finally:
        _set(before)
        if waiting:
            before[waiting[0]](waiting[0], None)


def _set(handlers: Mapping[int, Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
