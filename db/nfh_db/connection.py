"""Connections to the SQLite file: opening, transactions, error messages, checkpoints of the
write-ahead log, step-wise writes, and the check that the files of an open database still have
their names.

SQLite errors that a person can act on become `StoreError`s with a sentence. One connection
writes, in `BEGIN IMMEDIATE`; the readers are separate and read-only.
"""

import ctypes
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

import msgspec

from nfh_db.errors import (
    BusyError,
    DamagedFileError,
    ForeignPartsError,
    FullError,
    GoneError,
    NewerFileError,
    NotOurFileError,
    ReadOnlyError,
    StoreError,
    UnreadableRowError,
)
from nfh_db.system import FolderProblem, probe

if TYPE_CHECKING:
    import sqlite3 as sqlite3  # noqa: PLC0414 - other modules import it from here
else:
    from pysqlite3 import dbapi2 as sqlite3

T = TypeVar("T")

# --- the files of an open database ------------------------------------------------------------
#
# SQLite goes on writing to files that were deleted or replaced: such a commit succeeds, and is
# lost when the program ends. So the names are checked before and after every write.

LOG, INDEX = "-wal", "-shm"
"""Suffixes of the files that SQLite keeps beside a database while it is in use."""

LOG_HEADER = 32
"""Bytes of the header of a write-ahead log. A log without more than that is empty."""

MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
SALT = slice(16, 24)
"""Position in the header: random, and changed whenever the log is restarted."""

Identity = tuple[int, int]

_open: "WeakSet[OpenFiles]" = WeakSet()
_abandoned: "list[OpenFiles]" = []
_lock = threading.Lock()


def file_identity(path: Path | str) -> Identity | None:
    """Device and inode of the file at a path; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # asked before every write: half the time
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sidecar(path: Path, end: str) -> Path:
    """The path of a sidecar file of a database. Links are followed, as SQLite does."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + end)


def state_of(path: Path) -> tuple[tuple[int, ...], ...]:
    """A fingerprint of a database, for readers without SQLite's locks.

    Identity, size and modification time of the file and its log; an empty log counts as none.
    """
    states = []
    for file, least in ((path, 0), (sidecar(path, LOG), 1)):
        try:
            found = file.stat()
        except OSError:
            continue
        if found.st_size >= least:
            states.append((found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
    return tuple(states)


FRAMES_IN_INDEX = slice(16, 20)
"""Where an index of a log counts its frames, in the byte order of the machine: mxFrame in
https://www.sqlite.org/walformat.html, section 2.1. It is 0 in the index of a new log."""


def is_without_log(path: Path) -> bool:
    """True if the log index counts frames and there is no log, or an empty one."""
    index, log = sidecar(path, INDEX), sidecar(path, LOG)
    if log.exists() and log.stat().st_size > 0:
        return False
    try:
        counted = index.read_bytes()[FRAMES_IN_INDEX]
    except OSError:
        return False
    return any(counted)


class OpenFiles:
    """The files of a writing connection: the database, its log, and the index of the log.

    A database file that was moved away and put back can be written again. A log or an index
    cannot: other programs may have written without it in the meantime.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = os.fspath(path)
        self.database = file_identity(path)
        """The database file when it was opened."""
        self._beside = {end: str(sidecar(path, end)) for end in (LOG, INDEX)}
        self._known: dict[str, Identity] = {}
        self._log = -1
        self._written = (0, b"")
        """Size and salt of the log after the last commit, replaced together: other threads
        compare the log with them without a lock."""
        self.lost = ""
        """Why nothing may be written any more, in a sentence; "" if writing is possible."""
        self._look()
        with _lock:
            _open.add(self)

    def check(self) -> None:
        """Raise GoneError if writes are lost. Called before a write and after its commit."""
        if moved := self._moved():
            # The log stays where it was: both go together.
            raise GoneError(
                f"{moved}. Nothing of this change was stored. Put the file back together with "
                "its -wal file and try again; or quit, and open it where it is now"
            )
        if self.is_lost():
            raise GoneError(self.lost)

    def check_end(self) -> None:
        """Raise GoneError if what was written is lost. Called before closing."""
        if moved := self._moved():
            raise GoneError(moved)
        if self.is_lost():
            raise GoneError(self.lost)

    def _moved(self) -> str:
        if file_identity(self._name) == self.database:
            return ""
        return f"{self.path} has been moved, deleted or replaced since it was opened"

    def is_lost(self) -> bool:
        """Whether the log or its index has, or at any earlier check had, lost its name."""
        # Never back to "": another thread may have found a loss in the meantime.
        if not self.lost and (found := self._look()):
            self.lost = found
        return bool(self.lost)

    def check_written(self) -> None:
        """As `check`, after a commit: also that the log was not emptied or overwritten."""
        self.check()
        if self._log < 0:
            return
        # The header first: a log that another program restarts in between has another salt.
        header, size = os.pread(self._log, LOG_HEADER, 0), os.fstat(self._log).st_size
        # The log is empty if nothing was written since its creation or the last checkpoint.
        if header and header[:4] not in MAGIC:
            self.lost = self._sentence(LOG, "was emptied or overwritten")
            raise GoneError(self.lost)
        self._written = (size, header[SALT])

    def _look(self) -> str:
        """Compare the sidecar files with those known, note new ones, and describe a loss."""
        for end, name in self._beside.items():
            known, found = self._known.get(end), file_identity(name)
            if known is None and found is not None:
                self._known[end] = found
                if end == LOG and hasattr(os, "pread"):
                    self._log = os.open(name, os.O_RDONLY)
            elif known != found:
                return self._sentence(end, "has been deleted or replaced")
        if self._log >= 0:
            # Before the size is asked for: a commit of another thread makes the log longer.
            written, salt = self._written
            size = os.fstat(self._log).st_size
            # A log that another program emptied by a checkpoint restarts with another salt.
            if 0 < size < written and os.pread(self._log, LOG_HEADER, 0)[SALT] == salt:
                return self._sentence(LOG, "was cut short")
        return ""

    def _sentence(self, end: str, what: str) -> str:
        return (
            f"{self._beside[end]} {what} while {self.path} was open. This change is not "
            "saved, and changes of the last minutes may be lost. This program writes nothing "
            "more into this database"
        )

    def close(self) -> None:
        """Close the log, which is open for the check only and holds no locks."""
        with _lock:
            _open.discard(self)
        if self._log >= 0:
            os.close(self._log)
            self._log = -1


def abandon(connection: object, files: OpenFiles) -> None:
    """Keep a connection whose log is lost open until the process ends.

    SQLite would otherwise checkpoint the lost log into the database when it closes, and
    overwrite what other programs have written since.
    """
    _abandoned.append(files)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def check_others(path: Path) -> None:
    """Raise GoneError if this process has this database open and its files are lost.

    The connections of a process share one log index: a further one would read the new log by
    the index of the lost one.
    """
    # Under the lock, so that no other thread closes the files meanwhile.
    with _lock:
        identity = file_identity(path) if _open else None
        for files in _open:
            if files.database == identity:
                files.check()


# --- connections ------------------------------------------------------------------------------

APPLICATION_ID = 0x4E464844
"""The `application_id` in the file header ("NFHD"); it identifies our files."""

SCHEMA_VERSION = 14
"""The number of migrations this program knows; the file's `user_version`."""

OLDEST_SQLITE = (3, 51, 3)
"""Older ones can corrupt a WAL that several processes reset."""

WAIT_SECONDS = 10.0
"""How long a transaction waits for the writer of another process."""

POLL_SECONDS = 0.0005
"""Interval of the retries. SQLite's own busy handler backs off to 100 ms, and would miss the
pauses between the transactions of a bulk import."""

READ_TIMEOUT_SECONDS = 5.0

IDENTIFY = """
SELECT (SELECT application_id FROM pragma_application_id),
    (SELECT user_version FROM pragma_user_version),
    (SELECT count(*) FROM sqlite_schema)"""
CHANGE_NOTHING = "DELETE FROM setting WHERE false"
READ_DATA_VERSION = "PRAGMA data_version"
SYNCHRONOUS_FULL = "PRAGMA synchronous = FULL"
SYNCHRONOUS_NORMAL = "PRAGMA synchronous = NORMAL"
WAL = "PRAGMA journal_mode = WAL"
WRITER_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA busy_timeout = 0",
    "PRAGMA wal_autocheckpoint = 0",
)
WARY_PRAGMAS = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")
"""For files of unknown origin. Neither pragma reads a page of the file."""

FOREIGN_NAMED = 5
"""Foreign schema parts that the message names."""


STILL = "ro&immutable=1"
"""Mode for a file that nobody can write: without a log and without locks."""

STILL_WITH_LOG = "ro&vfs=unix-none"
"""As STILL, but the log is read, with its index in memory. Not available on Windows."""

ALONE = "PRAGMA locking_mode = EXCLUSIVE"
COUNT_TABLES = "SELECT count(*) FROM sqlite_schema"

_BUSY = (
    BusyError,
    f"{{path}} is locked by another program that has been writing for over {WAIT_SECONDS:.0f} "
    "seconds. Nothing was changed; try again when that program is done",
)
_FULL = (
    FullError,
    "The disk that holds {path} is full. Nothing of this change was stored; make room and "
    "try again",
)
_NOT_WRITABLE = (
    FullError,
    "{path} cannot be written: the file, its folder or the disk is read-only, or belongs to "
    "somebody else. Nothing was changed",
)
_NO_LOG = (
    "The folder's file system cannot hold a database that several programs share: SQLite's "
    "write-ahead log does not work there. Put it on a disk of this machine"
)
_LOG_GONE = (
    GoneError,
    "{path} cannot be read: its -wal file seems to have been deleted while another program has "
    "the database open. In that program, write everything to another file (in the workbench: "
    "ctrl+p, Rescue), quit it, and try again",
)
TROUBLES: dict[FolderProblem, tuple[type[StoreError], str]] = {
    FolderProblem.FULL: _FULL,
    FolderProblem.READ_ONLY: (
        FullError,
        "The disk that holds {path} has become read-only. Nothing of this change was stored; "
        "make it writable again and try again",
    ),
    FolderProblem.UNSHARED: (FullError, f"{{path}} cannot be used where it is. {_NO_LOG}"),
}
"""Errors by the problem of the disk, where SQLite reports only an I/O error."""
SENTENCES: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: _NOT_WRITABLE,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_IOERR: (
        FullError,
        "{path} cannot be read or written: the system reports “{error}”. Check the disk, and "
        "whether it is full",
    ),
    sqlite3.SQLITE_NOTADB: (
        NotOurFileError,
        "{path} is not a database. Give the path of an nfh-tui database, or of a new file",
    ),
    sqlite3.SQLITE_CORRUPT: (
        DamagedFileError,
        "{path} is damaged ({error}). Copy it away and go back to the newest {name}.backup-… "
        "beside it, or to a copy made by `nfh-tui backup`",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        StoreError,
        "This cannot be stored: it names an anchor, a person, a model or a job "
        "that is not in {path} ({error})",
    ),
}
"""Errors by SQLite's primary result code."""


def check_sqlite() -> None:
    """Raise StoreError if this version of SQLite can damage a shared file."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(str(part) for part in OLDEST_SQLITE)
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} can damage a database that several programs "
            f"write: {wanted} or newer is needed. Install pysqlite3 0.6.1 or newer"
        )


def _nfc(raw: bytes | None) -> bytes | None:
    if raw is None:
        return None
    text = raw.decode("utf-8", "surrogateescape")
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogateescape")


class Connection(sqlite3.Connection):
    """A connection to a database file."""

    files: OpenFiles | None = None
    """The files that it writes; None for a read-only connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as SQLite's
        super().__init__(*args, **kwargs)
        self.create_function("nfc", 1, _nfc, deterministic=True)

    def close(self) -> None:
        """Close it, unless that would checkpoint a lost log into the database."""
        files, self.files = self.files, None
        if files is None:
            super().close()
        elif files.is_lost():
            abandon(self, files)
        else:
            files.close()
            super().close()


def connect(path: Path, mode: str) -> Connection:
    """A connection in autocommit mode, for one thread at a time.

    mode: "ro", "rw" or "rwc" as in SQLite URIs; further parameters may follow, as in
    "ro&immutable=1". Raises GoneError if this process has lost files of the database.
    """
    check_others(path)
    # Path.resolve() fails for a link to itself; realpath does not.
    connection = sqlite3.connect(
        f"{Path(os.path.realpath(path)).as_uri()}?mode={mode}",
        uri=True,
        timeout=READ_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    for pragma in WARY_PRAGMAS:
        connection.execute(pragma)
    if mode == STILL_WITH_LOG:
        connection.execute(ALONE)
    return connection


def identify(connection: Connection, path: Path, *, any_parts: bool = False) -> int:
    """The schema version of a database of ours; 0 if it is empty.

    any_parts: accept a schema with foreign or missing parts, for inspection only. Raises
    NotOurFileError for the file of another program, NewerFileError for a newer schema,
    ForeignPartsError for foreign schema parts, StoreError if a table is missing.
    """
    # One statement reads one state: another process may be creating the file.
    application, version, objects = connection.execute(IDENTIFY).fetchone()
    if application == version == objects == 0:
        return 0
    if application != APPLICATION_ID:
        raise NotOurFileError(
            f"{path} is a database of another program, not of nfh-tui. "
            "Give the path of an nfh-tui database, or of a new file"
        )
    if version > SCHEMA_VERSION:
        raise NewerFileError(
            f"{path} was written by a newer nfh-tui (its schema is version {version}, this "
            f"program knows {SCHEMA_VERSION}). Update nfh-tui; the file was not touched"
        )
    if not any_parts:
        _check_parts(connection, path, version)
    return int(version)


def _check_parts(connection: Connection, path: Path, version: int) -> None:
    """Raise unless the schema is the migrations' one. Missing indexes only cost time."""
    from nfh_db import schema_parts
    from nfh_db.messages import visible

    found = schema_parts.foreign(connection, version)
    if found:
        names = [visible(part.key, 80) for part in found[:FOREIGN_NAMED]]
        more = len(found) - len(names)
        raise ForeignPartsError(
            f"{path} holds parts that nfh-tui did not make, or that were changed since: "
            f"{', '.join(names)}{f' and {more:,} more' if more else ''}. Such parts can run "
            "as a program, so the file was not opened. `nfh-tui doctor` inspects it, and "
            "`nfh-tui doctor --repair` makes a copy and removes what does not belong there"
        )
    gone = [part for part in schema_parts.missing(connection, version) if part.type == "table"]
    if gone:
        raise StoreError(
            f"{path} is damaged: its {gone[0].key} is missing. Go back to a copy made by "
            "`nfh-tui backup`"
        )


def prepare_writer(connection: Connection, path: Path) -> None:
    """Set a connection up for writing: WAL, foreign keys, no busy timeout, no auto-checkpoint.

    Raises FullError if the file system does not support a write-ahead log.
    """
    if _when_free(connection, WAL).fetchone()[0] != "wal":
        raise FullError(_NO_LOG)
    for pragma in WRITER_PRAGMAS:
        connection.execute(pragma)
    # This read opens the log, so that the file at its name is the one that is written.
    _when_free(connection, COUNT_TABLES).fetchone()
    connection.files = OpenFiles(path)


def last_id(rows: Sequence[tuple[int, ...]], after: int) -> int:
    """The id of the last row of a page, after which the next page begins.

    Raises SQLite's error of a damaged file where the ids do not rise: the reading, page by page
    in the order of the ids, would never end.
    """
    last = rows[-1][0]
    if last <= after:
        error = sqlite3.DatabaseError("the rows of a table are not in the order of their ids")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
    return last


def pages(connection: Connection, statement: str, size: int) -> Iterator[list[Any]]:
    """Yield the rows of a statement in the order of their ids, up to `size` at a time.

    statement: with `:after` and `:limit`; its first column is the id. Raises as `last_id` does.
    """
    after = 0
    while rows := connection.execute(statement, {"after": after, "limit": size}).fetchall():
        yield rows
        after = last_id(rows, after)


UNREADABLE = (ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
"""Exceptions of a record's constructor or decoder for a row with invalid values."""

UNREADABLE_IN_SQL = ("malformed JSON", "string or blob too big")
"""Messages of SQLite for a statement that evaluates such a row."""


@contextmanager
def readable(path: Path, errors: tuple[type[Exception], ...] = UNREADABLE) -> Iterator[None]:
    """Raise UnreadableRowError for the errors that invalid rows of the file lead to.

    errors: the exceptions that mean invalid rows. A block that also handles values of the
    caller names fewer, lest a caller's mistake be reported as damage.
    """
    try:
        yield
    except errors as error:
        raise UnreadableRowError(path, error) from error
    except sqlite3.OperationalError as error:
        if str(error) not in UNREADABLE_IN_SQL:
            raise
        raise UnreadableRowError(path, error) from error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite errors into the StoreErrors of `SENTENCES`; others pass through."""
    try:
        yield
    except sqlite3.Error as error:
        found = _translate(error, path)
        if found is None:
            raise
        raise found from error


def _translate(error: sqlite3.Error, path: Path) -> StoreError | None:
    code: int = getattr(error, "sqlite_errorcode", 0)
    found = SENTENCES.get(code & 0xFF)
    if found is None:
        return None
    if code & 0xFF == sqlite3.SQLITE_IOERR:
        seen = probe(Path(os.path.realpath(path)).parent)
        if seen is not None:
            found = TROUBLES[seen]
        elif is_without_log(path):
            found = _LOG_GONE
    kind, sentence = found
    return kind(sentence.format(path=path, name=path.name, error=error))


@contextmanager
def transaction(connection: Connection) -> Iterator[Connection]:
    """A write transaction: begun immediately, committed at the end, rolled back on any error.

    Waits up to WAIT_SECONDS for another writer, then raises SQLite's busy error. Raises
    GoneError before the transaction, or after its commit, if the written data is lost.
    """
    files = connection.files
    if files is not None:
        files.check()
    try:
        # Within the block: a signal may raise right after the transaction has begun.
        _when_free(connection, "BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
        if files is not None:
            files.check_written()
    except BaseException:
        # A failed COMMIT may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _when_free(connection: Connection, statement: str) -> sqlite3.Cursor:
    """Execute a statement as soon as no other connection holds a lock that it needs.

    Waits up to WAIT_SECONDS. SQLite's own timeout does not hold where two connections would
    wait for each other, as in changing a new file to WAL mode
    (https://www.sqlite.org/c3ref/busy_handler.html).
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return connection.execute(statement)
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


class Writer:
    """The one connection that writes. Threads take turns.

    wrote: called after each transaction, outside the lock.
    """

    def __init__(
        self, connection: Connection, path: Path, wrote: Callable[[], None], refusal: str = ""
    ) -> None:
        self.refusal = refusal
        """Why nothing can be written, in a sentence; "" if writing is possible."""
        self._connection = connection
        self._path = path
        self._wrote = wrote
        self._lock = threading.Lock()
        self._durable = True

    @contextmanager
    def transaction(self, *, durable: bool) -> Iterator[Connection]:
        """A write transaction.

        durable: synced to the disk when this returns. Else a power cut may lose it, and a crash
        of the program does not. Raises ReadOnlyError if nothing can be written, GoneError if a
        file of the database has been moved or deleted.
        """
        if self.refusal:
            raise ReadOnlyError(self.refusal)
        damaged = readable(self._path, (msgspec.MsgspecError,))
        with self._lock, translated(self._path), damaged:
            if durable != self._durable:
                # The pragma has no effect inside a transaction.
                self._connection.execute(SYNCHRONOUS_FULL if durable else SYNCHRONOUS_NORMAL)
                self._durable = durable
            with transaction(self._connection) as connection:
                yield connection
        self._wrote()

    @contextmanager
    def present(self) -> Iterator[Connection]:
        """The connection in a read transaction: also sees what was committed to lost files."""
        with self._lock, translated(self._path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                # An unreadable page has already caused a rollback.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def can_write(self) -> bool:
        """False if SQLite fell back to read-only access, since the file is not writable."""
        try:
            # BEGIN succeeds on a read-only file; the first statement that writes fails.
            self._connection.execute(CHANGE_NOTHING)
        except sqlite3.OperationalError as error:
            return error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY
        return True

    def lost(self) -> str:
        """Why what is written would be lost, in a sentence; "" if it would not."""
        files = self._connection.files
        if files is None:
            return ""
        try:
            files.check()
        except GoneError as error:
            return str(error)
        return ""

    def check_end(self) -> None:
        """Raise GoneError if what was written is lost. Called before closing."""
        files = self._connection.files
        if files is not None:
            files.check_end()

    def data_version(self) -> int | None:
        """A number that changes when another connection has committed; None during a write.

        The commits of this connection do not change it.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            with translated(self._path):
                version: int = self._connection.execute(READ_DATA_VERSION).fetchone()[0]
                return version
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the connection, after the current transaction."""
        with self._lock:
            self._connection.close()


class Readers:
    """A pool of read-only connections.

    A pool, and not a connection per thread, allows a cursor to be read by several threads.

    way: returns the mode for a file that is read without locks. It is called again after such a
    file was written all the same; None for the mode "ro".
    """

    def __init__(
        self, path: Path, mode: str = "ro", *, way: Callable[[], str] | None = None
    ) -> None:
        self._path = path
        self._mode = mode
        self._way = way
        self._state = state_of(path) if self._still else ()
        self._lock = threading.Lock()
        self._free: list[Connection] = []
        self._all: list[Connection] = []
        self._closed = False
        self._free.append(self._open())

    @property
    def _still(self) -> bool:
        return self._mode in (STILL, STILL_WITH_LOG)

    def _open(self) -> Connection:
        connection = connect(self._path, self._mode)
        with self._lock:
            if self._closed:
                connection.close()
                raise StoreError(f"{self._path} has been closed")
            self._all.append(connection)
        return connection

    @contextmanager
    def connection(self, *, one_state: bool = False) -> Iterator[Connection]:
        """A read-only connection. one_state: in a read transaction, so that all reads agree.

        Raises StoreError if a file that is read without locks was written in the meantime,
        UnreadableRowError for a row with values that nfh-tui does not write.
        """
        with translated(self._path), readable(self._path):
            connection = self._take()
            try:
                if one_state:
                    connection.execute("BEGIN")
                yield connection
                if self._still and state_of(self._path) != self._state:
                    raise StoreError(
                        f"{self._path} was written by another program while it was read. Try "
                        "again"
                    )
            finally:
                self._take_back(connection)

    def _take(self) -> Connection:
        with self._lock:
            if self._closed:
                raise StoreError(f"{self._path} has been closed")
            if self._way and self._still and state_of(self._path) != self._state:
                self._begin_anew(self._way)
            connection = self._free.pop() if self._free else None
        return connection or self._open()

    def _begin_anew(self, way: Callable[[], str]) -> None:
        """Drop the pool for the changed file. Connections in use go on with the old state."""
        for connection in self._free:
            connection.close()
        self._free, self._all = [], []
        state = state_of(self._path)
        self._mode = way()
        self._state = state

    def _take_back(self, connection: Connection) -> None:
        with self._lock:
            if self._closed:
                return
            if connection not in self._all:
                connection.close()
                return
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._free.append(connection)

    def close(self) -> None:
        """Close all connections, also those in use."""
        with self._lock:
            self._closed = True
            for connection in self._all:
                connection.close()
            self._free.clear()
            self._all.clear()


# Checkpoints of the write-ahead log, in a background thread.
#
# SQLite's automatic checkpoint runs inside the commit that fills the log; that commit, perhaps
# of a person's answer, would take ten times as long as the others.

WRITES_BETWEEN = 64
"""Transactions between two checkpoints: some 600 pages of log."""

PASSIVE = "PRAGMA wal_checkpoint(PASSIVE)"
"""Transfers as many pages as possible without blocking readers or writers."""


class Checkpointer:
    """Runs checkpoints in a thread with its own connection. The first one starts the thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writes = 0
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = False
        self._lock = threading.Lock()

    def count_write(self) -> None:
        """Count a write."""
        with self._lock:
            self._writes += 1
            if self._writes % WRITES_BETWEEN or self._stop:
                return
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="nfh-checkpoint", daemon=True
                )
                self._thread.start()
        self._wanted.set()

    def close(self) -> None:
        """Stop, after the current checkpoint."""
        with self._lock:
            self._stop = True
            thread = self._thread
        self._wanted.set()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._stop:
            self._wanted.wait()
            self._wanted.clear()
            if not self._stop:
                self._carry_over()

    def _carry_over(self) -> None:
        try:
            connection = connect(self._path, "rw")
            try:
                connection.execute(PASSIVE)
            finally:
                connection.close()
        except (sqlite3.Error, GoneError):
            # Nothing is lost: the log keeps everything until the next checkpoint or the close.
            # If the disk is full, or the log lost, the next write reports it.
            return


# --- long runs of short writes ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteSize:
    """How many rows one transaction of a long run writes, and how long it should take."""

    first: int
    """Rows of the first transaction."""

    smallest: int
    largest: int
    seconds: float
    """What one transaction should take: a person's answer may have to wait for it."""

    pause: float = 0.001
    """Seconds between two transactions. A waiting writer polls every POLL_SECONDS."""

    def next(self, rows: int, seconds: float) -> int:
        """The number of rows for the next transaction, where one of `rows` took `seconds`."""
        # A clock with a coarse tick may report no time at all.
        fitting = int(rows * self.seconds / max(seconds, 1e-6))
        # At most twice as many as before: a single fast write proves little.
        return max(self.smallest, min(fitting, 2 * rows, self.largest))


def write_in_steps(
    begin: Callable[[], AbstractContextManager[Connection]],
    rows: Sequence[T],
    write: Callable[[Connection, Sequence[T]], bool | None],
    size: WriteSize,
) -> bool:
    """Write `rows` in order, some at a time, each step in a transaction of its own.

    begin: starts a transaction. write: returns False to stop. Returns False if it did. After a
    crash, or an exception of `write`, the steps before are stored and the current one is not.
    """
    done, count = 0, size.first
    while done < len(rows):
        some = rows[done : done + count]
        with begin() as connection:
            # The wait for another writer does not count.
            begun = time.perf_counter()
            if write(connection, some) is False:
                return False
        done += len(some)
        count = size.next(count, time.perf_counter() - begun)
        time.sleep(size.pause)
    return True


class Connections:
    """The connections of an open database: a pool of readers, and one writer."""

    def __init__(self, path: Path, readers: Readers, writer: Writer) -> None:
        self.path = path
        self._readers = readers
        self._writer = writer

    def reading(self, *, one_state: bool = True) -> AbstractContextManager[Connection]:
        """A read-only connection. one_state: in a read transaction, so that all reads agree."""
        return self._readers.connection(one_state=one_state)

    def durable_write(self) -> AbstractContextManager[Connection]:
        """A transaction that is synced to the disk: it survives a power cut."""
        return self._writer.transaction(durable=True)

    def fast_write(self) -> AbstractContextManager[Connection]:
        """A transaction that a power cut may lose. A crash of the program does not."""
        return self._writer.transaction(durable=False)


class Repository:
    """The operations of an open database on one subject. All methods are thread-safe."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections


P = ParamSpec("P")


def _method_with(
    begin: Callable[[Connections], AbstractContextManager[Connection]],
) -> Callable[
    [Callable[Concatenate[Connection, P], T]], Callable[Concatenate[Repository, P], T]
]:
    """A decorator that makes methods of functions whose first parameter is a connection."""

    def method_of(
        function: Callable[Concatenate[Connection, P], T],
    ) -> Callable[Concatenate[Repository, P], T]:
        @wraps(function)
        def method(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
            with begin(self.connections) as connection:
                return function(connection, *args, **kwargs)

        return method

    return method_of


reads = _method_with(lambda connections: connections.reading())
writes_durably = _method_with(lambda connections: connections.durable_write())
writes_fast = _method_with(lambda connections: connections.fast_write())


def streams(
    function: Callable[Concatenate[Connection, P], Iterator[T]],
) -> Callable[Concatenate[Repository, P], Iterator[T]]:
    """Make a method of a generator function. All that it yields is of one read transaction."""

    @wraps(function)
    def method(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        with self.connections.reading() as connection:
            yield from function(connection, *args, **kwargs)

    return method


def with_path(
    function: Callable[Concatenate[Path, P], T],
) -> Callable[Concatenate[Repository, P], T]:
    """Make a method of a function that opens its own connections to the file."""

    @wraps(function)
    def method(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(self.connections.path, *args, **kwargs)

    return method
