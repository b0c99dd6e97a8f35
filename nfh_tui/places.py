"""Where the program keeps its files: the user's data folder, and the database in use."""

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path

APPLICATION = "nfh-tui"
DATABASE_NAME = "nfh.db"
READ_ONLY_VARIABLE = "NFH_TUI_READ_ONLY"
"""An environment variable: why commands that only read write nothing, in a few words."""

DATABASE_VARIABLE = "NFH_TUI_DB"


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


def named_database(given: Path | None) -> Path | None:
    """The database that the call names: by --db, else by $NFH_TUI_DB; None if neither."""
    if given is not None:
        return given
    variable = os.environ.get(DATABASE_VARIABLE, "")
    return Path(variable) if variable else None


def database(given: Path | None) -> Path:
    """The database to work on: the one named, else nfh.db here, else the user's own.

    The user's own need not exist.
    """
    named = named_database(given)
    if named is not None:
        return named
    here = Path(DATABASE_NAME)
    return here if here.exists() else data_folder() / DATABASE_NAME


def new_database(given: Path | None) -> Path:
    """Where `init` makes a database: where the call says, else nfh.db here."""
    return named_database(given) or Path(DATABASE_NAME)


def make_folder_for(path: Path) -> None:
    """Make the user's data folder if `path` lies in it. Other folders are the user's own.

    Raises OSError.
    """
    if path.parent == data_folder():
        path.parent.mkdir(parents=True, exist_ok=True)
