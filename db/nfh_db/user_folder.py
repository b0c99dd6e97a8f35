"""The folder where the system keeps what belongs to one user of this program."""

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path

APPLICATION = "nfh-tui"


def data_folder(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """The folder for this user's data, not made yet.

    $XDG_DATA_HOME where it is set to an absolute path, on every system; else the system's
    own place. Raises OSError for a user who has no folder of their own.
    """
    chosen = environment.get("XDG_DATA_HOME", "")
    if chosen and Path(chosen).is_absolute():
        return Path(chosen) / APPLICATION
    if platform == "win32":
        local = environment.get("LOCALAPPDATA", "")
        return (Path(local) if local else _home() / "AppData" / "Local") / APPLICATION
    if platform == "darwin":
        return _home() / "Library" / "Application Support" / APPLICATION
    return _home() / ".local" / "share" / APPLICATION


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise FileNotFoundError(
            errno.ENOENT,
            "you have no home folder to keep the database in; name one with --db, or set HOME",
        ) from error
