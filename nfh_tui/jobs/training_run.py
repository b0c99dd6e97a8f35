"""A training as a job: from its row to a registered model, over as many attempts as it takes.

What it works on is fixed when it is first begun, and lies in its folder: the labels, and the
model that it starts from. So it goes on after a kill as if nothing had happened, whatever
anybody decided meanwhile.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.jobs import NewJob
from nfh_db.models import NewModel
from nfh_db.training_store import CANCELLED, JobGoneError
from nfh_models.model_files import ModelFileError, digest_of
from nfh_models.training.plan import DivergedError, TrainingError
from nfh_tui.jobs import predict_all
from nfh_tui.jobs.job_files import inner_folder, job_folder, remove
from nfh_tui.jobs.placing import placed
from nfh_tui.jobs.snapshot import Snapshot, SnapshotError
from nfh_tui.jobs.taking import IDENTIFICATION, take
from nfh_tui.jobs.training_body import Made, Tell, TrainSpec, train_model
from nfh_tui.jobs.training_order import Order, order_of, spec_of
from nfh_tui.jobs.whole_files import write_whole
from nfh_tui.model_folders import stored_path
from nfh_tui.training_jobs import Step

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

SNAPSHOT = "snapshot.json"
SPEC = "spec.json"
WORK = "work"
MODEL = "model"
MADE = "made.json"
"""What a training keeps in its job's folder: labels, settings, checkpoints, the model."""

UNDECIDED = "-state:decided"

LEARNING = ("training", "judging", "saving")
"""Phases of a network behind its start from a checkpoint."""


def train(store: "Store", job: "Job", report: "JobReporter") -> None:
    """Train, judge, register, and say that the job is done.

    Raises ModelsError where nothing can be learnt or parsed, StoreError, OSError, and
    JobGoneError and KeyboardInterrupt, after which it can be gone on with.
    """
    from nfh_tui.choosing_models import ensure_built_in

    begun = time.perf_counter()
    ensure_built_in(store)
    attempt = _Attempt(store, job, report, order_of(job.task, job.arguments))
    spec = attempt.spec()
    snapshot = attempt.snapshot()
    store.set_job_snapshot(job.id, snapshot.digest)
    made = attempt.model(snapshot, spec)
    attempt.register(snapshot, made, begun)


@dataclass(frozen=True)
class _Attempt:
    """One run of the job, which may have had others before."""

    store: "Store"
    job: "Job"
    report: "JobReporter"
    order: Order

    @property
    def home(self) -> Path:
        return job_folder(self.store.path, self.job)

    def spec(self) -> TrainSpec:
        """The settings, with the model that was the active one when the job first began."""
        path = self.home / SPEC
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=TrainSpec)
        spec = spec_of(self.store, self.order)
        write_whole(path, msgspec.json.encode(spec))
        return spec

    def snapshot(self) -> Snapshot:
        """The labels as they were when the job first began."""
        path = self.home / SNAPSHOT
        with suppress(FileNotFoundError, SnapshotError):
            return Snapshot.read(path)
        self._forget()  # what was learnt from other labels is of no use
        snapshot = take(self.store, self.order.which, self.report)
        snapshot.write(path)
        return snapshot

    def _forget(self) -> None:
        remove(*(self.home / name for name in (WORK, MODEL, MADE)))

    # --- making it ------------------------------------------------------------------------

    def model(self, snapshot: Snapshot, spec: TrainSpec) -> Made:
        """The model, made unless an attempt before has made it."""
        path, folder = self.home / MADE, self.home / MODEL
        with suppress(FileNotFoundError, ModelFileError, msgspec.MsgspecError):
            made = msgspec.json.decode(path.read_bytes(), type=Made)
            if digest_of(folder) == made.digest:
                return made
        remove(folder)
        made = self._trained(snapshot, spec)
        write_whole(path, msgspec.json.encode(made))
        remove(self.home / WORK)
        return made

    def _trained(self, snapshot: Snapshot, spec: TrainSpec) -> Made:
        work = inner_folder(self.home / WORK)
        before = any(work.iterdir())
        phases: set[str] = set()

        def tell(step: Step) -> None:
            phases.add(step.phase.partition(",")[0])
            self.report.step(step)

        try:
            return self._train(snapshot, spec, tell)
        except DivergedError:
            remove(work)  # it would go astray again
            raise
        except TrainingError:
            if not before or phases.intersection(LEARNING):
                raise
        # A checkpoint that does not hold: the labels are there, and it begins anew.
        remove(work)
        work.mkdir()
        return self._train(snapshot, spec, tell)

    def _train(self, snapshot: Snapshot, spec: TrainSpec, tell: Tell) -> Made:
        work, out, scheduler = self.home / WORK, self.home / MODEL, self.order.scheduler
        if scheduler is None:
            return train_model(snapshot, spec, work, out, tell)
        from nfh_tui.jobs.cluster_training import train_model_at

        return train_model_at(scheduler, snapshot, spec, work, out, tell)

    # --- making it known ------------------------------------------------------------------

    def register(self, snapshot: Snapshot, made: Made, begun: float) -> None:
        """Judge the model, put it in its place and register it; the job is done with it."""
        from nfh_tui.jobs.judging import judge

        store, order = self.store, self.order
        model = self.home / MODEL
        verdict = judge(store, snapshot, model, self.report.step, parser=order.parser)
        # Another process may have the job by now, and be putting its own in place.
        if not store.beat_job(self.job.id):
            raise JobGoneError(CANCELLED)
        with placed(store, self.home, model, order.recipe) as (folder, digest):
            new = NewModel(
                name=folder.name,
                task=order.task,
                recipe=order.recipe,
                version=made.version,
                path=stored_path(store.path, folder),
                digest=digest,
                config=made.config,
                metrics=made.metrics,
                snapshot=snapshot.digest,
            )
            result = {
                "model": folder.name,
                "passages": made.passages,
                "left_out": made.left_out,
                "notes": list(made.notes),
                "seconds": round(time.perf_counter() - begun, 3),
            }
            store.finish_training(
                self.job.id,
                new,
                result,
                verdict=verdict.to_json(),
                promote=order.promote,
                then=self._predicting(),
            )

    def _predicting(self) -> NewJob | None:
        """What follows where the model takes over; None where it resolves nothing."""
        if self.order.task == IDENTIFICATION:
            return None
        return predict_all.asked(UNDECIDED, asked_by=self.job.asked_by)
