"""The worker pool of this machine: processes started when needed, replaced when they die."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import msgspec

from nfh_models import ModelsError
from nfh_tui.jobs.logs import log_path, open_private
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
    receive,
    send,
)

MODULE = "nfh_tui.scanning.worker"
LOG_NAME = "scan.log"

RENEWED_AFTER = 1 << 28
"""Bytes of text after which a worker is replaced: the vocabulary of a parser grows with
each new word, without limit."""

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Environment variables set to 1: each worker uses one core. With more threads each, workers
would wait for one another."""

STOP_SECONDS = 3.0


class DeadWorkerError(Exception):
    """A worker ended before it replied."""


def cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """A pool of worker processes, with one thread each that waits for its replies."""

    def __init__(self, task: BlockTask, processes: int) -> None:
        self._task = task.encoded()
        self._handshake: ScanHandshake | None = None
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._threads = ThreadPoolExecutor(processes, "scan")
        self.at_once = 2 * processes + 2

    def handshake(self) -> ScanHandshake:
        """What the workers have loaded. Starts the first one, unless one is idle."""
        for _ in range(ATTEMPTS):
            with suppress(DeadWorkerError):
                worker = self._acquire()
                self._release(worker)
                return worker.handshake
        raise WorkerPoolError(
            f"a worker process ended while it started, {ATTEMPTS} times; "
            f"{log_path(LOG_NAME)} may say why"
        )

    def submit(self, block: BlockBytes) -> PendingFigures:
        """Queue a block for the next idle worker."""
        return self._threads.submit(self._scan, block).result

    def close(self) -> None:
        """Kill all workers; blocks that are queued are cancelled."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.end()

    def _scan(self, block: BlockBytes) -> TextFigures:
        for _ in range(ATTEMPTS):
            with suppress(DeadWorkerError):
                worker = self._acquire()
                try:
                    return worker.scan(block.data)
                finally:
                    self._release(worker)
        why = WORKERS_LOST.format(attempts=ATTEMPTS, where=block.where)
        raise WorkerPoolError(f"{why}. {log_path(LOG_NAME)} may say more")

    def _acquire(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise WorkerPoolError("the scan was stopped")
            if self._idle:
                return self._idle.pop()
            worker = _Worker(self._task)
            self._all.add(worker)
        try:
            worker.start()
            with self._lock:
                first = self._handshake = self._handshake or worker.handshake
            if worker.handshake != first:
                raise WorkerPoolError(
                    "the model or the parser was changed during the scan: it began with "
                    f"{first.description}, and now there is {worker.handshake.description}"
                )
        except (DeadWorkerError, ModelsError):
            self._drop(worker)
            raise
        return worker

    def _release(self, worker: "_Worker") -> None:
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
    """One worker process."""

    def __init__(self, task: bytes) -> None:
        self._task = task
        self._handshake: ScanHandshake | None = None
        self.scanned = 0
        """Bytes of text processed so far."""
        self.alive = True
        with os.fdopen(open_private(log_path(LOG_NAME)), "ab") as log:
            self._process = subprocess.Popen(
                # -P: a module in the current folder must not shadow one of ours.
                [sys.executable, "-P", "-m", MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | dict.fromkeys(ONE_THREAD, "1"),
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def handshake(self) -> ScanHandshake:
        """What the worker has loaded. Raises DeadWorkerError before `start`."""
        if self._handshake is None:
            raise DeadWorkerError
        return self._handshake

    def start(self) -> None:
        """Send the task and wait for the handshake.

        Raises DeadWorkerError, and WorkerPoolError if the worker cannot load the model.
        """
        self._handshake = self._request(self._task).hello

    def scan(self, data: bytes) -> TextFigures:
        """The figures of a block. Raises DeadWorkerError, WorkerPoolError."""
        tally = self._request(data).tally
        self.scanned += len(data)
        if tally is None:
            raise DeadWorkerError
        return tally

    def kill(self) -> None:
        """Kill the process without waiting."""
        self.alive = False
        self._process.kill()

    def end(self) -> None:
        """Close the pipes and wait for the exit; kill after STOP_SECONDS."""
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

    def _request(self, message: bytes) -> WorkerReply:
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
            raise WorkerPoolError(reply.error)
        return reply
