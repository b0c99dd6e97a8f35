"""Asynchronous access to the store: calls run in threads and never block the event loop.

Reads run in a small pool. Writes run one at a time in the order of their calls; each is
committed when its result is available.
"""

import asyncio
import threading
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from nfh_db.errors import StoreError
from nfh_db.jobs import NewJob
from nfh_db.query import Query
from nfh_db.records import AnchorItem, Annotator, Role
from nfh_db.store import Store
from nfh_tui.actions import Access

if TYPE_CHECKING:
    from nfh_db.comparisons import Changes, ComparedSide, ComparisonCounts

P = ParamSpec("P")
T = TypeVar("T")

READERS = 3
"""Threads for reads. Three let an item, a page of rows and a count overlap."""

MOST_LOG = 64 * 1024
"""Bytes from the end of a log that are shown."""

LogMark = tuple[int, int]
"""Size and modification time of a log; they change with each write to it."""

Log = tuple[LogMark | None, tuple[str, ...]]


class StoreClient:
    """Calls the store in other threads: `await client.read(store.queue.rows, ids, me, role)`.

    Raises what the call raises.
    """

    rescued: Path | None = None
    """The file to which the database was rescued; None if that was not necessary."""

    parting = "", ""
    """What to say when the screen has closed, and the mode in which it was left."""

    not_rescued = ""
    """Why the database could not be rescued at the end; empty if it could, or need not be."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="nfh-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="nfh-write")
        self._writing: set[asyncio.Future[object]] = set()
        self._version = store.others_version()

    def require(self, access: Access) -> None:
        """Raise NotAllowedError if the person has less access; never on a terminal."""

    @property
    def read_only(self) -> str:
        """Why the database is read-only, in a few words; empty if it is not."""
        return self.store.read_only

    @property
    def writing(self) -> int:
        """Number of writes that are not committed yet."""
        return len(self._writing)

    async def settled(self) -> None:
        """Return when all writes so far have been committed or have failed."""
        if self._writing:
            await asyncio.wait(set(self._writing))

    def close(self) -> None:
        """Wait for pending writes, then close the store.

        If the open database files have been deleted or replaced, their content is first written
        to a new file, `rescued`.
        """
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        if self.rescued is None and (lost := self.store.lost()):
            try:
                self.rescued = self.store.rescue()
            except StoreError as error:
                self.not_rescued = f"{lost}. It cannot be written to another file: {error}"
        self.store.close()

    async def read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that only reads."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, partial(call, *args, **kwargs))

    def write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Run a call that writes. It is queued by this call, not by awaiting the result.

        Cancelling the awaiting task does not cancel the write.
        """
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._writer, partial(call, *args, **kwargs))
        self._writing.add(future)  # type: ignore[arg-type]  # only counted, never read
        future.add_done_callback(self._writing.discard)
        return asyncio.shield(future)

    async def stream(
        self, call: Callable[P, Iterator[T]], *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[T]:
        """Yield the items of an iterator that only reads.

        One thread reads all of it, because a cursor is bound to its thread. Leaving the loop
        early stops the reading after the current item.
        """
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[tuple[T] | None] = asyncio.Queue()
        left = threading.Event()

        def read_all() -> None:
            try:
                for chunk in call(*args, **kwargs):
                    if left.is_set():
                        return
                    loop.call_soon_threadsafe(chunks.put_nowait, (chunk,))
            finally:
                loop.call_soon_threadsafe(chunks.put_nowait, None)

        reading = loop.run_in_executor(self._readers, read_all)
        try:
            while (chunk := await chunks.get()) is not None:
                yield chunk[0]
            await reading
        finally:
            left.set()

    # --- the database -------------------------------------------------------------------

    async def lost(self) -> str:
        """Return why writes would be lost, as a sentence; empty if they would not be."""
        return await self.read(self.store.lost)

    async def rescue(self, unsaved: Sequence[Callable[[Store], object]]) -> Path:
        """Write the database and the unsaved changes to a new file; returns its path."""
        self.rescued = await self.write(self.rescue_all, unsaved)
        return self.rescued

    def rescue_all(self, unsaved: Sequence[Callable[[Store], object]]) -> Path:
        """Do the same as `rescue`, in the calling thread."""
        place = self.store.rescue()
        with Store.open(place) as copy:
            for save in unsaved:
                save(copy)
        return place

    async def others_wrote(self) -> bool:
        """Return True if another process has committed since the last call.

        During a write of this process the answer is unknown, so it is False; the next call
        reports the commit.
        """
        version = await self.read(self.store.others_version)
        if version is None or version == self._version:
            return False
        self._version = version
        return True

    # --- items and counts ---------------------------------------------------------------

    async def item(self, anchor_id: int, me: Annotator, role: Role) -> AnchorItem | None:
        """Return what this person may see of an anchor in this role; None if it is gone."""
        if role is Role.ANNOTATOR:
            return await self.read(self.store.items.read_for_annotator, anchor_id, me)
        return await self.read(self.store.items.read, anchor_id, me, role)

    async def reordered(
        self, query: Query, me: Annotator, role: Role, kept: Sequence[int]
    ) -> "array[int]":
        """Return the ids that a query finds now, without those in `kept`."""
        return await self.read(_reordered, self.store, query, me, role, kept)

    async def compared(
        self, left: "ComparedSide", right: "ComparedSide", query: Query, me: Annotator
    ) -> "ComparisonCounts":
        """Compare a model with gold or another model, or a person with gold.

        Cancellation stops the reading soon.
        """
        from nfh_tui.services.compare_models import seen_test

        left_off = threading.Event()
        compare = self.store.comparisons.compare
        is_seen = await self.read(seen_test, self.store, left.model_id)
        try:
            return await self.read(compare, left, right, query, me, left_off.is_set, is_seen)
        finally:
            left_off.set()

    async def changes_since(
        self, path: Path, query: Query, me: Annotator, progress: Callable[[int], None]
    ) -> "Changes":
        """Compare gold with a file of the format `gold`.

        progress: called with the rows done, in another thread. Cancellation stops the reading
        soon.
        """
        left_off = threading.Event()
        changes = self.store.comparisons.changes_since
        try:
            return await self.read(changes, path, query, me, left_off.is_set, progress)
        finally:
            left_off.set()

    # --- jobs ---------------------------------------------------------------------------

    async def start_runner(self) -> bool:
        """Start a runner if a job waits; returns False if none waits, or if runners are
        disabled.

        Raises OSError if the process cannot be started.
        """
        from nfh_tui.jobs.runner import ensure_runner

        return await self.read(ensure_runner, self.store)

    async def queue_retraining(self) -> tuple[int, ...]:
        """Queue the trainings that are due and have enough gold; returns the ids of the
        jobs.
        """
        from nfh_tui.jobs.training import too_few

        held = await self.read(too_few, self.store)
        return await self.write(self.store.retraining.queue_due, held)

    async def trainings_that_come_round(self) -> tuple[str, ...]:
        """Describe the scheduled trainings and their counts."""
        from nfh_tui.jobs.training import all_told

        return await self.read(all_told, self.store)

    async def check_training(self, new: NewJob) -> None:
        """Raise the error for a training that would find nothing to learn, before it is
        queued.
        """
        from nfh_tui.jobs.training import check_at_hand

        await self.read(check_at_hand, self.store, new)

    async def packaged_figures(self, recipe: str) -> Mapping[str, object]:
        """Return the metrics of a packaged model."""
        from nfh_tui.services.models import packaged_metrics

        return await self.read(packaged_metrics, recipe)

    async def job_log(self, job_id: int, known: LogMark | None = None) -> Log | None:
        """Return the last lines of a job's log and its mark; None if the log is as at `known`.

        Without a log there are no lines.
        """
        return await self.read(_end_of_log, self.store, job_id, known)


def by(who: str) -> str:
    """Return the reason that is recorded for a job which somebody cancelled."""
    return f"by {who}"


def _reordered(
    store: Store, query: Query, me: Annotator, role: Role, kept: Sequence[int]
) -> "array[int]":
    known = frozenset(kept)
    found: array[int] = array("q")
    for chunk in store.queue.ids(query, me, role):
        if known.isdisjoint(chunk):  # the usual case, tested without a loop in Python
            found.extend(chunk)
        else:
            found.extend(anchor_id for anchor_id in chunk if anchor_id not in known)
    return found


def _end_of_log(store: Store, job_id: int, known: LogMark | None) -> Log | None:
    """Read only the log in the job's own folder, whatever path its row has."""
    from nfh_tui.jobs.descriptions import log_of

    if (job := store.jobs.read(job_id)) is None:
        return None, ()
    try:
        path = log_of(store.path, job)
        if not path.is_file():
            return None, ()
        about = path.stat()
        mark = (about.st_size, about.st_mtime_ns)
        if mark == known:
            return None
        with path.open("rb") as file:
            file.seek(max(0, about.st_size - MOST_LOG))
            body = file.read(MOST_LOG)
    except OSError:
        return None, ()
    lines = body.decode("utf-8", "replace").splitlines()
    cut = about.st_size > MOST_LOG and len(lines) > 1
    return mark, tuple(lines[1:] if cut else lines)
