"""How long the workbench takes from the command to its first usable frame.

    python benchmarks/start.py [--database PATH] [--runs 7]

Makes a database of 184,507 anchors (kept at --database if given), then starts the program
in a terminal: usable is when queue and passage are drawn and a key has been answered. As a
yardstick, an empty Textual application is started in the same way in the same run.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from terminal import Terminal
from workbench_data import ANCHORS, ready

BUDGET = 0.8
EMPTY = """
from textual.app import App
from textual.widgets import Static

class Empty(App):
    def compose(self):
        yield Static("an empty application")

    def on_key(self):
        self.exit()

Empty().run()
"""


def empty() -> float:
    """Seconds until an empty Textual application has drawn its one line."""
    with Terminal(["-c", EMPTY], {}) as terminal:
        return terminal.wait_for("an empty application")


def workbench(database: Path, name: str) -> tuple[float, float]:
    """Seconds until the first item is drawn, and until a key is answered.

    name: a new person each time, who has no place in the queue to return to.
    """
    arguments = ["-m", "nfh_tui", "browse", "--db", str(database), "--as", name]
    with Terminal(arguments, {"NFH_TUI_PREDICTOR": "off"}) as terminal:
        drawn = terminal.wait_for("1/")
        terminal.press("j")
        return drawn, terminal.wait_for("2/")


def main() -> None:
    """Make the database, start both several times, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--database", type=Path)
    options.add_argument("--runs", type=int, default=7)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = ready(chosen.database or Path(folder) / "start.db")
        stamp = time.time_ns()
        workbench(database, f"warm-{stamp}")
        yardstick = median(empty() for _ in range(chosen.runs))
        runs = [workbench(database, f"b{stamp}-{n}") for n in range(chosen.runs)]
    drawn, usable = (median(figures) for figures in zip(*runs, strict=True))
    print(f"empty Textual application: {yardstick:.3f} s")
    print(f"workbench, {ANCHORS:,} anchors: drawn {drawn:.3f} s, usable {usable:.3f} s")
    print(f"usable: {usable / yardstick:.2f} times the empty application; budget {BUDGET} s")
    sys.exit(usable > BUDGET)


if __name__ == "__main__":
    main()
