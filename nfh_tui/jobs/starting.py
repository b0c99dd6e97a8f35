"""Starting a job runner that outlives whoever starts it."""

import os
import subprocess
import sys
from pathlib import Path

from nfh_tui.jobs.logs import log_path

MODULE = "nfh_tui.jobs.runner"
LOG_NAME = "runner.log"

VARIABLE = "NFH_TUI_RUNNER"
"""An environment variable: "off" starts no runner (jobs wait for `nfh-tui jobs run`), "here"
has a command that waits for its job work the queue itself."""

OFF, HERE = "off", "here"

_started: list[subprocess.Popen[bytes]] = []
"""Runners of this process, so that those that have ended are let go of."""


def asked_for(value: str) -> bool:
    """Whether the environment asks for this way of running jobs."""
    return os.environ.get(VARIABLE, "") == value


def start_runner(database: Path, trainings: int = 1) -> bool:
    """Start a runner that works the queue until it is empty; False where none is wanted.

    One that finds nothing to do ends at once, so this may be called whenever a job is queued.
    trainings: so many heavy jobs may run at a time. Raises OSError.
    """
    if asked_for(OFF) or asked_for(HERE):
        return False
    _started[:] = [one for one in _started if one.poll() is None]
    log = os.open(log_path(LOG_NAME), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # -P: a module of the folder one stands in must not shadow one of ours.
        command = [sys.executable, "-P", "-m", MODULE, "--db", str(database)]
        _started.append(
            subprocess.Popen(
                [*command, "--trainings", str(trainings)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        )
    finally:
        os.close(log)
    return True
