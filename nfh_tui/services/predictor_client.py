"""Client of the predictor child process: starts it, sends requests, and restarts it.

Uses asyncio and not Textual: callbacks run on the event loop that called `start`.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from nfh_tui.jobs import protocol
from nfh_tui.jobs.logs import log_path, open_private

MODULE = "nfh_tui.jobs.predictor"
LOG_NAME = "predictor.log"
FIRST_DELAY = 1.0
"""Seconds before the first restart; each further one in a row waits twice as long."""

RESTARTS = 5
STOP_SECONDS = 3.0

Status = Literal["starting", "ready", "restarting", "off"]


@dataclass(frozen=True, slots=True)
class PredictorState:
    """The state of the predictor."""

    status: Status
    sentence: str
    """For the user."""

    model: str | None = None
    """The model's name once it is ready, with the identification model's if it is another."""

    aside: bool = False
    """The sentence is about one task that is not available; the predictor itself works."""


class PredictorClient:
    """Keeps a predictor child process running for one database.

    on_done: called with the id of an anchor whose prediction has been stored.
    on_state: called whenever the predictor's state changes.
    """

    def __init__(
        self,
        database: Path,
        on_done: Callable[[int], object],
        on_state: Callable[[PredictorState], object],
        *,
        first_delay: float = FIRST_DELAY,
        log: Path | None = None,
    ) -> None:
        self._database = database
        self._on_done = on_done
        self._on_state = on_state
        self._first_delay = first_delay
        self._log = log
        self._process: Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._model: str | None = None
        self._last_error = ""
        self._failures = 0
        self._stopping = False
        self._request_number = 0
        self._wanted: list[int] = []

    @property
    def pid(self) -> int | None:
        """The child's process id; None while none runs."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Start the child unless it runs. Does not wait until it is ready."""
        if self._keeper is not None and not self._keeper.done():
            return
        self._failures = 0
        self._stopping = False
        self._report("starting", "The predictor is starting.")
        self._keeper = asyncio.create_task(self._keep(), name="predictor")

    def ask(self, anchor_ids: Sequence[int]) -> None:
        """Request predictions of these anchors, in this order. Never blocks.

        They take precedence over earlier requests. While the child is not ready only the
        latest request is kept, and sent when it is.
        """
        self._wanted = list(anchor_ids)
        if self._model is not None:
            self._send()

    async def stop(self) -> None:
        """End the child; it is killed after STOP_SECONDS."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        self._stopping = True
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), STOP_SECONDS)
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper

    # --- the child ----------------------------------------------------------------------

    async def _keep(self) -> None:
        """Run the child, and restart it until it fails for good."""
        while True:
            self._last_error = ""
            try:
                code = await self._run()
            except OSError as error:
                return self._report("off", f"The predictor cannot be started: {error}.")
            if self._stopping:
                return None
            if code == protocol.NO_PIPELINE:
                return self._report("off", self._last_error)
            self._failures += 1
            reason = self._last_error or f"The predictor ended {_exit_words(code)}."
            if self._failures > RESTARTS:
                return self._report(
                    "off",
                    f"{reason} It failed to start {RESTARTS + 1} times and stays off: quit "
                    f"the workbench and open it again to retry. Its log: {self._log}",
                )
            delay = self._first_delay * 2 ** (self._failures - 1)
            self._report("restarting", f"{reason} It starts again in {delay:g} s.")
            await asyncio.sleep(delay)

    async def _run(self) -> int:
        """Start one child and read its replies until it ends; its exit status."""
        process = self._process = await self._spawn()
        try:
            await self._listen(process)
            return await process.wait()
        finally:
            self._process = self._model = None
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _spawn(self) -> Process:
        if self._log is None:
            self._log = log_path(LOG_NAME)
        log = open_private(self._log)
        try:
            # -P: modules in the current folder must not shadow those of the program.
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", MODULE, "--db", str(self._database)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None  # noqa: S101 - requested in `_spawn`
        async for line in process.stdout:
            try:
                self._handle(protocol.decode_reply(line))
            except msgspec.DecodeError as error:
                self._last_error = f"The predictor sent a message that cannot be read: {error}."
                process.kill()

    def _handle(self, reply: protocol.Reply) -> None:
        if isinstance(reply, protocol.Ready):
            identifier = f", NFH: {reply.identifier}" if reply.identifier else ""
            self._model = f"{reply.model}{identifier}"
            pipeline = f", with {reply.pipeline}" if reply.pipeline else ""
            self._report("ready", f"{reply.model} predicts{pipeline}.")
            if self._wanted:
                self._send()
        elif isinstance(reply, protocol.AnchorReady):
            self._failures = 0
            self._answered(reply.anchor)
            self._on_done(reply.anchor)
        elif isinstance(reply, protocol.Notice):
            self._on_state(PredictorState("ready", reply.message, self._model, aside=True))
        elif reply.anchor is not None:
            self._answered(reply.anchor)
            self._report("ready", reply.message)
        else:
            self._last_error = reply.message

    def _answered(self, anchor_id: int) -> None:
        with suppress(ValueError):
            self._wanted.remove(anchor_id)

    def _send(self) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            return
        self._request_number += 1
        process.stdin.write(protocol.encode(protocol.Ask(self._request_number, self._wanted)))

    def _report(self, status: Status, sentence: str) -> None:
        self._on_state(PredictorState(status, sentence, self._model))


def _exit_words(code: int) -> str:
    if code >= 0:
        return f"with exit status {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"
