"""Two workbenches, a trainer-like writer and an exporter on one file: is anything lost?

    python benchmarks/soak_two_screens.py [--seconds 30 | --full] [--keep FOLDER]

Two programs run in terminals of their own and are worked by keys, as fast as they say
"saved"; a third process writes predictions and a job's progress all the time, a fourth exports
gold over and over, a fifth commits answers and times them. Then every key sent is looked for
in the database, every export is read, must be of one moment, and some are imported again; and
"locked" must not have been on any screen. --full: two minutes. Exit status 1 if anything is
wrong or the 99th percentile of the commits is over its budget.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from soak.together import ROLES, Worked, play, run

BUDGET_MS = 50.0
ANSWERS_A_SECOND = 40
"""More than a screen can be worked with: so many anchors there are for each second."""


def at(figures: list[float], part: float) -> float:
    """The figure below which this part of ascending figures lies, in milliseconds."""
    return figures[min(len(figures) - 1, int(len(figures) * part))] * 1000


def shown(name: str, worked: Worked) -> None:
    """What a screen did."""
    waits = sorted(worked.waits)
    print(
        f"{name}: {len(worked.kinds):,} answers sent, {worked.saved:,} said saved; from enter "
        f"to “saved” p50 {at(waits, 0.5):.0f} ms, p99 {at(waits, 0.99):.0f} ms"
    )


def main() -> None:
    """Run, look, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--full", action="store_true")
    options.add_argument("--keep", type=Path, help="work here, and leave what is there")
    options.add_argument("--role", choices=ROLES, help=argparse.SUPPRESS)
    options.add_argument("paths", type=Path, nargs="*", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.role:
        play(chosen.role, *chosen.paths)
        return
    seconds = 120.0 if chosen.full else chosen.seconds
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        found = run(folder, seconds, int(seconds * ANSWERS_A_SECOND), reimported=10)
    shown("annotating", found.annotated)
    shown("adjudicating", found.adjudicated)
    trainer = found.results["trainer"]
    print(f"trainer: {trainer['predictions']:,} predictions in {trainer['writes']:,} writes")
    print(f"exporter: {found.exports:,} exports, all read; {found.imported} imported again")
    took = found.took
    late = at(took, 0.99)
    print(
        f"commits: p50 {at(took, 0.5):.1f} ms, p99 {late:.1f} ms (budget {BUDGET_MS:.0f} ms), "
        f"longest {at(took, 1):.1f} ms, {len(took):,} commits"
    )
    print(f"wrong: {len(found.wrong):,}")
    for sentence in found.wrong[:20]:
        print(f"  {sentence}")
    sys.exit(bool(found.wrong) or late > BUDGET_MS)


if __name__ == "__main__":
    main()
