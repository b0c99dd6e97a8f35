"""Giving out 184,507 anchors to three people, and what somebody who answers waits for it.

    python benchmarks/assign.py [--anchors 184507] [--keep PATH]

Makes a database in which three people have answered every anchor, then runs `nfh-tui assign`
in a process of its own: one more answer for each anchor, then three. Prints its seconds and,
of the answers that this process commits meanwhile one after the other, the median, the 99th
percentile and the longest; those of the same answers with nothing beside them come first.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import votes_data
from commit import BUDGET_ALONE, BUDGET_BESIDE, show

from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

ALONE = 1_000
PEOPLE = ("eva", "bob", "ida")


def commit(store: Store, me: Annotator, anchor_id: int) -> float:
    """Seconds that an answer takes."""
    begun = time.perf_counter()
    store.edits.commit_answer(anchor_id, me, Role.ANNOTATOR, class_answer(Kind.AGE))
    return time.perf_counter() - begun


def beside(path: Path, store: Store, me: Annotator, each: int, first: int) -> list[float]:
    """Give out, answering one anchor after the other meanwhile; seconds of each, ascending."""
    people = [part for name in PEOPLE for part in ("--to", name)]
    command = [sys.executable, "-P", "-m", "nfh_tui", "assign", *people, "--each", str(each)]
    begun = time.perf_counter()
    found = []
    with subprocess.Popen(
        [*command, "--db", str(path)], stdout=subprocess.PIPE, text=True
    ) as giver:
        while giver.poll() is None:
            found.append(commit(store, me, first + len(found)))
        seconds = time.perf_counter() - begun
        assert giver.stdout is not None
        print(f"\n{giver.stdout.read().strip()}\n{seconds:.1f} s by the clock")
    return sorted(found)


def measure(path: Path) -> None:
    """Measure and print."""
    size = path.stat().st_size / 1e6
    with Store.open(path) as store:
        me = store.people.ensure("somebody")
        print(f"{size:,.0f} MB, {os.cpu_count()} cores")
        alone = sorted(commit(store, me, 1 + number) for number in range(ALONE))
        show("answer, alone", alone, BUDGET_ALONE)
        for each in (4, 6):
            first = 10_000 * each
            show("answer meanwhile", beside(path, store, me, each, first), BUDGET_BESIDE)


def main() -> None:
    """Make the database, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--anchors", type=int, default=votes_data.ANCHORS)
    parser.add_argument("--keep", type=Path, help="make the database here, and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = options.keep or Path(folder) / "votes.db"
        if not made.exists():
            votes_data.build(made, options.anchors)
        path = Path(folder) / "assign.db"
        shutil.copy(made, path)
        measure(path)


if __name__ == "__main__":
    main()
