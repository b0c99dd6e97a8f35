"""Commands whose disk fills up, turns read-only or fails under them, over and over.

    python benchmarks/soak_disks.py [--rounds 2 | --full] [--seed 1]

Needs root on Linux: it mounts a file system of its own (`soak/moody.py`). Each command runs
on a database there, and at a random moment of its work the disk changes. The command has to
end well or with a sentence, the database has to be sound and to say all it said before, no
half file may be there, and the command has to work once the disk is well again.
--full: 20 rounds of all commands in all moods. Exit status 1 if anything went wrong.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from soak.disks import MoodyDisk, NotPermittedError
from soak.spoiling import COMMANDS, MOODS, Spoiler


def main() -> None:
    """Spoil, look, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--full", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=COMMANDS, action="append")
    chosen = options.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        try:
            disk = MoodyDisk(Path(name))
        except NotPermittedError as reason:
            print(f"not measured: {reason}")
            return
        with disk:
            spoiler = Spoiler(Path(name), disk, chosen.seed)
            for _ in range(20 if chosen.full else chosen.rounds):
                for command in chosen.only or COMMANDS:
                    for mood in MOODS:
                        spoiler.run(command, mood)
    found = spoiler.spoilt
    print(f"{found.runs:,} commands in {time.perf_counter() - begun:.0f} s")
    for how, count in sorted(found.how.items()):
        print(f"  {how} {count}")
    print(f"wrong: {len(found.wrong):,}")
    for sentence in found.wrong[:20]:
        print(f"  {sentence}")
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
