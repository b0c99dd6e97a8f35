"""The server's side of one visit: the child that draws, and what a browser may say over its
socket.
"""

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
from nfh_tui.serving.access import FELL_OVER, LEFT, NO_START, Closing, Guest

log = logging.getLogger("nfh_tui.serving")

LOG_NAME = "serve.log"
PRELUDE = b"__GANGLION__\n"
"""The line with which Textual's web driver begins."""

PRELUDE_LINES = 10
DATA, META, PACKED = b"D", b"M", b"P"
WANTED = "nfh_predict"
"""The type of the packet in which a child asks for predictions."""

MOST_WANTED = 32
"""Anchors in one such packet."""

GRACE = 8.0
"""Seconds a child may take to save what waits and to end, before it is made to."""

FORCED = 2.0
NOT_THEIRS = ("TMUX", "TMUX_PANE", "STY", "NO_COLOR", "COLORTERM", "VISUAL", "EDITOR")
"""What tells of the terminal that the server was started in, and of whoever sits there."""


def command(guest: Guest, database: Path, query: str | None) -> list[str]:
    """The child of a visit, as a list of arguments: no shell reads it."""
    # -P: a module of the folder one stands in must not shadow one of ours.
    started = [sys.executable, "-P", "-m", "nfh_tui.serving.child", f"--db={database}"]
    about = [f"--as={guest.name}", f"--mode={guest.mode}", *["--admin"][: guest.admin]]
    return [*started, *about, *([] if query is None else [f"--query={query}"])]


class Visit(AppService):
    """One browser page and its child process.

    send: bytes to the page. tell: a JSON text to the page. close: ends the socket. wanted:
    called with the anchors that the child wants predictions of.
    """

    def __init__(
        self,
        guest: Guest,
        arguments: Sequence[str],
        *,
        send: Callable[[bytes], Awaitable[None]],
        tell: Callable[[str], Awaitable[None]],
        close: Callable[[Closing], Awaitable[None]],
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
        """The files that this child has ready to be fetched."""
        return self._download_manager

    @property
    def pid(self) -> int | None:
        """The child's process id; None before it is started."""
        return None if self._process is None else self._process.pid

    # --- the child ----------------------------------------------------------------------

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = super()._build_environment(width, height)
        for name in NOT_THEIRS:
            environment.pop(name, None)
        return environment | {"TERM": "xterm-256color", "TERM_PROGRAM": "textual"}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the child: our own interpreter and module, in a session of its own, so that
        the terminal's Ctrl-C ends the server only and the server ends its children."""
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
        """Pass on what the child says until it ends, then close the socket with the reason."""
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
        """Read and pass on one packet; read also when nobody is there, or the child hangs."""
        kind = await out.readexactly(1)
        size = int.from_bytes(await out.readexactly(4), "big")
        payload = await out.readexactly(size)
        with suppress(OSError, RuntimeError):
            if kind == DATA:
                await self.on_data(payload)
            elif kind == META:
                await self.on_meta(payload)
            elif kind == PACKED:
                await self.on_packed(payload)

    async def on_meta(self, data: bytes) -> None:
        """What the child says beside its pictures."""
        said: dict[str, object] = json.loads(data)
        if said.get("type") == WANTED:
            anchors = said.get("anchors")
            if isinstance(anchors, list):
                self._wanted([one for one in anchors if isinstance(one, int)][:MOST_WANTED])
        elif said.get("type") == "open_url":
            # No act of the workbench opens pages; a link in a passage must not either.
            log.warning("%s: a page was not opened", self.guest.name)
        else:
            await super().on_meta(data)

    async def _left(self) -> None:
        """The child says that it will end: the socket is closed when it has."""

    async def send_meta(self, data: dict[str, str | int | bool | None]) -> bool:
        """Tell the child something beside keys. False if it is not there any more."""
        if self._stdin is None or self._stdin.is_closing():
            return False
        return await super().send_meta(data)

    # --- the end ------------------------------------------------------------------------

    async def stop(self) -> None:
        """Have the child save what waits and end; by force if it does not."""
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
        """The child's exit status; it has closed its end, so it is about to end."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), GRACE)
        return await end_by_force(process)


async def end_by_force(process: Process) -> int:
    """End a process that does not end by itself; its exit status."""
    for act in (process.terminate, process.kill):
        with suppress(ProcessLookupError):
            act()
        with suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), FORCED)
    return await process.wait()


LARGEST = 256 * 1024
"""Bytes of one message. Pasting a page of text is far below."""

LARGEST_PING = 64
WIDTHS = (20, 400)
HEIGHTS = (5, 200)
"""Cells of a screen: what a window of today can show. More would only cost memory."""


class WireError(Exception):
    """A message that no page of ours sends. Says what was wrong with it."""


@dataclass(frozen=True, slots=True)
class TerminalInput:
    """Keys, or the mouse, as a terminal sends them."""

    text: str


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """The size of the screen in cells."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Wants the same text back."""

    text: str


@dataclass(frozen=True, slots=True)
class Focus:
    """The page has come to the front, or has gone from it."""

    on: bool


Message = TerminalInput | TerminalSize | Ping | Focus


def parse(text: str) -> Message:
    """A message of the page: a JSON list of its type and what belongs to it.

    Raises WireError for anything else.
    """
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
    """A size, within reason. Raises WireError for what is no whole number."""
    return TerminalSize(_within(width, WIDTHS), _within(height, HEIGHTS))


def _within(value: object, bounds: tuple[int, int]) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError("a size that is no number")
    return min(max(value, bounds[0]), bounds[1])


def _encodable(typed: str) -> str:
    """JSON can write half a character, which no terminal can send."""
    try:
        typed.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WireError("half a character") from error
    return typed
