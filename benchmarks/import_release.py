"""Import of a file of the identification release's size, end to end in a fresh process.

Prints the seconds of `nfh-tui import`, those of a bare `executemany` of every table row that
the import wrote, into a new file of the same schema, and the ratio of the two.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from data import number_at, sentences
from pysqlite3 import dbapi2 as sqlite3

ROWS = 184_507
"""Rows of the identification release, all splits."""

BUDGET_SECONDS = 20.0
BUDGET_RATIO = 3.0

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
SCHEMA = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"


def make_file(path: Path, rows: int) -> None:
    """A file in the release's form, of made-up sentences."""
    with path.open("w", encoding="utf-8") as file:
        file.write("text\tind_s\tind_e\ty\n")
        for index, words in enumerate(sentences(rows)):
            place = number_at(words)
            file.write(f"{'_SEP_'.join(words)}\t{place}\t{place + 1}\t{index % 5 < 2:d}\n")


def time_import(file: Path, database: Path) -> tuple[float, dict[str, object]]:
    """Seconds of the command, from its start to its end, and what it reported."""
    command = [sys.executable, "-P", "-m", "nfh_tui", "import", str(file)]
    begun = time.perf_counter()
    done = subprocess.run(
        [*command, "--db", str(database), "--json"], check=True, capture_output=True
    )
    seconds = time.perf_counter() - begun
    return seconds, json.loads(done.stdout)["files"][0]


def time_bare(source: Path, target: Path) -> tuple[float, int]:
    """Seconds to insert all rows of `source` into a new file, and how many there are."""
    before = sqlite3.connect(source)
    after = sqlite3.connect(target, isolation_level=None)
    after.execute("PRAGMA journal_mode = WAL")
    after.execute("PRAGMA synchronous = NORMAL")
    for (statement,) in before.execute(SCHEMA):
        after.execute(statement)
    tables = [
        (name, before.execute(f'SELECT * FROM "{name}"').fetchall())
        for (name,) in before.execute(TABLES)
    ]
    begun = time.perf_counter()
    after.execute("BEGIN IMMEDIATE")
    for name, rows in tables:
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            after.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    after.execute("COMMIT")
    seconds = time.perf_counter() - begun
    before.close()
    after.close()
    return seconds, sum(len(rows) for _, rows in tables)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "release.tsv"
        make_file(file, options.rows)
        print(
            f"{options.rows:,} rows, {file.stat().st_size / 1e6:.1f} MB, {os.cpu_count()} CPUs"
        )
        figures = []
        for run in range(options.runs):
            database = folder / f"{run}.db"
            seconds, report = time_import(file, database)
            bare, written = time_bare(database, folder / f"{run}-bare.db")
            figures.append((seconds, bare))
            print(
                f"run {run + 1}: import {seconds:.2f} s, {report['rows']:,} rows; bare "
                f"executemany of its {written:,} table rows {bare:.2f} s; "
                f"ratio {seconds / bare:.2f}"
            )
            for leftover in folder.glob(f"{run}*.db*"):
                leftover.unlink()
        seconds, bare = min(figures)
        print(
            f"best: import {seconds:.2f} s (budget {BUDGET_SECONDS:.0f} s), ratio "
            f"{seconds / bare:.2f} (budget {BUDGET_RATIO:.0f})"
        )


if __name__ == "__main__":
    main()
