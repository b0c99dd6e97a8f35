"""An open database: its connections, and the two kinds of write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from nfh_db import batches, finishing
from nfh_db.checkpoint import Checkpointer
from nfh_db.connection import SCHEMA_VERSION, Connection, Readers, Writer, connect
from nfh_db.errors import FullError
from nfh_db.moment import place_to_read
from nfh_db.passages import PassageCache
from nfh_db.upgrade import open_writer


class OpenDatabase:
    """One open database; close it, or use it as a context manager."""

    def __init__(self, path: Path, connection: Connection, mode: str = "ro") -> None:
        self.path = path
        self._checkpointer = Checkpointer(path)
        self._writer = Writer(connection, path, self._checkpointer.wrote)
        try:
            self._readers = Readers(path, mode)
        except BaseException:
            connection.close()
            raise
        self._passages = PassageCache()

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

        Writing to that one raises FullError. Raises what `open` raises, FullError also for
        such a file of an older program, which cannot be upgraded.
        """
        try:
            return cls.open(path)
        except FullError as error:
            mode, version = place_to_read(path)
            if version < SCHEMA_VERSION:
                raise FullError(
                    f"{path} was made by an older nfh-tui and has to be brought up to date "
                    "before it is read, but nothing can be written where it lies. Copy it to "
                    "a folder of yours, and use the copy"
                ) from error
            return cls(path, connect(path, mode), mode)

    def close(self) -> None:
        """Close all connections; those lent to other threads, too."""
        finishing.stop(self.path)
        self._checkpointer.close()
        self._readers.close()
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def others_version(self) -> int | None:
        """A number that changes whenever anybody but this store has committed.

        None while this store writes: ask again. What it writes over connections of their own,
        as the undo of a whole run, counts as others' doing.
        """
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
