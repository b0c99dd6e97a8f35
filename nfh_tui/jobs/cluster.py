"""A running Dask cluster as jobs use it: the handshake with its workers, calls to them, and the
transfer of folders. All errors of the cluster become a WorkerPoolError.
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
from typing import Any, TypeVar

import msgspec

from nfh_db.system import path_beside
from nfh_models import ModelsError
from nfh_tui.scanning.cluster import connect_client, differences, first_line, quiet_logs
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
"""Packages whose version may change trained weights or predictions."""


class Versions(msgspec.Struct, frozen=True):
    """The versions of a machine."""

    program: str
    """Of nfh-tui."""
    libraries: dict[str, str]
    """By name, of those of LIBRARIES that are installed."""


@lru_cache(maxsize=1)
def own_versions() -> Versions:
    """The versions of this machine."""
    found = {name: _version(name) for name in LIBRARIES}
    return Versions(
        _version("nfh-tui") or "source",
        {name: number for name, number in found.items() if number},
    )


def versions_json() -> bytes:
    """`own_versions` in JSON; called on workers."""
    return msgspec.json.encode(own_versions())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


Found = TypeVar("Found")

Future = Any
"""A class of Dask, which is only partly typed."""

PATIENCE_SECONDS = 15.0
"""How long a cluster may have no usable workers before that is an error."""

LOOK_SECONDS = 0.2
"""Polling interval in seconds; the longest delay of Ctrl-C."""

SCHEDULER_SECONDS = 2.0
"""Seconds for which the list of workers is cached."""

ANSWER_SECONDS = 60.0
"""Timeout for a small answer from workers that may be busy."""

OVER = ("finished", "error", "lost", "cancelled")
"""The states of a future that has ended."""


class Machines:
    """A connection to a scheduler and its workers."""

    def __init__(self, address: str) -> None:
        """Connect. Raises WorkerPoolError if Dask is not installed or no scheduler answers."""
        self.address = address
        self.warnings: tuple[str, ...] = ()
        """Sentences about versions that differ between the machines."""
        self._quiet = ExitStack()
        self._quiet.enter_context(quiet_logs())
        self._client: Any = None
        self._looked = float("-inf")
        self._present: frozenset[str] = frozenset()
        try:
            self._client = connect_client(address)
            self.warnings = tuple(self._patiently(lambda: differences(self._client)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect: the cluster cancels tasks that are not done."""
        with self._quiet:
            if self._client is not None:
                self._client.close()

    # --- workers ------------------------------------------------------------------------

    def present(self) -> frozenset[str]:
        """The addresses of the workers, at most SCHEDULER_SECONDS old."""
        if time.monotonic() - self._looked > SCHEDULER_SECONDS:
            self._present = frozenset(self._patiently(self._client.nthreads))
            self._looked = time.monotonic()
        return self._present

    def cores(self, workers: frozenset[str]) -> int:
        """How many tasks these workers can run at the same time."""
        found: dict[str, int] = self._patiently(self._client.nthreads)
        return sum(threads for worker, threads in found.items() if worker in workers)

    def alike(self) -> frozenset[str]:
        """The workers with our version of nfh-tui; waits for the first one.

        Raises WorkerPoolError after PATIENCE_SECONDS without workers, and if all of them have
        another version.
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

    def _greetings(self) -> tuple[dict[str, Versions], list[str]]:
        """The greetings of the usable workers, and sentences about the others."""
        ours = own_versions()
        alike: dict[str, Versions] = {}
        others: list[str] = []
        for worker, said in self.ask_all(versions_json).items():
            if isinstance(said, bytes):
                found = msgspec.json.decode(said, type=Versions)
                if found.program == ours.program:
                    alike[worker] = found
                else:
                    others.append(f"{worker} has nfh-tui {found.program}, not {ours.program}")
            elif isinstance(said, ImportError):
                others.append(f"{worker} has no suitable nfh-tui ({first_line(said)})")
        return alike, sorted(others)

    def _warn(self, alike: dict[str, Versions], others: list[str]) -> None:
        ours = own_versions().libraries
        told = [f"{other}, and is not used" for other in others]
        for worker, found in sorted(alike.items()):
            for name, there in found.libraries.items():
                if there != ours.get(name):
                    here = ours.get(name, "missing")
                    told.append(f"{name} is {there} on {worker}, {here} here")
        self.warnings = tuple(dict.fromkeys((*self.warnings, *told)))

    # --- calls --------------------------------------------------------------------------

    def ask_all(self, function: Callable[..., bytes], *given: object) -> dict[str, object]:
        """Call a function on every worker, also on busy ones: results, or errors, by worker."""
        return self._asked(function, given, {}, lambda: False)

    def ask(self, worker: str, function: Callable[..., bytes], *given: object) -> bytes:
        """Call a function on one worker. Raises WorkerPoolError, also if the worker is lost."""
        only = {"workers": [worker]}
        found = self._asked(function, given, only, lambda: worker not in self.present())
        result = found.get(worker)
        if not isinstance(result, bytes):
            raise WorkerPoolError(f"the worker {worker} does not answer")
        return result

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
        """Call `ask` in another thread, with a timeout. Raises WorkerPoolError.

        Dask itself waits half a minute for a lost machine, and ignores Ctrl-C meanwhile.
        """
        answers: list[Found] = []
        errors: list[Exception] = []

        def wait() -> None:
            try:
                answers.append(ask())
            except Exception as error:  # noqa: BLE001 # raised in the thread that waits
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
        """Submit a function to one of some workers. Raises WorkerPoolError."""
        with self._in_words():
            return self._client.submit(
                function, *given, key=key, workers=sorted(on), pure=False
            )

    def listen(self, topic: str, hear: Callable[[object], None]) -> None:
        """Call `hear` with each event of a topic, in another thread."""
        self._client.subscribe_topic(topic, lambda event: hear(event[1]))

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from a topic."""
        with self._in_words():
            self._client.unsubscribe_topic(topic)

    def forget(self, event: str) -> None:
        """Clear the event of this name on the scheduler."""
        distributed: Any = import_module("distributed")
        self._patiently(distributed.Event(event, client=self._client).clear)

    def over(self, future: Future) -> bool:
        """Whether a future has ended. Raises WorkerPoolError if the scheduler is gone."""
        self._check_scheduler()
        return future.status in OVER

    def result(self, future: Future, what: str) -> bytes:
        """The result of a future that has ended. what: names the work in errors. Raises
        WorkerPoolError."""
        from distributed.scheduler import KilledWorker

        try:
            found: bytes = self._patiently(future.result, seconds=inf)
        except KilledWorker as error:
            raise WorkerPoolError(self.lost_words(what)) from error
        return found

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn errors of Dask into WorkerPoolErrors."""
        from distributed.scheduler import KilledWorker

        try:
            yield
        except (WorkerPoolError, KilledWorker):
            raise
        except (CancelledError, OSError) as error:
            raise WorkerPoolError(self._gone()) from error
        except Exception as error:  # anything, if the versions of packages differ
            raise WorkerPoolError(
                f"the cluster at {self.address} cannot do the work "
                f"({first_line(error.__cause__ or error)}): install the same version of "
                "nfh-tui on the machines of the scheduler and of the workers"
            ) from error

    def lost_words(self, what: str) -> str:
        """The message for work that lost its workers each time."""
        return (
            f"{what} was started several times on workers of {self.address}, and each worker "
            "was lost. Memory may be too small: give the workers more, or use a smaller "
            "model or parser"
        )

    def _gone(self) -> str:
        return (
            f"the scheduler {self.address} has ended or was restarted: try again when it runs"
        )


# Folder transfer: all files of a folder in one message, with their hash. Nothing in it is
# executed, and nothing is written outside the target folder.


class TransferError(ModelsError):
    """A folder cannot be sent, or arrived damaged; the message says why."""


class _Archive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files of a folder."""

    files: dict[str, bytes]
    """Contents by path relative to the folder, with / as the separator."""
    digest: str


def pack(folder: Path, patterns: Iterable[str] = ("*",)) -> bytes:
    """Archive the files of a folder that match the patterns, without hidden ones.

    Raises OSError, and TransferError for a symbolic link.
    """
    files: dict[str, bytes] = {}
    for path in sorted(one for pattern in patterns for one in folder.rglob(pattern)):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in PurePosixPath(name).parts):
            continue
        if path.is_symlink():
            raise TransferError(f"{path} is a link, which other machines cannot follow")
        if path.is_file():
            files[name] = path.read_bytes()
    return msgspec.msgpack.encode(_Archive(files, _digest(files)))


def unpack(archive: bytes, folder: Path) -> None:
    """Write an archive to a new folder, completely or not at all.

    Raises OSError, and TransferError for a damaged archive.
    """
    files = _files(archive)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = path_beside(folder, "tmp")
    temporary.mkdir()
    try:
        for name, content in files.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _files(archive: bytes) -> dict[str, bytes]:
    try:
        found = msgspec.msgpack.decode(archive, type=_Archive)
    except msgspec.MsgspecError as error:
        raise TransferError(f"the files arrived damaged: {error}") from error
    if found.digest != _digest(found.files):
        raise TransferError("the files arrived damaged: their hash differs")
    for name in found.files:
        parts = PurePosixPath(name).parts
        if (
            not parts
            or any(one.startswith(".") for one in parts)
            or name.startswith("/")
            or any(sign in name for sign in "\\:\0")
        ):
            raise TransferError(f"{name!r} cannot be the name of a file that was sent")
    return found.files


def _digest(files: dict[str, bytes]) -> str:
    """SHA-256 (hex) of names, lengths and contents, in the order of the names."""
    hashed = hashlib.sha256()
    for name in sorted(files):
        hashed.update(f"{name}\0{len(files[name])}\0".encode("utf-8", "surrogateescape"))
        hashed.update(files[name])
    return hashed.hexdigest()
