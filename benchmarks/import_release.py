"""Import of a file of the identification release's size, end to end in a fresh process.

Prints the seconds of `nfh-tui import`, those of a bare `executemany` of every table row that
the import wrote, into a new file of the same schema, and the ratio of the two. The bare
rows are written without the index of texts.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from data import number_at, sentences
from pysqlite3 import dbapi2 as sqlite3

ROWS = 184_507
"""Rows of the identification release, all splits."""

BUDGET_SECONDS = 20.0
BUDGET_RATIO = 3.0

TABLES = "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
SCHEMA = """
SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
    AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')"""


def make_file(path: Path, rows: int) -> None:
    """A file in the release's form, of made-up sentences."""
    with path.open("w", encoding="utf-8") as file:
        file.write("text\tind_s\tind_e\ty\n")
        for index, words in enumerate(sentences(rows)):
            place = number_at(words)
            file.write(f"{'_SEP_'.join(words)}\t{place}\t{place + 1}\t{index % 5 < 2:d}\n")


class Took(NamedTuple):
    """Seconds on the clock, and on the processor: other work adds less to those."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s (processor {self.cpu:.2f} s)"


def time_import(file: Path, database: Path) -> tuple[Took, int]:
    """What the command takes, from its start to its end, and the rows it reported."""
    command = [sys.executable, "-P", "-m", "nfh_tui", "import", str(file)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(
        [*command, "--db", str(database), "--json"], check=True, capture_output=True
    )
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall, cpu), json.loads(done.stdout)["files"][0]["rows"]


def time_bare(source: Path, target: Path) -> tuple[Took, int]:
    """What inserting all rows of `source` into a new file takes, and how many there are.

    Closing counts, as it does for the import: it moves the rows from the log to the file.
    """
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
    begun, begun_cpu = time.perf_counter(), time.process_time()
    after.execute("BEGIN IMMEDIATE")
    for name, rows in tables:
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            after.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    after.execute("COMMIT")
    after.close()
    took = Took(time.perf_counter() - begun, time.process_time() - begun_cpu)
    before.close()
    return took, sum(len(rows) for _, rows in tables)


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
        imports, bares = [], []
        for run in range(options.runs):
            database = folder / f"{run}.db"
            took, rows = time_import(file, database)
            bare, written = time_bare(database, folder / f"{run}-bare.db")
            imports.append(took)
            bares.append(bare)
            print(f"run {run + 1}: import of {rows:,} rows {took}")
            print(f"       bare executemany of its {written:,} table rows {bare}")
            for leftover in folder.glob(f"{run}*.db*"):
                leftover.unlink()
        best, bare = min(imports), min(bares)
        print(
            f"best: import {best.wall:.2f} s (budget {BUDGET_SECONDS:.0f} s), ratio "
            f"{best.wall / bare.wall:.2f} (budget {BUDGET_RATIO:.0f}), of processor time "
            f"{best.cpu / bare.cpu:.2f}"
        )


if __name__ == "__main__":
    main()
