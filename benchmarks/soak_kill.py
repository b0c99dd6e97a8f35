"""Kills a process that works on a database, over and over, and looks for what is lost.

    python benchmarks/soak_kill.py [--kills 150 | --full] [--seed 1] [--keep FOLDER]

Two workers answer, decide, flag, correct spans, undo, import and export in one file, each
writing down what it was told is saved; they die at random points (`soak/deaths.py`). After
each round the database is opened as the next start does, and must hold every value that was
reported, nothing of an act by half, and every promise that `soak/checks.py` looks for.
--full: 1,000 kills. Exit status 1 if anything was lost.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from soak.killing import Soak, shown


def main() -> None:
    """Kill, look, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--kills", type=int, default=150)
    options.add_argument("--full", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", type=Path, help="work here, and leave what is there")
    chosen = options.parse_args()
    kills = 1_000 if chosen.full else chosen.kills
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.keep or Path(name)
        tally = Soak(folder / "soak", chosen.seed).run(kills)
    seconds = time.perf_counter() - begun
    print(
        f"{tally.kills:,} kills and {tally.others:,} other deaths in {seconds:.0f} s; "
        f"{tally.reported:,} acts reported as saved"
    )
    print(f"ways: {shown(tally.by)}")
    print(f"cut off: {shown(tally.under_way)}; of these happened: {shown(tally.happened)}")
    print(f"refused: {shown(tally.refused)}")
    print(f"lost, half done or broken: {len(tally.lost):,}")
    for sentence in tally.lost:
        print(f"  {sentence}")
    sys.exit(bool(tally.lost))


if __name__ == "__main__":
    main()
