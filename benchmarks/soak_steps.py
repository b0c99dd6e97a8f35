"""A day at the workbench in short form: does its memory grow?

    python benchmarks/soak_steps.py [--items 20000] [--decided 2000] [--what-grows]

Steps through that many items of the real application without a terminal, heat map on, decides
one in ten (by class, by a noun that is marked, some of them undone), and opens the keys, the
history and a search now and then. Each item is drawn before the next key. The resident memory
is printed every tenth of the way. The first tenth warms up (caches fill); what is added after
it must stay under 20 MB. --what-grows: also prints which lines of the program hold more at the
end than after warming up, which makes it several times as slow.
"""

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from itertools import cycle
from pathlib import Path
from typing import NoReturn

from memory import resident
from textual import events
from workbench_data import ready

from nfh_db.query import parse
from nfh_tui.app import WorkbenchApp
from nfh_tui.workbench.screen import Workbench

LIMIT_MB = 20.0
SIZE = (120, 40)
PARTS = 10
DECISIONS = (("y", "enter"), ("b", "space", "enter"), ("p", "enter", "z", "t", "enter"))
"""Keys that decide an item; the last one is decided, taken back, and decided otherwise."""

ASIDES = (
    ("question_mark", "escape"),
    ("L", "escape"),
    ("slash", "a", "escape"),
    ("H", "H", "H", "H", "H", "H"),
    ("tab", "tab", "tab"),
)
"""Looking around: each leaves the workbench as it was."""

ASIDE_EVERY = 200

SAVED = 0.95
"""Part of the decisions that must be on disk: the noun before may be a full stop of the made-up
text, which is no head, and then nothing is decided."""


class Walk:
    """One run through the items. grown: MB after each part of the way."""

    def __init__(self, app: WorkbenchApp, what_grows: bool) -> None:
        self._app = app
        self._what_grows = what_grows
        self._before: tracemalloc.Snapshot | None = None
        self.memory: list[float] = []
        self.decided = 0

    @property
    def _desk(self) -> Workbench:
        return self._app.bench

    async def go(self, items: int, decided: int) -> None:
        """Step through the items."""
        await self._rest()
        await self._press("H")
        ways, asides = cycle(DECISIONS), cycle(ASIDES)
        every = max(1, items // decided)
        for number in range(1, items + 1):
            if number % every == 0:
                await self._press(*next(ways))
                self.decided += 1
            else:
                await self._press("j")
            if number % ASIDE_EVERY == 0:
                await self._press(*next(asides))
            if number % max(1, items // PARTS) == 0:
                self._look(number)

    async def _press(self, *keys: str) -> None:
        for key in keys:
            self._app.post_message(events.Key(key, key if len(key) == 1 else None))
            arrived = asyncio.Event()
            # After the key in the application's queue, and then in the screen's.
            self._app.call_later(lambda: self._app.screen.call_later(arrived.set))  # noqa: B023
            await arrived.wait()
            await self._rest()

    async def _rest(self) -> None:
        """Wait until the key is done, what it wrote is on disk, and the item is drawn."""
        desk = self._desk
        for _ in range(2000):
            # Other screens and the bar have a turn under way for as long as they are open.
            waits = (
                desk.bar.is_open or len(self._app.screen_stack) > 1 or desk.state.question_open
            )
            if (
                (desk.commands.idle or waits)
                and not desk.state.saving
                and desk.state.ids.complete
            ):
                drawn = asyncio.Event()
                self._app.screen.call_after_refresh(drawn.set)
                await drawn.wait()
                return
            await asyncio.sleep(0.001)
        raise SystemExit("the workbench does not come to rest")

    def _look(self, number: int) -> None:
        gc.collect()
        self.memory.append(resident(os.getpid()))
        print(
            f"{number:>8,} items, {self.decided:>6,} decided: {self.memory[-1]:.1f} MB",
            flush=True,
        )
        if self._what_grows and self._before is None:
            self._before = tracemalloc.take_snapshot()

    def growth(self) -> None:
        """Print the lines that hold more than after warming up."""
        if self._before is None:
            return
        after = tracemalloc.take_snapshot()
        for line in after.compare_to(self._before, "lineno")[:20]:
            print(f"  {line}")


async def walk(database: Path, items: int, decided: int, what_grows: bool) -> list[float]:
    """MB after each part of the way."""
    app = WorkbenchApp(database, f"s{time.time_ns()}", "adjudicate", "")
    app.endures = True  # as in a real run
    try:
        async with app.run_test(size=SIZE):
            one = Walk(app, what_grows)
            await one.go(items, decided)
            one.growth()
            stored = await app.client.read(
                app.client.store.queue.count, parse("state:decided"), app.bench.state.me
            )
            print(f"{stored:,} of {one.decided:,} decisions are on disk")
            if stored < one.decided * SAVED:
                raise SystemExit("more of them should be")
            return one.memory
    finally:
        app.close()


def main() -> None:
    """Make the database, walk in a process of its own, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--items", type=int, default=20_000)
    options.add_argument("--decided", type=int, default=2_000)
    options.add_argument("--what-grows", action="store_true")
    options.add_argument("--database", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.database is not None:
        walked(chosen)
    with tempfile.TemporaryDirectory() as folder:
        # What making the database leaves in memory would hide what the walk adds.
        database = ready(Path(folder) / "steps.db", chosen.items + 100)
        variables = {"NFH_TUI_PREDICTOR": "off", "NFH_TUI_GUARD": "off"}
        variables["XDG_DATA_HOME"] = str(Path(folder) / "data")
        command = [sys.executable, *sys.argv, "--database", str(database)]
        sys.exit(subprocess.run(command, env=os.environ | variables, check=False).returncode)


def walked(chosen: argparse.Namespace) -> NoReturn:
    """Walk, print, end: 1 if too much was added."""
    if chosen.what_grows:
        tracemalloc.start()
    began = time.perf_counter()
    memory = asyncio.run(walk(chosen.database, chosen.items, chosen.decided, chosen.what_grows))
    took = time.perf_counter() - began
    grown = memory[-1] - memory[0]
    print(
        f"{chosen.items:,} items in {took:.0f} s: {memory[0]:.1f} MB after the first tenth, "
        f"{memory[-1]:.1f} MB at the end; grown by {grown:.1f} MB, limit {LIMIT_MB:.0f} MB"
    )
    sys.exit(grown >= LIMIT_MB)


if __name__ == "__main__":
    main()
