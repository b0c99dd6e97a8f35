"""The files of an open database: whether those at their names are still those that are open.

SQLite goes on writing into files that have lost their names: such a commit succeeds, and is
gone when the program ends. So the names are looked at before and after every write.
"""

import ctypes
import os
import threading
from pathlib import Path
from weakref import WeakSet

from nfh_db.errors import GoneError

LOG, INDEX = "-wal", "-shm"
"""Ends of the names of the files that SQLite keeps beside a database while it is in use."""

LOG_HEADER = 32
"""Bytes that a write-ahead log begins with; one without more holds nothing."""

MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
SALT = slice(16, 24)
"""In the header: random, and another one each time that the log begins anew."""

Identity = tuple[int, int]

_open: "WeakSet[OpenFiles]" = WeakSet()
_abandoned: "list[OpenFiles]" = []
_lock = threading.Lock()


def file_identity(path: Path | str) -> Identity | None:
    """Which file a path leads to, as device and number; None if to none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # asked before every write: half the time
    except OSError:
        return None
    return found.st_dev, found.st_ino


def beside(path: Path, end: str) -> Path:
    """A file that SQLite keeps beside a database: beside the file itself, not beside a link."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + end)


def state_of(path: Path) -> tuple[tuple[int, ...], ...]:
    """What changes when a database does, for who reads it without SQLite's locks.

    Identity, size and time of the file and of its log; a log without content is as none.
    """
    states = []
    for file, least in ((path, 0), (beside(path, LOG), 1)):
        try:
            found = file.stat()
        except OSError:
            continue
        if found.st_size >= least:
            states.append((found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
    return tuple(states)


def is_without_log(path: Path) -> bool:
    """True where an index lies beside a database, and a log with content does not."""
    index, log = beside(path, INDEX), beside(path, LOG)
    return index.exists() and (not log.exists() or log.stat().st_size == 0)


class OpenFiles:
    """The files of one connection that writes: the database, its log, and the log's index.

    path: of the database, as it was given; database: which file it is. lost: why nothing may
    be written any more, in a sentence; "" while all is well. A database that is put back can
    be written again; a log or an index cannot be trusted again, since others may have written
    without it meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = os.fspath(path)
        self.database = file_identity(path)
        self._beside = {end: str(beside(path, end)) for end in (LOG, INDEX)}
        self._known: dict[str, Identity] = {}
        self._log = -1
        self._size = 0
        self._salt = b""
        self.lost = ""
        self._look()
        with _lock:
            _open.add(self)

    def check(self) -> None:
        """Raise GoneError unless what is written now is found again.

        Called before a write, and after its commit: what happened in between, too.
        """
        if moved := self._moved():
            # The log stays where it was: both go together.
            raise GoneError(
                f"{moved}. Nothing of this change was stored. Put the file back, with the -wal "
                "file that lay beside it, and try again; or leave, and open it where it is now"
            )
        if self.is_lost():
            raise GoneError(self.lost)

    def check_end(self) -> None:
        """Raise GoneError unless what was written is found again. Called before closing."""
        if moved := self._moved():
            raise GoneError(moved)
        if self.is_lost():
            raise GoneError(self.lost)

    def _moved(self) -> str:
        if file_identity(self._name) == self.database:
            return ""
        return f"{self.path} has been moved, deleted or replaced since it was opened"

    def is_lost(self) -> bool:
        """Whether the log or its index is not at its name any more, or was not once."""
        self.lost = self.lost or self._look()
        return bool(self.lost)

    def check_written(self) -> None:
        """As `check`, after a commit: the log has the commit, and is as long as it was."""
        self.check()
        if self._log < 0:
            return
        size, header = os.fstat(self._log).st_size, os.pread(self._log, LOG_HEADER, 0)
        # It is empty where nothing was written since it was made, or since a checkpoint.
        if size and header[:4] not in MAGIC:
            self.lost = self._sentence(LOG, "was emptied or overwritten")
            raise GoneError(self.lost)
        self._size, self._salt = size, header[SALT]

    def _look(self) -> str:
        """Compare the files beside the database with those known; learn those that are new."""
        for end, name in self._beside.items():
            known, found = self._known.get(end), file_identity(name)
            if known is None and found is not None:
                self._known[end] = found
                if end == LOG and hasattr(os, "pread"):
                    self._log = os.open(name, os.O_RDONLY)
            elif known != found:
                return self._sentence(end, "has been deleted or replaced")
        if self._log >= 0:
            size = os.fstat(self._log).st_size
            # One that another program emptied by a checkpoint begins anew, with another salt.
            if 0 < size < self._size and os.pread(self._log, LOG_HEADER, 0)[SALT] == self._salt:
                return self._sentence(LOG, "was cut short")
        return ""

    def _sentence(self, end: str, what: str) -> str:
        return (
            f"{self._beside[end]} {what} while {self.path} was open. This is not saved, and "
            "what was saved in the last minutes may be in no file that can be found again. "
            "Nothing more is written into this database by this program"
        )

    def close(self) -> None:
        """Close what is kept open to look at. It holds no locks."""
        with _lock:
            _open.discard(self)
        if self._log >= 0:
            os.close(self._log)
            self._log = -1


def abandon(connection: object, files: OpenFiles) -> None:
    """Let a connection whose log is lost stay open until the process ends.

    Closing it, SQLite would write the lost log into the database, over what other programs
    have written meanwhile.
    """
    _abandoned.append(files)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def check_others(path: Path) -> None:
    """Raise GoneError where this process has a database open whose files are lost.

    All connections of a process share one index of the log, so that one more would read a new
    log by the index of the lost one.
    """
    with _lock:
        others = tuple(_open)
    if others:
        identity = file_identity(path)
        for files in others:
            if files.database == identity:
                files.check()
