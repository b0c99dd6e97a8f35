"""Opening a database file: made where asked for, upgraded after a backup, else refused.

sqlite-utils is imported only where there is something to migrate: it costs a quarter of a
second, and most starts find the file up to date.
"""

import errno
import os
import stat
from pathlib import Path

from nfh_db import clock, connection
from nfh_db.connection import Connection, check_sqlite, connect, identify, prepare_writer
from nfh_db.errors import FullError, NotOurFileError, StoreError

SET_APPLICATION_ID = f"PRAGMA application_id = {connection.APPLICATION_ID}"
HEADER = b"SQLite format 3\0"
FOREIGN_KEYS_OFF = "PRAGMA foreign_keys = OFF"
FOREIGN_KEYS_ON = "PRAGMA foreign_keys = ON"
FOREIGN_KEY_CHECK = "PRAGMA foreign_key_check"


def open_writer(path: Path, *, create: bool) -> Connection:
    """A writing connection to an up-to-date database of ours.

    Makes the file if `create` is set and there is none; upgrades an older one after a
    copy beside it (`NAME.backup-vN-TIME`). Raises StoreError and its kinds with a sentence.
    """
    check_sqlite()
    _check_place(path, create=create)
    new = not path.exists()
    try:
        return _open(path, create=create)
    except BaseException:
        if new:
            _discard_empty(path)
        raise


def _check_place(path: Path, *, create: bool) -> None:
    mode = _mode(path)
    if mode is not None:
        _check_kind(path, mode)
        _check_header(path)
        return
    if not create:
        raise StoreError(
            f"There is no database at {path}. Make one with `nfh-tui init` or "
            "`nfh-tui import FILE`, or name another with --db"
        )
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise StoreError(
            f"The folder {folder} does not exist: make it, or name another place for the "
            "database with --db"
        )


def _mode(path: Path) -> int | None:
    """What stands at a path, links followed; None if nothing does."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise FullError(f"{path} cannot be read: {error.strerror}") from error


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise NotOurFileError(f"{path} is a folder. Give the path of a database file")
    if not stat.S_ISREG(mode):
        # Reading a pipe would wait for ever, a device may have no end.
        raise NotOurFileError(
            f"{path} is a pipe or a device, not a file. Give the path of a database file"
        )


def _check_header(path: Path) -> None:
    """SQLite itself takes a file of a few bytes for an empty database, and overwrites it."""
    try:
        with path.open("rb") as file:
            start = file.read(len(HEADER))
    except OSError as error:
        raise FullError(f"{path} cannot be read: {error.strerror}") from error
    if start not in (b"", HEADER):
        raise NotOurFileError(
            f"{path} is not a database. Give the path of an nfh-tui database, or of a new file"
        )


def _open(path: Path, *, create: bool) -> Connection:
    with connection.translated(path):
        writer = connect(path, "rwc" if create else "rw")
        try:
            version = identify(writer, path)
            if version == 0 and not create:
                raise NotOurFileError(
                    f"{path} is empty: it is no database yet. Make one there with "
                    "`nfh-tui init`"
                )
            prepare_writer(writer)
            if version < connection.SCHEMA_VERSION:
                _upgrade(writer, path)
        except BaseException:
            writer.close()
            raise
        return writer


def _upgrade(writer: Connection, path: Path) -> None:
    """Apply what is missing in one transaction; another process may have been faster."""
    writer.execute(FOREIGN_KEYS_OFF)
    with connection.transaction(writer):
        version = identify(writer, path)
        if version < connection.SCHEMA_VERSION:
            if version > 0:
                _back_up(path, version)
            _migrate(writer)
            _check_references(writer, path)
            writer.execute(SET_APPLICATION_ID)
            writer.execute(f"PRAGMA user_version = {connection.SCHEMA_VERSION:d}")
    writer.execute(FOREIGN_KEYS_ON)


def _migrate(writer: Connection) -> None:
    from sqlite_utils import Database

    from nfh_db.migrations import migrations

    # sqlite-utils' own transactions are deferred; inside ours they become savepoints.
    migrations.apply(Database(writer, execute_plugins=False))


def _check_references(writer: Connection, path: Path) -> None:
    broken = writer.execute(FOREIGN_KEY_CHECK).fetchone()
    if broken is not None:
        raise StoreError(
            f"{path} cannot be upgraded: row {broken[1]} of table {broken[0]} refers to a row "
            f"of {broken[2]} that is missing. The file was left as it was"
        )


def _back_up(path: Path, version: int) -> Path:
    """A consistent copy beside the file, written under another name and renamed."""
    stamp = clock.now().replace(":", "").replace("-", "").replace(".", "")
    target = path.with_name(f"{path.name}.backup-v{version}-{stamp}")
    partial = target.with_name(f"{target.name}.partial")
    source = connect(path, "ro")
    try:
        copy = connect(partial, "rwc")
        try:
            source.backup(copy)
        finally:
            copy.close()
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    finally:
        source.close()
    return partial.replace(target)


def _discard_empty(path: Path) -> None:
    """Leave no empty file behind where making a database failed."""
    for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if name.exists() and name.stat().st_size == 0:
            name.unlink(missing_ok=True)
