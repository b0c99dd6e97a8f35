"""A training on another machine: its labels go there, its curves and its model come back.

`train_model_at` stands in for `train_model` where a job names a scheduler. One try is under
way at a time. A worker that is lost is followed by another try, from the last checkpoint that
came home, on whatever worker there is.
"""

import hashlib
import queue
import shutil
import socket
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from nfh_db.beside import path_beside
from nfh_models.errors import ModelsError
from nfh_models.model_files import digest_of, read_config
from nfh_models.training.plan import DivergedError, TrainingError
from nfh_tui.jobs.cluster import LOOK_SECONDS, Future, Machines
from nfh_tui.jobs.cluster_checkpoints import Checkpoints
from nfh_tui.jobs.cluster_parcel import ParcelError, pack, unpack
from nfh_tui.jobs.cluster_work import CHECKPOINT, DIVERGED, Order, Reply, at_work, train
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.jobs.training_body import Made, Tell, TrainSpec
from nfh_tui.scanning.crew import CrewError
from nfh_tui.training_jobs import Phase
from nfh_tui.training_networks import CHECKPOINTS

TRIES = 4
"""So often a training is begun whose workers are lost."""

KINDS = {DIVERGED: DivergedError, CHECKPOINT: TrainingError}
"""What whoever goes on with a job has to tell apart."""

TRY_AGAIN = "Nothing was registered; the job can be tried again"


class WorkerFaultError(RuntimeError):
    """A worker met what nobody provided for; its traceback is the note."""


def train_model_at(
    address: str, snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell
) -> Made:
    """The same as `train_model`, done by a worker of the scheduler at an address.

    work: checkpoints come home into it, and those in it go along. Its path tells this training
    from others. Raises CrewError for whatever is wrong with the cluster, else what
    `train_model` raises there.
    """
    with Machines(address) as machines:
        return _Training(machines, snapshot, spec, work, out, tell).made()


@dataclass(frozen=True, slots=True)
class _Lost:
    """A try that came to nothing. worker: that was lost, "" where none had begun."""

    worker: str

    @property
    def said(self) -> str:
        """What happened, in words."""
        return f"{self.worker or 'its worker'} is gone"


class _Word(msgspec.Struct, frozen=True):
    """What a worker says of its training on the way: that it begins, or a step."""

    begun: str = ""
    phase: str = ""
    done: int = 0
    total: int = 0
    metrics: dict[str, float] = {}


class _Training:
    """A training, over all its tries."""

    def __init__(
        self,
        machines: Machines,
        snapshot: Snapshot,
        spec: TrainSpec,
        work: Path,
        out: Path,
        tell: Tell,
    ) -> None:
        self._machines = machines
        self._spec = spec
        self._work = work
        self._out = out
        self._tell = tell
        self._labels = _as_bytes(snapshot)
        self._base = None if spec.base_folder is None else _base_of(spec)
        name = f"{socket.gethostname()} {work.resolve()}"
        self._mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        self._warned: tuple[str, ...] = ()

    def made(self) -> Made:
        """Try until there is a model."""
        for number in range(1, TRIES + 1):
            on = self._machines.alike()
            self._warn()
            self._wait_for_earlier()
            found = self._try(on)
            if isinstance(found, Reply):
                return self._received(found)
            if number < TRIES:
                self._tell(Phase(f"{found.said}; {self._goes_on()}"))
        raise CrewError(self._machines.unkept("the training"))

    def _goes_on(self) -> str:
        at_home = any(self._work.glob(CHECKPOINTS))
        return "going on from its last checkpoint" if at_home else "beginning again"

    def _warn(self) -> None:
        """Versions that differ, into the job's log."""
        for warning in self._machines.warnings:
            if warning not in self._warned:
                self._tell(Phase(f"warning: {warning}"))
        self._warned = self._machines.warnings

    def _wait_for_earlier(self) -> None:
        """An earlier process of this job may have been killed: what it asked for stops then,
        at its next step. Until it has, nothing is begun."""
        while True:
            said = self._machines.ask_all(at_work, self._mark)
            busy = sorted(worker for worker, found in said.items() if found == b"1")
            if not busy:
                return
            self._tell(Phase(f"waiting until {busy[0]} has left an earlier try"))
            time.sleep(LOOK_SECONDS)

    # --- one try --------------------------------------------------------------------------

    def _try(self, on: frozenset[str]) -> Reply | _Lost:
        run = f"nfh-train-{uuid.uuid4().hex}"
        heard: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._machines.listen(run, heard.put)
        try:
            self._tell(Phase(f"waiting for a worker of {self._machines.address}"))
            future = self._machines.submit(train, self._order(run), key=run, on=on)
            checkpoints = Checkpoints(self._machines, run, self._work)
            return _Following(self._machines, self._tell, heard, on).reply(future, checkpoints)
        finally:
            with suppress(CrewError):
                self._machines.deafen(run)
                self._machines.forget(run)

    def _order(self, run: str) -> bytes:
        at_home = any(self._work.glob(CHECKPOINTS))
        order = Order(
            run,
            self._mark,
            msgspec.json.encode(self._spec),
            self._labels,
            self._out.name,
            self._base,
            pack(self._work, [CHECKPOINTS]) if at_home else None,
        )
        return msgspec.msgpack.encode(order)

    # --- what came back -------------------------------------------------------------------

    def _received(self, reply: Reply) -> Made:
        """The model, its folder written and checked."""
        where = f"a worker of {self._machines.address}"
        if reply.fault is not None:
            last = reply.fault.strip().splitlines()[-1]
            fault = WorkerFaultError(f"{where} failed: {last}")
            fault.add_note(reply.fault)
            raise fault
        if reply.error is not None:
            raise KINDS.get(reply.kind, CrewError)(f"{where}: {reply.error}")
        if reply.made is None or reply.model is None:
            raise CrewError(f"{where} sent no model. {TRY_AGAIN}")
        self._tell(Phase("bringing the model home"))
        made = msgspec.json.decode(reply.made, type=Made)
        _write(reply.model, self._out, made, self._spec, where)
        notes = (*made.notes, *self._machines.warnings)
        return replace(made, notes=notes)


class _Following:
    """Goes along with a try until it is over."""

    def __init__(
        self,
        machines: Machines,
        tell: Tell,
        heard: "queue.SimpleQueue[object]",
        on: frozenset[str],
    ) -> None:
        self._machines = machines
        self._tell = tell
        self._heard = heard
        self._on = on
        self._worker = ""

    def reply(self, future: Future, checkpoints: Checkpoints) -> Reply | _Lost:
        """What came of it. Raises CrewError, and what `tell` raises; it stops then."""
        try:
            while not self._machines.over(future):
                self._listen(LOOK_SECONDS)
                if self._lost():
                    return _Lost(self._worker)
                if self._worker:
                    checkpoints.look(self._worker)
            self._listen(0.0)
            packed = self._machines.result(future, "the training")
            reply = msgspec.msgpack.decode(packed, type=Reply)
            return _Lost(self._worker) if reply.again else reply
        finally:
            future.release()

    def _lost(self) -> bool:
        present = self._machines.present()
        return self._worker not in present if self._worker else not self._on & present

    def _listen(self, seconds: float) -> None:
        """Pass on what was said; waits so long for the first word."""
        with suppress(queue.Empty):
            self._hear(self._heard.get(timeout=seconds))
            while True:
                self._hear(self._heard.get_nowait())

    def _hear(self, said: object) -> None:
        try:
            word = msgspec.convert(said, _Word)
        except msgspec.ValidationError:
            return  # no worker of ours says such things
        if word.begun:
            self._worker = word.begun
            self._tell(Phase(f"at work on {word.begun}"))
        else:
            self._tell(Phase(word.phase, word.done, word.total, word.metrics))


def _write(parcel: bytes, out: Path, made: Made, spec: TrainSpec, where: str) -> None:
    """Write a model's folder that came back. Raises CrewError unless it is what was said."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = path_beside(out, "tmp")
    try:
        try:
            unpack(parcel, folder)
            digest, config = digest_of(folder), read_config(folder, spec.recipe)
        except ModelsError as error:
            raise CrewError(
                f"the model from {where} does not hold: {error}. {TRY_AGAIN}"
            ) from error
        if digest != made.digest:
            raise CrewError(
                f"the model from {where} does not hold: its hash is {digest[:12]}, and "
                f"{made.digest[:12]} was said. {TRY_AGAIN}"
            )
        if config.task != spec.task:
            raise CrewError(
                f"the model from {where} is one of {config.task}, not of {spec.task}. "
                f"{TRY_AGAIN}"
            )
        folder.rename(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_bytes(snapshot: Snapshot) -> bytes:
    with TemporaryDirectory(prefix="nfh-labels-") as folder:
        path = Path(folder) / "labels.json"
        snapshot.write(path)
        return path.read_bytes()


def _base_of(spec: TrainSpec) -> bytes:
    """The folder that a training starts from. Raises CrewError where it has changed."""
    folder = Path(spec.base_folder or "")
    try:
        parcel = pack(folder)
        digest = digest_of(folder)
    except (OSError, ParcelError) as error:
        raise CrewError(f"the model that it starts from cannot be sent: {error}") from error
    if len(spec.base_digest) == len(digest) and digest != spec.base_digest:
        raise CrewError(
            f"the model that it starts from is not what it was: the files in {folder} have "
            "changed. Put them back, or name another base"
        )
    return parcel
