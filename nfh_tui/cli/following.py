"""A job followed until it has ended; to stop following leaves it running."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self

from nfh_db.formats.wording import visible
from nfh_db.jobs import JobState
from nfh_tui.cli.common import MESSAGE_LIMIT, Failure, emit, tell
from nfh_tui.cli.queueing import command, start
from nfh_tui.cli.steps import Steps
from nfh_tui.ending import EndedError
from nfh_tui.jobs.words import phase_words

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store

BETWEEN = 0.1
"""Seconds between two looks at a job."""

LOOKED_AFTER = 5.0
"""Seconds between two looks whether a runner is wanted: one may have been killed."""

PHASE_SHOWN = 40
"""Characters: with figures and what is followed it fits on a line."""


class ProgressAside(Steps):
    """Progress that shows also while standard error goes to the log of a job."""

    _file: IO[str] | None = None

    def __enter__(self) -> Self:
        if self.watched:
            self._file = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            self._file.flush()


def follow(store: "Store", job_id: int, db: Path | None, name: str) -> "Job":
    """A job once it has ended; it is taken up again where its process is gone.

    name: of what is shown on a terminal. Raises Failure for a job that nobody can run here,
    and at Ctrl-C; StoreError; EndedError, with a note on what becomes of the job.
    """
    from nfh_tui.jobs.starting import HERE, asked_for

    if asked_for(HERE):
        return _work_here(store, job_id, db, name)
    wait, cancel = command(f"jobs wait {job_id}", db), command(f"jobs cancel {job_id}", db)
    try:
        return _watch(store, job_id, db, name)
    except EndedError as ended:
        ended.add_note(f"Job {job_id} goes on: {wait} follows it.")
        raise
    except KeyboardInterrupt as interrupt:
        raise Failure(
            f"stopped following; job {job_id} goes on.\n{wait} follows it,\n{cancel} ends it."
        ) from interrupt


def wait_and_report(
    store: "Store", job_id: int, db: Path | None, name: str, *, as_json: bool
) -> None:
    """Follow a job that waits or runs, and print its report. Raises as `follow`, and Failure
    for a job that is not done in the end."""
    from nfh_tui.cli.jobs_done import done_json, done_lines

    job = read(store, job_id, db)
    if job.state in (JobState.QUEUED, JobState.INTERRUPTED):
        _check_runnable(job, db)
        start(store, db, waits=True)
    job = follow(store, job_id, db, name)
    check_done(job, db)
    if as_json:
        emit(done_json(store, job))
        return
    for line in done_lines(store, job, db):
        tell(line)


def read(store: "Store", job_id: int, db: Path | None) -> "Job":
    """A job by its number. db: as the call named it. Raises Failure for none."""
    found = store.job(job_id)
    if found is None:
        raise Failure(f"there is no job {job_id}; {command('jobs', db)} lists them")
    return found


def foreign_words(job: "Job", db: Path | None) -> str:
    """Why no runner of this user takes a job, and what to do. db: as the call named it."""
    return (
        f"job {job.id} was not queued from here, so no runner starts it.\n"
        f"{command(f'jobs show {job.id}', db)} says what it would do,\n"
        f"{command(f'jobs run --accept {job.id}', db)} starts it"
    )


def check_done(job: "Job", db: Path | None) -> None:
    """Raise Failure, with why, unless an ended job is done."""
    if job.state is JobState.DONE:
        return
    if job.state is JobState.CANCELLED:
        by = f" ({visible(job.error)})" if job.error else ""
        raise Failure(f"job {job.id} was cancelled{by}")
    log = command(f"jobs log {job.id}", db)
    said = visible(job.error or "it failed without a word", MESSAGE_LIMIT)
    raise Failure(f"{said}\nJob {job.id} has failed; its log: {log}")


def how_far(job: "Job") -> str:
    """What a job is at, how much of it is done, and its loss, in words."""
    words = visible(phase_words(job.phase or "") or "starting", PHASE_SHOWN)
    if job.total:
        words += f": {job.done:,} of {job.total:,}"
    elif job.done:
        words += f": {job.done:,}"
    loss = job.metrics.get("loss")
    return f"{words}, loss {loss:.3f}" if isinstance(loss, float) else words


def _watch(store: "Store", job_id: int, db: Path | None, name: str) -> "Job":
    from nfh_tui.jobs.starting import ensure_runner

    looked = time.monotonic()
    with Steps(name) as steps:
        while not (job := read(store, job_id, db)).state.ended:
            _check_runnable(job, db)
            running = job.state is JobState.RUNNING
            steps.step(how_far(job) if running else _waiting(store, job), 0, 0)
            time.sleep(BETWEEN)
            if time.monotonic() - looked > LOOKED_AFTER:
                looked = time.monotonic()
                with suppress(OSError):  # it was said when the job was queued
                    ensure_runner(store)
        return job


def _work_here(store: "Store", job_id: int, db: Path | None, name: str) -> "Job":
    """Work the queue until the job has ended."""
    from nfh_tui.jobs.runner import work

    def ended() -> bool:
        return read(store, job_id, db).state.ended

    try:
        with ProgressAside(name) as steps:
            while not (job := read(store, job_id, db)).state.ended:
                _check_runnable(job, db)
                if not work(store, steps.step, enough=ended):
                    time.sleep(BETWEEN)
            return job
    except KeyboardInterrupt as interrupt:
        wait = command(f"jobs wait {job_id}", db)
        interrupt.add_note(f"Job {job_id} is interrupted; {wait} goes on with it.")
        raise


def _waiting(store: "Store", job: "Job") -> str:
    """Why a job is not running, in words."""
    said = "waits" if job.state is JobState.QUEUED else "was interrupted, and waits"
    other = None if job.after is None else store.job(job.after)
    behind = "" if other is None or other.state.ended else f" for job {other.id}"
    return f"job {job.id} {said}{behind}"


def _check_runnable(job: "Job", db: Path | None) -> None:
    """Raise Failure for a job that waits, and that no runner of this program will take."""
    from nfh_db.jobs import IN_PLACE
    from nfh_tui.jobs.kinds import known

    if job.state is JobState.RUNNING:
        return
    if job.held:
        raise Failure(foreign_words(job, db))
    if known(job.kind, job.version):
        return
    if job.version == IN_PLACE:
        raise Failure(
            f"job {job.id} was interrupted, and was run by the command that asked for it:\n"
            "give that command again"
        )
    raise Failure(
        f"job {job.id} is of a kind that this program does not know "
        f"({visible(job.kind, 20)} {job.version}):\na newer nfh-tui made it, and can run it"
    )
