"""Log files of child processes."""

import functools
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

APPLICATION = "nfh-tui"
PRIVATE = 0o600
"""File mode of a log: readable by its owner only."""

LARGEST = 1_000_000
"""Size in bytes above which a log is emptied."""


def log_folder(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """The folder of this user's logs, which may not exist.

    Below $XDG_STATE_HOME if that is an absolute path; else in the usual place of the system.
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
    """Open a log for appending, private to its owner. Raises OSError, also for a symbolic link,
    which may lead to another user's file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, PRIVATE)


def log_path(name: str) -> Path:
    """The path of a writable, private log: in the user's folder, else in a temporary one.

    A log larger than LARGEST is emptied.
    """
    path = log_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A log may quote passages, which other users of the machine must not read.
        handle = open_private(path)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, PRIVATE)
            if os.fstat(handle).st_size > LARGEST:
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)
    except OSError:
        return _temporary_folder() / name
    return path


@functools.cache
def _temporary_folder() -> Path:
    # One of this process alone: in the shared one other users could place links.
    return Path(tempfile.mkdtemp(prefix=f"{APPLICATION}-"))
