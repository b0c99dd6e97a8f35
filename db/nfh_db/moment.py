"""A database as it is at one moment, read without a byte being written to it.

Others may write meanwhile: with the write-ahead log what is read stays as it was. Also a
file that lies where nothing can be written is read.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from nfh_db.connection import (
    COUNT_TABLES,
    STILL,
    STILL_WITH_LOG,
    Connection,
    connect,
    identify,
    sqlite3,
    translated,
)
from nfh_db.disk import Trouble, trouble
from nfh_db.errors import FullError, StoreError
from nfh_db.open_files import INDEX, LOG, LOG_HEADER, beside

BEGIN = "BEGIN"
BESIDE = (LOG, INDEX)

NO_PLACE_FOR_A_LOG = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)
"""What SQLite says where it cannot make those files; or that it cannot read or write."""

REASONS = {
    Trouble.FULL: "its disk is full",
    Trouble.READ_ONLY: "its disk is read-only",
    Trouble.UNSHARED: "SQLite's write-ahead log does not work there",
}


class LogUnreadableError(FullError):
    """Changes that are not in the database yet lie where they cannot be read.

    unseen: what is said where the rest is shown all the same.
    """

    def __init__(self, path: Path, log: Path) -> None:
        what = f"{log} holds changes that are not in {path} yet, and cannot be read"
        how = "Copy both files to a folder of yours, and use the copy"
        super().__init__(f"{what}. {how}")
        self.unseen = f"{what}: they are not shown. {how}"


@dataclass(frozen=True, slots=True)
class Way:
    """How a file is read.

    mode: as `connect` takes it. version: of its schema, 0 if it is empty. unseen: what of it
    cannot be shown, in a sentence; "" where all is.
    """

    mode: str
    version: int
    unseen: str = ""


@contextmanager
def at_one_moment(path: Path, *, any_text: bool = False) -> Iterator[tuple[Connection, str]]:
    """A connection in a read transaction, and its mode: "ro", or one without locks where
    nothing can be written.

    any_text: texts that are no UTF-8 are read too, with surrogates for their odd bytes.
    Raises StoreError and its kinds.
    """
    alone = not any(beside(path, end).exists() for end in BESIDE)
    with translated(path):
        try:
            connection, mode = _begun(path, any_text=any_text)
            with closing(connection):
                yield connection, mode
        finally:
            if alone:
                _tidy(path)


def way_to_read(path: Path) -> Way:
    """How a file is opened that is only to be read. Raises StoreError and its kinds."""
    try:
        with at_one_moment(path) as (connection, mode):
            return Way(mode, identify(connection, path))
    except LogUnreadableError as error:
        with translated(path), closing(_begin(path, STILL, any_text=False)) as connection:
            return Way(STILL, identify(connection, path), error.unseen)


def connect_to_read(path: Path) -> Connection:
    """A connection to a file that is only to be read. Raises StoreError and its kinds."""
    return connect(path, way_to_read(path).mode)


def why_not_written(path: Path) -> str:
    """Why a database cannot be written where it lies, in a few words."""
    seen = trouble(Path(os.path.realpath(path)).parent)
    if seen is not None:
        return REASONS[seen]
    return "the file or its folder is read-only, or belongs to somebody else"


def _begun(path: Path, *, any_text: bool) -> tuple[Connection, str]:
    try:
        return _begin(path, "ro", any_text=any_text), "ro"
    except sqlite3.OperationalError as error:
        if not _no_place(error, path):
            raise
    log = beside(path, LOG)
    if not log.exists() or log.stat().st_size <= LOG_HEADER:
        return _begin(path, STILL, any_text=any_text), STILL
    try:
        return _begin(path, STILL_WITH_LOG, any_text=any_text), STILL_WITH_LOG
    except sqlite3.OperationalError as error:
        raise LogUnreadableError(path, log) from error


def _no_place(error: sqlite3.OperationalError, path: Path) -> bool:
    """Whether an error means that the files beside a database cannot be made there."""
    code = error.sqlite_errorcode & 0xFF
    if code == sqlite3.SQLITE_IOERR:
        return trouble(Path(os.path.realpath(path)).parent) is not None
    return code in NO_PLACE_FOR_A_LOG


def _begin(path: Path, mode: str, *, any_text: bool) -> Connection:
    connection = connect(path, mode)
    if any_text:
        connection.text_factory = _text
    try:
        connection.execute(BEGIN)
        connection.execute(COUNT_TABLES).fetchone()
    except UnicodeDecodeError as error:
        # Of SQLite's message, which quotes a broken statement of the schema.
        connection.close()
        raise StoreError(
            f"{path} is damaged: the statements that make its tables cannot be read. Copy it "
            "away and go back to a copy made by `nfh-tui backup`"
        ) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _tidy(path: Path) -> None:
    """Have SQLite clear away the two empty files that reading made beside the database.

    It does so where nobody else has the file open, and then writes nothing into it.
    """
    try:
        with closing(connect(path, "rw")) as connection:
            connection.execute(COUNT_TABLES).fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return
