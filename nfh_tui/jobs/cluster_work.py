"""Training and prediction on the workers of a cluster.

A `RemoteTraining` carries everything that the training needs; the `RemoteReply` carries the
files of the model. In between the worker reports its progress, and this process fetches its
checkpoints. A worker stops at the next step when nobody waits for its result any more.
"""

import hashlib
import os
import queue
import re
import shutil
import socket
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from nfh_db.system import path_beside
from nfh_models import ModelsError
from nfh_models.domain import Anchor, Passage
from nfh_models.model_files import digest_of, read_config
from nfh_models.resolution.base import Choice, Item, Resolver, batches
from nfh_models.training.plan import DivergedError, TrainingError
from nfh_tui.jobs import cluster
from nfh_tui.jobs.reporting import Curves, Phase, Tell, TrainingStep
from nfh_tui.jobs.snapshot import Snapshot, StoredPassage
from nfh_tui.jobs.training import Made, TrainSpec
from nfh_tui.scanning.worker import WorkerPoolError
from nfh_tui.services.models import SelectedModel, checked_folder
from nfh_tui.services.training import CHECKPOINTS

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.parsing.base import Parser


class ResolverTools(msgspec.Struct, frozen=True):
    """The model and parser of a prediction."""

    run: str
    """Identifies the prediction; each one loads the model again."""
    recipe: str
    digest: str | None
    """Of the files of the model; None if it has none."""
    parser: str | None
    """As given after --parser."""


class ResolverHandshake(msgspec.Struct, frozen=True):
    """What a worker has loaded. Workers with equal handshakes give equal predictions."""

    program: str
    recipe: str
    version: str
    parser: str

    @property
    def description(self) -> str:
        """The fields, for a person."""
        parts = (f"nfh-tui {self.program}", self.recipe, self.version, self.parser)
        return ", ".join(part for part in parts if part)


class _SentPassage(StoredPassage, frozen=True):
    """A passage with some of its anchors, as (start, end)."""

    anchors: list[tuple[int, int]]


class BatchChoices(msgspec.Struct, frozen=True):
    """The choices of a batch in order, or an error as a sentence."""

    hello: ResolverHandshake | None = None
    choices: list[Choice | None] = []
    error: str | None = None


# --- encoding -------------------------------------------------------------------------------


def pack_items(items: Sequence[Item]) -> bytes:
    """Encode items without their parses; consecutive items share their passage."""
    sent: list[_SentPassage] = []
    last: Passage | None = None
    for item in items:
        passage = item.passage
        if passage is not last:
            sent.append(_SentPassage(*StoredPassage.fields_of(passage), []))
            last = passage
        sent[-1].anchors.append((item.anchor.start, item.anchor.end))
    return msgspec.msgpack.encode(sent)


def unpack_items(packed: bytes) -> list[Item]:
    """Decode the items of `pack_items`, in their order."""
    items = []
    for one in msgspec.msgpack.decode(packed, type=list[_SentPassage]):
        passage = one.passage()
        items += [Item(passage, Anchor(start, end)) for start, end in one.anchors]
    return items


# --- on the worker --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _LoadedResolver:
    """A loaded resolver with its parser. Used for one batch at a time."""

    run: str
    resolver: "Resolver"
    parser: "Parser | None"
    folder: "TemporaryDirectory[str] | None"
    """Holds the files of the model; removed with this object."""

    @property
    def hello(self) -> ResolverHandshake:
        """What is loaded here."""
        parser = "" if self.parser is None else self.parser.name
        return ResolverHandshake(
            cluster.own_versions().program, self.resolver.recipe, self.resolver.version, parser
        )


_loaded_resolvers: list[_LoadedResolver] = []
"""At most one: the resolver of this process, kept for the next batches."""

_lock = threading.Lock()


def identity(model: bytes) -> bytes:
    """Returns its argument: as the result of a task it stays in the memory of the workers."""
    return model


def resolve(model: bytes, tools: bytes, packed: bytes) -> bytes:
    """Resolve a batch; returns `BatchChoices`. model: the archive of its files, b"" if none."""
    from nfh_models.resolution.base import resolve_items

    try:
        with _lock:
            loaded = _resolver(model, msgspec.msgpack.decode(tools, type=ResolverTools))
            found = resolve_items(unpack_items(packed), loaded.resolver, loaded.parser)
            answers = BatchChoices(loaded.hello, [choice for _, choice in found])
    except (ModelsError, OSError, ImportError) as error:
        answers = BatchChoices(error=str(error))
    return msgspec.msgpack.encode(answers)


def _resolver(model: bytes, tools: ResolverTools) -> _LoadedResolver:
    if not _loaded_resolvers or _loaded_resolvers[0].run != tools.run:
        _loaded_resolvers.clear()
        _loaded_resolvers.append(_loaded(model, tools))
    return _loaded_resolvers[0]


def _loaded(model: bytes, tools: ResolverTools) -> _LoadedResolver:
    from nfh_models.model_files import ModelFileError
    from nfh_models.parsing.base import load_parser
    from nfh_models.resolution.recipes import load_resolver

    home: TemporaryDirectory[str] | None = None
    folder: Path | None = None
    if model:
        home = TemporaryDirectory(prefix="nfh-model-")
        folder = Path(home.name) / "model"
        cluster.unpack(model, folder)
        if digest_of(folder) != tools.digest:
            raise ModelFileError("the model arrived damaged: its hash differs")
    resolver = load_resolver(tools.recipe, folder)
    parser = load_parser(tools.parser, resolver.needs) if resolver.needs else None
    return _LoadedResolver(tools.run, resolver, parser, home)


# Prediction on several machines. Only this process reads and writes the database.

TRIES = 4
"""How often a batch or a training is tried when its workers are lost."""


@dataclass(slots=True)
class _SentBatch:
    """A submitted batch; packed: its encoded items."""

    items: Sequence[Item]
    packed: bytes
    future: cluster.Future
    done: threading.Event


@contextmanager
def resolving_at(
    address: str, store: "Store", chosen: SelectedModel[Resolver], parser: str | None
) -> Iterator["ClusterPredictors"]:
    """The workers of a scheduler, ready to predict with a registered model.

    parser: as given after --parser; the workers look it up. Raises WorkerPoolError for errors
    of the cluster, ModelFileError for a model whose files have changed.
    """
    model = next((one for one in store.models.all() if one.id == chosen.model_id), None)
    archive, digest = b"", None
    if model is not None and model.path is not None:
        folder = checked_folder(store.path, model)
        archive, digest = cluster.pack(folder), digest_of(folder)
    tools = ResolverTools(uuid.uuid4().hex, chosen.model.recipe, digest, parser)
    with closing(cluster.Machines(address)) as machines:
        yield ClusterPredictors(machines, tools, archive, chosen.model.version)


class ClusterPredictors:
    """Resolves items on a cluster."""

    def __init__(
        self, machines: cluster.Machines, tools: ResolverTools, archive: bytes, version: str
    ) -> None:
        """version: of the model on this machine. Raises WorkerPoolError if a worker cannot
        load the model or loads another version."""
        self._machines = machines
        self._tools = tools
        self._packed = msgspec.msgpack.encode(tools)
        self._archive = archive
        self._number = 0
        self._on: frozenset[str] = frozenset()
        self._model: cluster.Future = None
        self._at_once = 1
        self._find_workers()
        answers = self._answers(deque((self._submit(()),)))
        if answers.hello is None or answers.hello.version != version:
            found = "nothing" if answers.hello is None else answers.hello.description
            raise WorkerPoolError(
                f"the workers of {machines.address} would predict with {found}, and here it "
                f"is {tools.recipe}, {version}. Install the same version of nfh-tui on all "
                "machines"
            )
        self._hello = answers.hello
        self.warnings = machines.warnings

    @property
    def parser_name(self) -> str:
        """The workers' parser with its version; "" for none."""
        return self._hello.parser

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order. Several batches are pending at a time."""
        waiting: deque[_SentBatch] = deque()
        for batch in batches(items):
            waiting.append(self._submit(batch))
            if len(waiting) >= self._at_once:
                yield from self._received(waiting)
        while waiting:
            yield from self._received(waiting)

    def _received(self, waiting: deque[_SentBatch]) -> Iterator[tuple[Item, Choice | None]]:
        """The items and choices of the oldest pending batch."""
        items = waiting[0].items
        answers = self._answers(waiting)
        if answers.hello != self._hello:
            other = "nothing known" if answers.hello is None else answers.hello.description
            raise WorkerPoolError(
                f"the workers of {self._machines.address} differ: one works with "
                f"{self._hello.description}, another with {other}. Install the same versions "
                "and models on all machines"
            )
        yield from zip(items, answers.choices, strict=True)

    # --- with the cluster -----------------------------------------------------------------

    def _find_workers(self) -> None:
        self._on = self._machines.alike()
        self._at_once = 2 * max(1, self._machines.cores(self._on)) + 2
        self._model = self._machines.submit(
            identity, self._archive, key=self._key("model"), on=self._on
        )

    def _submit(self, items: Sequence[Item]) -> _SentBatch:
        packed = pack_items(items)
        return self._sent(items, packed)

    def _sent(self, items: Sequence[Item], packed: bytes) -> _SentBatch:
        future = self._machines.submit(
            resolve, self._model, self._packed, packed, key=self._key("predict"), on=self._on
        )
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        return _SentBatch(items, packed, future, done)

    def _key(self, what: str) -> str:
        self._number += 1
        return f"nfh-{what}-{self._tools.run}-{self._number}"

    def _wait(self, waiting: deque[_SentBatch]) -> None:
        """Wait for the first batch; resubmits all if no worker is left.

        While others are left, the scheduler itself replaces a lost worker.
        """
        tries = 1
        while not self._over(waiting[0]):
            if self._on & self._machines.present():
                continue
            if tries == TRIES:
                raise WorkerPoolError(self._machines.lost_words("a part of the prediction"))
            tries += 1
            self._find_workers()
            for place, sent in enumerate(waiting):
                sent.future.release()
                waiting[place] = self._sent(sent.items, sent.packed)

    def _over(self, sent: _SentBatch) -> bool:
        sent.done.wait(cluster.LOOK_SECONDS)
        return self._machines.over(sent.future)

    def _answers(self, waiting: deque[_SentBatch]) -> BatchChoices:
        """Remove the first batch and return its answers. Raises WorkerPoolError."""
        self._wait(waiting)
        sent = waiting.popleft()
        packed = self._machines.result(sent.future, "a part of the prediction")
        sent.future.release()
        answers = msgspec.msgpack.decode(packed, type=BatchChoices)
        if answers.error is not None:
            raise WorkerPoolError(f"a worker of {self._machines.address}: {answers.error}")
        return answers


SECONDS_BETWEEN = 0.25
"""Least time between two progress events; each passes through the scheduler."""

AT_WORK = ("executing", "long-running")
"""States, on a worker, of a task whose result is still wanted."""

DIVERGED = "diverged"
CHECKPOINT = "checkpoint"
"""Kinds of errors that the caller handles differently."""

OFFERED = "offered"
WORK = "work"


class RemoteTraining(msgspec.Struct, frozen=True):
    """A request for a training."""

    run: str
    """Identifies the attempt."""
    mark: str
    """Identifies the training over all its attempts."""
    spec: bytes
    """A `TrainSpec` in JSON."""
    snapshot: bytes
    """The file of a `Snapshot`."""
    name: str
    """Of the model's folder."""
    base: bytes | None
    """Archive of the model to start from."""
    work: bytes | None
    """Archive of the checkpoints to resume from."""


class RemoteReply(msgspec.Struct, frozen=True):
    """The result of an attempt: a model, an error or a fault."""

    made: bytes | None = None
    """A `Made` in JSON."""
    model: bytes | None = None
    """Archive of the model's folder."""
    again: bool = False
    """Whether this attempt had been started before, or was stopped: there is no result."""
    error: str | None = None
    """A sentence."""
    kind: str = ""
    """Of error: DIVERGED, CHECKPOINT or ""."""
    fault: str | None = None
    """Traceback of an unexpected error."""


class UnwantedError(Exception):
    """Nobody waits for this training any more."""


class CheckpointOffer(msgspec.Struct, frozen=True):
    """Checkpoints that can be fetched."""

    stamp: str
    """Differs for different contents."""
    sizes: dict[str, int]
    """Bytes by file name."""


# --- training -------------------------------------------------------------------------------

_folders: dict[str, Path] = {}
"""The folders of the trainings of this process, by run."""

_marks: dict[str, str] = {}
"""Their marks, by run."""


def train(packed: bytes) -> bytes:
    """Run a `RemoteTraining` on this worker; returns a `RemoteReply`."""
    order = msgspec.msgpack.decode(packed, type=RemoteTraining)
    return msgspec.msgpack.encode(_trained(order))


def _trained(order: RemoteTraining) -> RemoteReply:
    distributed: Any = import_module("distributed")
    worker = distributed.get_worker()
    begun = distributed.Event(order.run, client=distributed.get_client())
    if begun.is_set():
        return RemoteReply(again=True)
    begun.set()
    worker.log_event(order.run, {"begun": worker.address})
    tell = Reporter(_wanted(worker), lambda words: worker.log_event(order.run, words))
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


def _answered(order: RemoteTraining, folder: Path, tell: "Reporter") -> RemoteReply:

    try:
        return _made(order, folder, tell)
    except UnwantedError:
        return RemoteReply(again=True)
    except DivergedError as error:
        return RemoteReply(error=str(error), kind=DIVERGED)
    except TrainingError as error:
        return RemoteReply(error=str(error), kind=CHECKPOINT)
    except ModelsError as error:
        return RemoteReply(error=str(error))
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return RemoteReply(error=f"{error.strerror or error}{where}")
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - said by the process that asked
        return RemoteReply(fault=traceback.format_exc())


def _made(order: RemoteTraining, folder: Path, tell: "Reporter") -> RemoteReply:
    from nfh_tui.jobs.training import train_model

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
        cluster.unpack(order.work, work)
    made = train_model(Snapshot.read(labels), spec, work, out, tell)
    return RemoteReply(msgspec.json.encode(made), cluster.pack(out))


def _unpacked(archive: bytes, folder: Path) -> Path:
    try:
        cluster.unpack(archive, folder)
    except cluster.TransferError as error:
        raise cluster.TransferError(f"the model that it starts from: {error}") from error
    return folder


class Reporter:
    """Sends the progress of a training, every SECONDS_BETWEEN at most, and stops it when nobody
    waits for it. New phases and points of curves are always sent.
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

    def __call__(self, step: TrainingStep) -> None:
        """Report a step. Raises UnwantedError."""
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


# --- called from outside, while a training runs in another thread ---------------------------


def at_work(mark: str) -> bytes:
    """Whether an attempt of this training is running in this process: b"1" or b""."""
    with _lock:
        return b"1" if mark in _marks.values() else b""


def offer(run: str) -> bytes:
    """The current checkpoints of a run, which stay unchanged until the next offer."""
    with _lock:
        folder = _folders.get(run)
    if folder is None:
        return msgspec.json.encode(CheckpointOffer("", {}))
    for _ in range(3):  # the training may replace one at this moment
        before = _state(folder / WORK)
        sizes = _linked(before, folder / OFFERED)
        if before == _state(folder / WORK):
            return msgspec.json.encode(CheckpointOffer(repr(sorted(before.values())), sizes))
    return msgspec.json.encode(CheckpointOffer("", {}))


def _state(work: Path) -> dict[Path, tuple[int, int]]:
    """Inode and modification time of each checkpoint, to detect changes."""
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
    """Hard-link files into a folder, where replacing the originals does not affect them."""
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
    """A part of an offered checkpoint; b"" if it does not exist any more."""
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


LEAST_SECONDS = 20.0
"""Least time between two fetches."""

SHARE = 0.05
"""Largest share of the time that is spent on fetching."""

LARGEST = 2_000_000_000
"""Bytes of the checkpoints of a run; larger ones are not fetched."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.safetensors")
"""File names of checkpoints."""

PART = 8_000_000
"""Bytes per call: they pass through the scheduler, which holds them in memory."""


@dataclass
class Checkpoints:
    """Fetches the checkpoints of a run into the local work folder of its training."""

    machines: cluster.Machines
    run: str
    work: Path
    clock: Callable[[], float] = time.monotonic
    fetched: int = 0
    """How often checkpoints were fetched."""

    def __post_init__(self) -> None:
        self._stamp = ""
        self._next = self.clock() + LEAST_SECONDS

    def look(self, worker: str) -> None:
        """Fetch the checkpoints if it is time and they have changed.

        Errors of the cluster leave the local ones unchanged. Raises OSError if they cannot be
        written.
        """
        began = self.clock()
        if began < self._next:
            return
        try:
            self._fetch(worker)
        except WorkerPoolError:
            pass  # waiting for the result will raise it, too
        finally:
            now = self.clock()
            self._next = now + max(LEAST_SECONDS, (now - began) / SHARE)

    def _fetch(self, worker: str) -> None:
        offered = msgspec.json.decode(
            self.machines.ask(worker, offer, self.run), type=CheckpointOffer
        )
        if not offered.sizes or offered.stamp == self._stamp:
            return
        if sum(offered.sizes.values()) > LARGEST:
            return
        # The names come from another machine and must not lead out of the folder.
        if not all(NAME.fullmatch(name) for name in offered.sizes):
            return
        beside = {name: path_beside(self.work / name, "tmp") for name in offered.sizes}
        try:
            for name, path in beside.items():
                self._receive(worker, name, offered.sizes[name], path)
            # In this order, since the last state refers to the best weights: a kill in between
            # must not leave it with older ones.
            for name in sorted(beside):
                beside[name].replace(self.work / name)
        finally:
            for path in beside.values():
                path.unlink(missing_ok=True)
        self._stamp = offered.stamp
        self.fetched += 1

    def _receive(self, worker: str, name: str, size: int, path: Path) -> None:
        """Fetch one file. Raises WorkerPoolError if it is incomplete."""
        with path.open("xb") as file:
            for start in range(0, size, PART):
                file.write(self.machines.ask(worker, part, self.run, name, start, PART))
            if file.tell() != size:
                raise WorkerPoolError(f"the checkpoint {name} of {worker} arrived incomplete")
            file.flush()
            os.fsync(file.fileno())


# Training on another machine. `train_model_at` replaces `train_model` for jobs that name a
# scheduler. One attempt runs at a time. If its worker is lost, another attempt resumes from the
# last fetched checkpoint on any worker; the work since that checkpoint is lost.

KINDS = {DIVERGED: DivergedError, CHECKPOINT: TrainingError}
"""Errors by the kind of a reply; all others are WorkerPoolErrors."""

TRY_AGAIN = "Nothing was stored; you can retry the job"


class WorkerFaultError(RuntimeError):
    """An unexpected error on a worker; its traceback is added as a note."""


def train_model_at(
    address: str, snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell
) -> Made:
    """Run `train_model` on a worker of the scheduler at an address.

    work: the folder of checkpoints, fetched into it and sent along from it. Its path identifies
    the training. Raises WorkerPoolError for errors of the cluster, and what `train_model`
    raises on the worker.
    """
    with closing(cluster.Machines(address)) as machines:
        return _Training(machines, snapshot, spec, work, out, tell).made()


class _Word(msgspec.Struct, frozen=True):
    """An event of a training: that a worker has started it (its address), or a step."""

    begun: str = ""
    phase: str = ""
    done: int = 0
    total: int = 0
    metrics: dict[str, float] = {}


@dataclass
class _Training:
    """A training, over all its attempts."""

    machines: cluster.Machines
    snapshot: Snapshot
    spec: TrainSpec
    work: Path
    out: Path
    tell: Tell

    def __post_init__(self) -> None:
        self._labels = _as_bytes(self.snapshot)
        self._base = None if self.spec.base_folder is None else _base_of(self.spec)
        name = f"{socket.gethostname()} {self.work.resolve()}"
        self._mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        self._warned: tuple[str, ...] = ()

    def made(self) -> Made:
        """Make attempts until there is a model. Raises WorkerPoolError after TRIES."""
        for number in range(1, TRIES + 1):
            on = self.machines.alike()
            self._warn()
            self._wait_for_earlier()
            found = self._try(on)
            if isinstance(found, RemoteReply):
                return self._received(found)
            if number < TRIES:
                at_home = any(self.work.glob(CHECKPOINTS))
                next_ = "continuing from its last checkpoint" if at_home else "starting again"
                self.tell(Phase(f"{found or 'its worker'} is gone; {next_}"))
        raise WorkerPoolError(self.machines.lost_words("the training"))

    def _warn(self) -> None:
        """Report differing versions, which appear in the job's log."""
        for warning in self.machines.warnings:
            if warning not in self._warned:
                self.tell(Phase(f"warning: {warning}"))
        self._warned = self.machines.warnings

    def _wait_for_earlier(self) -> None:
        """Wait until no worker runs an attempt of an earlier process of this job.

        If that process was killed, its attempt stops at the next step.
        """
        while True:
            said = self.machines.ask_all(at_work, self._mark)
            busy = sorted(worker for worker, found in said.items() if found == b"1")
            if not busy:
                return
            self.tell(Phase(f"waiting until {busy[0]} has ended an earlier try"))
            time.sleep(cluster.LOOK_SECONDS)

    # --- one attempt ----------------------------------------------------------------------

    def _try(self, on: frozenset[str]) -> RemoteReply | str:
        """Return the reply, or the worker that was lost: "" if none had started."""
        run = f"nfh-train-{uuid.uuid4().hex}"
        heard: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.machines.listen(run, heard.put)
        try:
            self.tell(Phase(f"waiting for a worker of {self.machines.address}"))
            future = self.machines.submit(train, self._order(run), key=run, on=on)
            checkpoints = Checkpoints(self.machines, run, self.work)
            return _Following(self.machines, self.tell, heard, on).reply(future, checkpoints)
        finally:
            with suppress(WorkerPoolError):
                self.machines.unsubscribe(run)
                self.machines.forget(run)

    def _order(self, run: str) -> bytes:
        at_home = any(self.work.glob(CHECKPOINTS))
        order = RemoteTraining(
            run,
            self._mark,
            msgspec.json.encode(self.spec),
            self._labels,
            self.out.name,
            self._base,
            cluster.pack(self.work, [CHECKPOINTS]) if at_home else None,
        )
        return msgspec.msgpack.encode(order)

    # --- the result -----------------------------------------------------------------------

    def _received(self, reply: RemoteReply) -> Made:
        """Write and check the folder of the model."""
        where = f"a worker of {self.machines.address}"
        if reply.fault is not None:
            last = reply.fault.strip().splitlines()[-1]
            fault = WorkerFaultError(f"{where} failed: {last}")
            fault.add_note(reply.fault)
            raise fault
        if reply.error is not None:
            raise KINDS.get(reply.kind, WorkerPoolError)(f"{where}: {reply.error}")
        if reply.made is None or reply.model is None:
            raise WorkerPoolError(f"{where} sent no model. {TRY_AGAIN}")
        self.tell(Phase("copying the model here"))
        made = msgspec.json.decode(reply.made, type=Made)
        _write(reply.model, self.out, made, self.spec, where)
        notes = (*made.notes, *self.machines.warnings)
        return replace(made, notes=notes)


@dataclass(slots=True)
class _Following:
    """Follows an attempt until it ends."""

    machines: cluster.Machines
    tell: Tell
    heard: "queue.SimpleQueue[object]"
    on: frozenset[str]
    worker: str = ""
    """The worker that has started it."""

    def reply(self, future: cluster.Future, checkpoints: Checkpoints) -> RemoteReply | str:
        """Wait for the result. Raises WorkerPoolError, and what `tell` raises; both stop the
        attempt."""
        try:
            while not self.machines.over(future):
                self._listen(cluster.LOOK_SECONDS)
                if self._lost():
                    return self.worker
                if self.worker:
                    checkpoints.look(self.worker)
            self._listen(0.0)
            packed = self.machines.result(future, "the training")
            reply = msgspec.msgpack.decode(packed, type=RemoteReply)
            return self.worker if reply.again else reply
        finally:
            future.release()

    def _lost(self) -> bool:
        present = self.machines.present()
        return self.worker not in present if self.worker else not self.on & present

    def _listen(self, seconds: float) -> None:
        """Handle all events; waits up to `seconds` for the first one."""
        with suppress(queue.Empty):
            self._hear(self.heard.get(timeout=seconds))
            while True:
                self._hear(self.heard.get_nowait())

    def _hear(self, said: object) -> None:
        try:
            word = msgspec.convert(said, _Word)
        except msgspec.ValidationError:
            return  # not an event of our workers
        if word.begun:
            self.worker = word.begun
            self.tell(Phase(f"working on {word.begun}"))
        else:
            self.tell(Phase(word.phase, word.done, word.total, word.metrics))


def _write(archive: bytes, out: Path, made: Made, spec: TrainSpec, where: str) -> None:
    """Write the folder of a returned model. Raises WorkerPoolError if it does not match."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = path_beside(out, "tmp")
    try:
        cluster.unpack(archive, folder)
        digest, config = digest_of(folder), read_config(folder, spec.recipe)
        if digest != made.digest:
            told = f"its hash is {digest[:12]} instead of {made.digest[:12]}"
            raise cluster.TransferError(told)
        if config.task != spec.task:
            raise WorkerPoolError(
                f"the model from {where} is one of {config.task}, not of {spec.task}. "
                f"{TRY_AGAIN}"
            )
        folder.rename(out)
    except ModelsError as error:
        raise WorkerPoolError(
            f"the model from {where} is invalid: {error}. {TRY_AGAIN}"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_bytes(snapshot: Snapshot) -> bytes:
    with TemporaryDirectory(prefix="nfh-labels-") as folder:
        path = Path(folder) / "labels.json"
        snapshot.write(path)
        return path.read_bytes()


def _base_of(spec: TrainSpec) -> bytes:
    """Archive the base model. Raises WorkerPoolError if its files have changed."""
    folder = Path(spec.base_folder or "")
    try:
        archive = cluster.pack(folder)
        digest = digest_of(folder)
    except (OSError, cluster.TransferError) as error:
        raise WorkerPoolError(
            f"the model that it starts from cannot be sent: {error}"
        ) from error
    if len(spec.base_digest) == len(digest) and digest != spec.base_digest:
        raise WorkerPoolError(
            f"the model that it starts from has changed, in {folder}. Put the files back, or "
            "name another base"
        )
    return archive
