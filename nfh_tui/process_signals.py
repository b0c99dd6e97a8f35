"""SIGTERM, SIGHUP and a lost terminal: a command that is told to end cleans up as at Ctrl-C."""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

# SIGTERM and SIGHUP. By default both end a process immediately, and a file that it was writing
# stays incomplete.

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Windows has no SIGHUP."""

Handler = Callable[[int, FrameType | None], object] | signal.Handlers

BY_SIGNAL = 128
"""Shells add this to the number of a signal for the exit status of a process it ended."""


class EndedError(KeyboardInterrupt):
    """A signal told the process to end. Cleaning up is the same as at Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number

    @property
    def status(self) -> int:
        """The exit status of a process that the signal ended."""
        return BY_SIGNAL + self.number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise EndedError inside the block at the first of SIGNALS; a second one ends the process.

    Signals that are ignored (as SIGHUP under nohup) or handled keep their handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set handlers and is interrupted by signals
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
    """Defer the effect of Ctrl-C or one of SIGNALS to the end of the block; a second one acts
    immediately."""
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


# The hang-up of a terminal.
#
# A terminal that is closed (its window, its tmux) sends SIGHUP, which ends a process. If that
# is ignored, as under nohup, the workbench would read the end of its input in an endless loop.

SIGHUP = 1
"""The number of the signal; Windows does not define it."""

STATUS = BY_SIGNAL + SIGHUP
"""Exit status of a workbench whose terminal was closed: as if ended by SIGHUP."""

AT_MOST = 10.0
"""Seconds after the hang-up until the process is ended."""


def watch_hangup(on_hangup: Callable[[], object]) -> None:
    """Call `on_hangup`, in another thread, when the terminal of this process is closed.

    Output to the terminal is discarded from then on, since writing to it would fail. After
    AT_MOST seconds the process is ended. Does nothing if standard input is not a terminal, or
    if the system has no `poll`.
    """
    if not (sys.__stdin__ and sys.__stdin__.isatty() and hasattr(select, "poll")):
        return
    threading.Thread(
        target=_wait, args=(sys.__stdin__.fileno(), on_hangup), daemon=True, name="hang-up"
    ).start()


def _wait(terminal: int, on_hangup: Callable[[], object]) -> None:
    poll = select.poll()
    poll.register(terminal, 0)  # without events, poll reports hang-ups and errors only
    try:
        found = poll.poll()
    except OSError:
        return
    if not any(events & (select.POLLHUP | select.POLLERR) for _, events in found):
        return
    _silence(terminal)
    timer = threading.Timer(AT_MOST, os._exit, (STATUS,))
    timer.daemon = True
    timer.start()
    on_hangup()


def _silence(terminal: int) -> None:
    """Redirect the terminal, and output that goes to it, to the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        if _is_hung_up(descriptor):
            os.dup2(null, descriptor)
    os.dup2(null, terminal)
    os.close(null)


def _is_hung_up(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll(0))
