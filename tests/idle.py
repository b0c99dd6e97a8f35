"""Waits of Textual's pilot that end when the program is at rest.

Textual takes a process for idle that used little processor time within the last 20 ms. So
each wait lasts 20 ms at least, a key of the pilot 60 ms, and on a busy machine, where the
program gets no processor time, it ends too early. Here a wait ends when nothing is left to run:
no callback of the event loop, no call in a thread of an executor, no timer that is due at once;
and when the screen is drawn (see `frames.py`), and what that asked for is done, too.

A timer that is due at once is not waited for: the clocks of the event loop and of Textual are
put forward to it. So are they to each timer within a pause of some seconds, and to its end.
"""

import asyncio
import threading
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable
from concurrent.futures import Executor
from time import monotonic, process_time
from typing import Any, ClassVar

import textual._time
import textual._wait
import textual.app
import textual.pilot
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from . import frames

SOON = 0.02
"""Seconds within which a timer is due at once: those of the screen's next frame are."""

MOST = 5
"""Seconds of processor time that a wait lasts at most."""

PATIENCE = 12
"""How many times as long a wait lasts at most where the process gets no processor time."""

LOOK = 0.01
"""Seconds after which calls in threads are looked at again: one may have come to a gate."""

STUCK = 30
"""Seconds after which a call in a thread is taken for one that a test holds up on purpose."""

TURNS = 100
"""Turns of the event loop that widgets get to come to rest."""

_ahead = 0.0
"""Seconds by which the clocks are put forward."""

_UNDER_WAY = "calls_under_way"
_run_in_executor = BaseEventLoop.run_in_executor
_PAUSES = "pauses_since_a_key"
_pause = Pilot.pause
_press = Pilot.press
_wait_for_screen = Pilot._wait_for_screen


def _run_counted(
    loop: BaseEventLoop, executor: Executor | None, call: Callable[..., Any], *arguments: Any
) -> Any:
    """Note the calls in threads whose results the loop has not taken yet."""
    future = _run_in_executor(loop, executor, call, *arguments)
    under_way = loop.__dict__.setdefault(_UNDER_WAY, {})
    under_way[future] = executor
    future.add_done_callback(lambda _: under_way.pop(future, None))
    return future


def _goes_on(executor: Executor | None) -> bool:
    """True unless the threads of an executor wait at gates, and so does what is after them."""
    threads = getattr(executor, "_threads", None)
    return not (threads and Gate.waiting >= threads)


class Gate(threading.Event):
    """An event that calls in threads wait for, and that no wait of a pilot waits for."""

    waiting: ClassVar[set[threading.Thread]] = set()
    """The threads that wait at gates."""

    def wait(self, timeout: float | None = None) -> bool:
        """As an event's."""
        Gate.waiting.add(threading.current_thread())
        try:
            return super().wait(timeout)
        finally:
            Gate.waiting.discard(threading.current_thread())


def _clock(_: BaseEventLoop | None = None) -> float:
    return monotonic() + _ahead


async def wait_for_idle(
    min_sleep: float = 0, max_sleep: float = 1, ahead: float = SOON
) -> None:
    """Wait until the loop is at rest, at most MOST seconds of processor time.

    ahead: seconds within which no timer is waited for.
    """
    global _ahead
    loop = asyncio.get_running_loop()
    under_way = loop.__dict__.setdefault(_UNDER_WAY, {})
    held = loop.time()
    last = held + PATIENCE * MOST
    spent = process_time()
    # Not the time that it takes: on a busy machine a frame would be due only after it.
    left = ahead
    while process_time() < spent + MOST and loop.time() < last:
        await asyncio.sleep(0)
        if loop._ready:
            held = loop.time()
            continue
        if calls := [call for call, executor in under_way.items() if _goes_on(executor)]:
            if loop.time() > held + STUCK:
                under_way.clear()
            else:
                await asyncio.wait(calls, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
            continue
        due = min((t._when for t in loop._scheduled if not t._cancelled), default=None)
        if due is None or (wait := max(due - loop.time(), 0)) >= left:
            if frames.draw():
                continue
            return
        _ahead += wait
        left -= wait
        held = loop.time()
    frames.draw()


def _rests(pump: MessagePump) -> bool:
    """True if a widget has no message, and waits for the next one."""
    queue = pump._message_queue
    return bool(queue.empty() and queue.ready_event._waiters and not pump._next_callbacks)


async def _wait_for_widgets(pilot: Pilot[Any]) -> bool:
    """As Textual's, which sends a message to each widget; none where all of them rest.

    Those messages take most of the time of a key that changes little.
    """
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    for _ in range(TURNS):
        if not loop._ready:
            break
        await asyncio.sleep(0)
    app = pilot.app
    if app._exception is None and app.screen_stack:
        nodes = (app, *app.screen.walk_children(with_self=True))
        if all(map(_rests, nodes)):
            return True
    return await _wait_for_screen(pilot)


async def _press_and_note(pilot: Pilot[Any], *keys: str) -> None:
    """As Textual's; the next pause is the first after it."""
    asyncio.get_running_loop().__dict__[_PAUSES] = 0
    await _press(pilot, *keys)


async def _pause_until_idle(pilot: Pilot[Any], delay: float | None = None) -> None:
    """As Textual's, but a pause of some seconds takes no time: the clock is put forward.

    Whoever pauses again without a key waits for what the loop does not know of, as for a child
    process: that takes its time.
    """
    state = asyncio.get_running_loop().__dict__
    state[_PAUSES] = state.get(_PAUSES, 0) + 1
    if state[_PAUSES] > 2:
        await asyncio.sleep(SOON)
    if delay is not None:
        asleep = asyncio.ensure_future(asyncio.sleep(delay))
        await wait_for_idle(ahead=delay + SOON)
        await asleep
    await _pause(pilot)


def install() -> None:
    """Let pilots wait so."""
    BaseEventLoop.run_in_executor = _run_counted
    BaseEventLoop.time = _clock
    textual._time.get_time = _clock
    Pilot.pause = _pause_until_idle
    Pilot.press = _press_and_note
    Pilot._wait_for_screen = _wait_for_widgets
    for module in (textual._wait, textual.app, textual.pilot):
        module.wait_for_idle = wait_for_idle
