"""How much memory the workbench takes with a queue of 184,507 anchors.

    python benchmarks/memory.py [--database PATH] [--items 400]

Starts the program in a terminal, goes through items, jumps to both ends, runs a search, and
reads the resident memory of its process. As a yardstick, an empty Textual application.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from start import EMPTY
from terminal import Terminal
from workbench_data import ANCHORS, ready

BUDGET_MB = 150.0


def resident(pid: int) -> float:
    """MB of memory that a process holds now."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("this system does not tell how much memory a process holds")


def empty() -> float:
    """MB of an empty Textual application."""
    with Terminal(["-c", EMPTY], {}) as terminal:
        terminal.wait_for("an empty application")
        return resident(terminal.pid)


def workbench(database: Path, items: int) -> tuple[float, float]:
    """MB of the workbench once it is usable, and after some work."""
    name = f"m{time.time_ns()}"
    arguments = ["-m", "nfh_tui", "browse", "--db", str(database), "--as", name]
    with Terminal(arguments, {"NFH_TUI_PREDICTOR": "off"}) as terminal:
        terminal.wait_for(f"1/{ANCHORS:,}")
        first = resident(terminal.pid)
        terminal.press("H")
        for item in range(2, items + 2):
            terminal.press("j")
            terminal.wait_for(f" {item:,}/{ANCHORS:,}", 120)
        terminal.press("G")
        terminal.wait_for(f"{ANCHORS:,}/{ANCHORS:,}", 120)
        terminal.press("/months left\r")
        terminal.wait_for("text:", 120)
        time.sleep(1)
        return first, resident(terminal.pid)


def main() -> None:
    """Make the database, measure both, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--database", type=Path)
    options.add_argument("--items", type=int, default=400)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = ready(chosen.database or Path(folder) / "memory.db")
        yardstick = empty()
        first, later = workbench(database, chosen.items)
    print(f"empty Textual application: {yardstick:.0f} MB")
    print(f"workbench: {first:.0f} MB when usable, {later:.0f} MB after {chosen.items} items")
    print(f"{later / yardstick:.2f} times the empty application; budget {BUDGET_MB:.0f} MB")
    sys.exit(later > BUDGET_MB)


if __name__ == "__main__":
    main()
