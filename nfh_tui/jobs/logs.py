"""Where child processes write what they have to say to nobody in particular."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

APPLICATION = "nfh-tui"
PRIVATE = 0o600
"""Mode of a log: only its person reads it."""

LARGEST = 1_000_000
"""Bytes after which a log is begun anew."""


def log_folder(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """The folder for this user's logs, not made yet.

    $XDG_STATE_HOME where it is set to an absolute path; else the system's own place.
    """
    chosen = environment.get("XDG_STATE_HOME", "")
    if chosen and Path(chosen).is_absolute():
        return Path(chosen) / APPLICATION
    if platform == "win32":
        local = environment.get("LOCALAPPDATA", "")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / APPLICATION
    if platform == "darwin":
        return Path.home() / "Library" / "Logs" / APPLICATION
    return Path.home() / ".local" / "state" / APPLICATION


def private(path: str, flags: int) -> int:
    """Opens a file that nobody else may read, for `open(…, opener=private)`."""
    return os.open(path, flags, PRIVATE)


def log_path(name: str) -> Path:
    """A log file that can be appended to: in the user's folder, else in the temporary one.

    One that has grown large is emptied. Nobody else may read it.
    """
    path = log_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # It may hold what stood in a passage: others on the machine have no business there.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, PRIVATE)
            if os.fstat(handle).st_size > LARGEST:
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)
    except OSError:
        return Path(tempfile.gettempdir()) / f"{APPLICATION}-{os.getpid()}-{name}"
    return path
