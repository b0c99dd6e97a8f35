"""Several machines: a Dask cluster that is there already, asked by its scheduler's address."""

import time
from concurrent.futures import CancelledError
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import msgspec

from nfh_models.errors import ModelsError
from nfh_tui.scanning.connecting import connected, differences, first_line, quiet
from nfh_tui.scanning.crew import ATTEMPTS, UNKEPT, CrewError, Piece
from nfh_tui.scanning.engine import Hello, Task, engine_of
from nfh_tui.scanning.tally import Tally
from nfh_tui.scanning.worker import Reply

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

    def __init__(self, address: str, task: Task) -> None:
        """Connect. Raises CrewError where Dask, the scheduler or every worker is missing."""
        self._address = address
        self._task = task.packed()
        self._run = uuid4().hex
        self._sent = 0
        self._hello: Hello | None = None
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

    def hello(self) -> Hello:
        """What the worker that answers first works with; the others have to say the same."""
        if self._hello is None:
            asked = self._client.submit(greet, self._task, self._run, pure=False)
            reply = self._received(asked, "")
            if reply.hello is None:
                raise CrewError(f"a worker of {self._address} gave no answer")
            self._hello = reply.hello
        return self._hello

    def submit(self, piece: Piece) -> "_Awaited":
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

    def tally_of(self, future: _Future, where: str) -> Tally:
        """The figures of a block. Raises CrewError."""
        reply = self._received(future, where)
        if reply.tally is None or reply.hello != self.hello():
            raise CrewError(
                f"the workers of {self._address} are not alike: one works with "
                f"{self.hello().said}, another with {_said(reply.hello)}. Install the same "
                "versions and models on all machines"
            )
        return reply.tally

    def _received(self, future: _Future, where: str) -> Reply:
        from distributed.scheduler import KilledWorker

        try:
            reply = msgspec.json.decode(self._wait(future), type=Reply)
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

    def result(self) -> Tally:
        """Wait for them. Raises CrewError."""
        return self._cluster.tally_of(self._future, self._where)


# --- what runs on the workers ---------------------------------------------------------------


def greet(task: bytes, run: str) -> bytes:
    """A worker's greeting, as a `Reply` in JSON."""
    try:
        reply = Reply(hello=engine_of(msgspec.json.decode(task, type=Task), run).hello())
    except ModelsError as error:
        reply = Reply(error=str(error))
    return msgspec.json.encode(reply)


def scan(task: bytes, run: str, data: bytes) -> bytes:
    """The figures of a block and who made them, as a `Reply` in JSON."""
    try:
        engine = engine_of(msgspec.json.decode(task, type=Task), run)
        reply = Reply(hello=engine.hello(), tally=engine.scan(data))
    except ModelsError as error:
        reply = Reply(error=str(error))
    return msgspec.json.encode(reply)


def _said(hello: Hello | None) -> str:
    return "nothing known" if hello is None else hello.said
