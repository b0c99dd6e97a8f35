"""Log files of child processes."""

import functools
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


def open_private(path: Path) -> int:
    """A handle that adds to a log, which nobody else may read. Raises OSError, also for a
    link: what one leads to is somebody else's."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, PRIVATE)


def log_path(name: str) -> Path:
    """A log file that can be appended to: in the user's folder, else in a new temporary one.

    One that has grown large is emptied. Nobody else may read it.
    """
    path = log_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # It may hold what stood in a passage: others on the machine have no business there.
        handle = open_private(path)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, PRIVATE)
            if os.fstat(handle).st_size > LARGEST:
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)
    except OSError:
        return _passing_folder() / name
    return path


@functools.cache
def _passing_folder() -> Path:
    """A folder of this process' own: in the common one anybody can put a link in the way."""
    return Path(tempfile.mkdtemp(prefix=f"{APPLICATION}-"))
