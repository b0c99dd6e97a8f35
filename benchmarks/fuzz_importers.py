"""Feeds damaged files to every importer: a refusal in a sentence, or a sound database.

    python benchmarks/fuzz_importers.py [--files 3000 | --full] [--seed 1] [--keep FOLDER]

Files are made up and damaged by `soak/mutate.py`: bytes, line ends, encodings, keys, types,
numbers, quoting, depth, length. Nothing of a refused file may be stored, nothing but a
FormatError or StoreError may come out, no small file may take 5 s, and the database must stay
sound (`soak/checks.py`) and leave as gold that comes back the same.
--full: 20,000 files. --file N: only that one of the seed's. Exit status 1 if any did wrong.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from soak.fuzzing import Fuzzer, in_words

MEMORY = 3 << 30
"""Bytes of address space that the process may have."""


def main() -> None:
    """Feed, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--files", type=int, default=3_000)
    options.add_argument("--full", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--file", type=int, help="the one file of this number")
    options.add_argument("--keep", type=Path, help="work here, and leave what is there")
    chosen = options.parse_args()
    files, first = 20_000 if chosen.full else chosen.files, 0
    if chosen.file is not None:
        files, first = 1, chosen.file
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        found = Fuzzer((chosen.keep or Path(name)) / "fuzz", chosen.seed).run(files, first)
    seconds = time.perf_counter() - begun
    print(f"{found.files:,} files in {seconds:.0f} s, {found.files / seconds:.0f} a second")
    for line in in_words(found.what):
        print(f"  {line}")
    print(
        f"{found.rows:,} rows came in; {found.checked} databases looked through, "
        f"{found.came_back} taken out as gold and in again"
    )
    print(f"slowest small file {found.took[0]:.2f} s; memory {found.peak / 1e6:.0f} MB at most")
    print(f"did wrong: {len(found.wrong):,}")
    for sentence in found.wrong[:40]:
        print(f"  {sentence}")
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
