"""How long agreement takes to measure, and in how much memory.

    python benchmarks/agreement.py [--items 10000,184507] [--resamples 1000]

Makes a database for each number of items in which three people have answered every one, and
runs `nfh-tui agreement --json` on it as a process of its own, with and without skill.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from votes_data import build


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", default="10000,184507")
    parser.add_argument("--resamples", type=int, default=1_000)
    asked = parser.parse_args()
    for count in (int(number) for number in asked.items.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nfh.db"
            build(path, count)
            for more in ([], ["--no-skill"]):
                run(path, ["--resamples", str(asked.resamples), *more])


def run(path: Path, options: list[str]) -> None:
    """Measure once, and say how long it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "nfh_tui", "agreement", "--db", str(path), "--json", *options],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = json.loads(done.stdout)
    print(
        f"{found['coverage']['items']:,} items, {found['pairs']['pairs']:,} pairs, "
        f"{' '.join(options)}: {seconds:.1f} s ({busy:.1f} s of one core); largest run so far "
        f"{after.ru_maxrss / 1024:,.0f} MiB"
    )


if __name__ == "__main__":
    main()
