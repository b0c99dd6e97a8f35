"""SIGTERM, SIGHUP and a lost terminal: a command that is asked to end cleans up behind
itself, as at Ctrl-C.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

# SIGTERM and SIGHUP: a command that is asked to end cleans up behind itself, as at Ctrl-C.
#
# By default both end a process on the spot, and what it was writing stays half written.

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


# Noticing that the terminal is gone, where nobody else says it.
#
# A terminal that vanishes (its window closed, its tmux killed) sends SIGHUP, and that ends a
# process. Where that is ignored, as under nohup, nothing would end the workbench: it would go
# on reading the end of its input, again and again, for ever.

SIGHUP = 1
"""Its number everywhere; Windows has none."""

STATUS = BY_SIGNAL + SIGHUP
"""Exit status of a workbench whose terminal went: that of a process which SIGHUP ended."""

AT_MOST = 10.0
"""Seconds until the process is ended where it has not ended by itself."""


def watch(gone: Callable[[], object]) -> None:
    """Call `gone`, in another thread, when the terminal of this process is gone.

    Output to the terminal goes nowhere from then on, since writing to one that is not there
    fails. If the process is still there after AT_MOST seconds, it is ended. Does nothing where
    standard input is no terminal, or where terminals cannot be watched so.
    """
    if not (sys.__stdin__ and sys.__stdin__.isatty() and hasattr(select, "poll")):
        return
    terminal = sys.__stdin__.fileno()
    threading.Thread(target=_wait, args=(terminal, gone), daemon=True, name="hang-up").start()


def _wait(terminal: int, gone: Callable[[], object]) -> None:
    poll = select.poll()
    poll.register(terminal, 0)  # of itself it tells of the end, and costs nothing meanwhile
    try:
        found = poll.poll()
    except OSError:
        return
    if not any(events & (select.POLLHUP | select.POLLERR) for _, events in found):
        return
    _silence(terminal)
    last = threading.Timer(AT_MOST, os._exit, (STATUS,))
    last.daemon = True
    last.start()
    gone()


def _silence(terminal: int) -> None:
    """Let what is still written to the terminal go nowhere, and what is read be the end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        if _lost(descriptor):
            os.dup2(nowhere, descriptor)
    os.dup2(nowhere, terminal)
    os.close(nowhere)


def _lost(descriptor: int) -> bool:
    """Whether a descriptor is that of a terminal that is gone."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll(0))
