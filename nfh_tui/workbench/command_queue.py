"""The command queue: each key or action is done before the next is looked at. Also debounced
writes of drafts and positions.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass

Write = Callable[[], Awaitable[None]]
Failed = Callable[[Exception], None]
Wrote = Callable[[], None]


class DebouncedWriter:
    """Saves the latest of several changes, one write a thing, a short while after the first.

    The delay runs from the first change, not the last: while somebody types without a
    pause, each `delay` saves what is there. What failed is tried again as soon as another
    write succeeds, and by `flush`.

    failed: told of each write that fails. wrote: told after each that succeeds.
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
        """True while a change waits, is being written, or could not be written."""
        return bool(self._waiting or self._writes or self._lost)

    def lost(self, thing: Hashable | None = None) -> bool:
        """True if this thing (or any, for None) could not be written when last tried."""
        return bool(self._lost) if thing is None else thing in self._lost

    def keep(self, thing: Hashable, write: Write) -> None:
        """Save a thing soon; a write of it that still waits is dropped for this one."""
        self._waiting[thing] = write
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._delay, self.start)

    def drop(self, thing: Hashable) -> None:
        """Forget the write of a thing if it still waits, or waits to be tried again."""
        self._waiting.pop(thing, None)
        self._lost.pop(thing, None)

    async def flush(self) -> None:
        """Write now what waits or failed before; return when all is written or has failed."""
        self._waiting = {**self._lost, **self._waiting}
        self.start()
        while self._writes:
            await asyncio.wait(set(self._writes))

    def start(self) -> None:
        """Begin to write now what waits."""
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
        except Exception as error:  # noqa: BLE001  # told to the person, whatever it is
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
    """A key by Textual's name, and the character it types, if any."""

    key: str
    character: str | None = None


@dataclass(frozen=True, slots=True)
class RunAction:
    """An action asked for by its id: from the palette, or from a key binding."""

    id: str


@dataclass(frozen=True, slots=True)
class Callback:
    """Something that background work wants done between two actions."""

    run: Callable[[], Awaitable[None]]


Command = KeyPress | RunAction | Callback


class CommandQueue:
    """A queue whose head can be looked at."""

    def __init__(self) -> None:
        self._waiting: deque[Command] = deque()
        self._some = asyncio.Event()
        self._taken = False

    def put(self, command: Command) -> None:
        """Add a command at the end."""
        self._waiting.append(command)
        self._some.set()

    async def get(self) -> Command:
        """The next command; waits while there is none."""
        self._taken = False
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        self._taken = True
        return self._waiting.popleft()

    def put_back(self, command: Command) -> None:
        """Put a command before all others."""
        self._waiting.appendleft(command)
        self._some.set()

    def take(self) -> Command | None:
        """The next command if one waits."""
        return self._waiting.popleft() if self._waiting else None

    def peek(self) -> Command | None:
        """The next command, left where it is."""
        return self._waiting[0] if self._waiting else None

    def take_press(self) -> KeyPress | None:
        """The next key if one waits and no action is before it; callbacks stay for later."""
        for place, command in enumerate(self._waiting):
            if isinstance(command, KeyPress):
                del self._waiting[place]
                return command
            if isinstance(command, RunAction):
                break
        return None

    @property
    def idle(self) -> bool:
        """True while nothing waits and whoever takes commands is waiting for the next."""
        return not self._waiting and not self._taken
