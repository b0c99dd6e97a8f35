"""An open database: its connections, and the two kinds of write."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from types import TracebackType
from typing import Self

from nfh_db import batches, finishing
from nfh_db.checkpoint import Checkpointer
from nfh_db.connection import (
    SCHEMA_VERSION,
    Connection,
    Readers,
    Writer,
    connect,
)
from nfh_db.errors import FullError, GoneError, StoreError
from nfh_db.moment import Way, way_to_read, why_not_written
from nfh_db.open_files import state_of
from nfh_db.passages import PassageCache
from nfh_db.upgrade import open_writer


class OpenDatabase:
    """One open database; close it, or use it as a context manager.

    read_only: why nothing can be written, in a few words; "" where it can. unseen: what of
    the file cannot be shown, in a sentence; "" where all is.
    """

    def __init__(
        self, path: Path, connection: Connection, way: Way | None = None, read_only: str = ""
    ) -> None:
        self.path = path
        self.read_only = read_only
        self.unseen = "" if way is None else way.unseen
        self._checkpointer = Checkpointer(path)
        self._writer = Writer(connection, path, self._checkpointer.wrote, self._refusal())
        try:
            self._readers = Readers(
                path,
                "ro" if way is None else way.mode,
                way=None if way is None else lambda: way_to_read(path).mode,
            )
        except BaseException:
            connection.close()
            raise
        self._passages = PassageCache()

    def _refusal(self) -> str:
        if not self.read_only:
            return ""
        return (
            f"{self.path} can only be read: {self.read_only}. Nothing was changed. Mend that "
            "and open it again, or work on a copy (`nfh-tui backup` makes one elsewhere)"
        )

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Self:
        """Open a database, upgrading an older one after a copy beside it.

        Raises NotOurFileError, NewerFileError, FullError, BusyError, or StoreError where
        there is no file and `create` is not set.
        """
        connection = open_writer(path, create=create)
        store = cls(path, connection)
        try:
            if batches.left_behind(connection):
                from nfh_db import bulk

                bulk.recover(path)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open_to_read(cls, path: Path) -> Self:
        """As `open`, but a file that lies where nothing can be written is opened, too.

        Writing to that one raises ReadOnlyError. Raises what `open` raises, FullError also
        for such a file of an older program, which cannot be upgraded.
        """
        try:
            store = cls.open(path)
        except FullError as error:
            way = way_to_read(path)
            if way.version < SCHEMA_VERSION:
                raise FullError(
                    f"{path} was made by an older nfh-tui and has to be brought up to date "
                    "before it is read. Copy it to a folder of yours (`nfh-tui backup FOLDER` "
                    f"does), and use the copy: {error}"
                ) from error
            return cls(path, connect(path, way.mode), way, why_not_written(path))
        # SQLite opens a file that cannot be written to be read, without a word.
        if not store._writer.can_write():  # noqa: SLF001  # of this very class
            store.only_read()
        return store

    def only_read(self) -> None:
        """Refuse to write from now on, since that failed where it lies."""
        self.read_only = why_not_written(self.path)
        self._writer.refusal = self._refusal()

    @classmethod
    def open_read_only(cls, path: Path, why: str) -> Self:
        """Open a database, up to date already, that SQLite itself does not let this write to.

        why: in a few words, for what is said of a write, which raises ReadOnlyError. Raises
        NotOurFileError, NewerFileError and StoreError.
        """
        way = way_to_read(path)
        return cls(path, connect(path, way.mode), way, why)

    def close(self) -> None:
        """Close all connections; those lent to other threads, too."""
        finishing.stop(self.path)
        self._checkpointer.close()
        self._readers.close()
        self._writer.close()

    # --- files that are lost -----------------------------------------------------------

    def lost(self) -> str:
        """Why what is written would not be found again, in a sentence; "" where it would.

        Asked before every write, and whenever one wants to know.
        """
        return self._writer.lost()

    def rescue(self) -> Path:
        """Write all that was committed, into lost files too, to a new file; its path.

        It lies beside the database, or where that cannot be, in the user's own folder or
        that for passing files. Raises StoreError and its kinds.
        """
        from nfh_db import backup

        name = backup.dated_name(self.path, "rescue")
        with self._writer.present() as connection:
            for folder in (self.path.parent, Path.home()):
                with suppress(FullError):
                    return backup.copy_of(connection, self.path, folder / name).path
            return backup.copy_of(connection, self.path, Path(gettempdir()) / name).path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, GoneError) and not error.rescue:
            error.rescue = self._rescued()
        self.close()

    def _rescued(self) -> str:
        """Rescue all where a command ends for want of its files; what became of that."""
        try:
            place = self.rescue()
        except StoreError as error:
            return f"It cannot be written to another file either: {error}"
        return (
            f"All that this program had saved is in {place}: `nfh-tui doctor --db` checks it; "
            "use it in place of this one, or bring it back with `nfh-tui merge`"
        )

    def others_version(self) -> int | None:
        """A number that changes whenever anybody but this store has committed.

        None while this store writes: ask again. What it writes over connections of their own,
        as the undo of a whole run, counts as others' doing.
        """
        if self.read_only:
            return hash(state_of(self.path))
        return self._writer.data_version()

    @contextmanager
    def _deciding(self) -> Iterator[Connection]:
        """A write that somebody waits for, and that must survive a power cut."""
        with self._writer.transaction(durable=True) as connection:
            yield connection

    @contextmanager
    def _noting(self) -> Iterator[Connection]:
        """A write that may be lost in a power cut, but not in a crash of the program."""
        with self._writer.transaction(durable=False) as connection:
            yield connection
