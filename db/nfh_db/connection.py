"""Connections to the SQLite file: how they are opened, written through and fail; the
checkpoint of the write-ahead log, and the size of one write of long work.

Every SQLite error that a person can do something about becomes a sentence here. One
connection writes, in `BEGIN IMMEDIATE`; readers are separate and read-only.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

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
    UnreadableError,
)
from nfh_db.open_files import OpenFiles, abandon, check_others, is_without_log, state_of
from nfh_db.system import Trouble, trouble

if TYPE_CHECKING:
    import sqlite3
else:
    from pysqlite3 import dbapi2 as sqlite3

__all__ = [
    "APPLICATION_ID",
    "SCHEMA_VERSION",
    "STILL",
    "STILL_WITH_LOG",
    "Connection",
    "Readers",
    "Writer",
    "check_sqlite",
    "connect",
    "identify",
    "prepare_writer",
    "readable",
    "sqlite3",
    "transaction",
    "translated",
]

APPLICATION_ID = 0x4E464844
"""Written into the file's header ("NFHD"), so that another program's file is noticed."""

SCHEMA_VERSION = 8
"""The number of migrations this program knows; the file's `user_version`."""

OLDEST_SQLITE = (3, 51, 3)
"""Older ones can corrupt a WAL that several processes reset."""

WAIT_SECONDS = 10.0
"""How long a write waits for another process' write."""

POLL_SECONDS = 0.0005
"""SQLite's own waiting backs off to 100 ms and then misses the gaps a bulk import leaves."""

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
WARY_PRAGMAS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
"""For files that somebody else may have made: neither reads a page of the file."""

FOREIGN_NAMED = 5
"""Foreign parts that are told by their names."""


STILL = "ro&immutable=1"
"""How a file is opened that nobody can write: without a log, and without locks."""

STILL_WITH_LOG = "ro&vfs=unix-none"
"""The same, and its log is read, for which SQLite makes the index in memory: not on Windows."""

ALONE = "PRAGMA locking_mode = EXCLUSIVE"
COUNT_TABLES = "SELECT count(*) FROM sqlite_schema"

_BUSY = (
    BusyError,
    f"{{path}} is locked by another program that has been writing for over "
    f"{WAIT_SECONDS:.0f} seconds. Nothing was changed; try again when it is done",
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
    "the database open. Let that program write all there is to another file (in the workbench: "
    "ctrl+p, Rescue), leave it, and try again",
)
TROUBLES: dict[Trouble, tuple[type[StoreError], str]] = {
    Trouble.FULL: _FULL,
    Trouble.READ_ONLY: (
        FullError,
        "The disk that holds {path} has become read-only. Nothing of this change was stored; "
        "make it writable again and try again",
    ),
    Trouble.UNSHARED: (FullError, f"{{path}} cannot be used where it is. {_NO_LOG}"),
}
"""What is found wrong with the disk where SQLite only says that it cannot read or write."""
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
"""What the errors of SQLite mean to a person, by primary code."""


def check_sqlite() -> None:
    """Raise StoreError if the SQLite at hand is one that can damage a shared file."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(str(part) for part in OLDEST_SQLITE)
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} can damage a database that several programs "
            f"write: {wanted} or newer is needed. Install pysqlite3 0.6.1 or newer"
        )


class Connection(sqlite3.Connection):
    """A connection. files: those that it writes; None for one that only reads."""

    files: OpenFiles | None = None

    def close(self) -> None:
        """Close it, unless closing would write a lost log into the database."""
        files, self.files = self.files, None
        if files is None:
            super().close()
        elif files.is_lost():
            abandon(self, files)
        else:
            files.close()
            super().close()


def connect(path: Path, mode: str) -> Connection:
    """A connection in autocommit mode, usable from any one thread at a time.

    mode: "ro", "rw" or "rwc", as in SQLite's file addresses; further parameters may follow,
    as in "ro&immutable=1".
    """
    check_others(path)
    # Not Path.resolve(): that one fails for a link that leads to itself.
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
    """The schema version of a file of ours; 0 if it holds nothing yet.

    any_parts: also of one whose schema holds what nfh-tui did not make, to be looked at only.
    Raises NotOurFileError for another program's file, NewerFileError for a newer one,
    ForeignPartsError for such parts, StoreError where a table is missing.
    """
    # One statement, and so one state: another process may be making the file just now.
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
    """Raise unless the schema is what the migrations build. A missing index costs time only."""
    from nfh_db import schema_parts
    from nfh_db.messages import visible

    found = schema_parts.foreign(connection, version)
    if found:
        names = [visible(part.key, 80) for part in found[:FOREIGN_NAMED]]
        more = len(found) - len(names)
        raise ForeignPartsError(
            f"{path} holds what nfh-tui did not make, or what was changed since: "
            f"{', '.join(names)}{f' and {more:,} more' if more else ''}. That could run as a "
            "program, so the file was not opened. `nfh-tui doctor` looks at it, and "
            "`nfh-tui doctor --repair` takes out what does not belong there, after a copy"
        )
    gone = [part for part in schema_parts.missing(connection, version) if part.type == "table"]
    if gone:
        raise StoreError(
            f"{path} is damaged: its {gone[0].key} is missing. Go back to a copy made by "
            "`nfh-tui backup`"
        )


def prepare_writer(connection: Connection, path: Path) -> None:
    """Set a connection up for writing: WAL, foreign keys, and waiting done by us.

    Raises FullError where the file system cannot keep a write-ahead log.
    """
    if connection.execute(WAL).fetchone()[0] != "wal":
        raise FullError(_NO_LOG)
    for pragma in WRITER_PRAGMAS:
        connection.execute(pragma)
    # By now the log is open: what stands at its name is what is written.
    connection.execute(COUNT_TABLES).fetchone()
    connection.files = OpenFiles(path)


UNREADABLE = (ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
"""What the making of a record raises of a row that holds what cannot be."""

UNREADABLE_IN_SQL = ("malformed JSON", "string or blob too big")
"""What SQLite says where a statement looks into such a row."""


@contextmanager
def readable(path: Path, errors: tuple[type[Exception], ...] = UNREADABLE) -> Iterator[None]:
    """Turn what rows that somebody edited lead to into a sentence. Raises UnreadableError.

    errors: those of a block that reads; one that also takes what it is given raises fewer.
    """
    try:
        yield
    except errors as error:
        raise UnreadableError(path, error) from error
    except sqlite3.OperationalError as error:
        if str(error) not in UNREADABLE_IN_SQL:
            raise
        raise UnreadableError(path, error) from error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about the file into errors that say what to do."""
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
        seen = trouble(Path(os.path.realpath(path)).parent)
        if seen is not None:
            found = TROUBLES[seen]
        elif is_without_log(path):
            found = _LOG_GONE
    kind, sentence = found
    return kind(sentence.format(path=path, name=path.name, error=error))


@contextmanager
def transaction(connection: Connection) -> Iterator[Connection]:
    """One write: begun at once, committed at the end, undone on any error.

    Waits up to WAIT_SECONDS for another writer; the error then is SQLite's own. Raises
    GoneError where what is written would never be found again, before anything is, and where
    that is found after the commit.
    """
    files = connection.files
    if files is not None:
        files.check()
    _begin(connection)
    try:
        yield connection
        connection.execute("COMMIT")
        if files is not None:
            files.check_written()
    except BaseException:
        # A failed COMMIT may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _begin(connection: Connection) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)
        else:
            return


class Writer:
    """The one connection that writes, for any thread, one at a time.

    wrote: called after each write, outside the lock. refusal: why nothing can be written, in a
    sentence; "" where it can.
    """

    def __init__(
        self, connection: Connection, path: Path, wrote: Callable[[], None], refusal: str = ""
    ) -> None:
        self.refusal = refusal
        self._connection = connection
        self._path = path
        self._wrote = wrote
        self._lock = threading.Lock()
        self._durable = True

    @contextmanager
    def transaction(self, *, durable: bool) -> Iterator[Connection]:
        """One write. durable: the disk has it when this returns, else the system has it.

        Raises ReadOnlyError where nothing can be written, and GoneError where a file is not
        at its name any more.
        """
        if self.refusal:
            raise ReadOnlyError(self.refusal)
        damaged = readable(self._path, (msgspec.MsgspecError,))
        with self._lock, translated(self._path), damaged:
            if durable != self._durable:
                # No effect inside a transaction, so it comes before BEGIN.
                self._connection.execute(SYNCHRONOUS_FULL if durable else SYNCHRONOUS_NORMAL)
                self._durable = durable
            with transaction(self._connection) as connection:
                yield connection
        self._wrote()

    @contextmanager
    def present(self) -> Iterator[Connection]:
        """The connection, to read all that was committed over it, also into lost files."""
        with self._lock, translated(self._path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                # A page that cannot be read has rolled back already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def can_write(self) -> bool:
        """False where the file was opened to be read only, since it cannot be written."""
        try:
            # To begin a write is not refused before there is something to be written.
            self._connection.execute(CHANGE_NOTHING)
        except sqlite3.OperationalError as error:
            return error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY
        return True

    def lost(self) -> str:
        """Why what was written would not be found again, in a sentence; "" where it would."""
        files = self._connection.files
        if files is None:
            return ""
        try:
            files.check()
        except GoneError as error:
            return str(error)
        return ""

    def check_end(self) -> None:
        """Raise GoneError unless what was written is found again, before closing."""
        files = self._connection.files
        if files is not None:
            files.check_end()

    def data_version(self) -> int | None:
        """A number that changes whenever another connection has committed; None in a write.

        To this connection its own commits are no change, however long they took.
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
        """Close the connection, after the write that is under way."""
        with self._lock:
            self._connection.close()


class Readers:
    """Read-only connections, lent to one reader at a time and kept for the next.

    Lending (and not one a thread) also serves results that are read on across threads.

    way: how a file is to be read that is read without locks,
    asked again after somebody has written it all the same; None for the usual way.
    """

    def __init__(
        self,
        path: Path,
        mode: str = "ro",
        *,
        way: Callable[[], str] | None = None,
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
    def lend(self, *, one_state: bool = False) -> Iterator[Connection]:
        """A read-only connection. one_state: all that is read is of one moment.

        Raises StoreError where a file that is read without locks was written meanwhile, and
        UnreadableError for a row that holds what nfh-tui does not write.
        """
        with translated(self._path), readable(self._path):
            connection = self._take()
            try:
                if one_state:
                    connection.execute("BEGIN")
                yield connection
                if self._still and state_of(self._path) != self._state:
                    raise StoreError(
                        f"{self._path} was written by another program while it was read. "
                        "Nothing is known to be wrong with it; try again"
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
        """Leave connections that know the file as it was to those who still read over them."""
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
        """Close all of them, lent ones too."""
        with self._lock:
            self._closed = True
            for connection in self._all:
                connection.close()
            self._free.clear()
            self._all.clear()


# Carrying the write-ahead log over into the database, beside the writing.
#
# SQLite would do it inside whichever commit fills the log, and that commit, a person's
# answer, would take ten times as long as the others.

WRITES_BETWEEN = 64
"""Writes of this store between two checkpoints: some 600 pages of log."""

PASSIVE = "PRAGMA wal_checkpoint(PASSIVE)"
"""As much as can be done without making anybody wait."""


class Checkpointer:
    """A thread with a connection of its own; it starts when there is something to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writes = 0
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = False
        self._lock = threading.Lock()

    def wrote(self) -> None:
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
        """Stop, after the checkpoint that is under way."""
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
            # The log keeps everything: another checkpoint, or closing, carries it over, and
            # where the disk is full, or the log lost, the next write says so to somebody.
            return


PAUSE_SECONDS = 0.003
"""Between two writes of a long run: whoever waits looks every half a millisecond, and is to
find a gap."""

SHORTEST = 1e-6
"""Seconds: a clock that has not moved is no division by zero."""


def next_stretch(
    size: int, seconds: float, *, wanted: float, smallest: int, largest: int
) -> int:
    """How many rows the next write should have, where one of `size` took `seconds`.

    As many as take `wanted` seconds, but at most twice as many as before: one lucky write
    says little.
    """
    fitting = int(size * wanted / max(seconds, SHORTEST))
    return max(smallest, min(fitting, 2 * size, largest))
