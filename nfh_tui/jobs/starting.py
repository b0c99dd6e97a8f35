"""Starting a job runner that outlives whoever starts it."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_tui.jobs.kinds import claimable
from nfh_tui.jobs.logs import log_path, open_private

if TYPE_CHECKING:
    from nfh_db.store import Store

MODULE = "nfh_tui.jobs.runner"
LOG_NAME = "runner.log"

VARIABLE = "NFH_TUI_RUNNER"
"""An environment variable: "off" starts no runner (jobs wait for `nfh-tui jobs run`), "here"
has a command that waits for its job work the queue itself."""

OFF, HERE = "off", "here"

BETWEEN = 5.0
"""Seconds that a runner has to begin a job, before another one is started by the way."""

_started: list[tuple[subprocess.Popen[bytes], float]] = []
"""Runners of this process, with when they were started: those that ended are let go of."""


def asked_for(value: str) -> bool:
    """Whether the environment asks for this way of running jobs."""
    return os.environ.get(VARIABLE, "") == value


def ensure_runner(store: "Store") -> bool:
    """Start a runner where a job waits that could be run now; whether one was started.

    To be called by whatever opens a database, or waits for a job, as often as it looks: a
    runner that was killed comes back by that. Raises StoreError, and OSError where none can be
    started.
    """
    _let_go()
    if _starting() or store.waiting_job(claimable()) is None:
        return False
    return start_runner(store.path)


def _let_go() -> None:
    """Forget the runners of this process that have ended."""
    _started[:] = [(one, at) for one, at in _started if one.poll() is None or _recent(at)]


def _starting() -> bool:
    """Whether a runner was started just now."""
    return any(_recent(at) for _, at in _started)


def _recent(at: float) -> bool:
    return time.monotonic() - at < BETWEEN


def start_runner(database: Path, trainings: int = 1) -> bool:
    """Start a runner that works the queue until it is empty; False where none is wanted.

    One that finds nothing to do ends at once, so this may be called whenever a job is queued.
    trainings: so many heavy jobs may run at a time. Raises OSError.
    """
    if asked_for(OFF) or asked_for(HERE):
        return False
    _let_go()
    log = open_private(log_path(LOG_NAME))
    try:
        # -P: a module of the folder one stands in must not shadow one of ours.
        command = [sys.executable, "-P", "-m", MODULE, "--db", str(database.absolute())]
        runner = subprocess.Popen(
            [*command, "--trainings", str(trainings)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        _started.append((runner, time.monotonic()))
    finally:
        os.close(log)
    return True
