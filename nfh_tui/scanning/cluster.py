"""The worker pool of a running Dask cluster, reached by the address of its scheduler."""

import logging
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from typing import Any
from uuid import uuid4

import msgspec

from nfh_models import ModelsError
from nfh_tui.scanning.blocks import TextFigures
from nfh_tui.scanning.worker import (
    ATTEMPTS,
    WORKERS_LOST,
    BlockBytes,
    BlockTask,
    PendingFigures,
    ScanHandshake,
    WorkerPoolError,
    WorkerReply,
    loaded_processor,
)

_Client = Any
_Future = Any
"""Classes of Dask, which are only partly typed."""

INSTALL = (
    "--scheduler needs Dask, which is not installed: `pip install 'nfh-tui[cluster]'`, here "
    "and on the machines of the workers"
)
WANTED = "wanted an address as `dask scheduler` prints it: tcp://HOST:8786"

CONNECT_SECONDS = 10
"""Timeout of the connection to a scheduler."""

ANSWER_SECONDS = 15
"""Timeout of the connection and the first answer together: Dask itself has none for this."""

WORKERS_SECONDS = 15.0
"""How long a cluster may have no workers before that is an error."""

POLL_SECONDS = 2.0
"""Seconds between two checks, while a result is awaited, that there are still workers."""

COMPARED = ("python", "dask", "distributed", "msgpack", "cloudpickle")
"""Packages that need the same version on all machines, as Dask itself warns."""

_CHECKED = ("tcp", "tls")
_PORTS = range(1, 1 << 16)


def connect_client(address: str) -> _Client:
    """Connect to the scheduler at an address. Raises WorkerPoolError."""
    check_address(address)
    distributed: Any = import_module("distributed")
    clients: list[_Client] = []
    errors: list[Exception] = []

    def connect() -> None:
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=CONNECT_SECONDS, set_as_default=False)
            clients.append(client)
        except Exception as error:  # noqa: BLE001 # raised below, in the thread that waits
            client.status = "closed"  # else its finalizer waits for the connection
            errors.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    if clients:
        return clients[0]
    if errors:
        raise WorkerPoolError(
            f"no scheduler answers at {address} ({first_line(errors[0])}); {WANTED}"
        ) from errors[0]
    raise WorkerPoolError(f"what is at {address} does not answer like a scheduler; {WANTED}")


def check_address(address: str) -> None:
    """Raise WorkerPoolError for a malformed address, and if Dask is not installed."""
    try:
        import_module("distributed")
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise WorkerPoolError(INSTALL) from error
    try:
        scheme, place = parse_address(address)
        known = scheme not in _CHECKED or parse_host_port(place)[1] in _PORTS
    except ValueError as error:
        raise WorkerPoolError(
            f"{address!r} is not an address ({first_line(error)}); {WANTED}"
        ) from error
    if not known:
        raise WorkerPoolError(
            f"{address!r} is not an address (there is no such port); {WANTED}"
        )


def differences(client: _Client) -> list[str]:
    """A sentence for each of COMPARED whose version differs between machines."""
    found_versions = client.get_versions()
    places = {"here": found_versions["client"], "on the scheduler": found_versions["scheduler"]}
    places |= {f"on {name}": found for name, found in found_versions["workers"].items()}
    sentences = []
    for package in COMPARED:
        versions: dict[str, str] = {}
        for place, found in places.items():
            packages = (found or {}).get("packages") or {}
            versions.setdefault(str(packages.get(package, "missing")), place)
        if len(versions) > 1:
            listed = ", ".join(f"{version} {place}" for version, place in versions.items())
            sentences.append(f"{package} differs between machines: {listed}")
    return sentences


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Suppress all logging and warnings inside the block.

    Dask logs a traceback for each lost machine; errors are reported as sentences instead.
    """
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def first_line(error: BaseException) -> str:
    """The first line of an error's message; its type if the message is empty."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class Cluster:
    """The worker pool of a Dask cluster."""

    def __init__(self, address: str, task: BlockTask) -> None:
        """Connect. Raises WorkerPoolError if Dask is not installed, the scheduler does not
        answer or there is no worker."""
        self._address = address
        self._task = task.encoded()
        self._run = uuid4().hex
        self._sent = 0
        self._handshake: ScanHandshake | None = None
        self._quiet = ExitStack()
        self._quiet.enter_context(quiet_logs())
        self._client: Any = None
        try:
            self._client = connect_client(address)
            try:
                self._client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            except TimeoutError as error:
                raise WorkerPoolError(self._no_workers()) from error
            self.warnings = differences(self._client)
            """Sentences about versions that differ between the machines."""
            self.at_once = 2 * max(1, self._cores()) + 2
        except BaseException:
            self.close()
            raise

    def handshake(self) -> ScanHandshake:
        """What the first worker to answer has loaded; the others must have loaded the same."""
        if self._handshake is None:
            future = self._client.submit(handshake_json, self._task, self._run, pure=False)
            reply = self._reply(future, "")
            if reply.hello is None:
                raise WorkerPoolError(f"a worker of {self._address} did not answer")
            self._handshake = reply.hello
        return self._handshake

    def submit(self, block: BlockBytes) -> PendingFigures:
        """Queue a block; its bytes are sent with the task."""
        self._sent += 1
        name = f"nfh-scan-{self._run}-{self._sent}"
        future = self._client.submit(
            scan, self._task, self._run, block.data, key=name, pure=False
        )
        return partial(self._figures, future, block.where)

    def close(self) -> None:
        """Disconnect: pending blocks are dropped, the cluster keeps running."""
        with self._quiet:
            if self._client is not None:
                self._client.close()

    def _figures(self, future: _Future, where: str) -> TextFigures:
        """Wait for the figures of a block. Raises WorkerPoolError."""
        reply = self._reply(future, where)
        if reply.tally is None or reply.hello != self.handshake():
            other = "nothing known" if reply.hello is None else reply.hello.description
            raise WorkerPoolError(
                f"the workers of {self._address} differ: one works with "
                f"{self.handshake().description}, another with {other}. Install the same "
                "versions and models on all machines"
            )
        return reply.tally

    def _reply(self, future: _Future, where: str) -> WorkerReply:
        from distributed.scheduler import KilledWorker

        try:
            reply = msgspec.json.decode(self._wait(future), type=WorkerReply)
        except KilledWorker as error:
            raise WorkerPoolError(
                WORKERS_LOST.format(attempts=ATTEMPTS, where=where)
            ) from error
        except (CancelledError, OSError) as error:
            raise WorkerPoolError(f"the scheduler {self._address} has ended") from error
        except WorkerPoolError:
            raise
        except Exception as error:  # anything, if the versions of packages differ
            raise WorkerPoolError(
                f"the cluster at {self._address} cannot do the work "
                f"({first_line(error.__cause__ or error)}): install the same version of "
                "nfh-tui on the machines of the scheduler and of the workers"
            ) from error
        future.release()
        if reply.error is not None:
            raise WorkerPoolError(f"a worker of {self._address}: {reply.error}")
        return reply

    def _wait(self, future: _Future) -> bytes:
        seen = time.monotonic()
        while True:
            try:
                reply: bytes = future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if self._cores():
                    seen = time.monotonic()
                elif time.monotonic() - seen > WORKERS_SECONDS:
                    raise WorkerPoolError(self._no_workers()) from None
            else:
                return reply

    def _no_workers(self) -> str:
        return (
            f"the scheduler {self._address} has no workers; start some with `dask worker "
            f"{self._address} --nthreads 1`"
        )

    def _cores(self) -> int:
        cores: dict[str, int] = self._client.nthreads()
        return sum(cores.values())


# --- functions that Dask calls on the workers -----------------------------------------------


def handshake_json(task: bytes, run: str) -> bytes:
    """The handshake of a worker, as a `WorkerReply` in JSON."""
    return scan(task, run, None)


def scan(task: bytes, run: str, data: bytes | None) -> bytes:
    """The handshake of a worker and the figures of a block, as a `WorkerReply` in JSON."""
    try:
        processor = loaded_processor(msgspec.json.decode(task, type=BlockTask), run)
        tally = None if data is None else processor.scan(data)
        reply = WorkerReply(hello=processor.handshake(), tally=tally)
    except ModelsError as error:
        reply = WorkerReply(error=str(error))
    return msgspec.json.encode(reply)
