"""How long agreement takes to measure, and in how much memory.

    python benchmarks/agreement.py [--items 10000,184507] [--resamples 1000]

Makes a database for each number of items in which three people have answered every one, and
runs `nfh-tui agreement --json` on it as a process of its own, with and without skill.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from votes_data import build


def main() -> None:
    """Print a line for each run, and the memory that an item takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", default="10000,184507")
    parser.add_argument("--resamples", type=int, default=1_000)
    asked = parser.parse_args()
    taken: list[tuple[int, int]] = []
    for count in (int(number) for number in asked.items.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nfh.db"
            build(path, count)
            for more in ([], ["--no-skill"]):
                used = run(path, ["--resamples", str(asked.resamples), *more])
        taken.append((count, used))
    (few, base), (many, most) = taken[0], taken[-1]
    if many > few:
        each = (most - base) / (many - few)
        print(f"without skill {each:,.0f} bytes an item more than {few:,} items took")


def run(path: Path, options: list[str]) -> int:
    """Measure once, say how long it took, and return the most bytes that it held."""
    command = [sys.executable, "-m", "nfh_tui", "agreement", "--db", str(path), "--json"]
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([*command, *options], stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise SystemExit(f"agreement ended with status {child.returncode}")
        out.seek(0)
        found = json.load(out)
    seconds, busy = time.perf_counter() - started, used.ru_utime + used.ru_stime
    print(
        f"{found['coverage']['items']:,} items, {found['pairs']['pairs']:,} pairs, "
        f"{' '.join(options)}: {seconds:.1f} s ({busy:.1f} s of one core); "
        f"{used.ru_maxrss / 1024:,.0f} MiB"
    )
    return int(used.ru_maxrss) * 1024


if __name__ == "__main__":
    main()
