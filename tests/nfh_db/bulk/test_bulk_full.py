"""Bulk acts whose disk fills up: nobody is kept waiting, and nobody has to clear up."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from nfh_db import batches, bulk_run, event_log
from nfh_db.bulk_plan import BulkOperation, OperationKind
from nfh_db.connection import connect, sqlite3
from nfh_db.doctor import examine
from nfh_db.errors import FullError, StoreError
from nfh_db.query import parse
from nfh_db.records import Annotator
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from tests.nfh_db.bulk.conftest import check

WISH = BulkOperation(OperationKind.CLASS, answer=class_answer(Kind.AGE))
NEVER = 3600.0


class Disk:
    """Whether there is room: without any, the named writes fail as SQLite's do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self._monkeypatch = monkeypatch

    def refuses(self, module: object, name: str) -> None:
        """A function that needs room."""
        real: Callable[..., object] = getattr(module, name)

        def tried(*arguments: object, **more: object) -> object:
            if self.full:
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            return real(*arguments, **more)

        self._monkeypatch.setattr(module, name, tried)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """One that is full for everything but a small note."""
    monkeypatch.setattr(batches, "EVERY_SECONDS", NEVER)
    made = Disk(monkeypatch)
    made.refuses(bulk_run, "run_sweep")
    yield made
    made.full = False


def state(path: Path) -> list[tuple[str, int | None]]:
    """The batches that are not done, each with the process that is at work on it."""
    reader = connect(path, "ro")
    found = reader.execute("SELECT state, pid FROM batch WHERE state <> 'ready'").fetchall()
    reader.close()
    return found


def do(store: Store, ids: list[int], me: Annotator) -> None:
    store.bulk.run(ids, WISH, me)


def test_a_plan_that_failed_stops_nobody(
    store: Store, path: Path, ids: list[int], me: Annotator, disk: Disk
) -> None:
    disk.refuses(event_log, "record_all")
    disk.full = True
    with pytest.raises(FullError):
        do(store, ids, me)
    assert state(path) == [("loading", None)]
    found = [finding.what for finding in examine(path).findings]
    assert len(found) == 1
    assert "the bulk action “" in found[0]
    assert found[0].endswith("was being prepared when its write failed")
    disk.full = False
    # As another process does it, before it writes in bulk.
    with bulk_run.bulk_connection(path) as other:
        bulk_run.finish_leftovers(other)
    check(path)
    assert store.queue.count(parse("by:edith"), me) == 0
    do(store, ids, me)
    check(path)


def test_what_was_shown_is_finished_by_whoever_comes_first(
    store: Store, path: Path, ids: list[int], me: Annotator, disk: Disk
) -> None:
    disk.refuses(bulk_run, "run_settlement")
    disk.full = True
    with pytest.raises(StoreError, match=r"is stored, but .* applies the rest"):
        do(store, ids, me)
    assert state(path) == [("settling", None)]
    with pytest.raises(FullError), bulk_run.bulk_connection(path) as other:
        bulk_run.finish_leftovers(other)
    assert state(path) == [("settling", None)]
    disk.full = False
    with bulk_run.bulk_connection(path) as other:
        bulk_run.finish_leftovers(other)
    check(path)
    assert store.queue.count(parse("class:AGE rule:expert"), me) == len(ids)


@pytest.mark.parametrize("failing", [(event_log, "record_all"), (bulk_run, "run_settlement")])
def test_without_room_for_a_note_this_process_goes_on_trying(
    store: Store,
    path: Path,
    ids: list[int],
    me: Annotator,
    disk: Disk,
    monkeypatch: pytest.MonkeyPatch,
    failing: tuple[object, str],
) -> None:
    monkeypatch.setattr(batches, "EVERY_SECONDS", 0.005)
    disk.refuses(*failing)
    disk.refuses(batches, "give_up")
    disk.full = True
    with pytest.raises(StoreError):
        do(store, ids, me)
    assert state(path)[0][1] == os.getpid()
    disk.full = False
    attempts = batches._under_way[os.path.realpath(path)]
    attempts._thread.join(10)
    check(path)


def test_closing_tries_a_last_time(
    path: Path, store: Store, ids: list[int], me: Annotator, disk: Disk
) -> None:
    disk.refuses(event_log, "record_all")
    disk.full = True
    with suppress(FullError):
        do(store, ids, me)
    disk.full = False
    store.close()
    check(path)


def test_who_is_at_work_is_named(path: Path, store: Store, ids: list[int]) -> None:
    me, other = store.people.ensure("edith"), store.people.ensure("kim")
    with bulk_run.bulk_connection(path) as connection:
        with (
            bulk_run.BulkAct(connection, "bulk", other.id, "much", "wait", items=True),
            pytest.raises(StoreError) as refused,
        ):
            do(store, ids, me)
        bulk_run.finish_leftovers(connection)
    assert f"Many items are being changed by kim (process {os.getpid()}): wait" in str(
        refused.value
    )
    check(path)
