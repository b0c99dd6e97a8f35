"""The job runner, `python -m nfh_tui.jobs.runner --db PATH`: works the queue until it is empty.

It is a process of its own, detached from whoever started it, and has the machine after
everybody else. What it is killed in is marked as interrupted by whoever reads the queue next,
and taken up by the next runner.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from nfh_db.errors import StoreError
from nfh_db.jobs import Job, JobState
from nfh_db.store import Store
from nfh_db.training_store import JobGoneError
from nfh_models.errors import ModelsError
from nfh_tui.ending import EndedError, tidily
from nfh_tui.jobs.heart import Heart
from nfh_tui.jobs.job_files import tidy
from nfh_tui.jobs.job_log import JobLog
from nfh_tui.jobs.kinds import KINDS, claimable
from nfh_tui.training_jobs import JobReporter, Progress

NICENESS = 10
"""Added to the priority: people at the screen come first."""


def work(store: Store, progress: Progress, *, trainings: int = 1) -> int:
    """Run what is in the queue until nothing is left that can be run now; how many were run.

    trainings: so many heavy jobs may run at a time, others' included. Raises StoreError where
    the queue cannot be read, and KeyboardInterrupt, which leaves the job interrupted.
    """
    done = 0
    while (job := store.claim_job(claimable(), trainings)) is not None:
        run(store, job, progress)
        done += 1
    return done


def run(store: Store, job: Job, progress: Progress) -> None:
    """Run a job that this process has claimed, and say how it ended.

    Raises KeyboardInterrupt where the process is to end; the job then is interrupted.
    """
    with JobLog(store, job) as log:
        report = JobReporter(store, job.id, log.telling(progress))
        try:
            with Heart(store, job.id):
                result = KINDS[job.kind].run(store, job, report)
            if result is not None:
                store.end_job(job.id, JobState.DONE, result=result)
            log.say("done")
        except BaseException as error:
            _end(store, job, error, log)
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
    found = store.job(job.id)
    if found is not None and found.state.ended:
        with suppress(OSError):
            tidy(store.path, job.id)


def _end(store: Store, job: Job, error: BaseException, log: JobLog) -> None:
    """Note how a job ended early; one that somebody else ended is left as it is."""
    if isinstance(error, JobGoneError):
        log.say(f"ended: {error}")
        return
    sentence = str(error) or type(error).__name__
    state = JobState.FAILED
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        sentence = str(error) if isinstance(error, EndedError) else "stopped"
        state = JobState.INTERRUPTED
    elif not isinstance(error, (ModelsError, StoreError, OSError)):
        # A fault of ours: the log has where.
        log.say(traceback.format_exc())
        sentence = f"{type(error).__name__}: {sentence}"
    log.say(f"{state}: {sentence}")
    with suppress(StoreError):  # what ended it matters more, and may be the same trouble
        store.end_job(job.id, state, sentence)


def main(arguments: Sequence[str] | None = None) -> int:
    """Work the queue; 0, or 1 where the database cannot be read or the process was to end."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.runner")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    parser.add_argument("--trainings", type=int, default=1, help="heavy jobs at a time")
    asked = parser.parse_args(arguments)
    _step_back()
    try:
        with tidily(), Store.open(asked.db) as store:
            work(store, _nobody, trainings=asked.trainings)
    except StoreError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _nobody(phase: str, done: int, total: int) -> None:
    """Nobody watches: the row in the database says it."""


def _step_back() -> None:
    """Let everybody else go first."""
    # Networks' threads that spin while they wait for each other starve beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    # A session of its own is a group of its own to Linux' scheduler, which weighs groups.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS), "ascii")


if __name__ == "__main__":
    sys.exit(main())
