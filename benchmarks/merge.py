"""A merge: answers made in one copy brought into another of the release's size.

Makes a database, or takes the one named, copies it, answers in the copy, and merges. Prints
how long the merge took and its longest write; and, in the same run, how long answers of
somebody who works on meanwhile took.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench_data import ANCHORS, ready

from nfh_db import connection
from nfh_db.connection import Connection
from nfh_db.merge import apply, source
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, Mention, class_answer, reference_answer

BUDGET = 0.050
"""Seconds, of one write."""

GIVEN = (reference_answer([[Mention(0, 1, 0)]]), class_answer(Kind.AGE, comment="as before"))


def answer(path: Path, name: str, first: int, count: int, step: int) -> None:
    """Answers of one person to every `step`th anchor, a Reference and a class in turn."""
    with Store.open(path) as store:
        me = store.people.ensure(name)
        for number in range(count):
            anchor = first + number * step
            store.edits.commit_answer(anchor, me, Role.ANNOTATOR, GIVEN[number % 2])


@contextmanager
def timed_writes() -> Iterator[list[float]]:
    """Seconds of each write of a merge in this process, from BEGIN until COMMIT is through."""
    found: list[float] = []
    original = connection.transaction

    @contextmanager
    def timed(of: Connection) -> Iterator[Connection]:
        with original(of):
            begun = time.perf_counter()
            yield of
        found.append(time.perf_counter() - begun)

    source.transaction = apply.transaction = apply.transaction = timed
    try:
        yield found
    finally:
        source.transaction = apply.transaction = apply.transaction = original


def answer_on(path: Path) -> None:
    """Somebody who answers ten times a second; says after each how long it took."""
    with Store.open(path) as store:
        me = store.people.ensure("beside")
        number = 0
        while True:
            time.sleep(0.1)
            number += 1
            begun = time.perf_counter()
            store.edits.commit_answer(number, me, Role.ANNOTATOR, GIVEN[number % 2])
            print(time.perf_counter() - begun, flush=True)


@contextmanager
def somebody_beside(path: Path) -> Iterator[list[float]]:
    """Seconds of each answer that a process of its own gave meanwhile."""
    found: list[float] = []
    command = [sys.executable, __file__, "--answer-on", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield found
        process.terminate()
        found += [float(line) for line in process.stdout if line.endswith("\n")]


def measure(folder: Path, made: Path, answers: int) -> None:
    """Copy, answer, merge, print."""
    here, there = folder / "here.db", folder / "there.db"
    shutil.copyfile(made, here)
    shutil.copyfile(made, there)
    begun = time.perf_counter()
    answer(there, "eva", 7, answers, ANCHORS // answers)
    print(f"{answers:,} answers given in the other copy in {time.perf_counter() - begun:.1f} s")
    answer(here, "bob", 11, answers // 10, ANCHORS // answers)
    phases: dict[str, float] = {}

    def progress(phase: str, _: int) -> None:
        phases[phase] = time.perf_counter()

    with Store.open(here) as store:
        with somebody_beside(here) as committed, timed_writes() as writes:
            begun = time.perf_counter()
            report = store.merge.run(there, "merger", progress=progress)
            seconds = time.perf_counter() - begun
        again = time.perf_counter()
        second = store.merge.run(there, "merger")
        again = time.perf_counter() - again
    size = here.stat().st_size / 1e6
    print(f"{ANCHORS:,} anchors, {size:.0f} MB; {report.events:,} changes came in")
    print(
        f"merge: {seconds:.1f} s; longest write {max(writes) * 1e3:.1f} ms of {len(writes):,}"
    )
    last = begun
    for phase, at in phases.items():
        print(f"  {phase} until {at - begun:.1f} s ({at - last:.1f} s)")
        last = at
    late = sorted(committed)[int(len(committed) * 0.99)]
    over = sum(one > BUDGET for one in writes)
    print(f"  writes over {BUDGET * 1e3:.0f} ms: {over}")
    print(
        f"answers beside it: p99 {late * 1e3:.1f} ms, longest {max(committed) * 1e3:.1f} ms, "
        f"{len(committed):,} commits"
    )
    print(f"merged once more: {again:.1f} s, {second.events:,} changes")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", type=Path, help="made here if it is not there")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--answer-on", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer_on is not None:
        answer_on(options.answer_on)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = ready(options.database or folder / "made.db")
        measure(folder, made, options.answers)


if __name__ == "__main__":
    main()
