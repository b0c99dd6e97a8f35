"""A database as it is at one moment, read without a byte being written to it.

Others may write meanwhile: with the write-ahead log what is read stays as it was. Also a
file that lies where nothing can be written is read.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from nfh_db.connection import Connection, connect, identify, sqlite3, translated
from nfh_db.errors import FullError, StoreError

BEGIN = "BEGIN"
COUNT_TABLES = "SELECT count(*) FROM sqlite_schema"

BESIDE = ("-wal", "-shm")
"""Ends of the names of the files that SQLite keeps beside a database while it is in use."""

NO_PLACE_FOR_A_LOG = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""What SQLite says where it cannot make those files."""

STILL = "ro&immutable=1"
"""How a file is opened that nobody can write: without those files, and without locks."""


@contextmanager
def at_one_moment(path: Path, *, any_text: bool = False) -> Iterator[tuple[Connection, bool]]:
    """A connection in a read transaction, and whether the file lies where nobody can write.

    any_text: texts that are no UTF-8 are read too, with surrogates for their odd bytes.
    Raises StoreError and its kinds.
    """
    alone = not any(beside(path, end).exists() for end in BESIDE)
    with translated(path):
        try:
            connection, still = _begun(path, any_text=any_text)
            with closing(connection):
                yield connection, still
        finally:
            if alone:
                _tidy(path)


def place_to_read(path: Path) -> tuple[str, int]:
    """How a file is opened that is only to be read, and its schema version; 0 if it is empty.

    Raises StoreError and its kinds.
    """
    with at_one_moment(path) as (connection, still):
        return STILL if still else "ro", identify(connection, path)


def beside(path: Path, end: str) -> Path:
    """A file that SQLite keeps beside a database: beside the file itself, not beside a link."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + end)


def _begun(path: Path, *, any_text: bool) -> tuple[Connection, bool]:
    try:
        return _begin(path, "ro", any_text=any_text), False
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in NO_PLACE_FOR_A_LOG:
            raise
    log = beside(path, "-wal")
    if log.exists() and log.stat().st_size > 0:
        raise FullError(
            f"{log} holds changes that are not in {path} yet, and nothing can be written "
            "beside them, which reading them needs. Copy both files to a folder of yours, and "
            "do this with the copy"
        )
    return _begin(path, STILL, any_text=any_text), True


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
