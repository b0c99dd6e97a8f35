"""Opening the other copy: to be read only, of one moment, and left exactly as it is.

Where it is of an older version, or holds what is left of a broken-off import, a passing copy
of it is brought up to date and read instead.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nfh_db import batches, upgrade
from nfh_db.connection import (
    SCHEMA_VERSION,
    Connection,
    connect,
    file_identity,
    identify,
    translated,
)
from nfh_db.errors import NotOurFileError, StoreError

LOG_SUFFIX, MEMORY = "-wal", "-shm"
QUICK_CHECK = "PRAGMA quick_check(1)"
UNTOUCHED = "ro&immutable=1"
"""No lock, and no file beside it: for a database that nobody has open."""


@dataclass(slots=True)
class OtherCopy:
    """The other copy, open in a read transaction."""

    path: Path
    connection: Connection
    _state: tuple[int, ...] | None = None

    def check_unchanged(self) -> None:
        """Raise StoreError if somebody began to write into a file that was read unlocked."""
        if self._state is not None and _state(self.path) != self._state:
            raise StoreError(
                f"{self.path} was changed while it was read. Nothing was merged; try again"
            )


@contextmanager
def opened(path: Path, here: Path) -> Iterator[OtherCopy]:
    """The other copy of `here`. Raises StoreError and its kinds with a sentence."""
    upgrade.check_place(path, create=False)
    if file_identity(path) == file_identity(here):
        raise StoreError(f"{path} is this database itself: name another copy of it")
    with TemporaryDirectory(prefix="nfh-tui-") as folder:
        passing = Path(folder) / "other.db"
        with translated(path):
            found = _copied(path, passing) if _has_log_alone(path) else _open(path)
            if _is_old_or_unfinished(found.connection, path):
                found = _up_to_date(found, passing.with_name("new.db"))
            _check_whole(found.connection, path)
        try:
            with translated(path):
                yield found
        finally:
            found.connection.close()


def _has_log_alone(path: Path) -> bool:
    """True if a write-ahead log lies beside a file that nobody has open.

    It was copied with it, or somebody was killed. To read it there SQLite would make a file
    beside it, which a read-only medium does not let it, and which nobody asked for.
    """
    log = _beside(path, LOG_SUFFIX)
    return log.exists() and log.stat().st_size > 0 and not _beside(path, MEMORY).exists()


def _open(path: Path) -> OtherCopy:
    """A connection in a read transaction, without a lock where nobody has the file open."""
    state = _state(path)
    alone = not _beside(path, MEMORY).exists()
    connection = _begun(connect(path, UNTOUCHED if alone else "ro"), path)
    return OtherCopy(path, connection, state if alone else None)


def _begun(connection: Connection, path: Path) -> Connection:
    """A connection, in a read transaction, to what is a database of ours."""
    try:
        connection.execute("BEGIN")
        identify(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_whole(connection: Connection, path: Path) -> None:
    said = connection.execute(QUICK_CHECK).fetchone()[0]
    if said != "ok":
        raise StoreError(
            f"{path} is damaged ({said}). Nothing was merged; `nfh-tui doctor` on it says more"
        )


def _beside(path: Path, suffix: str) -> Path:
    """What SQLite keeps beside a file, links followed."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + suffix)


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino, _beside(path, MEMORY).exists()


def _copied(path: Path, target: Path) -> OtherCopy:
    """A passing copy of a file and of the log beside it."""
    shutil.copyfile(path, target)
    shutil.copyfile(_beside(path, LOG_SUFFIX), _beside(target, LOG_SUFFIX))
    return OtherCopy(path, _begun(connect(target, "ro"), path))


def _is_old_or_unfinished(connection: Connection, path: Path) -> bool:
    version = identify(connection, path)
    if version == 0:
        raise NotOurFileError(f"{path} is empty: it is no database yet")
    return version < SCHEMA_VERSION or bool(batches.unfinished(connection))


def _up_to_date(found: OtherCopy, target: Path) -> OtherCopy:
    """A passing copy, upgraded, with broken-off imports cleared away or finished."""
    from nfh_db import bulk

    with closing(found.connection), translated(target):
        with closing(connect(target, "rwc")) as copy:
            found.connection.backup(copy)
        upgrade.open_writer(target, create=False).close()
    bulk.recover(target)
    new = _open(target)
    for batch in batches.unfinished(new.connection):
        new.connection.close()
        raise StoreError(
            f"{batch.name} is just being brought into {found.path}: wait until that is done, "
            "then merge. Nothing was merged"
        )
    return OtherCopy(found.path, new.connection)
