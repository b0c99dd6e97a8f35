"""Waits of Textual's pilot that end when the program is at rest.

Textual takes a process for idle that used little processor time within the last 20 ms. So
each wait lasts 20 ms at least, a key of the pilot 60 ms, and on a busy machine, where the
program gets no processor time, it ends too early. Here a wait ends when nothing is left to run:
no callback of the event loop, no call in a thread of an executor, no timer that is due at once;
and when the screen is drawn (see `frames.py`), and what that asked for is done, too.
"""

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable
from concurrent.futures import Executor
from time import process_time
from typing import Any

import textual._wait
import textual.app
import textual.pilot
from textual.pilot import Pilot

from . import frames

SOON = 0.02
"""Seconds within which a timer is due at once: those of the screen's next frame are."""

PATIENCE = 3
"""How many times as long a wait lasts at most where the process gets no processor time."""

STUCK = 1.5
"""Seconds after which a call in a thread is taken for one that a test holds up on purpose."""

_UNDER_WAY = "calls_under_way"
_run_in_executor = BaseEventLoop.run_in_executor
_PAUSES = "pauses_since_a_key"
_pause = Pilot.pause
_press = Pilot.press


def _run_counted(
    loop: BaseEventLoop, executor: Executor | None, call: Callable[..., Any], *arguments: Any
) -> Any:
    """Note the calls in threads whose results the loop has not taken yet."""
    future = _run_in_executor(loop, executor, call, *arguments)
    under_way = loop.__dict__.setdefault(_UNDER_WAY, set())
    under_way.add(future)
    future.add_done_callback(under_way.discard)
    return future


async def wait_for_idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until the loop is at rest, at most max_sleep seconds of processor time."""
    loop = asyncio.get_running_loop()
    under_way = loop.__dict__.setdefault(_UNDER_WAY, set())
    begun = held = loop.time()
    spent = process_time()
    last = begun + PATIENCE * max_sleep
    while process_time() < spent + max_sleep and loop.time() < last:
        await asyncio.sleep(0)
        if loop._ready:
            held = loop.time()
            continue
        if under_way:
            if loop.time() > held + STUCK:
                under_way.clear()
            await asyncio.sleep(0.001)
            continue
        due = min((t._when for t in loop._scheduled if not t._cancelled), default=begun + SOON)
        if due >= begun + SOON:
            if frames.draw():
                continue
            return
        await asyncio.sleep(max(due - loop.time(), 0) + 0.0005)
        held = loop.time()
    frames.draw()


async def _press_and_note(pilot: Pilot[Any], *keys: str) -> None:
    """As Textual's; the next pause is the first after it."""
    asyncio.get_running_loop().__dict__[_PAUSES] = 0
    await _press(pilot, *keys)


async def _pause_until_idle(pilot: Pilot[Any], delay: float | None = None) -> None:
    """As Textual's, but a pause of some seconds goes on until the loop is at rest, too.

    Whoever pauses again without a key waits for what the loop does not know of, as for a child
    process: that takes its time.
    """
    state = asyncio.get_running_loop().__dict__
    state[_PAUSES] = state.get(_PAUSES, 0) + 1
    if delay is None and state[_PAUSES] > 2:
        await asyncio.sleep(SOON)
    await _pause(pilot, delay)
    if delay is not None:
        await wait_for_idle()
        pilot.app.screen._on_timer_update()


def install() -> None:
    """Let pilots wait so."""
    BaseEventLoop.run_in_executor = _run_counted
    Pilot.pause = _pause_until_idle
    Pilot.press = _press_and_note
    for module in (textual._wait, textual.app, textual.pilot):
        module.wait_for_idle = wait_for_idle
