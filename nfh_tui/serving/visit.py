"""The server's side of one visit: the child process, and the messages of the browser."""

import asyncio
import json
import logging
import os
import sys
from asyncio import StreamReader
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from nfh_tui.jobs.logs import log_path, open_private
from nfh_tui.serving.access import FELL_OVER, LEFT, NO_START, CloseCode, Guest

log = logging.getLogger("nfh_tui.serving")

LOG_NAME = "serve.log"
PRELUDE = b"__GANGLION__\n"
"""The first line of Textual's web driver."""

PRELUDE_LINES = 10
DATA, META, PACKED = b"D", b"M", b"P"
WANTED = "nfh_predict"
"""The type of the packet in which a child requests predictions."""

MOST_WANTED = 32
"""Anchors in one such packet."""

GRACE = 8.0
"""Seconds for a child to save and end, before it is terminated."""

FORCED = 2.0
"""Seconds for a child to end after a signal."""

REMOVED_VARIABLES = ("TMUX", "TMUX_PANE", "STY", "NO_COLOR", "COLORTERM", "VISUAL", "EDITOR")
"""Environment variables about the server's terminal and user, not passed to children."""


def command(guest: Guest, database: Path, query: str | None) -> list[str]:
    """The command line of a child, as a list of arguments: no shell reads it."""
    # -P: a module in the current folder must not shadow one of ours.
    python = [sys.executable, "-P", "-m", "nfh_tui.serving.child", f"--db={database}"]
    options = [f"--as={guest.name}", f"--mode={guest.mode}", *["--admin"][: guest.admin]]
    return [*python, *options, *([] if query is None else [f"--query={query}"])]


class Visit(AppService):
    """One browser page and its child process.

    send, tell: send bytes or a JSON text to the page. close: closes the socket. wanted: called
    with the anchors of which the child requests predictions.
    """

    def __init__(
        self,
        guest: Guest,
        arguments: Sequence[str],
        *,
        send: Callable[[bytes], Awaitable[None]],
        tell: Callable[[str], Awaitable[None]],
        close: Callable[[CloseCode], Awaitable[None]],
        wanted: Callable[[list[int]], None],
    ) -> None:
        super().__init__(
            "",
            write_bytes=send,
            write_str=tell,
            close=self._left,
            download_manager=DownloadManager(),
        )
        self.guest = guest
        self._arguments = list(arguments)
        self._close = close
        self._wanted = wanted
        self._drawn = False

    @property
    def downloads(self) -> DownloadManager:
        """The files that this child offers."""
        return self._download_manager

    @property
    def pid(self) -> int | None:
        """The process id of the child; None before its start."""
        return None if self._process is None else self._process.pid

    # --- the child ----------------------------------------------------------------------

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = super()._build_environment(width, height)
        for name in REMOVED_VARIABLES:
            environment.pop(name, None)
        return environment | {"TERM": "xterm-256color", "TERM_PROGRAM": "textual"}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the child in a session of its own: Ctrl-C in the terminal reaches the server
        only, which then ends its children."""
        errors = open_private(log_path(LOG_NAME))
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                env=self._build_environment(width, height),
                start_new_session=True,
            )
        finally:
            os.close(errors)
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Forward the output of the child until it ends, then close the socket."""
        process = self._process
        assert process is not None  # noqa: S101 - `start` comes before
        assert process.stdout is not None  # noqa: S101 - it was asked for
        with suppress(asyncio.IncompleteReadError, ValueError):
            await self._begin(process.stdout)
            while True:
                await self._packet(process.stdout)
        code = await self._ended(process)
        reason = NO_START if not self._drawn else FELL_OVER
        if code:
            log.error("%s: a workbench ended with exit status %d", self.guest.name, code)
        with suppress(OSError, RuntimeError):
            await self._close(reason if code else LEFT)

    async def _begin(self, out: StreamReader) -> None:
        for _ in range(PRELUDE_LINES):
            if await out.readline() == PRELUDE:
                self._drawn = True
                return
        raise ValueError("no app that Textual's web driver drives")

    async def _packet(self, out: StreamReader) -> None:
        """Forward one packet."""
        kind = await out.readexactly(1)
        size = int.from_bytes(await out.readexactly(4), "big")
        payload = await out.readexactly(size)
        # Without a page the packets must still be read, or the child blocks.
        with suppress(OSError, RuntimeError):
            if kind == DATA:
                await self.on_data(payload)
            elif kind == META:
                await self.on_meta(payload)
            elif kind == PACKED:
                await self.on_packed(payload)

    async def on_meta(self, data: bytes) -> None:
        """Handle a control packet of the child."""
        packet: dict[str, object] = json.loads(data)
        if packet.get("type") == WANTED:
            anchors = packet.get("anchors")
            if isinstance(anchors, list):
                self._wanted([one for one in anchors if isinstance(one, int)][:MOST_WANTED])
        elif packet.get("type") == "open_url":
            # No action of the workbench opens pages; a link in a passage must not, either.
            log.warning("%s: a page was not opened", self.guest.name)
        else:
            await super().on_meta(data)

    async def _left(self) -> None:
        """The child announces its end; `run` closes the socket after it."""

    async def send_meta(self, data: dict[str, str | int | bool | None]) -> bool:
        """Send the child a control packet. False if it has ended."""
        if self._stdin is None or self._stdin.is_closing():
            return False
        return await super().send_meta(data)

    # --- the end ------------------------------------------------------------------------

    async def stop(self) -> None:
        """Ask the child to save and end; terminate it after GRACE seconds."""
        task, self._task = self._task, None
        if task is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.send_meta({"type": "quit"}), FORCED)
        done, _ = await asyncio.wait({task}, timeout=GRACE)
        if not done and self._process is not None:
            await end_by_force(self._process)
            await asyncio.wait({task}, timeout=FORCED)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def _ended(self, process: Process) -> int:
        """Wait for the exit status of the child, which has closed its output."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), GRACE)
        return await end_by_force(process)


async def end_by_force(process: Process) -> int:
    """Terminate a process, then kill it; returns the exit status."""
    for act in (process.terminate, process.kill):
        with suppress(ProcessLookupError):
            act()
        with suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), FORCED)
    return await process.wait()


LARGEST = 256 * 1024
"""Bytes of one message; a pasted page of text is far smaller."""

LARGEST_PING = 64
WIDTHS = (20, 400)
HEIGHTS = (5, 200)
"""Smallest and largest screen in cells; a larger one would only cost memory."""


class WireError(Exception):
    """A message that our page does not send; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class TerminalInput:
    """Keys or mouse events, encoded as a terminal does."""

    text: str


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """The size of the screen in cells."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Ping:
    """A request for the same text."""

    text: str


@dataclass(frozen=True, slots=True)
class Focus:
    """The page has gained or lost the focus."""

    on: bool


Message = TerminalInput | TerminalSize | Ping | Focus


def parse(text: str) -> Message:
    """Decode a message of the page, a JSON list of type and content. Raises WireError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError("not JSON") from error
    if not isinstance(value, list) or not value:
        raise WireError("not a list")
    match value:
        case ["stdin", str(typed)]:
            return TerminalInput(_encodable(typed))
        case ["resize", dict(size)]:
            return size_of(size.get("width"), size.get("height"))
        case ["ping", str(ping)] if len(ping) <= LARGEST_PING:
            return Ping(ping)
        case ["focus"] | ["blur"]:
            return Focus(value[0] == "focus")
    raise WireError("a message of no known type")


def size_of(width: object, height: object) -> TerminalSize:
    """A size, clipped to WIDTHS and HEIGHTS. Raises WireError unless both are integers."""
    return TerminalSize(_within(width, WIDTHS), _within(height, HEIGHTS))


def _within(value: object, bounds: tuple[int, int]) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError("a size that is not a number")
    return min(max(value, bounds[0]), bounds[1])


def _encodable(typed: str) -> str:
    try:  # JSON can encode a lone surrogate, which has no UTF-8
        typed.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WireError("half a character") from error
    return typed
