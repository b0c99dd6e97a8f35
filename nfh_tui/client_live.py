"""What the workbench asks about work that goes on by itself; a part of `StoreClient`."""

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.jobs import Job
from nfh_db.pulse import Pulse
from nfh_db.query import Query
from nfh_db.records import Annotator, Role
from nfh_db.retraining import Look
from nfh_tui.client_jobs import JobsClient

if TYPE_CHECKING:
    from nfh_db.store import Store


class LiveClient(JobsClient):
    """What goes on beside the screen. Errors are the store's own.

    rescued: the file to which all there was has been written, None where none was needed.
    """

    rescued: Path | None = None

    @property
    def read_only(self) -> str:
        """Why nothing can be written, in a few words; "" where it can."""
        return self.store.read_only

    async def lost(self) -> str:
        """Why what is written would not be found again, in a sentence; "" where it would."""
        return await self._read(self.store.lost)

    async def rescue(self, unsaved: Sequence[Callable[["Store"], object]]) -> Path:
        """Write all there is to a new file, and there what could not be saved; its path."""
        from nfh_db.store import Store

        def rescue_all() -> Path:
            place = self.store.rescue()
            with Store.open(place) as copy:
                for save in unsaved:
                    save(copy)
            return place

        self.rescued = await self._write(rescue_all)
        return self.rescued

    async def pulse(self, after: int) -> Pulse:
        """The jobs that wait or run, and the changes of models after the one of a number."""
        return await self._read(self.store.pulse, after)

    async def job(self, job_id: int) -> Job | None:
        """A job, wherever it stands."""
        return await self._read(self.store.job, job_id)

    async def orders_version(self) -> tuple[float, ...]:
        """Numbers that change whenever an order that models make may have."""
        return await self._read(self.store.orders_version)

    async def retraining(self) -> Look:
        """What there is to do about trainings that come round."""
        return await self._read(self.store.retraining)

    async def queue_retraining(self) -> tuple[int, ...]:
        """Queue the trainings that are due and have what they need; their numbers."""
        from nfh_tui.jobs.every import too_few

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
