"""Doctor, backup and history on a database of the identification release's size.

    python benchmarks/doctor.py [--rows 184507]

Three people have answered every anchor, and a majority of them has settled what it could.
Each command runs in a fresh process; its peak memory is that process'. As yardsticks, what
SQLite's own checks of the same file take, and copying the file's bytes.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from votes_data import ANCHORS, build

from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import Rule
from nfh_db.store import Store


class Took(NamedTuple):
    """Seconds on the clock and on the processor, and the most memory in MB."""

    wall: float
    cpu: float
    memory: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} s (processor {self.cpu:.1f} s), {self.memory:.0f} MB"


def settled(path: Path, rows: int) -> Path:
    """The database, with gold by majority."""
    if not path.exists():
        build(path, rows)
    with Store.open(path) as store:
        store.settlement.run(parse(""), Rule.MAJORITY, store.people.ensure("bench"))
    return path


def run(*arguments: str, output: Path) -> Took:
    """One command, its standard output in a file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    memory = 0.0
    with output.open("wb") as file:
        child = subprocess.Popen([sys.executable, "-m", "nfh_tui", *arguments], stdout=file)
        while child.poll() is None:
            memory = max(memory, peak(child.pid))
            time.sleep(0.01)
    wall = time.perf_counter() - begun
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with status {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall, cpu, memory)


def peak(pid: int) -> float:
    """The most MB that a process has held so far; 0 if it is gone, or still a copy of us."""
    try:
        if b"nfh_tui" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return 0.0
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    found = [line for line in lines if line.startswith("VmHWM:")]
    return int(found[0].split()[1]) / 1024 if found else 0.0


def own_checks(path: Path) -> float:
    """Seconds of SQLite's check of pages and indexes, and of references."""
    begun = time.perf_counter()
    with closing(connect(path, "ro")) as connection:
        for pragma in ("integrity_check", "foreign_key_check"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    return time.perf_counter() - begun


def copying(path: Path, target: Path) -> float:
    """Seconds of copying the file's bytes to the disk."""
    begun = time.perf_counter()
    shutil.copyfile(path, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    return time.perf_counter() - begun


def main() -> None:
    """Make the database, measure, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rows", type=int, default=ANCHORS)
    options.add_argument("--database", type=Path)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = settled(chosen.database or folder / "doctor.db", chosen.rows)
        out = folder / "out.json"
        took = run("doctor", "--db", str(path), "--json", output=out)
        report = json.loads(out.read_text(encoding="utf-8"))
        print(
            f"{report['anchors']:,} anchors, {report['events']:,} events, "
            f"{path.stat().st_size / 1e6:.0f} MB"
        )
        own = own_checks(path)
        print(f"doctor: {took}; SQLite's own checks {own:.1f} s; {took.wall / own:.1f}×")
        took = run("backup", str(folder / "copy.db"), "--db", str(path), output=out)
        bare = copying(path, folder / "bytes.db")
        print(f"backup: {took}; copying the bytes {bare:.2f} s; {took.wall / bare:.1f}×")
        took = run("history", "--db", str(path), "--json", output=out)
        print(f"history: {took}; {out.stat().st_size / 1e6:.0f} MB of JSON")
    sys.exit(report["broken"] > 0)


if __name__ == "__main__":
    main()
