"""The job runner, `python -m nfh_tui.jobs.runner --db PATH`: works the queue until it is empty.

It is a process of its own, detached from whoever started it, and has the machine after
everybody else. What it is killed in is marked as interrupted by whoever reads the queue next,
and taken up by the next runner.
"""

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from nfh_db.errors import BusyError, FullError, StoreError
from nfh_db.formats.wording import lines_visible
from nfh_db.jobs import Job, JobState
from nfh_db.store import Store
from nfh_db.training_store import CANCELLED, JobGoneError
from nfh_tui.ending import EndedError, tidily
from nfh_tui.jobs.arguments import check_arguments
from nfh_tui.jobs.endings import our_fault, sentence
from nfh_tui.jobs.heart import Heart
from nfh_tui.jobs.job_files import (
    find_folder,
    forget,
    give_room,
    jobs_folder,
    keep_room,
    tidy,
)
from nfh_tui.jobs.job_log import JobLog
from nfh_tui.jobs.kinds import KINDS, claimable
from nfh_tui.training_jobs import JobReporter, Progress

Told = TypeVar("Told")

PATIENCE = 12
"""So often a write is tried again that another program's writes keep out, ten seconds each."""

NICENESS = 10
"""The lowest priority but those that ask for even less: people at the screen come first."""

GROWN = 1_500_000_000
"""Bytes of memory that a runner may hold between two jobs; with more it begins anew. What
libraries keep of one job is of no use to the next. It also begins anew behind a job that was
interrupted: libraries may be in the middle of something."""


def work(
    store: Store,
    progress: Progress,
    *,
    trainings: int = 1,
    enough: Callable[[], bool] = lambda: False,
    fresh: bool = False,
    only: int | None = None,
) -> int:
    """Run what is in the queue until nothing is left that can be run now; how many were run.

    trainings: so many heavy jobs may run at a time, others' included. enough: asked after each
    job whether to leave the rest. fresh: leave it to a new process where this one is no place
    for a further job. only: the number of the one job that is run. Raises StoreError where the
    queue cannot be read or written, and KeyboardInterrupt, which leaves the job interrupted.
    """
    done = 0
    while (
        job := _patiently(lambda: store.claim_job(claimable(), trainings, only))
    ) is not None:
        interrupted = run(store, job, progress)
        done += 1
        if enough() or (fresh and (interrupted or _grown())):
            break
    return done


def run(store: Store, job: Job, progress: Progress) -> bool:
    """Run a job that this process has claimed, and say how it ended; whether it was
    interrupted, since somebody else ended it.

    Raises KeyboardInterrupt where the process is to end; the job then is interrupted. Raises
    StoreError where it cannot be said how the job ended: the process is to end then, for its
    being there says that it is at the job.
    """
    with JobLog(store, job) as log, _room(store, job):
        report = JobReporter(store, job.id, log.telling(progress))
        heart = Heart(store, job, log.say)
        try:
            with heart:
                check_arguments(job)
                result = KINDS[job.kind].run(store, job, report)
            log.say("done" if _done(store, job, result) else f"ended: {CANCELLED}")
        except BaseException as error:
            if heart.caused(error):
                error = JobGoneError(CANCELLED)
            _end(store, job, error, log)
            if isinstance(error, KeyboardInterrupt):
                raise
    found = store.job(job.id)
    if found is not None and found.state is JobState.DONE:
        with suppress(OSError):
            tidy(store.path, job)
    return heart.interrupted


def _done(store: Store, job: Job, result: Mapping[str, object] | None) -> bool:
    """Say that a job is done, unless its body did; False if somebody ended it meanwhile."""
    if result is None:
        return True
    return _patiently(lambda: store.end_job(job.id, JobState.DONE, result=result))


def _patiently(write: Callable[[], Told]) -> Told:
    """A write that waits for others for longer than those do that a person waits for."""
    for _ in range(PATIENCE):
        with suppress(BusyError):
            return write()
    return write()


def _end(store: Store, job: Job, error: BaseException, log: JobLog) -> None:
    """Note how a job ended early; one that somebody else ended is left as it is."""
    if isinstance(error, JobGoneError):
        log.say(f"ended: {error}")
        return
    state = JobState.FAILED
    if isinstance(error, KeyboardInterrupt):
        state = JobState.INTERRUPTED
        said = str(error) if isinstance(error, EndedError) else "stopped"
    else:
        if our_fault(error):
            log.say("".join(traceback.format_exception(error)))
        said = sentence(error, job.id, _folder(store, job))
    log.say(f"{state}: {said}")
    if state is JobState.INTERRUPTED:
        with suppress(StoreError):  # the process ends, and that says the same
            store.end_job(job.id, state, said)
        return
    try:
        _patiently(lambda: store.end_job(job.id, state, said))
    except FullError:
        give_room(store.path, job)
        log.say(f"{state}: {said}")
        store.end_job(job.id, state, said)


def _folder(store: Store, job: Job) -> Path:
    """Where a job's files are; where they would be, if it has none."""
    with suppress(OSError):
        return find_folder(store.path, job) or jobs_folder(store.path)
    return jobs_folder(store.path)


@contextmanager
def _room(store: Store, job: Job) -> Iterator[None]:
    """Room on the disk that is set aside, to note how the job ended."""
    with suppress(OSError):
        keep_room(store.path, job)
    try:
        yield
    finally:
        with suppress(OSError):
            give_room(store.path, job)


def main(arguments: Sequence[str] | None = None) -> int:
    """Work the queue; 0, or 1 where the database cannot be used or the process was to end."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.runner")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    parser.add_argument("--trainings", type=int, default=1, help="heavy jobs at a time")
    asked = parser.parse_args(arguments)
    _step_back()
    # A shell's background ignores it, and a job that is cancelled is interrupted by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with tidily(), Store.open(asked.db) as store:
            _forget(store)
            work(store, _nobody, trainings=asked.trainings, fresh=True)
            anew = store.waiting_job(claimable(), asked.trainings) is not None
    except StoreError as error:
        sys.stderr.write(f"{lines_visible(str(error))}\n")
        return 1
    except KeyboardInterrupt as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if anew:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - itself
    return 0


def _forget(store: Store) -> None:
    """Remove what is left of jobs that nobody went on with for long."""
    with suppress(OSError):
        forget(store.path, [job for job in store.jobs() if job.state.ended])


def _nobody(phase: str, done: int, total: int) -> None:
    """Nobody watches: the row in the database says it."""


def _grown() -> bool:
    """Whether this process holds more memory than it should; only Linux says."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return False
    return int(pages) * os.sysconf("SC_PAGE_SIZE") > GROWN


def _step_back() -> None:
    """Let everybody else go first."""
    # Networks' threads that spin while they wait for each other starve beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with suppress(OSError, AttributeError):
        # Not os.nice: a runner that begins anew would go down further each time.
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, max(mine, NICENESS))
    # A session of its own is a group of its own to Linux' scheduler, which weighs groups.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS), "ascii")


if __name__ == "__main__":
    sys.exit(main())
