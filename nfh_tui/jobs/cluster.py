"""The machines of a Dask cluster, as jobs use them: handshake with workers, and folders
transferred between machines.

A cluster is there already, and is asked by its scheduler's address. Whatever is wrong with it
is a WorkerPoolError, a sentence.
"""

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from math import inf
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypeVar

import msgspec

from nfh_db.system import path_beside
from nfh_models.errors import ModelsError
from nfh_tui.scanning.cluster import connect_client, differences, first_line, quiet
from nfh_tui.scanning.worker import WorkerPoolError

LIBRARIES = (
    "numpy",
    "safetensors",
    "scikit-learn",
    "spacy",
    "stanza",
    "tokenizers",
    "torch",
    "transformers",
)
"""Packages whose version may change what a model learns or says."""


class Greeting(msgspec.Struct, frozen=True):
    """program: the version of nfh-tui. libraries: versions by name, of those there are."""

    program: str
    libraries: dict[str, str]


@lru_cache(maxsize=1)
def greeting() -> Greeting:
    """What this machine works with."""
    found = {name: _version(name) for name in LIBRARIES}
    return Greeting(
        _version("nfh-tui") or "source", {name: said for name, said in found.items() if said}
    )


def greet() -> bytes:
    """The same in JSON, as a worker says it."""
    return msgspec.json.encode(greeting())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


Found = TypeVar("Found")

Future = Any
"""Dask's own class, which is typed in part only."""

PATIENCE_SECONDS = 15.0
"""How long a cluster may be without a worker that can be used before that is a failure."""

LOOK_SECONDS = 0.2
"""Seconds between two looks at what a cluster is at: Ctrl-C has to wait so long."""

SCHEDULER_SECONDS = 2.0
"""Seconds between two questions to the scheduler which workers there are."""

ANSWER_SECONDS = 60.0
"""How long workers may take for a small answer, whatever else they are at."""

OVER = ("finished", "error", "lost", "cancelled")
"""What Dask calls a future of which nothing more will come."""


class Machines:
    """A scheduler with its workers, while this holds (`with`).

    warnings: sentences about versions that differ between the machines.
    """

    def __init__(self, address: str) -> None:
        """Connect. Raises WorkerPoolError where Dask or the scheduler is missing."""
        self.address = address
        self.warnings: tuple[str, ...] = ()
        self._quiet = ExitStack()
        self._quiet.enter_context(quiet())
        self._client: Any = None
        self._looked = float("-inf")
        self._present: frozenset[str] = frozenset()
        try:
            self._client = connect_client(address)
            self.warnings = tuple(self._patiently(lambda: differences(self._client)))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave: what was asked for and is not done is forgotten there, and stops."""
        with self._quiet:
            if self._client is not None:
                self._client.close()

    # --- workers ------------------------------------------------------------------------

    def present(self) -> frozenset[str]:
        """The addresses of the workers, as they were some moments ago at most."""
        if time.monotonic() - self._looked > SCHEDULER_SECONDS:
            self._present = frozenset(self._patiently(self._client.nthreads))
            self._looked = time.monotonic()
        return self._present

    def cores(self, workers: frozenset[str]) -> int:
        """Tasks that these can be at together."""
        found: dict[str, int] = self._patiently(self._client.nthreads)
        return sum(threads for worker, threads in found.items() if worker in workers)

    def alike(self) -> frozenset[str]:
        """The workers with our version of nfh-tui; waits for the first of them.

        Raises WorkerPoolError where there is none for long, or where all have another version.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            found, others = self._greetings()
            if found:
                self._warn(found, others)
                return frozenset(found)
            if others:
                raise WorkerPoolError(
                    f"no worker of {self.address} can do the work: {'; '.join(others)}. "
                    "Install the same version of nfh-tui on all machines"
                )
            if time.monotonic() > until:
                raise WorkerPoolError(
                    f"the scheduler {self.address} has no workers; start some with `dask "
                    f"worker {self.address} --nthreads 1`"
                )
            time.sleep(LOOK_SECONDS)

    def _greetings(self) -> tuple[dict[str, Greeting], list[str]]:
        """What the usable workers work with, and sentences about the others."""
        ours = greeting()
        alike: dict[str, Greeting] = {}
        others: list[str] = []
        for worker, said in self.ask_all(greet).items():
            if isinstance(said, bytes):
                found = msgspec.json.decode(said, type=Greeting)
                if found.program == ours.program:
                    alike[worker] = found
                else:
                    others.append(f"{worker} has nfh-tui {found.program}, not {ours.program}")
            elif isinstance(said, ImportError):
                others.append(f"{worker} has no nfh-tui that could ({first_line(said)})")
        return alike, sorted(others)

    def _warn(self, alike: dict[str, Greeting], others: list[str]) -> None:
        ours = greeting().libraries
        told = [f"{other}, and is not used" for other in others]
        for worker, found in sorted(alike.items()):
            for name, there in found.libraries.items():
                if there != ours.get(name):
                    here = ours.get(name, "missing")
                    told.append(f"{name} is {there} on {worker}, {here} here")
        self.warnings = tuple(dict.fromkeys((*self.warnings, *told)))

    # --- asking -------------------------------------------------------------------------

    def ask_all(self, function: Callable[..., bytes], *given: object) -> dict[str, object]:
        """What a function says on each worker, at once, whatever that is at; or its error."""
        return self._asked(function, given, {}, lambda: False)

    def ask(self, worker: str, function: Callable[..., bytes], *given: object) -> bytes:
        """What a function says on a worker. Raises WorkerPoolError, also where that is gone."""
        only = {"workers": [worker]}
        found = self._asked(function, given, only, lambda: worker not in self.present())
        said = found.get(worker)
        if not isinstance(said, bytes):
            raise WorkerPoolError(f"the worker {worker} does not answer")
        return said

    def _asked(
        self,
        function: Callable[..., bytes],
        given: tuple[object, ...],
        more: dict[str, list[str]],
        given_up: Callable[[], bool],
    ) -> dict[str, object]:
        def ask() -> dict[str, object]:
            found: dict[str, object] = self._client.run(
                function, *given, on_error="return", **more
            )
            return found

        return self._patiently(ask, given_up)

    def _patiently(
        self,
        ask: Callable[[], Found],
        given_up: Callable[[], bool] = lambda: False,
        seconds: float = ANSWER_SECONDS,
    ) -> Found:
        """Ask in another thread: Dask waits half a minute for a machine that has died, and
        does not listen to Ctrl-C meanwhile. Raises WorkerPoolError."""
        answers: list[Found] = []
        errors: list[Exception] = []

        def wait() -> None:
            try:
                answers.append(ask())
            except Exception as error:  # noqa: BLE001 # said by the thread that asks
                errors.append(error)

        thread = threading.Thread(target=wait, daemon=True, name="cluster")
        thread.start()
        until = time.monotonic() + seconds
        while thread.is_alive() and time.monotonic() < until and not given_up():
            thread.join(LOOK_SECONDS)
            self._check_scheduler()
        if errors:
            with self._in_words():
                raise errors[0]
        if not answers:
            raise WorkerPoolError(f"the machines of {self.address} do not answer")
        return answers[0]

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise WorkerPoolError(self._gone())

    def submit(
        self, function: Callable[..., bytes], *given: object, key: str, on: frozenset[str]
    ) -> Future:
        """Have a function run on one of some workers. Raises WorkerPoolError."""
        with self._in_words():
            return self._client.submit(
                function, *given, key=key, workers=sorted(on), pure=False
            )

    def listen(self, topic: str, hear: Callable[[object], None]) -> None:
        """Have what workers say of a topic told, in another thread."""
        self._client.subscribe_topic(topic, lambda event: hear(event[1]))

    def deafen(self, topic: str) -> None:
        """Hear no more of a topic."""
        with self._in_words():
            self._client.unsubscribe_topic(topic)

    def forget(self, event: str) -> None:
        """Have the scheduler forget an event of this name."""
        distributed: Any = import_module("distributed")
        self._patiently(distributed.Event(event, client=self._client).clear)

    def over(self, future: Future) -> bool:
        """Whether a future has ended. Raises WorkerPoolError if the scheduler is gone."""
        self._check_scheduler()
        return future.status in OVER

    def result(self, future: Future, what: str) -> bytes:
        """What came of a future that is over. what: it is, in words. Raises WorkerPoolError."""
        from distributed.scheduler import KilledWorker

        try:
            found: bytes = self._patiently(future.result, seconds=inf)
        except KilledWorker as error:
            raise WorkerPoolError(self.unkept(what)) from error
        return found

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """What Dask raises, as sentences."""
        from distributed.scheduler import KilledWorker

        try:
            yield
        except (WorkerPoolError, KilledWorker):
            raise
        except (CancelledError, OSError) as error:
            raise WorkerPoolError(self._gone()) from error
        except Exception as error:  # what another version of a package may lead to
            raise WorkerPoolError(
                f"the cluster at {self.address} cannot do the work "
                f"({first_line(error.__cause__ or error)}): install the same version of "
                "nfh-tui on the machines of the scheduler and of the workers"
            ) from error

    def unkept(self, what: str) -> str:
        """The sentence for work whose workers are lost each time."""
        return (
            f"{what} was begun several times on workers of {self.address} that were lost over "
            "it. That happens where memory runs out: give the workers more, or take a smaller "
            "model or parser"
        )

    def _gone(self) -> str:
        return (
            f"the scheduler {self.address} is gone, or was started anew: try again when it is "
            "there"
        )


# Folders on their way between machines: all files in one piece of bytes, with their hash.
#
# Nothing in a parcel is run, and nothing of it is written outside the folder that it is for.


class ParcelError(ModelsError):
    """A parcel that does not hold; the sentence says what is wrong with it."""


class _Parcel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """files: contents by path below the folder, with / in it. digest: of them all."""

    files: dict[str, bytes]
    digest: str


def pack(folder: Path, patterns: Iterable[str] = ("*",)) -> bytes:
    """The files of a folder that the patterns match, but hidden ones.

    Raises OSError, and ParcelError for a link, which no other machine could follow.
    """
    files: dict[str, bytes] = {}
    for path in sorted(one for pattern in patterns for one in folder.rglob(pattern)):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in PurePosixPath(name).parts):
            continue
        if path.is_symlink():
            raise ParcelError(f"{path} is a link, which no other machine could follow")
        if path.is_file():
            files[name] = path.read_bytes()
    return msgspec.msgpack.encode(_Parcel(files, _digest(files)))


def unpack(parcel: bytes, folder: Path) -> None:
    """Write the files of a parcel into a folder that is new, whole or not at all.

    Raises OSError, and ParcelError for one that does not hold.
    """
    files = _files(parcel)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = path_beside(folder, "tmp")
    beside.mkdir()
    try:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _files(parcel: bytes) -> dict[str, bytes]:
    try:
        found = msgspec.msgpack.decode(parcel, type=_Parcel)
    except msgspec.MsgspecError as error:
        raise ParcelError(f"the files came damaged: {error}") from error
    if found.digest != _digest(found.files):
        raise ParcelError("the files came damaged: their hash is another")
    for name in found.files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or any(one.startswith(".") for one in parts):
            raise ParcelError(f"{name!r} cannot be the name of a file that was sent")
        if "\\" in name or ":" in name or "\0" in name:
            raise ParcelError(f"{name!r} cannot be the name of a file that was sent")
    return found.files


def _digest(files: dict[str, bytes]) -> str:
    """SHA-256 (hex) of names, lengths and contents, in the order of the names."""
    hashed = hashlib.sha256()
    for name in sorted(files):
        hashed.update(f"{name}\0{len(files[name])}\0".encode("utf-8", "surrogateescape"))
        hashed.update(files[name])
    return hashed.hexdigest()
