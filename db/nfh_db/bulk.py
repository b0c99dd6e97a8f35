"""Bulk work: a connection of its own, what broken-off work left behind, and bulk acts.

A bulk act changes the gold of many anchors and is one act all the same. Its events are
written in short writes that nobody sees, one flip shows the act, and then they are applied.
Killed before the flip it leaves nothing; killed after it, the next start finishes it.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from nfh_db import acts, batches, clock, finishing, processes, settle, sweep
from nfh_db.batches import Work
from nfh_db.bulk_items import Row
from nfh_db.connection import (
    SYNCHRONOUS_FULL,
    SYNCHRONOUS_NORMAL,
    Connection,
    connect,
    prepare_writer,
    sqlite3,
    transaction,
    translated,
)
from nfh_db.errors import BusyError, FullError, StoreError
from nfh_db.moment import connect_to_read
from nfh_db.pace import next_stretch
from nfh_db.settle_report import SettleReport

PRAGMAS = (
    SYNCHRONOUS_NORMAL,
    # Whoever writes in bulk gives the rows their ids itself, and what is known is never
    # deleted: ten look-ups a row would find nothing.
    "PRAGMA foreign_keys = OFF",
    "PRAGMA wal_autocheckpoint = 8000",
)

WHERE_IT_LIES = "SELECT file FROM pragma_database_list WHERE name = 'main'"

WRITE_SECONDS = 0.012
"""What one write of events should take: a person's answer may have to wait for it."""

FIRST_STRETCH = 200
SMALLEST_STRETCH = 20
LARGEST_STRETCH = 2_000


@contextmanager
def bulk_connection(path: Path, *, read_only: bool = False) -> Iterator[Connection]:
    """A connection of the work's own: it commits often and need not wait for the disk."""
    with (
        translated(path),
        closing(connect_to_read(path) if read_only else connect(path, "rw")) as connection,
    ):
        if not read_only:
            prepare_writer(connection, path)
            for pragma in PRAGMAS:
                connection.execute(pragma)
        yield connection


def recover(path: Path) -> None:
    """Sweep away, or finish, what imports and bulk acts of processes that are gone left.

    That is seen by nobody. A full disk, or somebody's long write, must not keep anybody
    from reading: the next start tries again.
    """
    with suppress(FullError, BusyError), bulk_connection(path) as connection:
        finish_leftovers(connection)


def finish_leftovers(connection: Connection) -> None:
    """Sweep away, or finish, every batch at which nobody is at work any more."""
    for batch in batches.unfinished(connection):
        if batches.is_alive(batch):
            continue
        with batches.finishing(batch.id) as mine:
            if not mine:
                continue
            if batch.format == batches.MERGE:
                from nfh_db.merge import run as merging

                merging.finish(connection, batch)
                continue
            with transaction(connection):
                work = batches.claim(connection, batch)
            if work is None:
                continue
            try:
                if batch.is_loading:
                    sweep.run(connection, batch.id, work)
                else:
                    settle.run(connection, batch.id, work)
            except sqlite3.Error:
                _let_go(connection, batch.id)
                raise


def _let_go(connection: Connection, batch_id: int) -> None:
    """Leave what cannot be finished now to whoever can first, to this process as well."""
    with suppress(sqlite3.Error), transaction(connection):
        batches.give_up(connection, batch_id)
    _finish_later(connection)


def _finish_later(connection: Connection) -> None:
    """Finish what a failure of this process left behind, as soon as the disk lets one."""
    path = Path(connection.execute(WHERE_IT_LIES).fetchone()[0])

    def attempt() -> bool:
        try:
            with bulk_connection(path) as own:
                finish_leftovers(own)
                return not batches.left_behind(own)
        except (FullError, BusyError, sqlite3.Error):
            return False
        except StoreError:
            return True  # The file is gone, or no database any more: nothing can be done.

    finishing.later(path, attempt)


class BulkAct:
    """One bulk act under way; as a context manager it leaves nothing if it is not shown.

    format: of its batch, one of `batches.BULK_FORMATS`. wanted: what to do later, where
    other work is under way now. target: the act that an undo or a redo is about. by_votes:
    what is applied depends on the votes, too. items: it changes more than golds. check:
    called in the first write; what it raises stops the act.
    """

    def __init__(
        self,
        connection: Connection,
        format_: str,
        me_id: int,
        summary: str,
        wanted: str,
        *,
        target: int | None = None,
        by_votes: bool = False,
        items: bool = False,
        check: Callable[[Connection], None] = lambda _: None,
    ) -> None:
        self.at = clock.now()
        self._connection = connection
        self._format = format_
        self._me_id = me_id
        self._summary = summary
        self._wanted = wanted
        self._target = target
        self._check = check
        self._work = Work(bulk=not items, by_votes=by_votes, items=items)
        self._batch = 0
        self._note = ""
        self._shown = False
        self._size = FIRST_STRETCH
        self._waiting: list[Row] = []
        self._stack = ExitStack()

    @property
    def act_id(self) -> int:
        """The act."""
        return self._work.act

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._begin(stack)
            self._stack = stack.pop_all()
        return self

    def _begin(self, stack: ExitStack) -> None:
        connection = self._connection
        with transaction(connection):
            batches.refuse_beside_another(connection, self._wanted)
            self._check(connection)
            # A hash names the content of a file; here it only must be no other's.
            name, sha256 = self._summary, secrets.token_hex(32)
            self._batch = batches.add(
                connection, name, sha256, self._format, None, None, self._work
            )
            stack.enter_context(batches.running(self._batch))
            self._work.act = acts.add(
                connection,
                self._me_id,
                # In the log every run over many items is of one kind.
                "settle" if self._format == "bulk" else self._format,
                self._summary,
                self.at,
                target=self._target,
                batch=self._batch,
            )
            self._work.started = processes.started(os.getpid())
            self._note = batches.set_work(connection, self._batch, self._work)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._stack:
            if not self._shown:
                self._take_back(error)
        if isinstance(error, Exception) and self._is_left():
            _let_go(self._connection, self._batch)

    def _is_left(self) -> bool:
        """True if it could be neither taken back nor applied to the end."""
        return any(one.id == self._batch for one in batches.unfinished(self._connection))

    def change(self, anchor_id: int, before: str | None, after: str | None) -> None:
        """Plan a change of an anchor's gold. Each anchor is changed once."""
        self.add([("gold", anchor_id, None, "", before, after)])

    def add(self, rows: Sequence[Row]) -> None:
        """Plan all that is to change of an anchor. Each anchor is changed once."""
        self._waiting += rows
        if len(self._waiting) >= self._size:
            self._write()

    def _write(self) -> None:
        connection = self._connection
        events = [(self._work.act, *row) for row in self._waiting]
        with transaction(connection):
            begun = time.perf_counter()
            self._check_mine()
            deferred = acts.record_all(connection, events)
        if deferred is not None:
            self._work.defer(*deferred)
        self._size = next_stretch(
            self._size,
            time.perf_counter() - begun,
            wanted=WRITE_SECONDS,
            smallest=SMALLEST_STRETCH,
            largest=LARGEST_STRETCH,
        )
        self._waiting = []

    def _check_mine(self) -> None:
        """Events of an act that is gone would have no act."""
        if not batches.still_mine(self._connection, self._batch, self._note):
            raise StoreError(
                "What was being written was cleared away by a program that could not see this "
                "process (another container?). Nothing of it is stored; open the database "
                "from one place at a time while you do this"
            )

    def show(
        self,
        settled: SettleReport | None = None,
        also: Callable[[Connection], None] = lambda _: None,
    ) -> None:
        """The flip: the act is there, on the disk; what it changes is still to be applied.

        also: called in the same write.
        """
        self._write()
        self._work.settled = settled
        self._connection.execute(SYNCHRONOUS_FULL)
        with transaction(self._connection) as connection:
            self._check_mine()
            also(connection)
            batches.set_state(connection, self._batch, "settling", 0, self._work)
        self._shown = True
        self._connection.execute(SYNCHRONOUS_NORMAL)

    def apply(self, tell: Callable[[int], None] = lambda _: None) -> Sequence[int]:
        """Apply it; the anchors that were left, since somebody changed them meanwhile."""
        try:
            return settle.run(self._connection, self._batch, self._work, tell)
        except KeyboardInterrupt as error:
            error.add_note(f"“{self._summary}” is stored; the next start does what is left.")
            raise
        except sqlite3.Error as error:
            raise StoreError(
                f"“{self._summary}” is stored, but what it changes could not all be written "
                f"yet ({error}). Nothing is lost: make sure that the disk has room; the rest "
                "is done then"
            ) from error

    def report(self, report: SettleReport) -> None:
        """Keep the final report with the batch."""
        with transaction(self._connection) as connection:
            batches.set_report(connection, self._batch, report)

    def _take_back(self, error: BaseException | None) -> None:
        unseen = [one.id for one in batches.unfinished(self._connection) if one.is_loading]
        if self._batch not in unseen:
            return
        try:
            sweep.run(self._connection, self._batch, self._work)
            note = f"Nothing of “{self._summary}” is stored."
        except sqlite3.Error:
            note = "What had been written stays invisible, and is cleared when there is room."
        if error is not None:
            error.add_note(note)
