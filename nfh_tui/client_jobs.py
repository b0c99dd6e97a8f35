"""What screens may ask about jobs and models; a part of `StoreClient`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from nfh_db.jobs import Job, JobPoint, JobState, NewJob

if TYPE_CHECKING:
    from nfh_db.store import Store

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
        from nfh_tui.jobs.every import all_told

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
        from nfh_tui.packaged import packaged_metrics

        return await self._read(packaged_metrics)

    async def queue_job(self, new: NewJob) -> int:
        """Queue a job; its number. A runner is started by `start_runner`."""
        return await self._write(self.store.queue_job, new)

    async def check_training(self, new: NewJob) -> None:
        """Raise what says why a training would find nothing to learn, before it is queued."""
        from nfh_tui.jobs.at_hand import check_at_hand

        await self._read(check_at_hand, self.store, new)

    async def start_runner(self) -> bool:
        """Start a runner where a job waits; False where none waits, or none is wanted.

        Raises OSError where none can be started.
        """
        from nfh_tui.jobs.starting import ensure_runner

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
    from nfh_tui.jobs.job_files import log_of

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
