"""Keys waiting their turn: each act is done before the next key is looked at."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyPress:
    """A key by Textual's name, and the character it types, if any."""

    key: str
    character: str | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """An act asked for by its id: from the palette, or from a key binding."""

    id: str


@dataclass(frozen=True, slots=True)
class Call:
    """Something that background work wants done in its turn, between two acts."""

    run: Callable[[], Awaitable[None]]


Turn = KeyPress | Act | Call


class Turns:
    """A queue whose head can be looked at."""

    def __init__(self) -> None:
        self._waiting: deque[Turn] = deque()
        self._some = asyncio.Event()
        self._taken = False

    def put(self, turn: Turn) -> None:
        """Add a turn at the end."""
        self._waiting.append(turn)
        self._some.set()

    async def get(self) -> Turn:
        """The next turn; waits while there is none."""
        self._taken = False
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        self._taken = True
        return self._waiting.popleft()

    def put_back(self, turn: Turn) -> None:
        """Put a turn before all others."""
        self._waiting.appendleft(turn)
        self._some.set()

    def take(self) -> Turn | None:
        """The next turn if one waits."""
        return self._waiting.popleft() if self._waiting else None

    def peek(self) -> Turn | None:
        """The next turn, left where it is."""
        return self._waiting[0] if self._waiting else None

    def take_press(self) -> KeyPress | None:
        """The next key if one waits and no act is before it; calls stay for later."""
        for place, turn in enumerate(self._waiting):
            if isinstance(turn, KeyPress):
                del self._waiting[place]
                return turn
            if isinstance(turn, Act):
                break
        return None

    @property
    def idle(self) -> bool:
        """True while nothing waits and whoever takes turns is waiting for the next."""
        return not self._waiting and not self._taken
