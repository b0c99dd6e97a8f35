"""A job's log: what it was at and when, what its libraries said, and how it ended."""

import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nfh_tui.jobs.job_files import LOG, job_folder
from nfh_tui.jobs.logs import open_private
from nfh_tui.jobs.words import called

if TYPE_CHECKING:
    from pathlib import Path

    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import Progress


ATTEMPT = ", attempt "
"""In the line with which each attempt begins, before its number."""


class JobLog:
    """The log of a job, appended to. While it is open, standard error goes there, too.

    A log that cannot be written is done without: the job is worth more.
    """

    def __init__(self, store: "Store", job: "Job") -> None:
        self._store = store
        self._job = job
        self._file: int | None = None
        self._before: int | None = None
        self._phase = ""

    def __enter__(self) -> Self:
        number = self._job.attempts
        with suppress(OSError):
            path = job_folder(self._store.path, self._job) / LOG
            number = max(number, 1 + _begun(path))
            self._file = open_private(path)
            self._redirect(self._file)
            self._store.set_job_log(self._job.id, str(path))
        self.say(
            " ".join(filter(None, (called(self._job.kind), self._job.task)))
            + f"{ATTEMPT}{number}"
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            sys.stderr.flush()
            os.dup2(self._before, 2)
            os.close(self._before)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def say(self, words: str) -> None:
        """A line, with the time."""
        if self._file is None:
            return
        at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        with suppress(OSError):
            os.write(self._file, f"{at} {words}\n".encode("utf-8", "replace"))

    def telling(self, progress: "Progress") -> "Progress":
        """What tells `progress`, and has a line in the log for each new phase."""

        def tell(phase: str, done: int, total: int) -> None:
            if phase != self._phase:
                self._phase = phase
                self.say(phase)
            progress(phase, done, total)

        return tell

    def _redirect(self, file: int) -> None:
        """Standard error into the log, where it is a file of the system."""
        with suppress(OSError, ValueError, AttributeError):
            if sys.stderr.fileno() == 2:
                self._before = os.dup(2)
                os.dup2(file, 2)


def _begun(path: "Path") -> int:
    """How many attempts a log tells of: one put back into the queue is counted from there."""
    try:
        with path.open("rb") as file:
            return sum(ATTEMPT.encode() in line for line in file)
    except FileNotFoundError:
        return 0
