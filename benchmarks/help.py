"""`nfh-tui --help` as a process, beside the bare interpreter.

Prints the best and the median of some runs, and the ratio of the medians.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

BUDGET_SECONDS = 0.12


def seconds(command: list[str], runs: int) -> list[float]:
    """Wall-clock seconds of each run, after one that is not counted."""
    times = []
    for _ in range(runs + 1):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begun)
    return times[1:]


def program() -> list[str]:
    """The console script beside this interpreter, else the module."""
    script = shutil.which("nfh-tui", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-P", "-m", "nfh_tui"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    bare = seconds([sys.executable, "-c", "pass"], options.runs)
    ours = seconds([*program(), "--help"], options.runs)
    for name, times in (("python -c pass", bare), ("nfh-tui --help", ours)):
        print(f"{name}: best {min(times):.3f} s, median {statistics.median(times):.3f} s")
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"ratio of medians {ratio:.1f}; budget {BUDGET_SECONDS} s")


if __name__ == "__main__":
    main()
