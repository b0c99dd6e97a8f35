"""What the store does about models and the jobs that make them; a part of `Store`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from nfh_db import job_queue, jobs, models, outcomes
from nfh_db.activations import Because
from nfh_db.errors import BusyError, FullError, StoreError
from nfh_db.job_queue import Kinds
from nfh_db.jobs import IN_PLACE, TRAIN, Job, JobPoint, JobProgress, JobState, NewJob
from nfh_db.models import Model, NewModel
from nfh_db.sides_store import SidesStore

CANCELLED = "the job was cancelled"


class JobGoneError(StoreError):
    """A job that is to go on, and has been ended by somebody else."""


class TrainingStore(SidesStore):
    """Registered models, and jobs."""

    # --- models -------------------------------------------------------------------------

    def models(self) -> tuple[Model, ...]:
        """All models, in the order of their registration."""
        with self._readers.lend() as connection:
            return models.read_all(connection)

    def model(self, name: str) -> Model | None:
        """A model by its name."""
        with self._readers.lend() as connection:
            return models.read_named(connection, name)

    def active_model(self, task: str) -> Model | None:
        """The model that a task uses; None if it has none yet."""
        with self._readers.lend(one_state=True) as connection:
            found = models.active(connection, task)
            return None if found is None else models.read(connection, found[0])

    def activate_model(self, model_id: int, because: Because | None = None) -> Model:
        """Make a model the one that its task uses. StoreError if there is none."""
        with self._deciding() as connection:
            found = models.read(connection, model_id)
            if found is None:
                raise StoreError(f"there is no model {model_id}")
            models.activate(connection, found, because)
            active = models.read(connection, model_id)
        return active or found

    def standing_in(self, task: str) -> str | None:
        """The built-in model that answers while the active one of both tasks cannot."""
        with self._readers.lend() as connection:
            return models.standing_in(connection, task)

    def stand_in(self, task: str, name: str) -> None:
        """Let a registered built-in model of a task answer in place of that of both tasks."""
        with self._noting() as connection:
            models.stand_in(connection, task, name)

    def stand_down(self, task: str) -> None:
        """Let the model of both tasks answer again that another stood in for."""
        with self._noting() as connection:
            models.stand_down(connection, task)

    # --- jobs ---------------------------------------------------------------------------

    def queue_job(self, new: NewJob) -> int:
        """A new job that a runner will take; its id."""
        with self._deciding() as connection:
            return jobs.add(connection, new)

    def accept_job(self, shown: Job) -> bool:
        """Make a foreign job this installation's own, as it was shown; False if it has changed
        since, or is gone.
        """
        with self._deciding() as connection:
            return jobs.accept(connection, shown)

    def claim_job(
        self, kinds: Kinds, trainings: int = 1, only: int | None = None
    ) -> Job | None:
        """The oldest own job that can be run now, claimed for this process; None if none can.

        kinds: those that this program knows. trainings: so many heavy ones at a time. only:
        that job alone.
        """
        with self._noting() as connection:
            job_id = job_queue.claim(connection, kinds, trainings, only)
            return None if job_id is None else jobs.read(connection, job_id)

    def waiting_job(self, kinds: Kinds, trainings: int = 1) -> int | None:
        """The number of the job that `claim_job` would claim; None if there is none."""
        with self._readers.lend() as connection:
            lost = job_queue.lost(connection)
        if lost:
            with suppress(FullError, BusyError), self._noting() as connection:
                job_queue.interrupt_lost(connection)
        with self._readers.lend() as connection:
            found = job_queue.waiting(connection, kinds, trainings)
            return None if found is None else found[0]

    def begin_job(self, task: str, arguments: Mapping[str, object], kind: str = TRAIN) -> int:
        """A new job that this process runs; its id. Jobs of ended processes are marked so."""
        with self._noting() as connection:
            job_queue.interrupt_lost(connection)
            job_id = jobs.add(connection, NewJob(kind, IN_PLACE, task, arguments))
            job_queue.start(connection, job_id)
        return job_id

    def note_job(
        self, job_id: int, progress: JobProgress, point: JobPoint | None = None
    ) -> None:
        """Say how far a job is, with a point of its curves. JobGoneError if it was ended."""
        with self._noting() as connection:
            if not jobs.note(connection, job_id, progress):
                raise JobGoneError(CANCELLED)
            if point is not None:
                jobs.add_point(connection, job_id, point)

    def beat_job(self, job_id: int) -> bool:
        """Say that this process is at a job; False if somebody else ended it or has it."""
        with self._noting() as connection:
            return jobs.beat(connection, job_id)

    def set_job_snapshot(self, job_id: int, snapshot: str) -> None:
        """Note the hash of the labels that a job works on."""
        with self._noting() as connection:
            jobs.set_snapshot(connection, job_id, snapshot)

    def set_job_log(self, job_id: int, log: str) -> None:
        """Note where a job's log is."""
        with self._noting() as connection:
            jobs.set_log(connection, job_id, log)

    def end_job(
        self,
        job_id: int,
        state: JobState,
        error: str | None = None,
        result: Mapping[str, object] | None = None,
    ) -> bool:
        """Say how a job ended that made no model; False if it had ended before.

        Anybody may cancel a job; the rest is for the process that runs it.
        """
        anyone = state is JobState.CANCELLED
        with self._deciding() as connection:
            return jobs.end(
                connection, job_id, state, anyone=anyone, error=error, result=result
            )

    def retry_job(self, job_id: int) -> bool:
        """Put a job back into the queue that was interrupted, or ended without being done."""
        with self._deciding() as connection:
            return job_queue.try_again(connection, job_id)

    def finish_training(
        self,
        job_id: int,
        new: NewModel,
        result: Mapping[str, object] | None = None,
        *,
        verdict: Mapping[str, object] | None = None,
        promote: bool = False,
        then: NewJob | None = None,
    ) -> Model:
        """Register what a job made, put it to use, say that the job is done: all or nothing.

        verdict: of `nfh_tui.jobs.judging`, as JSON; without one a model is active where its
        task has no other, else a candidate. promote: whether one that is found better takes
        over. then: a job to be queued if the model is in use. Raises JobGoneError if somebody
        ended the job, StoreError if the name is taken.
        """
        with self._deciding() as connection:
            judged = outcomes.settled(connection, verdict, promote=promote)
            model_id = outcomes.register(connection, new, judged, job_id)
            if result is not None:
                result = {**result, "verdict": judged or None}
            if then is not None and outcomes.in_use(connection, model_id):
                jobs.add(connection, then)
            if not jobs.end(
                connection,
                job_id,
                JobState.DONE,
                metrics=new.metrics,
                result=result,
                model_id=model_id,
            ):
                raise JobGoneError(CANCELLED)
            found = models.read(connection, model_id)
        if found is None:
            raise StoreError(f"the model {new.name} is gone again")
        return found

    def job(self, job_id: int) -> Job | None:
        """A job by its id, marked as interrupted where its process has ended."""
        with self._readers.lend() as connection:
            found = jobs.read(connection, job_id)
            if found is None or not job_queue.lost(connection, job_id):
                return found
        try:
            with self._noting() as connection:
                job_queue.interrupt_lost(connection, job_id)
                return jobs.read(connection, job_id)
        except (FullError, BusyError):
            return _interrupted(found)

    def job_points(self, job_id: int) -> tuple[JobPoint, ...]:
        """A job's curves, in order."""
        with self._readers.lend() as connection:
            return jobs.points(connection, job_id)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, the newest first; those of ended processes are marked so."""
        with self._readers.lend() as connection:
            found = jobs.read_all(connection)
            lost = {job_id for job_id, _ in job_queue.lost(connection)}
        if not lost:
            return found
        try:
            with self._noting() as connection:
                job_queue.interrupt_lost(connection)
                return jobs.read_all(connection)
        except (FullError, BusyError):
            return tuple(_interrupted(job) if job.id in lost else job for job in found)


def _interrupted(job: Job) -> Job:
    """A job whose process is gone, where the database cannot be written."""
    return replace(job, state=JobState.INTERRUPTED, error=job_queue.GONE)
