"""Worker processes of this machine: started when they are needed, replaced when they die."""

import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import msgspec

from nfh_models.errors import ModelsError
from nfh_tui.jobs.logs import log_path, open_private
from nfh_tui.scanning.blocks import TextFigures
from nfh_tui.scanning.worker import (
    ATTEMPTS,
    UNKEPT,
    BlockBytes,
    BlockTask,
    CrewError,
    ScanHandshake,
    WorkerReply,
    receive,
    send,
)

MODULE = "nfh_tui.scanning.worker"
LOG_NAME = "scan.log"

RENEWED_AFTER = 1 << 28
"""Bytes of text after which a worker is replaced: the vocabulary of a parser grows with
every new word it meets, and a text without end has new words without end."""

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Each worker keeps to one core; with more threads each, they would wait for one another."""

STOP_SECONDS = 3.0


class DeadWorkerError(Exception):
    """A worker ended in the middle of something."""


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Worker processes, and one thread each that waits for it."""

    def __init__(self, task: BlockTask, processes: int) -> None:
        self._task = task.packed()
        self._hello: ScanHandshake | None = None
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._threads = ThreadPoolExecutor(processes, "scan")
        self.at_once = 2 * processes + 2

    @property
    def pids(self) -> list[int]:
        """The processes that are there now."""
        with self._lock:
            return [worker.pid for worker in self._all]

    def hello(self) -> ScanHandshake:
        """What they work with: the first is started for it."""
        for _ in range(ATTEMPTS):
            with suppress(DeadWorkerError):
                worker = self._take()
                self._give_back(worker)
                return worker.hello
        raise CrewError(
            f"a worker process ended while it started, {ATTEMPTS} times; "
            f"{log_path(LOG_NAME)} may say why"
        )

    def submit(self, piece: BlockBytes) -> "Future[TextFigures]":
        """Have a block scanned by the next worker that is free."""
        return self._threads.submit(self._scan, piece)

    def close(self) -> None:
        """End them all."""
        with self._lock:
            self._closed = True
            every = list(self._all)
        for worker in every:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in every:
            worker.end()

    def _scan(self, piece: BlockBytes) -> TextFigures:
        for _ in range(ATTEMPTS):
            with suppress(DeadWorkerError):
                worker = self._take()
                try:
                    return worker.scan(piece.data)
                finally:
                    self._give_back(worker)
        why = UNKEPT.format(attempts=ATTEMPTS, where=piece.where)
        raise CrewError(f"{why}. {log_path(LOG_NAME)} may say more")

    def _take(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise CrewError("the scan was stopped")
            if self._idle:
                return self._idle.pop()
            worker = _Worker(self._task)
            self._all.add(worker)
        try:
            worker.greet()
            self._compare(worker.hello)
        except (DeadWorkerError, ModelsError):
            self._drop(worker)
            raise
        return worker

    def _compare(self, hello: ScanHandshake) -> None:
        """Raise CrewError where a worker found another model than the first one did."""
        with self._lock:
            first = self._hello = self._hello or hello
        if hello != first:
            raise CrewError(
                f"the model or the parser was changed meanwhile: the scan began with "
                f"{first.said}, and now there is {hello.said}"
            )

    def _give_back(self, worker: "_Worker") -> None:
        if worker.alive and worker.scanned < RENEWED_AFTER:
            with self._lock:
                self._idle.append(worker)
        else:
            self._drop(worker)

    def _drop(self, worker: "_Worker") -> None:
        with self._lock:
            self._all.discard(worker)
        worker.end()


class _Worker:
    """One process. scanned: bytes of text that it has done."""

    def __init__(self, task: bytes) -> None:
        self._task = task
        self._hello: ScanHandshake | None = None
        self.scanned = 0
        self.alive = True
        with os.fdopen(open_private(log_path(LOG_NAME)), "ab") as log:
            self._process = subprocess.Popen(
                # -P: a module of the folder one stands in must not shadow one of ours.
                [sys.executable, "-P", "-m", MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | dict.fromkeys(ONE_THREAD, "1"),
            )

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def hello(self) -> ScanHandshake:
        """What it works with, once it was greeted."""
        if self._hello is None:
            raise DeadWorkerError
        return self._hello

    def greet(self) -> None:
        """Wait until it is ready. Raises CrewError where it cannot be, DeadWorkerError."""
        self._hello = self._ask(self._task).hello

    def scan(self, data: bytes) -> TextFigures:
        """The figures of a block. Raises DeadWorkerError, CrewError."""
        tally = self._ask(data).tally
        self.scanned += len(data)
        if tally is None:
            raise DeadWorkerError
        return tally

    def kill(self) -> None:
        """End it in whatever it does."""
        self.alive = False
        self._process.kill()

    def end(self) -> None:
        """Close its input and wait until it is gone."""
        self.alive = False
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, message: bytes) -> WorkerReply:
        source, target = self._process.stdout, self._process.stdin
        if source is None or target is None:
            raise DeadWorkerError
        try:
            send(target, message)  # type: ignore[arg-type]
            answer = receive(source)  # type: ignore[arg-type]
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self.alive = False
            raise DeadWorkerError
        reply = msgspec.json.decode(answer, type=WorkerReply)
        if reply.error is not None:
            raise CrewError(reply.error)
        return reply
