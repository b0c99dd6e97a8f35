"""How long from the key for the next item to the screen drawn anew, heat map included.

    python benchmarks/next_item.py [--database PATH] [--items 300] [--busy] [--training RECIPE]

Measured inside the application: from the key event's arrival at the screen to the end of
the refresh that draws the passage. --busy: two processes of lower priority (nice 10) work
beside it. --training: a real training runs beside it at the usual priority, on the release's
files; linear parses them all first, which lasts for minutes on one core.
As a yardstick, an empty Textual screen redraws all its lines on a key in the same run.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from rich.segment import Segment
from textual import events
from textual.app import App, ComposeResult
from textual.strip import Strip
from textual.widget import Widget
from training_job import training
from workbench_data import PREDICTED, ready

from nfh_tui.app import WorkbenchApp
from nfh_tui.widgets.passage import PassageView

BUDGET_MS = 50.0
SIZE = (120, 40)
BETWEEN = 0.06
"""Seconds between two keys: slower than a key held down, faster than a hand."""

BUSY = "import math\nwhile True: math.factorial(2000)"


class Lines(Widget, can_focus=True):
    """Forty lines of text that are all drawn anew on a key."""

    count = 0

    def __init__(self) -> None:
        super().__init__()
        self.pressed = asyncio.Event()

    def on_key(self) -> None:
        """Draw other text."""
        self.count += 1
        self.refresh()
        self.pressed.set()

    def render_line(self, y: int) -> Strip:
        """A line."""
        return Strip([Segment(f"line {y} of turn {self.count} ".ljust(self.size.width, "·"))])


class Empty(App[None]):
    """Nothing but the lines."""

    def compose(self) -> ComposeResult:
        """The lines."""
        yield Lines()


def quantile(figures: list[float], part: float) -> float:
    """The figure below which this part of the figures lies."""
    return sorted(figures)[min(len(figures) - 1, int(len(figures) * part))]


async def timed(
    app: App[object], keys: int, key: str, drawn: Callable[[], Awaitable[object]]
) -> list[float]:
    """Milliseconds of each key: sent to the application, until `drawn` returns."""
    figures = []
    for _ in range(keys):
        await asyncio.sleep(BETWEEN)
        begin = time.perf_counter()
        app.post_message(events.Key(key, key))
        await drawn()
        figures.append((time.perf_counter() - begin) * 1000)
    return figures


async def yardstick(keys: int) -> list[float]:
    """Figures of the empty screen."""
    app = Empty()
    async with app.run_test(size=SIZE) as pilot:
        lines = app.query_one(Lines)
        lines.focus()
        await pilot.pause()

        async def drawn() -> None:
            lines.pressed.clear()
            await lines.pressed.wait()
            await refreshed(lines)

        return await timed(app, keys, "j", drawn)  # type: ignore[arg-type]  # any application


async def refreshed(widget: Widget) -> None:
    """Return once what the widget asked to be drawn has been drawn."""
    done = asyncio.Event()
    widget.call_after_refresh(done.set)
    await done.wait()


async def workbench(database: Path, keys: int) -> list[float]:
    """Figures of the workbench in a queue of all anchors, the heat map on."""
    app = WorkbenchApp(database, f"b{time.time_ns()}", "adjudicate", None)
    app.endures = True  # as in a real run
    async with app.run_test(size=SIZE) as pilot:
        desk = app.bench
        while desk.state.visible_item is None or not desk.state.ids.complete:
            await pilot.pause(0.05)
        await pilot.press("H")
        shows = asyncio.Event()
        show = PassageView.show

        def watched(self: PassageView, *args: object, **kwargs: object) -> None:
            show(self, *args, **kwargs)  # type: ignore[arg-type]  # passed on as they are
            shows.set()

        PassageView.show = watched  # type: ignore[method-assign]  # to know when it is called

        async def drawn() -> None:
            shows.clear()
            await shows.wait()
            await refreshed(desk.passage)

        try:
            return await timed(app, keys, "j", drawn)  # type: ignore[arg-type]  # any app
        finally:
            PassageView.show = show  # type: ignore[method-assign]
            app.close()


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Have so many processes of lower priority compute beside."""
    beside = [
        subprocess.Popen(["nice", "-n", "10", sys.executable, "-c", BUSY])
        for _ in range(processes)
    ]
    try:
        yield
    finally:
        for process in beside:
            process.kill()


def at_work(folder: Path, recipe: str | None) -> AbstractContextManager[None]:
    """A training of this recipe beside, or nothing."""
    return nullcontext() if recipe is None else training(folder, recipe)


def main() -> None:
    """Make the database, measure both, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--database", type=Path)
    options.add_argument("--items", type=int, default=300)
    options.add_argument("--busy", action="store_true")
    options.add_argument("--training", metavar="RECIPE", help="linear, bilstm, encoder")
    chosen = options.parse_args()
    os.environ["NFH_TUI_PREDICTOR"] = os.environ["NFH_TUI_GUARD"] = "off"
    keys = min(chosen.items, PREDICTED - 1)
    with tempfile.TemporaryDirectory() as folder:
        database = ready(chosen.database or Path(folder) / "next.db")
        with busy(2 * chosen.busy), at_work(Path(folder), chosen.training):
            bare = asyncio.run(yardstick(keys))
            figures = asyncio.run(workbench(database, keys))
    for name, found in (("empty screen", bare), ("workbench", figures)):
        print(
            f"{name}: p50 {quantile(found, 0.5):.1f} ms, p95 {quantile(found, 0.95):.1f} ms, "
            f"worst {max(found):.1f} ms over {len(found)} keys"
        )
    ratio = quantile(figures, 0.95) / quantile(bare, 0.95)
    print(f"p95: {ratio:.2f} times the empty screen; budget {BUDGET_MS:.0f} ms")
    sys.exit(quantile(figures, 0.95) > BUDGET_MS)


if __name__ == "__main__":
    main()
