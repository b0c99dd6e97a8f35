"""Opening a database file: made where asked for, upgraded after a backup, else refused.

sqlite-utils is imported only where there is something to migrate: it costs a quarter of a
second, and most starts find the file up to date.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from nfh_db import clock, connection
from nfh_db.connection import Connection, check_sqlite, connect, identify, prepare_writer
from nfh_db.errors import FullError, NoFileError, NotOurFileError, StoreError

SET_APPLICATION_ID = f"PRAGMA application_id = {connection.APPLICATION_ID}"
HEADER = b"SQLite format 3\0"
FIRST_PAGE = 4096
"""Bytes of a file in which SQLite has noted that it keeps a log, and nothing else."""

WITH_DIFFERENCES = 2
"""The first schema in which the differences of pairs of answers have rows of their own."""

WITH_CONFIDENCE = 4
"""The first schema in which answers are compared with gold, and predictions tell how sure
they are.
"""

WITH_ENTROPY = 5
"""The first schema in which predictions tell how undecided their model was."""

ANSWERED_AND_DECIDED = """
SELECT anchor_id FROM gold AS g WHERE g.removed = 0
    AND EXISTS (SELECT 1 FROM answer AS w WHERE w.anchor_id = g.anchor_id AND w.removed = 0)
ORDER BY anchor_id"""
SEVERAL_ANSWERS = """
SELECT anchor_id FROM answer WHERE removed = 0
GROUP BY anchor_id HAVING count(*) > 1 ORDER BY anchor_id"""
FOREIGN_KEYS_OFF = "PRAGMA foreign_keys = OFF"
FOREIGN_KEYS_ON = "PRAGMA foreign_keys = ON"
FOREIGN_KEY_CHECK = "PRAGMA foreign_key_check"


def open_writer(path: Path, *, create: bool) -> Connection:
    """A writing connection to an up-to-date database of ours.

    Makes the file if `create` is set and there is none; upgrades an older one after a
    copy beside it (`NAME.backup-vN-TIME`). Raises StoreError and its kinds with a sentence.
    """
    check_sqlite()
    check_place(path, create=create)
    new = not path.exists()
    try:
        return _open(path, create=create)
    except BaseException as error:
        if new:
            _discard_empty(path, begun=isinstance(error, FullError))
        raise


def check_place(path: Path, *, create: bool) -> None:
    """Raise StoreError unless a database can be, or with `create` can be made, at a path."""
    mode = _mode(path)
    if mode is not None:
        _check_kind(path, mode)
        _check_header(path)
        return
    if not create:
        raise NoFileError(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise StoreError(
            f"The folder {folder} does not exist: make it, or name another place for the "
            "database with --db"
        )
    _check_no_log(path)


def _check_no_log(path: Path) -> None:
    """SQLite drops the log of a database that is gone when it makes a new one of that name."""
    real = os.path.realpath(path)
    for name in (Path(f"{real}{end}") for end in ("-wal", "-journal")):
        if _size(name):
            raise StoreError(
                f"{name} is there, and no database {path}: what was written last may be in it. "
                "Put the two together again, or move it away"
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
            prepare_writer(writer, path)
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
            if 0 < version < WITH_DIFFERENCES:
                _fill_differences(writer)
            if 0 < version < WITH_CONFIDENCE:
                _fill_for_finding(writer)
            if 0 < version < WITH_ENTROPY:
                _fill_entropy(writer)
            _check_references(writer, path)
            writer.execute(SET_APPLICATION_ID)
            writer.execute(f"PRAGMA user_version = {connection.SCHEMA_VERSION:d}")
    writer.execute(FOREIGN_KEYS_ON)


def _migrate(writer: Connection) -> None:
    from sqlite_utils import Database

    from nfh_db.migrations import migrations

    # sqlite-utils' own transactions are deferred; inside ours they become savepoints.
    migrations.apply(Database(writer, execute_plugins=False))


def _fill_differences(writer: Connection) -> None:
    from nfh_db import summary

    for (anchor_id,) in writer.execute(SEVERAL_ANSWERS).fetchall():
        summary.recompute(writer, anchor_id)


def _fill_for_finding(writer: Connection) -> None:
    from nfh_db import predictions, summary

    for (anchor_id,) in writer.execute(ANSWERED_AND_DECIDED).fetchall():
        summary.recompute(writer, anchor_id)
    predictions.fill_confidence(writer)


def _fill_entropy(writer: Connection) -> None:
    from nfh_db import predictions

    predictions.fill_entropy(writer)


def _check_references(writer: Connection, path: Path) -> None:
    broken = writer.execute(FOREIGN_KEY_CHECK).fetchone()
    if broken is not None:
        raise StoreError(
            f"{path} cannot be upgraded: row {broken[1]} of table {broken[0]} refers to a row "
            f"of {broken[2]} that is missing. The file was left as it was"
        )


def _back_up(path: Path, version: int) -> Path:
    """A consistent copy beside the file, written under another name and renamed."""
    from nfh_db import backup
    from nfh_db.moment import at_one_moment

    stamp = clock.now().replace(":", "").replace("-", "").replace(".", "")
    target = path.with_name(f"{path.name}.backup-v{version}-{stamp}")
    with at_one_moment(path) as (source, _), backup.written(target) as partial:
        backup.copy_pages(source, partial, target)
    return target


def _discard_empty(path: Path, *, begun: bool) -> None:
    """Leave no empty file behind where making a database failed.

    begun: also one that holds its first page only, as it is left where its log does not work.
    """
    # A link that led to nothing stays as it is.
    real = Path(os.path.realpath(path))
    log, index = real.with_name(f"{real.name}-wal"), real.with_name(f"{real.name}-shm")
    first_page = begun and _size(log) == 0 and _size(real) <= FIRST_PAGE
    for name in (real, log, index):
        if name.exists() and (first_page or _size(name) == 0):
            with suppress(OSError):
                name.unlink()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
