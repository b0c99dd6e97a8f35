"""Training and prediction on the workers of a cluster: what goes there, what comes back, and
checkpoints brought home.

An order comes with all that is learnt from, and goes back as a reply with the model's files.
On the way the worker says how far it is, and has its checkpoints fetched. It stops at the next
step when nobody waits for it any more.
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from nfh_db.system import path_beside
from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.errors import ModelsError
from nfh_models.model_files import digest_of, read_config
from nfh_models.resolution.base import Choice, Item, Resolver, batches
from nfh_models.training.plan import DivergedError, TrainingError
from nfh_tui.jobs.cluster import (
    LOOK_SECONDS,
    Future,
    Machines,
    ParcelError,
    greeting,
    pack,
    unpack,
)
from nfh_tui.jobs.reporting import Curves, Phase, TrainingStep
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.jobs.training import Made, Tell, TrainSpec
from nfh_tui.scanning.worker import WorkerPoolError
from nfh_tui.services.models import SelectedModel, checked_folder
from nfh_tui.services.training import CHECKPOINTS

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.parsing.base import Parser


class ResolverTools(msgspec.Struct, frozen=True):
    """What resolves.

    run: which prediction; another one loads anew. recipe: of the model, whose files come with
    it where it has any. digest: of them. parser: as --parser has it.
    """

    run: str
    recipe: str
    digest: str | None
    parser: str | None


class ResolverHandshake(msgspec.Struct, frozen=True):
    """What a worker works with; those that say the same say the same of a number."""

    program: str
    recipe: str
    version: str
    parser: str

    @property
    def said(self) -> str:
        """All of it, in words."""
        parts = (f"nfh-tui {self.program}", self.recipe, self.version, self.parser)
        return ", ".join(part for part in parts if part)


class _SentPassage(msgspec.Struct, frozen=True):
    """A passage with numbers of it. offsets: start and end of each token, in turn. anchors:
    start and end of each number."""

    text: str
    offsets: list[int]
    lemmas: list[str]
    turns: list[tuple[int, str | None, int, int]]
    anchors: list[tuple[int, int]]


class Answers(msgspec.Struct, frozen=True):
    """hello: of who answers. choices: a number each, in order. error: a sentence instead."""

    hello: ResolverHandshake | None = None
    choices: list[Choice | None] = []
    error: str | None = None


# --- on the way -----------------------------------------------------------------------------


def pack_items(items: Sequence[Item]) -> bytes:
    """Items on their way to a worker, without their parses; a passage once in a row."""
    sent: list[_SentPassage] = []
    last: Passage | None = None
    for item in items:
        passage = item.passage
        if passage is not last:
            sent.append(
                _SentPassage(
                    passage.text,
                    [place for token in passage.tokens for place in (token.start, token.end)],
                    [token.lemma for token in passage.tokens],
                    [(one.number, one.speaker, one.start, one.end) for one in passage.turns],
                    [],
                )
            )
            last = passage
        sent[-1].anchors.append((item.anchor.start, item.anchor.end))
    return msgspec.msgpack.encode(sent)


def unpack_items(packed: bytes) -> list[Item]:
    """The same items, in their order."""
    items = []
    for one in msgspec.msgpack.decode(packed, type=list[_SentPassage]):
        tokens = tuple(map(Token, one.offsets[::2], one.offsets[1::2], one.lemmas))
        passage = Passage(one.text, tokens, tuple(Turn(*turn) for turn in one.turns))
        items += [Item(passage, Anchor(start, end)) for start, end in one.anchors]
    return items


# --- on the worker --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Engine:
    """A resolver with its parser, loaded. One batch at a time. folder: its files' home."""

    run: str
    resolver: "Resolver"
    parser: "Parser | None"
    folder: "TemporaryDirectory[str] | None"

    @property
    def hello(self) -> ResolverHandshake:
        """What it works with."""
        parser = "" if self.parser is None else self.parser.name
        return ResolverHandshake(
            greeting().program, self.resolver.recipe, self.resolver.version, parser
        )


_engines: list[_Engine] = []
"""The engine of this process; it stays for the batches that follow."""

_lock = threading.Lock()


def kept(model: bytes) -> bytes:
    """A model's parcel, in the workers' memory from then on."""
    return model


def resolve(model: bytes, tools: bytes, packed: bytes) -> bytes:
    """What a model says of some items, as `Answers`. model: its parcel, b"" for none."""
    from nfh_models.resolution.base import resolved

    try:
        with _lock:
            engine = _engine(model, msgspec.msgpack.decode(tools, type=ResolverTools))
            found = resolved(unpack_items(packed), engine.resolver, engine.parser)
            answers = Answers(engine.hello, [choice for _, choice in found])
    except (ModelsError, OSError, ImportError) as error:
        answers = Answers(error=str(error))
    return msgspec.msgpack.encode(answers)


def _engine(model: bytes, tools: ResolverTools) -> _Engine:
    if not _engines or _engines[0].run != tools.run:
        _engines.clear()
        _engines.append(_loaded(model, tools))
    return _engines[0]


def _loaded(model: bytes, tools: ResolverTools) -> _Engine:
    from nfh_models.model_files import ModelFileError
    from nfh_models.parsing.base import load_parser
    from nfh_models.resolution.recipes import load_resolver

    home: TemporaryDirectory[str] | None = None
    folder: Path | None = None
    if model:
        home = TemporaryDirectory(prefix="nfh-model-")
        folder = Path(home.name) / "model"
        unpack(model, folder)
        if digest_of(folder) != tools.digest:
            raise ModelFileError("the model came damaged: its hash is another")
    resolver = load_resolver(tools.recipe, folder)
    parser = load_parser(tools.parser, resolver.needs) if resolver.needs else None
    return _Engine(tools.run, resolver, parser, home)


# Numbers resolved on several machines: passages go there, what is said of them comes back.
#
# The process that asks reads and writes the database, as ever; the workers need none.

TRIES = 4
"""So often a batch is given out anew because every worker is lost."""


@dataclass(slots=True)
class _SentBatch:
    """A batch on its way. items: the same, here."""

    items: Sequence[Item]
    packed: bytes
    future: Future
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
    parcel, digest = b"", None
    if model is not None and model.path is not None:
        folder = checked_folder(store.path, model)
        parcel, digest = pack(folder), digest_of(folder)
    tools = ResolverTools(uuid.uuid4().hex, chosen.model.recipe, digest, parser)
    with Machines(address) as machines:
        yield ClusterPredictors(machines, tools, parcel, chosen.model.version)


class ClusterPredictors:
    """Resolves items on a cluster. warnings: sentences about versions that differ."""

    def __init__(
        self, machines: Machines, tools: ResolverTools, parcel: bytes, version: str
    ) -> None:
        """version: of the model on this machine. Raises WorkerPoolError if a worker cannot
        load the model or loads another version."""
        self._machines = machines
        self._tools = tools
        self._packed = msgspec.msgpack.encode(tools)
        self._parcel = parcel
        self._number = 0
        self._on: frozenset[str] = frozenset()
        self._model: Future = None
        self._at_once = 1
        self._find_workers()
        answers = self._answers(deque((self._submit(()),)))
        if answers.hello is None or answers.hello.version != version:
            found = "nothing" if answers.hello is None else answers.hello.said
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
        """Each item with its choice, in order; some batches are on their way together."""
        waiting: deque[_SentBatch] = deque()
        for batch in batches(items):
            waiting.append(self._submit(batch))
            if len(waiting) >= self._at_once:
                yield from self._received(waiting)
        while waiting:
            yield from self._received(waiting)

    def _received(self, waiting: deque[_SentBatch]) -> Iterator[tuple[Item, Choice | None]]:
        """What was said of the batch that is on its way the longest."""
        items = waiting[0].items
        answers = self._answers(waiting)
        if answers.hello != self._hello:
            other = "nothing known" if answers.hello is None else answers.hello.said
            raise WorkerPoolError(
                f"the workers of {self._machines.address} are not alike: one works with "
                f"{self._hello.said}, another with {other}. Install the same versions and "
                "models on all machines"
            )
        yield from zip(items, answers.choices, strict=True)

    # --- with the cluster -----------------------------------------------------------------

    def _find_workers(self) -> None:
        self._on = self._machines.alike()
        self._at_once = 2 * max(1, self._machines.cores(self._on)) + 2
        self._model = self._machines.submit(
            kept, self._parcel, key=self._key("model"), on=self._on
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
        """Until the first of some batches is there; all are sent anew where no worker is left.

        A worker that is lost with others left is made up for by the scheduler itself.
        """
        tries = 1
        while not self._over(waiting[0]):
            if self._on & self._machines.present():
                continue
            if tries == TRIES:
                raise WorkerPoolError(self._machines.unkept("a part of the prediction"))
            tries += 1
            self._find_workers()
            for place, sent in enumerate(waiting):
                sent.future.release()
                waiting[place] = self._sent(sent.items, sent.packed)

    def _over(self, sent: _SentBatch) -> bool:
        sent.done.wait(LOOK_SECONDS)
        return self._machines.over(sent.future)

    def _answers(self, waiting: deque[_SentBatch]) -> Answers:
        """Remove the first batch and return its answers. Raises WorkerPoolError."""
        self._wait(waiting)
        sent = waiting.popleft()
        packed = self._machines.result(sent.future, "a part of the prediction")
        sent.future.release()
        answers = msgspec.msgpack.decode(packed, type=Answers)
        if answers.error is not None:
            raise WorkerPoolError(f"a worker of {self._machines.address}: {answers.error}")
        return answers


SECONDS_BETWEEN = 0.25
"""Between two words on how far it is; each passes the scheduler."""

AT_WORK = ("executing", "long-running")
"""How a worker calls a task that somebody waits for."""

DIVERGED = "diverged"
CHECKPOINT = "checkpoint"
"""Errors after which a training goes on otherwise than after others."""

OFFERED = "offered"
WORK = "work"


class RemoteTraining(msgspec.Struct, frozen=True):
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


class RemoteReply(msgspec.Struct, frozen=True):
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


class CheckpointOffer(msgspec.Struct, frozen=True):
    """Checkpoints that may be fetched. stamp: another one for other contents. sizes: bytes."""

    stamp: str
    sizes: dict[str, int]


# --- training -------------------------------------------------------------------------------

_folders: dict[str, Path] = {}
"""The folders of the trainings of this process, by run."""

_marks: dict[str, str] = {}
"""Their marks, by run."""


def train(packed: bytes) -> bytes:
    """Do what an order asks for; the reply."""
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


def _answered(order: RemoteTraining, folder: Path, tell: "Teller") -> RemoteReply:

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


def _made(order: RemoteTraining, folder: Path, tell: "Teller") -> RemoteReply:
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
        unpack(order.work, work)
    made = train_model(Snapshot.read(labels), spec, work, out, tell)
    return RemoteReply(msgspec.json.encode(made), pack(out))


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

    def __call__(self, step: TrainingStep) -> None:
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
        return msgspec.json.encode(CheckpointOffer("", {}))
    for _ in range(3):  # one may be replaced just now
        before = _state(folder / WORK)
        sizes = _linked(before, folder / OFFERED)
        if before == _state(folder / WORK):
            return msgspec.json.encode(CheckpointOffer(repr(sorted(before.values())), sizes))
    return msgspec.json.encode(CheckpointOffer("", {}))


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


LEAST_SECONDS = 20.0
"""Between two fetches."""

SHARE = 0.05
"""Of the time, spent on fetching at most."""

LARGEST = 2_000_000_000
"""Bytes of a run's checkpoints; larger ones stay where they are."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.safetensors")
"""What a checkpoint is called."""

PART = 8_000_000
"""Bytes that are fetched together: all pass the scheduler, which holds them meanwhile."""


class Checkpoints:
    """Brings the checkpoints of a run home, into the work folder of its training here."""

    def __init__(
        self,
        machines: Machines,
        run: str,
        work: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._machines = machines
        self._run = run
        self._work = work
        self._clock = clock
        self._stamp = ""
        self._next = clock() + LEAST_SECONDS
        self.fetched = 0
        """How often they came home."""

    def look(self, worker: str) -> None:
        """Fetch them if it is time, and if there are others than last time.

        What goes wrong on the way leaves those that are at home as they are. Raises OSError
        where they cannot be kept.
        """
        began = self._clock()
        if began < self._next:
            return
        try:
            self._fetch(worker)
        except WorkerPoolError:
            pass  # whoever waits for the result will say what is wrong
        finally:
            now = self._clock()
            self._next = now + max(LEAST_SECONDS, (now - began) / SHARE)

    def _fetch(self, worker: str) -> None:
        offered = msgspec.json.decode(
            self._machines.ask(worker, offer, self._run), type=CheckpointOffer
        )
        if not offered.sizes or offered.stamp == self._stamp:
            return
        if sum(offered.sizes.values()) > LARGEST:
            return
        # The names are another machine's words: none leads out of the folder.
        if not all(NAME.fullmatch(name) for name in offered.sizes):
            return
        beside = {name: path_beside(self._work / name, "tmp") for name in offered.sizes}
        try:
            for name, path in beside.items():
                self._receive(worker, name, offered.sizes[name], path)
            # The best weights first: a last state names those, and never newer ones.
            for name in sorted(beside):
                beside[name].replace(self._work / name)
        finally:
            for path in beside.values():
                path.unlink(missing_ok=True)
        self._stamp = offered.stamp
        self.fetched += 1

    def _receive(self, worker: str, name: str, size: int, path: Path) -> None:
        """Write an offered file here. Raises WorkerPoolError where it does not come whole."""
        with path.open("xb") as file:
            for start in range(0, size, PART):
                file.write(self._machines.ask(worker, part, self._run, name, start, PART))
            if file.tell() != size:
                raise WorkerPoolError(f"the checkpoint {name} of {worker} did not come whole")
            file.flush()
            os.fsync(file.fileno())


# A training on another machine: its labels go there, its curves and its model come back.
#
# `train_model_at` stands in for `train_model` where a job names a scheduler. One try is under
# way at a time. A worker that is lost is followed by another try, from the last checkpoint
# that came home, on whatever worker there is.

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
    from others. Raises WorkerPoolError for whatever is wrong with the cluster, else what
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
            if isinstance(found, RemoteReply):
                return self._received(found)
            if number < TRIES:
                self._tell(Phase(f"{found.said}; {self._goes_on()}"))
        raise WorkerPoolError(self._machines.unkept("the training"))

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

    def _try(self, on: frozenset[str]) -> RemoteReply | _Lost:
        run = f"nfh-train-{uuid.uuid4().hex}"
        heard: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._machines.listen(run, heard.put)
        try:
            self._tell(Phase(f"waiting for a worker of {self._machines.address}"))
            future = self._machines.submit(train, self._order(run), key=run, on=on)
            checkpoints = Checkpoints(self._machines, run, self._work)
            return _Following(self._machines, self._tell, heard, on).reply(future, checkpoints)
        finally:
            with suppress(WorkerPoolError):
                self._machines.deafen(run)
                self._machines.forget(run)

    def _order(self, run: str) -> bytes:
        at_home = any(self._work.glob(CHECKPOINTS))
        order = RemoteTraining(
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

    def _received(self, reply: RemoteReply) -> Made:
        """The model, its folder written and checked."""
        where = f"a worker of {self._machines.address}"
        if reply.fault is not None:
            last = reply.fault.strip().splitlines()[-1]
            fault = WorkerFaultError(f"{where} failed: {last}")
            fault.add_note(reply.fault)
            raise fault
        if reply.error is not None:
            raise KINDS.get(reply.kind, WorkerPoolError)(f"{where}: {reply.error}")
        if reply.made is None or reply.model is None:
            raise WorkerPoolError(f"{where} sent no model. {TRY_AGAIN}")
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

    def reply(self, future: Future, checkpoints: Checkpoints) -> RemoteReply | _Lost:
        """What came of it. Raises WorkerPoolError, and what `tell` raises; it stops then."""
        try:
            while not self._machines.over(future):
                self._listen(LOOK_SECONDS)
                if self._lost():
                    return _Lost(self._worker)
                if self._worker:
                    checkpoints.look(self._worker)
            self._listen(0.0)
            packed = self._machines.result(future, "the training")
            reply = msgspec.msgpack.decode(packed, type=RemoteReply)
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
    """Write the folder of a returned model. Raises WorkerPoolError if it does not match."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = path_beside(out, "tmp")
    try:
        try:
            unpack(parcel, folder)
            digest, config = digest_of(folder), read_config(folder, spec.recipe)
        except ModelsError as error:
            raise WorkerPoolError(
                f"the model from {where} does not hold: {error}. {TRY_AGAIN}"
            ) from error
        if digest != made.digest:
            raise WorkerPoolError(
                f"the model from {where} does not hold: its hash is {digest[:12]}, and "
                f"{made.digest[:12]} was said. {TRY_AGAIN}"
            )
        if config.task != spec.task:
            raise WorkerPoolError(
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
    """The folder that a training starts from. Raises WorkerPoolError where it has changed."""
    folder = Path(spec.base_folder or "")
    try:
        parcel = pack(folder)
        digest = digest_of(folder)
    except (OSError, ParcelError) as error:
        raise WorkerPoolError(
            f"the model that it starts from cannot be sent: {error}"
        ) from error
    if len(spec.base_digest) == len(digest) and digest != spec.base_digest:
        raise WorkerPoolError(
            f"the model that it starts from is not what it was: the files in {folder} have "
            "changed. Put them back, or name another base"
        )
    return parcel
