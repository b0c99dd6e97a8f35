"""What the store does about models and the jobs that make them; a part of `Store`."""

from collections.abc import Mapping

from nfh_db import jobs, models
from nfh_db.errors import StoreError
from nfh_db.jobs import Job, JobProgress, JobState
from nfh_db.models import Model, NewModel
from nfh_db.opened import OpenDatabase

CANCELLED = "the job was cancelled"


class JobGoneError(StoreError):
    """A job that is to go on, and has been ended by somebody else."""


class TrainingStore(OpenDatabase):
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

    def activate_model(self, model_id: int) -> Model:
        """Make a model the one that its task uses. StoreError if there is none."""
        with self._deciding() as connection:
            found = models.read(connection, model_id)
            if found is None:
                raise StoreError(f"there is no model {model_id}")
            models.activate(connection, found)
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

    def begin_job(self, task: str, arguments: Mapping[str, object]) -> int:
        """A new job that this process runs; its id. Jobs of ended processes are marked so."""
        with self._noting() as connection:
            jobs.interrupt_lost(connection)
            job_id = jobs.add(connection, task, arguments)
        with self._noting() as connection:
            if not jobs.start(connection, job_id):
                raise JobGoneError(CANCELLED)
        return job_id

    def note_job(self, job_id: int, progress: JobProgress) -> None:
        """Say how far a job is. JobGoneError if somebody ended it."""
        with self._noting() as connection:
            if not jobs.note(connection, job_id, progress):
                raise JobGoneError(CANCELLED)

    def end_job(self, job_id: int, state: JobState, error: str | None = None) -> None:
        """Say how a job ended that made nothing."""
        with self._noting() as connection:
            jobs.end(connection, job_id, state, error=error)

    def finish_training(self, job_id: int, new: NewModel) -> Model:
        """Register what a job made and say that it is done, both or neither.

        Raises JobGoneError if somebody ended the job, StoreError if the name is taken.
        """
        with self._deciding() as connection:
            model_id = models.register(connection, new)
            if not jobs.end(
                connection, job_id, JobState.DONE, metrics=new.metrics, model_id=model_id
            ):
                raise JobGoneError(CANCELLED)
            found = models.read(connection, model_id)
        if found is None:
            raise StoreError(f"the model {new.name} is gone again")
        return found

    def job(self, job_id: int) -> Job | None:
        """A job by its id."""
        with self._readers.lend() as connection:
            return jobs.read(connection, job_id)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, the newest first; those of ended processes are marked so."""
        with self._noting() as connection:
            jobs.interrupt_lost(connection)
        with self._readers.lend() as connection:
            return jobs.read_all(connection)
