"""Edits rows of databases by hand: every command ends in a result or a sentence.

    python benchmarks/fuzz_cells.py [--databases 60 | --full] [--seed 1] [--database N]

Cells of text, above all of jobs, get what nobody writes (`soak/cells.py`): escapes, markup,
other JSON, much of it, paths. Nothing outside the database's folder may be read or written.
--full: 1,000 databases. --database N: only that one. Exit status 1 if any did wrong.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from soak.cells import Fuzzer


def main() -> None:
    """Edit, walk, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--databases", type=int, default=60)
    options.add_argument("--full", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--database", type=int, help="the one of this number")
    chosen = options.parse_args()
    number, first = 1_000 if chosen.full else chosen.databases, 0
    if chosen.database is not None:
        number, first = 1, chosen.database
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        os.environ.update(
            XDG_DATA_HOME=f"{name}/data",
            NFH_TUI_RUNNER="off",
            NFH_TUI_PREDICTOR="off",
            NFH_TUI_GUARD="off",
        )
        found = Fuzzer(Path(name) / "fuzz", chosen.seed).run(number, first)
    seconds = time.perf_counter() - begun
    print(f"{found.databases:,} databases, {found.cells:,} cells in {seconds:.0f} s")
    print(f"did wrong: {len(found.wrong):,}")
    for sentence in found.wrong[:40]:
        print(f"  {sentence}")
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
