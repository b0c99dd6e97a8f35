"""The database file: creation, upgrade, opening, read-only snapshots, backup and rescue."""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from types import TracebackType
from typing import Self

from nfh_db import batches, connection, schema_parts, system
from nfh_db.connection import (
    COUNT_TABLES,
    INDEX,
    LOG,
    LOG_HEADER,
    SCHEMA_VERSION,
    STILL,
    STILL_WITH_LOG,
    Checkpointer,
    Connection,
    Connections,
    Readers,
    Writer,
    check_sqlite,
    connect,
    identify,
    prepare_writer,
    sidecar,
    sqlite3,
    state_of,
    translated,
)
from nfh_db.errors import (
    DamagedFileError,
    FullError,
    GoneError,
    NoFileError,
    NotOurFileError,
    StoreError,
)
from nfh_db.messages import write_reason
from nfh_db.system import FolderProblem, path_beside, probe, sweep, sync_folder

# Read-only snapshots: a read transaction that writes no byte to the database.
#
# Other processes may write at the same time; the write-ahead log keeps the snapshot stable.
# Files in places that are not writable can be read, too.

BEGIN = "BEGIN"
BESIDE = (LOG, INDEX)

NO_PLACE_FOR_A_LOG = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)
"""Result codes for sidecar files that cannot be created. SQLite may report IOERR instead."""

UNREADABLE_REASONS = {
    FolderProblem.FULL: "its disk is full",
    FolderProblem.READ_ONLY: "its disk is read-only",
    FolderProblem.UNSHARED: "SQLite's write-ahead log does not work there",
}


MADE_BY_OLDER = (
    "{path} was made by an older nfh-tui and must be upgraded before it can be read. Copy it "
    "to a folder of yours (`nfh-tui backup FOLDER` does), and use the copy"
)
"""The message for a file that is not writable."""


class LogUnreadableError(FullError):
    """The write-ahead log of a database cannot be read.

    unseen: the message if the database is shown without the log.
    """

    def __init__(self, path: Path, log: Path) -> None:
        what = f"{log} holds changes that {path} does not have yet, and cannot be read"
        how = "Copy both files to a folder of yours, and use the copy"
        super().__init__(f"{what}. {how}")
        self.unseen = f"{what}: they are not shown. {how}"


@dataclass(frozen=True, slots=True)
class ReadAccess:
    """How a file is read."""

    mode: str
    """For `connect`."""

    version: int
    """Of its schema; 0 if it is empty."""

    unseen: str = ""
    """What cannot be shown, in a sentence; "" if all is shown."""


@contextmanager
def at_one_moment(
    path: Path, *, any_text: bool = False, still: bool = False
) -> Iterator[tuple[Connection, str]]:
    """A connection in a read transaction, and its mode: "ro", or one without locks if the
    folder is not writable, or if `still` is set.

    any_text: decode invalid UTF-8 with surrogate escapes. Raises StoreError.
    """
    alone = not any(sidecar(path, end).exists() for end in BESIDE)
    with translated(path):
        try:
            if still:
                connection, mode = _begin(path, STILL, any_text=any_text), STILL
            else:
                connection, mode = _begun(path, any_text=any_text)
            with closing(connection):
                yield connection, mode
        finally:
            if alone:
                _tidy(path)


def holds_without_log(path: Path) -> bool:
    """True if a log with changes lies beside a file which is sound in itself."""
    if _size(sidecar(path, LOG)) <= LOG_HEADER:
        return False
    try:
        with closing(_begin(path, STILL, any_text=True)) as connection:
            said = connection.execute(QUICK_CHECK).fetchone()[0]
            return said == "ok" and connection.execute(FOREIGN_KEY_CHECK).fetchone() is None
    except (sqlite3.Error, StoreError):
        return False


def read_access(path: Path) -> ReadAccess:
    """How to open a file for reading only. Raises StoreError."""
    try:
        with at_one_moment(path) as (connection, mode):
            return ReadAccess(mode, identify(connection, path))
    except LogUnreadableError as error:
        with translated(path), closing(_begin(path, STILL, any_text=False)) as connection:
            return ReadAccess(STILL, identify(connection, path), error.unseen)


def connect_to_read(path: Path) -> Connection:
    """A connection for reading only. Raises StoreError."""
    return connect(path, read_access(path).mode)


def why_not_written(path: Path) -> str:
    """Why a database is not writable, in a few words."""
    seen = probe(Path(os.path.realpath(path)).parent)
    if seen is not None:
        return UNREADABLE_REASONS[seen]
    return "the file or its folder is read-only, or belongs to somebody else"


def _begun(path: Path, *, any_text: bool) -> tuple[Connection, str]:
    try:
        return _begin(path, "ro", any_text=any_text), "ro"
    except sqlite3.OperationalError as error:
        if not _no_place(error, path):
            raise
    log = sidecar(path, LOG)
    if not log.exists() or log.stat().st_size <= LOG_HEADER:
        return _begin(path, STILL, any_text=any_text), STILL
    try:
        return _begin(path, STILL_WITH_LOG, any_text=any_text), STILL_WITH_LOG
    except sqlite3.OperationalError as error:
        raise LogUnreadableError(path, log) from error


def _no_place(error: sqlite3.OperationalError, path: Path) -> bool:
    """Whether an error means that the sidecar files cannot be created."""
    code = error.sqlite_errorcode & 0xFF
    if code == sqlite3.SQLITE_IOERR:
        return probe(Path(os.path.realpath(path)).parent) is not None
    return code in NO_PLACE_FOR_A_LOG


def _begin(path: Path, mode: str, *, any_text: bool) -> Connection:
    connection = connect(path, mode)
    if any_text:
        connection.text_factory = _text
    try:
        connection.execute(BEGIN)
        connection.execute(COUNT_TABLES).fetchone()
    except UnicodeDecodeError as error:
        # Decoding the message of SQLite failed: it quotes a broken statement of the schema.
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
    """Make SQLite remove the empty sidecar files that the read created.

    It does so when the last connection closes, and writes nothing to the database then.
    """
    try:
        with closing(connect(path, "rw")) as connection:
            connection.execute(COUNT_TABLES).fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return


# Opening a database file: it is created on request, upgraded after a backup, or refused.
#
# sqlite-utils is imported only for a migration: the import takes a quarter of a second, and at
# most starts the file is up to date.

SET_APPLICATION_ID = f"PRAGMA application_id = {connection.APPLICATION_ID}"
HEADER = b"SQLite format 3\0"
FIRST_PAGE = 4096
"""Bytes of a file that holds only SQLite's note that it keeps a write-ahead log."""

WITH_DIFFERENCES = 2
"""The first schema with a table of pairwise differences."""

WITH_TEXT_INDEX = 10
"""The first schema with an index of texts."""

WITH_CONFIDENCE = 4
"""The first schema with differences from gold, and with the confidence of predictions."""

WITH_ENTROPY = 5
"""The first schema with the entropy of predictions."""

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
    """A writing connection to an up-to-date database.

    Creates a missing file if `create` is set; upgrades an older one after a backup beside it
    (`NAME.backup-vN-TIME`). Raises StoreError.
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
    """Raise StoreError unless a path can hold a database; without `create`, holds a file."""
    mode = _mode(path)
    if mode is not None:
        _check_kind(path, mode)
        _check_header(path)
        return
    if not create:
        _check_no_log(path)
        raise NoFileError(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise StoreError(
            f"The folder {folder} does not exist: make it, or name another place for the "
            "database with --db"
        )
    _check_no_log(path)


def _check_no_log(path: Path) -> None:
    # SQLite deletes the log of a missing database when it creates a new one of that name.
    real = os.path.realpath(path)
    for name in (Path(f"{real}{end}") for end in ("-wal", "-journal")):
        if _size(name) and not path.exists():  # no other process has just made both
            raise StoreError(
                f"{name} is there without its database {path}, and may hold the last changes. "
                "Put the two files side by side again, or move it away"
            )


def _mode(path: Path) -> int | None:
    """The file mode at a path, links followed; None if there is nothing."""
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
    # SQLite treats a file of a few bytes as an empty database, and overwrites it.
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
                    f"{path} is empty. Make a database there with `nfh-tui init`"
                )
            prepare_writer(writer, path)
            if version < connection.SCHEMA_VERSION:
                _upgrade(writer, path)
        except BaseException:
            writer.close()
            raise
        return writer


def _upgrade(writer: Connection, path: Path) -> None:
    """Apply the pending migrations in one transaction, unless another process just did."""
    writer.execute(FOREIGN_KEYS_OFF)
    with connection.transaction(writer):
        version = identify(writer, path)
        if version < connection.SCHEMA_VERSION:
            if version == 0:
                schema_parts.build(writer)
            else:
                _back_up(path, version)
                _migrate(writer)
                _fill(writer, version)
            _check_references(writer, path)
            writer.execute(SET_APPLICATION_ID)
            writer.execute(f"PRAGMA user_version = {connection.SCHEMA_VERSION:d}")
    writer.execute(FOREIGN_KEYS_ON)


def _migrate(writer: Connection) -> None:
    from sqlite_utils import Database

    from nfh_db.schema import migrations

    # sqlite-utils' own transactions are deferred; inside ours they become savepoints.
    migrations.apply(Database(writer, execute_plugins=False))


def _fill(writer: Connection, version: int) -> None:
    """Fill the tables and columns that a schema of this version did not have."""
    from nfh_db import answers, passages, predictions

    if version < WITH_TEXT_INDEX:
        writer.execute(passages.INDEX_TEXTS, {"size": -1})
    recomputed = (WITH_DIFFERENCES, SEVERAL_ANSWERS), (WITH_CONFIDENCE, ANSWERED_AND_DECIDED)
    for first, anchors in recomputed:
        if version < first:
            for (anchor_id,) in writer.execute(anchors).fetchall():
                answers.recompute(writer, anchor_id)
    if version < WITH_ENTROPY:
        predictions.fill_derived(writer)


def _check_references(writer: Connection, path: Path) -> None:
    broken = writer.execute(FOREIGN_KEY_CHECK).fetchone()
    if broken is not None:
        raise StoreError(
            f"{path} cannot be upgraded: row {broken[1]} of table {broken[0]} refers to a row "
            f"of {broken[2]} that is missing. The file was left as it was"
        )


def _back_up(path: Path, version: int) -> Path:
    """Write a consistent copy beside the file."""
    stamp = system.now().replace(":", "").replace("-", "").replace(".", "")
    target = path.with_name(f"{path.name}.backup-v{version}-{stamp}")
    with at_one_moment(path) as (source, _), atomic_file(target) as partial:
        copy_pages(source, partial, target)
    return target


def _discard_empty(path: Path, *, begun: bool) -> None:
    """Delete the empty file of a database whose creation failed.

    begun: also a file with its first page only, as it remains if the log does not work.
    """
    # A dangling link stays as it is.
    real = Path(os.path.realpath(path))
    log, index = real.with_name(f"{real.name}-wal"), real.with_name(f"{real.name}-shm")
    first_page = begun and _size(log) == 0 and _size(real) <= FIRST_PAGE
    for name in (real, log, index):
        if name.exists() and (first_page or _size(name) == 0):
            with suppress(OSError):
                name.unlink()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


# Backup of a database in use: consistent, complete and checked.
#
# SQLite's backup API copies page by page. The connection to the source stays in one read
# transaction: with the write-ahead log this blocks no writer, and the copy need not restart, as
# it otherwise would after each write between two steps. VACUUM INTO is as consistent, but
# reports no progress, and cannot copy a damaged file since it rebuilds everything.

QUICK_CHECK = "PRAGMA quick_check(1)"
COUNTS = """
SELECT (SELECT count(*) FROM passage), (SELECT count(*) FROM anchor),
    (SELECT count(*) FROM answer), (SELECT count(*) FROM gold),
    (SELECT count(*) FROM event), (SELECT count(*) FROM draft)"""

BACKUP_REASONS = {
    "database or disk is full": errno.ENOSPC,
    "unable to open database file": errno.EACCES,
    "attempt to write a readonly database": errno.EACCES,
}
"""By the message of SQLite: its backup API gives no result code."""

PAGES_AT_ONCE = 2_000
"""Pages between two calls of `progress`: some 8 MB."""


@dataclass(frozen=True, slots=True)
class Along:
    """What was copied along with a database: models, and jobs' files.

    folders: those that were made. left_out: what was not copied, and why, in sentences.
    """

    folders: tuple[Path, ...] = ()
    models: int = 0
    jobs: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """A finished copy. bytes: its size. answers: including removed ones."""

    path: Path
    bytes: int
    passages: int
    anchors: int
    answers: int
    golds: int
    events: int
    drafts: int
    along: Along = Along()


TakeAlong = Callable[[Connection, Path], Along]
"""Copies what belongs to a copy, of which it gets a connection and the final name."""

Progress = Callable[[int, int], None]
"""Called with the number of pages copied, and of all pages."""


def _silent(done: int, total: int) -> None:
    """The default progress callback."""


def back_up(
    source: Path,
    target: Path,
    progress: Progress = _silent,
    take_along: TakeAlong | None = None,
) -> Copied:
    """Copy the database `source` to `target`: a new file, or a folder.

    The copy holds all that was committed before the call. It is written to a temporary sibling
    file, checked and then renamed; take_along copies what belongs to it before that. Raises
    StoreError for a name that is taken, a full disk, and a source that is damaged or no
    database of ours.
    """
    check_place(source, create=False)
    place = target_of(source, target)
    with at_one_moment(source) as (reader, _):
        identify(reader, source)
        return copy_of(reader, source, place, progress, take_along)


def copy_of(
    reader: Connection,
    source: Path,
    place: Path,
    progress: Progress = _silent,
    take_along: TakeAlong | None = None,
) -> Copied:
    """Copy the snapshot of a connection in a transaction to a new file, as `back_up` does."""
    counts = reader.execute(COUNTS).fetchone()
    along = Along()
    try:
        with atomic_file(place) as partial:
            copy_pages(reader, partial, place, progress)
            if take_along is not None:
                with closing(connect(partial, "rw")) as copy:
                    along = take_along(copy, place)
            _check_copy(partial, source, counts)
            size = partial.stat().st_size
    except BaseException:
        for folder in along.folders:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    passages, anchors, given, golds, events, drafts = counts
    return Copied(place, size, passages, anchors, given, golds, events, drafts, along)


def target_of(source: Path, target: Path) -> Path:
    """The path of a copy. In a folder, the name is that of the database with the time.

    Raises StoreError if the path exists, or its folder does not.
    """
    if target.is_dir():
        target /= dated_name(source)
    real = Path(os.path.realpath(source))
    taken = {real, *(sidecar(source, end) for end in BESIDE)}
    if Path(os.path.realpath(target)) in taken:
        raise StoreError(f"{target} is the database itself; name another file for the copy")
    if os.path.lexists(target):
        raise StoreError(
            f"{target} already exists, and a backup never replaces a file. Name another one"
        )
    if not target.parent.is_dir():
        raise StoreError(f"There is no folder {target.parent}: make it first")
    return target


def dated_name(source: Path, what: str = "backup") -> str:
    """A name with the present time, as in nfh-backup-20260131T120000123Z.db."""
    stamp = system.now().replace(":", "").replace("-", "").replace(".", "")
    return f"{source.stem}-{what}-{stamp}{source.suffix}"


@contextlib.contextmanager
def atomic_file(place: Path) -> Iterator[Path]:
    """A temporary sibling of `place`, which is renamed to `place` unless the block raises."""
    sweep(place.parent)
    partial = path_beside(place, "partial")
    try:
        yield partial
        _sync(partial)
        _give_name(partial, place)
    except OSError as error:
        raise FullError(_sentence(place, error)) from error
    finally:
        for file in (partial, *(sidecar(partial, end) for end in (*BESIDE, "-journal"))):
            with contextlib.suppress(OSError):
                file.unlink()
    sync_folder(place.parent)


def copy_pages(
    reader: Connection, partial: Path, place: Path, progress: Progress = _silent
) -> None:
    """Copy all pages of a connection's snapshot to a new file.

    place: the final name, for error messages.
    """
    try:
        with closing(connect(partial, "rwc")) as writer:
            reader.backup(
                writer,
                pages=PAGES_AT_ONCE,
                progress=lambda _, remaining, total: progress(total - remaining, total),
            )
    except sqlite3.Error as error:
        raise _copy_error(error, place) from error


def _copy_error(error: sqlite3.Error, place: Path) -> StoreError:
    """The error for a failed backup. SQLite does not tell which side failed."""
    reason = BACKUP_REASONS.get(str(error))
    if reason is not None:
        return FullError(_sentence(place, OSError(reason, "")))
    return StoreError(
        f"No copy was made at {place}: the database cannot be read, or the copy cannot be "
        f"written ({error}). No file was left behind; `nfh-tui doctor` checks whether the "
        "database is damaged"
    )


def _check_copy(partial: Path, source: Path, counts: tuple[int, ...]) -> None:
    """Raise unless the copy passes SQLite's quick check and has the same row counts."""
    try:
        with closing(connect(partial, STILL)) as copy:
            said = copy.execute(QUICK_CHECK).fetchone()[0]
            found = copy.execute(COUNTS).fetchone()
    except sqlite3.Error as error:
        said, found = str(error), None
    if said != "ok":
        raise DamagedFileError(
            f"No copy was kept: the copy of {source} is damaged ({said}), and so is the "
            "database. `nfh-tui doctor` says where; go back to an earlier backup"
        )
    if found != counts:
        raise StoreError(
            f"No copy was kept: its numbers of rows differ from those of {source} ({found} "
            f"instead of {counts}). Check the disk, and try again"
        )


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _give_name(partial: Path, place: Path) -> None:
    """Rename the file, without replacing one that was created in the meantime."""
    try:
        os.link(partial, place)
    except FileExistsError as error:
        raise StoreError(f"{place} already exists; it was made just now") from error
    except OSError:
        # Some file systems have no hard links: reserve the name first.
        try:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise StoreError(f"{place} already exists; it was made just now") from None
        partial.replace(place)


def _sentence(place: Path, error: OSError) -> str:
    return f"No copy was made at {place}: {write_reason(error)}. Nothing was left behind"


class Database:
    """An open database. Close it, or use it as a context manager."""

    def __init__(
        self,
        path: Path,
        connection: Connection,
        access: ReadAccess | None = None,
        read_only: str = "",
    ) -> None:
        self.path = path
        self.read_only = read_only
        """Why nothing can be written, in a few words; "" if writing is possible."""
        self.unseen = "" if access is None else access.unseen
        """What of the file cannot be shown, in a sentence; "" if all is shown."""
        self._checkpointer = Checkpointer(path)
        self._writer = Writer(connection, path, self._checkpointer.count_write, self._refusal())
        try:
            self._readers = Readers(
                path,
                "ro" if access is None else access.mode,
                way=None if access is None else lambda: read_access(path).mode,
            )
        except BaseException:
            connection.close()
            raise
        self.connections = Connections(path, self._readers, self._writer)

    def _refusal(self) -> str:
        if not self.read_only:
            return ""
        return (
            f"{self.path} can only be read: {self.read_only}. Nothing was changed. Correct "
            "that and open it again, or work on a copy (`nfh-tui backup` makes one elsewhere)"
        )

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Self:
        """Open a database; upgrade an older one, and recover unfinished batches.

        Raises NotOurFileError, NewerFileError, FullError, BusyError, or NoFileError if there is
        no file and `create` is not set.
        """
        connection = open_writer(path, create=create)
        store = cls(path, connection)
        try:
            if batches.left_behind(connection):
                from nfh_db import bulk_run

                bulk_run.recover(path)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open_to_read(cls, path: Path) -> Self:
        """As `open`, but also opens a file that is not writable.

        Writing to that raises ReadOnlyError. Raises what `open` raises; FullError also for such
        a file of an older program, which cannot be upgraded.
        """
        try:
            store = cls.open(path)
        except FullError as error:
            access = read_access(path)
            if access.version < SCHEMA_VERSION:
                raise FullError(f"{MADE_BY_OLDER.format(path=path)}: {error}") from error
            return cls(path, connect(path, access.mode), access, why_not_written(path))
        # SQLite silently opens a file that is not writable as read-only.
        if not store._writer.can_write():  # noqa: SLF001  # of this very class
            store.only_read()
        return store

    def only_read(self) -> None:
        """Refuse all further writes, since the place is not writable."""
        self.read_only = why_not_written(self.path)
        self._writer.refusal = self._refusal()

    @classmethod
    def open_read_only(cls, path: Path, why: str) -> Self:
        """Open an up-to-date database for reading only.

        why: in a few words, for the ReadOnlyError of a write. Raises NotOurFileError,
        NewerFileError and StoreError.
        """
        access = read_access(path)
        return cls(path, connect(path, access.mode), access, why)

    def close(self) -> None:
        """Close all connections, also those in use by other threads."""
        batches.stop(self.path)
        self._checkpointer.close()
        self._readers.close()
        self._writer.close()

    # --- files that are lost -----------------------------------------------------------

    def lost(self) -> str:
        """Why what is written would be lost, in a sentence; "" if it would not."""
        return self._writer.lost()

    def rescue(self) -> Path:
        """Write all that was committed, also to lost files, to a new file; its path.

        The file is beside the database, or else in the home folder, or else in the folder for
        temporary files. Raises StoreError.
        """
        try:
            return self._rescue()
        except DamagedFileError as error:
            if not self.lost():
                raise
            # The pages of the lost log overlay those of the present file.
            raise StoreError(
                f"No copy was kept: another program has written {self.path} since this "
                "program lost its files, and the changes that this program saved no longer "
                "fit it. Check it with `nfh-tui doctor`, open it again, and repeat what is "
                "missing"
            ) from error

    def _rescue(self) -> Path:
        name = dated_name(self.path, "rescue")
        with self._writer.present() as connection:
            for folder in (self.path.parent, Path.home()):
                with suppress(FullError):
                    return copy_of(connection, self.path, folder / name).path
            return copy_of(connection, self.path, Path(gettempdir()) / name).path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it. Raises GoneError if files are lost and the block has not raised."""
        try:
            if error is None:
                self._writer.check_end()
        except GoneError as gone:
            gone.rescue = self._rescued()
            raise
        else:
            # Not if the files of another database are lost: they hold nothing of this one.
            if isinstance(error, GoneError) and not error.rescue and self.lost():
                error.rescue = self._rescued()
        finally:
            self.close()

    def _rescued(self) -> str:
        """Run the rescue for a command that ends with lost files; its outcome in words."""
        try:
            place = self.rescue()
        except StoreError as error:
            return f"It cannot be written to another file either: {error}"
        return (
            f"Everything that this program saved is in {place}. Check it with `nfh-tui doctor "
            "--db`; then use it in place of this database, or merge it with `nfh-tui merge`"
        )

    def others_version(self) -> int | None:
        """A number that changes when another process or connection has committed.

        None while this store writes: call again. Bulk work of this store uses separate
        connections and changes the number.
        """
        if self.read_only:
            return hash(state_of(self.path))
        return self._writer.data_version()
