"""The command queue, which runs one key or action at a time, and debounced writes of drafts and
positions.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Container, Hashable, Iterator
from dataclasses import dataclass
from math import inf

Write = Callable[[], Awaitable[None]]
Failed = Callable[[Exception], None]
Wrote = Callable[[], None]


class DebouncedWriter:
    """Writes the latest of several changes after a short delay, one write per thing.

    The delay starts with the first change, so that continuous typing is saved every `delay`
    seconds. Failed writes are repeated after the next successful write, and by `flush`. Changes
    within the delay are lost in a crash.

    failed: called for each failed write. wrote: called after each successful write.
    """

    def __init__(self, delay: float, failed: Failed, wrote: Wrote | None = None) -> None:
        self._delay = delay
        self._failed = failed
        self._wrote = wrote
        self._waiting: dict[Hashable, Write] = {}
        self._lost: dict[Hashable, Write] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writes: set[asyncio.Task[None]] = set()

    @property
    def unsaved(self) -> bool:
        """True while a change waits, is being written, or has failed."""
        return bool(self._waiting or self._writes or self._lost)

    def lost(self, thing: Hashable | None = None) -> bool:
        """Return True if the last write of this thing failed; None asks for any thing."""
        return bool(self._lost) if thing is None else thing in self._lost

    def keep(self, thing: Hashable, write: Write) -> None:
        """Schedule a write; replaces a scheduled write of the same thing."""
        self._waiting[thing] = write
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._delay, self.start)

    def drop(self, thing: Hashable) -> None:
        """Cancel a scheduled or failed write."""
        self._waiting.pop(thing, None)
        self._lost.pop(thing, None)

    async def flush(self) -> None:
        """Write all that is scheduled or has failed; returns when all writes have ended."""
        self._waiting = {**self._lost, **self._waiting}
        self.start()
        while self._writes:
            await asyncio.wait(set(self._writes))

    def start(self) -> None:
        """Start the scheduled writes now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, {}
        for thing, write in waiting.items():
            task = asyncio.ensure_future(self._run(thing, write))
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def _run(self, thing: Hashable, write: Write) -> None:
        try:
            await write()
        except Exception as error:  # noqa: BLE001  # every error is reported
            self._lost[thing] = write
            self._failed(error)
        else:
            self._lost.pop(thing, None)
            for other, again in self._lost.items():
                if other not in self._waiting:
                    self.keep(other, again)
            if self._wrote is not None:
                self._wrote()


@dataclass(frozen=True, slots=True)
class KeyPress:
    """A key by Textual's name, and its character, if any."""

    key: str
    character: str | None = None
    at: float = inf
    """When it was pressed, by the clock of events; infinite for a key that is not typed."""


@dataclass(frozen=True, slots=True)
class RunAction:
    """An action requested by its id, from the palette or a key binding."""

    id: str


@dataclass(frozen=True, slots=True)
class Callback:
    """A call that background work schedules between two actions."""

    run: Callable[[], Awaitable[None]]


Command = KeyPress | RunAction | Callback


class CommandQueue:
    """A queue of commands whose head can be inspected."""

    def __init__(self) -> None:
        self._waiting: deque[Command] = deque()
        self._some = asyncio.Event()
        self._taken = False

    def put(self, command: Command) -> None:
        self._waiting.append(command)
        self._some.set()

    async def get(self) -> Command:
        """Remove and return the next command; waits while there is none."""
        self._taken = False
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        self._taken = True
        return self._waiting.popleft()

    def put_back(self, command: Command) -> None:
        """Insert a command at the head of the queue."""
        self._waiting.appendleft(command)
        self._some.set()

    def peek(self) -> Command | None:
        """Return the next command without removing it."""
        return self._waiting[0] if self._waiting else None

    def waits(self, keys: Container[str]) -> bool:
        """Return True if one of these keys is in the queue."""
        return any(isinstance(one, KeyPress) and one.key in keys for one in self._waiting)

    def take_press(self) -> KeyPress | None:
        """Remove and return the next key, unless an action precedes it; callbacks stay
        queued.
        """
        for place, command in enumerate(self._waiting):
            if isinstance(command, KeyPress):
                del self._waiting[place]
                return command
            if isinstance(command, RunAction):
                break
        return None

    def presses(self) -> Iterator[KeyPress]:
        """Remove and yield the keys, up to an action."""
        while (press := self.take_press()) is not None:
            yield press

    @property
    def idle(self) -> bool:
        """True while the queue is empty and its reader waits."""
        return not self._waiting and not self._taken
