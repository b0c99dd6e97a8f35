"""What the store does about work that goes on by itself beside people; a part of `Store`."""

from collections.abc import Container
from dataclasses import replace

from nfh_db import job_queue, pulse, retraining
from nfh_db.jobs import JobState, NewJob
from nfh_db.opened import OpenDatabase
from nfh_db.pulse import Pulse
from nfh_db.retraining import Every, Look


class LiveStore(OpenDatabase):
    """What goes on, and trainings that come round."""

    def pulse(self, after: int) -> Pulse:
        """The jobs that wait or run, and the changes of models after the one of a number.

        One whose process is gone is told as interrupted; whoever starts a runner writes that.
        """
        with self._readers.lend(one_state=True) as connection:
            found = pulse.read(connection, after)
            if all(job.state is not JobState.RUNNING for job in found.jobs):
                return found
            lost = {job_id for job_id, _ in job_queue.lost(connection)}
        jobs = (
            replace(job, state=JobState.INTERRUPTED) if job.id in lost else job
            for job in found.jobs
        )
        return replace(found, jobs=tuple(jobs))

    def orders_version(self) -> tuple[float, ...]:
        """Numbers that change whenever an order that models make may have."""
        with self._readers.lend(one_state=True) as connection:
            return pulse.orders_version(connection)

    # --- trainings that come round ------------------------------------------------------

    def every(self) -> tuple[Every, ...]:
        """The trainings that come round, each with how many decisions it has come."""
        with self._readers.lend(one_state=True) as connection:
            return retraining.read(connection)

    def set_every(self, task: str, number: int, new: NewJob | None) -> None:
        """Have a training queued after every so many decisions; None: no longer."""
        with self._deciding() as connection:
            retraining.put(connection, task, number, new)

    def retraining(self) -> Look:
        """What there is to do about them."""
        with self._readers.lend(one_state=True) as connection:
            return retraining.look(connection)

    def queue_retraining(self, held: Container[str] = ()) -> tuple[int, ...]:
        """Queue the trainings that are due, each once whoever asks; their numbers.

        held: tasks of which none is queued.
        """
        with self._deciding() as connection:
            return retraining.queue_due(connection, held)
