"""Cuts the power over and over while two workers write, and looks for what is lost.

    python benchmarks/soak_power.py [--cuts 40 | --full] [--seed 1]

Needs root on Linux: it mounts a file system of its own (`soak/forgetful.py`) that loses at
random what was not synced when the power goes. After each cut the database must hold every
value that was reported as saved, nothing by half, as in `soak_kill.py`. --full: 300 cuts.
Exit status 1 if anything was lost.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from soak.disks import NotPermittedError
from soak.killing import shown
from soak.power import PowerSoak


def main() -> None:
    """Cut, look, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--cuts", type=int, default=40)
    options.add_argument("--full", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        try:
            soak = PowerSoak(Path(name) / "soak", chosen.seed)
        except NotPermittedError as reason:
            print(f"not measured: {reason}")
            return
        try:
            tally = soak.run(300 if chosen.full else chosen.cuts)
        finally:
            soak.close()
    print(
        f"{tally.kills:,} power cuts in {time.perf_counter() - begun:.0f} s; "
        f"{tally.reported:,} acts reported as saved"
    )
    print(f"cut off: {shown(tally.under_way)}; of these happened: {shown(tally.happened)}")
    print(f"lost, half done or broken: {len(tally.lost):,}")
    for sentence in tally.lost:
        print(f"  {sentence}")
    sys.exit(bool(tally.lost))


if __name__ == "__main__":
    main()
