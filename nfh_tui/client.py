"""The store as the screen sees it: every call can be awaited, none blocks the screen.

Reads run in a small pool. Writes run one at a time in the order they were asked for, and
each returns only after its commit.
"""

import asyncio
import threading
from array import array
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from nfh_db.assignments import Todo
from nfh_db.errors import StoreError
from nfh_db.jobs import BackgroundState, Job, JobPoint, JobState, NewJob, RetrainingSchedule
from nfh_db.query import Query
from nfh_db.records import (
    NO_LABELS,
    AnchorItem,
    Annotator,
    Exposure,
    FlagName,
    HistoryLine,
    QueuePosition,
    QueueRow,
    Role,
    Saved,
    StaleLabels,
    Undone,
)
from nfh_db.store import Store
from nfh_models.domain import Anchor, Answer, Passage
from nfh_tui.actions import Access

if TYPE_CHECKING:
    from nfh_db.bulk_plan import BulkDone, BulkOperation, BulkPreview, Seeing
    from nfh_db.comparisons import Changes, ComparedSide, ComparisonCounts, Confusions
    from nfh_db.guidelines import Guideline, Tagged
    from nfh_db.models import Model
    from nfh_db.similar_items import Precedent, SimilarAnswer


P = ParamSpec("P")
T = TypeVar("T")

MOST_LOG = 64 * 1024
"""Bytes of the end of a log that are shown."""

LogMark = tuple[int, int]
"""Size and time of a log: they change whenever something is written to it."""

Log = tuple[LogMark | None, tuple[str, ...]]


class JobsClient:
    """Jobs and models, read and changed beside the screen. Errors are the store's own."""

    store: "Store"

    async def _read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        raise NotImplementedError

    def _write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        raise NotImplementedError

    async def others_version(self) -> int | None:
        """A number that changes whenever anybody else has committed; None: ask again."""
        return await self._read(self.store.others_version)

    async def jobs(self) -> tuple[Job, ...]:
        """All jobs, the newest first; those of ended processes are marked so."""
        return await self._read(self.store.jobs)

    async def trainings_that_come_round(self) -> tuple[str, ...]:
        """What is retrained after so many decisions, and how far that has come, in words."""
        from nfh_tui.jobs.training import all_told

        return await self._read(all_told, self.store)

    async def job_points(self, job_id: int) -> tuple[JobPoint, ...]:
        """A job's curves, in order."""
        return await self._read(self.store.job_points, job_id)

    async def job_log(self, job_id: int, known: LogMark | None = None) -> Log | None:
        """The last lines of a job's log with its mark; None if it is as it was at `known`.

        Without a log there are no lines.
        """
        return await self._read(_end_of_log, self.store, job_id, known)

    async def packaged_figures(self) -> Mapping[str, object]:
        """The figures of the model in the package."""
        from nfh_tui.services.models import packaged_metrics

        return await self._read(packaged_metrics)

    async def queue_job(self, new: NewJob) -> int:
        """Queue a job; its number. A runner is started by `start_runner`."""
        return await self._write(self.store.queue_job, new)

    async def check_training(self, new: NewJob) -> None:
        """Raise what says why a training would find nothing to learn, before it is queued."""
        from nfh_tui.jobs.training import check_at_hand

        await self._read(check_at_hand, self.store, new)

    async def start_runner(self) -> bool:
        """Start a runner where a job waits; False where none waits, or none is wanted.

        Raises OSError where none can be started.
        """
        from nfh_tui.jobs.runner import ensure_runner

        return await self._read(ensure_runner, self.store)

    async def cancel_job(self, job_id: int, who: str) -> bool:
        """Cancel a job, saying who did; False if it had ended already."""
        return await self._write(self.store.end_job, job_id, JobState.CANCELLED, by(who))

    async def retry_job(self, job_id: int) -> bool:
        """Put a job into the queue again; False if it waits or runs, or is done."""
        return await self._write(self.store.retry_job, job_id)


def by(who: str) -> str:
    """The reason that stands with a job which somebody cancelled."""
    return f"by {who}"


def _end_of_log(store: "Store", job_id: int, known: LogMark | None) -> Log | None:
    """Only the job's own folder is looked into, whatever its row says."""
    from nfh_tui.jobs.descriptions import log_of

    job = store.job(job_id)
    if job is None:
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


class LiveClient(JobsClient):
    """What goes on beside the screen. Errors are the store's own.

    rescued: the file to which all there was has been written, None where none was needed.
    not_rescued: why it could not be written when the client was closed, in a sentence.
    """

    rescued: Path | None = None
    not_rescued: str = ""

    @property
    def read_only(self) -> str:
        """Why nothing can be written, in a few words; "" where it can."""
        return self.store.read_only

    async def lost(self) -> str:
        """Why what is written would not be found again, in a sentence; "" where it would."""
        return await self._read(self.store.lost)

    async def rescue(self, unsaved: Sequence[Callable[["Store"], object]]) -> Path:
        """Write all there is to a new file, and there what could not be saved; its path."""

        def rescue_all() -> Path:
            place = self.store.rescue()
            with Store.open(place) as copy:
                for save in unsaved:
                    save(copy)
            return place

        self.rescued = await self._write(rescue_all)
        return self.rescued

    async def pulse(self, after: int) -> BackgroundState:
        """The jobs that wait or run, and the changes of models after the one of a number."""
        return await self._read(self.store.pulse, after)

    async def job(self, job_id: int) -> Job | None:
        """A job, wherever it stands."""
        return await self._read(self.store.job, job_id)

    async def orders_version(self) -> tuple[float, ...]:
        """Numbers that change whenever an order that models make may have."""
        return await self._read(self.store.orders_version)

    async def retraining(self) -> RetrainingSchedule:
        """What there is to do about trainings that come round."""
        return await self._read(self.store.retraining)

    async def queue_retraining(self) -> tuple[int, ...]:
        """Queue the trainings that are due and have what they need; their numbers."""
        from nfh_tui.jobs.training import too_few

        held = await self._read(too_few, self.store)
        return await self._write(self.store.queue_retraining, held)

    async def reordered(
        self, query: Query, me: Annotator, role: Role, kept: Sequence[int]
    ) -> "array[int]":
        """The ids that a query finds now, all but those kept, which stand before them."""
        return await self._read(_reordered, self.store, query, me, role, kept)


def _reordered(
    store: "Store", query: Query, me: Annotator, role: Role, kept: Sequence[int]
) -> "array[int]":
    known = frozenset(kept)
    found: array[int] = array("q")
    for chunk in store.queue_ids(query, me, role):
        if known.isdisjoint(chunk):  # most are; to look at each id takes the screen's time
            found.extend(chunk)
        else:
            found.extend(anchor_id for anchor_id in chunk if anchor_id not in known)
    return found


READERS = 3
"""Threads that read. Three let an item, a page of rows and a count overlap."""


class StoreClient(LiveClient):
    """What screens and widgets may ask of the store. Errors are the store's own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="nfh-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="nfh-write")
        self._writing: set[asyncio.Future[object]] = set()
        self._version = store.others_version()

    def require(self, access: Access) -> None:
        """Raise NotAllowedError where whoever works here has less; on a terminal nobody has."""

    @property
    def writing(self) -> int:
        """Writes asked for and not committed yet."""
        return len(self._writing)

    async def settled(self) -> None:
        """Return once every write asked for so far is committed or has failed."""
        if self._writing:
            await asyncio.wait(set(self._writing))

    def close(self) -> None:
        """Wait for the writes under way, then close the store.

        What lies in lost files only is written to another one first, which `rescued` names.
        """
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        if self.rescued is None and (lost := self.store.lost()):
            try:
                self.rescued = self.store.rescue()
            except StoreError as error:
                self.not_rescued = f"{lost}. It cannot be written to another file: {error}"
        self.store.close()

    async def _read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, partial(call, *args, **kwargs))

    def _write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Hand a write over at once; what comes back is done when the write is."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._writer, partial(call, *args, **kwargs))
        self._writing.add(future)  # type: ignore[arg-type]  # only counted, never read
        future.add_done_callback(self._writing.discard)
        return asyncio.shield(future)

    # --- reading ------------------------------------------------------------------------

    async def annotator(self, name: str) -> Annotator:
        """The person of that name, made if unknown."""
        return await self._write(self.store.annotator, name)

    async def others_wrote(self) -> bool:
        """True if anybody else has committed since this was asked last.

        While a write of one's own is under way it cannot be told; what came is told later.
        """
        version = await self._read(self.store.others_version)
        if version is None or version == self._version:
            return False
        self._version = version
        return True

    async def item(self, anchor_id: int, me: Annotator, role: Role) -> AnchorItem | None:
        """All of one anchor that this person may see in this role, or None if it is gone."""
        if role is Role.ANNOTATOR:
            return await self._read(self.store.item_for_annotator, anchor_id, me)
        return await self._read(self.store.item, anchor_id, me, role)

    async def todo(self, me: Annotator, role: Role) -> Todo:
        """How much of what this person was given in a role is open, and where it is found."""
        return await self._read(self.store.todo, me, role)

    async def history(self, anchor_id: int) -> tuple[HistoryLine, ...]:
        """What happened to an anchor."""
        return await self._read(self.store.history, anchor_id)

    async def seen_history(
        self, anchor_id: int, me: Annotator, role: Role
    ) -> tuple[HistoryLine, ...]:
        """What this person may see of what happened to an anchor and to its earlier spans."""
        return await self._read(self.store.seen_history, anchor_id, me, role)

    async def queue_count(
        self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> int:
        """How many anchors a query finds. QueryError for what this role may not ask."""
        return await self._read(self.store.queue_count, query, me, role)

    async def check_models(self, query: Query) -> None:
        """Raise QueryError for an order by a model that there is not."""
        await self._read(self.store.check_models, query)

    async def queue_rows(
        self, ids: Sequence[int], me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> tuple[QueueRow, ...]:
        """Lines of the queue, in the order asked, as this person sees them in this role."""
        return await self._read(self.store.queue_rows, ids, me, role)

    async def queue_values(
        self, key: str, me: Annotator | None = None, role: Role = Role.ADJUDICATOR
    ) -> tuple[str, ...]:
        """Values of a query key that the database knows, for completion."""
        return await self._read(self.store.queue_values, key, me, role)

    async def preview_bulk(
        self,
        query: Query,
        wish: "BulkOperation",
        me: Annotator,
        progress: Callable[[str, int], None],
    ) -> "BulkPreview":
        """What a wish would do to all that a query finds now."""
        return await self._read(self.store.preview_bulk, query, wish, me, progress)

    async def last_decided(self, me: Annotator) -> int | None:
        """The anchor that this person decided last."""
        return await self._read(self.store.last_decided, me)

    async def similar(
        self, anchor_id: int, passage: Passage, answer: Answer, me: Annotator
    ) -> "tuple[SimilarAnswer, ...]":
        """What is like an anchor to which an answer was given."""
        return await self._read(self.store.similar, anchor_id, passage, answer, me)

    async def precedents(
        self, anchor_id: int, me: Annotator, nouns: Collection[str], tag: str | None
    ) -> "tuple[Precedent, ...]":
        """Earlier decisions that bear on an anchor, as an adjudicator may see them."""
        return await self._read(self.store.precedents, anchor_id, me, nouns, tag)

    async def views(self, me: Annotator) -> tuple[tuple[str, str], ...]:
        """Saved views: name and query."""
        return await self._read(self.store.views, me)

    async def place(self, me: Annotator, mode: str) -> QueuePosition:
        """Where this person stood when last in this mode."""
        return await self._read(self.store.place, me, mode)

    async def setting(self, name: str) -> str | None:
        """A setting of this database."""
        return await self._read(self.store.setting, name)

    async def guideline(self, version: int | None = None) -> "Guideline | None":
        """One version of the guidelines, or the one that holds; None if there is none."""
        return await self._read(self.store.guideline, version)

    async def guidelines(self) -> "tuple[Guideline, ...]":
        """All versions of the guidelines, the first one first."""
        return await self._read(self.store.guidelines)

    async def tagged_items(
        self, only: Annotator | None = None, asks: Annotator | None = None
    ) -> dict[str, int]:
        """How many anchors have an answer with each tag; only: of this person's own.

        asks: who is told nothing of what they have still to decide blind; so below.
        """
        return await self._read(self.store.tagged_items, only, asks)

    async def tagged_anchors(
        self,
        wanted: Iterable[tuple[str, int | None]],
        only: Annotator | None = None,
        asks: Annotator | None = None,
    ) -> "array[int]":
        """The anchors whose decision has one of these rules under one of these versions."""
        return await self._read(self.store.tagged_anchors, wanted, only, asks)

    async def tagged_decisions(
        self, only: Annotator | None = None, asks: Annotator | None = None
    ) -> "tuple[Tagged, ...]":
        """How many decisions have each tag, version by version; those without one, too."""
        return await self._read(self.store.tagged_decisions, only, asks)

    async def queue_ids(
        self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> "AsyncIterator[array[int]]":
        """The ids that a query finds, in chunks, the first one small.

        The whole answer is read in one thread, because a cursor stays with its thread;
        leaving the loop early stops the reading after the chunk under way.
        """
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[array[int] | None] = asyncio.Queue()
        left = threading.Event()

        def read() -> None:
            try:
                for chunk in self.store.queue_ids(query, me, role):
                    if left.is_set():
                        return
                    loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            finally:
                loop.call_soon_threadsafe(chunks.put_nowait, None)

        reading = loop.run_in_executor(self._readers, read)
        try:
            while (chunk := await chunks.get()) is not None:
                yield chunk
            await reading
        finally:
            left.set()

    # --- counting and comparing ---------------------------------------------------------

    async def answers_version(self) -> tuple[int, int]:
        """Changes whenever an answer, a gold, a flag or an anchor may have."""
        return await self._read(self.store.answers_version)

    async def predictions_version(self) -> tuple[tuple[object, ...], ...]:
        """Changes whenever what models say may have."""
        return await self._read(self.store.predictions_version)

    async def confusions(self, query: Query, me: Annotator) -> "Confusions":
        """Counts of annotators' answers among the anchors of a query."""
        return await self._read(self.store.confusions, query, me)

    async def models(self) -> "tuple[Model, ...]":
        """All models, in the order of their registration."""
        return await self._read(self.store.models)

    async def active_model(self, task: str) -> "Model | None":
        """The model that a task uses; None if it has none yet."""
        return await self._read(self.store.active_model, task)

    async def models_with_predictions(self) -> tuple[tuple[int, str], ...]:
        """Id and name of each model that says something; the active one first."""
        return await self._read(self.store.models_with_predictions)

    async def people_with_answers(self) -> tuple[str, ...]:
        """The names of those who answered anything as annotators."""
        return await self._read(self.store.people_with_answers)

    async def compared(
        self, left: "ComparedSide", right: "ComparedSide", query: Query, me: Annotator
    ) -> "ComparisonCounts":
        """A model against gold or another model, or a person against gold.

        Cancelled, the reading ends soon, too.
        """
        left_off = threading.Event()
        try:
            return await self._read(
                self.store.compared, left, right, query, me, left_off.is_set
            )
        finally:
            left_off.set()

    async def changes_since(
        self, path: Path, query: Query, me: Annotator, progress: Callable[[int], None]
    ) -> "Changes":
        """Gold here against a `gold` file. progress: rows done, called in another thread.

        Cancelled, the reading ends soon, too.
        """
        left_off = threading.Event()
        try:
            return await self._read(
                self.store.changes_since, path, query, me, left_off.is_set, progress
            )
        finally:
            left_off.set()

    # --- writing ------------------------------------------------------------------------

    def commit_answer(
        self, anchor_id: int, me: Annotator, role: Role, answer: Answer, seen: Exposure
    ) -> Awaitable[Saved]:
        """Store an answer; an adjudicator's makes gold. Its turn is taken by the call."""
        return self._write(self.store.commit_answer, anchor_id, me, role, answer, seen)

    async def withdraw(self, anchor_id: int, me: Annotator, role: Role) -> Saved:
        """Take one's answer back, and the gold it made."""
        return await self._write(self.store.withdraw, anchor_id, me, role)

    async def set_flag(self, anchor_id: int, me: Annotator, name: FlagName, on: bool) -> Saved:
        """Set or take away one's own flag."""
        return await self._write(self.store.set_flag, anchor_id, me, name, on)

    async def propose_span(self, anchor_id: int, me: Annotator, anchor: Anchor) -> Saved:
        """Propose another span for an anchor; its own takes the proposal back."""
        return await self._write(self.store.propose_span, anchor_id, me, anchor)

    async def replace_anchor(
        self,
        anchor_id: int,
        me: Annotator,
        role: Role,
        anchor: Anchor,
        agreed: StaleLabels = NO_LABELS,
    ) -> Saved:
        """Give an anchor another span; the new anchor's id is in what comes back.

        Raises StaleLabelsError for what becomes stale by it and is not in `agreed`.
        """
        return await self._write(self.store.replace_anchor, anchor_id, me, role, anchor, agreed)

    async def settlement_to_undo(self, me: Annotator) -> tuple[int, str] | None:
        """The settlement that one's next undo takes back whole; None if it is none."""
        return await self._read(self.store.settlement_to_undo, me)

    async def undo(self, me: Annotator) -> Undone | None:
        """Take one's last act back; None if there is none."""
        return await self._write(self.store.undo, me)

    async def redo(self, me: Annotator) -> Undone | None:
        """Do again what was taken back last; None if there is nothing."""
        return await self._write(self.store.redo, me)

    def run_bulk(
        self,
        ids: Sequence[int],
        wish: "BulkOperation",
        me: Annotator,
        seeing: "Seeing",
        progress: Callable[[str, int], None],
    ) -> "Awaitable[BulkDone]":
        """Do one thing to many items, as one act; progress is called in another thread."""
        return self._write(self.store.run_bulk, ids, wish, me, seeing=seeing, progress=progress)

    async def save_draft(
        self, anchor_id: int, me: Annotator, role: Role, body: str | None
    ) -> None:
        """Keep an answer begun; None forgets it."""
        await self._write(self.store.save_draft, anchor_id, me, role, body)

    async def save_place(self, me: Annotator, mode: str, place: QueuePosition) -> None:
        """Keep where this person stands."""
        await self._write(self.store.save_place, me, mode, place)

    async def save_view(self, me: Annotator, name: str, query: str | None) -> None:
        """Keep a query under a name; None forgets it."""
        await self._write(self.store.save_view, me, name, query)

    async def begin_guidelines(self, body: str) -> bool:
        """Make a text the first version of the guidelines, if there is none; whether it was."""
        return await self._write(self.store.begin_guidelines, body)

    async def add_guideline(
        self, body: str, me: Annotator, after: int
    ) -> "tuple[Guideline, bool]":
        """Make a text, made from version `after`, hold; whether it is a new version."""
        return await self._write(self.store.add_guideline, body, me, after)

    async def set_setting(self, name: str, value: str) -> None:
        """Keep a setting of this database."""
        await self._write(self.store.set_setting, name, value)
