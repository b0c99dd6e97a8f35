"""A training as it runs on a worker of a cluster. It needs no database.

An order comes with all that is learnt from, and goes back as a reply with the model's files.
On the way the worker says how far it is, and has its checkpoints fetched. It stops at the next
step when nobody waits for it any more.
"""

import os
import shutil
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from nfh_models.errors import ModelsError
from nfh_tui.jobs.cluster_parcel import ParcelError, pack, unpack
from nfh_tui.training_jobs import Curves, Step
from nfh_tui.training_networks import CHECKPOINTS

SECONDS_BETWEEN = 0.25
"""Between two words on how far it is; each passes the scheduler."""

AT_WORK = ("executing", "long-running")
"""How a worker calls a task that somebody waits for."""

DIVERGED = "diverged"
CHECKPOINT = "checkpoint"
"""Errors after which a training goes on otherwise than after others."""

OFFERED = "offered"
WORK = "work"


class Order(msgspec.Struct, frozen=True):
    """A training that is asked for.

    run: one try of it, no two have the same. mark: the training, the same for all tries.
    spec: a TrainSpec, as JSON. snapshot: a Snapshot's file. name: of the model's folder.
    base, work: parcels of the folder that it starts from, and of the checkpoints that it goes
    on from.
    """

    run: str
    mark: str
    spec: bytes
    snapshot: bytes
    name: str
    base: bytes | None
    work: bytes | None


class Reply(msgspec.Struct, frozen=True):
    """What came of it.

    made: a Made, as JSON; model: a parcel of its folder. again: it was begun before, and is
    not begun twice. error: a sentence; kind: of error, DIVERGED, CHECKPOINT or "". fault: a
    traceback.
    """

    made: bytes | None = None
    model: bytes | None = None
    again: bool = False
    error: str | None = None
    kind: str = ""
    fault: str | None = None


class UnwantedError(Exception):
    """Nobody waits for this training any more."""


class Offer(msgspec.Struct, frozen=True):
    """Checkpoints that may be fetched. stamp: another one for other contents. sizes: bytes."""

    stamp: str
    sizes: dict[str, int]


# --- training -------------------------------------------------------------------------------

_folders: dict[str, Path] = {}
"""The folders of the trainings of this process, by run."""

_marks: dict[str, str] = {}
"""Their marks, by run."""

_lock = threading.Lock()


def train(packed: bytes) -> bytes:
    """Do what an order asks for; the reply."""
    order = msgspec.msgpack.decode(packed, type=Order)
    return msgspec.msgpack.encode(_trained(order))


def _trained(order: Order) -> Reply:
    distributed: Any = import_module("distributed")
    worker = distributed.get_worker()
    begun = distributed.Event(order.run, client=distributed.get_client())
    if begun.is_set():
        return Reply(again=True)
    begun.set()
    worker.log_event(order.run, {"begun": worker.address})
    tell = Teller(_wanted(worker), lambda words: worker.log_event(order.run, words))
    with TemporaryDirectory(prefix="nfh-job-", dir=worker.local_directory) as folder:
        with _lock:
            _folders[order.run] = Path(folder)
            _marks[order.run] = order.mark
        try:
            return _answered(order, Path(folder), tell)
        finally:
            with _lock:
                del _folders[order.run], _marks[order.run]


def _wanted(worker: Any) -> Callable[[], bool]:  # noqa: ANN401 - Dask's own class
    """Whether somebody waits for the task of this thread."""
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        alive = worker.status.name in ("running", "paused")
        return alive and task is not None and task.state in AT_WORK

    return wanted


def _answered(order: Order, folder: Path, tell: "Teller") -> Reply:
    from nfh_models.training.plan import DivergedError, TrainingError

    try:
        return _made(order, folder, tell)
    except UnwantedError:
        return Reply(again=True)
    except DivergedError as error:
        return Reply(error=str(error), kind=DIVERGED)
    except TrainingError as error:
        return Reply(error=str(error), kind=CHECKPOINT)
    except ModelsError as error:
        return Reply(error=str(error))
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return Reply(error=f"{error.strerror or error}{where}")
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - said by the process that asked
        return Reply(fault=traceback.format_exc())


def _made(order: Order, folder: Path, tell: "Teller") -> Reply:
    from nfh_tui.jobs.snapshot import Snapshot
    from nfh_tui.jobs.training_body import TrainSpec, train_model

    tell.check()
    spec = msgspec.json.decode(order.spec, type=TrainSpec)
    labels, work, out = folder / "snapshot.json", folder / WORK, folder / "out" / order.name
    labels.write_bytes(order.snapshot)
    out.parent.mkdir()
    if order.base is not None:
        spec = replace(spec, base_folder=str(_unpacked(order.base, folder / "base")))
    if order.work is None:
        work.mkdir()
    else:
        unpack(order.work, work)
    made = train_model(Snapshot.read(labels), spec, work, out, tell)
    return Reply(msgspec.json.encode(made), pack(out))


def _unpacked(parcel: bytes, folder: Path) -> Path:
    try:
        unpack(parcel, folder)
    except ParcelError as error:
        raise ParcelError(f"the model that it starts from: {error}") from error
    return folder


class Teller:
    """Passes on how far a training is, some times a second, and ends one nobody wants.

    Whatever makes a point of a curve is always passed on.
    """

    def __init__(
        self,
        wanted: Callable[[], bool],
        send: Callable[[dict[str, object]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wanted = wanted
        self._send = send
        self._clock = clock
        self._curves = Curves()
        self._sent = float("-inf")
        self._phase = ""

    def __call__(self, step: Step) -> None:
        """Pass a step on. Raises UnwantedError."""
        self.check()
        point = self._curves.point_of(step)
        new = point is not None or step.phase != self._phase
        if not new and self._clock() - self._sent < SECONDS_BETWEEN:
            return
        self._sent = self._clock()
        self._phase = step.phase
        figures = {name: float(value) for name, value in step.metrics.items()}
        self._send(
            {
                "phase": step.phase,
                "done": int(step.done),
                "total": int(step.total),
                "metrics": figures,
            }
        )

    def check(self) -> None:
        """Raise UnwantedError unless somebody waits for the training."""
        if not self._wanted():
            raise UnwantedError


# --- asked from outside, while a training runs in another thread ----------------------------


def at_work(mark: str) -> bytes:
    """Whether a try of this training is under way in this process: b"1", or b""."""
    with _lock:
        return b"1" if mark in _marks.values() else b""


def offer(run: str) -> bytes:
    """The checkpoints of a run as they are now, kept as they are until the next offer."""
    with _lock:
        folder = _folders.get(run)
    if folder is None:
        return msgspec.json.encode(Offer("", {}))
    for _ in range(3):  # one may be replaced just now
        before = _state(folder / WORK)
        sizes = _linked(before, folder / OFFERED)
        if before == _state(folder / WORK):
            return msgspec.json.encode(Offer(repr(sorted(before.values())), sizes))
    return msgspec.json.encode(Offer("", {}))


def _state(work: Path) -> dict[Path, tuple[int, int]]:
    """What tells the files of one moment from those of another."""
    found = {}
    for path in sorted(work.glob(CHECKPOINTS)):
        if path.name.startswith("."):
            continue
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_ino, status.st_mtime_ns)
    return found


def _linked(files: dict[Path, tuple[int, int]], folder: Path) -> dict[str, int]:
    """Second names for files: what takes their place later does not change these."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    sizes = {}
    for path in files:
        other = folder / path.name
        try:
            os.link(path, other)
        except FileNotFoundError:
            continue
        except OSError:  # a file system without links
            shutil.copyfile(path, other)
        sizes[path.name] = other.stat().st_size
    return sizes


def part(run: str, name: str, start: int, size: int) -> bytes:
    """Some bytes of a checkpoint that was offered; b"" where it is gone."""
    with _lock:
        folder = _folders.get(run)
    if folder is None:
        return b""
    try:
        with (folder / OFFERED / Path(name).name).open("rb") as file:
            file.seek(start)
            return file.read(size)
    except OSError:
        return b""
