"""Where the program keeps its files: the user's data folder, and the database in use."""

import os
from pathlib import Path

from nfh_db.user_folder import data_folder

__all__ = [
    "DATABASE_NAME",
    "DATABASE_VARIABLE",
    "data_folder",
    "database",
    "make_folder_for",
    "named_database",
    "new_database",
]

DATABASE_NAME = "nfh.db"
READ_ONLY_VARIABLE = "NFH_TUI_READ_ONLY"
"""An environment variable: why commands that only read write nothing, in a few words."""

DATABASE_VARIABLE = "NFH_TUI_DB"


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
