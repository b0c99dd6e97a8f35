"""Noticing that the terminal is gone, where nobody else says it.

A terminal that vanishes (its window closed, its tmux killed) sends SIGHUP, and that ends a
process.
Where that is ignored, as under nohup, nothing would end the workbench: it would go on reading
the end of its input, again and again, for ever.
"""

import os
import select
import sys
import threading
from collections.abc import Callable

from nfh_tui.ending import BY_SIGNAL

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
