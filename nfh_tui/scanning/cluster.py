"""A scan on several machines: a Dask cluster that is there already, asked by its scheduler's
address.
"""

import logging
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4

import msgspec

from nfh_models.errors import ModelsError
from nfh_tui.scanning.blocks import TextFigures
from nfh_tui.scanning.worker import (
    ATTEMPTS,
    UNKEPT,
    BlockBytes,
    BlockTask,
    CrewError,
    ScanHandshake,
    WorkerReply,
    engine_of,
)

_Client = Any
"""Dask's own class, which is typed in part only."""

INSTALL = (
    "--scheduler needs Dask, which is not installed: `pip install 'nfh-tui[cluster]'`, here "
    "and on the machines of the workers"
)
WANTED = "wanted an address as `dask scheduler` prints it: tcp://HOST:8786"

CONNECT_SECONDS = 10
ANSWER_SECONDS = 15
"""How long a scheduler may take to be reached, and how long to be reached and to answer: Dask
itself would wait for an answer without end."""

COMPARED = ("python", "dask", "distributed", "msgpack", "cloudpickle")
"""What has to be of one version on all machines, as Dask itself warns."""

_CHECKED = ("tcp", "tls")
_PORTS = range(1, 1 << 16)


def connected(address: str) -> _Client:
    """A client of the scheduler at an address. Raises CrewError."""
    check_address(address)
    distributed: Any = import_module("distributed")
    clients: list[_Client] = []
    errors: list[Exception] = []

    def connect() -> None:
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=CONNECT_SECONDS, set_as_default=False)
            clients.append(client)
        except Exception as error:  # noqa: BLE001 # said by the thread that waits
            client.status = "closed"  # else it waits for itself when it is forgotten
            errors.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    if clients:
        return clients[0]
    if errors:
        raise CrewError(
            f"no scheduler answers at {address} ({first_line(errors[0])}); {WANTED}"
        ) from errors[0]
    raise CrewError(f"what is at {address} does not answer as a scheduler does; {WANTED}")


def check_address(address: str) -> None:
    """Raise CrewError for what cannot be an address, and where Dask is not installed."""
    try:
        import_module("distributed")
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise CrewError(INSTALL) from error
    try:
        scheme, place = parse_address(address)
        known = scheme not in _CHECKED or parse_host_port(place)[1] in _PORTS
    except ValueError as error:
        raise CrewError(f"{address!r} is no address ({first_line(error)}); {WANTED}") from error
    if not known:
        raise CrewError(f"{address!r} is no address (there is no such port); {WANTED}")


def differences(client: _Client) -> list[str]:
    """A sentence for each package that is not of one version everywhere."""
    said = client.get_versions()
    places = {"here": said["client"], "on the scheduler": said["scheduler"]}
    places |= {f"on {name}": found for name, found in said["workers"].items()}
    sentences = []
    for package in COMPARED:
        versions: dict[str, str] = {}
        for place, found in places.items():
            packages = (found or {}).get("packages") or {}
            versions.setdefault(str(packages.get(package, "missing")), place)
        if len(versions) > 1:
            listed = ", ".join(f"{version} {place}" for version, place in versions.items())
            sentences.append(f"{package} is not the same everywhere: {listed}")
    return sentences


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is logged and no warning shown while this holds: what matters is said in
    sentences, and Dask logs a traceback where a machine is lost."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def first_line(error: BaseException) -> str:
    """The first line of what an error says; its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


_Future = Any
"""Dask's own class, which is typed in part only."""

PATIENCE_SECONDS = 15.0
"""How long a cluster may be without a worker before that is called a failure."""

LOOK_SECONDS = 2.0
"""Seconds between two looks at whether there still are workers, while one is waited for."""


class Cluster:
    """The workers of a scheduler. at_once: blocks on their way together.

    warnings: sentences about versions that differ between the machines.
    """

    def __init__(self, address: str, task: BlockTask) -> None:
        """Connect. Raises CrewError where Dask, the scheduler or every worker is missing."""
        self._address = address
        self._task = task.packed()
        self._run = uuid4().hex
        self._sent = 0
        self._hello: ScanHandshake | None = None
        self._quiet = ExitStack()
        self._quiet.enter_context(quiet())
        self._client: Any = None
        try:
            self._client = connected(address)
            self._wait_for_workers()
            self.warnings = differences(self._client)
            self.at_once = 2 * max(1, self._cores()) + 2
        except BaseException:
            self.close()
            raise

    def hello(self) -> ScanHandshake:
        """What the worker that answers first works with; the others have to say the same."""
        if self._hello is None:
            asked = self._client.submit(greet, self._task, self._run, pure=False)
            reply = self._received(asked, "")
            if reply.hello is None:
                raise CrewError(f"a worker of {self._address} gave no answer")
            self._hello = reply.hello
        return self._hello

    def submit(self, piece: BlockBytes) -> "_Awaited":
        """Have a block scanned, its bytes sent along."""
        self._sent += 1
        name = f"nfh-scan-{self._run}-{self._sent}"
        future = self._client.submit(
            scan, self._task, self._run, piece.data, key=name, pure=False
        )
        return _Awaited(self, future, piece.where)

    def close(self) -> None:
        """Leave; what was on its way is forgotten, the cluster stays."""
        with self._quiet:
            if self._client is not None:
                self._client.close()

    def tally_of(self, future: _Future, where: str) -> TextFigures:
        """The figures of a block. Raises CrewError."""
        reply = self._received(future, where)
        if reply.tally is None or reply.hello != self.hello():
            raise CrewError(
                f"the workers of {self._address} are not alike: one works with "
                f"{self.hello().said}, another with {_said(reply.hello)}. Install the same "
                "versions and models on all machines"
            )
        return reply.tally

    def _received(self, future: _Future, where: str) -> WorkerReply:
        from distributed.scheduler import KilledWorker

        try:
            reply = msgspec.json.decode(self._wait(future), type=WorkerReply)
        except KilledWorker as error:
            raise CrewError(UNKEPT.format(attempts=ATTEMPTS, where=where)) from error
        except (CancelledError, OSError) as error:
            raise CrewError(f"the scheduler {self._address} is gone") from error
        except CrewError:
            raise
        except Exception as error:  # what another version of a package may lead to
            raise CrewError(
                f"the cluster at {self._address} cannot do the work "
                f"({first_line(error.__cause__ or error)}): install the same version of "
                "nfh-tui on the machines of the scheduler and of the workers"
            ) from error
        future.release()
        if reply.error is not None:
            raise CrewError(f"a worker of {self._address}: {reply.error}")
        return reply

    def _wait(self, future: _Future) -> bytes:
        seen = time.monotonic()
        while True:
            try:
                found: bytes = future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                if self._cores():
                    seen = time.monotonic()
                elif time.monotonic() - seen > PATIENCE_SECONDS:
                    raise CrewError(self._nobody()) from None
            else:
                return found

    def _wait_for_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise CrewError(self._nobody()) from error

    def _nobody(self) -> str:
        return (
            f"the scheduler {self._address} has no workers; start some with `dask worker "
            f"{self._address} --nthreads 1`"
        )

    def _cores(self) -> int:
        cores: dict[str, int] = self._client.nthreads()
        return sum(cores.values())


class _Awaited:
    """Figures that a cluster will send."""

    def __init__(self, cluster: Cluster, future: _Future, where: str) -> None:
        self._cluster = cluster
        self._future = future
        self._where = where

    def result(self) -> TextFigures:
        """Wait for them. Raises CrewError."""
        return self._cluster.tally_of(self._future, self._where)


# --- what runs on the workers ---------------------------------------------------------------


def greet(task: bytes, run: str) -> bytes:
    """A worker's greeting, as a `WorkerReply` in JSON."""
    try:
        reply = WorkerReply(
            hello=engine_of(msgspec.json.decode(task, type=BlockTask), run).hello()
        )
    except ModelsError as error:
        reply = WorkerReply(error=str(error))
    return msgspec.json.encode(reply)


def scan(task: bytes, run: str, data: bytes) -> bytes:
    """The figures of a block and who made them, as a `WorkerReply` in JSON."""
    try:
        engine = engine_of(msgspec.json.decode(task, type=BlockTask), run)
        reply = WorkerReply(hello=engine.hello(), tally=engine.scan(data))
    except ModelsError as error:
        reply = WorkerReply(error=str(error))
    return msgspec.json.encode(reply)


def _said(hello: ScanHandshake | None) -> str:
    return "nothing known" if hello is None else hello.said
